// SPDX-License-Identifier: Apache-2.0
/* The main function of a test program: runs every test that the program defines. */
#include "tests/support/fg_test.h"

#include "base/base.h"

static struct fg_listed_test *first; /* in the order of lines */

void fg_test_add(struct fg_listed_test *test)
{
	struct fg_listed_test **at = &first;

	while (*at && (*at)->line < test->line)
		at = &(*at)->next;
	test->next = *at;
	*at = test;
}

int main(void)
{
	struct CMUnitTest *tests = NULL;
	size_t count = 0;
	size_t capacity = 0;
	int failed = 0;

	for (const struct fg_listed_test *listed = first; listed; listed = listed->next)
		FG_APPEND(tests, count, capacity) = listed->test;
	failed = _cmocka_run_group_tests("tests", tests, count, NULL, NULL);
	free(tests);
	return failed;
}
