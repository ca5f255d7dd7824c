// SPDX-License-Identifier: Apache-2.0
#include "profile/calltree.h"

#include "base/sort.h"
#include "base/strbuf.h"

#include <math.h>

/*
 * A depth-first walk. With a counter per label, one lookup shows whether a label is among the
 * ancestors.
 */
struct walk {
	const struct fg_calltree *tree;
	uint32_t node;
	bool entered; /* false: leaving the node */
};

static bool walk_start(struct walk *walk, const struct fg_calltree *tree)
{
	*walk = (struct walk){.tree = tree, .entered = true};
	return tree->node_count > 0;
}

/* Visits each node twice: when it is entered, and after everything below it. */
static bool walk_next(struct walk *walk)
{
	const struct fg_calltree_node *at = &walk->tree->nodes[walk->node];

	if (walk->entered) {
		if (at->first_child)
			walk->node = at->first_child;
		else
			walk->entered = false;
		return true;
	}
	if (walk->node == 0)
		return false;
	walk->entered = at->next_sibling != 0;
	walk->node = at->next_sibling ? at->next_sibling : at->parent;
	return true;
}

void fg_calltree_init(struct fg_calltree *tree, unsigned columns, const char *root_name)
{
	const struct fg_label root = {.name = root_name, .library = ""};

	FG_ASSERT(columns >= 1 && columns <= FG_CALLTREE_COLUMNS);
	*tree = (struct fg_calltree){.column_count = columns};
	tree->measure = fg_measure_describe("cpu_time", NULL);
	(void)fg_calltree_label(tree, &root);
	(void)fg_calltree_child(tree, UINT32_MAX, 0);
}

void fg_calltree_set_measure(struct fg_calltree *tree, const struct fg_measure *measure)
{
	tree->measure = *measure;
	tree->measure.name = fg_arena_strdup(&tree->arena, measure->name);
	tree->measure.label = fg_arena_strdup(&tree->arena, measure->label);
	tree->measure.unit = fg_arena_strdup(&tree->arena, measure->unit);
}

void fg_calltree_release(struct fg_calltree *tree)
{
	free(tree->labels);
	free(tree->nodes);
	for (unsigned c = 0; c < FG_CALLTREE_COLUMNS; c++) {
		free(tree->self[c]);
		free(tree->inclusive[c]);
		free(tree->shared[c]);
	}
	fg_map_release(&tree->label_index);
	fg_pair_index_release(&tree->node_index);
	fg_arena_release(&tree->arena);
	*tree = (struct fg_calltree){0};
}

static const char *copy_text(struct fg_calltree *tree, const char *text)
{
	return fg_arena_strdup(&tree->arena, text);
}

uint32_t fg_calltree_label(struct fg_calltree *tree, const struct fg_label *label)
{
	const char *library = label->library ? label->library : "";
	struct fg_strbuf key = {0};
	struct fg_label *added;
	uint64_t *place;
	bool is_new;

	FG_ASSERT(tree->label_count < UINT32_MAX);
	fg_strbuf_printf(&key, "%u%s", label->identity, label->name);
	fg_strbuf_add_char(&key, '\0');
	fg_strbuf_add_text(&key, label->identity == FG_LABEL_LIBRARY               ? library
				 : label->identity == FG_LABEL_FILE && label->file ? label->file
										   : "");
	place = fg_map_add(&tree->label_index, key.data, key.length, tree->label_count, &is_new);
	fg_strbuf_release(&key);
	if (!is_new) {
		tree->labels[*place].flags &= label->flags;
		if (strcmp(tree->labels[*place].library, library) != 0)
			tree->labels[*place].library = "";
		return (uint32_t)*place;
	}
	added = &FG_APPEND(tree->labels, tree->label_count, tree->label_capacity);
	*added = (struct fg_label){
		.name = copy_text(tree, label->name),
		.library = copy_text(tree, library),
		.file = copy_text(tree, label->file),
		.linkage = copy_text(tree, label->linkage),
		.line = label->line,
		.flags = label->flags,
		.identity = label->identity,
	};
	return (uint32_t)(tree->label_count - 1);
}

uint32_t *fg_calltree_map_labels(struct fg_calltree *into, const struct fg_calltree *from)
{
	uint32_t *label_of = fg_xcalloc(from->label_count, sizeof(label_of[0]));

	for (size_t i = 1; i < from->label_count; i++)
		label_of[i] = fg_calltree_label(into, &from->labels[i]);
	return label_of;
}

/* Grows the nodes and with them all columns; new elements are zero. */
static void grow_nodes(struct fg_calltree *tree)
{
	size_t old = tree->node_capacity;

	tree->nodes = fg_grow(tree->nodes, &tree->node_capacity, tree->node_count + 1,
			      sizeof(tree->nodes[0]));
	if (tree->node_capacity == old)
		return;
	for (unsigned c = 0; c < tree->column_count; c++) {
		tree->self[c] = fg_xreallocarray(tree->self[c], tree->node_capacity,
						 sizeof(tree->self[c][0]));
		memset(tree->self[c] + old, 0,
		       (tree->node_capacity - old) * sizeof(tree->self[c][0]));
		tree->shared[c] = fg_xreallocarray(tree->shared[c], tree->node_capacity,
						   sizeof(tree->shared[c][0]));
		for (size_t n = old; n < tree->node_capacity; n++)
			tree->shared[c][n] = 0;
	}
}

uint32_t fg_calltree_child(struct fg_calltree *tree, uint32_t parent, uint32_t label)
{
	struct fg_calltree_node *node;
	uint32_t index = (uint32_t)tree->node_count;
	bool is_new = true;

	FG_ASSERT(tree->node_count < UINT32_MAX - 1);
	if (parent != UINT32_MAX)
		index = *fg_pair_index_add(&tree->node_index, parent, label, index, &is_new);
	if (!is_new)
		return index;
	grow_nodes(tree);
	node = &tree->nodes[tree->node_count++];
	*node = (struct fg_calltree_node){.label = label};
	if (parent != UINT32_MAX) {
		node->parent = parent;
		node->depth = tree->nodes[parent].depth + 1;
		node->next_sibling = tree->nodes[parent].first_child;
		tree->nodes[parent].first_child = index;
	}
	return index;
}

void fg_weight_add(const struct fg_measure *measure, struct fg_weight *to,
		   const struct fg_weight *weight, double scale)
{
	to->value = fg_measure_join(measure->fold, to->value, weight->value * scale);
	to->square += weight->square * scale * scale;
	to->samples += weight->samples;
}

void fg_calltree_add(struct fg_calltree *tree, uint32_t node, unsigned column,
		     const struct fg_weight *weight, double scale)
{
	FG_ASSERT(node < tree->node_count && column < tree->column_count);
	fg_weight_add(&tree->measure, &tree->self[column][node], weight, scale);
}

static uint32_t common_ancestor(const struct fg_calltree *tree, uint32_t one, uint32_t other)
{
	while (one != other) {
		if (tree->nodes[one].depth < tree->nodes[other].depth)
			other = tree->nodes[other].parent;
		else
			one = tree->nodes[one].parent;
	}
	return one;
}

void fg_calltree_join_parts(struct fg_calltree *tree, const uint32_t nodes[2], unsigned column,
			    const double values[2])
{
	const double beyond = 2 * values[0] * values[1];

	if (nodes[0] == nodes[1])
		tree->self[column][nodes[0]].square += beyond;
	else
		tree->shared[column][common_ancestor(tree, nodes[0], nodes[1])] += beyond;
}

static void sum_up(struct fg_calltree *tree, unsigned column)
{
	struct fg_weight *inclusive =
		fg_xreallocarray(tree->inclusive[column], tree->node_count, sizeof(inclusive[0]));

	memcpy(inclusive, tree->self[column], tree->node_count * sizeof(inclusive[0]));
	for (size_t n = 0; n < tree->node_count; n++)
		inclusive[n].square += tree->shared[column][n];
	for (size_t n = tree->node_count; n-- > 1;)
		fg_weight_add(&tree->measure, &inclusive[tree->nodes[n].parent], &inclusive[n],
			      1.0);
	tree->inclusive[column] = inclusive;
}

struct child {
	double value;
	const char *name;
	uint32_t node;
};

FG_ORDER_BY(by_weight, struct child, FG_DOWN(value), FG_TEXT_UP(name))

static double heaviest(const struct fg_calltree *tree, uint32_t node)
{
	double value = tree->inclusive[0][node].value;

	if (tree->column_count > 1 && tree->inclusive[1][node].value > value)
		value = tree->inclusive[1][node].value;
	return value;
}

static void order_children(struct fg_calltree *tree)
{
	struct child *children = NULL;
	size_t capacity = 0;

	for (size_t n = 0; n < tree->node_count; n++) {
		uint32_t first = tree->nodes[n].first_child;
		size_t count = 0;

		if (!first || !tree->nodes[first].next_sibling)
			continue;
		for (uint32_t at = first; at; at = tree->nodes[at].next_sibling) {
			FG_APPEND(children, count, capacity) = (struct child){
				.value = heaviest(tree, at),
				.name = tree->labels[tree->nodes[at].label].name,
				.node = at,
			};
		}
		qsort(children, count, sizeof(children[0]), by_weight);
		tree->nodes[n].first_child = children[0].node;
		for (size_t i = 0; i < count; i++)
			tree->nodes[children[i].node].next_sibling =
				i + 1 < count ? children[i + 1].node : 0;
	}
	free(children);
}

static void mark_recursion(struct fg_calltree *tree)
{
	uint32_t *open = fg_xcalloc(tree->label_count, sizeof(open[0]));
	struct walk walk;
	bool more = walk_start(&walk, tree);

	for (; more; more = walk_next(&walk)) {
		struct fg_calltree_node *node = &tree->nodes[walk.node];

		if (walk.entered)
			node->recursive = open[node->label]++ > 0;
		else
			open[node->label]--;
	}
	free(open);
}

void fg_calltree_finish(struct fg_calltree *tree)
{
	for (unsigned c = 0; c < tree->column_count; c++)
		sum_up(tree, c);
	order_children(tree);
	mark_recursion(tree);
}

/*
 * Adds column 0 of `from`, path by path, to a column of `into`. Call fg_calltree_finish()
 * afterwards.
 */
static void merge_column(struct fg_calltree *into, unsigned column, const struct fg_calltree *from,
			 double scale)
{
	uint32_t *label_of = fg_calltree_map_labels(into, from);
	uint32_t *node_of = fg_xcalloc(from->node_count, sizeof(node_of[0]));

	for (size_t n = 0; n < from->node_count; n++) {
		if (n > 0)
			node_of[n] = fg_calltree_child(into, node_of[from->nodes[n].parent],
						       label_of[from->nodes[n].label]);
		fg_calltree_add(into, node_of[n], column, &from->self[0][n], scale);
		into->shared[column][node_of[n]] += from->shared[0][n] * scale * scale;
	}
	free(label_of);
	free(node_of);
}

void fg_calltree_difference(const struct fg_calltree *before, const struct fg_calltree *after,
			    struct fg_calltree *difference)
{
	fg_calltree_init(difference, 2, after->labels[0].name);
	fg_calltree_set_measure(difference, &after->measure);
	merge_column(difference, 0, before, 1.0);
	merge_column(difference, 1, after, 1.0);
	difference->inverted = before->inverted && after->inverted;
	fg_calltree_finish(difference);
}

struct figures_order {
	const struct fg_calltree *tree;
	unsigned column;
};

static int by_self(const void *a, const void *b, void *context)
{
	const struct figures_order *order = context;
	const struct fg_label_figures *one = a;
	const struct fg_label_figures *other = b;
	const struct fg_weight *x[2] = {&one->self[order->column], &other->self[order->column]};
	const struct fg_weight *y[2] = {&one->inclusive[order->column],
					&other->inclusive[order->column]};

	if (x[0]->value < x[1]->value || x[0]->value > x[1]->value)
		return x[0]->value < x[1]->value ? 1 : -1;
	if (y[0]->value < y[1]->value || y[0]->value > y[1]->value)
		return y[0]->value < y[1]->value ? 1 : -1;
	return strcmp(order->tree->labels[one->label].name, order->tree->labels[other->label].name);
}

size_t fg_calltree_flat(const struct fg_calltree *tree, struct fg_label_figures **figures)
{
	struct figures_order order = {.tree = tree, .column = tree->column_count - 1};
	struct fg_label_figures *all = fg_xcalloc(tree->label_count, sizeof(all[0]));
	bool *seen = fg_xcalloc(tree->label_count, sizeof(seen[0]));
	size_t count = 0;

	for (size_t n = 1; n < tree->node_count; n++) {
		const struct fg_calltree_node *node = &tree->nodes[n];
		struct fg_label_figures *of = &all[node->label];

		seen[node->label] = node->label != 0;
		for (unsigned c = 0; c < tree->column_count; c++) {
			fg_weight_add(&tree->measure, &of->self[c], &tree->self[c][n], 1.0);
			if (!node->recursive)
				fg_weight_add(&tree->measure, &of->inclusive[c],
					      &tree->inclusive[c][n], 1.0);
		}
		of->leaf_paths += tree->self[order.column][n].samples > 0;
	}
	for (size_t i = 0; i < tree->label_count; i++) {
		if (!seen[i])
			continue;
		all[count] = all[i];
		all[count++].label = (uint32_t)i;
	}
	free(seen);
	qsort_r(all, count, sizeof(all[0]), by_self, &order);
	*figures = all;
	return count;
}

static int by_caller(const void *a, const void *b, void *context)
{
	const struct figures_order *order = context;
	const struct fg_label_edge *one = a;
	const struct fg_label_edge *other = b;
	double x = one->weight[order->column].value;
	double y = other->weight[order->column].value;

	if (one->caller != other->caller)
		return one->caller < other->caller ? -1 : 1;
	if (x < y || x > y)
		return x < y ? 1 : -1;
	return strcmp(order->tree->labels[one->callee].name,
		      order->tree->labels[other->callee].name);
}

size_t fg_calltree_edges(const struct fg_calltree *tree, struct fg_label_edge **edges)
{
	struct figures_order order = {.tree = tree, .column = tree->column_count - 1};
	struct fg_pair_index index = {0};
	struct fg_label_edge *all = NULL;
	uint32_t *open = fg_xcalloc(tree->node_count, sizeof(open[0]));
	size_t capacity = 0;
	size_t count = 0;
	struct walk walk;
	bool more = walk_start(&walk, tree);

	for (; more; more = walk_next(&walk)) {
		const struct fg_calltree_node *node = &tree->nodes[walk.node];
		uint32_t caller = tree->nodes[node->parent].label;
		uint32_t edge;
		bool is_new;

		if (walk.node == 0)
			continue;
		edge = *fg_pair_index_add(&index, caller, node->label, (uint32_t)count, &is_new);
		if (is_new) {
			FG_APPEND(all, count, capacity) =
				(struct fg_label_edge){.caller = caller, .callee = node->label};
		}
		FG_ASSERT(all && edge < count);
		if (!walk.entered)
			open[edge]--;
		else if (open[edge]++ == 0)
			for (unsigned c = 0; c < tree->column_count; c++)
				fg_weight_add(&tree->measure, &all[edge].weight[c],
					      &tree->inclusive[c][walk.node], 1.0);
	}
	free(open);
	fg_pair_index_release(&index);
	if (count > 0)
		qsort_r(all, count, sizeof(all[0]), by_caller, &order);
	*edges = all;
	return count;
}

double fg_weight_error(const struct fg_weight *part, const struct fg_weight *total)
{
	double share;
	double others = total->square - part->square;

	if (part->samples == 0 || total->value <= 0.0 || total->square <= 0.0)
		return (double)NAN;
	share = part->value / total->value;
	return sqrt(part->square * (1 - share) * (1 - share) +
		    (others > 0 ? others : 0) * share * share);
}
