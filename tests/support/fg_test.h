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
 * their lines. A program whose tests share one set-up has a main function of its own.
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
	struct fg_listed_test *next;
};

/* Called before main. */
void fg_test_add(struct fg_listed_test *test);

/* NOLINTBEGIN(bugprone-macro-parentheses): the name of a function */
#define FG_TEST_IN(function, set_up, tear_down)                                 \
 static void function(void **state);                                            \
 __attribute__((constructor)) static void add_##function(void)                  \
 {                                                                              \
  static struct fg_listed_test listed = {                                       \
	  .test = cmocka_unit_test_setup_teardown(function, set_up, tear_down), \
	  .line = __LINE__,                                                     \
  };                                                                            \
                                                                                \
  fg_test_add(&listed);                                                         \
 }                                                                              \
 static void function(__attribute__((unused)) void **state)
/* NOLINTEND(bugprone-macro-parentheses) */
#define FG_TEST(function) FG_TEST_IN(function, NULL, NULL)

#endif
