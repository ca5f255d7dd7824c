// SPDX-License-Identifier: Apache-2.0
/*
 * The row about `schedule: auto`.
 *
 * The cost of a choice is the time to a verdict: seconds per observation times the number needed
 * for the first look or for an interval within the margin, whichever is larger. Both schedules were
 * recorded, so both costs are known, with a 95 % interval from draws of the recordings. A choice is
 * wrong if the whole interval favours the other schedule. Choices come from replaying the trial on
 * stretches of the recordings.
 */
#include "base/random.h"
#include "bench/calibration/card.h"
#include "bench/calibration/replay.h"
#include "gate/statistics/location.h"
#include "gate/statistics/sample.h"
#include "runner/schedule/choice.h"

#include <math.h>

#define TRIM          0.2
#define ERRORS_WITHIN 3.5
#define COST_DRAWS    1000

enum side {
	DUET,
	ABBA,
	SIDES,
};

static const char *const schedule_names[SIDES] = {"duet", "abba"};

/* One program in one condition. */
struct both {
	struct recorded_pair *observations[SIDES]; /* pairs, blocks */
	size_t count[SIDES];
	struct recorded_pair *halves; /* halves of the blocks, A then B */
	size_t half_count;
	struct fg_choice_goal goal;
};

static void both_release(struct both *both)
{
	free(both->observations[DUET]);
	free(both->observations[ABBA]);
	free(both->halves);
	*both = (struct both){0};
}

static bool both_load(const char *folder, const char *condition, const char *kind,
		      struct both *both)
{
	struct fg_measuring measure;
	struct fg_policy policy;

	*both = (struct both){0};
	fg_measuring_defaults(&measure);
	fg_policy_defaults(&policy);
	both->goal =
		(struct fg_choice_goal){.min_pairs = measure.min_pairs,
					.margin = fg_policy_metric(&policy, "cpu_time").margin};
	for (int side = 0; side < SIDES; side++) {
		struct recording recording;

		if (recording_load(folder, condition, kind, 0, schedule_names[side], &recording)) {
			both->observations[side] = recording_pairs(&recording, &both->count[side]);
			if (side == ABBA)
				both->halves = recording_halves(&recording, &both->half_count);
		}
		recording_release(&recording);
	}
	return both->count[DUET] >= FG_TRIAL_ROUNDS_FIRST &&
	       both->half_count >= FG_TRIAL_ROUNDS_FIRST;
}

/*
 * Returns the expected seconds to a verdict, from `count` observations drawn with replacement, or
 * from all observations.
 */
static double cost_of(const struct both *both, enum side side, struct fg_random *random)
{
	size_t count = both->count[side];
	double *values = fg_xcalloc(count + 1, sizeof(values[0]));
	double reach = ERRORS_WITHIN / log1p(both->goal.margin);
	double seconds = 0.0;
	struct fg_trimmed t;

	for (size_t i = 0; i < count; i++) {
		size_t at = random ? (size_t)fg_random_below(random, count) : i;

		values[i] = both->observations[side][at].difference;
		seconds += both->observations[side][at].seconds / (double)count;
	}
	t = fg_trimmed_mean(values, count, TRIM);
	free(values);
	return seconds * fmax(both->goal.min_pairs,
			      t.standard_error * t.standard_error * (double)count * reach * reach);
}

/* Returns the schedule that costs more, or FG_SCHEDULE_AUTO if the recordings cannot decide. */
static enum fg_schedule slower_of(const struct both *both)
{
	double ratios[COST_DRAWS];
	struct fg_random random;

	fg_random_seed(&random, 3);
	for (int i = 0; i < COST_DRAWS; i++)
		ratios[i] = cost_of(both, DUET, &random) / cost_of(both, ABBA, &random);
	if (fg_quantile(ratios, COST_DRAWS, 0.025) > 1.0)
		return FG_SCHEDULE_DUET;
	return fg_quantile(ratios, COST_DRAWS, 0.975) < 1.0 ? FG_SCHEDULE_ABBA : FG_SCHEDULE_AUTO;
}

static void try_observation(const struct recorded_pair *from, size_t count, size_t at,
			    struct fg_trial *trial)
{
	const struct recorded_pair *o = &from[at % count];

	trial->differences[trial->count++] = o->difference;
	trial->seconds += o->seconds;
}

/*
 * Repeats the trial of runner/schedule/trial.c on neighbouring observations, from the same part of
 * both recordings: the schedules were recorded alternately.
 */
static enum fg_schedule choose_again(const struct both *both, struct fg_random *random)
{
	size_t pair = (size_t)fg_random_below(random, both->count[DUET]);
	size_t half = pair * both->half_count / both->count[DUET];
	struct fg_choice choice = {.settled = false};
	struct fg_trial duet = {0};
	struct fg_trial abba = {0};

	for (size_t round = 0; round < FG_TRIAL_ROUNDS_MAX && !choice.settled; round++) {
		try_observation(both->observations[DUET], both->count[DUET], pair + round, &duet);
		try_observation(both->halves, both->half_count, half + round, &abba);
		if (round + 1 >= FG_TRIAL_ROUNDS_FIRST)
			choice = fg_choice_make(&both->goal, &duet, &abba);
	}
	return choice.schedule;
}

void card_add_auto(const char *folder, const char *condition, size_t decisions, struct card *card)
{
	struct card_row row = {.kind = CARD_GOAL,
			       .name = "auto",
			       .setting = "chose the slower schedule, trials replayed",
			       .condition = condition,
			       .goal = 0.01,
			       .median_pairs = (double)NAN,
			       .effect = (double)NAN,
			       .load = (double)NAN};
	struct fg_random random;

	fg_random_seed(&random, 5);
	for (size_t k = 0; k < CARD_KINDS; k++) {
		struct both both;

		if (both_load(folder, condition, card_kinds[k], &both)) {
			const enum fg_schedule slower = slower_of(&both);

			row.trials += decisions;
			for (size_t i = 0; i < decisions; i++)
				row.hits += choose_again(&both, &random) == slower;
		}
		both_release(&both);
	}
	card_add(card, &row);
}
