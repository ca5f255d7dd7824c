// SPDX-License-Identifier: Apache-2.0
#include "reporters/profile_order.h"

#include "base/sort.h"

struct named {
	const char *name;
	const char *library;
	uint32_t function;
};

/* A node with its sort keys among its siblings. */
struct child {
	uint32_t parent;
	uint32_t rank;
	uint32_t node;
};

FG_ORDER_BY(compare_named, struct named, FG_TEXT_UP(name), FG_TEXT_UP(library))

FG_ORDER_BY(compare_child, struct child, FG_UP(parent), FG_UP(rank))

/* Fills order->functions. Returns each function's rank. */
static uint32_t *order_functions(struct fg_report_order *order, const struct fg_profile_set *set)
{
	struct named *named = fg_xcalloc(set->function_count, sizeof(named[0]));
	uint32_t *ranks = fg_xcalloc(set->function_count, sizeof(ranks[0]));

	for (size_t f = 0; f < set->function_count; f++)
		named[f] = (struct named){set->functions[f].name, set->functions[f].library,
					  (uint32_t)f};
	if (set->function_count > 1)
		qsort(named + 1, set->function_count - 1, sizeof(named[0]), compare_named);
	for (size_t i = 0; i < set->function_count; i++) {
		order->functions[i] = named[i].function;
		ranks[named[i].function] = (uint32_t)i;
	}
	free(named);
	return ranks;
}

static void order_nodes(struct fg_report_order *order, const struct fg_profile_set *set,
			const uint32_t *ranks)
{
	struct child *children = fg_xcalloc(set->node_count, sizeof(children[0]));
	size_t *first =
		fg_xcalloc(set->node_count + 1, sizeof(first[0])); /* first child of each node */
	uint32_t *stack = fg_xcalloc(set->node_count, sizeof(stack[0]));
	size_t waiting = 1;

	for (size_t i = 1; i < set->node_count; i++) {
		children[i] = (struct child){set->nodes[i].parent, ranks[set->nodes[i].function],
					     (uint32_t)i};
		first[set->nodes[i].parent + 1]++;
	}
	if (set->node_count > 1)
		qsort(children + 1, set->node_count - 1, sizeof(children[0]), compare_child);
	first[0] = 1;
	for (size_t i = 0; i < set->node_count; i++)
		first[i + 1] += first[i];
	for (size_t done = 0; waiting > 0; done++) {
		const uint32_t node = stack[--waiting];

		order->nodes[done] = node;
		for (size_t c = first[node + 1]; c > first[node]; c--)
			stack[waiting++] = children[c - 1].node;
	}
	free(children);
	free(first);
	free(stack);
}

void fg_report_order_init(struct fg_report_order *order, const struct fg_profile_set *set)
{
	uint32_t *ranks = NULL;

	order->nodes = fg_xcalloc(set->node_count, sizeof(order->nodes[0]));
	order->functions = fg_xcalloc(set->function_count, sizeof(order->functions[0]));
	ranks = order_functions(order, set);
	order_nodes(order, set, ranks);
	free(ranks);
}

void fg_report_order_release(struct fg_report_order *order)
{
	free(order->nodes);
	free(order->functions);
	*order = (struct fg_report_order){0};
}
