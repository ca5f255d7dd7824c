// SPDX-License-Identifier: Apache-2.0
#include "base/random.h"
#include "gate/statistics/evidence.h"
#include "tests/unit/statistics/close.h"

enum {
	COUNT = 60,
	RUNS = 1000,
};

FG_TEST(evidence_starts_at_zero)
{
	assert_close(fg_evidence(NULL, 0), 0, 1e-12);
	assert_close(fg_evidence((const double[]){0, 0, 0}, 3), 0, 1e-12);
}

FG_TEST(agreeing_values_bring_the_most_and_opposed_ones_lose)
{
	double up[COUNT];
	double down[COUNT];

	for (size_t i = 0; i < COUNT; i++) {
		up[i] = 2.0;
		down[i] = -2.0;
	}
	/* The boldest bettor has a quarter of the capital, and stakes 95 % of it each time. */
	assert_close(fg_evidence(up, COUNT), log(0.25) + COUNT * log(1.95), 1e-3);
	assert_close(fg_evidence(up, COUNT), fg_evidence_max(COUNT), 1e-12);
	assert_true(fg_evidence(down, COUNT) < log(0.25) + COUNT * log(0.9) + 0.1);
}

/* Returns the largest capital in a series that is examined after each value. */
static double largest(struct fg_random *random, double center)
{
	double values[COUNT];
	double most = 0;

	for (size_t i = 0; i < COUNT; i++) {
		/* occasionally an outlier */
		const double wild = fg_random_uniform(random) < 0.1 ? 10 : 1;

		values[i] = wild * fg_random_normal(random) + center;
		most = fmax(most, fg_evidence(values, i + 1));
	}
	return most;
}

FG_TEST(looking_at_any_time_errs_as_rarely_as_stated)
{
	struct fg_random random;
	size_t errors[2] = {0};
	const double centers[2] = {0, -0.2};

	fg_random_seed(&random, 53);
	for (size_t c = 0; c < 2; c++) {
		for (size_t run = 0; run < RUNS; run++)
			errors[c] += largest(&random, centers[c]) >= log(20) ? 1 : 0;
	}
	/* At most 5 % of a thousand. */
	assert_in_range(errors[0], 1, 50);
	assert_true(errors[1] < errors[0]);
}

FG_TEST(a_real_difference_is_seen)
{
	struct fg_random random;
	size_t seen = 0;

	fg_random_seed(&random, 54);
	for (size_t run = 0; run < 200; run++) {
		double values[COUNT];

		for (size_t i = 0; i < COUNT; i++)
			values[i] = fg_random_normal(&random) + 1;
		seen += fg_evidence(values, COUNT) >= log(1000) ? 1 : 0;
	}
	assert_true(seen >= 190);
}
