/* SPDX-License-Identifier: Apache-2.0 */
/* A stack with the Python frames between the native ones of the interpreter that runs them. */
#ifndef FG_OUTSIDE_MIXED_H
#define FG_OUTSIDE_MIXED_H

#include "base/map.h"
#include "collector/python/cpython_read.h"
#include "profile/attach/interpreter.h"
#include "profile/attach/stacks.h"

/*
 * python_functions.c: the Python functions of the process that were met, copied once, and told
 * apart where another one lies at the same address later.
 */
struct fg_python_function {
	char *name; /* as Python has it, "Model.step": not to be printed as it is */
	char *file;
	uint32_t first_line;
	uint8_t *lines; /* as binary/python_lines.h reads them; NULL: none */
	size_t lines_size;
};

struct fg_python_functions {
	struct fg_python_function *items;
	size_t count, capacity;
	size_t bytes; /* of all that was copied */
	struct fg_map numbers;
};

/*
 * Frames get the numbers of their functions, from 1, as their `id`, and the number of the
 * instruction in place of its address.  False: a frame is of no code, or there is no room for more.
 */
bool fg_python_functions_number(struct fg_python_functions *functions,
				const struct fg_python_reader *reader,
				struct fg_python_stack *stack);
void fg_python_functions_release(struct fg_python_functions *functions);

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
