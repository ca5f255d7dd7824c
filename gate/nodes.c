// SPDX-License-Identifier: Apache-2.0
#include "gate/nodes.h"

#include "base/map.h"
#include "base/number.h"
#include "gate/mechanism.h"
#include "gate/node_context.h"
#include "gate/node_family.h"
#include "gate/parts.h"
#include "gate/same_code.h"

#include <math.h>

/*
 * Adds libraries. A library's self time is the sum over its functions, so libraries also add up to
 * the whole.
 */
static void add_libraries(const struct fg_node_context *c, struct fg_blame *blame)
{
	const struct fg_profile_set *set = c->set;
	uint32_t *entity = fg_xcalloc(set->node_count + 1, sizeof(entity[0]));
	struct fg_map names = {0};
	struct fg_pair_matrix matrix;
	struct fg_node_family family;

	for (size_t n = 0; n < set->node_count; n++) {
		const char *library = set->functions[set->nodes[n].function].library;

		entity[n] = (uint32_t)*fg_map_add_text(&names, library ? library : "", names.count,
						       NULL);
	}
	fg_pair_matrix_build(set, &c->pairs, entity, names.count, &matrix);
	fg_node_family_test(c, &family, &matrix, fg_node_samples_min(c), c->seed + 3);
	blame->libraries = fg_arena_array(c->arena, names.count + 1, sizeof(blame->libraries[0]));
	for (size_t i = 0; i < names.count; i++) {
		struct fg_node_verdict node = fg_node_family_verdict(c, &family, i);

		if (node.samples == 0 || !*names.entries[i].key)
			continue;
		node.name = fg_arena_strdup(c->arena, names.entries[i].key);
		node.library = node.name;
		node.inclusive[0] = node.inclusive[1] = (double)NAN;
		blame->libraries[blame->library_count++] = node;
	}
	qsort(blame->libraries, blame->library_count, sizeof(blame->libraries[0]), fg_node_compare);
	fg_node_family_release(&family);
	fg_pair_matrix_release(&matrix);
	fg_map_release(&names);
	free(entity);
}

static void add_regions(const struct fg_node_context *c, struct fg_blame *blame)
{
	struct fg_pair_matrix matrix;
	struct fg_node_family family;

	if (c->set->region_count == 0)
		return;
	fg_pair_matrix_build_regions(c->set, &matrix);
	fg_node_family_test(c, &family, &matrix, FG_PAIRS_TO_TEST, c->seed + 4);
	blame->regions = fg_arena_array(c->arena, matrix.count + 1, sizeof(blame->regions[0]));
	for (size_t i = 0; i < matrix.count; i++) {
		struct fg_node_verdict node = fg_node_family_verdict(c, &family, i);

		node.name = fg_arena_strdup(c->arena, c->set->regions[i]);
		node.inclusive[0] = node.self[0];
		node.inclusive[1] = node.self[1];
		node.self[0] = node.self[1] = (double)NAN;
		blame->regions[blame->region_count++] = node;
	}
	qsort(blame->regions, blame->region_count, sizeof(blame->regions[0]), fg_node_compare);
	fg_node_family_release(&family);
	fg_pair_matrix_release(&matrix);
}

/*
 * Returns the function in unchanged code in which more than half of a function's change is spent,
 * or NULL.
 */
static const struct fg_profile_function *mostly_spent_in(const struct fg_node_context *c,
							 const char *name, double delta)
{
	const struct fg_profile_set *set = c->set;
	double *of_leaf = fg_xcalloc(set->function_count + 1, sizeof(of_leaf[0]));
	uint32_t best = 0;

	for (uint32_t n = 1; n < set->node_count; n++) {
		double change = c->self[1][n] - c->self[0][n];

		if (c->blamed[n] != n &&
		    strcmp(set->functions[set->nodes[c->blamed[n]].function].name, name) == 0)
			of_leaf[set->nodes[n].function] += change;
	}
	for (uint32_t f = 1; f < set->function_count; f++) {
		if (of_leaf[f] / delta > 0.5 &&
		    (best == 0 || of_leaf[f] / delta > of_leaf[best] / delta))
			best = f;
	}
	free(of_leaf);
	return best ? &set->functions[best] : NULL;
}

/*
 * Returns the library of a function that is not in the program's source: of the kernel, its
 * modules, or generated code. Returns "" for other functions.
 */
static const char *library_to_name(const struct fg_profile_function *function)
{
	return function->library && function->library[0] == '[' ? function->library : "";
}

static void note_leaves(const struct fg_node_context *c, struct fg_blame *blame)
{
	for (size_t i = 0; i < blame->function_count; i++) {
		const struct fg_node_verdict *node = &blame->functions[i];
		const struct fg_profile_function *leaf =
			fg_standing_is_sure(node->standing)
				? mostly_spent_in(c, node->name, node->delta)
				: NULL;

		if (leaf)
			fg_notes_add(c->notes, c->arena,
				     "%s: most of its change of %s%.2f ms is in %s%s%s", node->name,
				     fg_format_sign(node->delta), fabs(node->delta), leaf->name,
				     *library_to_name(leaf) ? " " : "", library_to_name(leaf));
	}
}

/* Sure functions come first in the list. */
static bool has_sure_function(const struct fg_blame *blame)
{
	return blame->function_count > 0 && fg_standing_is_sure(blame->functions[0].standing);
}

/* Without the samples of one arm, every function of the other arm would look new or gone. */
static bool is_one_arm_unsampled(const struct fg_node_context *c)
{
	if (!c->escaped)
		return false;
	fg_notes_add(
		c->notes, c->arena,
		"no function is blamed: the sampler saw %.0f %% of the baseline's CPU time and "
		"%.0f %% of the candidate's; the sampler misses a program that is started with "
		"its own LD_PRELOAD or an empty environment, or is static or sanitized",
		100.0 * c->coverage[0], 100.0 * c->coverage[1]);
	return true;
}

/* Tests all rows together. */
static void test_rows(struct fg_node_context *c, struct fg_node_family *family)
{
	fg_node_family_test(c, family, &c->functions, fg_node_samples_min(c), c->seed + 1);
	c->p_up = family->p_up;
	c->p_down = family->p_down;
	c->tested = family->tested;
}

/* Repeats the tests after `blamed` or `row_of` changed. */
static void test_again(struct fg_node_context *c, struct fg_node_family *family)
{
	fg_node_family_release(family);
	fg_node_context_group(c);
	test_rows(c, family);
}

/* Templates of the standard library are instantiated in the program's own file. */
static bool is_template(const struct fg_profile_function *function)
{
	return strncmp(function->name, "std::", 5) == 0 || strstr(function->name, " std::");
}

/* Is the function unchanged, and did its time change significantly or is it a std template? */
static bool is_to_charge(const struct fg_node_context *c, uint32_t function)
{
	const bool is_sure =
		fmin(c->p_up[function], c->p_down[function]) <= c->policy->function_alpha;

	return c->code[function].state == FG_COMPARED_SAME &&
	       (is_sure || is_template(&c->set->functions[function]));
}

/*
 * Charges unchanged functions to their nearest changed caller, which may call them more often,
 * directly or through other functions. Returns false if no function was charged.
 */
static bool charge_callers(struct fg_node_context *c)
{
	const struct fg_profile_set *set = c->set;
	bool any = false;

	if (!c->code || !c->total_changed)
		return false;
	for (uint32_t n = 1; n < set->node_count; n++) {
		uint32_t up = c->blamed[n];

		if (!is_to_charge(c, set->nodes[up].function))
			continue;
		while (up != 0 && c->code[set->nodes[up].function].state != FG_COMPARED_CHANGED)
			up = set->nodes[up].parent;
		any |= up != 0;
		c->blamed[n] = up ? up : c->blamed[n];
	}
	return any;
}

/* Is the node part of the only changed function, or charged to it? */
static bool is_below_changed(const struct fg_node_context *c, uint32_t node)
{
	return fg_profile_set_compiled(c->set, c->blamed[node]) == c->only_changed;
}

/* Returns the row that changed most, among the changed function and everything inlined into it. */
static uint32_t largest_part(const struct fg_node_context *c)
{
	const double sign = c->total < 0.0 ? -1.0 : 1.0;
	uint32_t best = c->row_of[c->only_changed];

	for (uint32_t n = 1; n < c->set->node_count; n++) {
		const uint32_t row = c->row_of[c->set->nodes[n].function];

		if (is_below_changed(c, n) && sign * c->functions.entities[row].delta >
						      sign * c->functions.entities[best].delta)
			best = row;
	}
	return best;
}

/*
 * With few samples, perhaps no function is sure. But if the whole changed significantly, and the
 * machine code of only one hot function changed, that function is to blame: its parts form one row,
 * which needs no test.
 */
static void blame_only_changed(struct fg_node_context *c, struct fg_node_family *family)
{
	const uint32_t best = c->only_changed ? largest_part(c) : 0;
	const double *p = c->total < 0.0 ? c->p_down : c->p_up;
	const struct fg_entity *entity = NULL;

	if (!best || !c->total_changed)
		return;
	/*
	 * The change is already explained if a function certainly changed in its direction.
	 */
	for (size_t f = 1; f < c->functions.count; f++) {
		if (p[f] <= c->policy->function_alpha)
			return;
	}
	for (uint32_t n = 1; n < c->set->node_count; n++) {
		const uint32_t row = c->row_of[c->set->nodes[n].function];

		if (c->blamed[n] != n || row == best || !is_below_changed(c, n))
			continue;
		for (size_t f = 1; f < c->set->function_count; f++)
			c->row_of[f] = c->row_of[f] == row ? best : c->row_of[f];
	}
	test_again(c, family);
	entity = &c->functions.entities[best];
	if (entity->delta * c->total <= 0.0)
		return;
	family->tested[best] = false;
	family->p_up[best] = c->total > 0.0 ? 0.0 : 1.0;
	family->p_down[best] = c->total < 0.0 ? 0.0 : 1.0;
	fg_notes_add(c->notes, c->arena, "%s is the only hot function whose machine code changed",
		     c->set->functions[c->only_changed].name);
}

/* Marks functions whose row is part of the blame. The caller frees the array. */
static bool *mark_parts(const struct fg_node_context *c, const struct fg_blame *blame)
{
	bool *is_part = fg_xcalloc(c->set->function_count + 1, sizeof(is_part[0]));

	for (size_t f = 1; f < c->set->function_count; f++) {
		const struct fg_profile_function *row = &c->set->functions[c->row_of[f]];

		for (size_t i = 0; i < blame->function_count && !is_part[f]; i++) {
			const struct fg_node_verdict *node = &blame->functions[i];

			is_part[f] = node->standing != FG_STANDING_MOVED &&
				     strcmp(node->name, row->name) == 0 &&
				     strcmp(node->library, row->library) == 0;
		}
	}
	return is_part;
}

/* Returns the part of the change that no row names. */
static struct fg_rest find_rest(const struct fg_node_context *c, const struct fg_blame *blame)
{
	const struct fg_profile_set *set = c->set;
	uint32_t *entity = fg_xcalloc(set->node_count + 1, sizeof(entity[0]));
	bool *is_part = mark_parts(c, blame);
	struct fg_pair_matrix matrix;
	struct fg_node_family family;
	struct fg_rest rest;

	for (size_t n = 0; n < set->node_count; n++)
		entity[n] = is_part[set->nodes[c->blamed[n]].function];
	fg_pair_matrix_build(set, &c->pairs, entity, 2, &matrix);
	fg_node_family_test(c, &family, &matrix, fg_node_samples_min(c), c->seed + 5);
	rest = (struct fg_rest){matrix.entities[0].delta, fg_node_family_half(&family, 0)};
	fg_node_family_release(&family);
	fg_pair_matrix_release(&matrix);
	free(is_part);
	free(entity);
	return rest;
}

static void decide_set(struct fg_node_context *c, struct fg_blame *blame)
{
	double *moved = fg_xcalloc(c->set->function_count + 1, sizeof(moved[0]));
	struct fg_node_family family;

	test_rows(c, &family);
	if (charge_callers(c))
		test_again(c, &family);
	fg_moved_join(c, blame, moved);
	if (blame->moved_count > 0)
		test_again(c, &family);
	blame_only_changed(c, &family);
	fg_functions_add(c, &family, moved, blame);
	add_libraries(c, blame);
	if (fg_measure_is_time(c->id))
		add_regions(c, blame);
	blame->total_delta = c->total;
	fg_parts_fit(blame, find_rest(c, blame), c->total_changed);
	blame->is_unexplained = c->total_changed && !has_sure_function(blame);
	if (fg_measure_is_time(c->id))
		note_leaves(c, blame);
	fg_node_family_release(&family);
	free(moved);
}

void fg_nodes_blame(struct fg_node_context *c, const struct fg_series *series,
		    const struct fg_benchmark_verdict *verdict, struct fg_blame *blame)
{
	fg_node_context_init(c, series, verdict);
	*blame = (struct fg_blame){
		.measure = c->measure,
		.label = fg_arena_strdup(c->arena, fg_measure_at(&c->set->measures, c->id)->label),
		.unit = c->unit,
		.exact = c->exact,
		.total_delta = (double)NAN,
		.unattributed = (double)NAN,
		.everything_else = (double)NAN,
	};
	if (c->pairs.count > 0 && !is_one_arm_unsampled(c)) {
		decide_set(c, blame);
		fg_mechanisms_add(c, series, blame);
	}
	fg_node_context_release(c);
}

void fg_nodes_decide(const struct fg_gate_input *input, size_t index,
		     const struct fg_policy *policy, struct fg_arena *arena,
		     struct fg_benchmark_verdict *verdict)
{
	const struct fg_series *series = &input->run->series[index];
	struct fg_node_context context = {
		.set = input->profiles ? input->profiles[index] : NULL,
		.policy = policy,
		.arena = arena,
		.notes = &verdict->notes,
		.seed = input->run->seed,
	};

	/* Two sessions have no common pairs: stored_functions.c compares their functions. */
	if (!context.set || input->baseline || verdict->identical ||
	    policy->functions == FG_FUNCTIONS_OFF)
		return;
	context.id = fg_profile_set_time(context.set);
	fg_nodes_blame(&context, series, verdict, &verdict->time);
	fg_same_code_note(context.set, series, context.total_changed, arena, verdict);
}

void fg_nodes_note_unexplained(struct fg_arena *arena, struct fg_benchmark_verdict *verdict)
{
	if (verdict->time.is_unexplained && verdict->outcome != FG_OUTCOME_PLACEMENT)
		fg_notes_add(
			&verdict->notes, arena,
			"to be sure of a function, use more pairs (`--pairs`) or a higher rate "
			"(`measure.sampler.rate`)");
}
