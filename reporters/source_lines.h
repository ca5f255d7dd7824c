/* SPDX-License-Identifier: Apache-2.0 */
/* The source of a guilty function as lines of plain text: what changed and what it costs. */
#ifndef FG_REPORTERS_SOURCE_LINES_H
#define FG_REPORTERS_SOURCE_LINES_H

#include "base/strbuf.h"
#include "model/verdict.h"

/*
 * Marks in `chosen` (FG_SOURCE_ROWS_MAX) the rows worth a reader's time: lines that changed, those
 * that cost most first, then the hottest line.  Returns how many there are, `most` at the most.
 */
size_t fg_report_choose_source(const struct fg_source_listing *source, size_t most, bool *chosen);
struct fg_source_layout {
	size_t cost_columns;
	size_t indent; /* blanks that all chosen lines begin with */
};

struct fg_source_layout fg_report_source_layout(const struct fg_source_listing *source,
						const bool *chosen);
/* "-   21  14.1 ms  while (entry && ...", no newline; `columns` 0: as long as it is. */
void fg_report_add_source_line(struct fg_strbuf *text, const struct fg_source_row *row,
			       const struct fg_source_layout *layout, size_t columns);

#endif
