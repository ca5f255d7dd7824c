/* SPDX-License-Identifier: Apache-2.0 */
/* libpq's functions, available once the library is opened. */
#ifndef FG_STORE_LIBPQ_H
#define FG_STORE_LIBPQ_H

#include "base/error.h"

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

#endif
