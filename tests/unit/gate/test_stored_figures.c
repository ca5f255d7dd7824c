// SPDX-License-Identifier: Apache-2.0
/*
 * Figures of a comparison with an earlier session.  The quantiles of t were computed to 30 digits.
 */
#include "gate/stored.h"
#include "tests/unit/gate/made_run.h"
#include "tests/unit/statistics/close.h"

enum {
	HISTORY = 7,
	REPETITIONS = 5,
};

#define MS 1e6

/* Levels of earlier sessions as logarithms; successive differences are 1, 2, 3, 4, 5 and 6 %. */
static const double history_levels[HISTORY] = {0, 0.01, -0.01, 0.02, -0.02, 0.03, -0.03};
/* Sorted by size, with logarithms symmetric around the level. */
static const double calm[REPETITIONS] = {0};
static const double wild[REPETITIONS] = {-0.3, -0.15, 0, 0.15, 0.3};

static struct sessions {
	struct fg_made candidate;
	struct fg_metric_policy policy;
	struct fg_run runs[HISTORY];
	const struct fg_run *history[HISTORY];
} s;

static struct fg_series *add_series(struct fg_run *run, const char *cpu, double level,
				    const double *around)
{
	struct fg_series *series = fg_run_add_series(run, "parse");

	series->schedule = FG_SCHEDULE_STORED;
	series->state = FG_MEASURED;
	fg_environment_set(&run->host, "host.cpu.model", cpu, true);
	for (uint32_t i = 0; i < REPETITIONS; i++) {
		struct fg_repetition *r = fg_series_add_repetition(series);

		r->pair = i;
		r->arm = FG_ARM_CANDIDATE;
		r->values[FG_METRIC_CPU_TIME] = 1e8 * exp(level + around[i]);
	}
	return series;
}

/* The candidate is above the last session by `change`, as a logarithm. */
static void begin(double change, const double *around)
{
	for (size_t i = 0; i < HISTORY; i++)
		fg_run_release(&s.runs[i]);
	fg_made_release(&s.candidate);
	s = (struct sessions){
		.policy = {.name = "cpu_time", .gated = true, .min_effect = 0.01, .margin = 0.02}};
	fg_made_init(&s.candidate, 1);
	for (size_t i = 0; i < HISTORY; i++) {
		fg_run_init(&s.runs[i]);
		(void)add_series(&s.runs[i], "one", history_levels[i],
				 i + 1 == HISTORY ? around : calm);
		s.history[i] = &s.runs[i];
	}
	s.candidate.run.has_baseline = false;
	(void)add_series(&s.candidate.run, "one", history_levels[HISTORY - 1] + change, around);
	s.candidate.policy.metrics = &s.policy;
	s.candidate.policy.metric_count = 1;
	s.candidate.input.baseline = &s.runs[HISTORY - 1];
	s.candidate.input.history = s.history;
	s.candidate.input.history_count = HISTORY;
}

static const struct fg_metric_verdict *decide(void)
{
	return fg_made_metric(fg_made_decide(&s.candidate, "parse"), "cpu_time");
}

FG_TEST(the_interval_is_that_of_the_differences_between_sessions)
{
	const struct fg_metric_verdict *cpu;

	begin(0.3, calm);
	cpu = decide();
	assert_true(cpu->decided);
	assert_close(cpu->ratio, 1.3498588075760031, 1e-12);
	assert_close(cpu->low, 0.98364621533779928, 1e-9);
	assert_close(cpu->high, 1.8524127597692889, 1e-9);
	assert_close(cpu->p_value, 0.01120066154713249, 1e-9);
	assert_close(cpu->smallest_detectable, 0.3723011246603951, 1e-9);
	assert_close(cpu->baseline, 1e8 * exp(-0.03), 1e-12);
	assert_close(cpu->candidate, 1e8 * exp(0.27), 1e-12);
	assert_true(fg_made_has_note(&cpu->notes,
				     "a change of 37.2 % or more could have been detected"));
	s.policy.tolerated = 0.05;
	cpu = decide();
	assert_close(cpu->p_value, 0.016243468259234718, 1e-9);
}

/* The interval extends by 0.3165 to either side. */
FG_TEST(the_interval_and_the_least_effect_decide)
{
	static const struct {
		double change;
		double tolerated;
		double min_effect;
		enum fg_outcome outcome;
	} rows[] = {
		{0.33, 0, 0.01, FG_OUTCOME_REGRESSION},
		{0.30, 0, 0.01, FG_OUTCOME_INCONCLUSIVE},
		{-0.33, 0, 0.01, FG_OUTCOME_IMPROVEMENT},
		{-0.30, 0, 0.01, FG_OUTCOME_PASS}, /* at most 1.7 % slower: within the margin */
		{-0.29, 0, 0.01, FG_OUTCOME_INCONCLUSIVE},
		{0.37, 0.05, 0.01, FG_OUTCOME_REGRESSION},
		{0.36, 0.05, 0.01, FG_OUTCOME_INCONCLUSIVE},
		{0.41, 0, 0.5, FG_OUTCOME_REGRESSION},
		{0.40, 0, 0.5, FG_OUTCOME_INCONCLUSIVE},
		{-0.41, 0, 0.5, FG_OUTCOME_IMPROVEMENT},
		{-0.40, 0, 0.5, FG_OUTCOME_PASS},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		begin(rows[i].change, calm);
		s.policy.tolerated = rows[i].tolerated;
		s.policy.min_effect = rows[i].min_effect;
		assert_int_equal(decide()->outcome, rows[i].outcome);
	}
}

/* The standard error is 0.15 / (0.6 sqrt(5)) in each session. */
FG_TEST(scatter_within_the_sessions_counts_where_it_is_larger)
{
	const double error = 0.15 / (0.6 * sqrt(5)) * sqrt(2);
	const struct fg_metric_verdict *cpu;

	begin(0.3, wild);
	cpu = decide();
	assert_close(cpu->high, exp(0.3 + 6.0991112878386241 * error), 1e-9);
}

/* All repetitions of the other session are equal. */
FG_TEST(the_scatter_of_one_session_is_its_own)
{
	const double error = 0.15 / (0.6 * sqrt(5));

	for (size_t which = 0; which < 2; which++) {
		const struct fg_metric_verdict *cpu;
		struct fg_series *series;

		begin(0.9, wild);
		s.candidate.input.history_count = 5;
		series = which ? fg_made_series(&s.candidate, "parse")
			       : fg_run_find(&s.runs[HISTORY - 1], "parse");
		for (size_t r = 0; r < REPETITIONS; r++)
			series->repetitions[r].values[FG_METRIC_CPU_TIME] =
				series->repetitions[REPETITIONS / 2].values[FG_METRIC_CPU_TIME];
		cpu = decide();
		assert_close(cpu->low, exp(0.9 - 3 * error), 1e-9);
		assert_close(cpu->high, exp(0.9 + 3 * error), 1e-9);
	}
}

FG_TEST(without_enough_sessions_three_errors_are_shown_and_nothing_is_decided)
{
	const double error = 0.15 / (0.6 * sqrt(5)) * sqrt(2);
	const struct fg_metric_verdict *cpu;

	begin(0.9, wild);
	s.candidate.input.history_count = 5;
	cpu = decide();
	assert_int_equal(cpu->outcome, FG_OUTCOME_INCONCLUSIVE);
	assert_close(cpu->low, exp(0.9 - 3 * error), 1e-9);
	assert_close(cpu->high, exp(0.9 + 3 * error), 1e-9);
	assert_true(fg_made_has_note(&cpu->notes, "5 comparable earlier sessions, but at least 6"));
	s.candidate.input.history_count = 0;
	assert_true(fg_made_has_note(&decide()->notes, "there are 0 comparable earlier sessions"));
}

FG_TEST(values_not_above_zero_are_new_missing_or_unknown)
{
	static const struct {
		double before;
		double after;
		bool gated;
		bool decided;
		enum fg_outcome outcome;
		const char *note;
	} rows[] = {
		{0, 1, true, true, FG_OUTCOME_NEW, "the baseline has no cpu time to compare with"},
		{1, 0, true, true, FG_OUTCOME_MISSING, "the candidate has no cpu time above zero"},
		{0, 0, true, false, FG_OUTCOME_INCONCLUSIVE,
		 "cpu time has no value above zero in either run"},
		{0, 0, false, false, FG_OUTCOME_PASS,
		 "cpu time has no value above zero in either run"},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		const struct fg_metric_verdict *cpu;
		struct fg_series *series[2];

		begin(0, calm);
		s.policy.gated = rows[i].gated;
		series[0] = fg_run_find(&s.runs[HISTORY - 1], "parse");
		series[1] = fg_made_series(&s.candidate, "parse");
		for (size_t r = 0; r < REPETITIONS; r++) {
			series[0]->repetitions[r].values[FG_METRIC_CPU_TIME] *= rows[i].before;
			series[1]->repetitions[r].values[FG_METRIC_CPU_TIME] *= rows[i].after;
		}
		cpu = decide();
		assert_int_equal(cpu->decided, rows[i].decided);
		assert_int_equal(cpu->outcome, rows[i].outcome);
		assert_true(fg_made_has_note(&cpu->notes, rows[i].note));
	}
}

FG_TEST(only_measured_sessions_of_the_same_host_make_the_spread)
{
	struct fg_session_spread spread;

	begin(0, calm);
	spread = fg_session_spread_of(s.history, HISTORY, &s.candidate.run, "parse", "cpu_time");
	assert_int_equal(spread.differences, 6);
	assert_close(spread.spread, 1.4826 * 0.035, 1e-12);
	/* Without the fourth session, its neighbours are compared: 1, 2, 1, 5, 6 %. */
	fg_environment_set(&s.runs[3].host, "host.cpu.model", "two", true);
	spread = fg_session_spread_of(s.history, HISTORY, &s.candidate.run, "parse", "cpu_time");
	assert_int_equal(spread.differences, 5);
	assert_close(spread.spread, 1.4826 * 0.02, 1e-12);
	fg_environment_set(&s.runs[1].host, "host.cpu.model", "two", true);
	spread = fg_session_spread_of(s.history, HISTORY, &s.candidate.run, "parse", "cpu_time");
	assert_int_equal(spread.differences, 4);
	assert_true(isnan(spread.spread));
	spread = fg_session_spread_of(s.history, HISTORY, &s.candidate.run, "other", "cpu_time");
	assert_int_equal(spread.differences, 0);
	spread = fg_session_spread_of(s.history, HISTORY, &s.candidate.run, "parse", "wall_time");
	assert_int_equal(spread.differences, 0);
}

/* ---- functions ---- */

enum {
	FUNCTIONS = 6,
	EARLIER = 25, /* number of sessions */
};

static const struct {
	const char *name;
	double ms[2];
} functions[FUNCTIONS] = {
	{"main", {1, 1}},   {"parse", {60, 90}}, {"read", {40, 50}},
	{"idle", {20, 16}}, {"gone", {25, 0}},   {"new", {0, 5}},
};

static void add_row(struct fg_profile_set *set, const uint32_t *nodes, size_t side,
		    struct fg_profile_row row)
{
	struct fg_profile_row *added = fg_profile_set_add_row(set, FUNCTIONS);

	row.nodes = added->nodes;
	row.values = added->values;
	row.samples = added->samples;
	*added = row;
	for (size_t f = 0; f < FUNCTIONS; f++) {
		const double ms = functions[f].ms[side];

		if (ms <= 0)
			continue;
		added->nodes[added->count] = nodes[f];
		added->values[added->count] = ms * MS;
		added->samples[added->count++] = (uint32_t)(10 * ms);
		added->total += ms * MS;
	}
}

/*
 * Adds two repetitions that count, among rows of other arms and measures and one that is set aside.
 */
static void fill(struct fg_profile_set *set, size_t side)
{
	const struct fg_measure bytes = fg_measure_describe("alloc_space", "bytes");
	uint32_t nodes[FUNCTIONS];

	fg_profile_set_init(set, "prog");
	for (size_t f = 0; f < FUNCTIONS; f++) {
		const struct fg_profile_function function = {
			.name = functions[f].name, .library = "prog", .file = "prog.c", .line = 7};

		nodes[f] = fg_profile_set_node(set, f > 0 ? nodes[0] : 0,
					       fg_profile_set_function(set, &function));
	}
	for (uint32_t pair = 0; pair < 2; pair++)
		add_row(set, nodes, side,
			(struct fg_profile_row){.arm = FG_ARM_CANDIDATE, .pair = pair});
	add_row(set, nodes, 1 - side,
		(struct fg_profile_row){.arm = FG_ARM_CANDIDATE, .aside = FG_ASIDE_WARMUP});
	add_row(set, nodes, 1 - side, (struct fg_profile_row){.arm = FG_ARM_BASELINE});
	add_row(set, nodes, 1 - side,
		(struct fg_profile_row){.arm = FG_ARM_CANDIDATE,
					.measure = fg_profile_set_measure(set, &bytes)});
}

/* Gives a history in which successive sessions differ by 1.2 ms; only five sessions have `new`. */
static size_t give_history(void *context, const char *benchmark,
			   const struct fg_profile_function *function, double *self_ns, size_t room)
{
	const size_t known = strcmp(function->name, "new") == 0 ? 5 : EARLIER;
	const size_t count = fg_min_size(known, room);

	assert_ptr_equal(context, &s);
	assert_string_equal(benchmark, "parse");
	for (size_t i = 0; i < count; i++)
		self_ns[i] = (i % 2 ? 50 : 51.2) * MS;
	return count;
}

static void check_function(const struct fg_node_verdict *node, const char *name,
			   enum fg_standing standing, const double figures[4])
{
	assert_string_equal(node->name, name);
	assert_string_equal(node->library, "prog");
	assert_string_equal(node->file, "prog.c");
	assert_int_equal(node->line, 7);
	assert_string_equal(node->measure, "cpu_time");
	assert_string_equal(node->unit, "ms");
	assert_int_equal(node->standing, standing);
	assert_int_equal(node->outcome, standing == FG_STANDING_GUILTY   ? FG_OUTCOME_REGRESSION
					: standing == FG_STANDING_FASTER ? FG_OUTCOME_IMPROVEMENT
									 : FG_OUTCOME_INCONCLUSIVE);
	assert_close(node->delta, figures[0], 1e-12);
	assert_close(node->low, figures[1], 1e-9);
	assert_close(node->high, figures[2], 1e-9);
	assert_close(node->p_adjusted, figures[3], 1e-9);
}

static void check_blame(const struct fg_blame *blame)
{
	assert_int_equal(blame->functions_tested, FUNCTIONS);
	assert_int_equal(blame->function_count, 4);
	check_function(&blame->functions[0], "parse", FG_STANDING_GUILTY,
		       (double[]){30, 16.4888135572894, 43.5111864427106, 6.80170106659919e-5});
	check_function(&blame->functions[1], "gone", FG_STANDING_FASTER,
		       (double[]){-25, -33.7774446002175, -16.2225553997825, 1.26527748770153e-5});
	check_function(&blame->functions[2], "read", FG_STANDING_NOT_SURE,
		       (double[]){10, -0.46572001602432, 20.4657200160243, 0.0128863201727108});
	check_function(&blame->functions[3], "idle", FG_STANDING_NOT_SURE,
		       (double[]){-4, -12.7774446002175, 4.77744460021753, 0.355125111861452});
	assert_close(blame->total_delta, 16, 1e-12);
	assert_close(blame->unattributed, 5, 1e-12);
	assert_close(blame->everything_else, 11, 1e-12);
	assert_close(blame->functions[0].self[0], 60, 1e-12);
	assert_close(blame->functions[0].self[1], 90, 1e-12);
	assert_close(blame->functions[1].inclusive[0], 25, 1e-12);
	assert_near(blame->functions[1].inclusive[1], 0, 0);
}

/* Starts anew with the functions of two profiles. */
static void begin_with_functions(void)
{
	static struct fg_profile_set sets[2];
	static const struct fg_profile_set *const lists[2] = {&sets[0], &sets[1]};

	begin(0.1, calm);
	for (size_t side = 0; side < 2; side++) {
		fg_profile_set_release(&sets[side]);
		fill(&sets[side], side);
	}
	s.candidate.input.baseline_profiles = &lists[0];
	s.candidate.input.profiles = &lists[1];
	s.candidate.input.function_history = give_history;
	s.candidate.input.history_context = &s;
}

FG_TEST(functions_are_judged_by_sessions_and_samples_with_one_level_for_all)
{
	static const double intervals[][2] = {{1.01, 1.2}, {0.99, 1.01}, {0.8, 0.99}};

	begin_with_functions();
	for (size_t i = 0; i < FG_ARRAY_SIZE(intervals); i++) {
		struct fg_metric_verdict metrics[2] = {
			{.name = "wall_time", .candidate = 2, .low = 2, .high = 2},
			{.name = "cpu_time",
			 .candidate = (double)NAN,
			 .low = intervals[i][0],
			 .high = intervals[i][1]}};
		struct fg_benchmark_verdict verdict = {.metrics = metrics, .metric_count = 2};
		struct fg_arena arena = {0};

		fg_stored_functions_decide(&s.candidate.input, 0,
					   &s.candidate.input.baseline->series[0], &arena,
					   &verdict);
		check_blame(&verdict.time);
		/* 30 of 16 ms: more than the total */
		for (size_t k = 0; k < 3; k++)
			assert_true(isnan(verdict.time.functions[k].share_of_change));
		fg_arena_release(&arena);
	}
}

FG_TEST(in_another_environment_no_function_is_judged)
{
	begin_with_functions();
	assert_true(fg_made_decide(&s.candidate, "parse")->time.function_count > 0);
	fg_environment_set(&s.candidate.run.host, "host.cpu.model", "two", true);
	assert_int_equal(fg_made_decide(&s.candidate, "parse")->time.function_count, 0);
}
