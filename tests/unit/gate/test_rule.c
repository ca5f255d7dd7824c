// SPDX-License-Identifier: Apache-2.0
#include "gate/rule.h"
#include "tests/support/fg_test.h"
#include "tests/unit/gate/made_run.h"

#include <math.h>

#define PAIRS 80

static struct fg_rule default_rule(void)
{
	return (struct fg_rule){.alpha = 0.01,
				.min_effect = 0.02,
				.margin = 0.02,
				.min_pairs = 10,
				.max_pairs = 80,
				.is_drawn = true};
}

static struct fg_rule rule;
static struct fg_rule_finding finding;
static double difference[PAIRS];

static int begin(void **state)
{
	(void)state;
	rule = default_rule();
	return 0;
}

/* Draws heavy-tailed differences, as in recorded duets: one in ten is four times as large. */
static void draw(struct fg_random *random, double change)
{
	for (size_t i = 0; i < PAIRS; i++) {
		double wild = fg_random_uniform(random) < 0.1 ? 4.0 : 1.0;

		difference[i] = log1p(change) + 0.015 * wild * fg_random_normal(random);
	}
}

FG_TEST(looks_grow_by_half_and_end_at_the_most)
{
	static const size_t wanted[] = {10, 15, 23, 35, 53, 80};
	static const size_t strict[] = {12, 18, 27, 41, 62, 93, 140, 210, 315, 400};
	size_t found[FG_GATE_LOOKS_MAX];

	assert_int_equal(fg_gate_looks(0.01, 10, 80, found), FG_ARRAY_SIZE(wanted));
	assert_memory_equal(found, wanted, sizeof(wanted));
	assert_int_equal(fg_gate_looks(0.001, 10, 400, found), FG_ARRAY_SIZE(strict));
	assert_memory_equal(found, strict, sizeof(strict));
	assert_int_equal(fg_gate_looks(0.01, 10, 10, found), 1);
	assert_int_equal(found[0], 10);
	assert_int_equal(found[fg_gate_looks(0.01, 1, 4000000000U, found) - 1], 4000000000U);
}

/* 2^-n is the chance that n coins agree. */
FG_TEST(no_look_falls_before_it_can_decide)
{
	static const struct {
		double alpha;
		size_t least;
	} table[] = {{0.5, 3}, {0.25, 4}, {0.01, 9}, {0.001, 12}, {1e-9, 32}};

	for (size_t i = 0; i < FG_ARRAY_SIZE(table); i++) {
		const size_t least = fg_gate_min_pairs_first_look(table[i].alpha);

		assert_int_equal(least, table[i].least);
		assert_true(exp2(-(double)least) <= fg_gate_share(table[i].alpha, 0));
		assert_true(exp2(1.0 - (double)least) > fg_gate_share(table[i].alpha, 0));
	}
}

/* At every look, the spent shares and the remaining share add up to alpha. */
FG_TEST(the_shares_of_all_looks_are_alpha)
{
	double sum = 0;

	for (size_t i = 0; i < 200; i++) {
		assert_true(fg_gate_share(0.01, i) > 0);
		assert_float_equal(sum + fg_gate_share_left(0.01, i), 0.01, 1e-12);
		sum += fg_gate_share(0.01, i);
	}
	assert_float_equal(sum, 0.01, 1e-12);
	assert_float_equal(fg_gate_share(0.01, 0), 0.0025, 1e-12);
}

/*
 * Draws differences of code with 16 places, each with its own effect: the place in a cache line has
 * a large and constant effect, and the place in a page has a random effect.
 */
static void draw_in_places(struct fg_random *random, double change, uint8_t *layout)
{
	static const double of_line[FG_LINE_PLACES] = {-0.1, 0.2, 0.1, -0.2};
	double of_place[FG_LAYOUTS_MAX];

	for (size_t k = 0; k < FG_LAYOUTS_MAX; k++)
		of_place[k] = of_line[k % FG_LINE_PLACES] + 0.02 * fg_random_normal(random);
	for (size_t i = 0; i < PAIRS; i++) {
		layout[i] = (uint8_t)(i % FG_LAYOUTS_MAX);
		difference[i] =
			log1p(change) + of_place[layout[i]] + 0.002 * fg_random_normal(random);
	}
}

FG_TEST_IN(places_of_the_code_are_a_sample_however_many_pairs_there_are, begin, NULL)
{
	static const struct {
		double change;
		int at_least; /* failures, of 300 */
		int at_most;
	} table[] = {{0.0, 0, 6}, {0.04, 297, 300}};
	uint8_t layout[PAIRS];

	rule.min_effect = 0;
	rule.layout = layout;
	rule.layouts = FG_LAYOUTS_MAX;
	for (size_t row = 0; row < FG_ARRAY_SIZE(table); row++) {
		struct fg_random random;
		int hits = 0;

		fg_random_seed(&random, 200 + row);
		for (int run = 0; run < 300; run++) {
			draw_in_places(&random, table[row].change, layout);
			fg_rule_apply(&rule, difference, PAIRS, true, &finding);
			hits += finding.outcome == FG_OUTCOME_REGRESSION;
		}
		if (hits < table[row].at_least || hits > table[row].at_most)
			fail_msg("%g: %d of 300", table[row].change, hits);
	}
}

FG_TEST_IN(outcomes_over_many_runs_keep_their_promises, begin, NULL)
{
	static const struct {
		const char *why;
		double change;
		enum fg_outcome outcome;
		int at_least; /* number of runs, of 300 */
		int at_most;
	} table[] = {
		{"identical programs hardly ever fail", 0.0, FG_OUTCOME_REGRESSION, 0, 3},
		{"identical programs pass", 0.0, FG_OUTCOME_PASS, 294, 300},
		{"four per cent is found", 0.04, FG_OUTCOME_REGRESSION, 297, 300},
		{"four per cent never passes", 0.04, FG_OUTCOME_PASS, 0, 1},
		{"an improvement is mostly seen as one", -0.05, FG_OUTCOME_IMPROVEMENT, 270, 300},
		{"and never left open", -0.05, FG_OUTCOME_INCONCLUSIVE, 0, 0},
	};

	for (size_t row = 0; row < sizeof(table) / sizeof(table[0]); row++) {
		struct fg_random random;
		int hits = 0;

		fg_random_seed(&random, 100 + row);
		for (int run = 0; run < 300; run++) {
			draw(&random, table[row].change);
			fg_rule_apply(&rule, difference, PAIRS, true, &finding);
			hits += finding.outcome == table[row].outcome;
		}
		if (hits < table[row].at_least || hits > table[row].at_most)
			fail_msg("%s: %d of 300", table[row].why, hits);
	}
}

/*
 * There is one last look, wherever the measurement ends; no look follows the last planned one.
 */
FG_TEST_IN(a_measurement_that_ends_has_one_last_look, begin, NULL)
{
	static const struct {
		size_t pairs;
		bool final;
		size_t looks;
		size_t next_look;
		size_t judged; /* pairs */
	} rows[] = {
		{9, false, 0, 10, 9},   {9, true, 1, 0, 9},   {10, false, 1, 15, 10},
		{10, true, 2, 0, 10},   {11, true, 2, 0, 11}, {13, false, 1, 15, 10},
		{13, true, 2, 0, 13},   {15, true, 3, 0, 15}, {16, false, 2, 23, 15},
		{79, false, 5, 80, 53}, {79, true, 6, 0, 79}, {80, false, 6, 0, 80},
		{80, true, 6, 0, 80},   {4, false, 0, 10, 4},
	};

	for (size_t i = 0; i < PAIRS; i++)
		difference[i] = (i % 2 ? 0.01 : -0.01) * (double)(i + 1);
	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		fg_rule_apply(&rule, difference, rows[i].pairs, rows[i].final, &finding);
		assert_int_equal(finding.looks, rows[i].looks);
		assert_int_equal(finding.next_look, rows[i].next_look);
		assert_int_equal(finding.pairs, rows[i].judged);
		assert_int_equal(finding.outcome, FG_OUTCOME_INCONCLUSIVE);
	}
}

FG_TEST_IN(a_mean_that_some_pairs_contradict_is_not_a_regression, begin, NULL)
{
	/* The centre is steady, but two of ten pairs are much faster: chance often does that. */
	for (size_t i = 0; i < 10; i++)
		difference[i] = i % 5 == 0 ? -0.5 : 0.06 + 0.0001 * (double)(i % 2);
	fg_rule_apply(&rule, difference, 10, true, &finding);
	assert_true(finding.low < 0.0);
	assert_int_equal(finding.outcome, FG_OUTCOME_INCONCLUSIVE);
	for (size_t i = 0; i < 10; i++)
		difference[i] = fabs(difference[i]);
	fg_rule_apply(&rule, difference, 10, true, &finding);
	assert_int_equal(finding.outcome, FG_OUTCOME_REGRESSION);
	assert_float_equal(finding.low, 0.06, 1e-12);
}

FG_TEST_IN(too_few_pairs_decide_nothing, begin, NULL)
{
	double slower[6] = {0.3, 0.3, 0.3, 0.3, 0.3, 0.3};

	for (size_t count = 0; count <= FG_ARRAY_SIZE(slower); count++) {
		fg_rule_apply(&rule, slower, count, true, &finding);
		assert_int_equal(finding.outcome, FG_OUTCOME_INCONCLUSIVE);
		assert_true(isnan(finding.low) && isnan(finding.high));
		assert_true(isinf(fg_rule_smallest_seen(&rule, &finding)));
	}
}

/* Ways in which pairs of equal programs may depend on each other or on the host. */
enum dependence {
	SIMILAR,    /* a pair resembles the previous one in size, but not in sign */
	TWO_MODES,  /* differences switch at random between normal and 8 times larger */
	DRIFT,      /* the cost of going first drifts: a random walk */
	REMEMBERED, /* a pair resembles the previous one also in sign: a server that keeps state */
};

static void draw_dependent(struct fg_random *random, enum dependence how)
{
	double x = fg_random_normal(random);
	double mode = 1;

	for (size_t i = 0; i < PAIRS; i++) {
		const double coin = fg_random_below(random, 2) ? 1 : -1;
		const double noise = fg_random_normal(random);

		if (fg_random_uniform(random) < 0.05)
			mode = mode > 1 ? 1 : 8;
		difference[i] = how == SIMILAR     ? coin * 0.02 * (1 + x)
				: how == TWO_MODES ? coin * 0.01 * mode * (1 + 0.5 * noise)
				: how == DRIFT     ? coin * 0.02 * x
						   : 0.05 * x;
		x = how == DRIFT ? x + 0.2 * noise : 0.6 * x + 0.8 * noise;
	}
}

FG_TEST_IN(equal_programs_hardly_ever_fail_whatever_the_host_does, begin, NULL)
{
	static const struct {
		const char *why;
		enum dependence how;
		int at_most; /* failures, of 2,000; at alpha 1 % and min_effect 0 */
	} table[] = {
		{"similar neighbours", SIMILAR, 20},
		{"two modes", TWO_MODES, 20},
		{"drift", DRIFT, 20},
		{"memory that is not drawn", REMEMBERED, 20},
	};

	for (size_t row = 0; row < FG_ARRAY_SIZE(table); row++) {
		struct fg_random random;
		int failed = 0;

		rule.min_effect = 0;
		rule.is_drawn = table[row].how != REMEMBERED;
		fg_random_seed(&random, 31 + row);
		for (int run = 0; run < 2000; run++) {
			draw_dependent(&random, table[row].how);
			fg_rule_apply(&rule, difference, PAIRS, true, &finding);
			failed += finding.outcome == FG_OUTCOME_REGRESSION;
		}
		if (failed > table[row].at_most)
			fail_msg("%s: %d of 2,000", table[row].why, failed);
	}
}

FG_TEST_IN(dependence_between_pairs_widens_the_interval, begin, NULL)
{
	struct fg_rule_finding narrow;
	struct fg_rule_finding wide;
	struct fg_random random;

	fg_random_seed(&random, 9);
	draw(&random, 0);
	fg_rule_apply(&rule, difference, 10, true, &narrow);
	rule.is_drawn = false;
	fg_rule_apply(&rule, difference, 10, true, &wide);
	assert_float_equal(narrow.wider, 1, 0);
	assert_true(wide.wider > 1);
	assert_float_equal(wide.estimate, narrow.estimate, 0);
	assert_float_equal(wide.estimate - wide.low, wide.wider * (narrow.estimate - narrow.low),
			   1e-12);
	assert_float_equal(wide.high - wide.estimate, wide.wider * (narrow.high - narrow.estimate),
			   1e-12);
}

FG_TEST_IN(looks_at_a_schedule_that_was_given_up_are_paid_for, begin, NULL)
{
	static const struct {
		size_t given_up;
		size_t spent; /* number of looks */
	} table[] = {{0, 0}, {9, 0}, {10, 1}, {22, 2}, {79, 5}};
	struct fg_random random;

	fg_random_seed(&random, 7);
	draw(&random, 0.015);
	for (size_t row = 0; row < FG_ARRAY_SIZE(table); row++) {
		struct fg_rule_finding wanted;

		rule = default_rule();
		rule.given_up = table[row].given_up;
		fg_rule_apply(&rule, difference, 10, false, &finding);
		rule = default_rule();
		rule.alpha *= 0.25 * pow(0.75, (double)table[row].spent);
		rule.min_pairs = rule.max_pairs = 10;
		fg_rule_apply(&rule, difference, 10, true, &wanted);
		assert_true(finding.low == wanted.low || (isnan(finding.low) && isnan(wanted.low)));
	}
}

/* A session that ends between two looks decides nothing: the next one continues. */
FG_TEST_IN(until_sure_takes_no_look_early, begin, NULL)
{
	for (size_t i = 0; i < PAIRS; i++)
		difference[i] = i < 10 && i % 2 ? -0.05 : 0.05 + 0.001 * (double)i;
	rule.until_sure = true;
	rule.max_pairs = 20;
	fg_rule_apply(&rule, difference, 14, true, &finding);
	assert_false(finding.decided);
	assert_int_equal(finding.pairs, 10);
	assert_int_equal(finding.next_look, 15);
	fg_rule_apply(&rule, difference, PAIRS, true, &finding);
	assert_int_equal(finding.outcome, FG_OUTCOME_REGRESSION);
}

/* A budget that ends after ten pairs is not wasted: 2^-10 is less than 0.1 %. */
FG_TEST_IN(the_last_look_may_spend_all_that_is_left, begin, NULL)
{
	rule.alpha = 0.001;
	rule.max_pairs = 400;
	for (size_t i = 0; i < PAIRS; i++)
		difference[i] = 0.03 + 0.002 * (double)(i * 7 % 11);
	fg_rule_apply(&rule, difference, 10, true, &finding);
	assert_int_equal(finding.outcome, FG_OUTCOME_REGRESSION);
	fg_rule_apply(&rule, difference, 9, true, &finding);
	assert_int_equal(finding.outcome, FG_OUTCOME_INCONCLUSIVE);
	rule.max_pairs = 10;
	fg_rule_apply(&rule, difference, 10, false, &finding);
	assert_int_equal(finding.outcome, FG_OUTCOME_REGRESSION);
	rule.until_sure = true;
	fg_rule_apply(&rule, difference, 10, true, &finding);
	assert_int_equal(finding.outcome, FG_OUTCOME_INCONCLUSIVE);
	assert_int_equal(finding.next_look, 12);
}

FG_TEST_IN(twelve_slower_pairs_are_as_probable_as_twelve_equal_coins, begin, NULL)
{
	for (size_t i = 0; i < 12; i++)
		difference[i] = 0.02 + 0.001 * (double)i;
	assert_float_equal(fg_rule_probability(&rule, difference, 12, 0), 1 - exp2(-12), 1e-12);
	assert_float_equal(fg_rule_probability(&rule, difference, 12, 0.1), 0, 1e-12);
	/* Around the estimate the probability is one half, except for the steps of the ranks. */
	assert_float_equal(fg_rule_probability(&rule, difference, 12, 0.0255), 0.5, 0.1);
	difference[3] = -0.005;
	assert_float_equal(fg_rule_probability(&rule, difference, 12, 0), 1 - 2 * exp2(-12), 1e-12);
}

/* Conditions shared by all pairs pull the probability towards one half. */
FG_TEST_IN(the_probability_has_the_doubts_of_the_interval, begin, NULL)
{
	static const double away[] = {-0.004, 0.004};
	struct fg_rule as_drawn = default_rule();
	struct fg_random random;
	uint8_t layout[PAIRS];

	fg_random_seed(&random, 12);
	draw_in_places(&random, 0.02, layout);
	as_drawn.layout = layout;
	as_drawn.layouts = FG_LINE_PLACES;
	fg_rule_apply(&as_drawn, difference, PAIRS, true, &finding);
	for (size_t i = 0; i < FG_ARRAY_SIZE(away); i++) {
		const double at = finding.estimate + away[i];
		double sure = fg_rule_probability(&as_drawn, difference, PAIRS, at);
		double kept;
		double placed;

		rule = as_drawn;
		rule.is_drawn = false;
		kept = fg_rule_probability(&rule, difference, PAIRS, at);
		rule.is_drawn = true;
		rule.layouts = FG_LAYOUTS_MAX;
		placed = fg_rule_probability(&rule, difference, PAIRS, at);
		assert_true(fabs(sure - 0.5) > fabs(kept - 0.5));
		assert_true(fabs(sure - 0.5) > fabs(placed - 0.5));
		assert_true((sure > 0.5) == (i == 0) && (placed > 0.5) == (i == 0));
	}
}

/* ---- how many pairs an undecided measurement lacks ---- */

static const struct fg_rule usual = {.alpha = 0.01,
				     .min_effect = 0.01,
				     .margin = 0.02,
				     .min_pairs = 10,
				     .max_pairs = 10,
				     .is_drawn = true};

/* Ten pairs scatter by six per cent around each middle. */
FG_TEST(the_weaker_the_change_the_more_pairs_up_to_four_times_as_many)
{
	static const struct {
		double middle;
		size_t needed;
	} rows[] = {{0.05, 15}, {0.03, 35}, {0.01, 0}};

	for (size_t row = 0; row < FG_ARRAY_SIZE(rows); row++) {
		for (size_t i = 0; i < 10; i++)
			difference[i] = rows[row].middle + 0.06 * ((double)(i * 7 % 11) / 5 - 1);
		assert_int_equal(fg_rule_pairs_needed(&usual, difference, 10), rows[row].needed);
	}
}

/* Every fourth pair has the same layout, and the next pairs continue this order. */
FG_TEST(pairs_of_several_layouts_continue_in_turn)
{
	uint8_t layout[12];

	rule = usual;
	for (size_t i = 0; i < 12; i++) {
		layout[i] = (uint8_t)(i % FG_LINE_PLACES);
		difference[i] = 0.03 + 0.2 * ((double)layout[i] - 1.5) +
				0.06 * ((double)(i * 7 % 11) / 5 - 1);
	}
	assert_int_equal(fg_rule_pairs_needed(&rule, difference, 12), 0);
	rule.layout = layout;
	rule.layouts = FG_LINE_PLACES;
	assert_int_equal(fg_rule_pairs_needed(&rule, difference, 12), 23);
}

FG_TEST(pairs_above_the_tolerated_change_are_slower)
{
	const struct fg_rule tolerant = {.tolerated = 0.01};
	const double pairs[] = {0.02, log1p(0.01), -0.5, 0.0099, 0.011, 0};

	assert_int_equal(fg_rule_count_slower(&tolerant, pairs, FG_ARRAY_SIZE(pairs)), 2);
	assert_int_equal(fg_rule_count_slower(&usual, pairs, FG_ARRAY_SIZE(pairs)), 4);
	assert_int_equal(fg_rule_count_slower(&usual, pairs, 0), 0);
}
