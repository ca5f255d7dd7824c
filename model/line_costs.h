/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Costs of single lines of source or instructions: sums over all sampled repetitions, by function,
 * side and place. A place's cost includes callees: it sums all samples with the place on their
 * stack, each counted once per function.
 */
#ifndef FG_MODEL_LINE_COSTS_H
#define FG_MODEL_LINE_COSTS_H

#include "base/arena.h"
#include "base/map.h"

struct fg_line_cost {
	uint32_t function; /* index into the functions of the profile set */
	uint32_t file;     /* index into files */
	uint32_t line;     /* line of the file, or address in a binary */
	uint32_t arm;      /* enum fg_arm */
	double cost;       /* in the unit of the set's time */
};

/* Empty when zero-initialised. */
struct fg_line_costs {
	struct fg_line_cost *items;
	size_t count;
	size_t capacity;
	struct fg_map index; /* function, file, line, arm → item */
	struct fg_map files; /* in order of first use: entry i is file i */
	struct fg_arena arena;
};

/* The costs of one function and side in one file, sorted by line. The caller frees `items`. */
struct fg_function_lines {
	const char *file; /* the file with the largest part of the cost; NULL: unknown */
	struct fg_line_cost *items;
	size_t count;
	double total; /* cost of the function on this side, over all files */
};

/* Adds `key.cost` to the cost of the same line. */
void fg_line_costs_add(struct fg_line_costs *costs, const char *file,
		       const struct fg_line_cost *key);
struct fg_function_lines fg_line_costs_of(const struct fg_line_costs *costs, uint32_t function,
					  uint32_t arm);
void fg_line_costs_release(struct fg_line_costs *costs);

#endif
