// SPDX-License-Identifier: Apache-2.0
#include "base/sort.h"
#include "model/profile_set.h"

/* Maps node and measure numbers of one set to those of the joined set. */
struct numbers {
	uint32_t *nodes;
	uint16_t *measures;
};

struct cell {
	uint32_t node;
	uint32_t samples;
	double value;
};

FG_ORDER_BY(compare_cells, struct cell, FG_UP(node))

static void number_nodes(struct fg_profile_set *joined, const struct fg_profile_set *set,
			 struct numbers *numbers)
{
	uint32_t *functions = fg_xcalloc(set->function_count + 1, sizeof(functions[0]));
	const size_t measures = fg_measure_count(&set->measures);

	numbers->nodes = fg_xcalloc(set->node_count + 1, sizeof(numbers->nodes[0]));
	numbers->measures = fg_xcalloc(measures + 1, sizeof(numbers->measures[0]));
	/* Function 0 and node 0 are the program in every set. */
	for (size_t f = 1; f < set->function_count; f++)
		functions[f] = fg_profile_set_function(joined, &set->functions[f]);
	for (size_t n = 1; n < set->node_count; n++)
		numbers->nodes[n] =
			fg_profile_set_node(joined, numbers->nodes[set->nodes[n].parent],
					    functions[set->nodes[n].function]);
	for (size_t m = 0; m < measures; m++)
		numbers->measures[m] =
			fg_profile_set_measure(joined, fg_measure_at(&set->measures, (uint16_t)m));
	free(functions);
}

/* Node numbers change, so the row is sorted again. */
static void add_row(struct fg_profile_set *joined, const struct numbers *numbers,
		    const struct fg_profile_row *from, uint8_t arm)
{
	struct fg_profile_row *row = fg_profile_set_add_row(joined, from->count);
	struct cell *cells = fg_xcalloc((size_t)from->count + 1, sizeof(cells[0]));

	for (uint32_t i = 0; i < from->count; i++)
		cells[i] = (struct cell){.node = numbers->nodes[from->nodes[i]],
					 .samples = from->samples[i],
					 .value = from->values[i]};
	if (from->count > 1)
		qsort(cells, from->count, sizeof(cells[0]), compare_cells);
	for (uint32_t i = 0; i < from->count; i++) {
		row->nodes[i] = cells[i].node;
		row->samples[i] = cells[i].samples;
		row->values[i] = cells[i].value;
	}
	row->arm = arm;
	row->pair = from->pair;
	row->measure = numbers->measures[from->measure];
	row->count = from->count;
	row->total = from->total;
	row->lost = from->lost;
	row->truncated = from->truncated;
	free(cells);
}

void fg_profile_join(struct fg_profile_set *joined, const struct fg_profile_set *const sets[2],
		     uint8_t arm)
{
	fg_profile_set_init(joined, sets[1]->functions[0].name);
	for (uint8_t side = 0; side < 2; side++) {
		struct numbers numbers;

		number_nodes(joined, sets[side], &numbers);
		for (size_t r = 0; r < sets[side]->row_count; r++) {
			const struct fg_profile_row *row = &sets[side]->rows[r];

			if (row->arm == arm && row->aside == 0 && !fg_measure_is_time(row->measure))
				add_row(joined, &numbers, row, side);
		}
		free(numbers.nodes);
		free(numbers.measures);
	}
}
