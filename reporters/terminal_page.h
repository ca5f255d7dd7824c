/* SPDX-License-Identifier: Apache-2.0 */
/* The page that the terminal reporter fills, line by line. Private to reporters/. */
#ifndef FG_REPORTERS_TERMINAL_PAGE_H
#define FG_REPORTERS_TERMINAL_PAGE_H

#include "reporters/card.h"
#include "reporters/reporter.h"

#define FG_TERMINAL_BOLD  "\033[1m"
#define FG_TERMINAL_DIM   "\033[2m"
#define FG_TERMINAL_RESET "\033[0m"

enum fg_terminal_column {
	FG_COLUMN_NAME,
	FG_COLUMN_METRIC,
	FG_COLUMN_CHANGE,
	FG_COLUMN_INTERVAL,
	FG_COLUMN_LEVELS,
	FG_COLUMN_EFFORT,
	FG_COLUMN_VERDICT,
	FG_COLUMN_COUNT,
};

/* The word and the colour of a verdict, by enum fg_outcome. */
struct fg_terminal_outcome {
	const char *word;
	const char *color;
};
extern const struct fg_terminal_outcome fg_terminal_outcomes[];
/* Returns a benchmark's state in capitals: "REGRESSION", "PROBABLY SLOWER". */
const char *fg_terminal_word(const struct fg_benchmark_verdict *benchmark);

struct fg_terminal_row {
	struct fg_strbuf cells[FG_COLUMN_COUNT];
	const char *remark; /* shown instead of numbers: "same binaries on both sides" */
	bool folded;        /* listed on one line with other passed benchmarks */
};

struct fg_terminal_page {
	const struct fg_report *report;
	const struct fg_report_options *options;
	const struct fg_card *card;
	struct fg_strbuf *text;
	struct fg_terminal_row *rows; /* one per benchmark */
	size_t width[FG_COLUMN_COUNT];
	bool hidden[FG_COLUMN_COUNT];
};

/* Returns the columns left after `used`, at least 10; 0 means unlimited. */
size_t fg_terminal_room(const struct fg_terminal_page *page, size_t used);
void fg_terminal_add_styled(const struct fg_terminal_page *page, const char *style,
			    const char *text);
/* Adds a line below a benchmark, indented and cut at the terminal's edge. `style` may be NULL. */
void fg_terminal_add_line(const struct fg_terminal_page *page, const char *style,
			  const struct fg_strbuf *line);
/* Adds a sentence below a benchmark, wrapped at the terminal's edge. */
void fg_terminal_add_sentence(const struct fg_terminal_page *page, const char *style,
			      const char *text);
/* Adds a sentence about the whole run, wrapped at the terminal's edge and not indented. */
void fg_terminal_add_paragraph(const struct fg_terminal_page *page, const char *style,
			       const char *text);
/* Finishes the page: converts to ASCII if requested and removes trailing blanks. */
void fg_terminal_finish(const struct fg_terminal_page *page, struct fg_strbuf *text);

/* --- terminal_table.c: one line per benchmark, in columns --- */

/* Makes the cells of all rows. */
void fg_terminal_table_init(struct fg_terminal_page *page);
/*
 * Computes the columns of rows that are not folded, drops columns that do not fit, and narrows the
 * name if the row is still too wide.
 */
void fg_terminal_table_lay_out(struct fg_terminal_page *page);
void fg_terminal_table_release(struct fg_terminal_page *page);
void fg_terminal_table_add_row(const struct fg_terminal_page *page, size_t benchmark);

/* --- terminal_blame.c --- */

/* Adds the functions that explain a change, and the functions whose time only moved. */
void fg_terminal_add_blame(const struct fg_terminal_page *page,
			   const struct fg_benchmark_verdict *benchmark);

/* --- terminal.c: parts of the report in plain text, for formats that quote it --- */

/* Adds one benchmark's row and details. */
void fg_terminal_quote(const struct fg_report *report, const struct fg_benchmark_verdict *benchmark,
		       bool verbose, struct fg_strbuf *text);
/* Adds differences, notes and sampling of the whole run; may add nothing. */
void fg_terminal_quote_circumstances(const struct fg_report *report, bool verbose,
				     struct fg_strbuf *text);

#endif
