// SPDX-License-Identifier: Apache-2.0
/* Reference values: R 4.2.2 (wilcox.test). */
#include "stats/signed_rank.h"
#include "tests/unit/stats/close.h"
#include "tests/unit/stats/reference_samples.h"

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

static void nothing_to_compare_is_no_evidence(void **state)
{
	static const double zero[] = {0.0, 0.0, 0.0};

	(void)state;
	assert_near(fg_signed_rank_test(zero, 3, 0.0).p_two_sided, 1.0, 0.0);
	assert_near(fg_signed_rank_test(NULL, 0, 0.0).p_two_sided, 1.0, 0.0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(signed_rank_without_ties_is_exact),
		cmocka_unit_test(signed_rank_with_ties_is_corrected),
		cmocka_unit_test(nothing_to_compare_is_no_evidence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
