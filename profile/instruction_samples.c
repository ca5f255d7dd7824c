// SPDX-License-Identifier: Apache-2.0
#include "profile/instruction_samples.h"

#include "base/sort.h"

FG_ORDER_BY(by_address, struct fg_instruction_sample, FG_UP(frame->module), FG_UP(frame->address))

struct fg_weight *fg_stack_weights(const struct fg_profile *profile, uint16_t measure)
{
	const struct fg_measure *is = &profile->measures[measure].is;
	struct fg_weight *weights = fg_xcalloc(profile->stack_count, sizeof(weights[0]));

	for (size_t i = 0; i < profile->sample_count; i++) {
		const struct fg_sample *sample = &profile->samples[i];
		const struct fg_weight weight = {.value = sample->value,
						 .square = sample->value * sample->value,
						 .samples = sample->count};

		if (sample->measure == measure)
			fg_weight_add(is, &weights[sample->stack], &weight, 1.0);
	}
	return weights;
}

/* Merges the stacks that end in the same instruction; each call path to it has its own stack. */
size_t fg_instruction_samples(const struct fg_profile *profile, uint16_t measure,
			      struct fg_instruction_sample **hits)
{
	const struct fg_measure *is = &profile->measures[measure].is;
	struct fg_weight *weights = fg_stack_weights(profile, measure);
	struct fg_instruction_sample *found = fg_xcalloc(profile->stack_count, sizeof(found[0]));
	size_t found_count = 0;
	size_t count = 0;

	for (size_t i = 1; i < profile->stack_count; i++) {
		const struct fg_frame *frame = &profile->frames[profile->stacks[i].frame];

		if (weights[i].samples > 0 && frame->module && frame->address)
			found[found_count++] = (struct fg_instruction_sample){.frame = frame,
									      .weight = weights[i]};
	}
	free(weights);
	if (found_count > 0)
		qsort(found, found_count, sizeof(found[0]), by_address);
	for (size_t i = 0; i < found_count; i++) {
		if (count > 0 && by_address(&found[count - 1], &found[i]) == 0)
			fg_weight_add(is, &found[count - 1].weight, &found[i].weight, 1.0);
		else
			found[count++] = found[i];
	}
	*hits = found;
	return count;
}
