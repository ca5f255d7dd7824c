// SPDX-License-Identifier: Apache-2.0
#include "base/random.h"
#include "gate/chain.h"
#include "tests/support/fg_test.h"

#include <math.h>

#define NEAR(a, b) assert_true(fabs((a) - (b)) < 1e-9)

static struct fg_chain chain;
static struct fg_chain_sum sum;

static struct fg_chain_edge step(const char *from, const char *to, double change, double error)
{
	return (struct fg_chain_edge){
		.run = "r", .from = from, .to = to, .pairs = 12, .change = change, .error = error};
}

/* Builds a chain, and drops the previous one. */
static void build(const struct fg_chain_edge *edges, size_t count, const char *tip)
{
	fg_chain_release(&chain);
	fg_chain_build(edges, count, tip, &chain);
}

/* The order is that of the commits, not that of the runs. */
FG_TEST(steps_add_up_and_so_do_their_variances)
{
	const struct fg_chain_edge edges[] = {step("b", "c", 0.02, 0.004),
					      step("a", "b", 0.01, 0.003)};

	build(edges, 2, "c");
	assert_int_equal(chain.count, 3);
	assert_string_equal(chain.points[0].commit, "a");
	assert_string_equal(chain.points[2].commit, "c");
	sum = fg_chain_sum(&chain, 0, 2, FG_CHAIN_ALL);
	NEAR(sum.change, 0.03);
	NEAR(sum.error, 0.005);
	NEAR(fg_chain_sum(&chain, 0, 1, FG_CHAIN_ALL).change, 0.01);
}

FG_TEST(identical_builds_are_exactly_nothing)
{
	const struct fg_chain_edge edges[] = {step("a", "b", 0, 0), step("b", "c", 0, 0)};

	build(edges, 2, "c");
	sum = fg_chain_sum(&chain, 0, 2, FG_CHAIN_ALL);
	assert_true(memcmp(&sum.change, &(double){0}, sizeof(double)) == 0);
	assert_true(memcmp(&sum.error, &(double){0}, sizeof(double)) == 0);
}

FG_TEST(runs_of_one_step_are_pooled_by_their_worth)
{
	const struct fg_chain_edge edges[] = {step("a", "b", 0.01, 0.01),
					      step("a", "b", 0.04, 0.02)};

	build(edges, 2, "b");
	sum = fg_chain_sum(&chain, 0, 1, FG_CHAIN_ALL);
	NEAR(sum.change, 0.016);
	NEAR(sum.error, sqrt(0.8) * 0.01);
}

/*
 * Two steps of variance 1, and an anchor of variance 2 over both steps: the anchor's residual is
 * shared equally.
 */
FG_TEST(an_anchor_is_weighted_least_squares)
{
	const struct fg_chain_edge edges[] = {step("a", "b", 0, 1), step("b", "c", 0, 1),
					      step("a", "c", 1, sqrt(2))};
	double steps[3];
	double anchors[1];

	build(edges, 3, "c");
	assert_int_equal(chain.anchor_count, 1);
	sum = fg_chain_sum(&chain, 0, 2, FG_CHAIN_ALL);
	NEAR(sum.change, 0.5);
	NEAR(sum.error, 1.0);
	sum = fg_chain_sum(&chain, 0, 1, FG_CHAIN_ALL);
	NEAR(sum.change, 0.25);
	NEAR(sum.error, sqrt(0.75));
	fg_chain_weights(&chain, 0, 1, FG_CHAIN_ALL, steps, anchors);
	NEAR(steps[1], 0.75);
	NEAR(steps[2], -0.25);
	NEAR(anchors[0], 0.25);
}

FG_TEST(an_anchor_measured_the_other_way_round_counts_with_its_sign)
{
	const struct fg_chain_edge edges[] = {step("a", "b", 0, 1), step("b", "c", 0, 1),
					      step("c", "a", -1, sqrt(2))};

	build(edges, 3, "c");
	assert_int_equal(chain.count, 3);
	NEAR(fg_chain_sum(&chain, 0, 2, FG_CHAIN_ALL).change, 0.5);
}

FG_TEST(exact_steps_keep_their_values_with_an_anchor)
{
	const struct fg_chain_edge edges[] = {step("a", "b", 0.5, 0), step("b", "c", 0, 1),
					      step("a", "c", 1, 1e-9)};

	build(edges, 3, "c");
	NEAR(fg_chain_sum(&chain, 0, 1, FG_CHAIN_ALL).change, 0.5);
	assert_true(fabs(fg_chain_sum(&chain, 0, 2, FG_CHAIN_ALL).change - 1) < 1e-6);
}

FG_TEST(known_steps_can_be_left_out_of_a_sum)
{
	struct fg_chain_edge edges[] = {step("a", "b", 0.01, 0.003), step("b", "c", 0.2, 0.004),
					step("c", "d", 0.01, 0.004)};

	edges[1].is_known = true;
	build(edges, 3, "d");
	sum = fg_chain_sum(&chain, 0, 3, FG_CHAIN_SMALL);
	NEAR(sum.change, 0.02);
	NEAR(sum.error, 0.005);
}

FG_TEST(side_branches_circles_and_strangers_do_not_matter)
{
	const struct fg_chain_edge edges[] = {
		step("a", "b", 0.01, 0.1), step("b", "side", 5, 0.1), step("b", "c", 0.01, 0.1),
		step("c", "a", 0.3, 1e6),  step("x", "y", 9, 0.1),
	};

	build(edges, 5, "c");
	assert_int_equal(chain.count, 3);
	assert_true(fabs(fg_chain_sum(&chain, 0, 2, FG_CHAIN_ALL).change - 0.02) < 1e-6);
	build(edges, 5, "nowhere");
	assert_int_equal(chain.count, 0);
	build(NULL, 0, "c");
	assert_int_equal(chain.count, 0);
}

FG_TEST(without_a_tip_the_longest_chain_of_the_newest_run_counts)
{
	const struct fg_chain_edge edges[] = {
		step("u", "v", 1, 0.1),    step("v", "w", 1, 0.1),    step("w", "x", 1, 0.1),
		step("b", "c", 0.01, 0.1), step("a", "b", 0.02, 0.1),
	};

	build(edges, 5, NULL);
	assert_int_equal(chain.count, 3);
	assert_string_equal(chain.points[0].commit, "a");
	assert_string_equal(chain.points[2].commit, "c");
	build(NULL, 0, NULL);
	assert_int_equal(chain.count, 0);
}

enum {
	LONG = 5000,
	NAME = 16
};

/* A long chain with more anchors than it keeps still agrees with the simulated changes. */
FG_TEST(a_long_chain_stays_within_its_error)
{
	static char names[LONG + 1][NAME];
	static struct fg_chain_edge edges[LONG + 200];
	static double truth[LONG + 1];
	struct fg_random random;

	fg_random_seed(&random, 11);
	for (size_t i = 0; i <= LONG; i++)
		(void)snprintf(names[i], NAME, "c%zu", i);
	for (size_t i = 0; i < LONG; i++) {
		truth[i + 1] = truth[i] + 0.001;
		edges[i] = step(names[i], names[i + 1], 0.001 + 0.004 * fg_random_normal(&random),
				0.004);
	}
	for (size_t i = 0; i < 200; i++)
		edges[LONG + i] =
			step(names[0], names[25 * (i + 1)],
			     truth[25 * (i + 1)] + 0.004 * fg_random_normal(&random), 0.004);
	build(edges, LONG + 200, names[LONG]);
	assert_int_equal(chain.count, LONG + 1);
	assert_int_equal(chain.anchor_count, FG_CHAIN_ANCHORS_MAX);
	sum = fg_chain_sum(&chain, 0, LONG, FG_CHAIN_ALL);
	assert_true(sum.error < 0.004);
	assert_true(fabs(sum.change - truth[LONG]) < 4 * sum.error);
}
