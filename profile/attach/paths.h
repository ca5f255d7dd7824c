/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks of one process as the call paths of a trace: modules, frames and nodes are numbered and
 * written when they first occur.
 */
#ifndef FG_ATTACH_PATHS_H
#define FG_ATTACH_PATHS_H

#include "base/map.h"
#include "profile/attach/kernel_names.h"
#include "profile/attach/mappings.h"
#include "profile/attach/stacks.h"
#include "trace/trace_writer.h"

struct fg_paths {
	struct fg_trace_writer *writer;
	struct fg_map modules;
	struct fg_map frames;
	struct fg_map nodes;
	struct fg_map functions; /* functions of the kernel, by start address */
};

void fg_paths_init(struct fg_paths *paths, struct fg_trace_writer *writer);
void fg_paths_release(struct fg_paths *paths);
/* Returns the node of the leaf. */
uint64_t fg_paths_add(struct fg_paths *paths, const struct fg_mappings *mappings,
		      const struct fg_walked_stack *stack);
/* Adds an unknown stack. */
uint64_t fg_paths_add_unknown(struct fg_paths *paths);
/* Returns the node of a kernel frame below `node`; `function` may be NULL. */
uint64_t fg_paths_add_kernel(struct fg_paths *paths, uint64_t node,
			     const struct fg_kernel_function *function, uint64_t address,
			     bool exact);

#endif
