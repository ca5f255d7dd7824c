/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of the table in import.c, one pair of functions per format in import_<format>.c, and the
 * code that the formats share: lines of text, and a sink for frames and stacks that checks all
 * limits of import.h.
 *
 *	fg_sink_frame(sink, &frame, &index, err)   find or add
 *	fg_sink_begin(sink)                        begins a new stack
 *	fg_sink_push(sink, index, err)             from the root towards the leaf
 *	fg_sink_end(sink, measure, value, samples) adds a sample, once per measure
 */
#ifndef FG_EXCHANGE_IMPORT_FORMATS_H
#define FG_EXCHANGE_IMPORT_FORMATS_H

#include "base/strbuf.h"
#include "profile/exchange/import.h"

bool fg_import_folded_is(const char *data, size_t size);
int fg_import_folded_read(const char *data, size_t size, const struct fg_import_options *options,
			  struct fg_import_sink *sink, struct fg_error *err);
bool fg_import_callgrind_is(const char *data, size_t size);
int fg_import_callgrind_read(const char *data, size_t size, const struct fg_import_options *options,
			     struct fg_import_sink *sink, struct fg_error *err);

struct fg_import_sink {
	struct fg_profile *profile;
	struct fg_map known; /* text of a frame in the file → frame */
	uint32_t stack;      /* current stack */
	size_t depth;
};

/*
 * A string that need not end with a NUL. An empty name becomes "[unknown]"; invalid UTF-8 and
 * control characters become U+FFFD.
 */
struct fg_text {
	const char *text;
	size_t length;
};

struct fg_import_frame {
	struct fg_text name;
	struct fg_text linkage;
	struct fg_text library; /* a path or a base name */
	bool nameless;
};

/* Returns an interned copy that is safe to print; NULL for an empty string. */
const char *fg_sink_text(struct fg_import_sink *sink, struct fg_text bytes);
int fg_sink_frame(struct fg_import_sink *sink, const struct fg_import_frame *frame, uint32_t *index,
		  struct fg_error *err) FG_NODISCARD;
void fg_sink_begin(struct fg_import_sink *sink);
int fg_sink_push(struct fg_import_sink *sink, uint32_t frame, struct fg_error *err) FG_NODISCARD;
/* A value of 0 adds nothing.  `measure` is an index into the profile's measures. */
void fg_sink_end(struct fg_import_sink *sink, uint16_t measure, double value, double samples);

/* ---- text, line by line, without copying it ---- */

struct fg_text_lines {
	const char *at;
	const char *end;
	size_t number; /* of the line read most recently, from 1; 0: none yet */
};

/* Gets the next line without its end ("\n" or "\r\n"). Returns false at the end of the text. */
bool fg_lines_next(struct fg_text_lines *lines, struct fg_text *line);
/*
 * Parses a number that fills the whole piece: digits, at most one point, an exponent; finite and
 * not negative.
 */
bool fg_parse_weight(struct fg_text text, double *value);
/*
 * Returns true if the data looks like text: its first part has no NUL and few control characters.
 */
bool fg_is_text(const char *data, size_t size);

#endif
