/* SPDX-License-Identifier: Apache-2.0 */
/* libpq's functions, available once the library is opened. */
#ifndef FG_STORE_LIBPQ_H
#define FG_STORE_LIBPQ_H

#include "base/base.h"
#include "base/error.h"
#include "store/bytes.h"
#include "store/db.h"

#include <libpq-fe.h>

#define FG_PQ_CALLS(CALL) \
 CALL(backendPID)         \
 CALL(clear)              \
 CALL(cmdStatus)          \
 CALL(connectdbParams)    \
 CALL(consumeInput)       \
 CALL(errorMessage)       \
 CALL(finish)             \
 CALL(flush)              \
 CALL(getResult)          \
 CALL(getisnull)          \
 CALL(getlength)          \
 CALL(getvalue)           \
 CALL(isBusy)             \
 CALL(ntuples)            \
 CALL(resultErrorField)   \
 CALL(resultStatus)       \
 CALL(sendPrepare)        \
 CALL(sendQuery)          \
 CALL(sendQueryParams)    \
 CALL(sendQueryPrepared)  \
 CALL(setNoticeReceiver)  \
 CALL(setnonblocking)     \
 CALL(socket)             \
 CALL(status)
#define FG_PQ_MEMBER(name) __typeof__(PQ##name) *(name);

struct fg_pq {
	FG_PQ_CALLS(FG_PQ_MEMBER)
};

extern struct fg_pq fg_pq;

int fg_pq_open(struct fg_error *err) FG_NODISCARD;

/* ---- postgres_rows.c ---- */

/* The statement for all rows, from the one for one row; to be freed. */
char *fg_postgres_rows_text(const char *text, const struct fg_rows *rows);
/*
 * Rows [first, first + count) of a column as an array in PostgreSQL's binary form.  Texts become
 * valid UTF-8.
 */
void fg_postgres_array(const struct fg_column *column, size_t first, size_t count,
		       struct fg_bytes *array);

#endif
