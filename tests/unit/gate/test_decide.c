// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fg_test.h"
#include "tests/unit/gate/made_run.h"

#include <math.h>

static struct fg_made made;

static int begin(void **state)
{
	(void)state;
	fg_made_init(&made, 5);
	return 0;
}

static int end(void **state)
{
	(void)state;
	fg_made_release(&made);
	return 0;
}

/* Decides on a benchmark with this many pairs, slower by `change`, with `noise`. */
static const struct fg_benchmark_verdict *decide_pairs(uint32_t pairs, double change, double noise)
{
	(void)fg_made_benchmark(&made, "parse", pairs, change, noise);
	return fg_made_decide(&made, "parse");
}

/* Returns pairs that are slower by `change`, which the test can edit before the verdict. */
static struct fg_series *make_pairs(uint32_t pairs, double change, double noise)
{
	(void)fg_made_benchmark(&made, "parse", pairs, change, noise);
	return fg_made_series(&made, "parse");
}

static const struct fg_metric_verdict *decide_metric(const char *name)
{
	return fg_made_metric(fg_made_decide(&made, "parse"), name);
}

/* Gives every repetition of an arm the same value. */
static void set_values(struct fg_series *series, size_t metric, double baseline, double candidate)
{
	for (size_t i = 0; i < series->repetition_count; i++)
		series->repetitions[i].values[metric] =
			series->repetitions[i].arm ? candidate : baseline;
}

FG_TEST_IN(a_slowdown_fails_and_says_how_much, begin, end)
{
	const struct fg_benchmark_verdict *b;
	const struct fg_metric_verdict *cpu;

	b = decide_pairs(80, 0.05, 0.015);
	cpu = fg_made_metric(b, "cpu_time");
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
	const struct fg_metric_verdict *wall;

	wall = fg_made_metric(decide_pairs(20, 0.0, 0.01), "wall_time");
	assert_false(wall->decided);
	assert_int_equal(wall->outcome, FG_OUTCOME_PASS);
	assert_true(fg_made_has_note(&wall->notes, "share one CPU"));
}

FG_TEST_IN(identical_programs_pass_and_equal_metrics_are_equal, begin, end)
{
	const struct fg_benchmark_verdict *b;

	b = decide_pairs(80, 0.0, 0.01);
	assert_int_equal(b->outcome, FG_OUTCOME_PASS);
	assert_int_equal(made.verdict.exit_code, FG_EXIT_PASS);
	assert_int_equal(fg_made_metric(b, "max_rss")->outcome, FG_OUTCOME_PASS);
	assert_true(fabs(fg_made_metric(b, "max_rss")->ratio - 1.0) < 1e-12);
}

FG_TEST_IN(a_benchmark_that_no_change_touches_passes_without_pairs, begin, end)
{
	const struct fg_benchmark_verdict *b;

	(void)fg_made_benchmark(&made, "parse", 0, 0.0, 0.01);
	fg_made_series(&made, "parse")->unaffected = true;
	b = fg_made_decide(&made, "parse");
	assert_int_equal(b->outcome, FG_OUTCOME_PASS);
	assert_true(b->unaffected);
	assert_int_equal(b->metric_count, 0);
}

FG_TEST_IN(the_reason_for_measuring_a_benchmark_is_reported, begin, end)
{
	const struct fg_benchmark_verdict *b;

	(void)fg_made_benchmark(&made, "parse", 40, 0.0, 0.01);
	fg_made_series(&made, "parse")->affected = fg_xstrdup("data changed: table");
	b = fg_made_decide(&made, "parse");
	assert_false(b->unaffected);
	assert_true(b->metric_count > 0);
	assert_true(fg_made_has_note(&b->notes, "measured: data changed: table"));
}

FG_TEST_IN(the_same_binary_passes_whatever_its_pairs_say, begin, end)
{
	const struct fg_benchmark_verdict *b;

	(void)fg_made_benchmark(&made, "parse", 40, 0.2, 0.01);
	fg_made_series(&made, "parse")->identical = true;
	b = fg_made_decide(&made, "parse");
	assert_int_equal(b->outcome, FG_OUTCOME_PASS);
	assert_true(b->identical);
	assert_true(fg_made_has_note(&b->notes, "same binaries"));
	for (size_t i = 0; i < fg_made_series(&made, "parse")->repetition_count; i++)
		fg_made_series(&made, "parse")->repetitions[i].values[FG_METRIC_CPU_TIME] = 0.0;
	assert_int_equal(fg_made_decide(&made, "parse")->outcome, FG_OUTCOME_PASS);
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

	cpu = fg_made_metric(decide_pairs(40, 0.03, 0.2), "cpu_time");
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
	struct fg_series *series = make_pairs((uint32_t)count, 0.0, 0.0);

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

/* 9 of 10 pairs were slower, yet the verdict is inconclusive: the report says what is missing. */
FG_TEST_IN(a_run_that_ends_too_early_says_how_many_pairs_are_missing, begin, end)
{
	static const double slower[] = {0.01, 0.02,  0.30, 0.03, 0.20,
					0.02, -0.06, 0.01, 0.02, 0.28};
	static const double mixed[] = {0.02,  -0.05, 0.03, -0.09, 0.01,
				       -0.06, 0.04,  0.08, -0.02, 0.07};
	const struct fg_metric_verdict *cpu;
	const char *note;
	unsigned needed = 0;

	made.measure.max_pairs = 10;
	cpu = decide_differences(slower, 10);
	assert_int_equal(cpu->outcome, FG_OUTCOME_INCONCLUSIVE);
	note = note_with(&cpu->notes, "9 of 10 pairs are slower; not failed because the interval "
				      "begins at ");
	assert_non_null(note);
	needed = (unsigned)strtoul(strstr(note, "%; ") + strlen("%; "), NULL, 10);
	assert_in_range(needed, 11, 40);
	assert_non_null(strstr(note, "`--pairs 10:"));
	fg_series_release(fg_made_series(&made, "parse"));
	made.run.series_count = 0;
	assert_null(note_with(&decide_differences(mixed, 10)->notes, "probably slower"));
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
	fg_series_release(fg_made_series(&made, "parse"));
	made.run.series_count = 0;
	assert_int_equal(decide_differences(longer, needed - 1)->outcome, FG_OUTCOME_INCONCLUSIVE);
	fg_series_release(fg_made_series(&made, "parse"));
	made.run.series_count = 0;
	assert_int_equal(decide_differences(longer, needed)->outcome, FG_OUTCOME_REGRESSION);
}

FG_TEST_IN(too_few_pairs_are_inconclusive_with_a_note, begin, end)
{
	const struct fg_metric_verdict *cpu;

	cpu = fg_made_metric(decide_pairs(3, 0.5, 0.001), "cpu_time");
	assert_int_equal(cpu->outcome, FG_OUTCOME_INCONCLUSIVE);
	assert_true(fg_made_has_note(&cpu->notes, "only 3 pairs"));
}

FG_TEST_IN(times_of_zero_are_left_out_with_a_note, begin, end)
{
	struct fg_series *series = make_pairs(20, 0.0, 0.01);
	const struct fg_metric_verdict *cpu;

	series->repetitions[0].values[FG_METRIC_CPU_TIME] = 0.0;
	series->repetitions[3].values[FG_METRIC_CPU_TIME] = -5.0;
	cpu = decide_metric("cpu_time");
	assert_true(fg_made_has_note(&cpu->notes, "2 pairs were left out: a time of zero"));
	set_values(series, FG_METRIC_CPU_TIME, 0.0, 0.0);
	cpu = decide_metric("cpu_time");
	assert_int_equal(cpu->outcome, FG_OUTCOME_ERROR);
	assert_int_equal(made.verdict.exit_code, FG_EXIT_NOT_MEASURED);
}

static size_t add_user_metric(struct fg_series *series, enum fg_better better)
{
	struct fg_metric metric = {.name = "rate",
				   .label = "rate",
				   .unit = "1/s",
				   .better = better,
				   .valid_in_duet = true};

	return fg_series_add_metric(series, &metric);
}

FG_TEST_IN(a_metric_of_which_more_is_better_fails_when_it_falls, begin, end)
{
	struct fg_series *series = make_pairs(30, 0.0, 0.01);
	const struct fg_metric_verdict *rate;
	size_t at;

	at = add_user_metric(series, FG_BETTER_HIGHER);
	for (size_t i = 0; i < series->repetition_count; i++)
		series->repetitions[i].values[at] =
			(series->repetitions[i].arm ? 80.0 : 100.0) + 0.1 * (double)(i % 7);
	rate = decide_metric("rate");
	assert_int_equal(rate->outcome, FG_OUTCOME_REGRESSION);
	assert_true(rate->ratio > 0.78 && rate->ratio < 0.82);
	assert_true(rate->low < rate->ratio && rate->ratio < rate->high);
}

FG_TEST_IN(a_user_metric_that_is_not_a_number_never_passes_silently, begin, end)
{
	struct fg_series *series = make_pairs(30, 0.0, 0.01);
	const struct fg_metric_verdict *rate;
	size_t at;

	at = add_user_metric(series, FG_BETTER_LOWER);
	rate = decide_metric("rate");
	assert_int_equal(rate->outcome, FG_OUTCOME_ERROR);
	for (size_t i = 0; i < series->repetition_count; i++)
		series->repetitions[i].values[at] = i < 8 ? 5.0 : (double)NAN;
	rate = decide_metric("rate");
	assert_int_equal(rate->outcome, FG_OUTCOME_INCONCLUSIVE);
	assert_true(
		fg_made_has_note(&rate->notes, "26 pairs were left out: a value is not a number"));
}

FG_TEST_IN(a_metric_of_one_side_only_is_new_or_missing, begin, end)
{
	struct fg_series *series = make_pairs(12, 0.0, 0.01);
	size_t at;

	at = add_user_metric(series, FG_BETTER_LOWER);
	set_values(series, at, (double)NAN, 5.0);
	assert_int_equal(decide_metric("rate")->outcome, FG_OUTCOME_NEW);
	set_values(series, at, 5.0, (double)NAN);
	assert_int_equal(decide_metric("rate")->outcome, FG_OUTCOME_MISSING);
}

FG_TEST_IN(counts_may_be_zero, begin, end)
{
	struct fg_series *series = make_pairs(30, 0.0, 0.01);
	const struct fg_metric_verdict *faults;

	set_values(series, FG_METRIC_MAJOR_FAULTS, 0.0, 0.0);
	faults = decide_metric("major_faults");
	assert_int_equal(faults->outcome, FG_OUTCOME_PASS);
	assert_true(faults->decided);
	for (size_t i = 0; i < series->repetition_count; i++)
		series->repetitions[i].values[FG_METRIC_MAJOR_FAULTS] =
			series->repetitions[i].arm ? 9.0 + (double)(i % 3) : 0.0;
	faults = decide_metric("major_faults");
	assert_int_equal(faults->outcome, FG_OUTCOME_REGRESSION);
	assert_true(fg_made_has_note(&faults->notes, "relative to the mean level"));
}

FG_TEST_IN(an_exact_metric_is_compared_exactly, begin, end)
{
	struct fg_metric_policy row = {.name = "binary_size", .gated = true, .tolerance = 0.01};
	struct fg_series *series = make_pairs(6, 0.0, 0.01);
	const struct fg_metric_verdict *size;

	set_values(series, FG_METRIC_BINARY_SIZE, 100000.0, 100500.0);
	made.policy.metrics = &row;
	made.policy.metric_count = 1;
	size = decide_metric("binary_size");
	assert_true(size->exact);
	assert_int_equal(size->outcome, FG_OUTCOME_PASS);
	row.tolerance = 0.0;
	assert_int_equal(decide_metric("binary_size")->outcome, FG_OUTCOME_REGRESSION);
	made.policy.metric_count = 0;
	series->repetitions[1].values[FG_METRIC_BINARY_SIZE] = 100501.0;
	size = decide_metric("binary_size");
	assert_false(size->exact);
	assert_true(fg_made_has_note(&size->notes, "declared exact"));
}

/* A change of 0.01 % in an ungated size passes; one of 10 % is a regression. */
FG_TEST_IN(an_exact_metric_that_is_only_shown_has_a_tolerance, begin, end)
{
	struct fg_series *series = make_pairs(6, 0.0, 0.01);

	set_values(series, FG_METRIC_BINARY_SIZE, 100000.0, 100010.0);
	assert_int_equal(decide_metric("binary_size")->outcome, FG_OUTCOME_PASS);
	set_values(series, FG_METRIC_BINARY_SIZE, 100000.0, 99990.0);
	assert_int_equal(decide_metric("binary_size")->outcome, FG_OUTCOME_PASS);
	set_values(series, FG_METRIC_BINARY_SIZE, 100000.0, 110000.0);
	assert_int_equal(decide_metric("binary_size")->outcome, FG_OUTCOME_REGRESSION);
}

FG_TEST_IN(a_crash_is_an_error_with_its_reason, begin, end)
{
	const struct fg_benchmark_verdict *b;
	struct fg_series *series;

	(void)fg_made_benchmark(&made, "parse", 0, 0.0, 0.01);
	(void)fg_made_benchmark(&made, "other", 40, 0.3, 0.01);
	series = fg_made_series(&made, "parse");
	series->state = FG_NOT_MEASURED;
	series->failure = fg_xstrdup("exited with 3");
	b = fg_made_decide(&made, "parse");
	assert_int_equal(b->outcome, FG_OUTCOME_ERROR);
	assert_string_equal(b->error, "exited with 3");
	assert_int_equal(made.verdict.exit_code, FG_EXIT_NOT_MEASURED);
}

FG_TEST_IN(nothing_measured_is_an_error_not_a_pass, begin, end)
{
	assert_null(fg_made_decide(&made, "parse"));
	assert_int_equal(made.verdict.outcome, FG_OUTCOME_ERROR);
	assert_int_equal(made.verdict.exit_code, FG_EXIT_NOT_MEASURED);
}

FG_TEST_IN(a_benchmark_of_one_side_only_is_new_or_missing, begin, end)
{
	(void)fg_made_benchmark(&made, "fresh", 5, 0.0, 0.01);
	(void)fg_made_benchmark(&made, "old", 5, 0.0, 0.01);
	fg_made_series(&made, "fresh")->only_in[FG_ARM_CANDIDATE] = true;
	fg_made_series(&made, "old")->only_in[FG_ARM_BASELINE] = true;
	free(fg_made_series(&made, "fresh")->command);
	fg_made_series(&made, "fresh")->command = fg_xstrdup("./bench/fresh --all");
	assert_int_equal(fg_made_decide(&made, "fresh")->outcome, FG_OUTCOME_NEW);
	assert_true(fg_made_has_note(&fg_made_decide(&made, "fresh")->notes,
				     "because './bench/fresh' does not exist"));
	assert_int_equal(fg_made_decide(&made, "old")->outcome, FG_OUTCOME_MISSING);
	assert_int_equal(made.verdict.exit_code, FG_EXIT_PASS);
	made.input.baseline_required = true;
	(void)fg_made_decide(&made, "fresh");
	assert_int_equal(made.verdict.exit_code, FG_EXIT_INCONCLUSIVE);
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

FG_TEST_IN(when_all_pairs_are_set_aside_nothing_passes_and_it_says_why, begin, end)
{
	static const struct {
		enum fg_aside aside;
		enum fg_outcome outcome;
		int exit_code;
		const char *words;
	} table[] = {
		{FG_ASIDE_OVERLAP, FG_OUTCOME_ERROR, FG_EXIT_NOT_MEASURED,
		 "16 of 16 pairs were set aside: the two programs ran together for less than 80 %"},
		{FG_ASIDE_STRAY, FG_OUTCOME_ERROR, FG_EXIT_NOT_MEASURED,
		 "16 of 16 pairs were set aside: one program left processes running"},
		{FG_ASIDE_STEAL, FG_OUTCOME_INCONCLUSIVE, FG_EXIT_PASS,
		 "16 of 16 pairs were set aside: more than half"},
	};

	(void)fg_made_benchmark(&made, "parse", 16, 0.5, 0.01);
	for (size_t row = 0; row < FG_ARRAY_SIZE(table); row++) {
		struct fg_series *series = fg_made_series(&made, "parse");
		const struct fg_benchmark_verdict *b;

		for (size_t i = 0; i < series->repetition_count; i++)
			series->repetitions[i].aside = (uint16_t)table[row].aside;
		b = fg_made_decide(&made, "parse");
		assert_int_equal(b->outcome, table[row].outcome);
		assert_null(b->error);
		assert_int_equal(b->set_aside, 16);
		assert_true(fg_made_has_note(&b->notes, table[row].words));
		assert_int_equal(made.verdict.exit_code, table[row].exit_code);
	}
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
	struct fg_series *series;
	size_t all;

	series = make_pairs(80, 0.04, 0.02);
	all = series->repetition_count;
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
