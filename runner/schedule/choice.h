/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chooses duet or ABBA: the schedule that reaches a verdict sooner, judged by a few observations of
 * each schedule. Pure arithmetic, so that it can be replayed on recordings; trial.c makes the
 * observations. choice.c explains the rule.
 */
#ifndef FG_RUNNER_CHOICE_H
#define FG_RUNNER_CHOICE_H

#include "model/plan.h"

enum {
	FG_TRIAL_ROUNDS_FIRST = 3, /* rounds of each schedule before the trial may stop */
	FG_TRIAL_ROUNDS_MAX = 12,
};

/* A trial of one schedule: ln(candidate / baseline) of duet pairs, or of A then B. */
struct fg_trial {
	double differences[FG_TRIAL_ROUNDS_MAX];
	size_t count;
	double seconds; /* time spent on all observations, failed ones included */
};

/* Requirements for a verdict. */
struct fg_choice_goal {
	unsigned min_pairs; /* nothing is decided with fewer pairs */
	double margin;      /* relative change into which the interval must fit, such as 0.02 */
};

struct fg_choice {
	enum fg_schedule schedule;
	bool settled;        /* more observations are not worth their time */
	double duet_seconds; /* expected time until a verdict */
	double abba_seconds;
};

/*
 * Returns the mean absolute deviation from the median, corrected for small samples; NaN with fewer
 * than two values.
 */
double fg_trial_spread(const struct fg_trial *trial);

/* Both trials must have two values or more. */
struct fg_choice fg_choice_make(const struct fg_choice_goal *goal, const struct fg_trial *duet,
				const struct fg_trial *abba);

#endif
