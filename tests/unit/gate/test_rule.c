// SPDX-License-Identifier: Apache-2.0
#include "gate/looks.h"
#include "gate/rule.h"
#include "tests/support/fg_test.h"
#include "tests/unit/gate/made_run.h"

#include <math.h>

#define PAIRS 80

static size_t looks[FG_GATE_LOOKS_MAX];

static struct fg_rule default_rule(void)
{
	return (struct fg_rule){.alpha = 0.01,
				.min_effect = 0.02,
				.margin = 0.02,
				.looks = looks,
				.look_count = fg_gate_looks(10, 80, looks)};
}

/* Heavy-tailed differences as in recorded duets: one in ten is four times as wild. */
static void draw(struct fg_random *random, double change, double *difference)
{
	for (size_t i = 0; i < PAIRS; i++) {
		double wild = fg_random_uniform(random) < 0.1 ? 4.0 : 1.0;

		difference[i] = log1p(change) + 0.015 * wild * fg_random_normal(random);
	}
}

static void looks_grow_by_half_and_end_at_the_most(void **state)
{
	static const size_t wanted[] = {10, 16, 24, 36, 54, 80};
	size_t found[FG_GATE_LOOKS_MAX];

	(void)state;
	assert_int_equal(fg_gate_looks(10, 80, found), 6);
	assert_memory_equal(found, wanted, sizeof(wanted));
	assert_int_equal(fg_gate_looks(10, 10, found), 1);
	assert_int_equal(found[0], 10);
	assert_int_equal(fg_gate_looks(0, 0, found), 1);
	assert_int_equal(found[0], FG_PAIRS_MIN);
	assert_int_equal(found[fg_gate_looks(1, 4000000000U, found) - 1], 4000000000U);
}

static void what_is_open_after_the_usual_pairs_goes_on(void **state)
{
	static const size_t wanted[] = {10, 16, 24, 36, 54, 82, 120, 180, 270, 400};
	size_t found[FG_GATE_LOOKS_MAX];

	(void)state;
	assert_int_equal(fg_gate_looks(10, 400, found), FG_ARRAY_SIZE(wanted));
	assert_memory_equal(found, wanted, sizeof(wanted));
	assert_int_equal(fg_gate_looks(10, 120, found), 7);
	assert_int_equal(found[6], 120);
	/* Hardly more than usual is one look more, however near. */
	assert_int_equal(fg_gate_looks(10, 122, found), 8);
	assert_int_equal(found[7], 122);
	/* Who starts late has no usual looks. */
	assert_int_equal(fg_gate_looks(300, 400, found), 2);
	assert_int_equal(found[0], 300);
}

static void later_looks_take_a_fifth_of_alpha(void **state)
{
	static const struct {
		unsigned min;
		unsigned max;
		double usual; /* of alpha, for the looks up to the usual number of pairs */
	} table[] = {{10, 80, 1.0},  {10, 120, 1.0},    {10, 122, 0.8},
		     {10, 400, 0.8}, {10, 100000, 0.8}, {300, 400, 0.0}};

	(void)state;
	for (size_t row = 0; row < FG_ARRAY_SIZE(table); row++) {
		size_t found[FG_GATE_LOOKS_MAX];
		double shares[FG_GATE_LOOKS_MAX];
		const size_t count = fg_gate_looks(table[row].min, table[row].max, found);
		double usual = 0;
		double all = 0;

		fg_gate_shares(found, count, 0.01, shares);
		for (size_t i = 0; i < count; i++) {
			assert_true(shares[i] > 0);
			all += shares[i];
			if (found[i] <= FG_GATE_PAIRS_USUAL)
				usual += shares[i];
		}
		if (fabs(all - 0.01) > 1e-12 || fabs(usual - 0.01 * table[row].usual) > 1e-12)
			fail_msg("%u to %u: %g of %g", table[row].min, table[row].max, usual, all);
	}
}

/*
 * Code in 16 places, of which each makes a difference of its own: where in the cache line by much
 * and the same each time, where in the page by chance.
 */
static void draw_in_places(struct fg_random *random, double change, double *difference,
			   uint8_t *layout)
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

static void places_of_the_code_are_a_sample_however_many_pairs_there_are(void **state)
{
	static const struct {
		double change;
		int at_least; /* failures, of 300 */
		int at_most;
	} table[] = {{0.0, 0, 6}, {0.04, 297, 300}};
	struct fg_rule rule = default_rule();
	uint8_t layout[PAIRS];
	int placed = 0;

	(void)state;
	rule.min_effect = 0;
	rule.layout = layout;
	rule.layouts = FG_LAYOUTS_MAX;
	for (size_t row = 0; row < FG_ARRAY_SIZE(table); row++) {
		struct fg_random random;
		int hits = 0;

		fg_random_seed(&random, 200 + row);
		for (int run = 0; run < 300; run++) {
			struct fg_rule_finding finding;
			double difference[PAIRS];

			draw_in_places(&random, table[row].change, difference, layout);
			fg_rule_apply(&rule, difference, PAIRS, true, &finding);
			hits += finding.outcome == FG_OUTCOME_REGRESSION;
			placed += finding.vetoed && finding.placed;
		}
		if (hits < table[row].at_least || hits > table[row].at_most)
			fail_msg("%g: %d of 300", table[row].change, hits);
	}
	assert_true(placed > 0);
}

static void outcomes_over_many_runs_keep_their_promises(void **state)
{
	static const struct {
		const char *why;
		double change;
		enum fg_outcome outcome;
		int at_least; /* of 300 */
		int at_most;
	} table[] = {
		{"identical programs hardly ever fail", 0.0, FG_OUTCOME_REGRESSION, 0, 3},
		{"identical programs pass", 0.0, FG_OUTCOME_PASS, 294, 300},
		{"four per cent is found", 0.04, FG_OUTCOME_REGRESSION, 297, 300},
		{"four per cent never passes", 0.04, FG_OUTCOME_PASS, 0, 1},
		{"an improvement is mostly seen as one", -0.05, FG_OUTCOME_IMPROVEMENT, 270, 300},
		{"and never left open", -0.05, FG_OUTCOME_INCONCLUSIVE, 0, 0},
	};
	struct fg_rule rule = default_rule();

	(void)state;
	for (size_t row = 0; row < sizeof(table) / sizeof(table[0]); row++) {
		struct fg_random random;
		int hits = 0;

		fg_random_seed(&random, 100 + row);
		for (int run = 0; run < 300; run++) {
			struct fg_rule_finding finding;
			double difference[PAIRS];

			draw(&random, table[row].change, difference);
			fg_rule_apply(&rule, difference, PAIRS, true, &finding);
			hits += finding.outcome == table[row].outcome;
		}
		if (hits < table[row].at_least || hits > table[row].at_most)
			fail_msg("%s: %d of 300", table[row].why, hits);
	}
}

static void a_decision_at_a_look_is_not_touched_by_later_pairs(void **state)
{
	struct fg_rule rule = default_rule();
	struct fg_rule_finding early;
	struct fg_rule_finding late;
	struct fg_random random;
	double difference[PAIRS];

	(void)state;
	fg_random_seed(&random, 7);
	draw(&random, 0.10, difference);
	fg_rule_apply(&rule, difference, 16, false, &early);
	for (size_t i = 16; i < PAIRS; i++)
		difference[i] = -1.0;
	fg_rule_apply(&rule, difference, PAIRS, true, &late);
	assert_true(early.decided);
	assert_int_equal(late.outcome, early.outcome);
	assert_int_equal(late.pairs, early.pairs);
}

static void between_looks_it_waits_unless_no_more_will_come(void **state)
{
	struct fg_rule rule = default_rule();
	struct fg_rule_finding finding;
	double difference[PAIRS];

	(void)state;
	for (size_t i = 0; i < PAIRS; i++)
		difference[i] = i % 2 ? 0.5 : -0.5;
	fg_rule_apply(&rule, difference, 13, false, &finding);
	assert_false(finding.decided);
	assert_false(finding.vetoed); /* the interval says nothing, either */
	assert_int_equal(finding.pairs, 10);
	assert_int_equal(finding.next_look, 16);
	fg_rule_apply(&rule, difference, 13, true, &finding);
	assert_int_equal(finding.pairs, 13);
	assert_int_equal(finding.next_look, 0);
	fg_rule_apply(&rule, difference, PAIRS, false, &finding);
	assert_int_equal(finding.outcome, FG_OUTCOME_INCONCLUSIVE);
	assert_int_equal(finding.next_look, 0);
}

/* Each look once: pairs that were looked at are not looked at again at the share of the next. */
static void a_measurement_that_ends_at_a_look_has_had_it(void **state)
{
	static const struct {
		size_t pairs;
		bool final;
		size_t looks;
		size_t next_look;
	} rows[] = {
		{9, false, 0, 10},  {9, true, 1, 0},    {10, false, 1, 16}, {10, true, 1, 0},
		{11, true, 2, 0},   {16, false, 2, 24}, {16, true, 2, 0},   {17, false, 2, 24},
		{79, false, 5, 80}, {79, true, 6, 0},   {80, false, 6, 0},  {80, true, 6, 0},
		{4, false, 0, 10},  {4, true, 0, 0},
	};
	struct fg_rule rule = default_rule();
	double difference[PAIRS];

	(void)state;
	for (size_t i = 0; i < PAIRS; i++)
		difference[i] = i % 2 ? 0.5 : -0.5;
	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		struct fg_rule_finding finding;

		fg_rule_apply(&rule, difference, rows[i].pairs, rows[i].final, &finding);
		assert_int_equal(finding.looks, rows[i].looks);
		assert_int_equal(finding.next_look, rows[i].next_look);
	}
	rule.look_count = 0;
	for (size_t pairs = 4; pairs < 6; pairs++) {
		struct fg_rule_finding finding;

		fg_rule_apply(&rule, difference, pairs, false, &finding);
		assert_int_equal(finding.next_look, 0);
	}
}

static void the_rank_test_vetoes_a_mean_that_some_pairs_contradict(void **state)
{
	static size_t ten[] = {10};
	struct fg_rule rule = default_rule();
	struct fg_rule_finding finding;
	double difference[10];

	(void)state;
	/*
	 * Trimming leaves a middle that is steady and high; but two of ten pairs say "much faster"
	 * (p = 19 %).
	 */
	for (size_t i = 0; i < 10; i++)
		difference[i] = i % 5 == 0 ? -0.5 : 0.06 + 0.0001 * (double)(i % 2);
	rule.looks = ten;
	rule.look_count = 1;
	fg_rule_apply(&rule, difference, 10, true, &finding);
	assert_true(finding.low > 0.0);
	assert_true(finding.p > 0.05);
	assert_true(finding.vetoed);
	assert_int_equal(finding.outcome, FG_OUTCOME_INCONCLUSIVE);
	for (size_t i = 0; i < 10; i++)
		difference[i] = fabs(difference[i]);
	fg_rule_apply(&rule, difference, 10, true, &finding);
	assert_int_equal(finding.outcome, FG_OUTCOME_REGRESSION);
	assert_false(finding.vetoed);
}

static void a_sure_change_below_the_smallest_that_matters_passes(void **state)
{
	struct fg_rule rule = default_rule();
	struct fg_rule_finding finding;
	double difference[PAIRS];

	(void)state;
	for (size_t i = 0; i < PAIRS; i++)
		difference[i] = 0.005 + (i % 2 ? 0.0002 : -0.0002);
	fg_rule_apply(&rule, difference, PAIRS, true, &finding);
	assert_int_equal(finding.outcome, FG_OUTCOME_PASS);
	assert_true(finding.low > 0.0);
}

static void equal_values_are_decided_without_a_division_by_zero(void **state)
{
	struct fg_rule rule = default_rule();
	struct fg_rule_finding finding;
	double difference[PAIRS] = {0.0};

	(void)state;
	fg_rule_apply(&rule, difference, PAIRS, true, &finding);
	assert_int_equal(finding.outcome, FG_OUTCOME_PASS);
	for (size_t i = 0; i < PAIRS; i++)
		difference[i] = 0.08;
	fg_rule_apply(&rule, difference, PAIRS, true, &finding);
	assert_int_equal(finding.outcome, FG_OUTCOME_REGRESSION);
}

static void too_few_pairs_decide_nothing(void **state)
{
	struct fg_rule rule = default_rule();
	struct fg_rule_finding finding;
	double difference[4] = {0.3, 0.3, 0.3, 0.3};

	(void)state;
	for (size_t count = 0; count <= 4; count++) {
		fg_rule_apply(&rule, difference, count, true, &finding);
		assert_int_equal(finding.outcome, FG_OUTCOME_INCONCLUSIVE);
		assert_true(isnan(finding.estimate));
	}
}

/*
 * How many of 1,000 runs fail when pairs follow an AR(1) series around a change.  Over 8,000 runs
 * it is 0.2, 0.7 and 1.0 % for the rows below; with the interval of independent pairs, 10 % of the
 * last row.
 */
static int count_failures(struct fg_rule rule, double r, double change, int *dependent)
{
	struct fg_random random;
	int failed = 0;

	rule.min_effect = 0.0;
	fg_random_seed(&random, 31);
	for (int run = 0; run < 1000; run++) {
		struct fg_rule_finding finding;
		double difference[PAIRS];
		double x = fg_random_normal(&random);

		for (size_t i = 0; i < PAIRS; i++) {
			difference[i] = change + 0.05 * x;
			x = r * x + sqrt(1.0 - r * r) * fg_random_normal(&random);
		}
		fg_rule_apply(&rule, difference, PAIRS, true, &finding);
		failed += finding.outcome == FG_OUTCOME_REGRESSION;
		*dependent += finding.dependent;
	}
	return failed;
}

static void autocorrelated_pairs_fail_no_more_often_than_others(void **state)
{
	static const struct {
		const char *why;
		double r;
		int failed_at_most; /* of 1,000 */
		int noticed_at_least;
		int noticed_at_most;
	} table[] = {
		{"independent pairs are hardly ever taken for dependent", 0.0, 10, 0, 60},
		{"moderate dependence", 0.4, 15, 400, 1000},
		{"strong dependence", 0.6, 15, 800, 1000},
	};

	(void)state;
	for (size_t row = 0; row < sizeof(table) / sizeof(table[0]); row++) {
		int noticed = 0;
		int failed = count_failures(default_rule(), table[row].r, 0.0, &noticed);

		if (failed > table[row].failed_at_most || noticed < table[row].noticed_at_least ||
		    noticed > table[row].noticed_at_most)
			fail_msg("%s: %d failed, %d noticed", table[row].why, failed, noticed);
	}
}

static void a_large_change_fails_although_pairs_might_depend_on_each_other(void **state)
{
	struct fg_rule rule = default_rule();
	struct fg_rule_finding finding;
	struct fg_random random;
	double difference[PAIRS];

	(void)state;
	fg_random_seed(&random, 9);
	for (size_t i = 0; i < PAIRS; i++)
		difference[i] = 0.4 + 0.005 * fg_random_normal(&random);
	fg_rule_apply(&rule, difference, 10, false, &finding);
	assert_int_equal(finding.outcome, FG_OUTCOME_REGRESSION);
	assert_true(finding.doubtful_low <= finding.low);
	assert_true(finding.doubtful_low > 0.0);

	/*
	 * Twice as slow, with a scatter that leaves room for any autocorrelation: no host drifts
	 * that far.
	 */
	for (size_t i = 0; i < PAIRS; i++)
		difference[i] = i % 4 < 2 ? 0.7 : 0.6;
	fg_rule_apply(&rule, difference, 10, false, &finding);
	assert_int_equal(finding.outcome, FG_OUTCOME_REGRESSION);
	assert_float_equal(finding.low - finding.doubtful_low, 0.18, 1e-9);
}

static void looks_at_a_schedule_that_was_given_up_are_paid_for(void **state)
{
	static const struct {
		const char *why;
		size_t given_up;
		size_t spent; /* looks */
	} table[] = {
		{"nothing was given up", 0, 0},    {"before the first look", 9, 0},
		{"at the first look", 10, 1},      {"before the third look", 23, 2},
		{"after the last but one", 79, 5},
	};
	double shares[FG_GATE_LOOKS_MAX];
	double difference[PAIRS];
	struct fg_random random;

	(void)state;
	fg_random_seed(&random, 7);
	draw(&random, 0.015, difference);
	for (size_t row = 0; row < FG_ARRAY_SIZE(table); row++) {
		struct fg_rule rule = default_rule();
		struct fg_rule_finding finding;
		struct fg_rule_finding wanted = {0};
		double left = rule.alpha;

		fg_gate_shares(rule.looks, rule.look_count, rule.alpha, shares);
		for (size_t i = 0; i < table[row].spent; i++)
			left -= shares[i];
		fg_gate_shares(rule.looks, rule.look_count, left, shares);
		rule.given_up = table[row].given_up;
		fg_rule_apply(&rule, difference, 10, false, &finding);
		fg_finding_estimate(difference, 10, shares[0], &wanted);
		if (fabs(finding.low - wanted.low) > 1e-12)
			fail_msg("%s: %g, expected %g", table[row].why, finding.low, wanted.low);
	}
}

static void until_sure_finds_the_change_and_keeps_alpha(void **state)
{
	struct fg_rule rule = default_rule();
	struct fg_random random;
	int failed[2] = {0, 0};

	(void)state;
	rule.until_sure = true;
	rule.min_effect = 0.0;
	fg_random_seed(&random, 41);
	for (int run = 0; run < 400; run++) {
		struct fg_rule_finding finding;
		double difference[PAIRS];

		draw(&random, run % 2 ? 0.03 : 0.0, difference);
		fg_rule_apply(&rule, difference, PAIRS, true, &finding);
		failed[run % 2] += finding.outcome == FG_OUTCOME_REGRESSION;
	}
	assert_in_range(failed[0], 0, 5);
	assert_in_range(failed[1], 196, 200);
}

/* Signs alone would pass a candidate whose pairs are mostly faster and sometimes much slower. */
static void a_pass_lies_within_the_margin_whatever_the_rule(void **state)
{
	struct fg_random random;
	int passed[2] = {0, 0};

	(void)state;
	fg_random_seed(&random, 43);
	for (int run = 0; run < 400; run++) {
		struct fg_rule rule = default_rule();
		struct fg_rule_finding finding;
		double difference[PAIRS];

		rule.until_sure = run % 2;
		draw(&random, 0.0, difference);
		for (size_t i = 0; i < PAIRS; i++)
			difference[i] = fg_random_uniform(&random) < 0.1
						? difference[i] + 0.1
						: 12.0 * difference[i] - 0.3;
		fg_rule_apply(&rule, difference, PAIRS, true, &finding);
		if (finding.outcome != FG_OUTCOME_PASS && finding.outcome != FG_OUTCOME_IMPROVEMENT)
			continue;
		passed[run % 2]++;
		assert_true(finding.high < log1p(rule.margin));
	}
	assert_in_range(passed[0], 1, 200);
	assert_in_range(passed[1], 1, 200);
}

/*
 * With bets on the differences themselves 5, 16, 47, 130 and 299 of the identical ones would fail.
 */
static void until_sure_does_not_take_dependent_pairs_for_evidence(void **state)
{
	static const struct {
		double r;
		double change;
		int at_least; /* of 1,000 */
		int at_most;
	} table[] = {
		{0.0, 0.0, 0, 10},     {0.2, 0.0, 0, 10},     {0.4, 0.0, 0, 10},
		{0.6, 0.0, 0, 10},     {0.8, 0.0, 0, 10},     {0.0, 0.05, 940, 1000},
		{0.0, 0.1, 995, 1000}, {0.4, 0.1, 860, 1000},
	};
	struct fg_rule rule = default_rule();

	(void)state;
	rule.until_sure = true;
	for (size_t row = 0; row < sizeof(table) / sizeof(table[0]); row++) {
		int noticed = 0;
		int failed = count_failures(rule, table[row].r, table[row].change, &noticed);

		if (failed < table[row].at_least || failed > table[row].at_most)
			fail_msg("r %.1f, change %.2f: %d of 1,000 fail", table[row].r,
				 table[row].change, failed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(looks_grow_by_half_and_end_at_the_most),
		cmocka_unit_test(outcomes_over_many_runs_keep_their_promises),
		cmocka_unit_test(what_is_open_after_the_usual_pairs_goes_on),
		cmocka_unit_test(later_looks_take_a_fifth_of_alpha),
		cmocka_unit_test(places_of_the_code_are_a_sample_however_many_pairs_there_are),
		cmocka_unit_test(a_decision_at_a_look_is_not_touched_by_later_pairs),
		cmocka_unit_test(between_looks_it_waits_unless_no_more_will_come),
		cmocka_unit_test(a_measurement_that_ends_at_a_look_has_had_it),
		cmocka_unit_test(the_rank_test_vetoes_a_mean_that_some_pairs_contradict),
		cmocka_unit_test(a_sure_change_below_the_smallest_that_matters_passes),
		cmocka_unit_test(equal_values_are_decided_without_a_division_by_zero),
		cmocka_unit_test(too_few_pairs_decide_nothing),
		cmocka_unit_test(autocorrelated_pairs_fail_no_more_often_than_others),
		cmocka_unit_test(a_large_change_fails_although_pairs_might_depend_on_each_other),
		cmocka_unit_test(looks_at_a_schedule_that_was_given_up_are_paid_for),
		cmocka_unit_test(until_sure_finds_the_change_and_keeps_alpha),
		cmocka_unit_test(a_pass_lies_within_the_margin_whatever_the_rule),
		cmocka_unit_test(until_sure_does_not_take_dependent_pairs_for_evidence),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
