/* SPDX-License-Identifier: Apache-2.0 */
/* A thread's memory for reading its own Python frames. */
#ifndef FG_COLLECTOR_PYTHON_LOOK_H
#define FG_COLLECTOR_PYTHON_LOOK_H

#include "collector/python/cpython_read.h"
#include "collector/unwind/readable.h"

struct fg_python_look {
	struct fg_pages pages;
	struct fg_python_reader reader;
	uint32_t new_codes;
	char text[FG_PYTHON_NAME_MAX + FG_PYTHON_FILE_MAX]; /* scratch */
	struct fg_python_stack stack;
};

#endif
