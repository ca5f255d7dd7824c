/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Patterns of functions to count: what each reached in any process, and if nothing, why.
 */
#ifndef FG_PROFILE_CALL_PATTERNS_H
#define FG_PROFILE_CALL_PATTERNS_H

#include "base/arena.h"
#include "base/strbuf.h"
#include "profile/entry_refusals.h"
#include "trace/trace_read.h"

struct fg_call_patterns {
	struct fg_arena arena;
	struct fg_trace_pattern *patterns;
	size_t count, capacity;
	struct fg_entry_refusals entries; /* functions that were to be counted at their entries, */
	/* the programs that did not reach all */
	const char **programs;
	size_t program_count, program_capacity;
};

void fg_call_patterns_add(struct fg_call_patterns *all, const struct fg_trace *trace);
void fg_call_patterns_release(struct fg_call_patterns *all);
/*
 * Appends a line for people: "no call of 'f' is counted: ...".  False: there is nothing to
 * say.  Looks into the symbol tables of the programs.
 */
bool fg_call_patterns_explain(const struct fg_call_patterns *all, size_t index,
			      struct fg_strbuf *text);

#endif
