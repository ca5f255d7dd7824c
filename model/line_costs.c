// SPDX-License-Identifier: Apache-2.0
#include "model/line_costs.h"

#include "base/sort.h"

static uint32_t file_index(struct fg_line_costs *costs, const char *file)
{
	bool is_new = false;

	return (uint32_t)*fg_map_add_text(&costs->files, file, costs->files.count, &is_new);
}

void fg_line_costs_add(struct fg_line_costs *costs, const char *file,
		       const struct fg_line_cost *key)
{
	const uint32_t words[4] = {key->function, file_index(costs, file), key->line, key->arm};
	bool is_new = false;
	const size_t at =
		(size_t)*fg_map_add(&costs->index, words, sizeof(words), costs->count, &is_new);

	if (!is_new) {
		costs->items[at].cost += key->cost;
		return;
	}
	costs->items = fg_arena_grow(&costs->arena, costs->items, &costs->capacity, costs->count,
				     sizeof(costs->items[0]));
	costs->items[costs->count] = *key;
	costs->items[costs->count++].file = words[1];
}

FG_ORDER_BY(by_line, struct fg_line_cost, FG_UP(line))

struct fg_function_lines fg_line_costs_of(const struct fg_line_costs *costs, uint32_t function,
					  uint32_t arm)
{
	double *by_file = fg_xcalloc(costs->files.count + 1, sizeof(by_file[0]));
	struct fg_function_lines lines = {0};
	uint32_t file = 0;

	for (size_t i = 0; i < costs->count; i++) {
		const struct fg_line_cost *item = &costs->items[i];

		if (item->function != function || item->arm != arm)
			continue;
		by_file[item->file] += item->cost;
		lines.total += item->cost;
		lines.file = "";
		if (by_file[item->file] > by_file[file])
			file = item->file;
	}
	free(by_file);
	if (!lines.file)
		return lines;
	lines.file = costs->files.entries[file].key;
	lines.items = fg_xcalloc(costs->count, sizeof(lines.items[0]));
	for (size_t i = 0; i < costs->count; i++) {
		const struct fg_line_cost *item = &costs->items[i];

		if (item->function == function && item->arm == arm && item->file == file)
			lines.items[lines.count++] = *item;
	}
	qsort(lines.items, lines.count, sizeof(lines.items[0]), by_line);
	return lines;
}

void fg_line_costs_release(struct fg_line_costs *costs)
{
	fg_map_release(&costs->index);
	fg_map_release(&costs->files);
	fg_arena_release(&costs->arena);
	*costs = (struct fg_line_costs){0};
}
