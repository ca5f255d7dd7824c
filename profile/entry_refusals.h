/* SPDX-License-Identifier: Apache-2.0 */
/* How many functions are counted at their entries, and why others are not. */
#ifndef FG_PROFILE_ENTRY_REFUSALS_H
#define FG_PROFILE_ENTRY_REFUSALS_H

#include "base/arena.h"
#include "base/strbuf.h"
#include "collector/calls/entry_plan.h"
#include "trace/trace_read.h"

struct fg_entry_refusals {
	struct fg_arena arena;
	bool is_asked_for;                     /* in any process */
	uint64_t functions[FG_ENTRY_REFUSALS]; /* by reason; of the process that has most */
	const char *names[FG_ENTRY_REFUSALS];  /* of some of them; NULL: none */
};

void fg_entry_refusals_add(struct fg_entry_refusals *all, const struct fg_trace *trace);
void fg_entry_refusals_release(struct fg_entry_refusals *all);
/* Appends a line about the functions with this reason; false: there are none. */
bool fg_entry_refusals_explain(const struct fg_entry_refusals *all, unsigned reason,
			       struct fg_strbuf *text);

#endif
