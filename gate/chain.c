// SPDX-License-Identifier: Apache-2.0
/*
 * The steps d of the path are independent, with variances v. The anchors observe y = H d plus noise
 * of covariance A: each anchor observes the sum of the steps that it spans. So their residuals have
 * the covariance G = H V H' + A, and given the anchors the sum w·d of any steps is
 *
 *   w·d + (w V H') G⁻¹ (y - H d)     with variance     w V w' - (w V H') G⁻¹ (H V w').
 *
 * All products are sums over the steps that two stretches of the path share: differences of running
 * sums.
 */
#include "gate/chain.h"

#include "base/map.h"

#include <math.h>

/*
 * A comparison of identical builds is an exact anchor; a variance above zero keeps the matrix
 * invertible.
 */
static const double min_variance = 1e-12;

enum visit {
	UNSEEN,
	OPEN,
	DONE,
};

struct node {
	const char *commit;
	const char *tag;
	size_t first; /* index in `into` of the first edge that ends here */
	size_t count; /* number of edges that end here */
	size_t next;  /* number of edges that end here and were visited */
	size_t depth; /* number of steps in the longest path that ends here */
	size_t parent;
	/* index of a connected node; the node's own index if it represents the group */
	size_t group;
	enum visit visit;
};

struct graph {
	const struct fg_chain_edge *edges;
	size_t edge_count;
	struct fg_map names;
	struct node *nodes;
	size_t (*ends)[2]; /* nodes of each edge */
	size_t *into;      /* edges, grouped by the node at which they end */
	size_t *stack;
	size_t *places; /* position of each node on the path; SIZE_MAX: not on it */
};

static size_t node_of(struct graph *g, const char *commit)
{
	bool is_new = false;
	const size_t node = (size_t)*fg_map_add_text(&g->names, commit, g->names.count, &is_new);

	if (is_new) {
		g->nodes[node].commit = commit;
		g->nodes[node].group = node;
	}
	return node;
}

static size_t group_of(struct graph *g, size_t node)
{
	while (g->nodes[node].group != node) {
		g->nodes[node].group = g->nodes[g->nodes[node].group].group;
		node = g->nodes[node].group;
	}
	return node;
}

static void add_edges(struct graph *g)
{
	size_t start = 0;

	for (size_t i = 0; i < g->edge_count; i++) {
		g->ends[i][0] = node_of(g, g->edges[i].from);
		g->ends[i][1] = node_of(g, g->edges[i].to);
		g->nodes[group_of(g, g->ends[i][0])].group = group_of(g, g->ends[i][1]);
		g->nodes[g->ends[i][1]].count++;
		if (g->edges[i].tag)
			g->nodes[g->ends[i][1]].tag = g->edges[i].tag;
	}
	for (size_t i = 0; i < g->names.count; i++) {
		g->nodes[i].first = start;
		start += g->nodes[i].count;
		g->nodes[i].count = 0;
	}
	for (size_t i = 0; i < g->edge_count; i++) {
		struct node *node = &g->nodes[g->ends[i][1]];

		g->into[node->first + node->count++] = i;
	}
}

/* Visits the next edge of the node on top of the stack; returns the new height of the stack. */
static size_t visit_next(struct graph *g, size_t height)
{
	struct node *node = &g->nodes[g->stack[height - 1]];
	const struct node *parent = NULL;
	size_t from = 0;

	if (node->next == node->count) {
		node->visit = DONE;
		return height - 1;
	}
	from = g->ends[g->into[node->first + node->next]][0];
	parent = &g->nodes[from];
	if (parent->visit == UNSEEN) {
		g->nodes[from].visit = OPEN;
		g->stack[height] = from;
		return height + 1;
	}
	/* An open parent closes a cycle, such as two commits compared in both directions. */
	if (parent->visit == DONE && parent->depth + 1 > node->depth) {
		node->depth = parent->depth + 1;
		node->parent = from;
	}
	node->next++;
	return height;
}

static void find_path(struct graph *g, size_t tip)
{
	size_t height = 1;

	g->stack[0] = tip;
	g->nodes[tip].visit = OPEN;
	while (height > 0)
		height = visit_next(g, height);
}

/*
 * Returns the commit with the most steps before it. Commits may be measured in any order, so the
 * newest run need not be about the newest commit.
 */
static size_t find_tip(struct graph *g)
{
	const size_t newest = g->ends[g->edge_count - 1][1];
	size_t tip = newest;

	find_path(g, newest);
	for (size_t i = 0; i < g->names.count; i++) {
		if (group_of(g, i) != group_of(g, newest))
			continue;
		if (g->nodes[i].visit == UNSEEN)
			find_path(g, i);
		if (g->nodes[i].depth > g->nodes[tip].depth)
			tip = i;
	}
	return tip;
}

static void take_points(struct graph *g, size_t tip, struct fg_chain *chain)
{
	size_t node = tip;

	chain->count = g->nodes[tip].depth + 1;
	chain->points = fg_xcalloc(chain->count, sizeof(chain->points[0]));
	for (size_t i = 0; i < g->names.count; i++)
		g->places[i] = SIZE_MAX;
	for (size_t i = chain->count; i-- > 0; node = g->nodes[node].parent) {
		chain->points[i] = (struct fg_chain_point){.commit = g->nodes[node].commit,
							   .tag = g->nodes[node].tag,
							   .edge = SIZE_MAX};
		g->places[node] = i;
	}
}

/* Several runs of one step are averaged by weight, but an exact run overrides all other runs. */
static void take_step(struct fg_chain_point *point, const struct fg_chain_edge *edge, size_t index,
		      bool is_reversed)
{
	const double change = is_reversed ? -edge->change : edge->change;
	const bool is_first = point->edge == SIZE_MAX;
	const double before = point->error * point->error;
	const double own = edge->error * edge->error;

	point->edge = index;
	point->is_known = point->is_known || edge->is_known;
	if (is_first || !(own > 0)) {
		point->change = change;
		point->error = edge->error;
	} else if (before > 0) {
		point->change = (point->change * own + change * before) / (own + before);
		point->error = sqrt(before * own / (before + own));
	}
}

static void take_edges(const struct graph *g, struct fg_chain *chain)
{
	chain->anchors = fg_xcalloc(FG_CHAIN_ANCHORS_MAX, sizeof(chain->anchors[0]));
	for (size_t i = g->edge_count; i-- > 0;) {
		const size_t a = g->places[g->ends[i][0]];
		const size_t b = g->places[g->ends[i][1]];
		const double variance = g->edges[i].error * g->edges[i].error;

		if (a == SIZE_MAX || b == SIZE_MAX || a + 1 == b || b + 1 == a || a == b ||
		    chain->anchor_count == FG_CHAIN_ANCHORS_MAX)
			continue;
		chain->anchors[chain->anchor_count++] = (struct fg_chain_anchor){
			.edge = i,
			.from = a < b ? a : b,
			.to = a < b ? b : a,
			.change = a < b ? g->edges[i].change : -g->edges[i].change,
			.variance = fmax(variance, min_variance),
		};
	}
	for (size_t i = 0; i < g->edge_count; i++) {
		const size_t a = g->places[g->ends[i][0]];
		const size_t b = g->places[g->ends[i][1]];

		if (a == SIZE_MAX || b == SIZE_MAX || (a + 1 != b && b + 1 != a))
			continue;
		take_step(&chain->points[a < b ? b : a], &g->edges[i], i, a > b);
	}
}

static void sum_up(struct fg_chain *chain)
{
	for (size_t part = 0; part < 2; part++) {
		double *changes = fg_xcalloc(chain->count, sizeof(changes[0]));
		double *variances = fg_xcalloc(chain->count, sizeof(variances[0]));

		for (size_t i = 1; i < chain->count; i++) {
			const struct fg_chain_point *point = &chain->points[i];
			const bool counts = part == FG_CHAIN_ALL || !point->is_known;

			changes[i] = changes[i - 1] + (counts ? point->change : 0);
			variances[i] =
				variances[i - 1] + (counts ? point->error * point->error : 0);
		}
		chain->changes[part] = changes;
		chain->variances[part] = variances;
	}
}

/* Returns the variance of the steps that a stretch of the path and an anchor share. */
static double shared(const struct fg_chain *chain, size_t from, size_t to, enum fg_chain_part part,
		     const struct fg_chain_anchor *anchor)
{
	const size_t first = anchor->from > from ? anchor->from : from;
	const size_t last = anchor->to < to ? anchor->to : to;

	return first < last ? chain->variances[part][last] - chain->variances[part][first] : 0;
}

/* Solves L y = b in place, then, if `back`, L' x = y. */
static void solve(const struct fg_chain *chain, double *b, bool back)
{
	const size_t n = chain->anchor_count;
	const double *l = chain->factor;

	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < i; k++)
			b[i] -= l[i * n + k] * b[k];
		b[i] /= l[i * n + i];
	}
	for (size_t i = n; back && i-- > 0;) {
		for (size_t k = i + 1; k < n; k++)
			b[i] -= l[k * n + i] * b[k];
		b[i] /= l[i * n + i];
	}
}

static void factorise(double *l, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j <= i; j++) {
			double rest = l[i * n + j];

			for (size_t k = 0; k < j; k++)
				rest -= l[i * n + k] * l[j * n + k];
			l[i * n + j] =
				i == j ? sqrt(fmax(rest, min_variance)) : rest / l[j * n + j];
		}
	}
}

static void weigh_anchors(struct fg_chain *chain)
{
	const size_t n = chain->anchor_count;

	chain->factor = fg_xcalloc(n * n + 1, sizeof(chain->factor[0]));
	chain->residual = fg_xcalloc(n + 1, sizeof(chain->residual[0]));
	for (size_t i = 0; i < n; i++) {
		const struct fg_chain_anchor *anchor = &chain->anchors[i];

		for (size_t j = 0; j < n; j++)
			chain->factor[i * n + j] = shared(chain, anchor->from, anchor->to,
							  FG_CHAIN_ALL, &chain->anchors[j]) +
						   (i == j ? anchor->variance : 0);
		chain->residual[i] = anchor->change - (chain->changes[FG_CHAIN_ALL][anchor->to] -
						       chain->changes[FG_CHAIN_ALL][anchor->from]);
	}
	factorise(chain->factor, n);
	solve(chain, chain->residual, true);
}

static void release_graph(struct graph *g)
{
	fg_map_release(&g->names);
	free(g->nodes);
	free(g->ends);
	free(g->into);
	free(g->stack);
	free(g->places);
}

void fg_chain_build(const struct fg_chain_edge *edges, size_t count, const char *tip,
		    struct fg_chain *chain)
{
	const size_t most = 2 * count + 1;
	struct graph g = {
		.edges = edges,
		.edge_count = count,
		.nodes = fg_xcalloc(most, sizeof(g.nodes[0])),
		.ends = fg_xcalloc(count + 1, sizeof(g.ends[0])),
		.into = fg_xcalloc(count + 1, sizeof(g.into[0])),
		.stack = fg_xcalloc(most, sizeof(g.stack[0])),
		.places = fg_xcalloc(most, sizeof(g.places[0])),
	};
	size_t last = 0;

	*chain = (struct fg_chain){0};
	add_edges(&g);
	if (tip) {
		last = node_of(&g, tip);
		find_path(&g, last);
	} else if (count > 0) {
		last = find_tip(&g);
	}
	if (g.nodes[last].depth > 0) {
		take_points(&g, last, chain);
		take_edges(&g, chain);
		sum_up(chain);
		weigh_anchors(chain);
	}
	release_graph(&g);
}

struct fg_chain_sum fg_chain_sum(const struct fg_chain *chain, size_t from, size_t to,
				 enum fg_chain_part part)
{
	struct fg_chain_sum sum = {
		.change = chain->changes[part][to] - chain->changes[part][from],
	};
	double variance = chain->variances[part][to] - chain->variances[part][from];
	double b[FG_CHAIN_ANCHORS_MAX] = {0};

	for (size_t i = 0; i < chain->anchor_count; i++) {
		b[i] = shared(chain, from, to, part, &chain->anchors[i]);
		sum.change += b[i] * chain->residual[i];
	}
	solve(chain, b, false);
	for (size_t i = 0; i < chain->anchor_count; i++)
		variance -= b[i] * b[i];
	sum.error = sqrt(fmax(variance, 0));
	return sum;
}

void fg_chain_weights(const struct fg_chain *chain, size_t from, size_t to, enum fg_chain_part part,
		      double *steps, double *anchors)
{
	for (size_t i = 0; i < chain->anchor_count; i++)
		anchors[i] = shared(chain, from, to, part, &chain->anchors[i]);
	solve(chain, anchors, true);
	for (size_t i = 0; i < chain->count; i++) {
		const bool counts = part == FG_CHAIN_ALL || !chain->points[i].is_known;

		steps[i] = i > from && i <= to && counts ? 1 : 0;
		for (size_t k = 0; k < chain->anchor_count; k++) {
			const struct fg_chain_anchor *anchor = &chain->anchors[k];

			if (i > anchor->from && i <= anchor->to)
				steps[i] -= anchors[k];
		}
	}
}

void fg_chain_release(struct fg_chain *chain)
{
	free(chain->points);
	free(chain->anchors);
	for (size_t part = 0; part < 2; part++) {
		free(chain->changes[part]);
		free(chain->variances[part]);
	}
	free(chain->factor);
	free(chain->residual);
	*chain = (struct fg_chain){0};
}
