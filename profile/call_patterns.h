/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Patterns of functions to count: what each reached in any process, and if nothing, why; how many
 * functions are counted at their entries, and why others are not.
 */
#ifndef FG_PROFILE_CALL_PATTERNS_H
#define FG_PROFILE_CALL_PATTERNS_H

#include "base/arena.h"
#include "base/strbuf.h"
#include "collector/calls/entry_plan.h"
#include "trace/trace_read.h"

struct fg_call_patterns {
	struct fg_arena arena;
	struct fg_trace_pattern *patterns;
	size_t count, capacity;
	/* functions that were requested at their entries, by enum fg_entry_refusal */
	uint64_t entries[FG_ENTRY_REFUSALS];        /* in the process with the most */
	const char *entry_names[FG_ENTRY_REFUSALS]; /* names of some of them, or NULL */
	bool asks_for_entries;                      /* requested in some process */
	/* programs in which some were not reached */
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
/* Appends a line about the entries with this refusal; false: none. */
bool fg_call_patterns_explain_entries(const struct fg_call_patterns *all, unsigned refusal,
				      struct fg_strbuf *text);

#endif
