// SPDX-License-Identifier: Apache-2.0
/* The main function of a test program: runs every test that the program defines. */
#include "tests/support/fg_test.h"

#include "base/base.h"
#include "base/sort.h"

/* NOLINTBEGIN(bugprone-reserved-identifier): the linker names the ends of a section. */
extern const struct fg_listed_test *const __start_fg_tests[];
extern const struct fg_listed_test *const __stop_fg_tests[];
/* NOLINTEND(bugprone-reserved-identifier) */

FG_ORDER_BY(by_line, struct fg_listed_test, FG_UP(line))

int main(void)
{
	const size_t count = (size_t)(__stop_fg_tests - __start_fg_tests);
	struct fg_listed_test *found = fg_xcalloc(count, sizeof(*found));
	struct CMUnitTest *tests = fg_xcalloc(count, sizeof(*tests));
	int failed = 0;

	for (size_t i = 0; i < count; i++)
		found[i] = *__start_fg_tests[i];
	qsort(found, count, sizeof(*found), by_line);
	for (size_t i = 0; i < count; i++)
		tests[i] = found[i].test;
	failed = _cmocka_run_group_tests("tests", tests, count, NULL, NULL);
	free(tests);
	free(found);
	return failed;
}
