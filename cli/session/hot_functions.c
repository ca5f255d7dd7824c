// SPDX-License-Identifier: Apache-2.0
#include "cli/session/hot_functions.h"

enum {
	FUNCTIONS_MAX = 64
};

struct hot {
	double samples;
	uint32_t function;
};

static int by_samples(const void *left, const void *right)
{
	const struct hot *a = left;
	const struct hot *b = right;

	if (a->samples < b->samples)
		return 1;
	if (a->samples > b->samples)
		return -1;
	return (a->function > b->function) - (a->function < b->function);
}

void fg_session_hot_functions(const struct fg_profile_set *set, struct fg_code_names *names)
{
	double sum = 0;
	double *samples = fg_profile_set_time_samples(set, &sum);
	struct hot *all = fg_xcalloc(set->function_count, sizeof(all[0]));

	for (uint32_t f = 0; f < set->function_count; f++)
		all[f] = (struct hot){.samples = samples[f], .function = f};
	qsort(all, set->function_count, sizeof(all[0]), by_samples);
	names->items = fg_xcalloc(FUNCTIONS_MAX, sizeof(names->items[0]));
	for (size_t i = 0; i < set->function_count && names->count < FUNCTIONS_MAX; i++) {
		const struct fg_profile_function *f = &set->functions[all[i].function];

		if (!(all[i].samples > 0))
			break;
		names->items[names->count++] = f->linkage ? f->linkage : f->name;
	}
	free(all);
	free(samples);
}
