// SPDX-License-Identifier: Apache-2.0
#include "gate/arguments.h"

#include <string.h>

/* NULL: nobody looked at arguments. */
static const struct fg_argument_sums *sums_of(const struct fg_run *run,
					      const struct fg_profile_set *const *profiles,
					      const char *benchmark)
{
	const struct fg_series *series = fg_run_find(run, benchmark);
	const struct fg_profile_set *set =
		series && profiles ? profiles[series - run->series] : NULL;

	return set && set->arguments.function_count > 0 ? &set->arguments : NULL;
}

/* Joins the arguments of two runs, each from its candidate, into the two sides of one table. */
static const struct fg_argument_table *join(const struct fg_argument_sums *before,
					    const struct fg_argument_sums *after,
					    struct fg_argument_room room, struct fg_arena *arena)
{
	const struct fg_argument_sums *const sides[] = {before, after};
	struct fg_argument_sums sums = {0};
	struct fg_arena scratch = {0};
	const struct fg_argument_table *table = NULL;

	for (unsigned side = 0; side < FG_ARM_COUNT; side++) {
		const struct fg_argument_table *one =
			fg_argument_table_make(sides[side], fg_argument_room_of_run, &scratch);

		if (one)
			fg_argument_sums_add_table(&sums, one, FG_ARM_CANDIDATE, side);
	}
	table = fg_argument_table_make(&sums, room, arena);
	fg_argument_sums_release(&sums);
	fg_arena_release(&scratch);
	return table;
}

static size_t count_tables(const struct fg_gate_input *input, const struct fg_verdict *verdict)
{
	size_t count = 0;

	for (size_t i = 0; i < verdict->benchmark_count; i++)
		count += sums_of(input->run, input->profiles, verdict->benchmarks[i].name) != NULL;
	return count;
}

void fg_gate_add_arguments(const struct fg_gate_input *input, struct fg_verdict *verdict)
{
	const size_t count = count_tables(input, verdict);
	struct fg_argument_room room = fg_argument_room_of_run;

	if (count == 0)
		return;
	room.functions /= count;
	room.paths /= count;
	room.bytes /= count;
	for (size_t i = 0; i < verdict->benchmark_count; i++) {
		struct fg_benchmark_verdict *benchmark = &verdict->benchmarks[i];
		const struct fg_argument_sums *after =
			sums_of(input->run, input->profiles, benchmark->name);
		const struct fg_argument_sums *before =
			input->baseline ? sums_of(input->baseline, input->baseline_profiles,
						  benchmark->name)
					: NULL;

		if (after && before)
			benchmark->arguments = join(before, after, room, &verdict->arena);
		else if (after)
			benchmark->arguments = fg_argument_table_make(after, room, &verdict->arena);
	}
}
