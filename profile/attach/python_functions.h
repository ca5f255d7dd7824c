/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Python functions of another process that were met: copied once, and told apart where another
 * one lies at the same address later.
 */
#ifndef FG_OUTSIDE_PYTHON_FUNCTIONS_H
#define FG_OUTSIDE_PYTHON_FUNCTIONS_H

#include "base/map.h"
#include "collector/python/cpython_read.h"

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

#endif
