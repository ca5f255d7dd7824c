// SPDX-License-Identifier: Apache-2.0
#include "model/measure.h"

#define MEASURE(called, words, of, folded, shown)                            \
 .name = (called), .label = (words), .unit = (of), .fold = FG_FOLD_##folded, \
 .better = FG_BETTER_LOWER, .format = (shown)
#define TIME(called, words)   MEASURE(called, words, "ns", SUM, fg_format_duration)
#define EVENTS(called, words) MEASURE(called, words, "1", SUM, fg_format_count), .exact = true
#define BYTES(folded, called, words) \
 MEASURE(called, words, "bytes", folded, fg_format_size), .exact = true

/* A name that ends with a dot is a family, with one measure per function, type or dump. */
static const struct fg_measure builtin[FG_MEASURE_BUILTIN_COUNT] = {
	[FG_MEASURE_CPU_TIME] = {TIME("cpu_time", "CPU time")},
	[FG_MEASURE_WALL_TIME] = {TIME("wall_time", "wall-clock time")},
	[FG_MEASURE_INSTRUCTIONS] = {EVENTS("instructions", "instructions")},
	[FG_MEASURE_CALLS] = {EVENTS("calls", "calls")},
	[FG_MEASURE_CACHE_MISSES] = {EVENTS("cache.misses", "misses of the last-level cache"),
				     .is_simulated = true},
	[FG_MEASURE_CACHE_FIRST_MISSES] = {EVENTS("cache.first_misses",
						  "misses of the first-level caches"),
					   .is_simulated = true},
	[FG_MEASURE_BRANCH_MISSES] = {EVENTS("branch.misses", "mispredicted branches"),
				      .is_simulated = true},
	[FG_MEASURE_CALLS_OF] = {EVENTS("calls.", "calls of a function")},
	[FG_MEASURE_TIME_OF] = {TIME("time.", "time in calls of a function"), .is_recorded = true},
	[FG_MEASURE_HEAP_ALLOCATIONS] = {EVENTS("heap.allocations", "allocations")},
	[FG_MEASURE_HEAP_BYTES] = {BYTES(SUM, "heap.bytes", "memory allocated")},
	[FG_MEASURE_HEAP_LARGEST] = {BYTES(MAX, "heap.largest", "largest allocation")},
	[FG_MEASURE_HEAP_ROUNDING] = {BYTES(SUM, "heap.rounding",
					    "memory beyond the requested sizes")},
	[FG_MEASURE_HEAP_FREES] = {EVENTS("heap.frees", "blocks freed")},
	[FG_MEASURE_HEAP_LIVE] = {BYTES(SUM, "heap.live", "memory held at the end")},
	[FG_MEASURE_HEAP_LIVE_BLOCKS] = {EVENTS("heap.live_blocks", "blocks held at the end")},
	[FG_MEASURE_HEAP_LIVE_DUMPED] = {BYTES(SUM, "heap.live.", "memory held at a dump")},
	[FG_MEASURE_HEAP_LIVE_BLOCKS_DUMPED] = {EVENTS("heap.live_blocks.",
						       "blocks held at a dump")},
	[FG_MEASURE_HEAP_PEAK] = {BYTES(SUM, "heap.peak", "memory held at the peak")},
	[FG_MEASURE_HEAP_OWN_PEAK] = {BYTES(MAX, "heap.own_peak",
					    "maximum memory that a call path held")},
	[FG_MEASURE_HEAP_TEMPORARY] = {EVENTS("heap.temporary", "temporary allocations")},
	[FG_MEASURE_HEAP_LEAKED] = {BYTES(SUM, "heap.leaked", "memory lost")},
	[FG_MEASURE_HEAP_LEAKED_BLOCKS] = {EVENTS("heap.leaked_blocks", "blocks lost")},
	[FG_MEASURE_HEAP_UNTOUCHED] = {BYTES(SUM, "heap.untouched",
					     "memory that was never touched")},
	[FG_MEASURE_FD_OPENED] = {EVENTS("fd.opened", "descriptors opened")},
	[FG_MEASURE_FD_LIVE] = {EVENTS("fd.live", "descriptors open at the end")},
	[FG_MEASURE_FD_LIVE_DUMPED] = {EVENTS("fd.live.", "descriptors open at a dump")},
	[FG_MEASURE_FD_PEAK] = {EVENTS("fd.peak", "descriptors open at the peak")},
	[FG_MEASURE_IO_CALLS] = {EVENTS("io.calls", "input and output calls")},
	[FG_MEASURE_IO_BYTES_READ] = {BYTES(SUM, "io.bytes_read", "bytes read")},
	[FG_MEASURE_IO_BYTES_WRITTEN] = {BYTES(SUM, "io.bytes_written", "bytes written")},
	[FG_MEASURE_THROWS] = {EVENTS("throws", "exceptions thrown")},
	[FG_MEASURE_THROWS_OF] = {EVENTS("throws.", "exceptions of a type")},
	[FG_MEASURE_LOCKS_WAITS] = {EVENTS("locks.waits", "waits for locks")},
	[FG_MEASURE_LOCKS_WAIT_TIME] = {TIME("locks.wait_time", "time waited for locks"),
					.exact = true},
};

static bool is_family_of(const struct fg_measure *row, const char *name)
{
	const size_t length = strlen(row->name);

	return length > 0 && row->name[length - 1] == '.' &&
	       strncmp(row->name, name, length) == 0 && name[length] != '\0';
}

const struct fg_measure *fg_measure_match(const struct fg_measure *table, size_t count,
					  const char *name)
{
	const struct fg_measure *family = NULL;

	for (size_t i = 0; i < count; i++) {
		if (strcmp(table[i].name, name) == 0)
			return &table[i];
		if (is_family_of(&table[i], name))
			family = &table[i];
	}
	return family;
}

bool fg_measure_is_known(const char *name)
{
	const struct fg_measure *row = fg_measure_match(builtin, FG_ARRAY_SIZE(builtin), name);

	return row && !row->is_recorded && !row->is_simulated;
}

struct fg_measure fg_measure_describe(const char *name, const char *unit)
{
	const struct fg_measure *row = fg_measure_match(builtin, FG_ARRAY_SIZE(builtin), name);
	struct fg_measure measure = {
		.label = name,
		.unit = unit ? unit : "1",
		.fold = FG_FOLD_SUM,
		.better = FG_BETTER_LOWER,
	};

	if (row)
		measure = *row;
	if (row && strcmp(row->name, name) != 0)
		measure.label = name;
	measure.name = name;
	return measure;
}

bool fg_measure_is_time(uint16_t id)
{
	return id == FG_MEASURE_CPU_TIME || id == FG_MEASURE_WALL_TIME;
}

bool fg_measure_has_time(const struct fg_measure *measure)
{
	return strcmp(measure->unit, "ns") == 0;
}

const char *fg_measure_text(const struct fg_measure *measure, double value,
			    char text[FG_NUMBER_TEXT_SIZE])
{
	return measure->format ? measure->format(value, text)
			       : fg_format_value(value, measure->unit, text);
}

const struct fg_measure *fg_measure_at(const struct fg_measure_list *list, uint16_t id)
{
	if (id < FG_MEASURE_BUILTIN_COUNT)
		return &builtin[id];
	FG_ASSERT(id < fg_measure_count(list));
	return list->own[id - FG_MEASURE_BUILTIN_COUNT];
}

size_t fg_measure_count(const struct fg_measure_list *list)
{
	return FG_MEASURE_BUILTIN_COUNT + list->count;
}

bool fg_measure_find(const struct fg_measure_list *list, const char *name, uint16_t *id)
{
	const size_t count = fg_measure_count(list);

	for (size_t i = 0; i < count; i++) {
		if (strcmp(fg_measure_at(list, (uint16_t)i)->name, name) != 0)
			continue;
		*id = (uint16_t)i;
		return true;
	}
	return false;
}

uint16_t fg_measure_add(struct fg_measure_list *list, struct fg_arena *arena,
			const struct fg_measure *measure)
{
	struct fg_measure *copy = NULL;
	uint16_t id = 0;

	if (fg_measure_find(list, measure->name, &id))
		return id;
	FG_ASSERT(fg_measure_count(list) < FG_MEASURES_MAX);
	copy = fg_arena_memdup(arena, measure, sizeof(*measure));
	copy->name = fg_arena_strdup(arena, measure->name);
	copy->label = fg_arena_strdup(arena, measure->label);
	copy->unit = fg_arena_strdup(arena, measure->unit);
	list->own =
		fg_arena_grow(arena, list->own, &list->capacity, list->count, sizeof(list->own[0]));
	list->own[list->count++] = copy;
	return (uint16_t)(fg_measure_count(list) - 1);
}
