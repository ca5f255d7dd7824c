// SPDX-License-Identifier: Apache-2.0
/* `schedule: auto`: the choice after a trial, and the conditions under which it is given up. */
#include "base/random.h"
#include "runner/job.h"
#include "runner/schedule/choice.h"
#include "tests/support/fg_test.h"

#include <math.h>

static const struct fg_choice_goal goal = {.min_pairs = 10, .margin = 0.02};

/* Makes a trial of `count` observations that scatter by `noise` and take `seconds` each. */
static struct fg_trial made_trial(struct fg_random *random, size_t count, double noise,
				  double seconds)
{
	struct fg_trial trial = {.seconds = seconds * (double)count};

	while (trial.count < count)
		trial.differences[trial.count++] = noise * fg_random_normal(random);
	return trial;
}

/*
 * Counts how many of 1,000 trials end with the duet. As in a session, each trial takes three
 * rounds, and more until the choice is settled.
 */
static int count_duets(double duet_noise, double duet_seconds, double abba_noise,
		       double abba_seconds, double *rounds)
{
	struct fg_random random;
	int duets = 0;

	*rounds = 0.0;
	fg_random_seed(&random, 11);
	for (int run = 0; run < 1000; run++) {
		struct fg_trial duet =
			made_trial(&random, FG_TRIAL_ROUNDS_MAX, duet_noise, duet_seconds);
		struct fg_trial abba =
			made_trial(&random, FG_TRIAL_ROUNDS_MAX, abba_noise, abba_seconds);
		struct fg_choice choice = {.settled = false};
		size_t n = FG_TRIAL_ROUNDS_FIRST;

		for (; n <= FG_TRIAL_ROUNDS_MAX && !choice.settled; n++) {
			duet.count = abba.count = n;
			duet.seconds = duet_seconds * (double)n;
			abba.seconds = abba_seconds * (double)n;
			choice = fg_choice_make(&goal, &duet, &abba);
		}
		*rounds += (double)(n - 1) / 1000.0;
		duets += choice.schedule == FG_SCHEDULE_DUET;
	}
	return duets;
}

FG_TEST(the_schedule_that_is_sooner_sure_is_chosen)
{
	static const struct {
		const char *why;
		double duet_noise;
		double duet_seconds;
		double abba_noise;
		double abba_seconds;
		int at_least; /* duets, out of 1,000 */
		int at_most;
		double rounds_at_most;
	} table[] = {
		{"quiet: a pair is shorter than a block", 0.004, 0.1, 0.002, 0.1, 1000, 1000, 3.01},
		{"quiet, with a slow duet", 0.002, 0.5, 0.002, 0.1, 0, 0, 3.01},
		{"loaded: the duet scatters less", 0.023, 0.2, 0.104, 0.2, 999, 1000, 3.5},
		{"as recorded on average", 0.04, 0.2, 0.063, 0.2, 980, 1000, 6.0},
		{"the duet scatters three times as much", 0.15, 0.2, 0.05, 0.2, 0, 120, 12.0},
		{"the duet scatters ten times as much", 0.2, 0.2, 0.02, 0.2, 0, 40, 7.0},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(table); i++) {
		double rounds;
		int duets = count_duets(table[i].duet_noise, table[i].duet_seconds,
					table[i].abba_noise, table[i].abba_seconds, &rounds);

		if (duets < table[i].at_least || duets > table[i].at_most ||
		    rounds > table[i].rounds_at_most)
			fail_msg("%s: %d duets of 1,000, %.1f rounds", table[i].why, duets, rounds);
	}
}

FG_TEST(a_wider_margin_needs_fewer_pairs)
{
	const struct fg_choice_goal wide = {.min_pairs = 10, .margin = 0.2};
	struct fg_random random;
	struct fg_trial duet;
	struct fg_trial abba;

	fg_random_seed(&random, 2);
	duet = made_trial(&random, 6, 0.1, 0.2);
	abba = made_trial(&random, 6, 0.1, 0.2);
	assert_true(fg_choice_make(&wide, &duet, &abba).duet_seconds <
		    fg_choice_make(&goal, &duet, &abba).duet_seconds);
}

FG_TEST(equal_values_have_no_spread_and_are_chosen_from_all_the_same)
{
	struct fg_trial duet = {.differences = {0.0, 0.0, 0.0}, .count = 3, .seconds = 0.3};
	struct fg_trial abba = duet;
	struct fg_choice choice = fg_choice_make(&goal, &duet, &abba);

	assert_float_equal(fg_trial_spread(&duet), 0.0, 1e-12);
	assert_true(choice.settled);
	assert_int_equal(choice.schedule, FG_SCHEDULE_DUET);
	assert_float_equal(choice.duet_seconds, 1.0, 1e-9);
	assert_float_equal(choice.abba_seconds, 2.0, 1e-9);
	duet.count = 1;
	assert_true(isnan(fg_trial_spread(&duet)));
}

FG_TEST(a_spread_is_the_mean_distance_from_the_median)
{
	const struct fg_trial trial = {.differences = {0.05, 0.01, 0.02}, .count = 3};

	/* around 0.02: 0.03 + 0.01 + 0, over n - 1 */
	assert_float_equal(fg_trial_spread(&trial), 0.02, 1e-12);
}

/* Adds a repetition that counts, and four that are set aside for different reasons. */
static void add_repetitions(struct fg_series *series)
{
	static const uint16_t asides[] = {FG_ASIDE_WARMUP, FG_ASIDE_TRIAL, FG_ASIDE_SOLO, 0,
					  FG_ASIDE_OVERLAP};

	for (uint32_t i = 0; i < FG_ARRAY_SIZE(asides); i++) {
		struct fg_repetition *repetition = fg_series_add_repetition(series);

		repetition->pair = i;
		repetition->aside = asides[i];
	}
}

static void check_asides(const struct fg_series *series, bool given_up)
{
	for (size_t i = 0; i < series->repetition_count; i++)
		assert_int_equal((series->repetitions[i].aside & FG_ASIDE_GIVEN_UP) != 0,
				 given_up && i >= 3);
}

FG_TEST(an_automatic_duet_whose_pairs_do_not_count_is_given_up)
{
	static const struct {
		const char *why;
		enum fg_schedule asked;
		unsigned counting;
		uint32_t apart; /* the newest pair is the lowest bit */
		bool until_sure;
		double budget_seconds; /* 30 s are spent, a pair takes 2 s, ten blocks are wanted */
		bool given_up;
	} table[] = {
		{"four in vain", FG_SCHEDULE_AUTO, 0, 0xf, false, 0, true},
		{"three may be chance", FG_SCHEDULE_AUTO, 0, 0x7, false, 0, false},
		{"one of ten counts", FG_SCHEDULE_AUTO, 1, 0x1ff, false, 0, false},
		{"twelve of the last sixteen", FG_SCHEDULE_AUTO, 40, 0x7ff8, false, 0, true},
		{"eleven", FG_SCHEDULE_AUTO, 40, 0x7ff0, false, 0, false},
		{"it is better by now", FG_SCHEDULE_AUTO, 40, 0xffff0000, false, 0, false},
		{"the user's own choice", FG_SCHEDULE_DUET, 0, 0xffff, false, 0, false},
		{"until sure, pairs that count stay a duet", FG_SCHEDULE_AUTO, 1, 0xffff, true, 0,
		 false},
		{"until sure, no pair counts", FG_SCHEDULE_AUTO, 0, 0xffff, true, 0, true},
		{"there is time for blocks", FG_SCHEDULE_AUTO, 3, 0xffff, false, 71, true},
		{"there is no time", FG_SCHEDULE_AUTO, 3, 0xffff, false, 69, false},
		{"nothing is lost", FG_SCHEDULE_AUTO, 0, 0xffff, false, 69, true},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(table); i++) {
		struct fg_benchmark benchmark = {
			.measure = {.schedule = table[i].asked,
				    .min_pairs = 10,
				    .budget_ns = (int64_t)(table[i].budget_seconds * 1e9),
				    .until_sure = table[i].until_sure}};
		struct fg_runner runner = {0};
		struct fg_runner_job job = {.runner = &runner,
					    .benchmark = &benchmark,
					    .rules.schedule = FG_SCHEDULE_DUET,
					    .pairs = 50,
					    .pair_seconds = 2,
					    .counting = table[i].counting,
					    .apart = table[i].apart};
		struct fg_run run;
		size_t first = 1;
		struct fg_series *series = NULL;

		fg_run_init(&run);
		(void)fg_run_add_series(&run, "another");
		series = fg_run_add_series(&run, "short");
		series->schedule = FG_SCHEDULE_DUET;
		series->seconds = 30;
		add_repetitions(series);
		runner.options.run = &run;
		job.series = &first;
		job.series_count = 1;
		assert_int_equal(fg_job_reconsider(&job), table[i].given_up);
		if ((series->schedule == FG_SCHEDULE_ABBA) != table[i].given_up ||
		    job.rules.schedule != series->schedule)
			fail_msg("%s", table[i].why);
		check_asides(series, table[i].given_up);
		assert_int_equal(job.counting, table[i].given_up ? 0 : table[i].counting);
		if (table[i].given_up) {
			assert_int_equal(job.given_up, 50);
			assert_non_null(strstr(series->schedule_reason, "80 %"));
		}
		for (size_t n = 0; n < job.note_count; n++)
			free(job.notes[n]);
		fg_run_release(&run);
	}
}
