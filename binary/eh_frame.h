/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unwind tables (.eh_frame): the range of nearly every function, even in stripped and static files,
 * and its landing pads for exceptions. All bytes are untrusted.
 */
#ifndef FG_BINARY_EH_FRAME_H
#define FG_BINARY_EH_FRAME_H

#include "base/base.h"

/* A section of a file or of memory. */
struct fg_eh_section {
	const uint8_t *bytes;
	size_t size;
	uint64_t address;
	bool is_narrow; /* the file is 32-bit */
};

/* The range of a function, or of one part of a function. */
struct fg_eh_frame {
	uint64_t start;
	uint64_t end;
	uint64_t handlers; /* address of its table of landing pads; 0: none */
	uint64_t offset;   /* offset of its entry in the section */
	bool is_signal;    /* a signal frame: the kernel returns here from handlers */
};

struct fg_eh_frames {
	struct fg_eh_frame *items; /* sorted by start */
	size_t count, capacity;
	bool is_complete; /* every entry was understood; false: some were left out */
};

/* Adds the section's frames; `frames` begins as {.is_complete = true}. */
void fg_eh_frames_add(struct fg_eh_frames *frames, const struct fg_eh_section *section);
void fg_eh_frames_release(struct fg_eh_frames *frames);
/* Returns the last frame that begins at or before the address, or NULL. */
const struct fg_eh_frame *fg_eh_frames_before(const struct fg_eh_frames *frames, uint64_t address);

/*
 * Calls `visit` with each landing pad of the frame, whose table of handlers lies in the section.
 * Returns false if the table is not understood.
 */
bool fg_eh_frame_landing_pads(const struct fg_eh_section *section, const struct fg_eh_frame *frame,
			      void (*visit)(void *context, uint64_t address), void *context);

#endif
