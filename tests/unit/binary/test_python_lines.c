// SPDX-License-Identifier: Apache-2.0
/*
 * Lines of Python code, from tables that Python 3.11 made for these functions, and from damaged
 * ones.
 */
#include "base/base.h"
#include "binary/python_lines.h"
#include "tests/support/fg_test.h"

/*
 * def f(values):
 *     total = 0
 *     for value in values:
 *         if value:
 *             total += value
 *         else:
 *             total -= (
 *                 1
 *             )
 *     try:
 *         return total
 *
 *     except ValueError:
 *         raise
 */
static const uint8_t loop[] = {
	0x80, 0x00, 0xd8, 0x0c, 0x0d, 0x80, 0x45, 0xd8, 0x11, 0x17, 0xf0, 0x00, 0x06, 0x05,
	0x0e, 0xf0, 0x00, 0x06, 0x05, 0x0e, 0x88, 0x05, 0xd8, 0x0b, 0x10, 0xf0, 0x00, 0x05,
	0x09, 0x0e, 0xd8, 0x0c, 0x11, 0x90, 0x55, 0x89, 0x4e, 0x88, 0x45, 0x88, 0x45, 0xe0,
	0x0c, 0x11, 0xd8, 0x10, 0x11, 0xf1, 0x03, 0x02, 0x0d, 0x0e, 0x88, 0x45, 0x88, 0x45,
	0xf0, 0x06, 0x04, 0x05, 0x0e, 0xd8, 0x0f, 0x14, 0x88, 0x0c, 0xf8, 0xe5, 0x0b, 0x15,
	0xf0, 0x00, 0x01, 0x05, 0x0e, 0xf0, 0x00, 0x01, 0x05, 0x0e, 0xf0, 0x00, 0x01, 0x05,
	0x0e, 0xd8, 0x08, 0x0d, 0xf0, 0x03, 0x01, 0x05, 0x0e, 0xf8, 0xf8, 0xf8};
static const unsigned loop_lines[] = {1,  2,  2,  3,  3,  3,  3,  4,  4,  5,  5,  5, 5,
				      5,  5,  7,  8,  7,  7,  7,  7,  10, 11, 11, 0, 13,
				      13, 13, 13, 13, 13, 13, 13, 13, 14, 13, 0,  0, 0};

/* A call over several lines that begins at line 35; some lines follow from large steps back. */
static const uint8_t call[] = {0x80, 0x00, 0xf5, 0x06, 0x00, 0x0c, 0x0f, 0xf0, 0x00, 0x04, 0x0f,
			       0x06, 0xf0, 0x00, 0x04, 0x0f, 0x06, 0xf0, 0x06, 0x00, 0x09, 0x0f,
			       0xf0, 0x07, 0x04, 0x0f, 0x06, 0xf1, 0x00, 0x04, 0x0f, 0x06, 0xf4,
			       0x00, 0x04, 0x0f, 0x06, 0xf1, 0x00, 0x04, 0x0c, 0x06, 0xf4, 0x00,
			       0x04, 0x0c, 0x06, 0xf0, 0x00, 0x04, 0x05, 0x06};
static const unsigned call_lines[] = {35, 38, 38, 38, 38, 38, 38, 38, 38, 41, 38, 38, 38,
				      38, 38, 38, 38, 38, 38, 38, 38, 38, 38, 38, 38, 38};

static void expect_lines(const uint8_t *table, size_t size, const unsigned *lines, size_t count)
{
	for (size_t i = 0; i < count; i++)
		assert_int_equal(fg_python_line(table, size, lines[0], (uint32_t)i + 1), lines[i]);
	/* There is no line after the last instruction. */
	assert_int_equal(fg_python_line(table, size, lines[0], (uint32_t)count + 1), 0);
	assert_int_equal(fg_python_line(table, size, lines[0], UINT32_MAX), 0);
}

FG_TEST(each_instruction_has_its_line)
{
	expect_lines(loop, sizeof(loop), loop_lines, FG_ARRAY_SIZE(loop_lines));
	expect_lines(call, sizeof(call), call_lines, FG_ARRAY_SIZE(call_lines));
}

FG_TEST(before_the_first_instruction_it_is_the_first_line)
{
	assert_int_equal(fg_python_line(call, sizeof(call), 35, 0), 35);
	assert_int_equal(fg_python_line(NULL, 0, 35, 0), 35);
	assert_int_equal(fg_python_line(NULL, 0, 35, 1), 0);
}

FG_TEST(a_file_is_called_by_its_name_and_that_of_a_package_by_its_folder)
{
	assert_string_equal(fg_python_file_name("/srv/app/train.py"), "train.py");
	assert_string_equal(fg_python_file_name("/srv/pkg/__init__.py"), "pkg/__init__.py");
	assert_string_equal(fg_python_file_name("__init__.py"), "__init__.py");
	assert_string_equal(fg_python_file_name("<frozen a/b>"), "<frozen a/b>");
}

/* No bytes make the reader overrun (a sanitizer checks that), and each result is a valid line. */
FG_TEST(damaged_tables_are_harmless)
{
	uint64_t random = UINT64_C(0x9e3779b97f4a7c15);

	for (unsigned round = 0; round < 20000; round++) {
		const size_t size = round % 48;
		uint8_t *table = fg_xmalloc(size + 1);

		for (size_t i = 0; i < size; i++) {
			random ^= random << 13;
			random ^= random >> 7;
			random ^= random << 17;
			table[i] = (uint8_t)(random >> 32) | (uint8_t)(round % 3 == 0 ? 0xf0 : 0);
		}
		table = fg_xreallocarray(table, size ? size : 1, 1);
		assert_true(fg_python_line(table, size, round, round % 64) <= INT32_MAX);
		free(table);
	}
}
