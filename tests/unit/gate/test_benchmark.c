// SPDX-License-Identifier: Apache-2.0
/* Notes of a benchmark's verdict, and the keys that judge it. */
#include "gate/exact.h"
#include "tests/unit/gate/one_run.h"

static struct fg_series *make_pairs(size_t pairs, double change)
{
	(void)fg_made_benchmark(&made, "parse", pairs, change, 0.01);
	return fg_made_series(&made, "parse");
}

static const struct fg_benchmark_verdict *decide(void)
{
	return fg_made_decide(&made, "parse");
}

FG_TEST_IN(identical_builds_are_reported_with_their_kind, begin, end)
{
	static const struct {
		const char *ids[FG_ARM_COUNT];
		const char *note;
	} rows[] = {
		{{NULL, NULL}, "both sides run the same binaries, so the benchmark passes at once"},
		{{"aa", NULL}, "both sides run the same binaries, so the benchmark passes at once"},
		{{NULL, "aa"}, "both sides run the same binaries, so the benchmark passes at once"},
		{{"aa", "aa"}, "both sides run the same binaries, so the benchmark passes at once"},
		{{"aa", "bb"},
		 "both sides run the same code at the same addresses (only debug information "
		 "differs), so the benchmark passes at once"},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		struct fg_series *series = make_pairs(40, 0.2);
		const struct fg_benchmark_verdict *b;

		series->identical = true;
		fg_made_build_fact(series, "build.id", rows[i].ids[0], rows[i].ids[1]);
		b = decide();
		assert_true(b->identical);
		assert_int_equal(b->outcome, FG_OUTCOME_PASS);
		assert_true(fg_made_has_note(&b->notes, rows[i].note));
		for (size_t m = 0; m < b->metric_count; m++) {
			assert_int_equal(b->metrics[m].outcome, FG_OUTCOME_PASS);
			assert_true(b->metrics[m].decided);
			assert_int_equal(b->metrics[m].notes.count, 0);
		}
		(void)end(state);
		(void)begin(state);
	}
}

FG_TEST_IN(the_reason_is_reported_if_more_than_half_of_the_pairs_are_excluded, begin, end)
{
	static const struct {
		enum fg_aside aside;
		size_t pairs; /* number of pairs, out of 20 */
		enum fg_schedule schedule;
		const char *note;
		enum fg_outcome outcome;
		int exit_code;
	} rows[] = {
		{FG_ASIDE_OVERLAP, 10, FG_SCHEDULE_DUET, NULL, FG_OUTCOME_PASS, FG_EXIT_PASS},
		{FG_ASIDE_OVERLAP, 11, FG_SCHEDULE_DUET,
		 "11 of 20 pairs were set aside: the two programs ran together for less than 80 %",
		 FG_OUTCOME_PASS, FG_EXIT_PASS},
		{FG_ASIDE_OVERLAP, 11, FG_SCHEDULE_ABBA, NULL, FG_OUTCOME_PASS, FG_EXIT_PASS},
		{FG_ASIDE_STEAL, 10, FG_SCHEDULE_ABBA, NULL, FG_OUTCOME_PASS, FG_EXIT_PASS},
		{FG_ASIDE_STEAL, 11, FG_SCHEDULE_ABBA,
		 "11 of 20 pairs were set aside: more than half", FG_OUTCOME_PASS, FG_EXIT_PASS},
		/* If all pairs are set aside, nothing passes. */
		{FG_ASIDE_OVERLAP, 20, FG_SCHEDULE_DUET, "20 of 20 pairs were set aside: the two",
		 FG_OUTCOME_ERROR, FG_EXIT_NOT_MEASURED},
		{FG_ASIDE_STRAY, 20, FG_SCHEDULE_DUET,
		 "20 of 20 pairs were set aside: one program left processes running",
		 FG_OUTCOME_ERROR, FG_EXIT_NOT_MEASURED},
		{FG_ASIDE_STEAL, 20, FG_SCHEDULE_DUET, "20 of 20 pairs were set aside: more than",
		 FG_OUTCOME_INCONCLUSIVE, FG_EXIT_PASS},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		struct fg_series *series = make_pairs(20, 0);
		const struct fg_benchmark_verdict *b;

		series->schedule = rows[i].schedule;
		for (size_t r = 0; r < 2 * rows[i].pairs; r++)
			series->repetitions[r].aside = (uint16_t)rows[i].aside;
		b = decide();
		assert_int_equal(b->outcome, rows[i].outcome);
		assert_int_equal(made.verdict.exit_code, rows[i].exit_code);
		assert_null(b->error);
		assert_int_equal(b->set_aside, rows[i].pairs);
		assert_int_equal(fg_made_has_note(&b->notes, "pairs were set aside"),
				 rows[i].note != NULL);
		if (rows[i].note)
			assert_true(fg_made_has_note(&b->notes, rows[i].note));
		(void)end(state);
		(void)begin(state);
	}
}

FG_TEST_IN(where_the_only_pair_was_set_aside_it_is_inconclusive, begin, end)
{
	struct fg_series *series = make_pairs(1, 0);
	const struct fg_benchmark_verdict *b;

	for (size_t r = 0; r < series->repetition_count; r++)
		series->repetitions[r].aside = FG_ASIDE_STEAL;
	b = decide();
	assert_int_equal(b->outcome, FG_OUTCOME_INCONCLUSIVE);
	assert_null(b->error);
	assert_true(fg_made_has_note(&fg_made_metric(b, "cpu_time")->notes, "the only pair was"));
}

/* A rate that falls from 100 to 80 is worse by a quarter; so is a time that rises by a quarter. */
FG_TEST_IN(an_accepted_slowdown_is_a_share_of_the_better_side, begin, end)
{
	static const struct {
		enum fg_better better;
		double after;
		double up_to;
		enum fg_outcome outcome;
	} rows[] = {
		{FG_BETTER_LOWER, 125, 0.251, FG_OUTCOME_PASS},
		{FG_BETTER_LOWER, 125, 0.249, FG_OUTCOME_REGRESSION},
		{FG_BETTER_HIGHER, 80, 0.251, FG_OUTCOME_PASS},
		{FG_BETTER_HIGHER, 80, 0.249, FG_OUTCOME_REGRESSION},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		struct fg_series *series = make_pairs(30, 0);
		const struct fg_metric rate = {.name = "rate",
					       .label = "rate",
					       .unit = "1",
					       .better = rows[i].better,
					       .exact = true,
					       .valid_in_duet = true};
		struct fg_accept accept = {.benchmark = "parse",
					   .metric = "rate",
					   .up_to = rows[i].up_to,
					   .until_ns = INT64_MAX,
					   .source = "here"};
		struct fg_metric_policy row = {.name = "rate", .gated = true};
		const size_t at = fg_series_add_metric(series, &rate);

		for (size_t r = 0; r < series->repetition_count; r++)
			series->repetitions[r].values[at] =
				series->repetitions[r].arm ? rows[i].after : 100;
		made.policy.metrics = &row;
		made.policy.metric_count = 1;
		made.policy.accepts = &accept;
		made.policy.accept_count = 1;
		assert_int_equal(decide()->outcome, rows[i].outcome);
		assert_int_equal(
			fg_made_has_note(
				&fg_made_metric(&made.verdict.benchmarks[0], "rate")->notes,
				"accepted (here): no reason given"),
			rows[i].outcome == FG_OUTCOME_PASS);
		(void)end(state);
		(void)begin(state);
	}
}

/* In a duet, wall-clock time is not judged. */
FG_TEST_IN(where_nothing_gated_was_judged_it_is_an_error, begin, end)
{
	struct fg_metric_policy rows[] = {
		{.name = "cpu_time"}, {.name = "wall_time", .gated = true}, {.name = "max_rss"}};
	const struct fg_benchmark_verdict *b;

	(void)make_pairs(40, 0.2);
	made.policy.metrics = rows;
	made.policy.metric_count = FG_ARRAY_SIZE(rows);
	b = decide();
	assert_int_equal(b->outcome, FG_OUTCOME_ERROR);
	assert_string_equal(b->error, "none of the gated metrics was measured");
	rows[0].gated = true;
	b = decide();
	assert_int_equal(b->outcome, FG_OUTCOME_REGRESSION);
	assert_null(b->error);
	rows[0].gated = rows[1].gated = false;
	b = decide();
	assert_int_equal(b->outcome, FG_OUTCOME_PASS);
	assert_null(b->error);
}

FG_TEST_IN(a_benchmark_is_judged_by_its_own_keys, begin, end)
{
	struct fg_metric_policy row = {.name = "cpu_time", .gated = true, .tolerated = 0.5};
	struct fg_benchmark benchmark = {.name = "parse"};
	const struct fg_plan plan = {.benchmarks = &benchmark, .benchmark_count = 1};

	(void)make_pairs(40, 0.2);
	(void)fg_made_benchmark(&made, "other", 40, 0.2, 0.01);
	benchmark.policy = made.policy;
	benchmark.measure = made.measure;
	made.input.plan = &plan;
	assert_int_equal(decide()->outcome, FG_OUTCOME_REGRESSION);
	benchmark.policy.metrics = &row;
	benchmark.policy.metric_count = 1;
	assert_int_not_equal(decide()->outcome, FG_OUTCOME_REGRESSION);
	assert_int_equal(fg_made_decide(&made, "other")->outcome, FG_OUTCOME_REGRESSION);
	/* The benchmark's own keys determine the first look. */
	benchmark.policy.metric_count = 0;
	benchmark.measure.min_pairs = 30;
	assert_int_equal(fg_made_metric(decide(), "cpu_time")->pairs, 30);
	assert_in_range(fg_made_metric(fg_made_decide(&made, "other"), "cpu_time")->pairs, 10, 16);
}

FG_TEST_IN(a_failure_is_reported_with_the_last_lines_and_stacks, begin, end)
{
	struct fg_series *series = make_pairs(5, 0);
	const struct fg_benchmark_verdict *b;

	series->state = FG_NOT_MEASURED;
	b = decide();
	assert_string_equal(b->error, "the benchmark was not measured");
	assert_null(b->error_tail);
	assert_int_equal(b->metric_count, 0);
	series->failure = fg_xstrdup("timed out");
	series->failure_tail = fg_xstrdup("reading");
	b = decide();
	assert_string_equal(b->error, "timed out");
	assert_string_equal(b->error_tail, "reading");
	assert_int_equal(b->outcome, FG_OUTCOME_ERROR);
}

FG_TEST_IN(other_causes_come_first, begin, end)
{
	struct fg_series *series = make_pairs(40, 0);
	const struct fg_benchmark_verdict *b;

	fg_made_build_fact(series, "build.optimisation", "-O2", "-O0");
	fg_made_build_fact(series, "build.shared_libraries", NULL, "libown.so");
	fg_series_remark(series, FG_REMARK_UNSAMPLED, fg_xstrdup("its child is static"));
	b = decide();
	assert_non_null(strstr(b->notes.items[0], "the two sides are built differently"));
	assert_non_null(strstr(b->notes.items[1], "changes to them are not measured: libown.so"));
	assert_string_equal(b->notes.items[2], "its child is static");
}

FG_TEST_IN(a_new_or_missing_benchmark_is_reported_with_its_command, begin, end)
{
	struct fg_series *series = make_pairs(5, 0);
	const struct fg_benchmark_verdict *b;

	series->only_in[FG_ARM_BASELINE] = true;
	series->command = fg_xstrdup("./bench/parse --all");
	b = decide();
	assert_int_equal(b->outcome, FG_OUTCOME_MISSING);
	assert_int_equal(b->notes.count, 1);
	assert_string_equal(
		b->notes.items[0],
		"missing: the candidate no longer has this benchmark, because './bench/parse' "
		"does not exist");
	assert_int_equal(b->metric_count, 0);
	series->only_in[FG_ARM_BASELINE] = false;
	series->only_in[FG_ARM_CANDIDATE] = true;
	assert_int_equal(decide()->outcome, FG_OUTCOME_NEW);
	assert_true(fg_made_has_note(&decide()->notes, "because './bench/parse' does not exist"));
}

/* ---- counts ---- */

FG_TEST_IN(counters_are_reported_if_both_sides_were_measured, begin, end)
{
	struct fg_series *series = make_pairs(40, 0);
	struct fg_made before;

	for (int i = FG_REMARK_OUTSIDE; i <= FG_REMARK_HINTS; i++)
		fg_series_remark(series, (enum fg_remark)i, fg_xasprintf("remark %d", i));
	for (int i = FG_REMARK_OUTSIDE; i <= FG_REMARK_HINTS; i++)
		assert_true(fg_made_has_note(&decide()->notes, series->remarks[i]));
	assert_int_equal(decide()->notes.count, FG_REMARK_HINTS - FG_REMARK_OUTSIDE + 1);
	made.run.has_baseline = false;
	for (int i = FG_REMARK_OUTSIDE; i <= FG_REMARK_HINTS; i++)
		assert_false(fg_made_has_note(&decide()->notes, series->remarks[i]));
	made.run.has_baseline = true;
	fg_made_init(&before, 6);
	(void)fg_made_benchmark(&before, "parse", 5, 0.0, 0.01);
	made.input.baseline = &before.run;
	for (int i = FG_REMARK_OUTSIDE; i <= FG_REMARK_HINTS; i++)
		assert_false(fg_made_has_note(&decide()->notes, series->remarks[i]));
	fg_made_release(&before);
}

static void count_instructions(struct fg_profile_set *set, double baseline, double candidate)
{
	const struct fg_measure what = fg_measure_describe("instructions", NULL);
	const uint16_t id = fg_profile_set_measure(set, &what);
	const uint32_t node = fg_made_call_path(set, 0, "parse", "parse");

	for (uint8_t arm = 0; arm < FG_ARM_COUNT; arm++) {
		struct fg_profile_row *row = fg_profile_set_add_row(set, 1);

		row->arm = arm;
		row->pair = FG_EXACT_FIRST_PAIR;
		row->measure = id;
		row->nodes[0] = node;
		row->values[0] = arm ? candidate : baseline;
		row->total = row->values[0];
	}
}

FG_TEST_IN(without_a_repetition_counts_decide_alone, begin, end)
{
	static const char why[] = "instructions cannot be counted here";
	struct fg_profile_set set;
	const struct fg_profile_set *sets[] = {&set};
	struct fg_series *series = make_pairs(0, 0);
	const struct fg_benchmark_verdict *b;

	fg_profile_set_init(&set, "parse");
	fg_series_remark(series, FG_REMARK_EXACT, fg_xstrdup(why));
	b = decide();
	assert_int_equal(b->outcome, FG_OUTCOME_ERROR);
	assert_string_equal(b->error, why);
	assert_false(fg_made_has_note(&b->notes, why));
	made.input.profiles = sets;
	b = decide();
	assert_string_equal(b->error, why);
	assert_true(b->metric_count > 1);
	count_instructions(&set, 1000, 2000);
	b = decide();
	assert_int_equal(b->outcome, FG_OUTCOME_REGRESSION);
	assert_null(b->error);
	assert_true(fg_made_has_note(&b->notes, why));
	assert_null(fg_made_metric(b, "cpu_time"));
	assert_non_null(fg_made_metric(b, "instructions"));
	fg_profile_set_release(&set);
}

FG_TEST_IN(counts_gate_nothing_if_a_time_is_gated, begin, end)
{
	struct fg_profile_set set;
	const struct fg_profile_set *sets[] = {&set};
	struct fg_series *series = make_pairs(40, 0);
	const struct fg_benchmark_verdict *b;

	fg_profile_set_init(&set, "parse");
	count_instructions(&set, 1000, 2000);
	made.input.profiles = sets;
	fg_series_remark(series, FG_REMARK_EXACT, fg_xstrdup("counted once"));
	b = decide();
	assert_int_equal(b->outcome, FG_OUTCOME_PASS);
	assert_true(fg_made_has_note(&b->notes, "counted once"));
	assert_non_null(fg_made_metric(b, "cpu_time"));
	assert_non_null(fg_made_metric(b, "instructions"));
	fg_profile_set_release(&set);
}
