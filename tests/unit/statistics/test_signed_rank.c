// SPDX-License-Identifier: Apache-2.0
/* Reference values: R 4.2.2 (wilcox.test), and all 2^n sums of ranks counted exactly. */
#include "gate/statistics/signed_rank.h"
#include "tests/unit/statistics/close.h"
#include "tests/unit/statistics/reference_samples.h"

enum {
	COUNT_MAX = 256
};

static void signed_rank_without_ties_is_exact(void **state)
{
	struct fg_test t = fg_signed_rank_test(reference_x, REFERENCE_X_COUNT, 0.0);

	(void)state;
	assert_true(t.exact);
	assert_near(t.statistic, 101, 0);
	assert_close(t.p_two_sided, 0.018066406250000007, 1e-12);
	assert_close(t.p_greater, 0.0090332031250000035, 1e-12);
}

static void signed_rank_with_ties_is_corrected(void **state)
{
	static const double x[] = {1, 2, 2, -3, 4, 4, 4, -5, 6, 7};
	struct fg_test t = fg_signed_rank_test(x, 10, 0.0);

	(void)state;
	assert_false(t.exact);
	assert_near(t.statistic, 43, 0);
	assert_close(t.p_two_sided, 0.12504688013110041, 1e-12);
	assert_close(t.p_greater, 0.062523440065550204, 1e-12);
}

/* Ranks 1 to `count`, every third of them below the center. */
static struct fg_test every_third_below(size_t count)
{
	double values[COUNT_MAX];

	for (size_t i = 0; i < count; i++) {
		const double rank = (double)i + 1;

		values[i] = (i + 1) % 3 == 0 ? -rank : rank;
	}
	return fg_signed_rank_test(values, count, 0.0);
}

static void up_to_200_values_are_exact_and_more_are_close_to_normal(void **state)
{
	struct fg_test t = every_third_below(200);

	(void)state;
	assert_true(t.exact);
	assert_near(t.statistic, 13467, 0);
	assert_close(t.p_greater, 1.2439532123471484e-05, 1e-10);
	assert_close(t.p_less, 0.99998763023147, 1e-10);
	t = every_third_below(201);
	assert_false(t.exact);
	assert_near(t.statistic, 13467, 0);
	assert_close(t.p_greater, 2.9596893124104522e-5, 1e-10);
	assert_close(t.p_less, 0.99997055475046898, 1e-10);
}

static void values_are_compared_with_the_center_and_those_at_it_do_not_count(void **state)
{
	static const double values[] = {11.0, 8.0, 10.0, 13.0};
	struct fg_test t = fg_signed_rank_test(values, 4, 10.0);

	(void)state;
	assert_true(t.exact);
	assert_near(t.statistic, 4, 0);
	assert_near(t.p_greater, 3.0 / 8, 1e-15);
	assert_near(t.p_less, 6.0 / 8, 1e-15);
	assert_near(t.p_two_sided, 6.0 / 8, 1e-15);
}

static void one_value_is_as_likely_above_as_below(void **state)
{
	struct fg_test t = fg_signed_rank_test(&(double){2.0}, 1, 0.0);

	(void)state;
	assert_true(t.exact);
	assert_near(t.p_greater, 0.5, 0.0);
	assert_near(t.p_less, 1.0, 0.0);
}

static void nothing_to_compare_is_no_evidence(void **state)
{
	static const double zero[] = {0.0, 0.0, 0.0};

	(void)state;
	for (size_t count = 0; count <= 3; count += 3) {
		struct fg_test t = fg_signed_rank_test(zero, count, 0.0);

		assert_true(t.exact);
		assert_near(t.statistic, 0.0, 0.0);
		assert_near(t.p_greater, 1.0, 0.0);
		assert_near(t.p_less, 1.0, 0.0);
		assert_near(t.p_two_sided, 1.0, 0.0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(signed_rank_without_ties_is_exact),
		cmocka_unit_test(signed_rank_with_ties_is_corrected),
		cmocka_unit_test(up_to_200_values_are_exact_and_more_are_close_to_normal),
		cmocka_unit_test(values_are_compared_with_the_center_and_those_at_it_do_not_count),
		cmocka_unit_test(one_value_is_as_likely_above_as_below),
		cmocka_unit_test(nothing_to_compare_is_no_evidence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
