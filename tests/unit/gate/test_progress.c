// SPDX-License-Identifier: Apache-2.0
/* Messages during a benchmark, and the outcome of a whole run. */
#include "tests/unit/gate/one_run.h"

#include <math.h>

enum {
	PAIRS = 10,
	METRICS = 3,
};

static struct fg_metric_policy rows[METRICS + 3];

/* The evidence in the pairs of a metric. */
enum says {
	SAYS_NOTHING_YET, /* the pairs scatter */
	SAYS_EQUAL,
	SAYS_TWICE,
	SAYS_HALF,
	SAYS_THREE_TIMES,
	SAYS_LITTLE, /* one pair has no value, and one has a time that cannot be compared */
};

static double value_of(enum says says, uint32_t pair, uint8_t arm)
{
	static const double factors[] = {
		[SAYS_EQUAL] = 1, [SAYS_TWICE] = 2, [SAYS_HALF] = 0.5, [SAYS_THREE_TIMES] = 3};

	if (says == SAYS_LITTLE && pair < 2)
		return pair ? 0 : (double)NAN;
	if (says == SAYS_LITTLE || says == SAYS_NOTHING_YET)
		return arm && pair % 2 ? 200 : 100;
	return 100 * (arm ? factors[says] : 1);
}

/* Makes a benchmark with the metrics a, b and c; no other metric is gated. */
static struct fg_series *make(const enum says says[METRICS])
{
	static const char *const names[METRICS] = {"a", "b", "c"};
	struct fg_series *series = NULL;
	size_t at[METRICS];

	(void)fg_made_benchmark(&made, "parse", PAIRS, 0, 0.001);
	series = fg_made_series(&made, "parse");
	for (size_t m = 0; m < METRICS; m++) {
		const struct fg_metric metric = {.name = names[m],
						 .label = names[m],
						 .unit = "ns",
						 .better = FG_BETTER_LOWER,
						 .valid_in_duet = true};

		at[m] = fg_series_add_metric(series, &metric);
		rows[m] = (struct fg_metric_policy){
			.name = names[m], .gated = true, .min_effect = 0.01, .margin = 0.02};
	}
	for (size_t i = 0; i < series->repetition_count; i++) {
		struct fg_repetition *r = &series->repetitions[i];

		for (size_t m = 0; m < METRICS; m++)
			r->values[at[m]] = value_of(says[m], r->pair, r->arm);
	}
	rows[METRICS] = (struct fg_metric_policy){.name = "cpu_time", .gated = false};
	rows[METRICS + 1] = (struct fg_metric_policy){.name = "max_rss", .gated = false};
	rows[METRICS + 2] = (struct fg_metric_policy){
		.name = "wall_time", .gated = false, .min_effect = 0.01, .margin = 0.02};
	made.policy.metrics = rows;
	made.policy.metric_count = FG_ARRAY_SIZE(rows);
	return series;
}

FG_TEST_IN(an_open_metric_is_shown_before_the_worst_decided_one, begin, end)
{
	static const struct {
		enum says says[METRICS];
		const char *seen;
		enum fg_outcome outcome;
		unsigned next_look;
	} table[] = {
		{{SAYS_TWICE, SAYS_NOTHING_YET, SAYS_EQUAL}, "b", FG_OUTCOME_INCONCLUSIVE, 15},
		{{SAYS_NOTHING_YET, SAYS_TWICE, SAYS_TWICE}, "a", FG_OUTCOME_INCONCLUSIVE, 15},
		{{SAYS_LITTLE, SAYS_NOTHING_YET, SAYS_EQUAL}, "a", FG_OUTCOME_INCONCLUSIVE, 15},
		{{SAYS_EQUAL, SAYS_NOTHING_YET, SAYS_LITTLE}, "b", FG_OUTCOME_INCONCLUSIVE, 15},
		{{SAYS_EQUAL, SAYS_LITTLE, SAYS_TWICE}, "b", FG_OUTCOME_INCONCLUSIVE, 12},
		{{SAYS_EQUAL, SAYS_TWICE, SAYS_HALF}, "b", FG_OUTCOME_REGRESSION, 0},
		{{SAYS_TWICE, SAYS_EQUAL, SAYS_HALF}, "a", FG_OUTCOME_REGRESSION, 0},
		{{SAYS_HALF, SAYS_EQUAL, SAYS_EQUAL}, "a", FG_OUTCOME_IMPROVEMENT, 0},
		{{SAYS_EQUAL, SAYS_EQUAL, SAYS_EQUAL}, "a", FG_OUTCOME_PASS, 0},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(table); i++) {
		struct fg_gate_progress progress;

		fg_gate_look(make(table[i].says), &made.policy, &made.measure, &progress);
		assert_string_equal(progress.metric, table[i].seen);
		assert_int_equal(progress.outcome, table[i].outcome);
		assert_int_equal(progress.next_look, table[i].next_look);
		assert_int_equal(progress.decided, table[i].next_look == 0);
		(void)end(state);
		(void)begin(state);
	}
}

FG_TEST_IN(the_first_of_two_equally_bad_benchmarks_is_shown_with_its_figures, begin, end)
{
	struct fg_gate_progress progress;

	fg_gate_look(make((enum says[]){SAYS_EQUAL, SAYS_TWICE, SAYS_THREE_TIMES}), &made.policy,
		     &made.measure, &progress);
	assert_string_equal(progress.metric, "b");
	assert_int_equal(progress.pairs, PAIRS);
	assert_float_equal(progress.ratio, 2, 1e-9);
	assert_float_equal(progress.low, 2, 1e-9);
	assert_float_equal(progress.high, 2, 1e-9);
}

FG_TEST_IN(ungated_and_unjudged_metrics_are_not_waited_for, begin, end)
{
	struct fg_gate_progress progress;
	struct fg_series *series = make((enum says[]){SAYS_LITTLE, SAYS_NOTHING_YET, SAYS_TWICE});

	for (size_t m = 0; m < METRICS; m++)
		rows[m].gated = false;
	rows[METRICS + 2].gated = true;
	fg_gate_look(series, &made.policy, &made.measure, &progress);
	assert_true(progress.decided);
	assert_null(progress.metric);
	assert_int_equal(progress.outcome, FG_OUTCOME_PASS);
	assert_true(isnan(progress.ratio));
}

FG_TEST_IN(only_failing_gated_and_judged_metrics_are_worse, begin, end)
{
	struct fg_series *series = make((enum says[]){SAYS_TWICE, SAYS_EQUAL, SAYS_NOTHING_YET});
	size_t wall = fg_series_find_metric(series, "wall_time");

	for (size_t i = 0; i < series->repetition_count; i++)
		series->repetitions[i].values[wall] = series->repetitions[i].arm ? 2e8 : 1e8;
	assert_true(fg_gate_is_worse(series, &made.policy, &made.measure, "a"));
	assert_false(fg_gate_is_worse(series, &made.policy, &made.measure, "b"));
	assert_false(fg_gate_is_worse(series, &made.policy, &made.measure, "c"));
	assert_false(fg_gate_is_worse(series, &made.policy, &made.measure, "no such metric"));
	rows[METRICS + 2].gated = true;
	assert_false(fg_gate_is_worse(series, &made.policy, &made.measure, "wall_time"));
	series->schedule = FG_SCHEDULE_ABBA;
	assert_true(fg_gate_is_worse(series, &made.policy, &made.measure, "wall_time"));
	rows[METRICS + 2].gated = rows[0].gated = false;
	assert_false(fg_gate_is_worse(series, &made.policy, &made.measure, "wall_time"));
	assert_false(fg_gate_is_worse(series, &made.policy, &made.measure, "a"));
}

/* ---- a whole run ---- */

FG_TEST_IN(the_worst_benchmark_decides_and_missing_ones_are_listed, begin, end)
{
	static const char *const gone[] = {"first", "second"};
	const struct fg_verdict *verdict = &made.verdict;

	(void)fg_made_benchmark(&made, "slow", 40, 0.2, 0.01);
	(void)fg_made_benchmark(&made, "same", 40, 0.0, 0.01);
	made.input.gone = gone;
	made.input.gone_count = FG_ARRAY_SIZE(gone);
	assert_int_equal(fg_made_decide(&made, "second")->outcome, FG_OUTCOME_MISSING);
	assert_int_equal(verdict->benchmark_count, 4);
	assert_int_equal(verdict->outcome, FG_OUTCOME_REGRESSION);
	assert_string_equal(verdict->benchmarks[2].name, "first");
	assert_true(fg_made_has_note(&verdict->benchmarks[2].notes, "only the baseline's"));
	assert_int_equal(verdict->notes.count, 0);
}

FG_TEST_IN(a_baseline_that_must_be_there_is_missed_only_where_it_is_not, begin, end)
{
	(void)fg_made_benchmark(&made, "same", 40, 0.0, 0.01);
	made.input.baseline_required = true;
	(void)fg_made_decide(&made, "same");
	assert_int_equal(made.verdict.exit_code, FG_EXIT_PASS);
	(void)fg_made_benchmark(&made, "fresh", 5, 0.0, 0.01);
	fg_made_series(&made, "fresh")->only_in[FG_ARM_CANDIDATE] = true;
	(void)fg_made_decide(&made, "same");
	assert_int_equal(made.verdict.exit_code, FG_EXIT_INCONCLUSIVE);
	made.input.baseline_required = false;
	(void)fg_made_decide(&made, "same");
	assert_int_equal(made.verdict.exit_code, FG_EXIT_PASS);
}

static const struct fg_fact_difference *find_difference(const char *key)
{
	for (size_t i = 0; i < made.verdict.environment_difference_count; i++) {
		if (strcmp(made.verdict.environment_difference[i].key, key) == 0)
			return &made.verdict.environment_difference[i];
	}
	return NULL;
}

FG_TEST_IN(differences_between_the_builds_are_listed, begin, end)
{
	struct fg_side *sides = made.run.sides;

	(void)fg_made_benchmark(&made, "same", 40, 0.0, 0.01);
	fg_environment_set(&sides[FG_ARM_BASELINE].build, "build.compiler", "gcc 12", true);
	fg_environment_set(&sides[FG_ARM_CANDIDATE].build, "build.compiler", "gcc 13", true);
	fg_environment_set(&sides[FG_ARM_CANDIDATE].build, "build.flags", "-O2", false);
	fg_environment_set(&sides[FG_ARM_BASELINE].build, "build.linking", "static", false);
	fg_environment_set(&sides[FG_ARM_CANDIDATE].build, "build.linking", "static", false);
	fg_environment_set(&sides[FG_ARM_BASELINE].build, "git.branch", "main", false);
	fg_environment_set(&sides[FG_ARM_CANDIDATE].build, "git.branch", "topic", false);
	(void)fg_made_decide(&made, "same");
	assert_int_equal(made.verdict.environment_difference_count, 2);
	assert_string_equal(find_difference("build.compiler")->baseline, "gcc 12");
	assert_string_equal(find_difference("build.compiler")->candidate, "gcc 13");
	assert_true(find_difference("build.compiler")->identity);
	assert_null(find_difference("build.flags")->baseline);
	assert_false(find_difference("build.flags")->identity);
	assert_false(fg_made_has_note(&made.verdict.notes, "in place"));
	fg_environment_set(&sides[FG_ARM_CANDIDATE].build, "build.place", "in place", false);
	(void)fg_made_decide(&made, "same");
	assert_true(fg_made_has_note(&made.verdict.notes, "measured in place: the length of its "
							  "path"));
	assert_true(fg_made_has_note(&made.verdict.notes, "not ruled out"));
	/* A candidate without a baseline cannot differ from it. */
	made.run.has_baseline = false;
	(void)fg_made_decide(&made, "same");
	assert_int_equal(made.verdict.environment_difference_count, 0);
	assert_false(fg_made_has_note(&made.verdict.notes, "in place"));
}

FG_TEST_IN(against_a_stored_run_the_hosts_may_differ_too, begin, end)
{
	struct fg_made before;

	fg_made_init(&before, 6);
	(void)fg_made_benchmark(&made, "same", 40, 0.0, 0.01);
	(void)fg_made_benchmark(&before, "gone", 40, 0.0, 0.01);
	(void)fg_made_benchmark(&before, "lost", 40, 0.0, 0.01);
	fg_environment_set(&before.run.host, "host.kernel", "6.1", true);
	fg_environment_set(&made.run.host, "host.kernel", "6.2", true);
	fg_environment_set(&before.run.host, "host.kernel.version", "same", true);
	fg_environment_set(&made.run.host, "host.kernel.version", "same", true);
	fg_environment_set(&before.run.sides[FG_ARM_CANDIDATE].build, "build.flags", "-O1", false);
	fg_environment_set(&made.run.sides[FG_ARM_CANDIDATE].build, "build.flags", "-O2", false);
	made.input.baseline = &before.run;
	assert_int_equal(fg_made_decide(&made, "lost")->outcome, FG_OUTCOME_MISSING);
	assert_int_equal(made.verdict.benchmark_count, 3);
	assert_string_equal(made.verdict.benchmarks[1].name, "gone");
	assert_int_equal(made.verdict.environment_difference_count, 2);
	assert_string_equal(find_difference("host.kernel")->baseline, "6.1");
	assert_string_equal(find_difference("build.flags")->candidate, "-O2");
	fg_made_release(&before);
}

FG_TEST_IN(leftover_accepted_slowdowns_of_a_benchmark_are_noted_once, begin, end)
{
	struct fg_accept general = {
		.benchmark = "same", .metric = "cpu_time", .until_ns = 1, .source = "plan"};
	struct fg_accept own = {
		.benchmark = "same", .metric = "cpu_time", .until_ns = 1, .source = "own"};
	struct fg_benchmark benchmark = {.name = "same", .measure = made.measure};
	const struct fg_plan plan = {.benchmarks = &benchmark, .benchmark_count = 1};

	(void)fg_made_benchmark(&made, "same", 40, 0.0, 0.01);
	made.policy.accepts = &general;
	made.policy.accept_count = 1;
	benchmark.policy = made.policy;
	made.input.plan = &plan;
	(void)fg_made_decide(&made, "same");
	assert_int_equal(made.verdict.notes.count, 1);
	assert_true(fg_made_has_note(&made.verdict.notes, "(plan) expired on"));
	benchmark.policy.accepts = &own;
	(void)fg_made_decide(&made, "same");
	assert_int_equal(made.verdict.notes.count, 2);
	assert_true(fg_made_has_note(&made.verdict.notes, "(own) expired on"));
}

FG_TEST_IN(a_note_on_two_sessions_names_a_command_if_the_commits_differ, begin, end)
{
	static const struct {
		const char *commits[2];
		const char *note;
	} table[] = {
		{{"0123456789abcdef", "fedcba9876543210"},
		 "fastgate run --candidate fedcba987654 --against 0123456789ab"},
		{{"0123456789abcdef", "0123456789abcdef"}, "measure both sides in one session"},
		{{NULL, "fedcba9876543210"}, "measure both sides in one session"},
		{{"0123456789abcdef", NULL}, "measure both sides in one session"},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(table); i++) {
		struct fg_run runs[2];
		struct fg_verdict verdict = {0};
		struct fg_series *series = NULL;

		for (size_t k = 0; k < 2; k++) {
			fg_run_init(&runs[k]);
			runs[k].sides[FG_ARM_CANDIDATE].commit =
				table[i].commits[k] ? fg_xstrdup(table[i].commits[k]) : NULL;
		}
		/* Counts are the same in any session. */
		series = fg_run_add_series(&runs[1], "parse");
		fg_gate_note_sessions(&runs[0], &runs[1], &verdict);
		assert_int_equal(verdict.notes.count, 0);
		(void)fg_series_add_repetition(series);
		fg_gate_note_sessions(&runs[0], &runs[1], &verdict);
		assert_int_equal(verdict.notes.count, 1);
		assert_true(fg_made_has_note(&verdict.notes, "the host may have drifted"));
		assert_true(fg_made_has_note(&verdict.notes, table[i].note));
		fg_verdict_release(&verdict);
		fg_run_release(&runs[0]);
		fg_run_release(&runs[1]);
	}
}
