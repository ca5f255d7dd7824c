// SPDX-License-Identifier: Apache-2.0
#include "gate/functions.h"

#include <math.h>

#define NAMED_MAX    50 /* functions in a verdict */
#define PATHS_MAX    5  /* call paths of a function */
#define FRAMES_MAX   512
#define SUSPECTS_MAX 5    /* functions that are named without being sure */
#define BLAME_SHARE  0.05 /* of the whole change: a smaller part makes no suspect */
#define BLAME_ERRORS 1.3  /* standard errors: about 80 % */

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
 * A function on its way into the verdict, and a call path of it; the verdict comes first, for
 * sorting.
 */
struct named_function {
	struct fg_node_verdict verdict;
	size_t function;
};

struct named_path {
	struct fg_path_verdict verdict;
	uint32_t node;
};

static int compare_paths(const void *left, const void *right)
{
	const struct fg_path_verdict *a = left;
	const struct fg_path_verdict *b = right;
	double by_size = fabs(b->delta) - fabs(a->delta);

	return by_size > 0.0 ? 1 : by_size < 0.0 ? -1 : 0;
}

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
		/* The inner end tells more than the outer. */
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

/* The call paths that end in this function and changed in its own direction, largest first. */
static void add_paths(const struct fg_node_context *c, const struct fg_node_family *paths,
		      size_t function, struct fg_node_verdict *node)
{
	const struct fg_profile_set *set = c->set;
	struct named_path *found = NULL;
	size_t capacity = 0;
	size_t count = 0;

	for (uint32_t n = 1; n < set->node_count; n++) {
		struct named_path path;

		if (c->blamed[n] != n || set->nodes[n].function != function ||
		    !make_path(c, paths, n, node->delta, &path))
			continue;
		found = fg_grow(found, &capacity, count + 1, sizeof(found[0]));
		found[count++] = path;
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
 * Where the whole surely changed, a function that may well carry a part of that: it changed in the
 * same direction, by a noticeable share and by more than its noise usually does.
 */
static bool is_suspect(const struct fg_node_context *c, const struct fg_node_verdict *node,
		       double error)
{
	double part = fmax(c->floor, BLAME_SHARE * fabs(c->total));

	return c->whole_changed && node->delta * c->total > 0.0 && fabs(node->delta) >= part &&
	       fabs(node->delta) >= BLAME_ERRORS * error;
}

/* Fill in what may be said about the function; false: nothing. */
static bool set_standing(const struct fg_node_context *c, struct fg_node_verdict *node,
			 double error, bool moved)
{
	if (moved) {
		node->outcome = FG_OUTCOME_PASS;
		node->standing = FG_STANDING_MOVED;
		return true;
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
	return fg_standing_is_sure(standing) ? 2 : standing == FG_STANDING_NOT_SURE;
}

/* Sure ones first, then suspects, then what moved; each by size. */
static int compare_named(const void *left, const void *right)
{
	const struct named_function *a = left;
	const struct named_function *b = right;
	int by_rank = rank_of(b->verdict.standing) - rank_of(a->verdict.standing);

	return by_rank ? by_rank : fg_node_compare(&a->verdict, &b->verdict);
}

/* Drop all but the largest few suspects; returns how many functions remain. */
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

/* Sorted, to be freed. */
static struct named_function *name_functions(const struct fg_node_context *c,
					     const struct fg_node_family *family, const bool *moved,
					     size_t *count)
{
	struct named_function *all = fg_xcalloc(family->matrix->count + 1, sizeof(all[0]));
	size_t used = 0;

	for (size_t f = 1; f < family->matrix->count; f++) {
		struct fg_node_verdict node =
			fg_node_family_verdict(c, FG_NODE_FUNCTION, family, f);

		if (!set_standing(c, &node, family->matrix->entities[f].error, moved[f]))
			continue;
		set_function(c, f, &node);
		all[used].verdict = node;
		all[used++].function = f;
	}
	if (used > 1)
		qsort(all, used, sizeof(all[0]), compare_named);
	*count = drop_small_suspects(all, used);
	return all;
}

/*
 * Each call path of a named function is an entity of its own.  Testing only those keeps the
 * promise: a path can be flagged falsely only below a function that was, or that did change.
 */
static void pick_paths(const struct fg_node_context *c, const struct named_function *named,
		       size_t count, uint32_t *entity_of_node)
{
	const struct fg_profile_set *set = c->set;
	bool *wanted = fg_xcalloc(set->function_count + 1, sizeof(wanted[0]));

	for (size_t i = 0; i < count; i++)
		wanted[named[i].function] = true;
	for (uint32_t n = 0; n < set->node_count; n++)
		entity_of_node[n] =
			wanted[set->nodes[c->blamed[n]].function] ? c->blamed[n] : FG_NO_ENTITY;
	free(wanted);
}

/* Mean inclusive time per function, recursion counted once. */
static void sum_inclusive(const struct fg_node_context *c, double *of_function[2])
{
	bool *recursive = fg_profile_set_is_recursive(c->set);

	for (int arm = 0; arm < 2; arm++) {
		of_function[arm] =
			fg_xcalloc(c->set->function_count + 1, sizeof(of_function[arm][0]));
		for (size_t n = 0; n < c->set->node_count; n++) {
			if (!recursive[n])
				of_function[arm][c->set->nodes[n].function] += c->inclusive[arm][n];
		}
	}
	free(recursive);
}

void fg_functions_add(const struct fg_node_context *c, const struct fg_node_family *family,
		      const bool *moved, struct fg_blame *blame)
{
	const struct fg_profile_set *set = c->set;
	struct named_function *named = name_functions(c, family, moved, &blame->function_count);
	uint32_t *own = fg_xcalloc(set->node_count + 1, sizeof(own[0]));
	struct fg_pair_matrix matrix;
	struct fg_node_family paths;
	double *inclusive[2];

	sum_inclusive(c, inclusive);
	pick_paths(c, named, blame->function_count, own);
	fg_pair_matrix_build(set, &c->pairs, own, set->node_count, &matrix);
	fg_node_family_test(c, &paths, &matrix, FG_SAMPLES_MIN, c->seed + 2);
	blame->functions_tested = family->tested_count;
	blame->functions =
		fg_arena_array(c->arena, blame->function_count + 1, sizeof(blame->functions[0]));
	for (size_t i = 0; i < blame->function_count; i++) {
		struct fg_node_verdict *node = &blame->functions[i];

		*node = named[i].verdict;
		node->inclusive[0] = inclusive[0][named[i].function];
		node->inclusive[1] = inclusive[1][named[i].function];
		add_paths(c, &paths, named[i].function, node);
	}
	free(inclusive[0]);
	free(inclusive[1]);
	fg_node_family_release(&paths);
	fg_pair_matrix_release(&matrix);
	free(own);
	free(named);
}
