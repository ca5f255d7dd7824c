// SPDX-License-Identifier: Apache-2.0
#include "binary/debug_index.h"

#include "base/sort.h"

FG_ORDER_BY(by_start, struct fg_debug_range, FG_UP(start), FG_UP(unit))

int fg_debug_index_open(struct fg_debug_index *index, const char *path, struct fg_error *err)
{
	int status;

	*index = (struct fg_debug_index){.path = fg_xstrdup(path)};
	index->texts = fg_grow(index->texts, &index->texts_capacity, 1, 1);
	index->texts[0] = '\0';
	index->texts_size = 1;
	status = fg_debug_file_open(index, err);
	if (status == FG_OK)
		status = fg_debug_find_units(index, err);
	if (status != FG_OK) {
		fg_debug_index_release(index);
		return status;
	}
	if (index->range_count > 0)
		qsort(index->ranges, index->range_count, sizeof(index->ranges[0]), by_start);
	index->changed = true;
	return FG_OK;
}

void fg_debug_index_release(struct fg_debug_index *index)
{
	fg_debug_file_close(index);
	free(index->ranges);
	free(index->units);
	free(index->segments);
	free(index->scopes);
	free(index->lines);
	free(index->functions);
	if (index->texts != index->loaded_texts)
		free(index->loaded_texts);
	free(index->texts);
	free(index->path);
	fg_map_release(&index->text_index);
	*index = (struct fg_debug_index){0};
}

/* ------------------------------------------------------------------- look-ups */

/*
 * Returns the number of elements that start at or before the address. Elements are sorted, `stride`
 * bytes apart, and begin with their start address; `count` is at least 1.
 */
static size_t count_before(const void *items, size_t count, size_t stride, uint64_t address)
{
	const char *at = items;
	uint64_t start;

	/* branchless halving: a branch here would be mispredicted half of the time */
	while (count > 1) {
		const size_t half = count / 2;

		memcpy(&start, at + half * stride, sizeof(start));
		at += start <= address ? half * stride : 0;
		count -= half;
	}
	memcpy(&start, at, sizeof(start));
	return (size_t)(at - (const char *)items) / stride + (start <= address);
}

static const struct fg_debug_line *find_line(const struct fg_debug_index *index,
					     const struct fg_debug_unit *unit, uint64_t address)
{
	const struct fg_debug_line *lines;
	size_t before;

	if (unit->line_count == 0)
		return NULL;
	lines = index->lines + unit->first_line;
	before = count_before(lines, unit->line_count, sizeof(lines[0]), address);
	return before > 0 && lines[before - 1].line > 0 ? &lines[before - 1] : NULL;
}

static uint32_t find_scope(const struct fg_debug_index *index, const struct fg_debug_unit *unit,
			   uint64_t address)
{
	const struct fg_debug_segment *segments;
	size_t before;

	if (unit->segment_count == 0)
		return 0;
	segments = index->segments + unit->first_segment;
	before = count_before(segments, unit->segment_count, sizeof(segments[0]), address);
	return before > 0 ? segments[before - 1].scope : 0;
}

static size_t fill_chain(const struct fg_debug_index *index, uint32_t scope,
			 const struct fg_debug_line *line, struct fg_debug_frame *chain)
{
	uint32_t at_file = line ? line->file : 0;
	uint32_t at_line = line ? line->line : 0;
	uint32_t levels[FG_DEBUG_CHAIN_MAX];
	size_t count = 0;

	for (; scope && count < FG_DEBUG_CHAIN_MAX; scope = index->scopes[scope - 1].parent)
		levels[count++] = scope - 1;
	for (size_t i = 0; i < count; i++) { /* innermost first */
		const struct fg_debug_scope *level = &index->scopes[levels[i]];

		chain[count - 1 - i] = (struct fg_debug_frame){
			.function = level->function,
			.at_file = at_file,
			.at_line = at_line,
			.inlined = level->parent != 0,
		};
		at_file = level->call_file;
		at_line = level->call_line;
	}
	return count;
}

static size_t fill_line_only(const struct fg_debug_line *line, struct fg_debug_frame *chain)
{
	if (!line)
		return 0;
	chain[0] = (struct fg_debug_frame){
		.function = FG_DEBUG_NO_FUNCTION, .at_file = line->file, .at_line = line->line};
	return 1;
}

/*
 * Go records the file in which a function is declared but not the line. Uses the line of the
 * function's first instruction instead.
 */
static void fill_missing_lines(struct fg_debug_index *index, const struct fg_debug_unit *unit)
{
	for (size_t i = 0; i < unit->segment_count; i++) {
		const struct fg_debug_segment *segment = &index->segments[unit->first_segment + i];
		const struct fg_debug_scope *scope =
			segment->scope ? &index->scopes[segment->scope - 1] : NULL;
		struct fg_debug_function *function = NULL;
		const struct fg_debug_line *first = NULL;

		if (!scope || scope->parent || scope->call_line)
			continue;
		function = &index->functions[scope->function];
		first = function->line ? NULL : find_line(index, unit, segment->start);
		if (first && first->file == function->file)
			function->line = first->line;
	}
}

static size_t ranges_before(struct fg_debug_index *index, uint64_t address)
{
	const struct fg_debug_range *ranges = index->ranges;
	const size_t last = index->last_range;

	if (index->range_count == 0)
		return 0;
	if (last == 0 || ranges[last - 1].start > address ||
	    (last < index->range_count && ranges[last].start <= address))
		index->last_range =
			count_before(ranges, index->range_count, sizeof(ranges[0]), address);
	return index->last_range;
}

size_t fg_debug_index_find(struct fg_debug_index *index, uint64_t address,
			   struct fg_debug_frame chain[FG_DEBUG_CHAIN_MAX])
{
	enum {
		LOOK_BACK = 8 /* ranges tried: one unit's ranges may lie inside another unit's */
	};
	size_t before = ranges_before(index, address);
	size_t line_only = 0;

	for (size_t back = 0; back < LOOK_BACK && back < before; back++) {
		const struct fg_debug_range *range = &index->ranges[before - back - 1];
		const struct fg_debug_unit *unit = &index->units[range->unit];
		const struct fg_debug_line *line;
		uint32_t scope;

		if (address >= range->end)
			continue;
		if (!unit->indexed) {
			fg_debug_walk_unit(index, range->unit);
			fill_missing_lines(index, unit);
		}
		line = find_line(index, unit, address);
		scope = find_scope(index, unit, address);
		if (scope)
			return fill_chain(index, scope, line, chain);
		if (!line_only)
			line_only = fill_line_only(line, chain);
	}
	return line_only;
}

void fg_debug_set_readable(struct fg_debug_index *index, uint32_t function, const char *readable)
{
	uint32_t text = fg_debug_add_text(index, readable);

	index->functions[function].readable = text;
	index->changed = true;
}
