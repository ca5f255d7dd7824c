// SPDX-License-Identifier: Apache-2.0
#include "model/measure.h"

/* A count of events in a model of a CPU. */
#define SIMULATED(called, words)                                                                   \
 {                                                                                                 \
  .name = (called), .label = (words), .unit = "1", .fold = FG_FOLD_SUM, .better = FG_BETTER_LOWER, \
  .exact = true, .is_simulated = true, .format = fg_format_count,                                  \
 }

static const struct fg_measure builtin[FG_MEASURE_BUILTIN_COUNT] = {
	[FG_MEASURE_CPU_TIME] =
		{
			.name = "cpu_time",
			.label = "CPU time",
			.unit = "ns",
			.fold = FG_FOLD_SUM,
			.better = FG_BETTER_LOWER,
			.format = fg_format_duration,
		},
	[FG_MEASURE_WALL_TIME] =
		{
			.name = "wall_time",
			.label = "wall-clock time",
			.unit = "ns",
			.fold = FG_FOLD_SUM,
			.better = FG_BETTER_LOWER,
			.format = fg_format_duration,
		},
	[FG_MEASURE_INSTRUCTIONS] =
		{
			.name = "instructions",
			.label = "instructions",
			.unit = "1",
			.fold = FG_FOLD_SUM,
			.better = FG_BETTER_LOWER,
			.exact = true,
			.format = fg_format_count,
		},
	[FG_MEASURE_CALLS] =
		{
			.name = "calls",
			.label = "calls",
			.unit = "1",
			.fold = FG_FOLD_SUM,
			.better = FG_BETTER_LOWER,
			.exact = true,
			.format = fg_format_count,
		},
	[FG_MEASURE_CACHE_MISSES] = SIMULATED("cache.misses", "misses of the last-level cache"),
	[FG_MEASURE_CACHE_FIRST_MISSES] =
		SIMULATED("cache.first_misses", "misses of the first-level caches"),
	[FG_MEASURE_BRANCH_MISSES] = SIMULATED("branch.misses", "mispredicted branches"),
	/* A family: "calls.exp". */
	[FG_MEASURE_CALLS_OF] =
		{
			.name = "calls.",
			.label = "calls of a function",
			.unit = "1",
			.fold = FG_FOLD_SUM,
			.better = FG_BETTER_LOWER,
			.exact = true,
			.format = fg_format_count,
		},
	/* A family: "time.exp". */
	[FG_MEASURE_TIME_OF] =
		{
			.name = "time.",
			.label = "time in calls of a function",
			.unit = "ns",
			.fold = FG_FOLD_SUM,
			.better = FG_BETTER_LOWER,
			.is_recorded = true,
			.format = fg_format_duration,
		},
	[FG_MEASURE_HEAP_ALLOCATIONS] =
		{
			.name = "heap.allocations",
			.label = "allocations",
			.unit = "1",
			.fold = FG_FOLD_SUM,
			.better = FG_BETTER_LOWER,
			.exact = true,
			.format = fg_format_count,
		},
	[FG_MEASURE_HEAP_BYTES] =
		{
			.name = "heap.bytes",
			.label = "memory allocated",
			.unit = "bytes",
			.fold = FG_FOLD_SUM,
			.better = FG_BETTER_LOWER,
			.exact = true,
			.format = fg_format_size,
		},
	[FG_MEASURE_HEAP_LARGEST] =
		{
			.name = "heap.largest",
			.label = "largest allocation",
			.unit = "bytes",
			.fold = FG_FOLD_MAX,
			.better = FG_BETTER_LOWER,
			.exact = true,
			.format = fg_format_size,
		},
	[FG_MEASURE_HEAP_ROUNDING] =
		{
			.name = "heap.rounding",
			.label = "memory beyond the requested sizes",
			.unit = "bytes",
			.fold = FG_FOLD_SUM,
			.better = FG_BETTER_LOWER,
			.exact = true,
			.format = fg_format_size,
		},
	[FG_MEASURE_HEAP_FREES] =
		{
			.name = "heap.frees",
			.label = "blocks freed",
			.unit = "1",
			.fold = FG_FOLD_SUM,
			.better = FG_BETTER_LOWER,
			.exact = true,
			.format = fg_format_count,
		},
	[FG_MEASURE_HEAP_LIVE] =
		{
			.name = "heap.live",
			.label = "memory held at the end",
			.unit = "bytes",
			.fold = FG_FOLD_SUM,
			.better = FG_BETTER_LOWER,
			.exact = true,
			.format = fg_format_size,
		},
	[FG_MEASURE_HEAP_LIVE_BLOCKS] =
		{
			.name = "heap.live_blocks",
			.label = "blocks held at the end",
			.unit = "1",
			.fold = FG_FOLD_SUM,
			.better = FG_BETTER_LOWER,
			.exact = true,
			.format = fg_format_count,
		},
	/* A family, one per dump: "heap.live.1". */
	[FG_MEASURE_HEAP_LIVE_DUMPED] =
		{
			.name = "heap.live.",
			.label = "memory held at a dump",
			.unit = "bytes",
			.fold = FG_FOLD_SUM,
			.better = FG_BETTER_LOWER,
			.exact = true,
			.format = fg_format_size,
		},
	/* A family, one per dump: "heap.live_blocks.1". */
	[FG_MEASURE_HEAP_LIVE_BLOCKS_DUMPED] =
		{
			.name = "heap.live_blocks.",
			.label = "blocks held at a dump",
			.unit = "1",
			.fold = FG_FOLD_SUM,
			.better = FG_BETTER_LOWER,
			.exact = true,
			.format = fg_format_count,
		},
	[FG_MEASURE_HEAP_PEAK] =
		{
			.name = "heap.peak",
			.label = "memory held at the peak",
			.unit = "bytes",
			.fold = FG_FOLD_SUM,
			.better = FG_BETTER_LOWER,
			.exact = true,
			.format = fg_format_size,
		},
	[FG_MEASURE_HEAP_OWN_PEAK] =
		{
			.name = "heap.own_peak",
			.label = "most memory that a call path held",
			.unit = "bytes",
			.fold = FG_FOLD_MAX,
			.better = FG_BETTER_LOWER,
			.exact = true,
			.format = fg_format_size,
		},
	[FG_MEASURE_HEAP_TEMPORARY] =
		{
			.name = "heap.temporary",
			.label = "temporary allocations",
			.unit = "1",
			.fold = FG_FOLD_SUM,
			.better = FG_BETTER_LOWER,
			.exact = true,
			.format = fg_format_count,
		},
	[FG_MEASURE_HEAP_LEAKED] =
		{
			.name = "heap.leaked",
			.label = "memory lost",
			.unit = "bytes",
			.fold = FG_FOLD_SUM,
			.better = FG_BETTER_LOWER,
			.exact = true,
			.format = fg_format_size,
		},
	[FG_MEASURE_HEAP_LEAKED_BLOCKS] =
		{
			.name = "heap.leaked_blocks",
			.label = "blocks lost",
			.unit = "1",
			.fold = FG_FOLD_SUM,
			.better = FG_BETTER_LOWER,
			.exact = true,
			.format = fg_format_count,
		},
	[FG_MEASURE_HEAP_UNTOUCHED] =
		{
			.name = "heap.untouched",
			.label = "memory that was never touched",
			.unit = "bytes",
			.fold = FG_FOLD_SUM,
			.better = FG_BETTER_LOWER,
			.exact = true,
			.format = fg_format_size,
		},
	[FG_MEASURE_FD_OPENED] =
		{
			.name = "fd.opened",
			.label = "descriptors opened",
			.unit = "1",
			.fold = FG_FOLD_SUM,
			.better = FG_BETTER_LOWER,
			.exact = true,
			.format = fg_format_count,
		},
	[FG_MEASURE_FD_LIVE] =
		{
			.name = "fd.live",
			.label = "descriptors open at the end",
			.unit = "1",
			.fold = FG_FOLD_SUM,
			.better = FG_BETTER_LOWER,
			.exact = true,
			.format = fg_format_count,
		},
	/* A family, one per dump: "fd.live.1". */
	[FG_MEASURE_FD_LIVE_DUMPED] =
		{
			.name = "fd.live.",
			.label = "descriptors open at a dump",
			.unit = "1",
			.fold = FG_FOLD_SUM,
			.better = FG_BETTER_LOWER,
			.exact = true,
			.format = fg_format_count,
		},
	[FG_MEASURE_FD_PEAK] =
		{
			.name = "fd.peak",
			.label = "descriptors open at the peak",
			.unit = "1",
			.fold = FG_FOLD_SUM,
			.better = FG_BETTER_LOWER,
			.exact = true,
			.format = fg_format_count,
		},
	[FG_MEASURE_IO_CALLS] =
		{
			.name = "io.calls",
			.label = "input and output calls",
			.unit = "1",
			.fold = FG_FOLD_SUM,
			.better = FG_BETTER_LOWER,
			.exact = true,
			.format = fg_format_count,
		},
	[FG_MEASURE_IO_BYTES_READ] =
		{
			.name = "io.bytes_read",
			.label = "bytes read",
			.unit = "bytes",
			.fold = FG_FOLD_SUM,
			.better = FG_BETTER_LOWER,
			.exact = true,
			.format = fg_format_size,
		},
	[FG_MEASURE_IO_BYTES_WRITTEN] =
		{
			.name = "io.bytes_written",
			.label = "bytes written",
			.unit = "bytes",
			.fold = FG_FOLD_SUM,
			.better = FG_BETTER_LOWER,
			.exact = true,
			.format = fg_format_size,
		},
	[FG_MEASURE_THROWS] =
		{
			.name = "throws",
			.label = "exceptions thrown",
			.unit = "1",
			.fold = FG_FOLD_SUM,
			.better = FG_BETTER_LOWER,
			.exact = true,
			.format = fg_format_count,
		},
	[FG_MEASURE_THROWS_OF] =
		{
			.name = "throws.",
			.label = "exceptions of a type",
			.unit = "1",
			.fold = FG_FOLD_SUM,
			.better = FG_BETTER_LOWER,
			.exact = true,
			.format = fg_format_count,
		},
	[FG_MEASURE_LOCKS_WAITS] =
		{
			.name = "locks.waits",
			.label = "waits for locks",
			.unit = "1",
			.fold = FG_FOLD_SUM,
			.better = FG_BETTER_LOWER,
			.exact = true,
			.format = fg_format_count,
		},
	[FG_MEASURE_LOCKS_WAIT_TIME] =
		{
			.name = "locks.wait_time",
			.label = "time waited for locks",
			.unit = "ns",
			.fold = FG_FOLD_SUM,
			.better = FG_BETTER_LOWER,
			.exact = true,
			.format = fg_format_duration,
		},
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
