// SPDX-License-Identifier: Apache-2.0
#include "profile/entry_refusals.h"

#include "base/base.h"

#include <inttypes.h>

enum {
	NAMES_MAX = 8 /* in a trace */
};

/* "12 functions are not counted at the entry: ..." */
static const char *const reasons[FG_ENTRY_REFUSALS] = {
	[FG_ENTRY_SHORT] = "it is shorter than a jump, or may call or end within its first bytes",
	[FG_ENTRY_FIXED] = "its first instructions may only work where they are",
	[FG_ENTRY_INSIDE] = "code may lead into its first instructions",
	[FG_ENTRY_UNBOUNDED] = "its code and where that ends are not known for certain",
	[FG_ENTRY_PART] = "it is a part of another function",
	[FG_ENTRY_OTHER_SIDE] = "it cannot be on the other side, and both are counted alike",
	[FG_ENTRY_RUNTIME] = "the collector depends on it",
	[FG_ENTRY_OBJECT] = "its object has its own stacks, changes its code, or could not be read",
	[FG_ENTRY_CHANGED] = "its object is not the one that was examined before the start",
	[FG_ENTRY_LATE] = "another thread ran before, or the program was started by another",
	[FG_ENTRY_SYSTEM] = "this system does not let its code be changed safely",
	[FG_ENTRY_FULL] = "there is no room for more",
};

void fg_entry_refusals_add(struct fg_entry_refusals *all, const struct fg_trace *trace)
{
	for (size_t i = 0; i < trace->refusal_count; i++) {
		const struct fg_trace_refusal *refusal = &trace->refusals[i];

		all->is_asked_for = true;
		if (refusal->reason >= FG_ENTRY_REFUSALS ||
		    refusal->functions <= all->functions[refusal->reason])
			continue;
		all->functions[refusal->reason] = refusal->functions;
		all->names[refusal->reason] = fg_arena_strdup(&all->arena, refusal->names);
	}
}

void fg_entry_refusals_release(struct fg_entry_refusals *all)
{
	fg_arena_release(&all->arena);
	*all = (struct fg_entry_refusals){0};
}

static void add_names(const struct fg_entry_refusals *all, unsigned reason, struct fg_strbuf *text)
{
	if (all->names[reason] && *all->names[reason])
		fg_strbuf_printf(text, " (%s%s)", all->names[reason],
				 all->functions[reason] > NAMES_MAX ? ", …" : "");
}

bool fg_entry_refusals_explain(const struct fg_entry_refusals *all, unsigned reason,
			       struct fg_strbuf *text)
{
	const uint64_t count = reason < FG_ENTRY_REFUSALS ? all->functions[reason] : 0;

	if (count == 0)
		return false;
	if (reason == FG_ENTRY_ACCEPTED) {
		fg_strbuf_printf(text, "%" PRIu64 " function%s counted at %s", count,
				 count == 1 ? " is" : "s are",
				 count == 1 ? "its entry" : "their entries");
		return true;
	}
	fg_strbuf_printf(text, "%" PRIu64 " function%s not counted at the entry: %s", count,
			 count == 1 ? " is" : "s are", reasons[reason]);
	add_names(all, reason, text);
	return true;
}
