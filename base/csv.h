/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes comma-separated values as in RFC 4180, but with "\n" at the end of a line. Text is quoted
 * when necessary. `struct fg_csv csv = {.out = &text};` is ready to use.
 */
#ifndef FG_BASE_CSV_H
#define FG_BASE_CSV_H

#include "base/strbuf.h"

struct fg_csv {
	struct fg_strbuf *out;
	bool in_line;
};

/* NULL gives an empty field. Text that a spreadsheet would evaluate gets a leading apostrophe. */
void fg_csv_text(struct fg_csv *csv, const char *text);
void fg_csv_number(struct fg_csv *csv, double value); /* an empty field if not finite */
void fg_csv_end(struct fg_csv *csv);

#endif
