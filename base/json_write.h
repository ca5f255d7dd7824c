/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes JSON as a stream into a text buffer: deterministic, any bytes in, valid UTF-8 out (broken
 * sequences, marks that change the direction of text, and control characters except line breaks and
 * tabs become U+FFFD).  Wrong nesting is a programming error and fails an assertion.  Numbers are
 * the shortest that read back the same; NaN and infinities become null.
 *
 *	struct fg_json_writer w;
 *	fg_json_writer_init(&w, &text, 2);          // indent by 2; 0: one line
 *	fg_json_begin_object(&w, NULL);
 *	fg_json_text(&w, "name", "parse");
 *	fg_json_begin_array(&w, "pairs");
 *	fg_json_int(&w, NULL, 1);                   // inside an array the name is NULL
 *	fg_json_end(&w);
 *	fg_json_end(&w);
 */
#ifndef FG_BASE_JSON_WRITE_H
#define FG_BASE_JSON_WRITE_H

#include "base/strbuf.h"

enum {
	FG_JSON_MAX_DEPTH = 32
};

struct fg_json_writer {
	struct fg_strbuf *text;
	unsigned indent;
	unsigned depth;
	bool is_array[FG_JSON_MAX_DEPTH];
	bool has_member[FG_JSON_MAX_DEPTH];
	bool for_html; /* also escapes '<', '>' and '&': for JSON inside a page */
};

void fg_json_writer_init(struct fg_json_writer *w, struct fg_strbuf *text, unsigned indent);
void fg_json_begin_object(struct fg_json_writer *w, const char *name);
void fg_json_begin_array(struct fg_json_writer *w, const char *name);
void fg_json_end(struct fg_json_writer *w);
void fg_json_text(struct fg_json_writer *w, const char *name, const char *value); /* NULL: null */
void fg_json_text_sized(struct fg_json_writer *w, const char *name, const char *value,
			size_t length);
void fg_json_int(struct fg_json_writer *w, const char *name, int64_t value);
void fg_json_double(struct fg_json_writer *w, const char *name, double value);
void fg_json_bool(struct fg_json_writer *w, const char *name, bool value);
void fg_json_null(struct fg_json_writer *w, const char *name);
void fg_json_pair(struct fg_json_writer *w, const char *name, double a, double b); /* [a, b] */
/* Nanoseconds since 1970, as "2027-03-01T12:00:00Z". */
void fg_json_time(struct fg_json_writer *w, const char *name, int64_t wall_ns);
/* Inserts JSON text as it is. */
void fg_json_raw(struct fg_json_writer *w, const char *name, const char *json);

#endif
