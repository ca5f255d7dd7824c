/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One execution in order of time: a tree in which a call path that was left and entered again
 * appears twice. Children are in the order in which they ran.
 */
#ifndef FG_MODEL_TIME_ORDER_H
#define FG_MODEL_TIME_ORDER_H

#include "base/arena.h"
#include "base/map.h"

struct fg_time_function {
	const char *name;
	const char *library; /* NULL: a thread */
	const char *file;    /* NULL: unknown */
	unsigned line;
};

struct fg_time_node {
	uint32_t parent; /* smaller than the node's own index; the root's is 0 */
	uint32_t function;
	double start_ns; /* on an axis of CPU time on which threads follow each other */
	double self_ns;
};

/* Zero-initialised is empty. */
struct fg_time_order {
	struct fg_arena arena;
	struct fg_time_function *functions;
	size_t function_count, function_capacity;
	struct fg_time_node *nodes; /* [0]: the program */
	size_t node_count, node_capacity;
	uint32_t pair; /* the pair of this execution */
	uint32_t step; /* one in `step` samples is kept */
	struct fg_map function_index;
};

/* A benchmark's two sides. No nodes: that side's samples were not kept. */
struct fg_time_orders {
	struct fg_time_order sides[2];
};

/* Texts are copied. Functions are identified by name and library. */
uint32_t fg_time_order_function(struct fg_time_order *order,
				const struct fg_time_function *function);
uint32_t fg_time_order_append(struct fg_time_order *order, const struct fg_time_node *node);
void fg_time_order_release(struct fg_time_order *order);

#endif
