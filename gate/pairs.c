// SPDX-License-Identifier: Apache-2.0
#include "gate/pairs.h"

#include <math.h>

/* Sums of one pair while its repetitions are read. */
struct gathered {
	double sum[FG_ARM_COUNT];
	double log_sum[FG_ARM_COUNT];
	unsigned count[FG_ARM_COUNT];
	unsigned set_aside; /* repetitions set aside */
	unsigned given_up;  /* repetitions set aside only because the schedule was given up */
	bool no_number;
	bool no_ratio;
};

size_t fg_pair_end(const struct fg_series *series)
{
	return fg_min_size(fg_series_pair_end(series), FG_PAIR_NUMBERS_MAX);
}

static struct gathered *gather(const struct fg_series *series, size_t metric)
{
	size_t pair_end = fg_pair_end(series);
	struct gathered *all = fg_xcalloc(pair_end + 1, sizeof(all[0]));

	for (size_t i = 0; i < series->repetition_count; i++) {
		const struct fg_repetition *repetition = &series->repetitions[i];
		struct gathered *pair = NULL;
		double value = repetition->values[metric];

		if (repetition->pair >= pair_end)
			continue;
		pair = &all[repetition->pair];
		if (repetition->aside) {
			pair->set_aside += fg_aside_was_meant_to_count(repetition->aside);
			pair->given_up += repetition->aside == FG_ASIDE_GIVEN_UP;
			continue;
		}
		if (repetition->arm >= FG_ARM_COUNT)
			continue;
		if (!isfinite(value)) {
			pair->no_number = true;
			continue;
		}
		pair->no_ratio = pair->no_ratio || value <= 0.0;
		pair->sum[repetition->arm] += value;
		pair->log_sum[repetition->arm] += value > 0.0 ? log(value) : 0.0;
		pair->count[repetition->arm]++;
	}
	return all;
}

static bool is_whole(const struct gathered *pair)
{
	return pair->count[FG_ARM_BASELINE] > 0 &&
	       pair->count[FG_ARM_BASELINE] == pair->count[FG_ARM_CANDIDATE];
}

static void add_pair(struct fg_pairs *pairs, const struct gathered *pair, uint32_t number)
{
	const bool linear = pairs->linear;
	const double *sum = linear ? pair->sum : pair->log_sum;
	double baseline = sum[FG_ARM_BASELINE] / pair->count[FG_ARM_BASELINE];
	double candidate = sum[FG_ARM_CANDIDATE] / pair->count[FG_ARM_CANDIDATE];

	pairs->difference[pairs->count] = candidate - baseline;
	pairs->baseline[pairs->count] = linear ? baseline : exp(baseline);
	pairs->candidate[pairs->count] = linear ? candidate : exp(candidate);
	if (pairs->layout)
		pairs->layout[pairs->count] = (uint8_t)(number % pairs->layouts);
	pairs->count++;
}

static void sort_out(struct fg_pairs *pairs, const struct gathered *all, size_t pair_end,
		     bool positive)
{
	for (size_t i = 0; i < pair_end; i++) {
		const struct gathered *pair = &all[i];

		pairs->given_up += pair->given_up > 0 && pair->given_up == pair->set_aside;
		if (pair->set_aside > 0)
			pairs->set_aside++;
		else if (pair->no_number)
			pairs->no_number++;
		else if (pair->count[0] + pair->count[1] > 0 && !is_whole(pair))
			pairs->unpaired++;
		else if (is_whole(pair) && pair->no_ratio)
			pairs->no_ratio++;
	}
	pairs->linear = pairs->no_ratio > 0 && !positive;
	for (size_t i = 0; i < pair_end; i++) {
		const struct gathered *pair = &all[i];

		if (pair->set_aside == 0 && !pair->no_number && is_whole(pair) &&
		    (pairs->linear || !pair->no_ratio))
			add_pair(pairs, pair, (uint32_t)i);
	}
}

/*
 * Divides the differences of values that may be zero by the mean level of both arms. If all values
 * are zero, the differences stay zero.
 */
static void scale_linear(struct fg_pairs *pairs)
{
	double level = 0.0;

	for (size_t i = 0; i < pairs->count; i++)
		level += 0.5 * (fabs(pairs->baseline[i]) + fabs(pairs->candidate[i]));
	level /= (double)pairs->count;
	for (size_t i = 0; i < pairs->count && level > 0.0; i++)
		pairs->difference[i] /= level;
}

void fg_pairs_collect(const struct fg_series *series, size_t metric, struct fg_pairs *pairs)
{
	const struct fg_metric *what = &series->metrics[metric];
	size_t pair_end = fg_pair_end(series);
	struct gathered *all = gather(series, metric);

	*pairs = (struct fg_pairs){0};
	pairs->difference = fg_xcalloc(pair_end + 1, sizeof(pairs->difference[0]));
	pairs->baseline = fg_xcalloc(pair_end + 1, sizeof(pairs->baseline[0]));
	pairs->candidate = fg_xcalloc(pair_end + 1, sizeof(pairs->candidate[0]));
	if (series->as_linked_metric) {
		pairs->layouts =
			series->layouts > FG_LINE_PLACES ? series->layouts : FG_LINE_PLACES;
		pairs->layout = fg_xcalloc(pair_end + 1, sizeof(pairs->layout[0]));
	}
	sort_out(pairs, all, pair_end, fg_metric_is_time(what));
	if (pairs->linear && pairs->count > 0)
		scale_linear(pairs);
	for (size_t i = 0; i < pairs->count && what->better == FG_BETTER_HIGHER; i++)
		pairs->difference[i] = -pairs->difference[i];
	free(all);
}

void fg_pairs_release(struct fg_pairs *pairs)
{
	free(pairs->difference);
	free(pairs->baseline);
	free(pairs->candidate);
	free(pairs->layout);
	*pairs = (struct fg_pairs){0};
}

struct fg_set_aside fg_count_set_aside(const struct fg_series *series)
{
	size_t pair_end = fg_pair_end(series);
	uint16_t *aside = fg_xcalloc(pair_end + 1, sizeof(aside[0]));
	bool *meant = fg_xcalloc(pair_end + 1, sizeof(meant[0]));
	struct fg_set_aside found = {0};

	for (size_t i = 0; i < series->repetition_count; i++) {
		const struct fg_repetition *repetition = &series->repetitions[i];

		if (repetition->pair >= pair_end || !fg_aside_was_meant_to_count(repetition->aside))
			continue;
		meant[repetition->pair] = true;
		aside[repetition->pair] |= repetition->aside;
	}
	for (size_t i = 0; i < pair_end; i++) {
		found.meant += meant[i];
		found.all += aside[i] != 0;
		found.apart += (aside[i] & FG_ASIDE_OVERLAP) != 0;
		found.disturbed += (aside[i] & FG_ASIDE_STRAY) != 0;
		found.stolen += (aside[i] & FG_ASIDE_STEAL) != 0;
	}
	free(aside);
	free(meant);
	return found;
}
