// SPDX-License-Identifier: Apache-2.0
#include "gate/shape.h"

#include "base/number.h"
#include "base/random.h"
#include "gate/statistics/modality.h"
#include "gate/statistics/sample.h"

#include <math.h>

#define MODES_MIN_VALUES   16
#define MODES_P            0.005
#define MODES_MIN_SHARE    0.1
#define MODES_MIN_DISTANCE 0.01 /* relative; closer heaps are no news */
#define MODES_ALIKE        0.25 /* shares of both sides differ by less */
#define LAYOUT_MIN_VALUES  24
#define LAYOUT_P           0.005
#define LAYOUT_MIN_SPREAD  0.005 /* relative, between groups */
#define LAYOUT_SHUFFLES    999
#define STACK_STEP         16 /* the stack is aligned to this */

static const char *const arm_names[FG_ARM_COUNT] = {"baseline", "candidate"};

static bool has_two_modes(const double *values, size_t count, uint64_t seed,
			  struct fg_modality *modality)
{
	double distance;

	if (count < MODES_MIN_VALUES)
		return false;
	*modality = fg_modality_test(values, count, 0, seed);
	distance = fabs(modality->high_center - modality->low_center) /
		   fmax(fabs(modality->low_center), 1e-300);
	return modality->p <= MODES_P && modality->high_share >= MODES_MIN_SHARE &&
	       modality->high_share <= 1.0 - MODES_MIN_SHARE && distance >= MODES_MIN_DISTANCE;
}

/* Both sides alike: the host or the schedule decides, not the program. */
static bool are_alike(const struct fg_modality *a, const struct fg_modality *b)
{
	return fabs(a->high_share - b->high_share) < MODES_ALIKE;
}

static void note_modes(const struct fg_modality *modality, int arm, const char *unit,
		       struct fg_arena *arena, struct fg_notes *notes)
{
	char low[FG_NUMBER_TEXT_SIZE];
	char high[FG_NUMBER_TEXT_SIZE];

	fg_notes_add(notes, arena,
		     "the %s has two modes, unlike the %s: %.0f %% of its repetitions near %s, "
		     "%.0f %% near %s; look for what decides between them",
		     arm_names[arm], arm_names[1 - arm], 100.0 * (1.0 - modality->high_share),
		     fg_format_value(modality->low_center, unit, low), 100.0 * modality->high_share,
		     fg_format_value(modality->high_center, unit, high));
}

void fg_shape_note_modes(const struct fg_series *series, size_t metric, uint64_t seed,
			 struct fg_arena *arena, struct fg_notes *notes)
{
	struct fg_modality modality[FG_ARM_COUNT];
	bool has_two[FG_ARM_COUNT];

	for (int arm = 0; arm < FG_ARM_COUNT; arm++) {
		size_t count;
		double *values = fg_series_values(series, metric, (enum fg_arm)arm, &count);

		has_two[arm] = has_two_modes(values, count, seed + (uint64_t)arm, &modality[arm]);
		free(values);
	}
	if (has_two[0] && has_two[1] && are_alike(&modality[0], &modality[1]))
		return;
	for (int arm = 0; arm < FG_ARM_COUNT; arm++) {
		if (has_two[arm])
			note_modes(&modality[arm], arm, series->metrics[metric].unit, arena, notes);
	}
}

enum {
	PLACES = 4, /* of the stack, within a cache line */
	GROUPS = 2 * PLACES,
};

/*
 * Logarithms of one arm, each less its pair's mean of both arms, beside the place of the stack
 * within a cache line.
 */
static size_t layout_values(const struct fg_series *series, size_t metric, double *values,
			    unsigned *groups)
{
	size_t pair_end = fg_pair_end(series);
	double *sum = fg_xcalloc(pair_end + 1, sizeof(sum[0]));
	unsigned *count = fg_xcalloc(pair_end + 1, sizeof(count[0]));
	size_t used = 0;

	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < series->repetition_count; i++) {
			const struct fg_repetition *r = &series->repetitions[i];

			if (r->aside || r->pair >= pair_end || !(r->values[metric] > 0.0))
				continue;
			if (pass == 0) {
				sum[r->pair] += log(r->values[metric]);
				count[r->pair]++;
			} else if (count[r->pair] > 1) {
				values[used] =
					log(r->values[metric]) - sum[r->pair] / count[r->pair];
				groups[used++] = (r->arm == FG_ARM_CANDIDATE ? PLACES : 0U) +
						 (r->padding / STACK_STEP) % PLACES;
			}
		}
	}
	free(sum);
	free(count);
	return used;
}

/*
 * Sum over the places of n mean^2, and the largest distance of two places of one arm.  Less
 * n mean^2 of each arm, which no shuffle within the arms changes, it is the scatter between places.
 */
static double between_places(const double *values, const unsigned *groups, size_t count,
			     double *spread)
{
	double sum[GROUPS] = {0.0};
	double size[GROUPS] = {0.0};
	double between = 0.0;

	*spread = 0.0;
	for (size_t i = 0; i < count; i++) {
		sum[groups[i]] += values[i];
		size[groups[i]] += 1.0;
	}
	for (size_t arm = 0; arm < 2; arm++) {
		double low = HUGE_VAL;
		double high = -HUGE_VAL;

		for (size_t g = PLACES * arm; g < PLACES * arm + PLACES; g++) {
			double mean = sum[g] / size[g];

			if (isnan(mean))
				continue; /* nothing was there */
			between += size[g] * mean * mean;
			low = fmin(low, mean);
			high = fmax(high, mean);
		}
		*spread = fmax(*spread, high - low);
	}
	return between;
}

/* Places change hands within an arm only: the arms may well differ. */
static void shuffle_within_arms(struct fg_random *random, unsigned *groups, size_t count)
{
	for (size_t i = count; i-- > 1;) {
		size_t j = (size_t)fg_random_below(random, i + 1);

		if (groups[i] / PLACES == groups[j] / PLACES) {
			unsigned kept = groups[i];

			groups[i] = groups[j];
			groups[j] = kept;
		}
	}
}

void fg_shape_note_layout(const struct fg_series *series, size_t metric, uint64_t seed,
			  struct fg_arena *arena, struct fg_notes *notes)
{
	double *values = fg_xcalloc(series->repetition_count + 1, sizeof(values[0]));
	unsigned *groups = fg_xcalloc(series->repetition_count + 1, sizeof(groups[0]));
	size_t count = layout_values(series, metric, values, groups);
	struct fg_random random;
	size_t reached = 1;
	double spread;
	double between;
	double ignored;

	fg_random_seed(&random, seed);
	between = between_places(values, groups, count, &spread);
	if (count >= LAYOUT_MIN_VALUES && spread >= LAYOUT_MIN_SPREAD) {
		for (int i = 0; i < LAYOUT_SHUFFLES; i++) {
			shuffle_within_arms(&random, groups, count);
			reached += between_places(values, groups, count, &ignored) >= between;
		}
		if ((double)reached / (LAYOUT_SHUFFLES + 1.0) <= LAYOUT_P)
			fg_notes_add(notes, arena,
				     "sensitive to memory layout: the place of the stack alone "
				     "changes the result by up to %.1f %%",
				     100.0 * expm1(spread));
	}
	free(values);
	free(groups);
}
