/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the file of a Python function, and the line of an instruction of Python 3.11 or later,
 * through co_linetable of its code object, whose format Python's documentation describes. The bytes
 * are untrusted.
 */
#ifndef FG_SYMBOLS_PYTHON_LINES_H
#define FG_SYMBOLS_PYTHON_LINES_H

#include <stddef.h>
#include <stdint.h>

/*
 * `instruction` counts from 1; 0 is before the first.  0: the instruction has no line, or the table
 * does not reach it.
 */
unsigned fg_python_line(const uint8_t *table, size_t size, unsigned first_line,
			uint32_t instruction);
/*
 * The file name that qualifies its functions; with the folder for a package's file:
 * "pkg/__init__.py". Points into `file`.
 */
const char *fg_python_file_name(const char *file);

#endif
