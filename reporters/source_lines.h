/* SPDX-License-Identifier: Apache-2.0 */
/* The source of a guilty function as plain text: changed lines and their costs. */
#ifndef FG_REPORTERS_SOURCE_LINES_H
#define FG_REPORTERS_SOURCE_LINES_H

#include "base/strbuf.h"
#include "model/verdict.h"

/* Rows of a listing, in its order; they stay the listing's. */
struct fg_hunk {
	const struct fg_source_row *rows[FG_SOURCE_ROWS_MAX];
	size_t count;
	size_t cost_columns;
	size_t indent; /* blanks shared by all lines */
};

/*
 * The most relevant rows, at most `most`: changed lines, most expensive first, then the hottest
 * line. FG_SOURCE_ROWS_MAX: all rows.
 */
void fg_hunk_take(const struct fg_source_listing *source, size_t most, struct fg_hunk *hunk);
/* "-   21  14.1 ms  while (entry && ...", no newline; `columns` 0: unlimited. */
void fg_hunk_add_line(struct fg_strbuf *text, const struct fg_hunk *hunk, size_t row,
		      size_t columns);

#endif
