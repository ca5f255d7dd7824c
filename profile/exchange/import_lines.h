/* SPDX-License-Identifier: Apache-2.0 */
/* Walking over text line by line, without copying: what the text formats share. */
#ifndef FG_EXCHANGE_IMPORT_LINES_H
#define FG_EXCHANGE_IMPORT_LINES_H

#include "base/base.h"

struct fg_text_lines {
	const char *at;
	const char *end;
	size_t number; /* number of the last line, from 1 */
};

/* The line without its end ("\n" or "\r\n"); false at the end of the text. */
bool fg_lines_next(struct fg_text_lines *lines, const char **line, size_t *length);
/*
 * A number that fills the whole piece: digits, at most one point, an exponent; finite and not
 * negative.
 */
bool fg_parse_weight(const char *text, size_t length, double *value);
/* Looks like text: no NUL and few control characters in its first part. */
bool fg_is_text(const char *data, size_t size);

#endif
