/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collects the frames and stacks from the readers of foreign formats into a profile. All limits of
 * import.h are checked here, once for all formats.
 *
 *	fg_sink_frame(sink, &frame, &index, err)   find or add
 *	fg_sink_begin(sink)                        begins a new stack
 *	fg_sink_push(sink, index, err)             from the root towards the leaf
 *	fg_sink_end(sink, measure, value, samples) adds a sample, once per measure
 */
#ifndef FG_EXCHANGE_IMPORT_SINK_H
#define FG_EXCHANGE_IMPORT_SINK_H

#include "base/error.h"
#include "base/strbuf.h"
#include "profile/profile.h"

struct fg_import_sink {
	struct fg_profile *profile;
	struct fg_map known; /* text of a frame in the file → frame */
	uint32_t stack;      /* current stack */
	size_t depth;
};

/*
 * A text that need not end with a NUL. An empty name becomes "[unknown]"; invalid UTF-8 and control
 * characters become U+FFFD.
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

/* An interned copy that is safe to print; NULL for an empty text. */
const char *fg_sink_text(struct fg_import_sink *sink, struct fg_text bytes);
int fg_sink_frame(struct fg_import_sink *sink, const struct fg_import_frame *frame, uint32_t *index,
		  struct fg_error *err) FG_NODISCARD;
void fg_sink_begin(struct fg_import_sink *sink);
int fg_sink_push(struct fg_import_sink *sink, uint32_t frame, struct fg_error *err) FG_NODISCARD;
/* A value of 0 adds nothing.  `measure` is an index into the profile's measures. */
void fg_sink_end(struct fg_import_sink *sink, uint16_t measure, double value, double samples);

#endif
