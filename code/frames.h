/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What unwind tables (.eh_frame) say of an object: which bytes belong to one function, and where an
 * exception that passes it is handled.
 */
#ifndef FG_CODE_FRAMES_H
#define FG_CODE_FRAMES_H

#include "code/image.h"

struct fg_code_frame {
	uint64_t start;
	uint64_t end;
	uint64_t handlers; /* address of its table of landing pads; 0: none */
	bool is_signal;    /* the kernel returns here from handlers */
};

struct fg_code_frames {
	struct fg_code_frame *frames; /* by start, in the arena */
	size_t count, capacity;
};

/* False: there are none, or they are not understood. */
bool fg_code_frames_read(const struct fg_image *image, struct fg_arena *arena,
			 struct fg_code_frames *frames);
/* The frame that begins at this address, or NULL. */
const struct fg_code_frame *fg_code_frame_at(const struct fg_code_frames *frames, uint64_t address);
/* Calls `visit` with each landing pad of the frame; false: its table is not understood. */
bool fg_code_frame_handlers(const struct fg_image *image, const struct fg_code_frame *frame,
			    void (*visit)(void *context, uint64_t address), void *context);

#endif
