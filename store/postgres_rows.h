/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Passes many rows of parameters to PostgreSQL in one statement: each column as an array.
 *
 *	INSERT INTO run_fact (run, fact) VALUES ($1, $2)
 *	→ INSERT INTO run_fact (run, fact) SELECT r.c1, r.c2
 *	  FROM unnest($1::BIGINT[], $2::BIGINT[]) AS r (c1, c2)
 *
 *	SELECT id FROM fact WHERE digest = $1
 *	→ SELECT (SELECT id FROM fact WHERE digest = r.c1)
 *	  FROM unnest($1::BYTEA[]) WITH ORDINALITY AS r (c1, n) ORDER BY r.n
 *
 * Private to store/.
 */
#ifndef FG_STORE_POSTGRES_ROWS_H
#define FG_STORE_POSTGRES_ROWS_H

#include "base/base.h"
#include "store/bytes.h"
#include "store/db.h"

/* Makes the statement for many rows from the statement for one row. The caller frees it. */
char *fg_postgres_rows_text(const char *text, const struct fg_rows *rows);
/*
 * Writes rows [first, first + count) of a column as an array in PostgreSQL's binary form. Text
 * becomes valid UTF-8.
 */
void fg_postgres_array(const struct fg_rows *rows, size_t column, size_t first, size_t count,
		       struct fg_bytes *array);

#endif
