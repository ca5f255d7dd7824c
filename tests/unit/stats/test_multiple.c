// SPDX-License-Identifier: Apache-2.0
/* Reference values: R 4.2.2, p.adjust. */
#include "stats/multiple.h"
#include "tests/unit/stats/close.h"

#include <string.h>

static const double p[] = {0.01, 0.02, 0.03, 0.04, 0.05, 0.0001, 0.9, 0.3, 0.02};
#define P_COUNT (sizeof(p) / sizeof(p[0]))

static void benjamini_hochberg_is_p_adjust(void **state)
{
	static const double wanted[] = {0.045,  0.045, 0.054,  0.06, 0.06428571428571429,
					0.0009, 0.9,   0.3375, 0.045};
	double adjusted[P_COUNT];

	(void)state;
	fg_benjamini_hochberg(p, P_COUNT, adjusted);
	for (size_t i = 0; i < P_COUNT; i++)
		assert_close(adjusted[i], wanted[i], 1e-12);
}

static void holm_is_p_adjust(void **state)
{
	static const double wanted[] = {0.08, 0.14, 0.15, 0.16, 0.16, 0.0009, 0.9, 0.6, 0.14};
	double adjusted[P_COUNT];

	(void)state;
	fg_holm(p, P_COUNT, adjusted);
	for (size_t i = 0; i < P_COUNT; i++)
		assert_close(adjusted[i], wanted[i], 1e-12);
}

static void the_array_may_be_adjusted_in_place_and_be_empty(void **state)
{
	double both[P_COUNT];
	double apart[P_COUNT];

	(void)state;
	memcpy(both, p, sizeof(both));
	fg_benjamini_hochberg(both, P_COUNT, both);
	fg_benjamini_hochberg(p, P_COUNT, apart);
	assert_memory_equal(both, apart, sizeof(both));
	fg_holm(both, 0, both);
	assert_memory_equal(both, apart, sizeof(both));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(benjamini_hochberg_is_p_adjust),
		cmocka_unit_test(holm_is_p_adjust),
		cmocka_unit_test(the_array_may_be_adjusted_in_place_and_be_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
