// SPDX-License-Identifier: Apache-2.0
#include "profile/breakpoints.h"

#include "base/base.h"
#include "base/number.h"
#include "code/disassemble.h"
#include "symbols/elf_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
	CODE_MAX = 1 << 20 /* bytes of a function */
};

/* What is worth more to be told comes last. */
static unsigned rank_of(uint32_t state)
{
	static const uint32_t order[] = {FG_BREAKPOINT_COUNTED, FG_BREAKPOINT_OURS,
					 FG_BREAKPOINT_NO_MORE, FG_BREAKPOINT_REFUSED,
					 FG_BREAKPOINT_MISSED,  FG_BREAKPOINT_TOO_OFTEN};
	unsigned rank = 0;

	while (rank < FG_ARRAY_SIZE(order) && order[rank] != state)
		rank++;
	return rank;
}

static struct fg_trace_breakpoint *find(const struct fg_breakpoints *all, const char *name)
{
	for (size_t i = 0; i < all->count; i++)
		if (strcmp(all->functions[i].name, name) == 0)
			return &all->functions[i];
	return NULL;
}

static void join(struct fg_breakpoints *all, const struct fg_trace_breakpoint *one)
{
	struct fg_trace_breakpoint *known = find(all, one->name);

	if (!known) {
		all->functions = fg_grow(all->functions, &all->capacity, all->count + 1,
					 sizeof(all->functions[0]));
		known = &all->functions[all->count++];
		*known = (struct fg_trace_breakpoint){
			.name = fg_arena_strdup(&all->arena, one->name), .state = one->state};
	}
	if (rank_of(one->state) >= rank_of(known->state)) {
		known->state = one->state;
		known->why = one->why;
	}
	known->calls += one->calls;
	known->missed += one->missed;
	if (known->place_count > 0)
		return;
	known->place_count = one->place_count;
	for (size_t i = 0; i < one->place_count; i++)
		known->places[i] = (struct fg_trace_breakpoint_place){
			.path = fg_arena_strdup(&all->arena, one->places[i].path),
			.address = one->places[i].address};
}

void fg_breakpoints_add(struct fg_breakpoints *all, const struct fg_trace *trace)
{
	for (size_t i = 0; i < trace->breakpoint_count; i++)
		join(all, &trace->breakpoints[i]);
}

void fg_breakpoints_release(struct fg_breakpoints *all)
{
	free(all->functions);
	fg_arena_release(&all->arena);
	*all = (struct fg_breakpoints){0};
}

bool fg_breakpoints_lacks(const struct fg_breakpoints *all, const char *function)
{
	const struct fg_trace_breakpoint *one = find(all, function);

	return one && one->state != FG_BREAKPOINT_COUNTED;
}

void fg_breakpoints_drop(const struct fg_breakpoints *all, struct fg_trace *trace)
{
	static const char family[] = "calls.";

	for (size_t i = 1; i < trace->measure_count && i < trace->way_count; i++) {
		const char *name = trace->measures[i];

		if (trace->ways[i] == FG_CALL_WAY_BREAKPOINT && name &&
		    strncmp(name, family, sizeof(family) - 1) == 0 &&
		    fg_breakpoints_lacks(all, name + sizeof(family) - 1))
			trace->measures[i] = NULL;
	}
}

/* ---- for people ---- */

/* Does something in its code lead back to its first instruction, other than a call? */
static bool has_loop_to_entry(const struct fg_trace_breakpoint_place *place)
{
	struct fg_elf elf;
	struct fg_elf_code code = {0};
	const struct fg_elf_symbol *symbol = NULL;
	struct fg_disassembler *disassembler = NULL;
	struct fg_instruction instruction = {0};
	bool found = false;

	if (fg_elf_read(place->path, &elf, NULL) != FG_OK)
		return false;
	symbol = fg_elf_find(&elf, place->address);
	if (symbol && symbol->value == place->address && symbol->size <= CODE_MAX &&
	    fg_elf_read_code(place->path, place->address, symbol->size, &code, NULL) == FG_OK)
		disassembler = fg_disassembler_new(code.machine);
	for (size_t at = 0; disassembler && at < code.size && !found; at += instruction.size) {
		fg_disassemble(disassembler, code.bytes + at, code.size - at, place->address + at,
			       &instruction);
		found = instruction.target == place->address &&
			strncmp(instruction.text, "call", 4) != 0;
	}
	fg_disassembler_free(disassembler);
	free(code.bytes);
	fg_elf_release(&elf);
	return found;
}

static const char *reason_of(uint32_t why, char *text, size_t size)
{
	switch (why) {
	case EACCES:
	case EPERM:
		return "the system does not allow it (kernel.perf_event_paranoid, or a filter of "
		       "system calls)";
	case ENOSPC:
		return "all are in use, by a debugger or another tool";
	case EMFILE:
	case ENFILE:
		return "there are no more descriptors";
	case ENOSYS:
	case ENOENT:
	case ENODEV:
	case EOPNOTSUPP:
		return "this system or processor has none";
	default:
		return strerror_r((int)why, text, size);
	}
}

static void explain_missed(const struct fg_trace_breakpoint *one, struct fg_strbuf *text)
{
	char reason[128];

	fg_strbuf_printf(text, "; in %" PRIu64 " thread%s %s%s", one->missed,
			 one->missed == 1 ? "" : "s",
			 one->why ? "none could be set: " : "it did not count from start to end",
			 one->why ? reason_of(one->why, reason, sizeof(reason)) : "");
}

void fg_breakpoints_explain(const struct fg_breakpoints *all, size_t index, struct fg_strbuf *text)
{
	const struct fg_trace_breakpoint *one = &all->functions[index];
	char calls[FG_NUMBER_TEXT_SIZE];
	char reason[128];
	bool loops = false;

	(void)fg_format_count((double)one->calls, calls);
	switch (one->state) {
	case FG_BREAKPOINT_COUNTED:
		fg_strbuf_printf(
			text,
			"'%s' is counted by a hardware breakpoint: calls only, by process, "
			"without call paths",
			one->name);
		for (size_t i = 0; i < one->place_count; i++)
			loops |= has_loop_to_entry(&one->places[i]);
		if (loops)
			fg_strbuf_add_text(text,
					   "; a loop leads back to its first instruction, and "
					   "each turn counts as a call");
		break;
	case FG_BREAKPOINT_TOO_OFTEN:
		fg_strbuf_printf(text,
				 "'%s' is called too often for a hardware breakpoint: at least %s "
				 "calls",
				 one->name, calls);
		break;
	case FG_BREAKPOINT_MISSED:
		fg_strbuf_printf(text, "'%s' by a hardware breakpoint: at least %s calls",
				 one->name, calls);
		explain_missed(one, text);
		break;
	case FG_BREAKPOINT_REFUSED:
		fg_strbuf_printf(text, "no hardware breakpoint for '%s': %s", one->name,
				 reason_of(one->why, reason, sizeof(reason)));
		break;
	case FG_BREAKPOINT_OURS:
		fg_strbuf_printf(text,
				 "no hardware breakpoint for '%s': the collector itself calls it",
				 one->name);
		break;
	default:
		fg_strbuf_printf(text,
				 "no hardware breakpoint for '%s': there are four, for the "
				 "functions that are named first",
				 one->name);
		break;
	}
}
