// SPDX-License-Identifier: Apache-2.0
/*
 * The measured difference of a node in one pair is small against its noise, but there are many
 * pairs, and a node's noise is its own: a slowdown of 10 % in a function with a tenth of the time
 * is 1 % of the whole, drowned in the whole's noise, and plain to see in the function's samples.
 *
 * Every entity (function, library, region, call path) has one difference per pair, in milliseconds,
 * 0 where it did not occur.  The sign-flip permutation test of stats/signflip.h judges all entities
 * of a family together.  Tested are those with SAMPLES_MIN samples in both arms together: a filter
 * that knows nothing of the difference's sign, so it does not bias the null.  Half of the error
 * allowance is shared out evenly, half by size: a function with a tenth of the time gets a
 * twentieth of it, not one of several hundred equal parts.  Sizes are those of both arms together,
 * so this does not bias the null either, and it hardly costs the small ones anything.  A change
 * smaller than the floor, a share of the program's time, is no news whatever its p.
 *
 * Blame.  Means are used here, not trimmed means: the mean of a sum is the sum of the means, so the
 * parts add up to the whole.  What the functions named do not explain is said to be unattributed:
 * functions too small to name, and CPU time in which no sample was taken.
 */
#include "gate/nodes.h"

#include "base/map.h"
#include "gate/pairs.h"
#include "stats/distributions.h"

#include <math.h>

#define SAMPLES_MIN   50
#define NAMED_MAX     50 /* functions in a verdict */
#define PATHS_MAX     5  /* call paths of a function */
#define FRAMES_MAX    512
#define PAIRS_TO_TEST 6 /* below, no sign pattern is rare enough */
#define PATTERNS      600
#define BLAME_SHARE   0.05 /* of the whole change: less is not named unless it is sure */
#define BLAME_ERRORS  1.3  /* standard errors: about 80 % */

/* One family of entities tested together. */
struct family {
	const struct fg_pair_matrix *matrix;
	double quantile; /* of t, for the intervals; NaN: too few pairs */
	bool *tested;
	double *p_up;
	double *p_down;
	size_t tested_count;
};

static void family_release(struct family *family)
{
	free(family->tested);
	free(family->p_up);
	free(family->p_down);
	*family = (struct family){0};
}

/* The rows of the tested entities, packed: the permutation test knows nothing of the others. */
static void pack_rows(const struct family *family, size_t *start, uint32_t *columns, float *values)
{
	const struct fg_pair_matrix *m = family->matrix;
	size_t row = 0;
	size_t used = 0;

	for (size_t i = 0; i < m->count; i++) {
		size_t length = m->start[i + 1] - m->start[i];

		if (!family->tested[i])
			continue;
		memcpy(columns + used, m->columns + m->start[i], length * sizeof(columns[0]));
		memcpy(values + used, m->values + m->start[i], length * sizeof(values[0]));
		used += length;
		start[++row] = used;
	}
}

/* Tests at a larger share of alpha than an even one reach it with a smaller statistic. */
static void set_handicaps(const struct family *family, double alpha, float *handicap)
{
	const struct fg_pair_matrix *m = family->matrix;
	double even = 1.0 / (double)family->tested_count;
	double sum = 0.0;
	size_t row = 0;

	for (size_t i = 0; i < m->count; i++) {
		if (family->tested[i])
			sum += m->entities[i].baseline_ms + m->entities[i].candidate_ms;
	}
	for (size_t i = 0; i < m->count; i++) {
		double size = m->entities[i].baseline_ms + m->entities[i].candidate_ms;
		double share = 0.5 * even + 0.5 * (sum > 0.0 ? size / sum : even);

		if (family->tested[i])
			handicap[row++] = (float)(fg_normal_quantile(alpha * even) -
						  fg_normal_quantile(alpha * share));
	}
}

static void run_permutations(struct family *family, double alpha, uint64_t seed)
{
	const struct fg_pair_matrix *m = family->matrix;
	size_t cells = m->start[m->count];
	size_t *start = fg_xcalloc(family->tested_count + 1, sizeof(start[0]));
	uint32_t *columns = fg_xcalloc(cells + 1, sizeof(columns[0]));
	float *values = fg_xcalloc(cells + 1, sizeof(values[0]));
	float *handicap = fg_xcalloc(family->tested_count + 1, sizeof(handicap[0]));
	double *p = fg_xcalloc(2 * family->tested_count + 1, sizeof(p[0]));
	struct fg_sparse_rows rows = {.row_count = family->tested_count,
				      .column_count = m->pair_count,
				      .start = start,
				      .columns = columns,
				      .values = values,
				      .handicap = handicap};
	struct fg_signflip_options options = {.patterns = PATTERNS, .seed = seed};
	size_t row = 0;

	pack_rows(family, start, columns, values);
	set_handicaps(family, alpha, handicap);
	/* Sizes and values were checked on the way here; a refusal would mean "no evidence". */
	if (fg_signflip_max_t(&rows, &options, p, p + family->tested_count, NULL) == FG_OK) {
		for (size_t i = 0; i < m->count; i++) {
			if (!family->tested[i])
				continue;
			family->p_up[i] = p[row];
			family->p_down[i] = p[family->tested_count + row];
			row++;
		}
	}
	free(start);
	free(columns);
	free(values);
	free(handicap);
	free(p);
}

static void family_test(const struct fg_node_context *c, struct family *family,
			const struct fg_pair_matrix *matrix, uint64_t samples_min, uint64_t seed)
{
	*family = (struct family){.matrix = matrix};
	family->quantile =
		-fg_t_quantile(0.5 * c->policy->function_alpha, (double)matrix->pair_count - 1.0);
	family->tested = fg_xcalloc(matrix->count + 1, sizeof(family->tested[0]));
	family->p_up = fg_xcalloc(matrix->count + 1, sizeof(family->p_up[0]));
	family->p_down = fg_xcalloc(matrix->count + 1, sizeof(family->p_down[0]));
	for (size_t i = 0; i < matrix->count; i++) {
		family->p_up[i] = family->p_down[i] = 1.0;
		family->tested[i] = matrix->entities[i].samples >= samples_min &&
				    matrix->pair_count >= PAIRS_TO_TEST &&
				    matrix->pair_count <= FG_SIGNFLIP_COLUMNS_MAX;
		family->tested_count += family->tested[i];
	}
	if (family->tested_count > 0)
		run_permutations(family, c->policy->function_alpha, seed);
}

static enum fg_outcome outcome_of(const struct fg_node_context *c, const struct fg_entity *entity,
				  double p_up, double p_down)
{
	if (p_up <= c->policy->function_alpha && entity->delta_ms >= c->floor_ms)
		return FG_OUTCOME_REGRESSION;
	if (p_down <= c->policy->function_alpha && entity->delta_ms <= -c->floor_ms)
		return FG_OUTCOME_IMPROVEMENT;
	return FG_OUTCOME_PASS;
}

static struct fg_node_verdict make_node(const struct fg_node_context *c, enum fg_node_kind kind,
					const struct family *family, size_t at)
{
	const struct fg_entity *entity = &family->matrix->entities[at];
	double half = family->quantile * entity->error_ms;
	double p = entity->delta_ms > 0.0 ? family->p_up[at] : family->p_down[at];

	return (struct fg_node_verdict){
		.kind = kind,
		.outcome = outcome_of(c, entity, family->p_up[at], family->p_down[at]),
		.self_ms = {entity->baseline_ms, entity->candidate_ms},
		.delta_ms = entity->delta_ms,
		.low_ms = entity->delta_ms - half,
		.high_ms = entity->delta_ms + half,
		.share_of_change = (double)NAN,
		.p_adjusted = family->tested[at] ? p : (double)NAN,
		.samples = entity->samples,
	};
}

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

/* By size of the change, then by name, so that equal data give equal reports. */
static int compare_nodes(const void *left, const void *right)
{
	const struct fg_node_verdict *a = left;
	const struct fg_node_verdict *b = right;
	double by_size = fabs(b->delta_ms) - fabs(a->delta_ms);

	if (fabs(by_size) > 0.0)
		return by_size > 0.0 ? 1 : -1;
	return strcmp(a->name, b->name);
}

static int compare_paths(const void *left, const void *right)
{
	const struct fg_path_verdict *a = left;
	const struct fg_path_verdict *b = right;
	double by_size = fabs(b->delta_ms) - fabs(a->delta_ms);

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

static bool make_path(const struct fg_node_context *c, const struct family *paths, uint32_t node,
		      double direction, struct named_path *path)
{
	const struct fg_entity *entity = &paths->matrix->entities[node];
	double half = paths->quantile * entity->error_ms;
	double p = entity->delta_ms > 0.0 ? paths->p_up[node] : paths->p_down[node];

	if (entity->samples == 0 || entity->delta_ms * direction <= 0.0)
		return false;
	*path = (struct named_path){
		.node = node,
		.verdict = {.delta_ms = entity->delta_ms,
			    .low_ms = entity->delta_ms - half,
			    .high_ms = entity->delta_ms + half,
			    .p_adjusted = paths->tested[node] ? p : (double)NAN,
			    .outcome =
				    outcome_of(c, entity, paths->p_up[node], paths->p_down[node])},
	};
	return true;
}

/* The call paths that end in this function and changed in its own direction, largest first. */
static void add_paths(const struct fg_node_context *c, const struct family *paths, size_t function,
		      struct fg_node_verdict *node)
{
	const struct fg_profile_set *set = c->set;
	struct named_path *found = NULL;
	size_t capacity = 0;
	size_t count = 0;

	for (uint32_t n = 1; n < set->node_count; n++) {
		struct named_path path;

		if (c->blamed[n] != n || set->nodes[n].function != function ||
		    !make_path(c, paths, n, node->delta_ms, &path))
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
 * Worth a word: a change that is sure; and where the whole surely changed, whatever makes a
 * noticeable part of it and is not plain noise, so that the whole is explained.
 */
static bool is_worth_a_word(const struct fg_node_context *c, const struct fg_node_verdict *node,
			    double error_ms)
{
	double part = fmax(c->floor_ms, BLAME_SHARE * fabs(c->total_ms));

	return node->outcome != FG_OUTCOME_PASS ||
	       (c->whole_changed && fabs(node->delta_ms) >= part &&
		fabs(node->delta_ms) >= BLAME_ERRORS * error_ms);
}

/* Sorted, to be freed. */
static struct named_function *name_functions(const struct fg_node_context *c,
					     const struct family *family, const bool *moved,
					     size_t *count)
{
	struct named_function *all = fg_xcalloc(family->matrix->count + 1, sizeof(all[0]));
	size_t used = 0;

	for (size_t f = 1; f < family->matrix->count; f++) {
		struct fg_node_verdict node = make_node(c, FG_NODE_FUNCTION, family, f);

		if (!is_worth_a_word(c, &node, family->matrix->entities[f].error_ms))
			continue;
		if (moved[f])
			node.outcome = FG_OUTCOME_PASS;
		set_function(c, f, &node);
		all[used].verdict = node;
		all[used++].function = f;
	}
	if (used > 1)
		qsort(all, used, sizeof(all[0]), compare_nodes);
	*count = fg_min_size(used, NAMED_MAX);
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

static void add_functions(const struct fg_node_context *c, const struct family *family,
			  double *const inclusive[2], const bool *moved,
			  struct fg_benchmark_verdict *verdict)
{
	const struct fg_profile_set *set = c->set;
	struct named_function *named = name_functions(c, family, moved, &verdict->function_count);
	uint32_t *own = fg_xcalloc(set->node_count + 1, sizeof(own[0]));
	struct fg_pair_matrix matrix;
	struct family paths;

	pick_paths(c, named, verdict->function_count, own);
	fg_pair_matrix_build(set, &c->pairs, own, set->node_count, &matrix);
	family_test(c, &paths, &matrix, SAMPLES_MIN, c->seed + 2);
	verdict->functions_tested = family->tested_count;
	verdict->functions = fg_arena_array(c->arena, verdict->function_count + 1,
					    sizeof(verdict->functions[0]));
	for (size_t i = 0; i < verdict->function_count; i++) {
		struct fg_node_verdict *node = &verdict->functions[i];

		*node = named[i].verdict;
		node->inclusive_ms[0] = inclusive[0][named[i].function];
		node->inclusive_ms[1] = inclusive[1][named[i].function];
		add_paths(c, &paths, named[i].function, node);
	}
	family_release(&paths);
	fg_pair_matrix_release(&matrix);
	free(own);
	free(named);
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
				of_function[arm][c->set->nodes[n].function] +=
					c->inclusive_ms[arm][n];
		}
	}
	free(recursive);
}

/*
 * Libraries: the self time of all their functions, so that they add up to the whole as functions
 * do.
 */
static void add_libraries(const struct fg_node_context *c, struct fg_benchmark_verdict *verdict)
{
	const struct fg_profile_set *set = c->set;
	uint32_t *entity = fg_xcalloc(set->node_count + 1, sizeof(entity[0]));
	struct fg_map names = {0};
	struct fg_pair_matrix matrix;
	struct family family;

	for (size_t n = 0; n < set->node_count; n++) {
		const char *library = set->functions[set->nodes[n].function].library;

		entity[n] = (uint32_t)*fg_map_add_text(&names, library ? library : "", names.count,
						       NULL);
	}
	fg_pair_matrix_build(set, &c->pairs, entity, names.count, &matrix);
	family_test(c, &family, &matrix, SAMPLES_MIN, c->seed + 3);
	verdict->libraries =
		fg_arena_array(c->arena, names.count + 1, sizeof(verdict->libraries[0]));
	for (size_t i = 0; i < names.count; i++) {
		struct fg_node_verdict node = make_node(c, FG_NODE_LIBRARY, &family, i);

		if (node.samples == 0 || !*names.entries[i].key)
			continue;
		node.name = fg_arena_strdup(c->arena, names.entries[i].key);
		node.library = node.name;
		node.inclusive_ms[0] = node.inclusive_ms[1] = (double)NAN;
		verdict->libraries[verdict->library_count++] = node;
	}
	qsort(verdict->libraries, verdict->library_count, sizeof(verdict->libraries[0]),
	      compare_nodes);
	family_release(&family);
	fg_pair_matrix_release(&matrix);
	fg_map_release(&names);
	free(entity);
}

static void add_regions(const struct fg_node_context *c, struct fg_benchmark_verdict *verdict)
{
	struct fg_pair_matrix matrix;
	struct family family;

	if (c->set->region_count == 0)
		return;
	fg_pair_matrix_build_regions(c->set, &matrix);
	family_test(c, &family, &matrix, PAIRS_TO_TEST, c->seed + 4);
	verdict->regions = fg_arena_array(c->arena, matrix.count + 1, sizeof(verdict->regions[0]));
	for (size_t i = 0; i < matrix.count; i++) {
		struct fg_node_verdict node = make_node(c, FG_NODE_REGION, &family, i);

		node.name = fg_arena_strdup(c->arena, c->set->regions[i]);
		node.inclusive_ms[0] = node.self_ms[0];
		node.inclusive_ms[1] = node.self_ms[1];
		node.self_ms[0] = node.self_ms[1] = (double)NAN;
		verdict->regions[verdict->region_count++] = node;
	}
	qsort(verdict->regions, verdict->region_count, sizeof(verdict->regions[0]), compare_nodes);
	family_release(&family);
	fg_pair_matrix_release(&matrix);
}

/*
 * The whole, as the kernel measured it, over the pairs that count; the sampled whole where that is
 * not known.
 */
static double total_delta_ms(const struct fg_series *series, const struct fg_node_context *c)
{
	struct fg_pairs pairs;
	double sum = 0.0;
	double result;

	fg_pairs_collect(series, FG_METRIC_CPU_TIME, &pairs);
	for (size_t i = 0; i < pairs.count; i++)
		sum += (pairs.candidate[i] - pairs.baseline[i]) / 1e6;
	result = pairs.count > 0 ? sum / (double)pairs.count
				 : c->inclusive_ms[1][0] - c->inclusive_ms[0][0];
	fg_pairs_release(&pairs);
	return result;
}

/*
 * The leaf in unchanged code that most of a function's change is spent in; NULL: it is spent in its
 * own code.
 */
static const char *mostly_spent_in(const struct fg_node_context *c, const char *name,
				   double delta_ms)
{
	const struct fg_profile_set *set = c->set;
	double *of_leaf = fg_xcalloc(set->function_count + 1, sizeof(of_leaf[0]));
	uint32_t best = 0;

	for (uint32_t n = 1; n < set->node_count; n++) {
		double change = c->self_ms[1][n] - c->self_ms[0][n];

		if (c->blamed[n] != n &&
		    strcmp(set->functions[set->nodes[c->blamed[n]].function].name, name) == 0)
			of_leaf[set->nodes[n].function] += change;
	}
	for (uint32_t f = 1; f < set->function_count; f++) {
		if (of_leaf[f] / delta_ms > 0.5 &&
		    (best == 0 || of_leaf[f] / delta_ms > of_leaf[best] / delta_ms))
			best = f;
	}
	free(of_leaf);
	return best ? set->functions[best].name : NULL;
}

static void note_leaves(const struct fg_node_context *c, struct fg_benchmark_verdict *verdict)
{
	for (size_t i = 0; i < verdict->function_count; i++) {
		const struct fg_node_verdict *node = &verdict->functions[i];
		const char *leaf = mostly_spent_in(c, node->name, node->delta_ms);

		if (leaf)
			fg_notes_add(&verdict->notes, c->arena,
				     "%s: most of its %+.2f ms is spent in %s", node->name,
				     node->delta_ms, leaf);
	}
}

static bool has_whole_changed(const struct fg_benchmark_verdict *verdict)
{
	for (size_t i = 0; i < verdict->metric_count; i++) {
		const struct fg_metric_verdict *metric = &verdict->metrics[i];

		if (strcmp(metric->name, fg_metric_builtin(FG_METRIC_CPU_TIME)->name) == 0)
			return metric->low > 1.0 || metric->high < 1.0;
	}
	return false;
}

static void share_blame(const struct fg_node_context *c, struct fg_benchmark_verdict *verdict)
{
	double named = 0.0;
	double all = 0.0;

	verdict->total_delta_ms = c->total_ms;
	for (size_t i = 0; i < verdict->function_count; i++) {
		named += verdict->functions[i].delta_ms;
		if (c->whole_changed)
			verdict->functions[i].share_of_change =
				verdict->functions[i].delta_ms / verdict->total_delta_ms;
	}
	for (size_t f = 1; f < c->functions.count; f++)
		all += c->functions.entities[f].delta_ms;
	verdict->unattributed_ms = verdict->total_delta_ms - named;
	if (verdict->function_count > 0 && fabs(all - named) >= c->floor_ms)
		fg_notes_add(
			&verdict->notes, c->arena,
			"functions not named here add %+.2f ms: each alone too small or too unsure",
			all - named);
}

static void context_init(struct fg_node_context *c, const struct fg_series *series)
{
	const struct fg_profile_set *set = c->set;
	const uint16_t time = fg_profile_set_time(set);
	uint32_t *entity = fg_xcalloc(set->node_count + 1, sizeof(entity[0]));

	c->blamed = fg_blame_nodes(set, series);
	fg_profile_pairs_find(set, time, &c->pairs);
	for (size_t n = 0; n < set->node_count; n++)
		entity[n] = set->nodes[c->blamed[n]].function;
	fg_pair_matrix_build(set, &c->pairs, entity, set->function_count, &c->functions);
	free(entity);
	for (uint8_t arm = 0; arm < 2; arm++) {
		c->self_ms[arm] = fg_xcalloc(set->node_count + 1, sizeof(c->self_ms[arm][0]));
		c->inclusive_ms[arm] = fg_xcalloc(set->node_count + 1, sizeof(c->self_ms[arm][0]));
		(void)fg_profile_set_mean(set, time, arm, c->self_ms[arm], c->inclusive_ms[arm]);
		for (size_t n = 0; n < set->node_count; n++) {
			c->self_ms[arm][n] /= 1e6;
			c->inclusive_ms[arm][n] /= 1e6;
		}
	}
	c->floor_ms = c->policy->function_floor * c->inclusive_ms[0][0];
}

static void context_release(struct fg_node_context *c)
{
	fg_profile_pairs_release(&c->pairs);
	fg_pair_matrix_release(&c->functions);
	free(c->blamed);
	for (int arm = 0; arm < 2; arm++) {
		free(c->self_ms[arm]);
		free(c->inclusive_ms[arm]);
	}
}

static void decide_set(struct fg_node_context *c, struct fg_benchmark_verdict *verdict)
{
	bool *moved = fg_xcalloc(c->set->function_count + 1, sizeof(moved[0]));
	double *inclusive[2];
	struct family family;

	sum_inclusive(c, inclusive);
	family_test(c, &family, &c->functions, SAMPLES_MIN, c->seed + 1);
	c->p_up = family.p_up;
	c->p_down = family.p_down;
	c->tested = family.tested;
	fg_moved_find(c, verdict, moved);
	add_functions(c, &family, inclusive, moved, verdict);
	add_libraries(c, verdict);
	add_regions(c, verdict);
	share_blame(c, verdict);
	note_leaves(c, verdict);
	family_release(&family);
	free(inclusive[0]);
	free(inclusive[1]);
	free(moved);
}

void fg_nodes_decide(const struct fg_gate_input *input, size_t index, struct fg_arena *arena,
		     struct fg_benchmark_verdict *verdict)
{
	const struct fg_series *series = &input->run->series[index];
	const struct fg_benchmark *benchmark =
		input->plan ? fg_plan_find(input->plan, series->name) : NULL;
	struct fg_node_context context = {
		.set = input->profiles ? input->profiles[index] : NULL,
		.policy = benchmark ? &benchmark->policy : input->policy,
		.arena = arena,
		.seed = input->run->seed,
	};

	/*
	 * Across sessions there are no pairs, and without pairs no statement about a function can
	 * be made.
	 */
	if (!context.set || input->baseline || verdict->identical ||
	    context.policy->functions == FG_FUNCTIONS_OFF)
		return;
	context_init(&context, series);
	context.whole_changed = has_whole_changed(verdict);
	context.total_ms = total_delta_ms(series, &context);
	if (context.pairs.count > 0)
		decide_set(&context, verdict);
	context_release(&context);
}
