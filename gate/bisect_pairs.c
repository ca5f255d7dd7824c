// SPDX-License-Identifier: Apache-2.0
#include "gate/bisect.h"
#include "gate/blame.h"
#include "gate/exact.h"
#include "gate/pairs.h"
#include "gate/statistics/location.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A change counts as certain if it is this many standard errors above zero. */
static const double sure_errors = 3.3;
static const double trimmed_share = 0.1;

/* An exact count must differ by more than this share to count as different. */
static const double min_exact = 0.0001;

void fg_bisect_take_metric(struct fg_bisect_commit *commit, const struct fg_series *series,
			   const char *metric)
{
	const size_t index = fg_series_find_metric(series, metric);
	struct fg_pairs pairs = {0};

	if (index == SIZE_MAX)
		return;
	fg_pairs_collect(series, index, &pairs);
	for (size_t i = 0; i < pairs.count; i++)
		fg_bisect_add(commit, pairs.difference[i]);
	fg_pairs_release(&pairs);
}

bool fg_bisect_is_worse(const struct fg_bisect_commit *commit)
{
	const struct fg_trimmed middle =
		fg_trimmed_mean(commit->differences, commit->pair_count, trimmed_share);

	if (commit->pair_count == 1)
		return commit->differences[0] > min_exact;
	return middle.mean > sure_errors * middle.standard_error && middle.mean > 0;
}

/* ---- costs in profiles ---- */

/*
 * Marks the nodes of the function and everything below them; without a function, marks all nodes
 * outside the dynamic linker. Parents come before their children.
 */
static bool *mark_nodes(const struct fg_bisect_cost *cost)
{
	const struct fg_profile_set *set = cost->profile;
	bool *marks = fg_xcalloc(set->node_count, sizeof(marks[0]));

	for (size_t n = 0; n < set->node_count; n++) {
		const struct fg_profile_function *function =
			&set->functions[set->nodes[n].function];

		marks[n] = cost->function ? strcmp(function->name, cost->function) == 0 ||
						    (n > 0 && marks[set->nodes[n].parent])
					  : !fg_blame_is_linker(function);
	}
	return marks;
}

static double sum_of(const struct fg_profile_row *row, const bool *marks)
{
	double sum = 0;

	for (uint32_t i = 0; i < row->count; i++)
		sum += marks[row->nodes[i]] ? row->values[i] : 0;
	return sum;
}

/*
 * Computes the means of both arms over the pairs from pairs[0] up to, but not including, pairs[1].
 */
static bool mean_of(const struct fg_bisect_cost *cost, uint16_t measure, const bool *marks,
		    const uint32_t pairs[2], double means[FG_ARM_COUNT])
{
	size_t counts[FG_ARM_COUNT] = {0};

	means[0] = means[1] = 0;
	for (size_t i = 0; i < cost->profile->row_count; i++) {
		const struct fg_profile_row *row = &cost->profile->rows[i];

		if (row->measure != measure || row->aside || row->arm >= FG_ARM_COUNT ||
		    row->pair < pairs[0] || row->pair >= pairs[1])
			continue;
		means[row->arm] += sum_of(row, marks);
		counts[row->arm]++;
	}
	if (counts[0] == 0 || counts[1] == 0)
		return false;
	means[0] /= (double)counts[0];
	means[1] /= (double)counts[1];
	return means[0] > 0 && means[1] > 0;
}

static uint32_t end_of_pairs(const struct fg_profile_set *set)
{
	uint32_t end = 0;

	for (size_t i = 0; i < set->row_count; i++) {
		if (set->rows[i].pair < FG_PAIR_NUMBERS_MAX && set->rows[i].pair >= end)
			end = set->rows[i].pair + 1;
	}
	return end;
}

void fg_bisect_take_costs(struct fg_bisect_commit *commit, const struct fg_bisect_cost *cost)
{
	double means[FG_ARM_COUNT];
	uint16_t measure = 0;
	bool *marks = NULL;

	if (!cost->profile ||
	    (cost->measure && !fg_measure_find(&cost->profile->measures, cost->measure, &measure)))
		return;
	marks = mark_nodes(cost);
	if (cost->measure) {
		const uint32_t all[2] = {FG_EXACT_FIRST_PAIR, UINT32_MAX};

		if (mean_of(cost, measure, marks, all, means))
			fg_bisect_add(commit, log(means[1] / means[0]));
	} else {
		const uint16_t time = fg_profile_set_time(cost->profile);
		const uint32_t end = end_of_pairs(cost->profile);

		for (uint32_t pair = 0; pair < end; pair++) {
			const uint32_t one[2] = {pair, pair + 1};

			if (mean_of(cost, time, marks, one, means))
				fg_bisect_add(commit, log(means[1] / means[0]));
		}
	}
	free(marks);
}
