// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fg_test.h"
#include "tests/unit/gate/made_run.h"

#include <math.h>

#define SESSIONS 24

/* Earlier sessions whose levels scatter by `spread`. */
struct past {
	struct fg_made candidate;
	struct fg_run runs[SESSIONS];
	const struct fg_run *history[SESSIONS];
};

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

static struct past past;

static void make_past(double spread, double change, uint64_t seed)
{
	fg_made_init(&past.candidate, seed);
	for (size_t i = 0; i < SESSIONS; i++) {
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

static void drop_past(void)
{
	for (size_t i = 0; i < SESSIONS; i++)
		fg_run_release(&past.runs[i]);
	fg_made_release(&past.candidate);
}

static enum fg_outcome cpu_outcome(void)
{
	const struct fg_benchmark_verdict *b = fg_made_decide(&past.candidate, "parse");

	return fg_made_metric(b, "cpu_time")->outcome;
}

FG_TEST(a_change_beyond_the_spread_of_sessions_is_found)
{
	make_past(0.01, 0.15, 1);
	assert_int_equal(cpu_outcome(), FG_OUTCOME_REGRESSION);
	drop_past();
}

FG_TEST(a_change_within_the_spread_of_sessions_is_not_judged)
{
	const struct fg_metric_verdict *cpu;

	make_past(0.05, 0.05, 2);
	cpu = fg_made_metric(fg_made_decide(&past.candidate, "parse"), "cpu_time");
	assert_int_equal(cpu->outcome, FG_OUTCOME_INCONCLUSIVE);
	assert_true(cpu->smallest_detectable > 0.08);
	drop_past();
}

FG_TEST(sessions_that_differ_for_no_reason_rarely_fail)
{
	int failed = 0;

	for (uint64_t seed = 0; seed < 150; seed++) {
		make_past(0.04, 0.0, 100 + seed);
		failed += cpu_outcome() == FG_OUTCOME_REGRESSION;
		drop_past();
	}
	assert_in_range(failed, 0, 5);
}

FG_TEST(without_a_history_there_is_no_verdict)
{
	const struct fg_metric_verdict *cpu;

	make_past(0.01, 0.5, 3);
	past.candidate.input.history_count = 2;
	cpu = fg_made_metric(fg_made_decide(&past.candidate, "parse"), "cpu_time");
	assert_int_equal(cpu->outcome, FG_OUTCOME_INCONCLUSIVE);
	assert_true(fg_made_has_note(&cpu->notes, "2 comparable earlier sessions"));
	assert_true(cpu->ratio > 1.4);
	drop_past();
}

FG_TEST(another_environment_is_at_most_inconclusive)
{
	const struct fg_benchmark_verdict *b;

	make_past(0.01, 0.3, 4);
	/* Another commit is not another environment. */
	fg_environment_set(&past.candidate.run.sides[FG_ARM_CANDIDATE].build, "git.subject", "New",
			   false);
	fg_environment_set(&past.candidate.run.host, "host.cpu.model", "two", true);
	b = fg_made_decide(&past.candidate, "parse");
	assert_int_equal(fg_made_metric(b, "cpu_time")->outcome, FG_OUTCOME_INCONCLUSIVE);
	assert_true(fg_made_has_note(&fg_made_metric(b, "cpu_time")->notes,
				     "inconclusive instead of regression"));
	assert_int_equal(past.candidate.verdict.environment_difference_count, 1);
	assert_string_equal(past.candidate.verdict.environment_difference[0].candidate, "two");
	drop_past();
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
	b = fg_made_decide(&past.candidate, "parse");
	assert_int_equal(fg_made_metric(b, "binary_size")->outcome, FG_OUTCOME_REGRESSION);
	drop_past();
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
		size = fg_made_metric(fg_made_decide(&past.candidate, "parse"), "binary_size");
		assert_true(size->exact);
		assert_int_equal(size->outcome, rows[i].outcome);
	}
	past.candidate.policy.metrics = NULL;
	past.candidate.policy.metric_count = 0;
	drop_past();
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
	b = fg_made_decide(&past.candidate, "parse");
	assert_true(b->identical);
	assert_int_equal(b->outcome, FG_OUTCOME_PASS);
	/* With a different library or an unknown id, the sides are not identical. */
	fg_build_facts_set(builds[1], "build.library.libm.so.6", "1234");
	assert_false(fg_made_decide(&past.candidate, "parse")->identical);
	fg_build_facts_set(builds[0], "build.library.libm.so.6", "1234");
	assert_true(fg_made_decide(&past.candidate, "parse")->identical);
	/* A different program is not identical; different build flags make no difference. */
	fg_build_facts_set(builds[1], "build.id", "abce");
	assert_false(fg_made_decide(&past.candidate, "parse")->identical);
	fg_build_facts_set(builds[1], "build.id", "abcd");
	fg_build_facts_set(builds[1], "build.flags", "-g");
	assert_true(fg_made_decide(&past.candidate, "parse")->identical);
	for (size_t i = 0; i < 2; i++)
		fg_build_facts_put(&builds[i]->id, NULL);
	assert_false(fg_made_decide(&past.candidate, "parse")->identical);
	drop_past();
}

FG_TEST(a_benchmark_that_a_run_left_out_is_not_compared)
{
	const struct fg_benchmark_verdict *b;
	struct fg_series *baseline;

	make_past(0.01, 0.3, 6);
	baseline = fg_run_find(&past.runs[SESSIONS - 1], "parse");
	baseline->unaffected = true;
	b = fg_made_decide(&past.candidate, "parse");
	assert_int_equal(b->outcome, FG_OUTCOME_NEW);
	assert_true(fg_made_has_note(&b->notes, "the baseline run left this benchmark out"));
	baseline->unaffected = false;
	fg_made_series(&past.candidate, "parse")->unaffected = true;
	b = fg_made_decide(&past.candidate, "parse");
	assert_int_equal(b->outcome, FG_OUTCOME_NEW);
	assert_false(b->unaffected);
	assert_true(fg_made_has_note(&b->notes, "this run left this benchmark out"));
	drop_past();
}

FG_TEST(other_benchmarks_are_new_or_missing)
{
	make_past(0.01, 0.0, 7);
	(void)fg_made_benchmark(&past.candidate, "fresh", 5, 0.0, 0.01);
	(void)fg_run_add_series(&past.runs[SESSIONS - 1], "gone");
	assert_int_equal(fg_made_decide(&past.candidate, "fresh")->outcome, FG_OUTCOME_NEW);
	assert_int_equal(fg_made_decide(&past.candidate, "gone")->outcome, FG_OUTCOME_MISSING);
	drop_past();
}

FG_TEST(a_candidate_alone_is_new)
{
	const struct fg_benchmark_verdict *b;

	make_past(0.01, 0.0, 8);
	past.candidate.input.baseline = NULL;
	b = fg_made_decide(&past.candidate, "parse");
	assert_int_equal(b->outcome, FG_OUTCOME_NEW);
	assert_true(fg_made_has_note(&b->notes, "no baseline"));
	drop_past();
}

/* ---- functions ---- */

enum {
	FUNCTIONS = 3,
	SETS = SESSIONS + 1, /* the last one is the candidate's */
};

static const char *const function_names[FUNCTIONS] = {"parse()", "read()", "new()"};
static const double own_ms[FUNCTIONS] = {60, 40, 0};

struct functions {
	struct fg_profile_set sets[2];
	const struct fg_profile_set *list[2];
	double past_ns[FUNCTIONS][SESSIONS];
	size_t known; /* sessions in the history */
};

static void fill_set(struct fg_profile_set *set, const double *self_ns)
{
	uint32_t nodes[FUNCTIONS];

	fg_profile_set_init(set, "prog");
	for (size_t f = 0; f < FUNCTIONS; f++)
		nodes[f] = fg_profile_set_node(
			set, 0,
			fg_profile_set_function(
				set, &(struct fg_profile_function){.name = function_names[f],
								   .library = "prog"}));
	for (uint32_t pair = 0; pair < 10; pair++) {
		struct fg_profile_row *row = fg_profile_set_add_row(set, FUNCTIONS);

		row->arm = FG_ARM_CANDIDATE;
		row->pair = pair;
		for (uint32_t f = 0; f < FUNCTIONS; f++) {
			row->nodes[f] = nodes[f];
			row->values[f] = self_ns[f];
			row->samples[f] = (uint32_t)(self_ns[f] / 1e5);
			row->total += self_ns[f];
		}
	}
}

static size_t give_history(void *context, const char *benchmark,
			   const struct fg_profile_function *function, double *self_ns, size_t room)
{
	const struct functions *functions = context;
	const size_t count = fg_min_size(functions->known, room);

	assert_string_equal(benchmark, "parse");
	for (size_t f = 0; f < FUNCTIONS; f++) {
		if (strcmp(function->name, function_names[f]) == 0)
			memcpy(self_ns, functions->past_ns[f] + functions->known - count,
			       count * sizeof(self_ns[0]));
	}
	return count;
}

/* Own times scatter by 1 % between sessions; `more` is added in the candidate. */
static void make_functions(struct functions *functions, const double more[FUNCTIONS], size_t known)
{
	double last[2][FUNCTIONS];

	*functions = (struct functions){.known = known};
	for (size_t f = 0; f < FUNCTIONS; f++) {
		for (size_t i = 0; i < SESSIONS; i++)
			functions->past_ns[f][i] =
				own_ms[f] * 1e6 *
				(1 + 0.01 * fg_random_normal(&past.candidate.random));
		last[0][f] = functions->past_ns[f][SESSIONS - 1];
		last[1][f] = (own_ms[f] + more[f]) * 1e6;
	}
	for (size_t side = 0; side < 2; side++) {
		fill_set(&functions->sets[side], last[side]);
		functions->list[side] = &functions->sets[side];
	}
	past.candidate.input.baseline_profiles = &functions->list[0];
	past.candidate.input.profiles = &functions->list[1];
	past.candidate.input.function_history = give_history;
	past.candidate.input.history_context = functions;
}

static void drop_functions(struct functions *functions)
{
	for (size_t side = 0; side < 2; side++)
		fg_profile_set_release(&functions->sets[side]);
	drop_past();
}

FG_TEST(in_another_environment_no_function_is_judged)
{
	static const double more[FUNCTIONS] = {12, 0, 0};
	struct functions functions;

	make_past(0.01, 0.1, 21);
	make_functions(&functions, more, SESSIONS);
	assert_true(fg_made_decide(&past.candidate, "parse")->time.function_count > 0);
	fg_environment_set(&past.candidate.run.host, "host.cpu.model", "two", true);
	assert_int_equal(fg_made_decide(&past.candidate, "parse")->time.function_count, 0);
	drop_functions(&functions);
}

FG_TEST(a_function_beyond_the_spread_of_sessions_is_guilty)
{
	const double more[FUNCTIONS] = {20, 0, 5};
	const struct fg_benchmark_verdict *verdict = NULL;
	struct functions functions;
	double sum = 0;

	make_past(0.002, 0.25, 11);
	make_functions(&functions, more, SESSIONS);
	verdict = fg_made_decide(&past.candidate, "parse");
	assert_true(verdict->time.function_count >= 2);
	assert_string_equal(verdict->time.functions[0].name, "parse()");
	assert_int_equal(verdict->time.functions[0].standing, FG_STANDING_GUILTY);
	assert_true(verdict->time.functions[0].low > 0 &&
		    verdict->time.functions[0].low < verdict->time.functions[0].delta);
	assert_true(fabs(verdict->time.functions[0].share_of_change - 0.8) < 0.05);
	assert_string_equal(verdict->time.functions[1].name, "new()");
	assert_int_equal(verdict->time.functions[1].standing, FG_STANDING_GUILTY);
	for (size_t i = 0; i < verdict->time.function_count; i++)
		sum += fg_standing_is_sure(verdict->time.functions[i].standing)
			       ? verdict->time.functions[i].delta
			       : 0;
	assert_true(fabs(sum + verdict->time.everything_else - verdict->time.total_delta) < 1e-9);
	drop_functions(&functions);
}

FG_TEST(a_function_within_the_spread_of_sessions_is_not_sure)
{
	const double more[FUNCTIONS] = {1.2, 0, 0};
	const struct fg_benchmark_verdict *verdict = NULL;
	struct functions functions;

	make_past(0.002, 0.25, 12);
	make_functions(&functions, more, SESSIONS);
	verdict = fg_made_decide(&past.candidate, "parse");
	assert_true(verdict->time.function_count >= 1);
	for (size_t i = 0; i < verdict->time.function_count; i++)
		assert_int_equal(verdict->time.functions[i].standing, FG_STANDING_NOT_SURE);
	drop_functions(&functions);
}

FG_TEST(with_few_sessions_no_function_is_named)
{
	const double more[FUNCTIONS] = {20, 0, 0};
	struct functions functions;

	make_past(0.002, 0.25, 13);
	make_functions(&functions, more, 5);
	assert_int_equal(fg_made_decide(&past.candidate, "parse")->time.function_count, 0);
	drop_functions(&functions);
}
