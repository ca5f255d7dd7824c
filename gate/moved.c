// SPDX-License-Identifier: Apache-2.0
/*
 * Moved, not slower.  A refactoring takes cost from one function and gives it to another: a piece
 * is extracted, a function is renamed, or the compiler inlines one into its caller.  Each of them
 * "got slower" or "got faster" by itself, and a gate that tests functions would fail on every
 * clean-up.
 *
 * A function that grew has moved cost when there is a caller above it, the lowest common ancestor
 * of giver and taker, whose inclusive time did not change, or by little beside the move, and below
 * that caller another function shrank by as much.  "Did not change" and "by as much" are judged on
 * the differences of the pairs: the mean of (taker + giver) lies within its own noise around zero
 * and is small against what moved.  Up to a tenth of what moved is the price of moving, sure or
 * not: a call that was not there before, an inlining that is no more.
 *
 * Example: main 100 ms → parse 30 ms (self).  The next version has parse 18 ms → scan 12 ms.  scan
 * grew by 12, parse shrank by 12; the inclusive time of parse, the lowest common ancestor, is still
 * 30 ms: 12 ms moved, "extracted".
 */
#include "gate/moved.h"

#include "stats/distributions.h"

#include <math.h>

#define CANDIDATES_MAX 50    /* functions looked at on either side */
#define SAME_SHARE     0.3   /* the sum may differ from zero by this share of what moved */
#define TOLL_SHARE     0.1   /* of what moved: the price of moving it */
#define GONE_SHARE     0.05  /* less than this share of its former time: gone */
#define WITHIN_ERRORS  2.807 /* standard errors: 99.5 % */
#define MOST_OF        0.7   /* of the growth must lie below the common ancestor */

struct change {
	uint32_t function;
	double delta_ms;
};

static int by_size(const void *left, const void *right)
{
	double a = fabs(((const struct change *)left)->delta_ms);
	double b = fabs(((const struct change *)right)->delta_ms);

	return (b > a) - (b < a);
}

/* Functions that surely changed in one direction (+1 or -1), largest first. */
static size_t list_changes(const struct fg_node_context *c, double direction, struct change **list)
{
	const double *p = direction > 0.0 ? c->p_up : c->p_down;
	struct change *found = fg_xcalloc(c->functions.count + 1, sizeof(found[0]));
	size_t count = 0;

	for (size_t f = 1; f < c->functions.count; f++) {
		double delta = c->functions.entities[f].delta_ms;

		if (c->tested[f] && p[f] <= c->policy->function_alpha &&
		    direction * delta >= c->floor_ms)
			found[count++] = (struct change){(uint32_t)f, delta};
	}
	if (count > 1)
		qsort(found, count, sizeof(found[0]), by_size);
	*list = found;
	return fg_min_size(count, CANDIDATES_MAX);
}

/* Mean and standard error over the pairs of the sum of all nodes that are marked. */
static void sum_marked(const struct fg_node_context *c, const bool *marked, double *mean,
		       double *error)
{
	size_t pairs = c->pairs.count;
	double *difference = fg_xcalloc(pairs + 1, sizeof(difference[0]));
	double squares = 0.0;

	*mean = 0.0;
	for (size_t r = 0; r < c->set->row_count; r++) {
		const struct fg_profile_row *row = &c->set->rows[r];
		uint32_t pair = c->pairs.pair_of_row[r];
		double sign = row->arm ? 1.0 : -1.0;

		for (uint32_t i = 0; i < row->count && pair != FG_NO_ENTITY; i++) {
			if (marked[row->nodes[i]])
				difference[pair] +=
					sign * row->values[i] / 1e6 / c->pairs.per_arm[pair];
		}
	}
	for (size_t i = 0; i < pairs; i++)
		*mean += difference[i] / (double)pairs;
	for (size_t i = 0; i < pairs; i++)
		squares += (difference[i] - *mean) * (difference[i] - *mean);
	*error = sqrt(squares / ((double)pairs - 1.0) / (double)pairs);
	free(difference);
}

static bool is_unchanged(const struct fg_node_context *c, double mean, double error)
{
	return fabs(mean) <= fmax(c->floor_ms, WITHIN_ERRORS * error);
}

/* Mark the nodes at or below `top`; with functions given, only where one of the two is blamed. */
static void mark_below(const struct fg_node_context *c, uint32_t top, const uint32_t *pair,
		       bool *marked)
{
	const struct fg_profile_set *set = c->set;
	bool *below = fg_xcalloc(set->node_count + 1, sizeof(below[0]));

	below[top] = true;
	for (size_t n = (size_t)top + 1; n < set->node_count; n++)
		below[n] = below[set->nodes[n].parent];
	for (size_t n = 0; n < set->node_count; n++) {
		uint32_t function = set->nodes[c->blamed[n]].function;

		marked[n] = below[n] && (!pair || function == pair[0] || function == pair[1]);
	}
	free(below);
}

/* The node of a function with most inclusive time in the arm where the function is larger. */
static uint32_t main_node(const struct fg_node_context *c, uint32_t function)
{
	int arm = c->functions.entities[function].delta_ms > 0.0;
	uint32_t best = 0;

	for (uint32_t n = 1; n < c->set->node_count; n++) {
		if (c->set->nodes[n].function == function &&
		    (best == 0 || c->inclusive_ms[arm][n] > c->inclusive_ms[arm][best]))
			best = n;
	}
	return best;
}

static uint32_t common_ancestor(const struct fg_profile_set *set, uint32_t a, uint32_t b)
{
	/* A parent's number is smaller than its children's. */
	while (a != b) {
		if (a > b)
			a = set->nodes[a].parent;
		else
			b = set->nodes[b].parent;
	}
	return a;
}

static bool is_gone(const struct fg_entity *entity)
{
	return entity->candidate_ms <= GONE_SHARE * entity->baseline_ms;
}

static bool is_new(const struct fg_entity *entity)
{
	return entity->baseline_ms <= GONE_SHARE * entity->candidate_ms;
}

static const char *kind_of(const struct fg_node_context *c, uint32_t from, uint32_t to,
			   uint32_t from_node, uint32_t to_node)
{
	const struct fg_entity *giver = &c->functions.entities[from];
	const struct fg_entity *taker = &c->functions.entities[to];

	if (is_gone(giver) && is_new(taker))
		return "renamed";
	if (is_new(taker) && common_ancestor(c->set, from_node, to_node) == from_node)
		return "extracted";
	if (is_gone(giver) && common_ancestor(c->set, from_node, to_node) == to_node)
		return "inlined";
	return "moved";
}

/* Did `to` take from `from` what it grew by?  Fills `out` when so. */
static bool try_move(const struct fg_node_context *c, const struct change *to,
		     const struct change *from, struct fg_moved *out)
{
	const struct fg_profile_set *set = c->set;
	uint32_t both[2] = {to->function, from->function};
	uint32_t to_node = main_node(c, to->function);
	uint32_t from_node = main_node(c, from->function);
	uint32_t top = common_ancestor(set, to_node, from_node);
	bool *marked = fg_xcalloc(set->node_count + 1, sizeof(marked[0]));
	double mean;
	double error;
	bool is_move;

	/*
	 * What the two have together below their ancestor, and what everything there has together.
	 */
	mark_below(c, top, both, marked);
	sum_marked(c, marked, &mean, &error);
	/*
	 * Both together a little faster: moved and improved, which is no reason to call the taker
	 * slower.
	 */
	is_move = (mean <= TOLL_SHARE * to->delta_ms || is_unchanged(c, mean, error)) &&
		  fabs(mean) <= fmax(c->floor_ms, SAME_SHARE * to->delta_ms);
	mark_below(c, top, NULL, marked);
	sum_marked(c, marked, &mean, &error);
	/*
	 * Something else below the ancestor may have changed as well: it must be small beside the
	 * move.
	 */
	is_move = is_move &&
		  (is_unchanged(c, mean, error) || fabs(mean) <= SAME_SHARE * to->delta_ms);
	both[1] = both[0];
	mark_below(c, top, both, marked);
	sum_marked(c, marked, &mean, &error);
	is_move = is_move && mean >= MOST_OF * to->delta_ms;
	free(marked);
	if (!is_move)
		return false;
	*out = (struct fg_moved){
		.from = fg_arena_strdup(c->arena, set->functions[from->function].name),
		.to = fg_arena_strdup(c->arena, set->functions[to->function].name),
		.ancestor =
			fg_arena_strdup(c->arena, set->functions[set->nodes[top].function].name),
		.moved_ms = to->delta_ms,
		.kind = kind_of(c, from->function, to->function, from_node, to_node),
	};
	return true;
}

void fg_moved_find(const struct fg_node_context *c, struct fg_benchmark_verdict *verdict,
		   bool *moved)
{
	struct change *grown;
	struct change *shrunk;
	size_t grown_count = list_changes(c, 1.0, &grown);
	size_t shrunk_count = list_changes(c, -1.0, &shrunk);

	verdict->moved = fg_arena_array(c->arena, grown_count + 1, sizeof(verdict->moved[0]));
	for (size_t i = 0; i < grown_count; i++) {
		for (size_t k = 0; k < shrunk_count; k++) {
			struct fg_moved *out = &verdict->moved[verdict->moved_count];

			if (moved[shrunk[k].function] || !try_move(c, &grown[i], &shrunk[k], out))
				continue;
			moved[grown[i].function] = moved[shrunk[k].function] = true;
			verdict->moved_count++;
			break;
		}
	}
	free(grown);
	free(shrunk);
}
