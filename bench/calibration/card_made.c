// SPDX-License-Identifier: Apache-2.0
/*
 * What recordings cannot show, because the truth is unknown or there is too little data: pairs that
 * depend on earlier ones, and histories of 125 runs with and without a change.
 */
#include "base/random.h"
#include "bench/calibration/card.h"
#include "gate/gate.h"
#include "stats/changepoint.h"

#include <math.h>

enum {
	RUNS = 125,       /* of a history */
	STEP_AT = 60,     /* first run after the change */
	STEP_REACH = 3,   /* runs off that still count as found */
	HISTORY_SHARE = 2 /* a history takes longer than a decision: fewer by this factor */
};

struct noise {
	double r; /* of an AR(1) series; 0: independent */
	double spread;
	bool skewed; /* log-normal, and one in fifty 30 % higher */
};

static double draw(const struct noise *noise, struct fg_random *random, double *state)
{
	double value;

	*state = noise->r * *state + sqrt(1.0 - noise->r * noise->r) * fg_random_normal(random);
	value = noise->spread * *state;
	if (noise->skewed)
		value = expm1(value) + (fg_random_uniform(random) < 0.02 ? 0.3 : 0.0);
	return value;
}

static void add_pair(uint32_t pair, double difference, struct fg_series *series)
{
	for (int arm = 0; arm < FG_ARM_COUNT; arm++) {
		struct fg_repetition *r = fg_series_add_repetition(series);

		r->pair = pair;
		r->arm = (uint8_t)arm;
		r->values[FG_METRIC_CPU_TIME] = 1e8 * (arm ? exp(difference) : 1.0);
	}
}

/* A whole sequential run with identical programs: does it fail? */
static bool fails(const struct noise *noise, struct fg_random *random)
{
	struct fg_gate_progress progress = {.next_look = 1};
	struct fg_metric_policy metric;
	struct fg_measuring measure;
	struct fg_policy policy;
	struct fg_series series;
	double state = fg_random_normal(random);
	uint32_t pairs = 0;

	fg_measuring_defaults(&measure);
	fg_policy_defaults(&policy);
	metric = fg_policy_metric(&policy, "cpu_time");
	metric.min_effect = 0.0;
	policy.metrics = &metric;
	policy.metric_count = 1;
	fg_series_init(&series, "made");
	series.schedule = FG_SCHEDULE_DUET;
	do {
		while (pairs < progress.next_look)
			add_pair(pairs++, draw(noise, random, &state), &series);
		fg_gate_look(&series, &policy, &measure, &progress);
	} while (!progress.decided && progress.next_look > 0);
	fg_series_release(&series);
	return progress.outcome == FG_OUTCOME_REGRESSION;
}

static void add_row(struct card_row row, struct card *card)
{
	row.kind = CARD_GOAL;
	row.median_pairs = row.effect = row.load = (double)NAN;
	card_add(card, &row);
}

static void add_dependent_pairs(size_t decisions, struct card *card)
{
	static const struct {
		const char *setting;
		double r;
	} rows[] = {
		{"pairs independent, normal, min_effect 0", 0.0},
		{"pairs AR(1), r = 0.3, min_effect 0", 0.3},
		{"pairs AR(1), r = 0.6, min_effect 0", 0.6},
	};
	size_t trials = 8 * decisions;

	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		struct noise noise = {.r = rows[i].r, .spread = 0.02};
		struct fg_random random;
		size_t hits = 0;

		fg_random_seed(&random, i + 1);
		for (size_t n = 0; n < trials; n++)
			hits += fails(&noise, &random);
		add_row((struct card_row){.name = "identical programs FAIL",
					  .setting = rows[i].setting,
					  .hits = hits,
					  .trials = trials,
					  .goal = 0.01},
			card);
	}
}

/*
 * Changes found in a history; `step` is added from run STEP_AT on.  *near: one of them where it is.
 */
static size_t find_changes(const struct noise *noise, double step, uint64_t seed, bool *near)
{
	struct fg_changepoint_options options = {.alpha = 0.01, .seed = seed};
	struct fg_changepoints found = {0};
	struct fg_random random;
	double values[RUNS];
	double state;
	size_t count;

	fg_random_seed(&random, seed);
	state = fg_random_normal(&random);
	for (int i = 0; i < RUNS; i++)
		values[i] =
			100.0 * (1.0 + draw(noise, &random, &state) + (i >= STEP_AT ? step : 0.0));
	*near = false;
	if (fg_changepoints_find(values, RUNS, &options, &found, NULL) != FG_OK)
		return 0;
	count = found.count;
	for (size_t i = 0; i < count; i++) {
		size_t at = found.items[i].at;

		*near = *near || (at + STEP_REACH >= STEP_AT && at <= STEP_AT + STEP_REACH);
	}
	fg_changepoints_release(&found);
	return count;
}

static void add_histories(size_t trials, struct card *card)
{
	static const struct {
		const char *name;
		const char *setting;
		struct noise noise;
		double step;
		double goal;
	} rows[] = {
		{"history, no change: any found",
		 "independent noise",
		 {0.0, 0.02, false},
		 0.0,
		 0.01},
		{"history, no change: any found",
		 "log-normal and outliers",
		 {0.0, 0.02, true},
		 0.0,
		 0.01},
		{"history, no change: any found", "AR(1), r = 0.5", {0.5, 0.02, false}, 0.0, 0.01},
		{"history, no change: any found", "AR(1), r = 0.8", {0.8, 0.02, false}, 0.0, 0.01},
		{"history, +4 %: found where it is",
		 "independent noise of 2 %",
		 {0.0, 0.02, false},
		 0.04,
		 0.90},
		{"history, +4 %: found where it is",
		 "log-normal and outliers",
		 {0.0, 0.02, true},
		 0.04,
		 0.90},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		bool has_step = rows[i].step > 0.0;
		size_t hits = 0;

		for (size_t n = 0; n < trials; n++) {
			bool near;
			size_t found = find_changes(&rows[i].noise, rows[i].step, n + 1, &near);

			hits += has_step ? near : found > 0;
		}
		add_row((struct card_row){.name = rows[i].name,
					  .setting = rows[i].setting,
					  .hits = hits,
					  .trials = trials,
					  .at_least = has_step,
					  .goal = rows[i].goal},
			card);
	}
}

void card_add_made(size_t decisions, struct card *card)
{
	add_dependent_pairs(decisions, card);
	add_histories(1 + decisions / HISTORY_SHARE, card);
}
