// SPDX-License-Identifier: Apache-2.0
/*
 * An entry of co_linetable stands for 1 to 8 instructions. Only its first byte has the top bit set:
 * bits 3 to 6 are its kind, bits 0 to 2 are the number of instructions minus one. The line is
 * stored as its difference from the previous entry's; the columns after it are skipped.
 */
#include "binary/python_lines.h"

#include "base/fs.h"
#include "base/text.h"

enum {
	ENTRY = 0x80,
	KIND_SHIFT = 3,
	KIND_MASK = 15,
	LENGTH_MASK = 7,
	KIND_ONE_LINE = 10, /* 10, 11, 12: the line advances by 0, 1, 2 */
	KIND_NO_COLUMNS = 13,
	KIND_LONG = 14,
	KIND_NONE = 15,
	DIGIT_BITS = 6,
	DIGIT_MASK = 63,
	DIGIT_MORE = 64,
	SHIFT_MAX = 30,
};

/* Reads a number in digits of 6 bits, lowest first; the lowest bit is the sign. */
static int64_t take_signed(const uint8_t *table, size_t size, size_t at)
{
	uint64_t value = 0;

	for (unsigned shift = 0; at < size && shift <= SHIFT_MAX; at++, shift += DIGIT_BITS) {
		value |= (uint64_t)(table[at] & DIGIT_MASK) << shift;
		if (!(table[at] & DIGIT_MORE))
			break;
	}
	return value & 1 ? -(int64_t)(value >> 1) : (int64_t)(value >> 1);
}

static int64_t lines_on(const uint8_t *table, size_t size, size_t at, unsigned kind)
{
	if (kind == KIND_LONG || kind == KIND_NO_COLUMNS)
		return take_signed(table, size, at);
	if (kind >= KIND_ONE_LINE && kind < KIND_NO_COLUMNS)
		return (int64_t)kind - KIND_ONE_LINE;
	return 0;
}

unsigned fg_python_line(const uint8_t *table, size_t size, unsigned first_line,
			uint32_t instruction)
{
	int64_t line = first_line;
	uint64_t reached = 0;

	if (instruction == 0)
		return first_line;
	for (size_t at = 0; at < size;) {
		const uint8_t entry = table[at++];
		const unsigned kind = (unsigned)entry >> KIND_SHIFT & KIND_MASK;

		if (!(entry & ENTRY))
			return 0;
		line += lines_on(table, size, at, kind);
		reached += (entry & LENGTH_MASK) + 1u;
		if (reached >= instruction)
			return kind == KIND_NONE || line < 0 || line > INT32_MAX ? 0
										 : (unsigned)line;
		while (at < size && !(table[at] & ENTRY))
			at++;
	}
	return 0;
}

const char *fg_python_file_name(const char *file)
{
	static const char package[] = "/__init__.py";
	size_t start = strlen(file);

	if (*file == '<' || !fg_text_ends_with(file, package))
		return *file == '<' ? file : fg_fs_base_name(file);
	start -= sizeof(package) - 1;
	while (start > 0 && file[start - 1] != '/')
		start--;
	return file + start;
}
