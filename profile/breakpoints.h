/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that were to be counted by hardware breakpoints: what became of each. */
#ifndef FG_PROFILE_BREAKPOINTS_H
#define FG_PROFILE_BREAKPOINTS_H

#include "base/arena.h"
#include "base/strbuf.h"
#include "symbols/trace_read.h"

struct fg_breakpoints {
	struct fg_arena arena;
	struct fg_trace_breakpoint *functions; /* by name: of all processes together */
	size_t count, capacity;
};

void fg_breakpoints_add(struct fg_breakpoints *all, const struct fg_trace *trace);
void fg_breakpoints_release(struct fg_breakpoints *all);
/* Is the number of its calls not the whole one? */
bool fg_breakpoints_lacks(const struct fg_breakpoints *all, const char *function);
/*
 * Takes what breakpoints counted of functions that lack calls out of the trace: at least so many is
 * no number for a table.
 */
void fg_breakpoints_drop(const struct fg_breakpoints *all, struct fg_trace *trace);
/* Appends a line for people.  Looks at the function's code. */
void fg_breakpoints_explain(const struct fg_breakpoints *all, size_t index, struct fg_strbuf *text);

#endif
