// SPDX-License-Identifier: Apache-2.0
/* The rule for links that are cheap compared with the measurement, and their remembered cost. */
#include "base/clock.h"
#include "base/fs.h"
#include "runner/build/link_cost.h"
#include "tests/support/fg_test.h"
#include "tests/support/scratch.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

FG_TEST(links_may_take_a_tenth_of_the_measurement)
{
	static const struct {
		const char *what;
		double pair_s;
		double budget_s;
		unsigned max_pairs;
		double allowance_s;
	} rows[] = {
		{"20 pairs of 2 s", 2, 300, 120, 4},
		{"of 30 s: no more than a tenth of the budget", 30, 300, 120, 30},
		{"a short program: 2 s are always cheap", 0.01, 300, 120, 2},
		{"nothing is known of it", 0, 300, 120, 2},
		{"a small budget", 0.01, 15, 120, 1.5},
		{"a small budget, and a slow program", 10, 15, 120, 1.5},
		{"no budget", 30, 0, 120, 60},
		{"fewer pairs than that", 5, 300, 8, 4},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		const struct fg_measuring measure = {
			.min_pairs = 10,
			.max_pairs = rows[i].max_pairs,
			.budget_ns = (int64_t)(rows[i].budget_s * (double)FG_NS_PER_S),
		};
		const int64_t found = fg_links_allowance_ns(
			&measure, (int64_t)(rows[i].pair_s * (double)FG_NS_PER_S));
		const double off = (double)found - rows[i].allowance_s * (double)FG_NS_PER_S;

		if (off < -10 || off > 10)
			fail_msg("%s: %g s", rows[i].what, (double)found / (double)FG_NS_PER_S);
	}
}

FG_TEST(a_link_cost_is_kept_for_a_day)
{
	struct timespec times[2] = {{.tv_nsec = UTIME_NOW}, {.tv_nsec = 0}};
	struct fg_scratch scratch;
	const char *path = NULL;

	fg_scratch_init(&scratch);
	path = fg_scratch_path(&scratch, "a/cost");
	assert_int_equal(fg_link_cost_read(path), 0);
	fg_link_cost_write(path, 123456789012);
	assert_int_equal(fg_link_cost_read(path), 123456789012);
	fg_link_cost_write(path, 7);
	assert_int_equal(fg_link_cost_read(path), 7);
	times[1].tv_sec = (time_t)(fg_clock_wall_ns() / FG_NS_PER_S - 23 * 3600);
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
	assert_int_equal(fg_link_cost_read(path), 7);
	times[1].tv_sec -= 2 * 3600;
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
	assert_int_equal(fg_link_cost_read(path), 0);
	fg_scratch_release(&scratch);
}

FG_TEST(a_malformed_link_cost_is_ignored)
{
	static const char *const texts[] = {"",
					    "x",
					    "-5",
					    "12 s",
					    "99999999999999999999999",
					    "1111111111111111111111111111111111111111111111111"};
	struct fg_scratch scratch;

	fg_scratch_init(&scratch);
	for (size_t i = 0; i < FG_ARRAY_SIZE(texts); i++) {
		fg_scratch_write_text(&scratch, "cost", texts[i]);
		assert_int_equal(fg_link_cost_read(fg_scratch_path(&scratch, "cost")), 0);
	}
	/* A folder that cannot be written is ignored. */
	fg_link_cost_write(fg_scratch_path(&scratch, "cost/below/a/file"), 5);
	assert_int_equal(fg_link_cost_read(fg_scratch_path(&scratch, "cost/below/a/file")), 0);
	fg_scratch_release(&scratch);
}
