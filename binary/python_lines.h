/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the line of an instruction in Python 3.11 or later, and shortens the path of a Python file.
 * Lines come from the code object's co_linetable; Python documents its format. The bytes are
 * untrusted.
 */
#ifndef FG_BINARY_PYTHON_LINES_H
#define FG_BINARY_PYTHON_LINES_H

#include <stddef.h>
#include <stdint.h>

/*
 * Returns the line of an instruction. `instruction` counts from 1; 0 is before the first
 * instruction and has the line `first_line`. Returns 0 if the instruction has no line or lies
 * beyond the table.
 */
unsigned fg_python_line(const uint8_t *table, size_t size, unsigned first_line,
			uint32_t instruction);
/*
 * Returns the file name that qualifies the file's functions, with the folder for a package:
 * "pkg/__init__.py". Points into `file`.
 */
const char *fg_python_file_name(const char *file);

#endif
