// SPDX-License-Identifier: Apache-2.0
/*
 * A verdict is about the time that the kernel measured, which differs by a percent or less between
 * two executions; a function's time is known only from its samples, whose number scatters by its
 * square root. With S samples per execution, a share q of them in the function, the difference of n
 * pairs is uncertain by sqrt(2 q S n) samples, and a change of the whole by r - 1 is (r - 1) S n
 * samples. It stands out by NAMING_ERRORS standard errors with
 *
 *	n = 2 q NAMING_ERRORS^2 / ((r - 1)^2 S)
 *
 * pairs. The guilty function is not known here, so q is the share of the largest function: a
 * smaller function needs fewer pairs. A large change stands out in few samples, but then the
 * largest function must get the samples that a test needs, and two standard deviations more. The
 * number is fixed before it is reached, and does not depend on which function looks slower, so the
 * test of the functions stays valid.
 */
#include "gate/blame.h"
#include "gate/next_step.h"
#include "gate/node_family.h"

#include <math.h>

/*
 * Three standard errors reach an adjusted p of a few percent; the fourth covers the scatter of the
 * times.
 */
#define NAMING_ERRORS 4.0
/*
 * Limits the pairs that are measured until the function can be named, as a multiple of the pairs of
 * the verdict.
 */
#define NAMING_MAX 4

struct sampled {
	double executions;
	double all;
	/*
	 * samples of the function with the most samples, including unchanged libraries that it
	 * calls
	 */
	double largest;
};

static struct sampled count_samples(const struct fg_profile_set *set,
				    const struct fg_series *series)
{
	double *samples = fg_xcalloc(set->function_count + 1, sizeof(samples[0]));
	uint32_t *blamed = fg_blame_nodes(set, series);
	const uint16_t time = fg_profile_set_time(set);
	struct sampled found = {0};

	for (size_t r = 0; r < set->row_count; r++) {
		const struct fg_profile_row *row = &set->rows[r];

		if (row->measure != time || row->aside != 0)
			continue;
		found.executions += 1;
		for (uint32_t i = 0; i < row->count; i++) {
			samples[set->nodes[blamed[row->nodes[i]]].function] += row->samples[i];
			found.all += row->samples[i];
		}
	}
	for (size_t f = 0; f < set->function_count; f++)
		found.largest = fmax(found.largest, samples[f]);
	free(blamed);
	free(samples);
	return found;
}

unsigned fg_naming_pairs(const struct fg_profile_set *set, const struct fg_series *series,
			 double ratio, unsigned pairs, unsigned most)
{
	const struct sampled sampled = count_samples(set, series);
	const double enough_samples = FG_SAMPLES_TO_TEST + 2 * sqrt(FG_SAMPLES_TO_TEST);
	const double change = ratio - 1;
	double wanted;

	if (sampled.all <= 0 || !(change > 0))
		return 0;
	wanted = 2 * NAMING_ERRORS * NAMING_ERRORS * (sampled.largest / sampled.all) *
		 sampled.executions / (change * change * sampled.all);
	wanted = fmax(wanted, enough_samples * pairs / sampled.largest);
	wanted = fmin(ceil(wanted), fmin((double)most, (double)NAMING_MAX * pairs));
	return wanted > pairs ? (unsigned)wanted : 0;
}
