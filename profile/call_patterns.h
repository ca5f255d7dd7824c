/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Patterns of functions to count: for each pattern, the functions that it reached in any process,
 * or the reason why it reached none; and the number of functions that were counted or refused at
 * their entries, by reason.
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
	uint64_t entries[FG_ENTRY_REFUSALS];        /* maximum number in one process */
	const char *entry_names[FG_ENTRY_REFUSALS]; /* names of some of the functions, or NULL */
	bool entries_requested;                     /* some process requested entries */
	/* programs in which some patterns reached no function */
	const char **programs;
	size_t program_count, program_capacity;
};

void fg_call_patterns_add(struct fg_call_patterns *all, const struct fg_trace *trace);
void fg_call_patterns_release(struct fg_call_patterns *all);
/*
 * Appends a line for people: "no call of 'f' is counted: ...". Reads the symbol tables of the
 * programs. Returns false if there is nothing to explain.
 */
bool fg_call_patterns_explain(const struct fg_call_patterns *all, size_t index,
			      struct fg_strbuf *text);
/* Appends a line about the entries with this refusal. Returns false if no entry has it. */
bool fg_call_patterns_explain_entries(const struct fg_call_patterns *all, unsigned refusal,
				      struct fg_strbuf *text);

#endif
