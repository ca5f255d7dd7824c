// SPDX-License-Identifier: Apache-2.0
/*
 * Checks that the printed interval decides, in 100,000 synthetic series under random policies,
 * layouts and endings, and how often recorded programs fail. test_printed.c replays recorded pairs
 * through the whole decision.
 */
#include "base/random.h"
#include "gate/rule.h"
#include "tests/support/fg_test.h"
#include "tests/unit/gate/recorded_pairs.h"

#include <math.h>

enum {
	MADE = 100000,
	PAIRS_MAX = 50,
};

struct trial {
	struct fg_rule rule;
	double difference[PAIRS_MAX];
	uint8_t layout[PAIRS_MAX];
	size_t count;
	bool final;
};

static double pick(struct fg_random *random, const double *values, size_t count)
{
	return values[fg_random_below(random, count)];
}

/* Draws any policy, and any state of a measurement. */
static void draw_rule(struct fg_random *random, struct trial *trial)
{
	static const double alphas[] = {0.001, 0.001, 0.01, 0.05, 1e-6};
	static const double effects[] = {0, 0.01, 0.01, 0.05};
	static const double margins[] = {0.02, 0.02, 0.005, 0.1};
	static const unsigned layouts[] = {0, 0, 4, 8, 16};
	const unsigned places = layouts[fg_random_below(random, FG_ARRAY_SIZE(layouts))];

	trial->count = 1 + fg_random_below(random, PAIRS_MAX);
	trial->final = fg_random_below(random, 4) != 0;
	trial->rule = (struct fg_rule){
		.alpha = pick(random, alphas, FG_ARRAY_SIZE(alphas)),
		.min_effect = pick(random, effects, FG_ARRAY_SIZE(effects)),
		.margin = pick(random, margins, FG_ARRAY_SIZE(margins)),
		.tolerated = fg_random_below(random, 4) ? 0 : 0.01,
		.min_pairs = 5 + (unsigned)fg_random_below(random, 10),
		.max_pairs = fg_random_below(random, 2)
				     ? 400
				     : 12 + (unsigned)fg_random_below(random, 30),
		.until_sure = fg_random_below(random, 8) == 0,
		.is_drawn = fg_random_below(random, 4) != 0,
		.layout = places ? trial->layout : NULL,
		.layouts = places,
		.given_up = fg_random_below(random, 4) ? 0 : fg_random_below(random, 40),
	};
	for (size_t i = 0; i < trial->count; i++)
		trial->layout[i] = (uint8_t)(i % (places ? places : 1));
}

/*
 * Draws pairs whose scatter is normal, has outliers, is correlated with the previous pair, is
 * asymmetric, or is zero.
 */
static void draw_pairs(struct fg_random *random, struct trial *trial)
{
	static const double changes[] = {0, 0, 0.01, 0.02, 0.05, 0.1, -0.05, 0.7};
	static const double scatters[] = {0.001, 0.01, 0.02, 0.05, 0.2, 0};
	const double change = pick(random, changes, FG_ARRAY_SIZE(changes));
	const double scatter = pick(random, scatters, FG_ARRAY_SIZE(scatters));
	const uint64_t kind = fg_random_below(random, 4);
	double last = 0;

	for (size_t i = 0; i < trial->count; i++) {
		double noise = fg_random_normal(random);

		if (kind == 1 && fg_random_below(random, 10) == 0)
			noise *= 8;
		if (kind == 2)
			noise = 0.6 * last + 0.8 * noise;
		if (kind == 3)
			noise = fabs(noise) * (fg_random_below(random, 5) ? 1 : -3);
		last = noise;
		trial->difference[i] = log1p(change) + scatter * noise;
	}
}

static void check_interval(const struct fg_rule *rule, const struct fg_rule_finding *found)
{
	const bool is_worse =
		found->low > log1p(rule->tolerated) && found->estimate >= log1p(rule->min_effect);
	const bool is_fine = found->high < log1p(rule->margin);

	assert_int_equal(found->outcome == FG_OUTCOME_REGRESSION, is_worse);
	assert_int_equal(found->outcome == FG_OUTCOME_PASS ||
				 found->outcome == FG_OUTCOME_IMPROVEMENT,
			 is_fine && !is_worse);
	assert_int_equal(found->decided, found->outcome != FG_OUTCOME_INCONCLUSIVE);
	assert_true(isnan(found->low) == isnan(found->high));
	assert_true(isnan(found->low) ||
		    (found->low <= found->estimate && found->estimate <= found->high));
}

/*
 * A regression is never smaller than the smallest change that the run claims to see, and any other
 * estimate is never larger.
 */
static void check_what_was_seen(const struct trial *trial, const struct fg_rule_finding *found)
{
	const double seen = fg_rule_smallest_seen(&trial->rule, found);

	if (found->outcome == FG_OUTCOME_REGRESSION)
		assert_true(seen <= found->estimate + 1e-12);
	else
		assert_true(seen >= found->estimate - 1e-12);
}

/*
 * If every pair is slower than tolerated, the estimate reaches min_effect, and the pairs can
 * decide, the verdict is a regression.
 */
static void check_the_clear_case(const struct trial *trial, const struct fg_rule_finding *found)
{
	const struct fg_rule *rule = &trial->rule;
	bool all = !isnan(found->low) && rule->is_drawn && !rule->layout &&
		   found->estimate >= log1p(rule->min_effect);

	for (size_t i = 0; i < found->pairs; i++)
		all = all && trial->difference[i] > log1p(rule->tolerated);
	if (all)
		assert_int_equal(found->outcome, FG_OUTCOME_REGRESSION);
}

/* A run that stops and resumes after each pair has the same result as an uninterrupted one. */
static void check_resumed(const struct trial *trial, const struct fg_rule_finding *found)
{
	struct fg_rule_finding now = {0};

	for (size_t count = 1; count <= trial->count && !now.decided; count++)
		fg_rule_apply(&trial->rule, trial->difference, count, false, &now);
	if (!now.decided)
		fg_rule_apply(&trial->rule, trial->difference, trial->count, trial->final, &now);
	assert_int_equal(now.outcome, found->outcome);
	assert_int_equal(now.pairs, found->pairs);
	assert_memory_equal(&now.low, &found->low, sizeof(now.low));
}

/* The reported number of pairs is enough if the further pairs are like the measured ones. */
static void check_needed(const struct trial *trial, const struct fg_rule_finding *found)
{
	const size_t needed = fg_rule_pairs_needed(&trial->rule, trial->difference, trial->count);
	double longer[4 * PAIRS_MAX];
	uint8_t layout[4 * PAIRS_MAX];
	struct fg_rule rule = trial->rule;
	struct fg_rule_finding then;

	if (needed == 0 || found->decided)
		return;
	assert_in_range(needed, trial->count + 1, FG_ARRAY_SIZE(longer));
	for (size_t i = 0; i < needed; i++) {
		longer[i] = trial->difference[i % trial->count];
		layout[i] = trial->layout[i % trial->count];
	}
	rule.layout = rule.layout ? layout : NULL;
	rule.max_pairs = (unsigned)needed;
	fg_rule_apply(&rule, longer, needed, true, &then);
	assert_int_equal(then.outcome, FG_OUTCOME_REGRESSION);
	assert_int_equal(then.pairs, needed);
}

/* A regression's probability of being slower is at least one minus alpha. */
static void check_probability(const struct trial *trial, const struct fg_rule_finding *found)
{
	const struct fg_rule *rule = &trial->rule;
	const double slower =
		fg_rule_probability(rule, trial->difference, found->pairs, log1p(rule->tolerated));
	const double beyond =
		fg_rule_probability(rule, trial->difference, found->pairs, log1p(rule->margin));

	assert_true(slower >= 0 && slower <= 1 && beyond >= 0 && beyond <= 1);
	if (rule->margin > rule->tolerated)
		assert_true(beyond <= slower + 1e-12);
	if (found->outcome == FG_OUTCOME_REGRESSION)
		assert_true(slower >= 1 - rule->alpha - 1e-9);
	if (found->outcome == FG_OUTCOME_PASS)
		assert_true(beyond <= rule->alpha + 1e-9);
}

static void check(const struct trial *trial, size_t number)
{
	struct fg_rule_finding found;

	fg_rule_apply(&trial->rule, trial->difference, trial->count, trial->final, &found);
	check_interval(&trial->rule, &found);
	check_what_was_seen(trial, &found);
	check_the_clear_case(trial, &found);
	if (number % 16)
		return;
	check_resumed(trial, &found);
	check_needed(trial, &found);
	check_probability(trial, &found);
}

FG_TEST(the_printed_interval_decides)
{
	struct fg_random random;
	struct trial trial;

	fg_random_seed(&random, 1);
	for (size_t i = 0; i < MADE; i++) {
		draw_rule(&random, &trial);
		draw_pairs(&random, &trial);
		check(&trial, i);
	}
}

/* Draws consecutive pairs of a program on a busy host, unchanged or as if one side were slower. */
static void replay(struct fg_random *random, double change, struct trial *trial)
{
	const struct recorded *series = &recorded[fg_random_below(random, RECORDED_SERIES)];
	size_t from = series->begin;

	trial->count = fg_min_size(PAIRS_MAX, series->count);
	from += fg_random_below(random, series->count - trial->count + 1);
	for (size_t i = 0; i < trial->count; i++)
		trial->difference[i] = log1p(change) + recorded_pairs[from + i] / 1e4;
}

/* Uses the defaults and 50 pairs, recorded on a host with a load of 8 to 25 on two CPUs. */
FG_TEST(recorded_programs_fail_where_one_side_is_slower_and_only_there)
{
	static const struct {
		double change;
		size_t least; /* failures, of 1,000 */
		size_t most;
	} table[] = {{0, 0, 5}, {0.05, 850, 1000}, {0.1, 995, 1000}};

	for (size_t row = 0; row < FG_ARRAY_SIZE(table); row++) {
		struct fg_random random;
		size_t failed = 0;

		fg_random_seed(&random, 3);
		for (size_t i = 0; i < 1000; i++) {
			struct fg_rule_finding found;
			struct trial trial = {.rule = {.alpha = 0.001,
						       .min_effect = 0.01,
						       .margin = 0.02,
						       .min_pairs = 10,
						       .max_pairs = PAIRS_MAX,
						       .is_drawn = true}};

			replay(&random, table[row].change, &trial);
			fg_rule_apply(&trial.rule, trial.difference, trial.count, true, &found);
			failed += found.outcome == FG_OUTCOME_REGRESSION;
		}
		if (failed < table[row].least || failed > table[row].most)
			fail_msg("%g: %zu of 1,000", table[row].change, failed);
	}
}
