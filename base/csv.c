// SPDX-License-Identifier: Apache-2.0
#include "base/csv.h"

#include "base/number.h"

#include <math.h>

static void separate(struct fg_csv *csv)
{
	if (csv->in_line)
		fg_strbuf_add_char(csv->out, ',');
	csv->in_line = true;
}

void fg_csv_text(struct fg_csv *csv, const char *text)
{
	bool formula = false;

	separate(csv);
	if (!text)
		return;
	/* Spreadsheets evaluate a string that begins with one of these characters as a formula. */
	formula = *text && strchr("=+-@", *text);
	if (!formula && !strpbrk(text, ",\"\r\n")) {
		fg_strbuf_add_text(csv->out, text);
		return;
	}
	fg_strbuf_add_text(csv->out, formula ? "\"'" : "\"");
	for (; *text; text++) {
		if (*text == '"')
			fg_strbuf_add_char(csv->out, '"');
		fg_strbuf_add_char(csv->out, *text);
	}
	fg_strbuf_add_char(csv->out, '"');
}

void fg_csv_number(struct fg_csv *csv, double value)
{
	char text[FG_NUMBER_TEXT_SIZE];

	separate(csv);
	if (isfinite(value))
		fg_strbuf_add_text(csv->out, fg_format_double(value, text));
}

void fg_csv_end(struct fg_csv *csv)
{
	fg_strbuf_add_char(csv->out, '\n');
	csv->in_line = false;
}
