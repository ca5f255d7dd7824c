// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fg_test.h"
#include "tests/unit/gate/made_run.h"

#include <math.h>

#define SESSIONS 24

/* Earlier sessions whose levels scatter by `spread`. */
static struct past {
	struct fg_made candidate;
	struct fg_run runs[SESSIONS];
	const struct fg_run *history[SESSIONS];
} past;

static void fill_session(struct fg_random *random, struct fg_run *run, double spread, double change)
{
	struct fg_series *series = fg_run_add_series(run, "parse");
	double level = 1e8 * exp(spread * fg_random_normal(random)) * (1.0 + change);

	series->schedule = FG_SCHEDULE_STORED;
	series->state = FG_MEASURED;
	fg_environment_set(&run->host, "host.cpu.model", "one", true);
	for (uint32_t i = 0; i < 15; i++) {
		struct fg_repetition *r = fg_series_add_repetition(series);

		r->pair = i;
		r->arm = FG_ARM_CANDIDATE;
		r->values[FG_METRIC_CPU_TIME] = level * exp(0.01 * fg_random_normal(random));
		r->values[FG_METRIC_BINARY_SIZE] = 5000.0;
	}
}

/* Makes a new past, and a candidate that is slower by `change`. */
static void make_past(double spread, double change, uint64_t seed)
{
	fg_made_release(&past.candidate);
	fg_made_init(&past.candidate, seed);
	for (size_t i = 0; i < SESSIONS; i++) {
		fg_run_release(&past.runs[i]);
		fg_run_init(&past.runs[i]);
		fill_session(&past.candidate.random, &past.runs[i], spread, 0.0);
		past.history[i] = &past.runs[i];
	}
	past.candidate.run.has_baseline = false;
	fill_session(&past.candidate.random, &past.candidate.run, spread, change);
	past.candidate.input.baseline = &past.runs[SESSIONS - 1];
	past.candidate.input.history = past.history;
	past.candidate.input.history_count = SESSIONS;
}

static const struct fg_benchmark_verdict *decide(void)
{
	return fg_made_decide(&past.candidate, "parse");
}

FG_TEST(sessions_that_differ_for_no_reason_rarely_fail)
{
	int failed = 0;

	for (uint64_t seed = 0; seed < 150; seed++) {
		make_past(0.04, 0.0, 100 + seed);
		failed += fg_made_metric(decide(), "cpu_time")->outcome == FG_OUTCOME_REGRESSION;
	}
	assert_in_range(failed, 0, 5);
}

FG_TEST(another_environment_is_at_most_inconclusive)
{
	const struct fg_benchmark_verdict *b;

	make_past(0.01, 0.3, 4);
	/* A different commit is not a different environment. */
	fg_environment_set(&past.candidate.run.sides[FG_ARM_CANDIDATE].build, "git.subject", "New",
			   false);
	fg_environment_set(&past.candidate.run.host, "host.cpu.model", "two", true);
	b = decide();
	assert_int_equal(fg_made_metric(b, "cpu_time")->outcome, FG_OUTCOME_INCONCLUSIVE);
	assert_true(fg_made_has_note(&fg_made_metric(b, "cpu_time")->notes,
				     "inconclusive instead of regression"));
	assert_int_equal(past.candidate.verdict.environment_difference_count, 1);
	assert_string_equal(past.candidate.verdict.environment_difference[0].candidate, "two");
}

FG_TEST(an_exact_metric_is_compared_across_environments)
{
	const struct fg_benchmark_verdict *b;
	struct fg_series *series;

	make_past(0.01, 0.0, 5);
	fg_environment_set(&past.candidate.run.host, "host.cpu.model", "two", true);
	series = fg_made_series(&past.candidate, "parse");
	for (size_t i = 0; i < series->repetition_count; i++)
		series->repetitions[i].values[FG_METRIC_BINARY_SIZE] = 6000.0;
	b = decide();
	assert_int_equal(fg_made_metric(b, "binary_size")->outcome, FG_OUTCOME_REGRESSION);
}

/* As within one session, a change of 0.01 % in an ungated size passes. */
FG_TEST(an_exact_metric_that_is_only_shown_has_a_tolerance)
{
	struct fg_metric_policy row = {.name = "binary_size", .gated = true};
	static const struct {
		double size;
		bool gated;
		enum fg_outcome outcome;
	} rows[] = {
		{5000.5, false, FG_OUTCOME_PASS},      {4999.5, false, FG_OUTCOME_PASS},
		{5000.5, true, FG_OUTCOME_REGRESSION}, {4999.5, true, FG_OUTCOME_IMPROVEMENT},
		{5000, true, FG_OUTCOME_PASS},
	};

	make_past(0.01, 0.0, 5);
	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		struct fg_series *series = fg_made_series(&past.candidate, "parse");
		const struct fg_metric_verdict *size = NULL;

		past.candidate.policy.metrics = &row;
		past.candidate.policy.metric_count = rows[i].gated;
		for (size_t k = 0; k < series->repetition_count; k++)
			series->repetitions[k].values[FG_METRIC_BINARY_SIZE] = rows[i].size;
		size = fg_made_metric(decide(), "binary_size");
		assert_true(size->exact);
		assert_int_equal(size->outcome, rows[i].outcome);
	}
}

FG_TEST(the_same_binary_passes)
{
	struct fg_build_facts *builds[2];
	const struct fg_benchmark_verdict *b;

	make_past(0.01, 0.3, 6);
	builds[0] = &fg_run_find(&past.runs[SESSIONS - 1], "parse")->build[FG_ARM_CANDIDATE];
	builds[1] = &fg_made_series(&past.candidate, "parse")->build[FG_ARM_CANDIDATE];
	fg_build_facts_set(builds[0], "build.id", "abcd");
	fg_build_facts_set(builds[1], "build.id", "abcd");
	b = decide();
	assert_true(b->identical);
	assert_int_equal(b->outcome, FG_OUTCOME_PASS);
	/* With a different library or an unknown id, the sides are not identical. */
	fg_build_facts_set(builds[1], "build.library.libm.so.6", "1234");
	assert_false(decide()->identical);
	fg_build_facts_set(builds[0], "build.library.libm.so.6", "1234");
	assert_true(decide()->identical);
	/* A different program is not identical; different build flags make no difference. */
	fg_build_facts_set(builds[1], "build.id", "abce");
	assert_false(decide()->identical);
	fg_build_facts_set(builds[1], "build.id", "abcd");
	fg_build_facts_set(builds[1], "build.flags", "-g");
	assert_true(decide()->identical);
	for (size_t i = 0; i < 2; i++)
		fg_build_facts_put(&builds[i]->id, NULL);
	assert_false(decide()->identical);
}

FG_TEST(a_benchmark_that_a_run_left_out_is_not_compared)
{
	const struct fg_benchmark_verdict *b;
	struct fg_series *baseline;

	make_past(0.01, 0.3, 6);
	baseline = fg_run_find(&past.runs[SESSIONS - 1], "parse");
	baseline->unaffected = true;
	b = decide();
	assert_int_equal(b->outcome, FG_OUTCOME_NEW);
	assert_true(fg_made_has_note(&b->notes, "the baseline run left this benchmark out"));
	baseline->unaffected = false;
	fg_made_series(&past.candidate, "parse")->unaffected = true;
	b = decide();
	assert_int_equal(b->outcome, FG_OUTCOME_NEW);
	assert_false(b->unaffected);
	assert_true(fg_made_has_note(&b->notes, "this run left this benchmark out"));
}

FG_TEST(other_benchmarks_are_new_or_missing)
{
	make_past(0.01, 0.0, 7);
	(void)fg_made_benchmark(&past.candidate, "fresh", 5, 0.0, 0.01);
	(void)fg_run_add_series(&past.runs[SESSIONS - 1], "gone");
	assert_int_equal(fg_made_decide(&past.candidate, "fresh")->outcome, FG_OUTCOME_NEW);
	assert_int_equal(fg_made_decide(&past.candidate, "gone")->outcome, FG_OUTCOME_MISSING);
}

FG_TEST(a_candidate_alone_is_new)
{
	const struct fg_benchmark_verdict *b;

	make_past(0.01, 0.0, 8);
	past.candidate.input.baseline = NULL;
	b = decide();
	assert_int_equal(b->outcome, FG_OUTCOME_NEW);
	assert_true(fg_made_has_note(&b->notes, "no baseline"));
}
