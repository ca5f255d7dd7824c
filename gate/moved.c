// SPDX-License-Identifier: Apache-2.0
/*
 * Detects cost that moved between functions. A refactoring takes cost from one function and gives
 * it to another: a piece is extracted, a function is renamed or split, or the compiler inlines a
 * function into its caller. By itself each function "got slower" or "got faster", and a gate that
 * tests functions would fail on every clean-up.
 *
 * So a function that grew significantly and a function that shrank significantly become one row if
 * they are related, and the row is tested again as a whole. The cost that remains is the change;
 * the cost that cancels out is reported as moved. Up to a tenth of the moved cost counts as the
 * cost of moving it, significant or not: a new call, or a call that is no longer inlined.
 *
 * Two functions are related if they are one of these pairs: functions that share a name apart from
 * template arguments, parameters, version namespace, clone and library; functions of similar names
 * that replace each other or cancel out; a new function at the line of a function that is gone; a
 * caller and its callee; functions of one caller if one of them is new or gone, or if they cancel
 * out; and any two functions that cancel out if the whole did not change. A function gives no more
 * than it lost and takes no more than it gained.
 *
 * Example: main 100 ms → parse 30 ms (self). The next version has parse 18 ms → scan 17 ms. scan
 * grew by 17, parse shrank by 12: one row of +5 ms, and 12 ms "extracted".
 */
#include "base/sort.h"
#include "gate/node_context.h"
#include "gate/symbol_similarity.h"

#include <math.h>

#define CANDIDATES_MAX 50    /* maximum number of functions considered per direction */
#define SAME_SHARE     0.3   /* a sum within this share of the moved cost counts as zero */
#define GONE_SHARE     0.05  /* a function with at most this share of its former time is gone */
#define WITHIN_ERRORS  2.807 /* half width of a 99.5 % interval, in standard errors */

struct change {
	uint32_t function;
	double delta;
	double left; /* part that no move explains */
};

FG_ORDER_BY(by_size, struct change, FG_ORDER(fabs(b->delta), fabs(a->delta)))

/* Lists the functions that changed significantly in one direction (+1 or -1), largest first. */
static size_t list_changes(const struct fg_node_context *c, double direction, struct change **list)
{
	const double *p = direction > 0.0 ? c->p_up : c->p_down;
	struct change *found = fg_xcalloc(c->functions.count + 1, sizeof(found[0]));
	size_t count = 0;

	for (size_t f = 1; f < c->functions.count; f++) {
		double delta = c->functions.entities[f].delta;

		if (c->tested[f] && p[f] <= c->policy->function_alpha &&
		    direction * delta >= c->floor)
			found[count++] = (struct change){(uint32_t)f, delta, fabs(delta)};
	}
	if (count > 1)
		qsort(found, count, sizeof(found[0]), by_size);
	*list = found;
	return fg_min_size(count, CANDIDATES_MAX);
}

/*
 * Returns the node of a function with the most inclusive time in the arm where the function is
 * larger.
 */
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

static void describe(const struct fg_node_context *c, const struct change *to,
		     const struct change *from, double amount, struct fg_moved *out)
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
		.amount = amount,
		.kind = fg_symbols_are_relinked(giver, taker)
				? "relinked"
				: kind_of(c, from->function, to->function, from_node, to_node),
	};
}

/* Do the two changes cancel out over the pairs? */
static bool do_cancel(const struct fg_node_context *c, const struct change *to,
		      const struct change *from)
{
	const struct fg_pair_matrix *m = &c->functions;
	const uint32_t both[2] = {to->function, from->function};
	double *sums = fg_xcalloc(m->pair_count + 1, sizeof(sums[0]));
	const double n = (double)m->pair_count;
	double mean = to->delta + from->delta;
	double squares = 0.0;

	for (size_t k = 0; k < 2; k++) {
		for (size_t i = m->start[both[k]]; i < m->start[both[k] + 1]; i++)
			sums[m->columns[i]] += (double)m->values[i];
	}
	for (size_t i = 0; i < m->pair_count; i++)
		squares += (sums[i] - mean) * (sums[i] - mean);
	free(sums);
	mean = fabs(mean);
	if (c->exact || m->pair_count < 2)
		return mean <= c->floor;
	return mean <= fmax(c->floor, WITHIN_ERRORS * sqrt(squares / (n - 1.0) / n)) &&
	       mean <= fmax(c->floor, SAME_SHARE * to->delta);
}

static bool is_at_same_line(const struct fg_profile_function *a,
			    const struct fg_profile_function *b)
{
	return a->line > 0 && a->line == b->line && a->file && b->file &&
	       strcmp(a->file, b->file) == 0;
}

/* Returns the caller on the call path where the function spends most of its time. */
static uint32_t caller_of(const struct fg_node_context *c, uint32_t function)
{
	const struct fg_profile_set *set = c->set;

	return set->nodes[set->nodes[main_node(c, function)].parent].function;
}

/* Are the two functions one piece of code under two names? */
static bool are_one_function(const struct fg_node_context *c, const struct change *to,
			     const struct change *from)
{
	const struct fg_profile_function *taker = &c->set->functions[to->function];
	const struct fg_profile_function *giver = &c->set->functions[from->function];
	const bool is_replaced = is_gone(&c->functions.entities[from->function]) &&
				 is_new(&c->functions.entities[to->function]);

	if (fg_symbols_have_same_name(taker->name, giver->name) ||
	    (is_replaced && is_at_same_line(taker, giver)))
		return true;
	return fg_symbols_have_similar_names(taker->name, giver->name) &&
	       (is_replaced || do_cancel(c, to, from));
}

static bool are_neighbours(const struct fg_node_context *c, const struct change *to,
			   const struct change *from)
{
	const uint32_t above_taker = caller_of(c, to->function);
	const uint32_t above_giver = caller_of(c, from->function);

	if (above_taker == from->function || above_giver == to->function)
		return true;
	if (above_taker == above_giver && (is_gone(&c->functions.entities[from->function]) ||
					   is_new(&c->functions.entities[to->function])))
		return true;
	/* Cost may move from one branch of the call tree to another if the whole did not change. */
	return (above_taker == above_giver || !c->total_changed) && do_cancel(c, to, from);
}

static bool is_known_the_same(const struct fg_node_context *c, uint32_t function)
{
	return c->code && c->code[function].state == FG_COMPARED_SAME;
}

/* Functions that grew or shrank significantly, and the moves found between them. */
struct moves {
	const struct fg_node_context *c;
	struct change *grown;
	struct change *shrunk;
	size_t grown_count;
	size_t shrunk_count;
	double *moved;
	struct fg_blame *blame;
};

static void join(struct moves *all, struct change *to, struct change *from)
{
	const struct fg_node_context *c = all->c;
	const uint32_t row = c->row_of[to->function];
	const uint32_t other = c->row_of[from->function];
	const double amount = fmin(to->left, from->left);

	to->left -= amount;
	from->left -= amount;
	describe(c, to, from, amount, &all->blame->moved[all->blame->moved_count++]);
	all->moved[row] += amount;
	if (row == other)
		return;
	all->moved[row] += all->moved[other];
	for (size_t f = 0; f < c->set->function_count; f++) {
		if (c->row_of[f] == other)
			c->row_of[f] = row;
	}
}

/* Do both changes have a noticeable part that no move explains yet? */
static bool is_worth_it(const struct change *to, const struct change *from)
{
	return fmin(to->left, from->left) >= SAME_SHARE * fmin(to->delta, -from->delta);
}

static void join_if(struct moves *all,
		    bool (*are_related)(const struct fg_node_context *, const struct change *,
					const struct change *))
{
	const struct fg_node_context *c = all->c;

	for (size_t i = 0; i < all->grown_count; i++) {
		struct change *to = &all->grown[i];

		for (size_t k = 0; k < all->shrunk_count && !is_known_the_same(c, to->function);
		     k++) {
			struct change *from = &all->shrunk[k];

			if (!is_known_the_same(c, from->function) && is_worth_it(to, from) &&
			    are_related(c, to, from))
				join(all, to, from);
		}
	}
}

/* NOLINTNEXTLINE(readability-non-const-parameter): join() adds to `moved` */
void fg_moved_join(const struct fg_node_context *c, struct fg_blame *blame, double *moved)
{
	struct moves all = {.c = c, .moved = moved, .blame = blame};

	all.grown_count = list_changes(c, 1.0, &all.grown);
	all.shrunk_count = list_changes(c, -1.0, &all.shrunk);
	/* Each move uses up the rest of a grown or a shrunk function. */
	blame->moved = fg_arena_array(c->arena, all.grown_count + all.shrunk_count + 1,
				      sizeof(blame->moved[0]));
	join_if(&all, are_one_function);
	join_if(&all, are_neighbours);
	free(all.grown);
	free(all.shrunk);
}
