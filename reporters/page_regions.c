// SPDX-License-Identifier: Apache-2.0
/* Writes regions and units of work for a page. */
#include "base/sort.h"
#include "model/run.h"
#include "reporters/figures.h"
#include "reporters/page_data.h"

enum {
	COUNT,
	WALL_US,
	CPU_US,
	COLUMNS,
};

static const char *const columns[COLUMNS] = {"count", "wall", "cpu"};

struct region_sum {
	const char *name;
	double values[COLUMNS][FG_ARM_COUNT];
};

FG_ORDER_BY(by_name, struct region_sum, FG_TEXT_UP(name))

static double count_rows(const struct fg_profile_set *set, size_t arm)
{
	const uint16_t time = fg_profile_set_time(set);
	size_t count = 0;

	for (size_t r = 0; r < set->row_count; r++)
		count += set->rows[r].measure == time && set->rows[r].arm == arm &&
			 set->rows[r].aside == 0;
	return count > 0 ? (double)count : 1;
}

/*
 * Returns each region's means over the repetitions that count, sorted by name. The caller frees the
 * array.
 */
static struct region_sum *sum_regions(const struct fg_profile_set *set)
{
	struct region_sum *sums = fg_xcalloc(set->region_count, sizeof(sums[0]));
	const double rows[FG_ARM_COUNT] = {count_rows(set, FG_ARM_BASELINE),
					   count_rows(set, FG_ARM_CANDIDATE)};

	for (size_t i = 0; i < set->region_count; i++)
		sums[i].name = set->regions[i];
	for (size_t r = 0; r < set->region_row_count; r++) {
		const struct fg_profile_region_row *row = &set->region_rows[r];
		struct region_sum *sum = &sums[row->region];

		if (row->aside != 0)
			continue;
		sum->values[COUNT][row->arm] += (double)row->count / rows[row->arm];
		sum->values[WALL_US][row->arm] += row->wall_ns / 1e3 / rows[row->arm];
		sum->values[CPU_US][row->arm] += row->cpu_ns / 1e3 / rows[row->arm];
	}
	qsort(sums, set->region_count, sizeof(sums[0]), by_name);
	return sums;
}

void fg_report_add_marked(const struct fg_profile_set *set, struct fg_json_writer *w)
{
	struct region_sum *sums = NULL;

	if (!set || set->region_row_count == 0)
		return;
	sums = sum_regions(set);
	fg_json_begin_object(w, "marked");
	fg_json_begin_array(w, "name");
	for (size_t i = 0; i < set->region_count; i++)
		fg_json_text(w, NULL, sums[i].name);
	fg_json_end(w);
	for (size_t c = 0; c < COLUMNS; c++) {
		fg_json_begin_array(w, columns[c]);
		for (size_t arm = 0; arm < FG_ARM_COUNT; arm++) {
			fg_json_begin_array(w, NULL);
			for (size_t i = 0; i < set->region_count; i++)
				fg_json_double(w, NULL,
					       fg_report_four_digits(sums[i].values[c][arm]));
			fg_json_end(w);
		}
		fg_json_end(w);
	}
	fg_json_end(w);
	free(sums);
}
