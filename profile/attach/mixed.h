/* SPDX-License-Identifier: Apache-2.0 */
/* A stack with the Python frames between the native ones of the interpreter that runs them. */
#ifndef FG_OUTSIDE_MIXED_H
#define FG_OUTSIDE_MIXED_H

#include "profile/attach/interpreter.h"
#include "profile/attach/python_functions.h"
#include "profile/attach/stacks.h"

struct fg_mixed {
	const struct fg_interpreter *interpreter;
	const struct fg_mappings *mappings;
	const struct fg_walked_stack *native;
	struct fg_python_stack *python;
};

/*
 * Are the Python frames what they seem to be?  Each must be of a code object, and each evaluation
 * must lie in a native frame of the interpreter; beyond the end of a truncated stack this cannot be
 * said.  Those that can be trusted get their numbers and are part of the stack from now on.  False:
 * there are some, and they cannot.
 */
bool fg_mixed_judge(const struct fg_mixed *mixed, struct fg_memory *memory,
		    struct fg_python_functions *functions);

/* One of these. */
struct fg_mixed_frame {
	const struct fg_stack_frame *native;
	const struct fg_python_frame *python;
	uint32_t left_out; /* so many Python frames */
};

/* Outermost first, to be freed.  `python` may be NULL. */
struct fg_mixed_frame *fg_mixed_frames(const struct fg_walked_stack *native,
				       struct fg_python_stack *python, size_t *count);
/* Does this frame lie in the interpreter? */
bool fg_mixed_is_interpreter(const struct fg_interpreter *interpreter,
			     const struct fg_mappings *mappings,
			     const struct fg_stack_frame *frame);

#endif
