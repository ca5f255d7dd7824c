// SPDX-License-Identifier: Apache-2.0
#include "profile/entry_refusals.h"

#include "base/base.h"

#include <inttypes.h>

enum {
	NAMES_TOLD = 8 /* by the collector */
};

/* "12 functions are counted at other objects' calls only: ..." */
static const char *const reasons[FG_ENTRY_REFUSALS] = {
	[FG_ENTRY_SHORT] = "it is shorter than a jump, or may end within its first instructions",
	[FG_ENTRY_LOOP] = "a loop leads back to its first instructions",
	[FG_ENTRY_BRANCH] = "a branch may lead into its first instructions",
	[FG_ENTRY_ADDRESS] = "the address of one of its first instructions may be taken",
	[FG_ENTRY_SYMBOL] = "another symbol lies in its first instructions",
	[FG_ENTRY_HANDLER] = "an exception is handled in its first instructions",
	[FG_ENTRY_CALL] = "it calls within its first instructions",
	[FG_ENTRY_MEMORY] = "its first instructions use memory that may not be there",
	[FG_ENTRY_INSTRUCTION] = "one of its first instructions may only work where it is",
	[FG_ENTRY_COMPUTED] = "it jumps to where a register says, as a switch may",
	[FG_ENTRY_PART] = "it is a part of another function",
	[FG_ENTRY_FRAMELESS] = "it has no unwind table that says where it ends",
	[FG_ENTRY_UNDECODED] = "its code could not be decoded",
	[FG_ENTRY_RESOLVER] = "the processor decides which function is called by this name",
	[FG_ENTRY_START] = "it belongs to what starts or links its object",
	[FG_ENTRY_OTHER_SIDE] = "on the other side it cannot be, and both are counted alike",
	[FG_ENTRY_RUNTIME] = "its library is one that the collector stands on",
	[FG_ENTRY_STACKS] = "its object has stacks or ways of calling of its own",
	[FG_ENTRY_WRITABLE] = "the code of its object is changed while it runs",
	[FG_ENTRY_UNREAD] = "its object could not be read",
	[FG_ENTRY_OURS] = "the collector itself calls it",
	[FG_ENTRY_CHANGED] = "its object is not the one that was looked at before the start",
	[FG_ENTRY_PROTECTED] = "the system does not let code be changed",
	[FG_ENTRY_THREADS] = "a second thread was there before",
	[FG_ENTRY_FAR] = "there is no memory near its object",
	[FG_ENTRY_FULL] = "there is no room for more",
	[FG_ENTRY_LATER] = "a program that was started by another was not looked at",
	[FG_ENTRY_PROCESSOR] = "registers of this processor could not be saved",
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
				 all->functions[reason] > NAMES_TOLD ? ", …" : "");
}

bool fg_entry_refusals_explain(const struct fg_entry_refusals *all, unsigned reason,
			       struct fg_strbuf *text)
{
	const uint64_t count = reason < FG_ENTRY_REFUSALS ? all->functions[reason] : 0;

	if (count == 0)
		return false;
	if (reason == FG_ENTRY_NOPS) {
		fg_strbuf_printf(text,
				 "%" PRIu64 " function%s counted in NOPs that the compiler left",
				 count, count == 1 ? " is" : "s are");
		add_names(all, reason, text);
		return true;
	}
	if (reason == FG_ENTRY_ACCEPTED) {
		fg_strbuf_printf(text, "%" PRIu64 " function%s counted at %s", count,
				 count == 1 ? " is" : "s are",
				 count == 1 ? "its entry" : "their entries");
		return true;
	}
	fg_strbuf_printf(text, "%" PRIu64 " function%s not counted at the entry: %s", count,
			 count == 1 ? " is" : "s are",
			 reasons[reason] ? reasons[reason] : "of an unknown reason");
	add_names(all, reason, text);
	return true;
}
