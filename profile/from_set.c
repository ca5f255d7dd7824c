// SPDX-License-Identifier: Apache-2.0
/* A stored run as a profile: rows become samples without times, threads or lines. */
#include "profile/profile.h"

/* The measure of the profile that corresponds to a measure of the set. */
struct target {
	bool is_known;
	uint16_t measure;    /* index in the profile */
	uint32_t repetition; /* number of the next row's repetition */
};

/* Finds or adds a region by its path, with its parents. */
static uint32_t region_of_path(struct fg_profile *profile, const char *path)
{
	char *copy = fg_xstrdup(path);
	uint32_t region = 0;
	char *rest = copy;

	for (char *name = strsep(&rest, "/"); name; name = strsep(&rest, "/"))
		region = fg_profile_region(profile, region, name);
	free(copy);
	return region;
}

static uint32_t *add_stacks(struct fg_profile *profile, const struct fg_profile_set *set)
{
	uint32_t *stack_of = fg_xcalloc(set->node_count + 1, sizeof(stack_of[0]));
	uint32_t *frame_of = fg_xcalloc(set->function_count + 1, sizeof(frame_of[0]));

	for (size_t i = 0; i < set->function_count; i++) {
		const struct fg_frame frame = {
			.function = fg_profile_function(profile, &set->functions[i]),
			.flags = set->functions[i].inlined ? FG_FRAME_INLINED : 0,
		};

		frame_of[i] = fg_profile_frame(profile, &frame);
	}
	for (size_t i = 1; i < set->node_count; i++)
		stack_of[i] = fg_profile_stack(profile, stack_of[set->nodes[i].parent],
					       frame_of[set->nodes[i].function]);
	free(frame_of);
	return stack_of;
}

static void add_row(struct fg_profile *profile, const struct fg_profile_row *row,
		    const uint32_t *stack_of, struct target *target)
{
	struct fg_profile_measure *measure = &profile->measures[target->measure];

	for (uint32_t i = 0; i < row->count; i++) {
		struct fg_sample *sample = fg_profile_add_sample(profile);

		sample->stack = stack_of[row->nodes[i]];
		sample->repetition = target->repetition;
		sample->count = row->samples[i];
		sample->value = row->values[i];
		sample->measure = target->measure;
		sample->kind = FG_TIME_BOTH;
	}
	measure->total = fg_measure_join(measure->is.fold, measure->total, row->total);
	measure->lost += row->lost;
	measure->truncated += row->truncated;
	measure->repetitions = ++target->repetition;
	if (target->repetition > profile->repetition_count)
		profile->repetition_count = target->repetition;
	if (fg_measure_is_time(row->measure))
		profile->cpu_ns += row->total + row->lost;
}

static bool counts(const struct fg_profile_row *row, uint8_t arm)
{
	return row->arm == arm && row->aside == 0;
}

/* Returns the measure to show first: time if the arm has it. */
static uint16_t first_measure(const struct fg_profile_set *set, uint8_t arm)
{
	const struct fg_profile_row *first = NULL;

	for (size_t i = 0; i < set->row_count; i++) {
		if (!counts(&set->rows[i], arm))
			continue;
		if (fg_measure_is_time(set->rows[i].measure))
			return set->rows[i].measure;
		first = first ? first : &set->rows[i];
	}
	return first ? first->measure : FG_MEASURE_CPU_TIME;
}

static void add_rows(struct fg_profile *profile, const struct fg_profile_set *set, uint8_t arm,
		     const uint32_t *stack_of)
{
	struct target *targets = fg_xcalloc(fg_measure_count(&set->measures), sizeof(targets[0]));
	const uint16_t first = first_measure(set, arm);

	fg_profile_set_first_measure(profile, fg_measure_at(&set->measures, first));
	profile->repetition_count = 0;
	for (size_t i = 0; i < set->row_count; i++) {
		const struct fg_profile_row *row = &set->rows[i];
		struct target *target = &targets[row->measure];

		if (!counts(row, arm))
			continue;
		if (!target->is_known)
			target->measure = fg_profile_measure(
				profile, fg_measure_at(&set->measures, row->measure));
		target->is_known = true;
		add_row(profile, row, stack_of, target);
	}
	free(targets);
}

static void add_regions(struct fg_profile *profile, const struct fg_profile_set *set, uint8_t arm)
{
	for (size_t i = 0; i < set->region_row_count; i++) {
		const struct fg_profile_region_row *row = &set->region_rows[i];
		uint32_t region = 0;

		if (row->arm != arm || row->aside != 0)
			continue;
		region = region_of_path(profile, set->regions[row->region]);
		profile->regions[region].count += row->count;
		profile->regions[region].wall_ns += row->wall_ns;
		profile->regions[region].cpu_ns += row->cpu_ns;
	}
}

void fg_profile_from_set(struct fg_profile *profile, const struct fg_profile_set *set, uint8_t arm)
{
	uint32_t *stack_of = NULL;

	fg_profile_init(profile);
	stack_of = add_stacks(profile, set);
	add_rows(profile, set, arm, stack_of);
	add_regions(profile, set, arm);
	free(stack_of);
}
