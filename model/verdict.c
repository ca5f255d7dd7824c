// SPDX-License-Identifier: Apache-2.0
#include "model/verdict.h"

#include "base/json_exchange.h"
#include "base/text.h"

#include <math.h>
#include <stdarg.h>

static const char *const names[] = {
	[FG_OUTCOME_PASS] = "pass",           [FG_OUTCOME_NEW] = "new",
	[FG_OUTCOME_MISSING] = "missing",     [FG_OUTCOME_IMPROVEMENT] = "improvement",
	[FG_OUTCOME_PLACEMENT] = "placement", [FG_OUTCOME_INCONCLUSIVE] = "inconclusive",
	[FG_OUTCOME_CREEP] = "creep",         [FG_OUTCOME_REGRESSION] = "regression",
	[FG_OUTCOME_ERROR] = "error",
};

FG_WORDS(names, enum fg_outcome, fg_outcome_name, fg_outcome_parse)

static const char *const standings[] = {
	[FG_STANDING_UNCHANGED] = "unchanged", [FG_STANDING_NOT_SURE] = "not sure",
	[FG_STANDING_SAME_CODE] = "same code", [FG_STANDING_MOVED] = "moved",
	[FG_STANDING_FASTER] = "faster",       [FG_STANDING_GUILTY] = "guilty",
};

FG_WORDS(standings, enum fg_standing, fg_standing_name, fg_standing_parse)

static const char *const works[] = {
	[FG_WORK_SAME] = "same_work",
	[FG_WORK_MORE] = "more_work",
	[FG_WORK_SAME_SLOWER] = "same_work_slower",
	[FG_WORK_MORE_NOT_FELT] = "more_work_not_felt",
	[FG_WORK_LESS] = "less_work",
	[FG_WORK_SAME_FASTER] = "same_work_faster",
	[FG_WORK_LESS_NOT_FELT] = "less_work_not_felt",
};

FG_WORDS(works, enum fg_work, fg_work_name, fg_work_parse)

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

FG_WORDS(mechanisms, enum fg_mechanism_kind, fg_mechanism_name, fg_mechanism_parse)

bool fg_standing_is_sure(enum fg_standing standing)
{
	return standing == FG_STANDING_GUILTY || standing == FG_STANDING_FASTER ||
	       standing == FG_STANDING_SAME_CODE;
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
	notes->items = fg_arena_grow(arena, notes->items, &notes->capacity, notes->count,
				     sizeof(notes->items[0]));
	notes->items[notes->count++] = fg_arena_strdup(arena, text);
	free(text);
}

bool fg_mechanism_exchange(const struct fg_exchange *with, void *at)
{
	struct fg_mechanism *mechanism = at;
	const char *kind = fg_mechanism_name(mechanism->kind);

	fg_exchange_words(with, "kind", &kind);
	fg_exchange_words(with, "words", &mechanism->words);
	if (!with->w || !isnan(mechanism->counts[1]))
		fg_exchange_pair(with, "counts", &mechanism->counts[0], &mechanism->counts[1]);
	if (!with->w || !isnan(mechanism->explains))
		fg_exchange_number(with, "explains", &mechanism->explains);
	return fg_mechanism_parse(kind, &mechanism->kind);
}

const struct fg_metric_verdict *fg_verdict_metric(const struct fg_benchmark_verdict *verdict,
						  const char *name)
{
	for (size_t i = 0; i < verdict->metric_count; i++) {
		if (strcmp(verdict->metrics[i].name, name) == 0)
			return &verdict->metrics[i];
	}
	return NULL;
}

void fg_verdict_release(struct fg_verdict *verdict)
{
	fg_arena_release(&verdict->arena);
	*verdict = (struct fg_verdict){0};
}
