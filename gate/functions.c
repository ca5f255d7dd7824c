// SPDX-License-Identifier: Apache-2.0
#include "base/map.h"
#include "base/sort.h"
#include "gate/blame.h"
#include "gate/node_family.h"

#include <math.h>

#define NAMED_MAX    50 /* maximum number of functions in a verdict */
#define PATHS_MAX    5  /* maximum number of call paths per function */
#define FRAMES_MAX   512
#define SUSPECTS_MAX 5    /* maximum number of functions listed as not sure */
#define BLAME_SHARE  0.05 /* minimum share of the whole change for a suspect */
#define BLAME_ERRORS 1.3  /* half width of an interval of about 80 %, in standard errors */
#define TOLL_SHARE   0.1  /* share of the moved cost that counts as the cost of moving it */

static void set_function(const struct fg_node_context *c, size_t function,
			 struct fg_node_verdict *node)
{
	const struct fg_profile_function *f = &c->set->functions[function];

	node->name = fg_arena_strdup(c->arena, f->name);
	node->library = fg_arena_strdup(c->arena, f->library);
	node->file = fg_arena_strdup(c->arena, f->file);
	node->line = f->line;
}

/*
 * A function that the verdict may name, and one of its call paths. In both structs the verdict is
 * the first member, for sorting.
 */
struct named_function {
	struct fg_node_verdict verdict;
	size_t function;
};

struct named_path {
	struct fg_path_verdict verdict;
	uint32_t node;
};

FG_ORDER_BY(compare_paths, struct fg_path_verdict, FG_ORDER(fabs(b->delta), fabs(a->delta)))

static void set_frames(const struct fg_node_context *c, uint32_t node, struct fg_path_verdict *path)
{
	const struct fg_profile_set *set = c->set;
	size_t depth = 0;
	size_t at;

	for (uint32_t n = node; n != 0; n = set->nodes[n].parent)
		depth++;
	at = depth;
	path->frames = fg_arena_array(c->arena, depth + 1, sizeof(path->frames[0]));
	for (uint32_t n = node; n != 0; n = set->nodes[n].parent)
		path->frames[--at] =
			fg_arena_strdup(c->arena, set->functions[set->nodes[n].function].name);
	path->frame_count = depth;
	if (depth > FRAMES_MAX) {
		/* The inner end identifies a path better than the outer end. */
		path->frames += depth - FRAMES_MAX;
		path->frame_count = FRAMES_MAX;
	}
}

static bool make_path(const struct fg_node_context *c, const struct fg_node_family *paths,
		      uint32_t node, double direction, struct named_path *path)
{
	const struct fg_entity *entity = &paths->matrix->entities[node];
	double half = fg_node_family_half(paths, node);
	double p = entity->delta > 0.0 ? paths->p_up[node] : paths->p_down[node];

	if (entity->samples == 0 || entity->delta * direction <= 0.0)
		return false;
	*path = (struct named_path){
		.node = node,
		.verdict = {.delta = entity->delta,
			    .low = entity->delta - half,
			    .high = entity->delta + half,
			    .p_adjusted = paths->tested[node] && !c->exact ? p : (double)NAN,
			    .outcome = fg_node_outcome(c, paths, node)},
	};
	return true;
}

/*
 * Adds at most PATHS_MAX call paths that end in this row and changed in its direction, largest
 * first.
 */
static void add_paths(const struct fg_node_context *c, const struct fg_node_family *paths,
		      const uint32_t *path_of, size_t row, struct fg_node_verdict *node)
{
	const struct fg_profile_set *set = c->set;
	struct named_path *found = NULL;
	size_t capacity = 0;
	size_t count = 0;

	for (uint32_t n = 1; n < set->node_count; n++) {
		struct named_path path;

		if (path_of[n] != n || c->row_of[set->nodes[n].function] != row ||
		    !make_path(c, paths, n, node->delta, &path))
			continue;
		FG_APPEND(found, count, capacity) = path;
	}
	if (count > 1)
		qsort(found, count, sizeof(found[0]), compare_paths);
	node->path_count = fg_min_size(count, PATHS_MAX);
	node->paths = fg_arena_array(c->arena, node->path_count + 1, sizeof(node->paths[0]));
	for (size_t i = 0; i < node->path_count; i++) {
		node->paths[i] = found[i].verdict;
		set_frames(c, found[i].node, &node->paths[i]);
	}
	free(found);
}

/*
 * If the whole changed significantly, is this function likely to have caused a part of it? It must
 * have changed in the same direction, by a noticeable share and by more than its usual noise.
 */
static bool is_suspect(const struct fg_node_context *c, const struct fg_node_verdict *node,
		       double error)
{
	double part = fmax(c->floor, BLAME_SHARE * fabs(c->total));

	return c->total_changed && node->delta * c->total > 0.0 && fabs(node->delta) >= part &&
	       fabs(node->delta) >= BLAME_ERRORS * error;
}

/*
 * Sets the standing of the function's change; false if the change is neither moved nor sure nor
 * suspect.
 */
static bool set_standing(const struct fg_node_context *c, size_t function, double error,
			 double moved, struct fg_node_verdict *node)
{
	const double toll = c->exact ? 0.0 : TOLL_SHARE * moved;

	if (moved > 0.0 && (!fg_standing_is_sure(node->standing) || fabs(node->delta) <= toll)) {
		node->outcome = FG_OUTCOME_PASS;
		node->standing = FG_STANDING_MOVED;
		return true;
	}
	if (node->standing == FG_STANDING_GUILTY && c->code &&
	    c->code[function].state == FG_COMPARED_SAME) {
		node->outcome = FG_OUTCOME_PLACEMENT;
		node->standing = FG_STANDING_SAME_CODE;
	}
	if (fg_standing_is_sure(node->standing))
		return true;
	if (!is_suspect(c, node, error))
		return false;
	node->outcome = FG_OUTCOME_INCONCLUSIVE;
	node->standing = FG_STANDING_NOT_SURE;
	return true;
}

static int rank_of(enum fg_standing standing)
{
	return standing == FG_STANDING_SAME_CODE  ? 2
	       : fg_standing_is_sure(standing)    ? 3
	       : standing == FG_STANDING_NOT_SURE ? 1
						  : 0;
}

/* Orders by standing (sure, sure with unchanged code, suspect, moved), then by size. */
FG_ORDER_BY(compare_named, struct named_function,
	    rank_of(b->verdict.standing) - rank_of(a->verdict.standing),
	    fg_node_compare(&a->verdict, &b->verdict))

/*
 * Keeps only the SUSPECTS_MAX largest suspects. Returns the number of functions left, at most
 * NAMED_MAX.
 */
static size_t drop_small_suspects(struct named_function *all, size_t count)
{
	size_t suspects = 0;
	size_t kept = 0;

	for (size_t i = 0; i < count; i++) {
		suspects += all[i].verdict.standing == FG_STANDING_NOT_SURE;
		if (all[i].verdict.standing != FG_STANDING_NOT_SURE || suspects <= SUSPECTS_MAX)
			all[kept++] = all[i];
	}
	return fg_min_size(kept, NAMED_MAX);
}

/*
 * Drops the sure functions if all of them changed against the direction of the whole: they do not
 * explain it. A time that did not change significantly has no direction; a count always has a
 * direction.
 */
static size_t drop_opposed(const struct fg_node_context *c, struct named_function *all,
			   size_t count)
{
	bool is_explained = !c->total_changed && fg_measure_is_time(c->id);
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		is_explained |= fg_standing_is_sure(all[i].verdict.standing) &&
				!(all[i].verdict.delta * c->total < 0.0);
	for (size_t i = 0; i < count; i++) {
		if (is_explained || !fg_standing_is_sure(all[i].verdict.standing))
			all[kept++] = all[i];
	}
	return kept;
}

/*
 * Blames unchanged code if no changed function explains the change: changed code calls it more
 * often, or with different data.
 */
static void settle_same_code(const struct fg_node_context *c, struct named_function *all,
			     size_t count)
{
	bool is_explained = c->only_changed != 0;

	for (size_t i = 0; i < count && c->code; i++)
		is_explained |= all[i].verdict.standing == FG_STANDING_GUILTY &&
				c->code[all[i].function].state != FG_COMPARED_UNKNOWN;
	for (size_t i = 0; i < count && !is_explained; i++) {
		struct fg_node_verdict *node = &all[i].verdict;

		if (node->standing == FG_STANDING_SAME_CODE) {
			node->standing = FG_STANDING_GUILTY;
			node->outcome = FG_OUTCOME_REGRESSION;
		}
	}
}

/* Lists the functions to name, sorted by rank. The caller frees the list. */
static struct named_function *name_functions(const struct fg_node_context *c,
					     const struct fg_node_family *family,
					     const double *moved, size_t *count)
{
	struct named_function *all = fg_xcalloc(family->matrix->count + 1, sizeof(all[0]));
	size_t used = 0;

	for (size_t f = 1; f < family->matrix->count; f++) {
		struct fg_node_verdict node = fg_node_family_verdict(c, family, f);

		if (c->id == FG_MEASURE_INSTRUCTIONS && fg_blame_is_linker(&c->set->functions[f]))
			continue;
		if (!set_standing(c, f, family->matrix->entities[f].error, moved[f], &node))
			continue;
		set_function(c, f, &node);
		all[used].verdict = node;
		all[used++].function = f;
	}
	settle_same_code(c, all, used);
	used = drop_opposed(c, all, used);
	if (used > 1)
		qsort(all, used, sizeof(all[0]), compare_named);
	*count = drop_small_suspects(all, used);
	return all;
}

/* Marks rows that have more than one function. The caller frees the array. */
static bool *find_shared_rows(const struct fg_node_context *c)
{
	bool *is_shared = fg_xcalloc(c->set->function_count + 1, sizeof(is_shared[0]));

	for (size_t f = 0; f < c->set->function_count; f++) {
		if (c->row_of[f] != f)
			is_shared[c->row_of[f]] = true;
	}
	return is_shared;
}

static uint32_t row_at(const struct fg_node_context *c, uint32_t node)
{
	return c->row_of[c->set->nodes[node].function];
}

/*
 * Finds for each node the node that identifies its call path. The caller frees the array. In a row
 * of one function, this is the node that it is charged to. In a row of several functions, a callee
 * is on the path of its caller, and siblings share one path, identified by the function that names
 * the row if it is among the siblings.
 */
static uint32_t *find_paths(const struct fg_node_context *c)
{
	const struct fg_profile_set *set = c->set;
	uint32_t *path_of = fg_xcalloc(set->node_count + 1, sizeof(path_of[0]));
	bool *is_shared = find_shared_rows(c);
	struct fg_map siblings = {0};

	for (int pass = 0; pass < 2; pass++) {
		for (uint32_t n = 1; n < set->node_count; n++) {
			const uint32_t key[2] = {set->nodes[n].parent, row_at(c, n)};
			uint64_t *first = NULL;

			path_of[n] = c->blamed[n] == n ? n : path_of[c->blamed[n]];
			if (path_of[n] != n || !is_shared[key[1]])
				continue;
			if (key[0] != 0 && row_at(c, key[0]) == key[1]) {
				path_of[n] = path_of[key[0]];
				continue;
			}
			first = fg_map_add(&siblings, key, sizeof(key), n, NULL);
			if (pass == 0 && set->nodes[n].function == key[1])
				*first = n;
			path_of[n] = (uint32_t)*first;
		}
	}
	fg_map_release(&siblings);
	free(is_shared);
	return path_of;
}

/* Marks the rows that are named. The caller frees the array. */
static bool *mark_rows(const struct fg_node_context *c, const struct named_function *named,
		       size_t count)
{
	bool *wanted = fg_xcalloc(c->set->function_count + 1, sizeof(wanted[0]));

	for (size_t i = 0; i < count; i++)
		wanted[named[i].function] = true;
	return wanted;
}

static bool is_nested(const struct fg_node_context *c, uint32_t node)
{
	uint32_t up = c->set->nodes[node].parent;

	while (up != 0 && row_at(c, up) != row_at(c, node))
		up = c->set->nodes[up].parent;
	return up != 0;
}

/* Sums the mean inclusive cost per wanted row, counting recursion once. */
static void sum_inclusive(const struct fg_node_context *c, const bool *wanted, double (*sums)[2])
{
	for (uint32_t n = 1; n < c->set->node_count; n++) {
		const uint32_t row = row_at(c, n);

		if (!wanted[row] || is_nested(c, n))
			continue;
		for (int arm = 0; arm < 2; arm++)
			sums[row][arm] += c->inclusive[arm][n];
	}
}

/*
 * Each call path of a named function is tested as a separate entity. Testing only these paths keeps
 * the bound on false flags: a path can be flagged falsely only below a function that was flagged
 * falsely or did change.
 */
static void add_details(const struct fg_node_context *c, const struct named_function *named,
			struct fg_blame *blame)
{
	const struct fg_profile_set *set = c->set;
	bool *wanted = mark_rows(c, named, blame->function_count);
	double(*inclusive)[2] = fg_xcalloc(set->function_count + 1, sizeof(inclusive[0]));
	uint32_t *path_of = find_paths(c);
	uint32_t *entity = fg_xcalloc(set->node_count + 1, sizeof(entity[0]));
	struct fg_pair_matrix matrix;
	struct fg_node_family paths;

	sum_inclusive(c, wanted, inclusive);
	for (uint32_t n = 0; n < set->node_count; n++)
		entity[n] = wanted[row_at(c, c->blamed[n])] ? path_of[n] : FG_NO_ENTITY;
	fg_pair_matrix_build(set, &c->pairs, entity, set->node_count, &matrix);
	fg_node_family_test(c, &paths, &matrix, fg_node_samples_min(c), c->seed + 2);
	for (size_t i = 0; i < blame->function_count; i++) {
		struct fg_node_verdict *node = &blame->functions[i];

		*node = named[i].verdict;
		node->inclusive[0] = inclusive[named[i].function][0];
		node->inclusive[1] = inclusive[named[i].function][1];
		add_paths(c, &paths, path_of, named[i].function, node);
	}
	fg_node_family_release(&paths);
	fg_pair_matrix_release(&matrix);
	free(entity);
	free(path_of);
	free(inclusive);
	free(wanted);
}

void fg_functions_add(const struct fg_node_context *c, const struct fg_node_family *family,
		      const double *moved, struct fg_blame *blame)
{
	struct named_function *named = name_functions(c, family, moved, &blame->function_count);

	blame->functions_tested = family->tested_count;
	blame->functions =
		fg_arena_array(c->arena, blame->function_count + 1, sizeof(blame->functions[0]));
	add_details(c, named, blame);
	free(named);
}
