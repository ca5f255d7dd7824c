// SPDX-License-Identifier: Apache-2.0
/* Regions and units of work for a page. */
#include "model/run.h"
#include "reporters/figures.h"
#include "reporters/page_data.h"

struct region_sum {
	const char *name;
	double count[FG_ARM_COUNT];
	double wall_ns[FG_ARM_COUNT];
	double cpu_ns[FG_ARM_COUNT];
};

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct region_sum *)a)->name, ((const struct region_sum *)b)->name);
}

static double count_rows(const struct fg_profile_set *set, size_t arm)
{
	const uint16_t time = fg_profile_set_time(set);
	size_t count = 0;

	for (size_t r = 0; r < set->row_count; r++)
		count += set->rows[r].measure == time && set->rows[r].arm == arm &&
			 set->rows[r].aside == 0;
	return count > 0 ? (double)count : 1;
}

/* Means over the repetitions that count, sorted by name. The caller frees them. */
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
		sum->count[row->arm] += (double)row->count / rows[row->arm];
		sum->wall_ns[row->arm] += row->wall_ns / rows[row->arm];
		sum->cpu_ns[row->arm] += row->cpu_ns / rows[row->arm];
	}
	qsort(sums, set->region_count, sizeof(sums[0]), by_name);
	return sums;
}

static double entered(const struct region_sum *sum, size_t arm)
{
	return sum->count[arm];
}

static double wall_us(const struct region_sum *sum, size_t arm)
{
	return sum->wall_ns[arm] / 1e3;
}

static double cpu_us(const struct region_sum *sum, size_t arm)
{
	return sum->cpu_ns[arm] / 1e3;
}

/* Per repetition: count and time. */
void fg_report_add_marked(const struct fg_profile_set *set, struct fg_json_writer *w)
{
	static const struct {
		const char *name;
		double (*get)(const struct region_sum *sum, size_t arm);
	} columns[] = {{"count", entered}, {"wall", wall_us}, {"cpu", cpu_us}};
	struct region_sum *sums = NULL;

	if (!set || set->region_row_count == 0)
		return;
	sums = sum_regions(set);
	fg_json_begin_object(w, "marked");
	fg_json_begin_array(w, "name");
	for (size_t i = 0; i < set->region_count; i++)
		fg_json_text(w, NULL, sums[i].name);
	fg_json_end(w);
	for (size_t c = 0; c < FG_ARRAY_SIZE(columns); c++) {
		fg_json_begin_array(w, columns[c].name);
		for (size_t arm = 0; arm < FG_ARM_COUNT; arm++) {
			fg_json_begin_array(w, NULL);
			for (size_t i = 0; i < set->region_count; i++)
				fg_json_double(
					w, NULL,
					fg_report_four_digits(columns[c].get(&sums[i], arm)));
			fg_json_end(w);
		}
		fg_json_end(w);
	}
	fg_json_end(w);
	free(sums);
}
