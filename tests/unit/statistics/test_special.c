// SPDX-License-Identifier: Apache-2.0
/* Reference values: closed forms, and the incomplete beta function to 40 digits, rounded. */
#include "gate/statistics/special.h"
#include "tests/unit/statistics/close.h"

FG_TEST(incomplete_beta_is_that_of_the_reference_on_both_sides_of_its_mean)
{
	static const double table[][4] = {
		{2, 3, 0.3, 0.34829999999999998},        {0.5, 200, 0.001, 0.47275589297476465},
		{2000, 3000, 0.41, 0.92526212620830418}, {30, 2, 0.97, 0.76191343023199952},
		{30, 2, 0.9, 0.16956463310086491},       {0.5, 0.5, 0.1, 0.20483276469913346},
		{400, 0.5, 0.999, 0.37112320531947088},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		const double *row = table[i];

		assert_close(fg_incomplete_beta(row[0], row[1], row[2]), row[3], 1e-11);
		assert_close(fg_incomplete_beta(row[1], row[0], 1 - row[2]), 1 - row[3], 1e-11);
	}
}

FG_TEST(incomplete_beta_goes_from_zero_to_one)
{
	assert_near(fg_incomplete_beta(2, 3, 0.0), 0.0, 0.0);
	assert_near(fg_incomplete_beta(2, 3, -0.1), 0.0, 0.0);
	assert_near(fg_incomplete_beta(2, 3, 1.0), 1.0, 0.0);
	assert_near(fg_incomplete_beta(2, 3, 1.1), 1.0, 0.0);
	assert_close(fg_incomplete_beta(1, 4, 1e-12), 4e-12, 1e-11);
	assert_close(fg_incomplete_beta(3, 1, 0.99), 0.970299, 1e-14);
}

FG_TEST(the_inverse_leads_back_wherever_the_root_lies)
{
	static const double shapes[][2] = {{1, 1}, {0.5, 0.5}, {0.5, 300}, {40, 0.5}, {7, 994}};
	static const double chances[] = {1e-6, 0.01, 0.5, 0.99, 1 - 1e-6};

	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		for (size_t k = 0; k < sizeof(chances) / sizeof(chances[0]); k++) {
			const double a = shapes[i][0];
			const double b = shapes[i][1];
			const double x = fg_incomplete_beta_inverse(a, b, chances[k]);

			assert_true(x > 0 && x < 1);
			assert_close(fg_incomplete_beta(a, b, x), chances[k], 1e-7);
		}
	}
	assert_close(fg_incomplete_beta_inverse(4, 1, 0.0001), 0.1, 1e-14);
}

FG_TEST(the_inverse_of_zero_and_one_is_an_end_of_the_range)
{
	assert_near(fg_incomplete_beta_inverse(2, 3, 0.0), 0.0, 0.0);
	assert_near(fg_incomplete_beta_inverse(2, 3, -0.1), 0.0, 0.0);
	assert_near(fg_incomplete_beta_inverse(2, 3, 1.0), 1.0, 0.0);
	assert_near(fg_incomplete_beta_inverse(2, 3, 1.1), 1.0, 0.0);
}
