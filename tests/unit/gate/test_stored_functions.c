// SPDX-License-Identifier: Apache-2.0
/* The tested functions of two stored runs, and their errors. */
#include "gate/stored.h"
#include "tests/unit/gate/made_run.h"
#include "tests/unit/statistics/close.h"

enum {
	FUNCTIONS_MAX = 20,
	ASKED_MAX = 12,
	SESSIONS = 20,
};

#define MS 1e6

/* Quantiles of t at 0.5 % over the family, with 0.37 degrees of freedom per difference. */
#define QUANTILE_1_5  11.3938913458664
#define QUANTILE_1_19 3.49440178279925
#define QUANTILE_2_19 4.02236218213749
#define QUANTILE_3_19 4.34699699163483

struct function {
	const char *name;
	const char *library;
	double ms[2];
	unsigned samples; /* samples of each side, plus one; 0: enough to add no noise */
	size_t sessions;  /* number of sessions that have the function; 0: all */
};

static const struct function *known;
static size_t known_count;

/* Gives a history in which successive sessions differ by a millisecond. */
static size_t give_history(void *context, const char *benchmark,
			   const struct fg_profile_function *function, double *self_ns, size_t room)
{
	size_t count = SESSIONS;

	(void)context;
	assert_string_equal(benchmark, "parse");
	assert_int_equal(room, SESSIONS);
	for (size_t i = 0; i < known_count; i++) {
		if (strcmp(known[i].name, function->name) == 0 && known[i].sessions)
			count = known[i].sessions;
	}
	for (size_t i = 0; i < count; i++)
		self_ns[i] = (i % 2 ? 10 : 11) * MS;
	return count;
}

/* Fills one of the two sides, which have the functions in opposite orders. */
static void fill(struct fg_profile_set *set, size_t side)
{
	struct fg_profile_row *row = NULL;
	uint32_t nodes[FUNCTIONS_MAX] = {0};

	fg_profile_set_init(set, "prog");
	for (size_t i = 0; i < known_count; i++) {
		const size_t at = side ? known_count - 1 - i : i;
		const struct fg_profile_function function = {.name = known[at].name,
							     .library = known[at].library};

		if (known[at].ms[side] >= 0)
			nodes[at] = fg_profile_set_node(set, 0,
							fg_profile_set_function(set, &function));
	}
	row = fg_profile_set_add_row(set, known_count);
	row->arm = FG_ARM_CANDIDATE;
	row->count = 0;
	for (size_t i = 0; i < known_count; i++) {
		if (!(known[i].ms[side] > 0))
			continue;
		row->nodes[row->count] = nodes[i];
		row->values[row->count] = known[i].ms[side] * MS;
		row->samples[row->count++] = known[i].samples ? known[i].samples - 1 : 1000000000;
		row->total += known[i].ms[side] * MS;
	}
}

static struct comparison {
	struct fg_made made;
	struct fg_run before;
	struct fg_profile_set sets[2];
	const struct fg_profile_set *lists[2];
	struct fg_metric_verdict metric;
	struct fg_benchmark_verdict verdict;
	struct fg_arena arena;
} c;

static void begin(const struct function *functions, size_t count)
{
	known = functions;
	known_count = count;
	fg_arena_release(&c.arena);
	fg_profile_set_release(&c.sets[0]);
	fg_profile_set_release(&c.sets[1]);
	fg_run_release(&c.before);
	fg_made_release(&c.made);
	c = (struct comparison){
		.metric = {.name = "cpu_time", .candidate = (double)NAN, .low = 1.01, .high = 1.2}};
	fg_made_init(&c.made, 1);
	fg_run_init(&c.before);
	(void)fg_run_add_series(&c.before, "parse");
	(void)fg_run_add_series(&c.made.run, "parse");
	for (size_t side = 0; side < 2; side++) {
		fill(&c.sets[side], side);
		c.lists[side] = &c.sets[side];
	}
	c.verdict.metrics = &c.metric;
	c.verdict.metric_count = 1;
	c.made.input.baseline = &c.before;
	c.made.input.baseline_profiles = &c.lists[0];
	c.made.input.profiles = &c.lists[1];
	c.made.input.function_history = give_history;
}

static const struct fg_blame *decide(void)
{
	c.verdict.time = (struct fg_blame){0};
	fg_stored_functions_decide(&c.made.input, 0, &c.before.series[0], &c.arena, &c.verdict);
	return &c.verdict.time;
}

/* Starts anew with these functions, and judges them. */
static const struct fg_blame *judge(const struct function *functions, size_t count)
{
	begin(functions, count);
	return decide();
}

static const struct function doubled = {.name = "one", .library = "prog", .ms = {100, 200}};

static const struct fg_node_verdict *find(const struct fg_blame *blame, const char *name,
					  const char *library)
{
	for (size_t i = 0; i < blame->function_count; i++) {
		if (strcmp(blame->functions[i].name, name) == 0 &&
		    strcmp(blame->functions[i].library, library) == 0)
			return &blame->functions[i];
	}
	fail_msg("%s of %s is not there", name, library);
	return NULL;
}

FG_TEST(functions_are_matched_by_name_and_library_not_by_number)
{
	static const struct function functions[] = {
		{.name = "alone", .library = "prog", .ms = {100, 130}},
		{.name = "twin", .library = "prog", .ms = {20, 28}},
		{.name = "twin", .library = "lib.so", .ms = {50, 40}},
		{.name = "gone", .library = "prog", .ms = {30, -1}},
		{.name = "new", .library = "prog", .ms = {-1, 35}},
		{.name = "idle", .library = "prog", .ms = {0, 0}},
		{.name = "stopped", .library = "prog", .ms = {15, 0}},
		{.name = "started", .library = "prog", .ms = {0, 12}},
	};
	const struct fg_blame *blame = judge(functions, FG_ARRAY_SIZE(functions));

	assert_string_equal(blame->measure, "cpu_time");
	assert_string_equal(blame->unit, "ms");
	assert_int_equal(blame->functions_tested, 7); /* all functions that took time */
	assert_int_equal(blame->function_count, 7);
	assert_close(blame->total_delta, 30, 1e-12);
	assert_close(find(blame, "alone", "prog")->delta, 30, 1e-12);
	assert_close(find(blame, "twin", "prog")->delta, 8, 1e-12);
	assert_close(find(blame, "twin", "prog")->self[1], 28, 1e-12);
	assert_close(find(blame, "twin", "lib.so")->delta, -10, 1e-12);
	assert_close(find(blame, "gone", "prog")->delta, -30, 1e-12);
	assert_near(find(blame, "gone", "prog")->self[1], 0, 0);
	assert_close(find(blame, "new", "prog")->delta, 35, 1e-12);
	assert_near(find(blame, "new", "prog")->self[0], 0, 0);
	assert_close(find(blame, "stopped", "prog")->delta, -15, 1e-12);
	assert_close(find(blame, "started", "prog")->delta, 12, 1e-12);
	assert_string_equal(blame->functions[0].name, "new"); /* sorted by size */
}

/* t at 0.5 % over the family, with 0.37 x 19 degrees of freedom, times 1.4826 ms. */
FG_TEST(the_level_is_shared_by_all_that_took_time)
{
	static const struct function functions[] = {
		{.name = "one", .library = "prog", .ms = {100, 130}},
		{.name = "two", .library = "prog", .ms = {100, 100}},
	};
	static const double quantiles[] = {QUANTILE_1_19, QUANTILE_2_19};

	for (size_t count = 1; count <= 2; count++) {
		const struct fg_blame *blame = judge(functions, count);

		assert_close(blame->functions[0].high - 30, 1.4826 * quantiles[count - 1], 1e-6);
		assert_close(30 - blame->functions[0].low, 1.4826 * quantiles[count - 1], 1e-6);
	}
}

FG_TEST(an_interval_beyond_zero_is_sure)
{
	static const struct {
		double after;
		enum fg_standing standing;
		enum fg_outcome outcome;
	} rows[] = {
		{100 + 1.4826 * QUANTILE_1_19 + 0.01, FG_STANDING_GUILTY, FG_OUTCOME_REGRESSION},
		{100 + 1.4826 * QUANTILE_1_19 - 0.01, FG_STANDING_NOT_SURE,
		 FG_OUTCOME_INCONCLUSIVE},
		{100 - 1.4826 * QUANTILE_1_19 - 0.01, FG_STANDING_FASTER, FG_OUTCOME_IMPROVEMENT},
		{100 - 1.4826 * QUANTILE_1_19 + 0.01, FG_STANDING_NOT_SURE,
		 FG_OUTCOME_INCONCLUSIVE},
		{100.001, FG_STANDING_NOT_SURE, FG_OUTCOME_INCONCLUSIVE},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		const struct function function = {
			.name = "one", .library = "prog", .ms = {100, rows[i].after}};
		const struct fg_node_verdict *node = NULL;

		begin(&function, 1);
		node = find(decide(), "one", "prog");
		assert_int_equal(node->standing, rows[i].standing);
		assert_int_equal(node->outcome, rows[i].outcome);
		if (fg_standing_is_sure(rows[i].standing))
			assert_true(node->p_adjusted < 0.01);
		else
			assert_true(node->p_adjusted > 0.01 && node->p_adjusted <= 1);
	}
}

/* Six sessions have five differences, the fewest that show how sessions differ. */
FG_TEST(six_sessions_are_enough_and_five_are_not)
{
	static const struct function functions[] = {
		{.name = "six", .library = "prog", .ms = {100, 200}, .sessions = 6},
		{.name = "five", .library = "prog", .ms = {100, 200}, .sessions = 5},
		{.name = "one", .library = "prog", .ms = {100, 200}, .sessions = 1},
	};
	const struct fg_blame *blame = judge(functions, 1);

	assert_close(blame->functions[0].high - 100, 1.4826 * QUANTILE_1_5, 1e-6);
	blame = judge(functions, FG_ARRAY_SIZE(functions));
	assert_int_equal(blame->functions_tested, 3);
	assert_int_equal(blame->function_count, 1);
	assert_string_equal(blame->functions[0].name, "six");
}

FG_TEST(the_twelve_that_differ_most_are_tested)
{
	static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g",
					    "h", "i", "j", "k", "l", "m", "n"};
	struct function functions[FG_ARRAY_SIZE(names)];
	const struct fg_blame *blame = NULL;

	for (size_t i = 0; i < FG_ARRAY_SIZE(names); i++)
		functions[i] = (struct function){
			.name = names[i], .library = "prog", .ms = {200, 220 + (double)i}};
	blame = judge(functions, FG_ARRAY_SIZE(functions));
	assert_int_equal(blame->functions_tested, FG_ARRAY_SIZE(names));
	assert_int_equal(blame->function_count, ASKED_MAX);
	assert_string_equal(blame->functions[0].name, "n");
	assert_string_equal(blame->functions[ASKED_MAX - 1].name, "c");
}

FG_TEST(a_fiftieth_of_the_whole_is_tested)
{
	static const struct function functions[] = {
		{.name = "most", .library = "prog", .ms = {100, 196.01}},
		{.name = "fiftieth", .library = "prog", .ms = {100, 102}},
		{.name = "less", .library = "prog", .ms = {100, 101.99}},
	};
	const struct fg_blame *blame = judge(functions, FG_ARRAY_SIZE(functions));

	assert_close(blame->total_delta, 100, 1e-9);
	assert_int_equal(blame->function_count, 2);
	assert_string_equal(blame->functions[1].name, "fiftieth");
}

/* Certain functions come first, each group by size. */
FG_TEST(unsure_functions_follow_sure_ones)
{
	static const struct function functions[] = {
		{.name = "wild", .library = "prog", .ms = {200, 300}, .samples = 3},
		{.name = "calm", .library = "prog", .ms = {100, 120}},
		{.name = "faster", .library = "prog", .ms = {100, 70}},
	};
	const struct fg_blame *blame = judge(functions, FG_ARRAY_SIZE(functions));

	assert_string_equal(blame->functions[0].name, "faster");
	assert_string_equal(blame->functions[1].name, "calm");
	assert_string_equal(blame->functions[2].name, "wild");
	/* The variances of two samples of 200 ms and of three of 300 ms are added. */
	assert_close(blame->functions[2].high - 100, QUANTILE_3_19 * sqrt((4e4 + 9e4) / 2), 1e-6);
}

/* A time without samples counts as one sample. */
FG_TEST(no_sample_is_as_noisy_as_one)
{
	const struct function functions[] = {
		{.name = "one", .library = "prog", .ms = {30, 40}, .samples = 1}};

	begin(functions, 1);
	assert_close(decide()->functions[0].high - 10, QUANTILE_1_19 * 50, 1e-6);
}

FG_TEST(shares_of_a_whole_that_nearly_cancels_are_not_shown)
{
	static const struct function functions[] = {
		{.name = "grown", .library = "prog", .ms = {100, 150}},
		{.name = "shrunk", .library = "prog", .ms = {100, 60}},
		{.name = "wild", .library = "prog", .ms = {50, 45}, .samples = 2},
	};
	const struct fg_blame *blame = NULL;

	/* Without the third function, +10 ms remain of +50 and -40. */
	blame = judge(functions, 2);
	for (size_t i = 0; i < 2; i++)
		assert_true(isnan(blame->functions[i].share_of_change));
	/* The only certain function has at most twice the total, but leaves a larger remainder. */
	begin(
		(const struct function[]){
			{.name = "a", .library = "p", .ms = {100, 119}},
			{.name = "b", .library = "p", .ms = {90, 61}, .samples = 2}},
		2);
	blame = decide();
	assert_int_equal(blame->functions[1].standing, FG_STANDING_NOT_SURE);
	assert_close(blame->total_delta, -10, 1e-9);
	assert_close(blame->everything_else, -29, 1e-9);
	assert_true(isnan(blame->functions[0].share_of_change));
}

FG_TEST(inclusive_time_counts_recursion_once)
{
	static const struct function functions[] = {
		{.name = "walk", .library = "prog", .ms = {100, 150}}};

	begin(functions, 1);
	for (size_t side = 0; side < 2; side++) {
		struct fg_profile_set *set = &c.sets[side];
		const uint32_t below = fg_profile_set_node(set, 1, set->nodes[1].function);
		struct fg_profile_row *row = fg_profile_set_add_row(set, 1);

		row->arm = FG_ARM_CANDIDATE;
		row->nodes[0] = below;
		row->values[0] = 40 * MS;
		row->samples[0] = 1000000000;
		row->total = 40 * MS;
	}
	/* Two repetitions: the first without the inner call, the second with nothing else. */
	assert_close(decide()->functions[0].self[0], 70, 1e-12);
	assert_close(c.verdict.time.functions[0].inclusive[0], 70, 1e-12);
	assert_close(c.verdict.time.functions[0].inclusive[1], 95, 1e-12);
}

FG_TEST(without_its_inputs_no_function_is_judged)
{
	const struct fg_profile_set *nothing[1] = {NULL};
	const struct fg_profile_set *const *sides[2];

	begin(&doubled, 1);
	sides[0] = c.made.input.baseline_profiles;
	sides[1] = c.made.input.profiles;
	assert_int_equal(decide()->function_count, 1);
	c.made.input.baseline_profiles = NULL;
	assert_null(decide()->measure);
	c.made.input.baseline_profiles = nothing;
	assert_null(decide()->measure);
	c.made.input.baseline_profiles = sides[0];
	c.made.input.profiles = NULL;
	assert_null(decide()->measure);
	c.made.input.profiles = nothing;
	assert_null(decide()->measure);
	c.made.input.profiles = sides[1];
	c.made.input.function_history = NULL;
	assert_null(decide()->measure);
	c.made.input.function_history = give_history;
	c.made.policy.functions = FG_FUNCTIONS_OFF;
	assert_null(decide()->measure);
	c.made.policy.functions = FG_FUNCTIONS_EXPLAIN;
	assert_non_null(decide()->measure);
	/* Wall-clock time on one side must not be compared with CPU time. */
	for (size_t side = 0; side < 2; side++) {
		for (size_t i = 0; i < c.sets[side].row_count; i++)
			c.sets[side].rows[i].measure = FG_MEASURE_WALL_TIME;
		assert_int_equal(decide()->measure != NULL, side == 1);
	}
}

FG_TEST(time_without_a_stack_is_one_part_of_the_whole)
{
	begin(&doubled, 1);
	for (size_t side = 0; side < 2; side++) {
		for (size_t i = 0; i < c.sets[side].row_count; i++)
			c.sets[side].rows[i].nodes[0] = 0;
	}
	assert_close(decide()->total_delta, 100, 1e-9);
	assert_int_equal(c.verdict.time.functions_tested, 1);
}

FG_TEST(most_of_many_functions_may_be_gone)
{
	struct function functions[12];

	for (size_t i = 0; i < FG_ARRAY_SIZE(functions); i++) {
		static const char *const names[] = {"a", "b", "c", "d", "e", "f",
						    "g", "h", "i", "j", "k", "l"};

		functions[i] = (struct function){
			.name = names[i], .library = "prog", .ms = {100, i ? -1 : 100}};
	}
	begin(functions, FG_ARRAY_SIZE(functions));
	assert_int_equal(decide()->functions_tested, FG_ARRAY_SIZE(functions));
	assert_int_equal(c.verdict.time.function_count, 11);
}

FG_TEST(without_its_metric_a_change_of_the_whole_is_unknown)
{
	begin(&doubled, 1);
	assert_close(decide()->functions[0].share_of_change, 1, 1e-12);
	c.verdict.metric_count = 0;
	assert_true(isnan(decide()->functions[0].share_of_change));
}

static size_t give_nothing(void *context, const char *benchmark,
			   const struct fg_profile_function *function, double *self_ns, size_t room)
{
	(void)context;
	(void)benchmark;
	(void)function;
	if (room > 0)
		self_ns[0] = 1; /* a value that no session had */
	return 0;
}

FG_TEST(a_function_that_no_session_knows_is_not_judged)
{
	begin(&doubled, 1);
	c.made.input.function_history = give_nothing;
	assert_int_equal(decide()->functions_tested, 1);
	assert_int_equal(c.verdict.time.function_count, 0);
}
