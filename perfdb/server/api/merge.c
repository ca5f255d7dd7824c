// SPDX-License-Identifier: Apache-2.0
#include "perfdb/server/api/merge.h"

/* Repetitions of the candidate, as those of an arm; values by the name of their metric. */
static void add_repetitions(struct fg_series *to, const struct fg_series *from, uint8_t arm)
{
	for (size_t i = 0; i < from->repetition_count; i++) {
		const struct fg_repetition *r = &from->repetitions[i];
		struct fg_repetition *copy = NULL;
		double *values = NULL;

		if (r->arm != FG_ARM_CANDIDATE)
			continue;
		copy = fg_series_add_repetition(to);
		values = copy->values;
		*copy = *r;
		copy->values = values;
		copy->arm = arm;
		copy->position = arm;
		for (size_t m = 0; m < from->metric_count; m++) {
			const size_t place = fg_series_find_metric(to, from->metrics[m].name);

			if (place != SIZE_MAX)
				values[place] = r->values[m];
		}
	}
}

static void add_metrics(struct fg_series *to, const struct fg_series *from)
{
	for (size_t m = 0; m < from->metric_count; m++) {
		if (fg_series_find_metric(to, from->metrics[m].name) == SIZE_MAX)
			(void)fg_series_add_metric(to, &from->metrics[m]);
	}
}

static void add_rows(struct fg_profile_set *to, const struct fg_profile_set *from, uint8_t arm)
{
	uint32_t *functions = fg_xcalloc(from->function_count, sizeof(*functions));
	uint32_t *nodes = fg_xcalloc(from->node_count, sizeof(*nodes));

	for (size_t i = 1; i < from->function_count; i++)
		functions[i] = fg_profile_set_function(to, &from->functions[i]);
	for (size_t i = 1; i < from->node_count; i++)
		nodes[i] = fg_profile_set_node(to, nodes[from->nodes[i].parent],
					       functions[from->nodes[i].function]);
	for (size_t r = 0; r < from->row_count; r++) {
		const struct fg_profile_row *row = &from->rows[r];
		struct fg_profile_row *copy = NULL;

		if (row->arm != FG_ARM_CANDIDATE)
			continue;
		copy = fg_profile_set_add_row(to, row->count);
		copy->arm = arm;
		copy->pair = row->pair;
		copy->aside = row->aside;
		copy->count = row->count;
		copy->measure =
			fg_profile_set_measure(to, fg_measure_at(&from->measures, row->measure));
		copy->total = row->total;
		copy->lost = row->lost;
		copy->truncated = row->truncated;
		for (uint32_t i = 0; i < row->count; i++) {
			copy->nodes[i] = nodes[row->nodes[i]];
			copy->values[i] = row->values[i];
			copy->samples[i] = row->samples[i];
		}
	}
	free(nodes);
	free(functions);
}

static void add_regions(struct fg_profile_set *to, const struct fg_profile_set *from, uint8_t arm)
{
	for (size_t r = 0; r < from->region_row_count; r++) {
		const struct fg_profile_region_row *row = &from->region_rows[r];
		struct fg_profile_region_row *copy = NULL;
		uint32_t region = 0;

		if (row->arm != FG_ARM_CANDIDATE)
			continue;
		region = fg_profile_set_region(to, from->regions[row->region]);
		copy = fg_profile_set_add_region_row(to);
		*copy = *row;
		copy->arm = arm;
		copy->region = region;
	}
}

/* Copies the candidate's part of a profile into an arm of another. */
static void add_side(struct fg_profile_set *to, const struct fg_profile_set *from, uint8_t arm)
{
	add_rows(to, from, arm);
	add_regions(to, from, arm);
}

static struct fg_profile_set *merge_profiles(const struct fg_profile_set *a,
					     const struct fg_profile_set *b)
{
	struct fg_profile_set *set = NULL;

	if (!b)
		return NULL;
	set = fg_xcalloc(1, sizeof(*set));
	fg_profile_set_init(set, b->functions[0].name);
	if (a)
		add_side(set, a, FG_ARM_BASELINE);
	add_side(set, b, FG_ARM_CANDIDATE);
	return set;
}

void fg_merge_runs(const struct fg_stored_run *a, const struct fg_stored_run *b,
		   struct fg_stored_run *joined)
{
	const struct fg_run *run = &b->run;
	struct fg_run *to = &joined->run;

	*joined = (struct fg_stored_run){0};
	fg_run_init(to);
	memcpy(to->id, run->id, sizeof(to->id));
	to->project = fg_xstrdup(run->project);
	to->started_ns = run->started_ns;
	to->ended_ns = run->ended_ns;
	to->complete = run->complete;
	to->has_baseline = true;
	to->tool_version = fg_xstrdup(run->tool_version);
	fg_side_copy(&to->sides[FG_ARM_BASELINE], &a->run.sides[FG_ARM_CANDIDATE]);
	fg_side_copy(&to->sides[FG_ARM_CANDIDATE], &run->sides[FG_ARM_CANDIDATE]);
	fg_environment_copy(&to->host, &run->host);
	joined->profiles = fg_xcalloc(run->series_count, sizeof(struct fg_profile_set *));
	for (size_t i = 0; i < run->series_count; i++) {
		const struct fg_series *mine = &run->series[i];
		const struct fg_series *other = fg_run_find(&a->run, mine->name);
		struct fg_series *series = fg_run_add_series(to, mine->name);
		const struct fg_profile_set *profile = NULL;

		series->command = fg_xstrdup(mine->command);
		series->state = mine->state;
		series->schedule = FG_SCHEDULE_STORED;
		add_metrics(series, mine);
		if (other)
			add_repetitions(series, other, FG_ARM_BASELINE);
		add_repetitions(series, mine, FG_ARM_CANDIDATE);
		if (other && a->profiles)
			profile = a->profiles[other - a->run.series];
		joined->profiles[i] = merge_profiles(profile, b->profiles ? b->profiles[i] : NULL);
	}
}
