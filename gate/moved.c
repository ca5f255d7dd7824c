// SPDX-License-Identifier: Apache-2.0
/*
 * Moved, not slower.  A refactoring takes cost from one function and gives it to another: a piece
 * is extracted, a function is renamed, or the compiler inlines one into its caller.  Each of them
 * "got slower" or "got faster" by itself, and a gate that tests functions would fail on every
 * clean-up.
 *
 * Kin: functions of one name, whatever their template arguments, parameters, version namespace,
 * clone or library (f<...> and f(...), a library that became static), and pairs of similar names
 * (luaD_pretailcall, luaD_precall).  Where the growth of some cancels with the shrinking of others,
 * cost only moved, wherever they are called from and whatever else changed.
 *
 * Others: a function that grew has moved cost when there is a caller above it, an ancestor of giver
 * and taker, whose inclusive time changed by little beside the move, and below that caller another
 * function shrank by as much.  "Changed by little" and "by as much" are judged
 * on the differences of the pairs: the mean of (taker + giver) lies within its own noise around
 * zero and is small against what moved.  Up to a tenth of what moved is the price of moving, sure
 * or not: a call that was not there before, an inlining that is no more.
 *
 * Example: main 100 ms → parse 30 ms (self).  The next version has parse 18 ms → scan 12 ms.  scan
 * grew by 12, parse shrank by 12; the inclusive time of parse, the lowest common ancestor, is still
 * 30 ms: 12 ms moved, "extracted".
 */
#include "gate/moved.h"

#include "gate/kin.h"
#include "gate/statistics/distributions.h"

#include <math.h>

#define CANDIDATES_MAX 50    /* functions looked at on either side */
#define SAME_SHARE     0.3   /* the sum may differ from zero by this share of what moved */
#define TOLL_SHARE     0.1   /* of what moved: the price of moving it */
#define GONE_SHARE     0.05  /* less than this share of its former time: gone */
#define WITHIN_ERRORS  2.807 /* standard errors: 99.5 % */
#define MOST_OF        0.7   /* of the growth must lie below the common ancestor */

struct change {
	uint32_t function;
	double delta;
};

static int by_size(const void *left, const void *right)
{
	double a = fabs(((const struct change *)left)->delta);
	double b = fabs(((const struct change *)right)->delta);

	return (b > a) - (b < a);
}

/* Functions that surely changed in one direction (+1 or -1), largest first. */
static size_t list_changes(const struct fg_node_context *c, double direction, struct change **list)
{
	const double *p = direction > 0.0 ? c->p_up : c->p_down;
	struct change *found = fg_xcalloc(c->functions.count + 1, sizeof(found[0]));
	size_t count = 0;

	for (size_t f = 1; f < c->functions.count; f++) {
		double delta = c->functions.entities[f].delta;

		if (c->tested[f] && p[f] <= c->policy->function_alpha &&
		    direction * delta >= c->floor)
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
				difference[pair] += sign * row->values[i] * c->pairs.scale /
						    c->pairs.per_arm[pair];
		}
	}
	for (size_t i = 0; i < pairs; i++)
		*mean += difference[i] / (double)pairs;
	for (size_t i = 0; i < pairs; i++)
		squares += (difference[i] - *mean) * (difference[i] - *mean);
	*error = pairs > 1 ? sqrt(squares / ((double)pairs - 1.0) / (double)pairs) : 0.0;
	free(difference);
}

static bool is_unchanged(const struct fg_node_context *c, double mean, double error)
{
	return fabs(mean) <= fmax(c->floor, WITHIN_ERRORS * error);
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
	int arm = c->functions.entities[function].delta > 0.0;
	uint32_t best = 0;

	for (uint32_t n = 1; n < c->set->node_count; n++) {
		if (c->set->nodes[n].function == function &&
		    (best == 0 || c->inclusive[arm][n] > c->inclusive[arm][best]))
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
	return entity->candidate <= GONE_SHARE * entity->baseline;
}

static bool is_new(const struct fg_entity *entity)
{
	return entity->baseline <= GONE_SHARE * entity->candidate;
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

/* Do takers and givers add up to nothing, or to the toll of `amount`? */
static bool cancels(const struct fg_node_context *c, double mean, double error, double amount)
{
	if (c->exact)
		return fabs(mean) <= c->floor;
	return (mean <= TOLL_SHARE * amount || is_unchanged(c, mean, error)) &&
	       fabs(mean) <= fmax(c->floor, SAME_SHARE * amount);
}

static void describe(const struct fg_node_context *c, const struct change *to,
		     const struct change *from, struct fg_moved *out)
{
	const struct fg_profile_set *set = c->set;
	const struct fg_profile_function *giver = &set->functions[from->function];
	const struct fg_profile_function *taker = &set->functions[to->function];
	uint32_t to_node = main_node(c, to->function);
	uint32_t from_node = main_node(c, from->function);
	uint32_t top = common_ancestor(set, to_node, from_node);

	*out = (struct fg_moved){
		.measure = c->measure,
		.unit = c->unit,
		.from = fg_arena_strdup(c->arena, giver->name),
		.to = fg_arena_strdup(c->arena, taker->name),
		.from_library = fg_arena_strdup(c->arena, giver->library),
		.to_library = fg_arena_strdup(c->arena, taker->library),
		.ancestor =
			fg_arena_strdup(c->arena, set->functions[set->nodes[top].function].name),
		.amount = to->delta,
		.kind = fg_kin_is_relinked(giver, taker)
				? "relinked"
				: kind_of(c, from->function, to->function, from_node, to_node),
	};
}

/* Did `to` take from `from` what it grew by, below `top`, which hardly changed? */
static bool is_move_below(const struct fg_node_context *c, uint32_t top, const struct change *to,
			  const struct change *from)
{
	uint32_t both[2] = {to->function, from->function};
	bool *marked = fg_xcalloc(c->set->node_count + 1, sizeof(marked[0]));
	double mean;
	double error;
	bool found;

	/* The two together below their ancestor, everything there, and the growth there. */
	mark_below(c, top, both, marked);
	sum_marked(c, marked, &mean, &error);
	found = cancels(c, mean, error, to->delta);
	mark_below(c, top, NULL, marked);
	sum_marked(c, marked, &mean, &error);
	found = found && (is_unchanged(c, mean, error) || fabs(mean) <= SAME_SHARE * to->delta);
	both[1] = both[0];
	mark_below(c, top, both, marked);
	sum_marked(c, marked, &mean, &error);
	free(marked);
	return found && mean >= MOST_OF * to->delta;
}

/* Functions that are called on several paths have their growth below a caller further up. */
static bool is_move(const struct fg_node_context *c, const struct change *to,
		    const struct change *from)
{
	uint32_t top =
		common_ancestor(c->set, main_node(c, to->function), main_node(c, from->function));
	bool found = is_move_below(c, top, to, from);

	while (!found && top != 0) {
		top = c->set->nodes[top].parent;
		found = is_move_below(c, top, to, from);
	}
	return found;
}

/* The functions that surely changed and are not known to have moved. */
struct changes {
	struct change *grown;
	struct change *shrunk;
	size_t grown_count;
	size_t shrunk_count;
};

/* Mark everything in the list that has the name of `of`; returns the sum of its changes. */
static double mark_kin(const struct fg_node_context *c, const struct change *list, size_t count,
		       uint32_t of, bool *kin)
{
	double sum = 0.0;

	for (size_t i = 0; i < count; i++) {
		if (!fg_kin_same_name(c->set->functions[of].name,
				      c->set->functions[list[i].function].name))
			continue;
		kin[list[i].function] = true;
		sum += list[i].delta;
	}
	return sum;
}

static bool do_kin_cancel(const struct fg_node_context *c, const bool *kin, double grown)
{
	bool *nodes = fg_xcalloc(c->set->node_count + 1, sizeof(nodes[0]));
	double mean;
	double error;

	for (size_t n = 0; n < c->set->node_count; n++)
		nodes[n] = kin[c->set->nodes[c->blamed[n]].function];
	sum_marked(c, nodes, &mean, &error);
	free(nodes);
	return cancels(c, mean, error, grown);
}

static const struct change *largest_of(const struct change *list, size_t count, const bool *kin)
{
	for (size_t i = 0; i < count; i++) {
		if (kin[list[i].function])
			return &list[i];
	}
	return NULL;
}

/* All functions of one name: the growth of some against the shrinking of others. */
static bool find_same_name(const struct fg_node_context *c, const struct changes *all,
			   uint32_t taker, bool *moved, struct fg_blame *blame)
{
	bool *kin = fg_xcalloc(c->set->function_count + 1, sizeof(kin[0]));
	double grown = mark_kin(c, all->grown, all->grown_count, taker, kin);
	double shrunk = mark_kin(c, all->shrunk, all->shrunk_count, taker, kin);
	bool found = shrunk < 0.0 && do_kin_cancel(c, kin, grown);

	for (size_t i = 0; found && i < all->grown_count; i++) {
		if (kin[all->grown[i].function])
			describe(c, &all->grown[i], largest_of(all->shrunk, all->shrunk_count, kin),
				 &blame->moved[blame->moved_count++]);
	}
	for (size_t f = 0; found && f < c->set->function_count; f++)
		moved[f] = moved[f] || kin[f];
	free(kin);
	return found;
}

static bool is_move_to_similar(const struct fg_node_context *c, const struct change *to,
			       const struct change *from)
{
	const struct fg_profile_function *functions = c->set->functions;
	bool *kin;
	bool found;

	if (!fg_kin_similar_name(functions[to->function].name, functions[from->function].name))
		return false;
	kin = fg_xcalloc(c->set->function_count + 1, sizeof(kin[0]));
	kin[to->function] = kin[from->function] = true;
	found = do_kin_cancel(c, kin, to->delta);
	free(kin);
	return found;
}

void fg_moved_find(const struct fg_node_context *c, struct fg_blame *blame, bool *moved)
{
	struct changes all;

	all.grown_count = list_changes(c, 1.0, &all.grown);
	all.shrunk_count = list_changes(c, -1.0, &all.shrunk);
	blame->moved = fg_arena_array(c->arena, all.grown_count + 1, sizeof(blame->moved[0]));
	for (size_t i = 0; i < all.grown_count; i++) {
		if (moved[all.grown[i].function] ||
		    find_same_name(c, &all, all.grown[i].function, moved, blame))
			continue;
		for (size_t k = 0; k < all.shrunk_count; k++) {
			if (moved[all.shrunk[k].function] ||
			    (!is_move_to_similar(c, &all.grown[i], &all.shrunk[k]) &&
			     !is_move(c, &all.grown[i], &all.shrunk[k])))
				continue;
			moved[all.grown[i].function] = moved[all.shrunk[k].function] = true;
			describe(c, &all.grown[i], &all.shrunk[k],
				 &blame->moved[blame->moved_count++]);
			break;
		}
	}
	free(all.grown);
	free(all.shrunk);
}
