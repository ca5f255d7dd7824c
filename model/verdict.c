// SPDX-License-Identifier: Apache-2.0
#include "model/verdict.h"

#include <stdarg.h>

static const char *const names[] = {
	[FG_OUTCOME_PASS] = "pass",           [FG_OUTCOME_NEW] = "new",
	[FG_OUTCOME_MISSING] = "missing",     [FG_OUTCOME_IMPROVEMENT] = "improvement",
	[FG_OUTCOME_PLACEMENT] = "placement", [FG_OUTCOME_INCONCLUSIVE] = "inconclusive",
	[FG_OUTCOME_CREEP] = "creep",         [FG_OUTCOME_REGRESSION] = "regression",
	[FG_OUTCOME_ERROR] = "error",
};

const char *fg_outcome_name(enum fg_outcome outcome)
{
	FG_ASSERT((size_t)outcome < FG_ARRAY_SIZE(names));
	return names[outcome];
}

static const char *const standings[] = {
	[FG_STANDING_UNCHANGED] = "unchanged", [FG_STANDING_NOT_SURE] = "not sure",
	[FG_STANDING_SAME_CODE] = "same code", [FG_STANDING_MOVED] = "moved",
	[FG_STANDING_FASTER] = "faster",       [FG_STANDING_GUILTY] = "guilty",
};

const char *fg_standing_name(enum fg_standing standing)
{
	FG_ASSERT((size_t)standing < FG_ARRAY_SIZE(standings));
	return standings[standing];
}

bool fg_standing_parse(const char *name, enum fg_standing *standing)
{
	for (size_t i = 0; i < FG_ARRAY_SIZE(standings); i++) {
		if (strcmp(standings[i], name) == 0) {
			*standing = (enum fg_standing)i;
			return true;
		}
	}
	return false;
}

static const char *const works[] = {
	[FG_WORK_SAME] = "same_work",
	[FG_WORK_MORE] = "more_work",
	[FG_WORK_SAME_SLOWER] = "same_work_slower",
	[FG_WORK_MORE_NOT_FELT] = "more_work_not_felt",
	[FG_WORK_LESS] = "less_work",
	[FG_WORK_SAME_FASTER] = "same_work_faster",
	[FG_WORK_LESS_NOT_FELT] = "less_work_not_felt",
};

const char *fg_work_name(enum fg_work work)
{
	FG_ASSERT((size_t)work < FG_ARRAY_SIZE(works));
	return works[work];
}

bool fg_work_parse(const char *name, enum fg_work *work)
{
	for (size_t i = 0; i < FG_ARRAY_SIZE(works); i++) {
		if (strcmp(works[i], name) == 0) {
			*work = (enum fg_work)i;
			return true;
		}
	}
	return false;
}

static const char *const mechanisms[] = {
	[FG_MECHANISM_UNKNOWN] = "not_known",
	[FG_MECHANISM_CALLS] = "calls",
	[FG_MECHANISM_INSTRUCTIONS] = "instructions_per_call",
	[FG_MECHANISM_CACHE] = "cache_misses",
	[FG_MECHANISM_BRANCHES] = "mispredicted_branches",
	[FG_MECHANISM_NOT_INLINED] = "not_inlined",
	[FG_MECHANISM_NOT_VECTORISED] = "not_vectorised",
	[FG_MECHANISM_NOT_TAIL_CALLED] = "not_tail_called",
	[FG_MECHANISM_ALLOCATIONS] = "allocations",
	[FG_MECHANISM_WAITS] = "waits",
	[FG_MECHANISM_PLACEMENT] = "placement",
};

const char *fg_mechanism_name(enum fg_mechanism_kind kind)
{
	FG_ASSERT((size_t)kind < FG_ARRAY_SIZE(mechanisms));
	return mechanisms[kind];
}

bool fg_mechanism_parse(const char *name, enum fg_mechanism_kind *kind)
{
	for (size_t i = 0; i < FG_ARRAY_SIZE(mechanisms); i++) {
		if (strcmp(mechanisms[i], name) == 0) {
			*kind = (enum fg_mechanism_kind)i;
			return true;
		}
	}
	return false;
}

bool fg_standing_is_sure(enum fg_standing standing)
{
	return standing == FG_STANDING_GUILTY || standing == FG_STANDING_FASTER ||
	       standing == FG_STANDING_SAME_CODE;
}

bool fg_outcome_parse(const char *name, enum fg_outcome *outcome)
{
	for (size_t i = 0; i < FG_ARRAY_SIZE(names); i++) {
		if (strcmp(names[i], name) == 0) {
			*outcome = (enum fg_outcome)i;
			return true;
		}
	}
	return false;
}

enum fg_outcome fg_outcome_worse(enum fg_outcome a, enum fg_outcome b)
{
	return a > b ? a : b;
}

void fg_notes_add(struct fg_notes *notes, struct fg_arena *arena, const char *format, ...)
{
	char *text = NULL;
	va_list ap;

	va_start(ap, format);
	text = fg_xvasprintf(format, ap);
	va_end(ap);
	if (notes->count == notes->capacity) {
		const size_t wanted = notes->capacity ? 2 * notes->capacity : 4;
		const char **items = fg_arena_array(arena, wanted, sizeof(items[0]));

		if (notes->count)
			memcpy(items, notes->items, notes->count * sizeof(items[0]));
		notes->items = items;
		notes->capacity = wanted;
	}
	notes->items[notes->count++] = fg_arena_strdup(arena, text);
	free(text);
}

void fg_verdict_release(struct fg_verdict *verdict)
{
	fg_arena_release(&verdict->arena);
	*verdict = (struct fg_verdict){0};
}
