/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the call path of a record of the kernel's event (collector/sampler/kernel.c) from its
 * registers and its copy of the innermost part of the stack. Signal-safe.
 *
 * A frame may need more than the copy has: words beyond the end of the copy, a table that is
 * missing, or a signal handler's context. Such a frame must also be in the last stack that was
 * walked, because then the frames beyond it are the same; if it is not, the record has no path. In
 * a Python program, no record has a path.
 */
#ifndef FG_COLLECTOR_WALK_COPY_H
#define FG_COLLECTOR_WALK_COPY_H

#include "collector/sampler/state.h"

struct fg_stack_copy {
	struct fg_regs regs; /* registers of the record; the copy begins at their stack pointer */
	uintptr_t link;      /* the link register, on architectures that have one */
	const uint8_t *ring; /* the ring that contains the copy */
	uint32_t ring_bytes; /* a power of two */
	uint32_t begin;      /* start of the copy */
	uint32_t bytes;
};

enum {
	/*
	 * maximum number of new frames in all copies that one handler walks: the rule of each costs
	 * 2 to 3 us. Beyond it, a copy has no path.
	 */
	FG_COPY_NEW_FRAMES_MAX = 32,
};

/* Returns the path; 0: unknown. Adds the number of new frames to *new_frames. */
uint32_t fg_stack_walk_copy(struct fg_thread *thread, const struct fg_stack_copy *copy,
			    uint32_t *new_frames);

#endif
