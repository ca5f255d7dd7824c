/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Passes many rows of parameters to PostgreSQL in one statement: each column as an array.
 *
 *	INSERT INTO node (parent, function) VALUES ($1, $2)
 *	→ INSERT INTO node (parent, function) SELECT r.c1, r.c2
 *	  FROM unnest($1::BIGINT[], $2::BIGINT[]) WITH ORDINALITY AS r (c1, c2, n) ORDER BY r.n
 *
 *	SELECT id FROM node WHERE parent = $1 AND function = $2
 *	→ SELECT (SELECT id FROM node WHERE parent = r.c1 AND function = r.c2)
 *	  FROM unnest($1::BIGINT[], $2::BIGINT[]) WITH ORDINALITY AS r (c1, c2, n) ORDER BY r.n
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
 * Writes rows [first, first + count) of a column as an array in PostgreSQL's binary form. Texts
 * become valid UTF-8.
 */
void fg_postgres_array(const struct fg_rows *rows, size_t column, size_t first, size_t count,
		       struct fg_bytes *array);

#endif
