/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks of one process as the call paths of a trace: modules, frames and nodes get their numbers
 * and are written when they are first seen.
 */
#ifndef FG_OUTSIDE_PATHS_H
#define FG_OUTSIDE_PATHS_H

#include "base/map.h"
#include "outside/mappings.h"
#include "outside/stacks.h"
#include "symbols/trace_writer.h"

struct fg_paths {
	struct fg_trace_writer *writer;
	struct fg_map modules;
	struct fg_map frames;
	struct fg_map nodes;
};

void fg_paths_init(struct fg_paths *paths, struct fg_trace_writer *writer);
void fg_paths_release(struct fg_paths *paths);
/* The node of the leaf. */
uint64_t fg_paths_add(struct fg_paths *paths, const struct fg_mappings *mappings,
		      const struct fg_walked_stack *stack);

#endif
