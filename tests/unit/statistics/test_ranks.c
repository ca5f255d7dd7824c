// SPDX-License-Identifier: Apache-2.0
/* Ranks, and the tests built on them; reference values by hand. */
#include "base/base.h"
#include "bench/calibration/ranks.h"
#include "tests/unit/statistics/close.h"

FG_TEST(equal_values_share_the_mean_of_their_ranks)
{
	static const double values[] = {5, 1, 5, 2, 5, 2};
	static const double wanted[] = {1, 2.5, 2.5, 5, 5, 5};
	const size_t count = sizeof(values) / sizeof(values[0]);
	/* no space beyond the last item: a sanitizer sees an overrun */
	struct fg_ranked *items = fg_xcalloc(count, sizeof(items[0]));

	for (size_t i = 0; i < count; i++)
		items[i] = (struct fg_ranked){.value = values[i], .first = values[i] > 4};
	/* three and two equal values: 3^3 - 3 + 2^3 - 2 */
	assert_near(fg_ranks_assign(items, count), 30, 0);
	for (size_t i = 0; i < count; i++)
		assert_near(items[i].rank, wanted[i], 0);
	assert_near(fg_ranks_sum_first(items, count), 15, 0);
	assert_near(fg_ranks_assign(items, 0), 0, 0);
	free(items);
}

FG_TEST(whole_numbers_are_corrected_by_half_of_one)
{
	const struct fg_test test = fg_test_normal(12, 10, 4);

	assert_close(test.p_greater, 0.22662735237686821, 1e-13); /* at 0.75 */
	assert_close(test.p_less, 0.89435022633314465, 1e-13);    /* at 1.25 */
	assert_close(test.p_two_sided, 2 * test.p_greater, 1e-15);
	assert_false(test.exact);
	/* at 3: the variance may be small */
	assert_close(fg_test_normal(12, 10, 0.25).p_greater, 0.0013498980316300946, 1e-12);
}

FG_TEST(no_chance_is_above_one)
{
	assert_near(fg_test_normal(10, 10, 0.25).p_two_sided, 1, 0);
	assert_near(fg_test_normal(10, 10, 4).p_two_sided, 1, 0);
}

FG_TEST(a_constant_is_not_evidence)
{
	const struct fg_test test = fg_test_normal(5, 3, 0);

	assert_near(test.p_greater, 1, 0);
	assert_near(test.p_less, 1, 0);
	assert_near(test.p_two_sided, 1, 0);
}

FG_TEST(an_exact_test_counts_outcomes_at_least_as_extreme)
{
	static const double probability[] = {0.125, 0.375, 0.375, 0.125};
	const struct fg_test test = fg_test_exact(probability, 4, 2);

	assert_true(test.exact);
	assert_near(test.statistic, 2, 0);
	assert_near(test.p_greater, 0.5, 1e-15);
	assert_near(test.p_less, 0.875, 1e-15);
	assert_near(test.p_two_sided, 1, 1e-15);
	assert_near(fg_test_exact(probability, 4, 0).p_two_sided, 0.25, 1e-15);
}
