/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmocka, and tests that a program finds by itself:
 *
 *	FG_TEST(anything_but_a_trace_is_refused)
 *	{
 *		...
 *	}
 *
 * defines a test and adds it to the program's tests; FG_TEST_IN also names the functions that run
 * before and after it. The main function in fg_test.c runs all tests of a program, in the order of
 * their lines. A program whose tests need one set-up in common has a main function of its own.
 */
#ifndef FG_TESTS_SUPPORT_FG_TEST_H
#define FG_TESTS_SUPPORT_FG_TEST_H

/* cmocka.h needs these headers before it; clang-format would sort them after it. */
/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
/* clang-format on */

struct fg_listed_test {
	struct CMUnitTest test;
	int line;
};

/* The linker gathers the pointers of the section fg_tests into one array. */
#define FG_TEST_IN(name, set_up, tear_down)                                                \
 static void name(void **state);                                                           \
 static const struct fg_listed_test test_##name = {{#name, name, set_up, tear_down, NULL}, \
						   __LINE__};                              \
 static const struct fg_listed_test *const entry_##name                                    \
	 __attribute__((used, section("fg_tests"))) = &test_##name;                        \
 static void name(__attribute__((unused)) void **state)
#define FG_TEST(name) FG_TEST_IN(name, NULL, NULL)

#endif
