// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/gate/one_run.h"

#include <math.h>

/* Decides on a benchmark with this many pairs, slower by `change`, with `noise`. */
static const struct fg_benchmark_verdict *decide_pairs(uint32_t pairs, double change, double noise)
{
	(void)fg_made_benchmark(&made, "parse", pairs, change, noise);
	return fg_made_decide(&made, "parse");
}

/* Returns the pairs that decide_pairs() decides on, for the test to edit before the verdict. */
static struct fg_series *make_pairs(uint32_t pairs, double change, double noise)
{
	(void)fg_made_benchmark(&made, "parse", pairs, change, noise);
	return fg_made_series(&made, "parse");
}

static const struct fg_metric_verdict *decide_metric(const char *name)
{
	return fg_made_metric(fg_made_decide(&made, "parse"), name);
}

FG_TEST_IN(a_slowdown_fails_and_says_how_much, begin, end)
{
	const struct fg_benchmark_verdict *b = decide_pairs(80, 0.05, 0.015);
	const struct fg_metric_verdict *cpu = fg_made_metric(b, "cpu_time");

	assert_int_equal(b->outcome, FG_OUTCOME_REGRESSION);
	assert_int_equal(made.verdict.outcome, FG_OUTCOME_REGRESSION);
	assert_int_equal(made.verdict.exit_code, FG_EXIT_REGRESSION);
	assert_true(cpu->ratio > 1.03 && cpu->ratio < 1.07);
	assert_true(cpu->low > 1.0 && cpu->low < cpu->ratio && cpu->high > cpu->ratio);
	assert_true(cpu->baseline > 8e7 && cpu->baseline < 1.2e8);
	assert_in_range(cpu->pairs, 10, 80);
}

FG_TEST_IN(wall_time_is_not_judged_in_a_duet, begin, end)
{
	const struct fg_metric_verdict *wall =
		fg_made_metric(decide_pairs(20, 0.0, 0.01), "wall_time");

	assert_false(wall->decided);
	assert_int_equal(wall->outcome, FG_OUTCOME_PASS);
	assert_true(fg_made_has_note(&wall->notes, "share one CPU"));
}

FG_TEST_IN(a_benchmark_that_no_change_touches_passes_without_pairs, begin, end)
{
	const struct fg_benchmark_verdict *b;

	make_pairs(0, 0.0, 0.01)->unaffected = true;
	b = fg_made_decide(&made, "parse");
	assert_int_equal(b->outcome, FG_OUTCOME_PASS);
	assert_true(b->unaffected);
	assert_int_equal(b->metric_count, 0);
}

FG_TEST_IN(the_reason_for_measuring_a_benchmark_is_reported, begin, end)
{
	const struct fg_benchmark_verdict *b;

	make_pairs(40, 0.0, 0.01)->affected = fg_xstrdup("data changed: table");
	b = fg_made_decide(&made, "parse");
	assert_false(b->unaffected);
	assert_true(b->metric_count > 0);
	assert_true(fg_made_has_note(&b->notes, "measured: data changed: table"));
}

static const char *note_with(const struct fg_notes *notes, const char *text)
{
	for (size_t i = 0; i < notes->count; i++) {
		if (strstr(notes->items[i], text))
			return notes->items[i];
	}
	return NULL;
}

FG_TEST_IN(noise_that_hides_the_answer_is_inconclusive_with_the_smallest_change, begin, end)
{
	static const char said[] =
		"undecided after 40 pairs: this run could have detected a change of ";
	const struct fg_metric_verdict *cpu;
	const char *note;

	(void)make_pairs(40, 0.03, 0.2);
	cpu = decide_metric("cpu_time");
	assert_int_equal(cpu->outcome, FG_OUTCOME_INCONCLUSIVE);
	assert_true(cpu->smallest_detectable > 0.05 && cpu->smallest_detectable < 1.0);
	note = note_with(&cpu->notes, said);
	assert_non_null(note);
	assert_null(note_with(&cpu->notes, "too few pairs agree"));
	assert_float_equal(strtod(note + strlen(said), NULL), 100 * cpu->smallest_detectable,
			   0.051);
	assert_int_equal(made.verdict.exit_code, FG_EXIT_PASS);
	made.policy.fail_on_inconclusive = true;
	(void)fg_made_decide(&made, "parse");
	assert_int_equal(made.verdict.exit_code, FG_EXIT_INCONCLUSIVE);
}

/* Decides on pairs with these differences, ln(candidate / baseline), in this order. */
static const struct fg_metric_verdict *decide_differences(const double *differences, size_t count)
{
	struct fg_series *series = NULL;

	while (made.run.series_count > 0)
		fg_series_release(&made.run.series[--made.run.series_count]);
	series = make_pairs((uint32_t)count, 0.0, 0.0);
	for (size_t i = 0; i < series->repetition_count; i++) {
		struct fg_repetition *r = &series->repetitions[i];

		r->values[FG_METRIC_CPU_TIME] = 1e8 * (r->arm ? exp(differences[r->pair]) : 1.0);
	}
	return decide_metric("cpu_time");
}

/* Too few pairs to decide at this alpha decide nothing, and the report says so. */
FG_TEST_IN(too_few_pairs_to_decide_are_reported_as_too_few, begin, end)
{
	const struct fg_metric_verdict *cpu;
	double slower[6];

	assert_int_equal(fg_gate_min_pairs(&made.policy), 7);
	for (size_t i = 0; i < FG_ARRAY_SIZE(slower); i++)
		slower[i] = 0.10 + 0.025 * ((double)(i * 7 % 11) / 5.0 - 1.0);
	made.measure.max_pairs = FG_ARRAY_SIZE(slower);
	cpu = decide_differences(slower, FG_ARRAY_SIZE(slower));
	assert_int_equal(cpu->outcome, FG_OUTCOME_INCONCLUSIVE);
	assert_true(isnan(cpu->low) && isnan(cpu->high) && cpu->ratio > 1.05);
	assert_non_null(note_with(
		&cpu->notes, "not failed because at least 7 are needed to decide at this alpha"));
}

/* If the missing pairs are like the measured ones, the reported number of pairs decides. */
FG_TEST_IN(the_reported_number_of_missing_pairs_decides, begin, end)
{
	static const double slower[] = {0.050, 0.051, 0.049, 0.050, 0.052, 0.051, 0.050};
	double longer[28];
	unsigned needed = 0;
	const char *note;

	made.measure.until_sure = true;
	made.measure.min_pairs = made.measure.max_pairs = 7;
	note = note_with(&decide_differences(slower, 7)->notes, "probably slower");
	assert_non_null(note);
	assert_non_null(strstr(note, "fastgate run --resume"));
	assert_non_null(strstr(
		note,
		"all of 7 pairs are slower; not failed because at least 9 are needed to decide "
		"at this alpha; "));
	needed = (unsigned)strtoul(strstr(note, "alpha; ") + strlen("alpha; "), NULL, 10);
	assert_in_range(needed, 8, 28);
	for (size_t i = 0; i < 28; i++)
		longer[i] = slower[i % 7];
	assert_int_equal(decide_differences(longer, needed - 1)->outcome, FG_OUTCOME_INCONCLUSIVE);
	assert_int_equal(decide_differences(longer, needed)->outcome, FG_OUTCOME_REGRESSION);
}

FG_TEST_IN(nothing_measured_is_an_error_not_a_pass, begin, end)
{
	assert_null(fg_made_decide(&made, "parse"));
	assert_int_equal(made.verdict.outcome, FG_OUTCOME_ERROR);
	assert_int_equal(made.verdict.exit_code, FG_EXIT_NOT_MEASURED);
}

FG_TEST_IN(blocks_of_four_are_one_pair, begin, end)
{
	struct fg_series *series = make_pairs(40, 0.1, 0.01);
	const struct fg_benchmark_verdict *b;

	series->schedule = FG_SCHEDULE_ABBA;
	for (size_t i = 0; i < series->repetition_count; i++)
		series->repetitions[i].pair /= 2;
	b = fg_made_decide(&made, "parse");
	assert_int_equal(fg_made_metric(b, "cpu_time")->outcome, FG_OUTCOME_REGRESSION);
	assert_in_range(b->pairs, 10, 20);
	assert_true(fg_made_metric(b, "wall_time")->decided);
}

FG_TEST_IN(pairs_set_aside_and_unpaired_do_not_count, begin, end)
{
	struct fg_series *series = make_pairs(12, 0.0, 0.01);
	const struct fg_benchmark_verdict *b;

	series->repetitions[0].aside = series->repetitions[1].aside = FG_ASIDE_OVERLAP;
	series->repetitions[4].aside = series->repetitions[5].aside = FG_ASIDE_WARMUP;
	series->repetitions[9].pair = 4000;
	b = fg_made_decide(&made, "parse");
	assert_int_equal(b->set_aside, 1);
	assert_int_equal(b->pairs, 9);
	assert_true(fg_made_has_note(&fg_made_metric(b, "cpu_time")->notes, "one side is missing"));
}

/* Gives up the first 14 pairs, which are those of a duet; two of them were set aside before. */
static void give_up(struct fg_series *series, uint16_t why)
{
	series->schedule = FG_SCHEDULE_ABBA;
	for (size_t i = 0; i < series->repetition_count && series->repetitions[i].pair < 14; i++) {
		series->repetitions[i].aside = why;
		if (series->repetitions[i].pair >= 12)
			series->repetitions[i].aside |= FG_ASIDE_OVERLAP;
	}
}

FG_TEST_IN(a_schedule_that_was_given_up_is_set_aside_and_its_look_paid_for, begin, end)
{
	struct fg_series *series = make_pairs(24, 0.0, 0.05);
	const struct fg_benchmark_verdict *b;
	double width;

	give_up(series, FG_ASIDE_WARMUP);
	b = fg_made_decide(&made, "parse");
	width = fg_made_metric(b, "cpu_time")->high - fg_made_metric(b, "cpu_time")->low;
	give_up(series, FG_ASIDE_GIVEN_UP);
	b = fg_made_decide(&made, "parse");
	assert_int_equal(b->pairs, 10);
	assert_int_equal(b->set_aside, 14);
	assert_false(fg_made_has_note(&b->notes, "pairs were set aside"));
	assert_true(fg_made_metric(b, "cpu_time")->high - fg_made_metric(b, "cpu_time")->low >
		    width);
}

FG_TEST_IN(looking_while_measuring_agrees_with_the_verdict, begin, end)
{
	struct fg_gate_progress progress;
	const struct fg_metric_verdict *cpu;
	struct fg_series *series = make_pairs(80, 0.04, 0.02);
	size_t all = series->repetition_count;

	series->repetition_count = 0;
	fg_gate_look(series, &made.policy, &made.measure, &progress);
	assert_false(progress.decided);
	assert_int_equal(progress.next_look, 10);
	while (!progress.decided && series->repetition_count < all) {
		series->repetition_count = 2 * (size_t)progress.next_look;
		fg_gate_look(series, &made.policy, &made.measure, &progress);
	}
	assert_true(progress.decided);
	cpu = decide_metric("cpu_time");
	assert_int_equal(cpu->outcome, progress.outcome);
	assert_string_equal(progress.metric, "cpu_time");
	assert_int_equal(cpu->pairs, progress.pairs);
	assert_true(fabs(cpu->ratio - progress.ratio) < 1e-12);
	series->repetition_count = all; /* restores the count, so that all are freed */
}

FG_TEST_IN(an_interrupted_benchmark_is_judged_and_marked, begin, end)
{
	const struct fg_benchmark_verdict *b;

	make_pairs(40, 0.2, 0.01)->state = FG_INTERRUPTED;
	b = fg_made_decide(&made, "parse");
	assert_int_equal(b->outcome, FG_OUTCOME_REGRESSION);
	assert_true(
		fg_made_has_note(&b->notes, "interrupted: judged by the pairs measured so far"));
}

FG_TEST_IN(a_call_without_a_run_a_policy_or_keys_is_refused, begin, end)
{
	const struct fg_gate_input lacking[] = {
		{.policy = &made.policy, .measure = &made.measure},
		{.run = &made.run, .measure = &made.measure},
		{.run = &made.run, .policy = &made.policy},
		{.run = NULL},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(lacking); i++) {
		struct fg_verdict verdict = {.exit_code = FG_EXIT_USAGE};
		struct fg_error err;

		assert_int_equal(fg_gate_decide(&lacking[i], &verdict, &err), FG_EINVAL);
		assert_int_equal(verdict.exit_code, FG_EXIT_USAGE);
	}
}
