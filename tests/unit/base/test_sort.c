// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"
#include "base/sort.h"
#include "tests/support/fg_test.h"

#include <math.h>

static void values_are_sorted(void **state)
{
	double values[] = {3.0, -1.0, (double)INFINITY, 3.0, 0.5};
	const double expected[] = {-1.0, 0.5, 3.0, 3.0, (double)INFINITY};

	(void)state;
	fg_sort(values, FG_ARRAY_SIZE(values));
	assert_memory_equal(values, expected, sizeof(values));
	fg_sort(NULL, 0);
}

static void middle_lies_between_the_two_of_an_even_number(void **state)
{
	double odd[] = {9.0, 1.0, 4.0};
	double even[] = {9.0, 1.0, 4.0, 2.0};
	double one[] = {7.0};

	(void)state;
	assert_true(fg_middle(odd, 3) == 4.0);
	assert_true(fg_middle(even, 4) == 3.0);
	assert_true(fg_middle(one, 1) == 7.0);
	assert_true(isnan(fg_middle(NULL, 0)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_are_sorted),
		cmocka_unit_test(middle_lies_between_the_two_of_an_even_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
