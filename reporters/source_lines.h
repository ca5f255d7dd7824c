/* SPDX-License-Identifier: Apache-2.0 */
/* The source of a guilty function as plain text: changed lines and their costs. */
#ifndef FG_REPORTERS_SOURCE_LINES_H
#define FG_REPORTERS_SOURCE_LINES_H

#include "base/strbuf.h"
#include "model/verdict.h"

/*
 * Marks the most relevant rows in `chosen` (FG_SOURCE_ROWS_MAX): changed lines, most expensive
 * first, then the hottest line. Returns their number, at most `most`.
 */
size_t fg_report_choose_source(const struct fg_source_listing *source, size_t most, bool *chosen);
struct fg_source_layout {
	size_t cost_columns;
	size_t indent; /* blanks shared by all chosen lines */
};

struct fg_source_layout fg_report_source_layout(const struct fg_source_listing *source,
						const bool *chosen);
/* "-   21  14.1 ms  while (entry && ...", no newline; `columns` 0: unlimited. */
void fg_report_add_source_line(struct fg_strbuf *text, const struct fg_source_row *row,
			       const struct fg_source_layout *layout, size_t columns);

#endif
