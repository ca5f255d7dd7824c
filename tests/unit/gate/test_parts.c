// SPDX-License-Identifier: Apache-2.0
#include "base/random.h"
#include "gate/parts.h"
#include "tests/unit/statistics/close.h"

enum {
	ROWS_MAX = 4,
};

/* Measured rows with half their intervals, and the expected list. */
struct part_case {
	const char *why;
	double total;
	struct {
		double delta, half;
		enum fg_standing standing;
		double fitted;
	} rows[ROWS_MAX];
	struct fg_rest rest;
	double everything_else;
	bool has_shares;
};

#define GUILTY   FG_STANDING_GUILTY
#define FASTER   FG_STANDING_FASTER
#define NOT_SURE FG_STANDING_NOT_SURE

static const struct part_case cases[] = {
	{"parts that add up stay", 10, {{9, 2, GUILTY, 9}}, {1, 2}, 1, true},
	{"a surplus goes by the square of the error",
	 10,
	 {{12, 2, GUILTY, 11.56}, {-4, 4, FASTER, -5.78}},
	 {6, 4},
	 4.22,
	 false},
	{"samples that scatter make no gain", 12, {{17.2, 3, GUILTY, 12}}, {-5.2, 6}, 0, true},
	{"of a whole that fell", -12, {{-17.2, 3, FASTER, -12}}, {5.2, 6}, 0, true},
	{"a remainder that fell significantly is shown, without shares",
	 12,
	 {{17, 1, GUILTY, 17}},
	 {-5, 1},
	 -5,
	 false},
	{"a gain elsewhere is kept",
	 8,
	 {{24, 1, GUILTY, 24}, {-16, 1, FASTER, -16}},
	 {0, 1},
	 0,
	 false},
	{"what is not sure is a part of the rest",
	 10,
	 {{8, 1, GUILTY, 8}, {1.5, 1, NOT_SURE, 1.5}},
	 {0.5, 1},
	 2,
	 true},
	{"counts add up as they are", 10, {{7, 0, GUILTY, 7}}, {3, 0}, 3, true},
};

static void settle(const struct part_case *row, bool total_changed,
		   struct fg_node_verdict functions[ROWS_MAX], struct fg_blame *blame)
{
	*blame = (struct fg_blame){.functions = functions, .total_delta = row->total};
	for (size_t k = 0; k < ROWS_MAX && (row->rows[k].delta < 0 || row->rows[k].delta > 0); k++)
		functions[blame->function_count++] =
			(struct fg_node_verdict){.delta = row->rows[k].delta,
						 .self = {50, 50 + row->rows[k].delta},
						 .low = row->rows[k].delta - row->rows[k].half,
						 .high = row->rows[k].delta + row->rows[k].half,
						 .share_of_change = (double)NAN,
						 .standing = row->rows[k].standing};
	fg_parts_fit(blame, row->rest, total_changed);
}

FG_TEST(parts_add_up_and_no_share_is_above_the_whole)
{
	for (size_t i = 0; i < FG_ARRAY_SIZE(cases); i++) {
		const struct part_case *row = &cases[i];
		struct fg_node_verdict functions[ROWS_MAX];
		struct fg_blame blame;
		double sum;

		settle(row, true, functions, &blame);
		sum = blame.unattributed;
		for (size_t k = 0; k < blame.function_count; k++) {
			const struct fg_node_verdict *node = &functions[k];

			sum += node->delta;
			if (fabs(node->delta - row->rows[k].fitted) > 0.01)
				fail_msg("%s: %g", row->why, node->delta);
			assert_near(node->high - node->low, 2 * row->rows[k].half, 1e-9);
			assert_near(node->self[1] - node->self[0], node->delta, 1e-9);
			assert_int_equal(isfinite(node->share_of_change),
					 row->has_shares && node->standing != NOT_SURE);
			assert_false(fabs(node->share_of_change) > 1 + 1e-9);
		}
		assert_near(sum, row->total, 1e-9);
		if (fabs(blame.everything_else - row->everything_else) > 0.01)
			fail_msg("%s: everything else %g", row->why, blame.everything_else);
	}
}

/*
 * Random parts of every kind: the list always adds up, never exceeds the total, and has no row that
 * is 0 or points the other way.
 */
FG_TEST(the_list_always_adds_up)
{
	struct fg_random random;

	fg_random_seed(&random, 47);
	for (int i = 0; i < 100000; i++) {
		struct part_case row = {.total = 10 * fg_random_normal(&random)};
		struct fg_node_verdict functions[ROWS_MAX];
		struct fg_blame blame;
		double sum;

		for (size_t k = 0; k < (size_t)fg_random_below(&random, ROWS_MAX + 1); k++) {
			const double delta = 10 * fg_random_normal(&random);

			row.rows[k].delta = delta;
			row.rows[k].half = fabs(delta) * fg_random_uniform(&random);
			row.rows[k].standing = delta > 0 ? GUILTY : FASTER;
		}
		row.rest = (struct fg_rest){5 * fg_random_normal(&random),
					    5 * fg_random_uniform(&random)};
		settle(&row, true, functions, &blame);
		sum = blame.everything_else;
		for (size_t k = 0; k < blame.function_count; k++) {
			sum += functions[k].delta;
			assert_false(fabs(functions[k].share_of_change) > 1 + 1e-9);
			assert_true(functions[k].standing == GUILTY ? functions[k].delta > 0
								    : functions[k].delta < 0);
		}
		assert_near(sum, row.total, 1e-6);
	}
}

FG_TEST(without_a_change_of_the_whole_there_are_no_shares)
{
	struct fg_node_verdict functions[ROWS_MAX];
	struct fg_blame blame;

	settle(&cases[2], false, functions, &blame);
	assert_near(functions[0].delta, 17.2, 1e-12);
	assert_near(blame.everything_else, -5.2, 1e-12);
	assert_true(isnan(functions[0].share_of_change));
}

FG_TEST(the_whole_is_the_difference_of_the_levels)
{
	struct fg_metric_verdict metrics[] = {
		{.name = "wall_time", .baseline = 1, .candidate = 2, .low = 2, .high = 2},
		{.name = "cpu_time",
		 .baseline = 254,
		 .candidate = 256.794,
		 .low = 1.004,
		 .high = 1.02}};
	const struct fg_benchmark_verdict verdict = {.metrics = metrics, .metric_count = 2};
	struct fg_whole whole = fg_parts_whole(&verdict, "cpu_time", 10);

	assert_near(whole.delta, 27.94, 1e-9);
	assert_true(whole.changed);
	metrics[1].low = 0.99;
	assert_false(fg_parts_whole(&verdict, "cpu_time", 1).changed);
	metrics[1].low = 0.98;
	metrics[1].high = 0.99;
	assert_true(fg_parts_whole(&verdict, "cpu_time", 1).changed);
	whole = fg_parts_whole(&verdict, "max_rss", 1);
	assert_true(isnan(whole.delta) && !whole.changed);
}
