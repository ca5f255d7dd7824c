// SPDX-License-Identifier: Apache-2.0
/*
 * Conditions for moved cost. Times are exact to the microsecond, so each limit is tested on both
 * sides.
 */
#include "base/arena.h"
#include "gate/node_context.h"
#include "tests/unit/statistics/close.h"

enum {
	PAIRS = 8,
	NODES_MAX = 8,
};

#define MS    1e6
#define FLOOR 0.5 /* in ms */

/* A call path: its function, its parent among the paths, and its own time in each arm. */
struct path {
	const char *name;
	int above; /* index of the parent in the table; -1: the root */
	double before_ms;
	double after_ms;
	double noise_ms;     /* added in every other pair of the candidate, else subtracted */
	double chance;       /* p of its change, unless 0.001 */
	const char *library; /* library, unless "app" */
	unsigned line;       /* line, unless its own */
};

static struct {
	struct fg_profile_set set;
	struct fg_arena arena;
	struct fg_policy policy;
	struct fg_node_context context;
	struct fg_blame blame;
	double moved[NODES_MAX + 1];
	uint32_t nodes[NODES_MAX];
	uint32_t functions[NODES_MAX];
	size_t count;
	bool total_changed;
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

/* Like fg_node_context_init(), but without randomness. */
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
				      .total_changed = made.total_changed,
				      .floor = FLOOR};
	fg_profile_pairs_find(&made.set, 0, &c->pairs);
	c->row_of = fg_xcalloc(made.set.function_count, sizeof(c->row_of[0]));
	for (uint32_t f = 0; f < made.set.function_count; f++)
		c->row_of[f] = f;
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

static void release(void)
{
	struct fg_node_context *c = &made.context;

	fg_profile_pairs_release(&c->pairs);
	fg_pair_matrix_release(&c->functions);
	free(c->blamed);
	free(c->row_of);
	free(c->code);
	free(c->p_up);
	free(c->p_down);
	free(c->tested);
	free(c->inclusive[0]);
	free(c->inclusive[1]);
	fg_profile_set_release(&made.set);
	fg_arena_release(&made.arena);
}

static void find_moved(const struct path *paths, size_t count)
{
	release();
	made.count = count;
	fg_profile_set_init(&made.set, "app");
	made.policy.function_alpha = 0.01;
	for (size_t i = 0; i < count; i++) {
		const struct fg_profile_function function = {
			.name = paths[i].name,
			.library = paths[i].library ? paths[i].library : "app",
			.file = "app.c",
			.line = paths[i].line ? paths[i].line : 100 + (unsigned)i};

		made.functions[i] = fg_profile_set_function(&made.set, &function);
		made.nodes[i] = fg_profile_set_node(
			&made.set, paths[i].above < 0 ? 0 : made.nodes[paths[i].above],
			made.functions[i]);
	}
	make_rows(paths);
	make_context(paths);
	memset(made.moved, 0, sizeof(made.moved));
	made.blame = (struct fg_blame){0};
	fg_moved_join(&made.context, &made.blame, made.moved);
}

/* Returns the moved time in the row of a path. */
static double moved_at(size_t path)
{
	return made.moved[made.context.row_of[made.functions[path]]];
}

#define TREE_MAX 5

/* A tree, and the expected move; `kind` is NULL if no move is expected. */
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

static uint32_t row_named(const char *name)
{
	for (size_t i = 0; i < made.count; i++) {
		const uint32_t f = made.functions[i];

		if (strcmp(made.set.functions[f].name, name) == 0)
			return made.context.row_of[f];
	}
	fail_msg("no function %s", name);
	return 0;
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

		if ((moved_at(i) > 0) != takes_part)
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
		assert_near(made.moved[row_named(wanted->to)], wanted->amount_ms, 1e-6);
		assert_int_equal(row_named(wanted->from), row_named(wanted->to));
		assert_string_equal(found->unit, "ms");
		assert_string_equal(found->measure, "cpu_time");
		assert_string_equal(found->from_library,
				    strcmp(wanted->kind, "relinked") == 0 ? "libz.so.1" : "app");
		assert_string_equal(found->to_library, "app");
	}
}

static void check_cases(const struct move_case *cases, size_t count)
{
	for (size_t i = 0; i < count; i++)
		check_case(&cases[i]);
}

FG_TEST(a_move_joins_branches_and_the_larger_of_two_callers)
{
	static const struct move_case cases[] = {
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

	check_cases(cases, FG_ARRAY_SIZE(cases));
}

/*
 * Each change is found with and without an additional slowdown; the rest of the row is the net
 * change.
 */
FG_TEST(a_change_of_shape_is_one_row_whatever_it_costs)
{
	static const struct {
		const char *why;
		struct path paths[TREE_MAX];
		size_t joined; /* number of paths in the row */
		double net_ms;
	} cases[] = {
		{"extracted", {{"main", -1, 9, 9}, {"parse", 0, 30, 18}, {"scan", 1, 0, 12}}, 2, 0},
		{"extracted and slower",
		 {{"main", -1, 9, 9}, {"parse", 0, 30, 18}, {"scan", 1, 0, 20}},
		 2,
		 8},
		{"inlined", {{"main", -1, 9, 9}, {"parse", 0, 30, 42}, {"scan", 1, 12, 0}}, 2, 0},
		{"inlined and slower",
		 {{"main", -1, 9, 9}, {"parse", 0, 30, 50}, {"scan", 1, 12, 0}},
		 2,
		 8},
		{"split in two",
		 {{"main", -1, 9, 9}, {"work", 0, 30, 0}, {"load", 0, 0, 16}, {"save", 0, 0, 14}},
		 3,
		 0},
		{"split in two and slower",
		 {{"main", -1, 9, 9}, {"work", 0, 30, 0}, {"load", 0, 0, 18}, {"save", 0, 0, 17}},
		 3,
		 5},
		{"the loop moved to the caller",
		 {{"main", -1, 9, 9}, {"each", 0, 5, 17}, {"one", 1, 40, 28}},
		 2,
		 0},
		{"the loop moved to the caller and is slower",
		 {{"main", -1, 9, 9}, {"each", 0, 5, 25}, {"one", 1, 40, 28}},
		 2,
		 8},
		{"renamed at its line, and slower",
		 {{"main", -1, 9, 9},
		  {"old", 0, 20, 0, .line = 7},
		  {"call", 0, 2, 2},
		  {"fresh", 2, 0, 26, .line = 7}},
		 2,
		 6},
		{"under two names, and slower",
		 {{"main", -1, 9, 9},
		  {"textidx::lower(std::string_view)", 0, 0, 29.4, .line = 7},
		  {"textidx::lower", 0, 15.8, 0, .line = 7}},
		 2,
		 13.6},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(cases); i++) {
		double net_ms = 0;
		size_t joined = 0;

		find_moved(cases[i].paths, paths_in(cases[i].paths));
		for (size_t k = 0; k < made.count; k++) {
			if (!(moved_at(k) > 0))
				continue;
			joined++;
			net_ms += made.context.functions.entities[made.functions[k]].delta;
		}
		if (joined != cases[i].joined)
			fail_msg("%s: %zu joined", cases[i].why, joined);
		assert_near(net_ms, cases[i].net_ms, 1e-5);
	}
}

FG_TEST(code_that_is_known_to_be_the_same_did_not_move)
{
	static const struct path paths[] = {
		{"main", -1, 9, 9}, {"parse", 0, 30, 18}, {"scan", 1, 5, 20}};

	for (size_t same = 0; same < 3; same++) {
		static const uint32_t nobody = 0;
		struct fg_code_fact facts[NODES_MAX] = {{0}};

		find_moved(paths, FG_ARRAY_SIZE(paths));
		facts[same ? made.functions[same] : nobody].state = FG_COMPARED_SAME;
		made.context.code = fg_xcalloc(NODES_MAX, sizeof(facts[0]));
		memcpy(made.context.code, facts, sizeof(facts));
		for (uint32_t f = 0; f < made.set.function_count; f++)
			made.context.row_of[f] = f;
		fg_moved_join(&made.context, &made.blame, made.moved);
		assert_int_equal(made.blame.moved_count > 1, same == 0);
		assert_int_equal(row_named("parse") == row_named("scan"), same == 0);
	}
}

/* Unrelated functions that cancel out are a move only if nothing else changed. */
FG_TEST(unrelated_functions_stay_apart_despite_other_changes)
{
	static const struct path paths[] = {{"main", -1, 9, 9},
					    {"work", 0, 1, 1},
					    {"rest", 0, 1, 1},
					    {"old", 1, 20, 8},
					    {"fresh", 2, 5, 17}};

	made.total_changed = true;
	find_moved(paths, FG_ARRAY_SIZE(paths));
	assert_int_equal(made.blame.moved_count, 0);
	made.total_changed = false;
}

FG_TEST(only_sure_changes_of_some_size_move)
{
	static const struct {
		double chance;
		double amount_ms;
		size_t moved;
	} table[] = {{0.01, 10, 1}, {0.0101, 10, 0}, {0.001, 0.51, 1}, {0.001, 0.49, 0}};

	for (size_t i = 0; i < FG_ARRAY_SIZE(table); i++) {
		for (size_t unsure = 1; unsure < 3; unsure++) {
			struct path paths[] = {{"main", -1, 50, 50},
					       {"parse", 0, 40, 40 - table[i].amount_ms},
					       {"scan", 1, 5, 5 + table[i].amount_ms}};

			paths[unsure].chance = table[i].chance;
			find_moved(paths, FG_ARRAY_SIZE(paths));
			assert_int_equal(made.blame.moved_count, table[i].moved);
		}
	}
}

FG_TEST(growth_of_one_name_alone_is_not_a_move)
{
	static const struct path paths[] = {
		{"main", -1, 50, 50}, {"f<int>", 0, 4, 10}, {"f<long>", 0, 10, 16}};

	find_moved(paths, FG_ARRAY_SIZE(paths));
	assert_int_equal(made.blame.moved_count, 0);
}

FG_TEST(similar_names_and_libraries_move_wherever_they_are_called)
{
	static const struct move_case cases[] = {
		{.why = "similar names",
		 .paths = {{"main", -1, 50, 50},
			   {"call", 0, 5, 5},
			   {"luaD_pretailcall", 0, 14, 0},
			   {"luaD_precall", 1, 9, 23}},
		 .kind = "moved",
		 .from = "luaD_pretailcall",
		 .to = "luaD_precall",
		 .ancestor = "main",
		 .amount_ms = 14},
		{.why = "variants of one name",
		 .paths = {{"main", -1, 50, 50},
			   {"call", 0, 5, 5},
			   {"f<int>", 0, 14, 0},
			   {"f(int)", 1, 9, 23}},
		 .kind = "moved",
		 .from = "f<int>",
		 .to = "f(int)",
		 .ancestor = "main",
		 .amount_ms = 14},
		{.why = "one name from another library",
		 .paths = {{"main", -1, 50, 50},
			   {"inflate", 0, 14, 0, .library = "libz.so.1"},
			   {"inflate", 0, 0, 14}},
		 .kind = "relinked",
		 .from = "inflate",
		 .to = "inflate",
		 .ancestor = "main",
		 .amount_ms = 14},
	};

	made.total_changed = true;
	check_cases(cases, FG_ARRAY_SIZE(cases));
	made.total_changed = false;
}

FG_TEST(a_function_gives_no_more_than_it_lost)
{
	static const struct path paths[] = {{"main", -1, 50, 50},
					    {"luaD_pretailcall", 0, 14, 0},
					    {"luaD_precall", 0, 9, 23},
					    {"luaD_precalls", 0, 9, 22.5}};

	find_moved(paths, FG_ARRAY_SIZE(paths));
	assert_int_equal(made.blame.moved_count, 1);
	assert_string_equal(made.blame.moved[0].to, "luaD_precall");
	assert_false(moved_at(3) > 0);
}

FG_TEST(without_pairs_nothing_moved)
{
	find_moved(NULL, 0);
	assert_int_equal(made.blame.moved_count, 0);
}
