// SPDX-License-Identifier: Apache-2.0
#include "cli/session/hot_functions.h"

enum {
	FUNCTIONS_MAX = 64
};

struct hot {
	uint64_t samples;
	uint32_t function;
};

static int by_samples(const void *left, const void *right)
{
	const struct hot *a = left;
	const struct hot *b = right;

	if (a->samples != b->samples)
		return a->samples < b->samples ? 1 : -1;
	return (a->function > b->function) - (a->function < b->function);
}

static struct hot *count_samples(const struct fg_profile_set *set)
{
	struct hot *all = fg_xcalloc(set->function_count + 1, sizeof(all[0]));

	for (uint32_t f = 0; f < set->function_count; f++)
		all[f].function = f;
	for (size_t r = 0; r < set->row_count; r++) {
		const struct fg_profile_row *row = &set->rows[r];

		for (uint32_t i = 0; i < row->count; i++)
			all[fg_profile_set_compiled(set, row->nodes[i])].samples += row->samples[i];
	}
	return all;
}

void fg_session_hot_functions(const struct fg_profile_set *set, struct fg_code_names *names)
{
	struct hot *all = count_samples(set);

	qsort(all, set->function_count, sizeof(all[0]), by_samples);
	names->items = fg_xcalloc(FUNCTIONS_MAX, sizeof(names->items[0]));
	for (size_t i = 0; i < set->function_count && names->count < FUNCTIONS_MAX; i++) {
		const struct fg_profile_function *f = &set->functions[all[i].function];

		if (all[i].samples == 0)
			break;
		names->items[names->count++] = f->linkage ? f->linkage : f->name;
	}
	free(all);
}
