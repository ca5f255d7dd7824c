// SPDX-License-Identifier: Apache-2.0
/* After how many pairs the bettors are sure, and of what: computed apart from the description. */
#include "gate/rule.h"
#include "tests/support/fg_test.h"

#include <math.h>

enum {
	PAIRS = 80,
};

/* Uniform numbers of a small generator through an AR(1) filter, around `shift`. */
static const struct {
	double r;
	size_t seed;
	double shift;
	double scale;
	double tolerated;
	double min_effect;
	size_t pairs;
	enum fg_outcome outcome;
} rows[] = {
	{0, 1, 0.05, 0.03, 0, 0.01, 15, FG_OUTCOME_REGRESSION},
	{0, 1, 0.05, 0.03, 0.01, 0.01, 24, FG_OUTCOME_REGRESSION},
	{0, 1, 0.05, 0.03, 0, 0.04, 15, FG_OUTCOME_REGRESSION},
	{0, 2, 0.05, 0.03, 0, 0.01, 10, FG_OUTCOME_REGRESSION},
	{0, 1, 0.03, 0.06, 0, 0.01, 44, FG_OUTCOME_REGRESSION},
	{0, 1, 0.03, 0.06, 0.01, 0.01, 44, FG_OUTCOME_REGRESSION},
	{0, 2, 0.03, 0.06, 0, 0.01, 12, FG_OUTCOME_REGRESSION},
	{0, 1, 0, 0.01, 0, 0.01, 10, FG_OUTCOME_PASS},
	{0, 1, 0, 0.01, 0.01, 0.01, 10, FG_OUTCOME_PASS},
	{0, 1, 0, 0.01, 0, 0.04, 10, FG_OUTCOME_PASS},
	{0, 2, 0, 0.01, 0, 0.01, 10, FG_OUTCOME_PASS},
	{0, 1, -0.05, 0.03, 0, 0.01, 10, FG_OUTCOME_IMPROVEMENT},
	{0, 1, -0.05, 0.03, 0.01, 0.01, 10, FG_OUTCOME_IMPROVEMENT},
	{0, 1, -0.05, 0.03, 0, 0.04, 10, FG_OUTCOME_IMPROVEMENT},
	{0, 2, -0.05, 0.03, 0, 0.01, 10, FG_OUTCOME_IMPROVEMENT},
	{0, 1, 0.03, 0.01, 0, 0.01, 10, FG_OUTCOME_REGRESSION},
	{0, 1, 0.03, 0.01, 0.01, 0.01, 15, FG_OUTCOME_REGRESSION},
	{0, 2, 0.03, 0.01, 0, 0.01, 10, FG_OUTCOME_REGRESSION},
	{0, 1, 0.02, 0.05, 0, 0.01, 44, FG_OUTCOME_REGRESSION},
	{0, 1, 0.02, 0.05, 0.01, 0.01, 80, FG_OUTCOME_INCONCLUSIVE},
	{0, 2, 0.02, 0.05, 0, 0.01, 12, FG_OUTCOME_REGRESSION},
	{0.5, 1, 0.05, 0.03, 0, 0.01, 33, FG_OUTCOME_REGRESSION},
	{0.5, 1, 0.05, 0.03, 0.01, 0.01, 41, FG_OUTCOME_REGRESSION},
	{0.5, 1, 0.05, 0.03, 0, 0.04, 33, FG_OUTCOME_REGRESSION},
	{0.5, 2, 0.05, 0.03, 0, 0.01, 10, FG_OUTCOME_REGRESSION},
	{0.5, 1, 0.03, 0.06, 0.01, 0.01, 80, FG_OUTCOME_INCONCLUSIVE},
	{0.5, 1, 0, 0.01, 0, 0.01, 33, FG_OUTCOME_PASS},
	{0.5, 1, 0, 0.01, 0.01, 0.01, 33, FG_OUTCOME_PASS},
	{0.5, 1, 0, 0.01, 0, 0.04, 33, FG_OUTCOME_PASS},
	{0.5, 2, 0, 0.01, 0, 0.01, 10, FG_OUTCOME_PASS},
	{0.5, 1, -0.05, 0.03, 0, 0.01, 33, FG_OUTCOME_IMPROVEMENT},
	{0.5, 1, -0.05, 0.03, 0.01, 0.01, 33, FG_OUTCOME_IMPROVEMENT},
	{0.5, 1, -0.05, 0.03, 0, 0.04, 33, FG_OUTCOME_IMPROVEMENT},
	{0.5, 2, -0.05, 0.03, 0, 0.01, 10, FG_OUTCOME_IMPROVEMENT},
	{0.5, 1, 0.03, 0.01, 0, 0.01, 33, FG_OUTCOME_REGRESSION},
	{0.5, 1, 0.03, 0.01, 0.01, 0.01, 33, FG_OUTCOME_REGRESSION},
	{0.5, 1, 0.03, 0.01, 0, 0.04, 80, FG_OUTCOME_INCONCLUSIVE},
	{0.5, 2, 0.03, 0.01, 0, 0.01, 10, FG_OUTCOME_REGRESSION},
	{0.5, 1, 0.02, 0.05, 0, 0.04, 80, FG_OUTCOME_INCONCLUSIVE},
	{0.8, 1, 0.05, 0.03, 0.01, 0.01, 80, FG_OUTCOME_INCONCLUSIVE},
	{0.8, 1, 0.03, 0.06, 0, 0.01, 80, FG_OUTCOME_INCONCLUSIVE},
	{0.8, 2, 0.03, 0.06, 0, 0.01, 80, FG_OUTCOME_INCONCLUSIVE},
	{0.8, 1, 0, 0.01, 0, 0.01, 36, FG_OUTCOME_PASS},
	{0.8, 1, 0, 0.01, 0.01, 0.01, 36, FG_OUTCOME_PASS},
	{0.8, 1, 0, 0.01, 0, 0.04, 36, FG_OUTCOME_PASS},
	{0.8, 1, -0.05, 0.03, 0, 0.01, 14, FG_OUTCOME_PASS},
	{0.8, 1, -0.05, 0.03, 0.01, 0.01, 14, FG_OUTCOME_PASS},
	{0.8, 1, -0.05, 0.03, 0, 0.04, 14, FG_OUTCOME_PASS},
	{0.8, 2, -0.05, 0.03, 0, 0.01, 60, FG_OUTCOME_IMPROVEMENT},
	{0.8, 1, 0.03, 0.01, 0, 0.01, 44, FG_OUTCOME_REGRESSION},
	{0.8, 1, 0.03, 0.01, 0.01, 0.01, 63, FG_OUTCOME_REGRESSION},
	{0.8, 2, 0.03, 0.01, 0, 0.01, 50, FG_OUTCOME_REGRESSION},
	{0.8, 1, 0.02, 0.05, 0, 0.01, 80, FG_OUTCOME_INCONCLUSIVE},
	{0.8, 2, 0.02, 0.05, 0, 0.01, 80, FG_OUTCOME_INCONCLUSIVE},
};

static void make(size_t row, double *difference)
{
	double x = 0;

	for (size_t i = 0; i < PAIRS; i++) {
		const size_t drawn = (i + 1) * (i + 1) * 7919 + rows[row].seed * 104729;

		x = rows[row].r * x + (double)(drawn % 1009) / 1009 - 0.5;
		difference[i] = rows[row].shift + rows[row].scale * x;
	}
}

static struct fg_rule rule_of(size_t row)
{
	return (struct fg_rule){.alpha = 0.01,
				.margin = 0.02,
				.tolerated = rows[row].tolerated,
				.min_effect = rows[row].min_effect,
				.until_sure = true};
}

static void the_bettors_are_sure_after_as_many_pairs_as_described(void **state)
{
	(void)state;
	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		const struct fg_rule rule = rule_of(i);
		struct fg_rule_finding finding;
		double difference[PAIRS];

		make(i, difference);
		fg_rule_apply(&rule, difference, PAIRS, false, &finding);
		if (finding.pairs != rows[i].pairs || finding.outcome != rows[i].outcome)
			fail_msg("row %zu: %s after %zu pairs", i, fg_outcome_name(finding.outcome),
				 finding.pairs);
		assert_int_equal(finding.decided, finding.outcome != FG_OUTCOME_INCONCLUSIVE);
		assert_int_equal(finding.looks, rows[i].pairs);
		assert_int_equal(finding.next_look, finding.decided ? 0 : PAIRS + 1);
	}
}

/* One pair less, and nobody is sure yet: the next one is asked for. */
static void one_pair_before_that_they_are_not(void **state)
{
	(void)state;
	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		const struct fg_rule rule = rule_of(i);
		struct fg_rule_finding finding;
		double difference[PAIRS];

		make(i, difference);
		fg_rule_apply(&rule, difference, rows[i].pairs - 1, true, &finding);
		assert_false(finding.decided);
		assert_int_equal(finding.next_look, rows[i].pairs);
		assert_int_equal(finding.outcome, FG_OUTCOME_INCONCLUSIVE);
	}
}

/* However rich a bettor is: five pairs are the least, and they are enough. */
static void nothing_is_sure_before_the_least_number_of_pairs(void **state)
{
	static const double alphas[] = {0.5, 0.9};

	(void)state;
	for (size_t i = 0; i < FG_ARRAY_SIZE(alphas); i++) {
		const struct fg_rule rule = {
			.alpha = alphas[i], .margin = 0.02, .min_effect = 0.01, .until_sure = true};
		struct fg_rule_finding finding;
		double difference[FG_PAIRS_MIN + 3];

		for (size_t k = 0; k < FG_ARRAY_SIZE(difference); k++)
			difference[k] = 0.5 + 0.1 * (double)k;
		fg_rule_apply(&rule, difference, FG_ARRAY_SIZE(difference), false, &finding);
		assert_true(finding.decided);
		assert_int_equal(finding.outcome, FG_OUTCOME_REGRESSION);
		assert_int_equal(finding.pairs, FG_PAIRS_MIN);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_bettors_are_sure_after_as_many_pairs_as_described),
		cmocka_unit_test(one_pair_before_that_they_are_not),
		cmocka_unit_test(nothing_is_sure_before_the_least_number_of_pairs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
