// SPDX-License-Identifier: Apache-2.0
/*
 * Chooses the schedule that reaches a verdict sooner.
 *
 * A verdict needs `min_pairs` observations, or the number that makes its interval fit into the
 * margin, whichever is more. For an observation of variance v the second number is about v (Z /
 * ln(1 + margin))², with Z = ERRORS_WITHIN. That number times the seconds of an observation is the
 * time until a verdict; the schedule with the shorter time is chosen.
 *
 * The time per observation is known after a few observations. The variances are not: with six
 * values each, two variances differ by a factor of five by chance in one of ten trials, and
 * programs on crowded machines have outliers as well. With the variances alone, the choice between
 * similar schedules would be a coin toss, and sometimes also the choice between dissimilar ones. So
 * the trial is weighed against prior knowledge (a normal prior on the logarithm of the ratio of the
 * variances, updated by the trial):
 *
 * - In recordings of four kinds of programs under several loads, a duet's pair had 0.4 times the
 *   variance of A then B, give or take a factor of e: a disturbance affects both halves of the
 *   duet, and both run on the same CPU.
 * - The logarithm of the ratio of two squared spreads, of n values each, has a variance of about
 *   8 / n: 4.6 / n for normal values, and as much again for outliers.
 *
 * Three rounds change the prior little. Twelve rounds outweigh it: ABBA is then chosen if it looks
 * better by a factor of 1.8 or more. The trial ends once the choice would be the same with a ratio
 * PAUSE standard errors higher or lower. On a quiet machine, where both schedules decide at their
 * first look, it ends after three rounds.
 *
 * Example: 0.2 s per duet pair, spread 2.3 %; 0.2 s for A then B, spread 2.9 %; three of each;
 * margin 2 %. The trial gives ln(v/v') = -0.46 with variance 8/3, the prior -0.9 with variance 1:
 * together -0.78. Level and ratio give v = (2.7 %)², v' = (3.9 %)²; that is 22 pairs of 0.2 s
 * against 24 blocks of 0.4 s: duet, 4.4 s against 9.7 s. A block is two observations: half the
 * variance in twice the time.
 *
 * The spread is the mean absolute deviation from the median: with few values a square would let one
 * outlier decide.
 */
#include "runner/schedule/choice.h"

#include "base/sort.h"

#include <math.h>

#define PRIOR_LOG_RATIO   (-0.9) /* ln(variance of a duet's pair / variance of A then B) */
#define PRIOR_VARIANCE    1.0
#define SPREADS_VARIANCE  8.0 /* n × variance of ln(ratio of two squared spreads) */
#define PAUSE             1.0
#define NORMAL_PER_SPREAD 1.2533 /* normal distribution: standard / mean absolute deviation */
#define ERRORS_WITHIN \
 3.5 /* standard errors that must fit into the margin: early looks need more, late looks fewer */
#define MIN_SPREAD 1e-5

double fg_trial_spread(const struct fg_trial *trial)
{
	const size_t n = trial->count;
	double sorted[FG_TRIAL_ROUNDS_MAX];
	double middle = 0;
	double sum = 0;

	if (n < 2)
		return (double)NAN;
	memcpy(sorted, trial->differences, n * sizeof(double));
	middle = fg_middle(sorted, n);
	for (size_t i = 0; i < n; i++)
		sum += fabs(sorted[i] - middle);
	return sum / ((double)n - 1);
}

static double log_variance(const struct fg_trial *trial)
{
	return 2 * log(NORMAL_PER_SPREAD * fmax(fg_trial_spread(trial), MIN_SPREAD));
}

/* Returns the expected seconds until a verdict, for observations of this variance. */
static double until_verdict(const struct fg_choice_goal *goal, double variance, double seconds)
{
	const double reach = fmax(log1p(goal->margin), MIN_SPREAD);
	const double needed = variance * (ERRORS_WITHIN / reach) * (ERRORS_WITHIN / reach);

	return seconds * fmax(goal->min_pairs, needed);
}

static double seconds_each(const struct fg_trial *trial)
{
	return trial->seconds / (double)trial->count;
}

struct fg_choice fg_choice_make(const struct fg_choice_goal *goal, const struct fg_trial *duet,
				const struct fg_trial *abba)
{
	const double n = (double)(duet->count < abba->count ? duet->count : abba->count);
	const double weight = PRIOR_VARIANCE / (PRIOR_VARIANCE + SPREADS_VARIANCE / n);
	const double error = sqrt((1 - weight) * PRIOR_VARIANCE);
	const double level = (log_variance(duet) + log_variance(abba)) / 2;
	const double seen = log_variance(duet) - log_variance(abba);
	const double ratio = (1 - weight) * PRIOR_LOG_RATIO + weight * seen;
	struct fg_choice choice = {.settled = true};

	/* The estimated ratio comes last, so that the result is the choice made for it. */
	for (int side = 0; side < 3; side++) {
		const double log_ratio = ratio + (side == 0   ? -PAUSE
						  : side == 1 ? PAUSE
							      : 0) *
							 error;
		const double pair = exp(level + log_ratio / 2);
		const double block = exp(level - log_ratio / 2) / 2;
		const enum fg_schedule before = choice.schedule;

		choice.duet_seconds = until_verdict(goal, pair, seconds_each(duet));
		choice.abba_seconds = until_verdict(goal, block, 2 * seconds_each(abba));
		choice.schedule = choice.duet_seconds <= choice.abba_seconds ? FG_SCHEDULE_DUET
									     : FG_SCHEDULE_ABBA;
		if (side > 0 && choice.schedule != before)
			choice.settled = false;
	}
	return choice;
}
