// SPDX-License-Identifier: Apache-2.0
#include "model/time_order.h"

#include "base/text.h"

uint32_t fg_time_order_function(struct fg_time_order *order,
				const struct fg_time_function *function)
{
	char *key =
		fg_xasprintf("%s\n%s", function->library ? function->library : "", function->name);
	bool is_new = false;
	const uint32_t at = (uint32_t)*fg_map_add_text(&order->function_index, key,
						       order->function_count, &is_new);

	free(key);
	if (!is_new)
		return at;
	order->functions = fg_arena_grow(&order->arena, order->functions, &order->function_capacity,
					 order->function_count, sizeof(order->functions[0]));
	order->functions[order->function_count++] = (struct fg_time_function){
		.name = fg_arena_strdup(&order->arena, function->name),
		.library = function->library ? fg_arena_strdup(&order->arena, function->library)
					     : NULL,
		.file = function->file ? fg_arena_strdup(&order->arena, function->file) : NULL,
		.line = function->line,
	};
	return at;
}

uint32_t fg_time_order_append(struct fg_time_order *order, const struct fg_time_node *node)
{
	order->nodes = fg_grow(order->nodes, &order->node_capacity, order->node_count + 1,
			       sizeof(order->nodes[0]));
	order->nodes[order->node_count] = *node;
	return (uint32_t)order->node_count++;
}

void fg_time_order_release(struct fg_time_order *order)
{
	free(order->nodes);
	fg_map_release(&order->function_index);
	fg_arena_release(&order->arena);
	*order = (struct fg_time_order){0};
}
