/* SPDX-License-Identifier: Apache-2.0 */
/* Reads text line by line without copying it, for all text formats. */
#ifndef FG_EXCHANGE_IMPORT_LINES_H
#define FG_EXCHANGE_IMPORT_LINES_H

#include "base/base.h"

struct fg_text_lines {
	const char *at;
	const char *end;
	size_t number; /* number of the last line, from 1 */
};

/* Gets the next line without its end ("\n" or "\r\n"). Returns false at the end of the text. */
bool fg_lines_next(struct fg_text_lines *lines, const char **line, size_t *length);
/*
 * Parses a number that fills the whole piece: digits, at most one point, an exponent; finite and
 * not negative.
 */
bool fg_parse_weight(const char *text, size_t length, double *value);
/* True if the data looks like text: its first part has no NUL and few control characters. */
bool fg_is_text(const char *data, size_t size);

#endif
