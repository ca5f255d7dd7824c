// SPDX-License-Identifier: Apache-2.0
/*
 * Conditions of moved cost. Every time is given to the microsecond, so each limit is tried on both
 * of its sides.
 */
#include "base/arena.h"
#include "gate/moved.h"
#include "gate/node_context.h"
#include "tests/unit/statistics/close.h"

enum {
	PAIRS = 8,
	NODES_MAX = 8,
};

#define MS    1e6
#define FLOOR 0.5 /* ms */

/* A call path: its function, below which of the others it lies, and its own time in each arm. */
struct path {
	const char *name;
	int above; /* index in the table, -1: the root */
	double before_ms;
	double after_ms;
	double noise_ms;     /* more in every other pair of the candidate, less in the rest */
	double chance;       /* of its change, where it is not 0.001 */
	const char *library; /* where it is not "app" */
};

static struct {
	struct fg_profile_set set;
	struct fg_arena arena;
	struct fg_policy policy;
	struct fg_node_context context;
	struct fg_blame blame;
	bool moved[NODES_MAX + 1];
	uint32_t nodes[NODES_MAX];
	uint32_t functions[NODES_MAX];
	size_t count;
} made;

static void make_rows(const struct path *paths)
{
	for (uint32_t pair = 0; pair < PAIRS; pair++) {
		for (uint8_t arm = 0; arm < FG_ARM_COUNT; arm++) {
			struct fg_profile_row *row =
				fg_profile_set_add_row(&made.set, (uint32_t)made.count);

			row->pair = pair;
			row->arm = arm;
			for (size_t i = 0; i < made.count; i++) {
				const double noise_ms =
					pair % 2 ? paths[i].noise_ms : -paths[i].noise_ms;

				row->nodes[i] = made.nodes[i];
				row->values[i] = MS * (arm ? paths[i].after_ms + noise_ms
							   : paths[i].before_ms);
				row->samples[i] = 100;
			}
		}
	}
}

/* As fg_node_context_init() would, with nothing left to chance. */
static void make_context(const struct path *paths)
{
	struct fg_node_context *c = &made.context;
	const size_t nodes = made.set.node_count;
	uint32_t *function_of = fg_xcalloc(nodes, sizeof(function_of[0]));

	*c = (struct fg_node_context){.set = &made.set,
				      .policy = &made.policy,
				      .arena = &made.arena,
				      .measure = "cpu_time",
				      .unit = "ms",
				      .exact = c->exact,
				      .floor = FLOOR};
	fg_profile_pairs_find(&made.set, 0, &c->pairs);
	c->blamed = fg_xcalloc(nodes, sizeof(c->blamed[0]));
	for (uint32_t n = 0; n < nodes; n++) {
		c->blamed[n] = n;
		function_of[n] = made.set.nodes[n].function;
	}
	fg_pair_matrix_build(&made.set, &c->pairs, function_of, made.set.function_count,
			     &c->functions);
	free(function_of);
	c->p_up = fg_xcalloc(c->functions.count, sizeof(c->p_up[0]));
	c->p_down = fg_xcalloc(c->functions.count, sizeof(c->p_down[0]));
	c->tested = fg_xcalloc(c->functions.count, sizeof(c->tested[0]));
	for (size_t arm = 0; arm < FG_ARM_COUNT; arm++)
		c->inclusive[arm] = fg_xcalloc(nodes, sizeof(c->inclusive[arm][0]));
	for (size_t i = 0; i < made.count; i++) {
		const uint32_t f = made.functions[i];
		const double chance = paths[i].chance > 0 ? paths[i].chance : 0.001;

		c->tested[f] = true;
		c->p_up[f] = c->functions.entities[f].delta > 0 ? chance : 1;
		c->p_down[f] = c->functions.entities[f].delta < 0 ? chance : 1;
		for (uint32_t n = made.nodes[i];; n = made.set.nodes[n].parent) {
			c->inclusive[0][n] += paths[i].before_ms;
			c->inclusive[1][n] += paths[i].after_ms;
			if (n == 0)
				break;
		}
	}
}

static void find_moved(const struct path *paths, size_t count)
{
	made.count = count;
	fg_profile_set_init(&made.set, "app");
	made.policy.function_alpha = 0.01;
	for (size_t i = 0; i < count; i++) {
		const struct fg_profile_function function = {
			.name = paths[i].name,
			.library = paths[i].library ? paths[i].library : "app"};

		made.functions[i] = fg_profile_set_function(&made.set, &function);
		made.nodes[i] = fg_profile_set_node(
			&made.set, paths[i].above < 0 ? 0 : made.nodes[paths[i].above],
			made.functions[i]);
	}
	make_rows(paths);
	make_context(paths);
	memset(made.moved, 0, sizeof(made.moved));
	made.blame = (struct fg_blame){0};
	fg_moved_find(&made.context, &made.blame, made.moved);
}

static void release(void)
{
	struct fg_node_context *c = &made.context;

	fg_profile_pairs_release(&c->pairs);
	fg_pair_matrix_release(&c->functions);
	free(c->blamed);
	free(c->p_up);
	free(c->p_down);
	free(c->tested);
	free(c->inclusive[0]);
	free(c->inclusive[1]);
	fg_profile_set_release(&made.set);
	fg_arena_release(&made.arena);
}

static bool is_marked(size_t path)
{
	return made.moved[made.functions[path]];
}

#define TREE_MAX 5

/* A tree, and the move that is to be found in it; no kind: there is none. */
struct move_case {
	const char *why;
	struct path paths[TREE_MAX];
	const char *kind;
	const char *from;
	const char *to;
	const char *ancestor;
	double amount_ms;
};

static size_t paths_in(const struct path *paths)
{
	size_t count = 0;

	while (count < TREE_MAX && paths[count].name)
		count++;
	return count;
}

static void check_case(const struct move_case *wanted)
{
	const struct fg_moved *found = NULL;

	find_moved(wanted->paths, paths_in(wanted->paths));
	if (made.blame.moved_count != (wanted->kind ? 1 : 0))
		fail_msg("%s: %zu moved", wanted->why, made.blame.moved_count);
	for (size_t i = 0; i < made.count; i++) {
		const char *name = wanted->paths[i].name;
		const bool takes_part = wanted->kind && (strcmp(name, wanted->from) == 0 ||
							 strcmp(name, wanted->to) == 0);

		if (is_marked(i) != takes_part)
			fail_msg("%s: %s", wanted->why, name);
	}
	if (wanted->kind) {
		found = &made.blame.moved[0];
		if (strcmp(found->kind, wanted->kind) != 0 ||
		    strcmp(found->ancestor, wanted->ancestor) != 0)
			fail_msg("%s: %s below %s", wanted->why, found->kind, found->ancestor);
		assert_string_equal(found->from, wanted->from);
		assert_string_equal(found->to, wanted->to);
		assert_near(found->amount, wanted->amount_ms, 1e-6);
		assert_string_equal(found->unit, "ms");
		assert_string_equal(found->measure, "cpu_time");
	}
	release();
}

static void check_cases(const struct move_case *cases, size_t count)
{
	for (size_t i = 0; i < count; i++)
		check_case(&cases[i]);
}

static void a_move_is_called_by_who_lies_below_whom_and_what_is_left(void **state)
{
	static const struct move_case cases[] = {
		{.why = "a new function below the one that shrank",
		 .paths = {{"main", -1, 9, 9}, {"parse", 0, 30, 18}, {"scan", 1, 0, 12}},
		 .kind = "extracted",
		 .from = "parse",
		 .to = "scan",
		 .ancestor = "parse",
		 .amount_ms = 12},
		{.why = "a function is gone, the one above it grew",
		 .paths = {{"main", -1, 9, 9}, {"parse", 0, 10, 18}, {"tiny", 1, 8, 0}},
		 .kind = "inlined",
		 .from = "tiny",
		 .to = "parse",
		 .ancestor = "parse",
		 .amount_ms = 8},
		{.why = "hardly a twentieth is left, and hardly a twentieth was there",
		 .paths = {{"main", -1, 9, 9}, {"old", 0, 20, 0.99}, {"fresh", 0, 0.99, 20}},
		 .kind = "renamed",
		 .from = "old",
		 .to = "fresh",
		 .ancestor = "main",
		 .amount_ms = 19.01},
		{.why = "more than a twentieth is left",
		 .paths = {{"main", -1, 9, 9}, {"old", 0, 20, 1.01}, {"fresh", 0, 0.9, 20}},
		 .kind = "moved",
		 .from = "old",
		 .to = "fresh",
		 .ancestor = "main",
		 .amount_ms = 19.1},
		{.why = "more than a twentieth was there",
		 .paths = {{"main", -1, 9, 9}, {"old", 0, 20, 0.9}, {"fresh", 0, 1.01, 20}},
		 .kind = "moved",
		 .from = "old",
		 .to = "fresh",
		 .ancestor = "main",
		 .amount_ms = 18.99},
		{.why = "it was there before, below the one that shrank",
		 .paths = {{"main", -1, 9, 9}, {"parse", 0, 30, 18}, {"scan", 1, 5, 17}},
		 .kind = "moved",
		 .from = "parse",
		 .to = "scan",
		 .ancestor = "parse",
		 .amount_ms = 12},
		{.why = "from one branch of the program to another",
		 .paths = {{"main", -1, 9, 9},
			   {"work", 0, 1, 1},
			   {"rest", 0, 1, 1},
			   {"old", 1, 20, 8},
			   {"fresh", 2, 5, 17}},
		 .kind = "moved",
		 .from = "old",
		 .to = "fresh",
		 .ancestor = "main",
		 .amount_ms = 12},
		{.why = "of a function with two callers the larger one counts",
		 .paths = {{"main", -1, 9, 9},
			   {"scan", 0, 0.4, 0.4},
			   {"parse", 0, 30, 18},
			   {"scan", 2, 0, 12}},
		 .kind = "extracted",
		 .from = "parse",
		 .to = "scan",
		 .ancestor = "parse",
		 .amount_ms = 12},
	};

	(void)state;
	check_cases(cases, FG_ARRAY_SIZE(cases));
}

/* Ten milliseconds arrive; so many less remain, with so much noise; another one changes, too. */
static void check_limit(const char *why, double given_ms, double noise_ms, double other_ms,
			bool is_moved)
{
	const struct path paths[] = {{"main", -1, 50, 50},
				     {"parse", 0, 40, 40 - given_ms},
				     {"scan", 1, 5, 15, noise_ms},
				     {"draw", 1, 20, 20 + other_ms, 0, 1}};

	find_moved(paths, FG_ARRAY_SIZE(paths));
	if (made.blame.moved_count != (is_moved ? 1 : 0))
		fail_msg("%s: %zu moved", why, made.blame.moved_count);
	release();
}

static void a_move_may_cost_a_tenth_and_gain_three_tenths(void **state)
{
	(void)state;
	check_limit("the toll", 9.01, 0, 0, true);
	check_limit("more than the toll", 8.95, 0, 0, false);
	check_limit("a gain", 12.98, 0, 0, true);
	check_limit("more than a gain", 13.02, 0, 0, false);
}

/* The mean of eight pairs that differ by ±n has an error of n / sqrt(7). */
static void within_its_noise_a_move_may_cost_three_tenths(void **state)
{
	const double limit_ms = 2 / 2.807 * sqrt(7);

	(void)state;
	check_limit("two, and so much noise", 8, limit_ms + 0.005, 0, true);
	check_limit("two, and less noise", 8, limit_ms - 0.005, 0, false);
	check_limit("three, however much noise", 6.98, 20, 0, false);
	check_limit("less than three, however much noise", 7.02, 20, 0, true);
}

static void below_their_caller_nothing_else_may_have_changed_by_much(void **state)
{
	(void)state;
	check_limit("another is slower", 10, 0, 2.98, true);
	check_limit("another is much slower", 10, 0, 3.02, false);
	check_limit("another is faster", 10, 0, -2.98, true);
	check_limit("another is much faster", 10, 0, -3.02, false);
}

/* Nothing else is called: the first function of all may have moved, too. */
static void a_program_of_two_functions_moves_as_any_other(void **state)
{
	static const struct path paths[] = {{"parse", -1, 30, 18}, {"scan", 0, 0, 12}};

	(void)state;
	find_moved(paths, FG_ARRAY_SIZE(paths));
	assert_int_equal(made.blame.moved_count, 1);
	assert_string_equal(made.blame.moved[0].kind, "extracted");
	assert_string_equal(made.blame.moved[0].ancestor, "parse");
	assert_true(is_marked(0) && is_marked(1));
	release();
}

static void what_changed_elsewhere_does_not_matter(void **state)
{
	static const struct path paths[] = {{"main", -1, 50, 50},
					    {"parse", 0, 40, 30},
					    {"scan", 1, 5, 15},
					    {"draw", 0, 20, 80}};

	(void)state;
	find_moved(paths, FG_ARRAY_SIZE(paths));
	assert_int_equal(made.blame.moved_count, 1);
	assert_string_equal(made.blame.moved[0].to, "scan");
	assert_false(is_marked(0));
	assert_false(is_marked(3));
	release();
}

/* A function called on two paths must have grown where the other one shrank. */
static void most_of_the_growth_lies_where_the_time_was(void **state)
{
	static const double here_ms[] = {7.02, 6.98};

	(void)state;
	for (size_t i = 0; i < FG_ARRAY_SIZE(here_ms); i++) {
		const struct path paths[] = {{"main", -1, 50, 50},
					     {"parse", 0, 40, 40 - here_ms[i]},
					     {"scan", 1, 9, 9 + here_ms[i]},
					     {"rest", 0, 3, 3},
					     {"scan", 3, 2, 12 - here_ms[i]}};

		find_moved(paths, FG_ARRAY_SIZE(paths));
		assert_int_equal(made.blame.moved_count, i == 0);
		release();
	}
}

static void only_sure_changes_of_some_size_move(void **state)
{
	static const struct {
		double chance;
		double amount_ms;
		size_t moved;
	} table[] = {{0.01, 10, 1}, {0.0101, 10, 0}, {0.001, 0.51, 1}, {0.001, 0.49, 0}};

	(void)state;
	for (size_t i = 0; i < FG_ARRAY_SIZE(table); i++) {
		for (size_t unsure = 1; unsure < 3; unsure++) {
			struct path paths[] = {{"main", -1, 50, 50},
					       {"parse", 0, 40, 40 - table[i].amount_ms},
					       {"scan", 1, 5, 5 + table[i].amount_ms}};

			paths[unsure].chance = table[i].chance;
			find_moved(paths, FG_ARRAY_SIZE(paths));
			assert_int_equal(made.blame.moved_count, table[i].moved);
			release();
		}
	}
}

/* Either side alone is below the floor: there is nothing to explain, or nobody who gave. */
static void both_sides_of_a_move_have_to_be_news(void **state)
{
	static const double given_ms[] = {0.6, 0.45};

	(void)state;
	for (size_t i = 0; i < FG_ARRAY_SIZE(given_ms); i++) {
		const struct path paths[] = {{"main", -1, 50, 50},
					     {"parse", 0, 40, 40 - given_ms[i]},
					     {"scan", 1, 5, 6.05 - given_ms[i]}};

		find_moved(paths, FG_ARRAY_SIZE(paths));
		assert_int_equal(made.blame.moved_count, 0);
		release();
	}
}

/* Counts are the same each time: what is not given is not moved, and nothing is paid for it. */
static void of_exact_counts_nothing_may_be_lost(void **state)
{
	(void)state;
	made.context.exact = true;
	check_limit("all of it", 10, 0, 0, true);
	made.context.exact = true;
	check_limit("all but the floor", 9.52, 0, 0, true);
	made.context.exact = true;
	check_limit("all but more than the floor", 9.48, 0, 0, false);
	made.context.exact = false;
}

static void the_largest_of_a_name_is_said_to_have_given(void **state)
{
	static const struct path paths[] = {{"main", -1, 50, 90},  {"f<int>", 0, 4, 0},
					    {"f<long>", 0, 10, 0}, {"f(any)", 0, 0, 14},
					    {"g", 0, 5, 5},        {"h", 0, 20, 0}};

	(void)state;
	find_moved(paths, FG_ARRAY_SIZE(paths));
	assert_int_equal(made.blame.moved_count, 1);
	assert_string_equal(made.blame.moved[0].from, "f<long>");
	assert_string_equal(made.blame.moved[0].to, "f(any)");
	assert_string_equal(made.blame.moved[0].kind, "renamed");
	assert_false(is_marked(0));
	assert_true(is_marked(1) && is_marked(2) && is_marked(3));
	assert_false(is_marked(4));
	release();
}

static void variants_of_a_name_may_cost_a_tenth_more_together(void **state)
{
	static const struct {
		double given_ms;
		double taken_ms;
		size_t moved;
	} rows[] = {{10, 11.1, 1}, {10, 11.2, 0}, {0.9, 0.9, 1}};

	(void)state;
	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		const struct path paths[] = {{"main", -1, 50, 90},
					     {"f<int>", 0, rows[i].given_ms, 0},
					     {"f(any)", 0, 0, rows[i].taken_ms}};

		find_moved(paths, FG_ARRAY_SIZE(paths));
		assert_int_equal(made.blame.moved_count, rows[i].moved);
		release();
	}
}

static void growth_of_one_name_alone_is_no_move(void **state)
{
	static const struct path paths[] = {{"main", -1, 50, 90},
					    {"f<int>", 0, 4, 10},
					    {"f<long>", 0, 10, 16},
					    {"g", 0, 12, 0}};

	(void)state;
	find_moved(paths, FG_ARRAY_SIZE(paths));
	assert_int_equal(made.blame.moved_count, 0);
	release();
}

static void similar_names_and_libraries_move_wherever_they_are_called(void **state)
{
	static const struct move_case cases[] = {
		{.why = "similar names",
		 .paths = {{"main", -1, 50, 90},
			   {"luaD_pretailcall", 0, 14, 0},
			   {"luaD_precall", 0, 9, 23}},
		 .kind = "moved",
		 .from = "luaD_pretailcall",
		 .to = "luaD_precall",
		 .ancestor = "main",
		 .amount_ms = 14},
		{.why = "other names",
		 .paths = {{"main", -1, 50, 90},
			   {"read_file", 0, 14, 0},
			   {"luaD_precall", 0, 9, 23}}},
		{.why = "similar names, and more than moved",
		 .paths = {{"main", -1, 50, 90},
			   {"luaD_pretailcall", 0, 14, 0},
			   {"luaD_precall", 0, 9, 33}}},
	};
	static const struct path relinked[] = {{"main", -1, 50, 90},
					       {"inflate", 0, 14, 0, .library = "libz.so.1"},
					       {"inflate", 0, 0, 14}};

	(void)state;
	check_cases(cases, FG_ARRAY_SIZE(cases));
	find_moved(relinked, FG_ARRAY_SIZE(relinked));
	assert_int_equal(made.blame.moved_count, 1);
	assert_string_equal(made.blame.moved[0].kind, "relinked");
	assert_string_equal(made.blame.moved[0].from_library, "libz.so.1");
	assert_string_equal(made.blame.moved[0].to_library, "app");
	release();
}

static void who_gave_once_gives_no_more(void **state)
{
	static const struct path paths[] = {{"main", -1, 50, 50},
					    {"luaD_pretailcall", 0, 14, 0},
					    {"luaD_precall", 0, 9, 23},
					    {"luaD_precalls", 0, 9, 22.5}};

	(void)state;
	find_moved(paths, FG_ARRAY_SIZE(paths));
	assert_int_equal(made.blame.moved_count, 1);
	assert_string_equal(made.blame.moved[0].to, "luaD_precall");
	assert_false(is_marked(3));
	release();
}

static void without_pairs_nothing_moved(void **state)
{
	(void)state;
	find_moved(NULL, 0);
	assert_int_equal(made.blame.moved_count, 0);
	release();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_move_is_called_by_who_lies_below_whom_and_what_is_left),
		cmocka_unit_test(a_move_may_cost_a_tenth_and_gain_three_tenths),
		cmocka_unit_test(within_its_noise_a_move_may_cost_three_tenths),
		cmocka_unit_test(below_their_caller_nothing_else_may_have_changed_by_much),
		cmocka_unit_test(a_program_of_two_functions_moves_as_any_other),
		cmocka_unit_test(what_changed_elsewhere_does_not_matter),
		cmocka_unit_test(most_of_the_growth_lies_where_the_time_was),
		cmocka_unit_test(only_sure_changes_of_some_size_move),
		cmocka_unit_test(both_sides_of_a_move_have_to_be_news),
		cmocka_unit_test(of_exact_counts_nothing_may_be_lost),
		cmocka_unit_test(the_largest_of_a_name_is_said_to_have_given),
		cmocka_unit_test(variants_of_a_name_may_cost_a_tenth_more_together),
		cmocka_unit_test(growth_of_one_name_alone_is_no_move),
		cmocka_unit_test(similar_names_and_libraries_move_wherever_they_are_called),
		cmocka_unit_test(who_gave_once_gives_no_more),
		cmocka_unit_test(without_pairs_nothing_moved),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
