// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"
#include "base/sort.h"
#include "tests/support/fg_test.h"

#include <math.h>

FG_TEST(values_are_sorted)
{
	double values[] = {3.0, -1.0, (double)INFINITY, 3.0, 0.5};
	const double expected[] = {-1.0, 0.5, 3.0, 3.0, (double)INFINITY};

	fg_sort(values, FG_ARRAY_SIZE(values));
	assert_memory_equal(values, expected, sizeof(values));
	fg_sort(NULL, 0);
}

FG_TEST(middle_lies_between_the_two_of_an_even_number)
{
	double odd[] = {9.0, 1.0, 4.0};
	double even[] = {9.0, 1.0, 4.0, 2.0};
	double one[] = {7.0};

	assert_true(fg_middle(odd, 3) == 4.0);
	assert_true(fg_middle(even, 4) == 3.0);
	assert_true(fg_middle(one, 1) == 7.0);
	assert_true(isnan(fg_middle(NULL, 0)));
}
