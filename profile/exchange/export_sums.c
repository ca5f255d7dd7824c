// SPDX-License-Identifier: Apache-2.0
/* Sums over the stacks of a profile, as the flat formats need them. */
#include "profile/exchange/export_formats.h"

void fg_stack_sums_init(struct fg_stack_sums *sums, const struct fg_profile *profile,
			uint16_t measure)
{
	const enum fg_measure_fold fold = profile->measures[measure].is.fold;
	const size_t count = profile->stack_count;

	*sums = (struct fg_stack_sums){
		.self = fg_xcalloc(count, sizeof(double)),
		.self_samples = fg_xcalloc(count, sizeof(uint64_t)),
		.inclusive = fg_xcalloc(count, sizeof(double)),
		.inclusive_samples = fg_xcalloc(count, sizeof(uint64_t)),
	};
	for (size_t i = 0; i < profile->sample_count; i++) {
		const struct fg_sample *sample = &profile->samples[i];

		if (sample->measure != measure)
			continue;
		sums->self[sample->stack] =
			fg_measure_join(fold, sums->self[sample->stack], sample->value);
		sums->self_samples[sample->stack] += sample->count;
	}
	for (size_t i = count; i-- > 0;) {
		const uint32_t parent = profile->stacks[i].parent;

		sums->inclusive[i] = fg_measure_join(fold, sums->inclusive[i], sums->self[i]);
		sums->inclusive_samples[i] += sums->self_samples[i];
		if (i > 0) {
			sums->inclusive[parent] =
				fg_measure_join(fold, sums->inclusive[parent], sums->inclusive[i]);
			sums->inclusive_samples[parent] += sums->inclusive_samples[i];
		}
	}
}

void fg_stack_sums_release(struct fg_stack_sums *sums)
{
	free(sums->self);
	free(sums->self_samples);
	free(sums->inclusive);
	free(sums->inclusive_samples);
	*sums = (struct fg_stack_sums){0};
}

static uint32_t function_of(const struct fg_profile *profile, size_t stack)
{
	return profile->frames[profile->stacks[stack].frame].function;
}

/*
 * The outermost stack of each function on a path carries the function's inclusive figure. Stacks
 * are visited depth first with a counter of open frames per function; a stack is outermost if its
 * function's counter is zero. The table only has parents before children, so lists of children are
 * made by counting.
 */
struct walk {
	uint32_t *first_child;
	uint32_t *next_sibling;
	uint32_t *open; /* open frames by function */
};

static void walk_init(struct walk *walk, const struct fg_profile *profile)
{
	walk->first_child = fg_xcalloc(profile->stack_count, sizeof(uint32_t));
	walk->next_sibling = fg_xcalloc(profile->stack_count, sizeof(uint32_t));
	walk->open = fg_xcalloc(profile->function_count, sizeof(uint32_t));
	for (size_t i = profile->stack_count; i-- > 1;) {
		const uint32_t parent = profile->stacks[i].parent;

		walk->next_sibling[i] = walk->first_child[parent];
		walk->first_child[parent] = (uint32_t)i;
	}
}

static void walk_release(struct walk *walk)
{
	free(walk->first_child);
	free(walk->next_sibling);
	free(walk->open);
}

static void enter(struct fg_function_sums *sums, const struct fg_profile *profile,
		  const struct fg_stack_sums *stacks, struct walk *walk, uint32_t stack)
{
	const uint32_t function = function_of(profile, stack);

	sums->self[function] += stacks->self[stack];
	sums->self_samples[function] += stacks->self_samples[stack];
	sums->leaf_paths[function] += stacks->self[stack] > 0;
	if (walk->open[function]++ == 0) {
		sums->inclusive[function] += stacks->inclusive[stack];
		sums->inclusive_samples[function] += stacks->inclusive_samples[stack];
	}
}

void fg_function_sums_init(struct fg_function_sums *sums, const struct fg_profile *profile,
			   const struct fg_stack_sums *stacks)
{
	const size_t count = profile->function_count;
	struct walk walk = {0};
	uint32_t at = 0;

	*sums = (struct fg_function_sums){
		.self = fg_xcalloc(count, sizeof(double)),
		.self_samples = fg_xcalloc(count, sizeof(uint64_t)),
		.inclusive = fg_xcalloc(count, sizeof(double)),
		.inclusive_samples = fg_xcalloc(count, sizeof(uint64_t)),
		.leaf_paths = fg_xcalloc(count, sizeof(uint64_t)),
	};
	walk_init(&walk, profile);
	enter(sums, profile, stacks, &walk, 0);
	for (;;) {
		if (walk.first_child[at] != 0) {
			at = walk.first_child[at];
		} else {
			while (at != 0 && walk.next_sibling[at] == 0) {
				walk.open[function_of(profile, at)]--;
				at = profile->stacks[at].parent;
			}
			if (at == 0)
				break;
			walk.open[function_of(profile, at)]--;
			at = walk.next_sibling[at];
		}
		enter(sums, profile, stacks, &walk, at);
	}
	walk_release(&walk);
}

void fg_function_sums_release(struct fg_function_sums *sums)
{
	free(sums->self);
	free(sums->self_samples);
	free(sums->inclusive);
	free(sums->inclusive_samples);
	free(sums->leaf_paths);
	*sums = (struct fg_function_sums){0};
}

size_t fg_stack_frames(const struct fg_profile *profile, uint32_t stack, uint32_t **frames,
		       size_t *capacity)
{
	size_t depth = 0;

	for (uint32_t at = stack; at != 0; at = profile->stacks[at].parent)
		depth++;
	*frames = fg_grow(*frames, capacity, depth + 1, sizeof(**frames));
	for (uint32_t at = stack, i = (uint32_t)depth; at != 0; at = profile->stacks[at].parent)
		(*frames)[--i] = profile->stacks[at].frame;
	return depth;
}
