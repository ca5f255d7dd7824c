// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"
#include "model/coverage.h"
#include "tests/support/fg_test.h"

#include <math.h>

#define MS 1e6

static struct fg_coverage of(double spent_ms, double seen_ms, size_t repetitions)
{
	return (struct fg_coverage){.spent_ns = spent_ms * MS * (double)repetitions,
				    .sampled_ns = seen_ms * MS * (double)repetitions,
				    .repetitions = repetitions};
}

FG_TEST(share_is_the_time_that_samples_represent)
{
	const struct fg_coverage half = of(10, 5, 2);
	const struct fg_coverage nothing = of(0, 0, 0);

	assert_float_equal(fg_coverage_share(&half, 20 * MS), 0.5, 1e-12);
	assert_true(isnan(fg_coverage_share(&half, 20.1 * MS)));
	assert_true(isnan(fg_coverage_share(&nothing, 0)));
}

/* The rows have the spent and the sampled milliseconds of an execution on both sides. */
FG_TEST(programs_of_one_side_escape_or_were_only_short)
{
	static const struct {
		double spent[2];
		double seen[2];
		size_t repetitions[2];
		bool is_one_sided;
		const char *what;
	} rows[] = {
		{{100, 120}, {99, 119}, {9, 9}, false, "all of both is seen"},
		{{100, 120}, {3, 119}, {9, 9}, true, "a helper of the baseline escapes"},
		{{100, 120}, {99, 3}, {9, 9}, true, "a helper of the candidate escapes"},
		{{100, 120}, {4, 5}, {9, 9}, false, "both escape"},
		{{2.1, 8.2}, {0.7, 6.8}, {24, 24}, false, "a short program became slower"},
		{{8.2, 2.1}, {6.8, 0.7}, {24, 24}, false, "or faster"},
		{{2.1, 8.2}, {0.7, 6.8}, {24, 6}, false, "in other numbers of repetitions"},
		{{4.3, 8.2}, {0.7, 6.8}, {24, 24}, true, "a short one with a helper"},
		{{2.1, 8.2}, {0.7, 8.4}, {24, 24}, true, "more samples than time"},
		{{100, 100}, {51, 100}, {9, 9}, false, "just enough is seen"},
		{{100, 100}, {49, 100}, {9, 9}, true, "just too little"},
		{{1, 1}, {0, 1}, {9, 9}, false, "too little time to tell"},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		const struct fg_coverage arms[2] = {
			of(rows[i].spent[0], rows[i].seen[0], rows[i].repetitions[0]),
			of(rows[i].spent[1], rows[i].seen[1], rows[i].repetitions[1])};

		if (fg_coverage_is_one_sided(arms, 10 * MS) != rows[i].is_one_sided)
			fail_msg("%s", rows[i].what);
	}
}
