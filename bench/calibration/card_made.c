// SPDX-License-Identifier: Apache-2.0
/*
 * Questions that recordings cannot answer, because the truth is unknown or there is too little
 * data: dependent pairs, and histories of 125 runs with and without a change.
 */
#include "base/random.h"
#include "bench/calibration/card.h"
#include "gate/gate.h"
#include "gate/statistics/changepoint.h"
#include "gate/statistics/sample.h"
#include "model/build_difference.h"

#include <math.h>

enum {
	RUNS = 125,       /* per history */
	STEP_AT = 60,     /* first run after the change */
	STEP_REACH = 3,   /* a change found this many runs off still counts */
	HISTORY_SHARE = 2 /* histories take longer: their number is divided by this */
};

struct noise {
	double r; /* coefficient of an AR(1) series; 0: independent */
	double spread;
	bool skewed; /* log-normal, with one value in fifty 30 % higher */
	bool drawn;  /* pairs have random signs; only their sizes are correlated */
	bool kept;   /* the correlation comes from processes that `setup` started */
};

static double draw(const struct noise *noise, struct fg_random *random, double *state)
{
	double value;

	*state = noise->r * *state + sqrt(1.0 - noise->r * noise->r) * fg_random_normal(random);
	value = noise->spread * *state;
	if (noise->drawn)
		value = (fg_random_below(random, 2) ? 1.0 : -1.0) * (noise->spread + value);
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

/* A run in simulated time with one benchmark, slower by `change`. */
struct made {
	const struct noise *noise;
	struct fg_random *random;
	double state; /* state of the noise */
	double change;
	struct fg_measuring measure;
	struct fg_policy policy;
	struct fg_metric_policy metric;
	struct fg_series series;
	uint32_t pairs; /* pairs that count */
};

static void made_begin(const struct noise *noise, double change, double min_effect,
		       struct fg_random *random, struct made *made)
{
	*made = (struct made){.noise = noise,
			      .random = random,
			      .state = fg_random_normal(random),
			      .change = log1p(change)};
	fg_measuring_defaults(&made->measure);
	fg_policy_defaults(&made->policy);
	made->metric = fg_policy_metric(&made->policy, "cpu_time");
	made->metric.min_effect = min_effect;
	made->policy.metrics = &made->metric;
	made->policy.metric_count = 1;
	fg_series_init(&made->series, "made");
	made->series.schedule = FG_SCHEDULE_DUET;
	if (noise->kept)
		fg_build_facts_set(&made->series.build[FG_ARM_CANDIDATE], "build.setup", "server");
}

static void made_measure(struct made *made, unsigned pairs)
{
	while (made->pairs < pairs)
		add_pair(made->pairs++,
			 made->change + draw(made->noise, made->random, &made->state),
			 &made->series);
}

/*
 * Measures and decides from look to look until the verdict is final. Returns whether the run fails.
 */
static bool made_fails(struct made *made, struct fg_gate_progress *progress)
{
	*progress = (struct fg_gate_progress){.next_look = 1};
	do {
		made_measure(made, progress->next_look);
		fg_gate_look(&made->series, &made->policy, &made->measure, progress);
	} while (!progress->decided && progress->next_look > 0);
	return progress->outcome == FG_OUTCOME_REGRESSION;
}

/* A whole sequential run: does it fail, and after how many pairs? */
static bool fails(const struct noise *noise, double change, double min_effect,
		  struct fg_random *random, double *pairs)
{
	struct fg_gate_progress progress;
	struct made made;
	bool failed;

	made_begin(noise, change, min_effect, random, &made);
	failed = made_fails(&made, &progress);
	*pairs = made.pairs;
	fg_series_release(&made.series);
	return failed;
}

static void add_row(struct card_row row, struct card *card)
{
	row.kind = CARD_GOAL;
	row.effect = row.load = (double)NAN;
	if (!(row.median_pairs > 0))
		row.median_pairs = (double)NAN;
	card_add(card, &row);
}

static void add_runs(size_t decisions, struct card *card)
{
	static const struct {
		const char *setting;
		struct noise noise;
		double change;
		double min_effect;
		double goal;
	} rows[] = {
		{"pairs independent, min_effect 0", {0, 0.02, false, false, false}, 0, 0, 0.001},
		{"pairs like the last, r = 0.6, order drawn, min_effect 0",
		 {0.6, 0.02, false, true, false},
		 0,
		 0,
		 0.001},
		{"pairs like the last, r = 0.9, order drawn, min_effect 0",
		 {0.9, 0.02, false, true, false},
		 0,
		 0,
		 0.001},
		{"AR(1), r = 0.2, nothing drawn and not known, defaults",
		 {0.2, 0.02, false, false, false},
		 0,
		 0.01,
		 0.01},
		{"AR(1), r = 0.3, kept by `setup`, min_effect 0",
		 {0.3, 0.05, false, false, true},
		 0,
		 0,
		 0.01},
		{"AR(1), r = 0.6, kept by `setup`, min_effect 0",
		 {0.6, 0.05, false, false, true},
		 0,
		 0,
		 0.01},
		{"+2 %, pairs scatter by 2 %", {0, 0.02, false, false, false}, 0.02, 0.01, 0.95},
		{"+2 %, pairs scatter by 3 %", {0, 0.03, false, false, false}, 0.02, 0.01, 0.95},
		{"+5 %, pairs scatter by 3 %", {0, 0.03, false, false, false}, 0.05, 0.01, 0.995},
		{"+10 %, pairs scatter by 3 %", {0, 0.03, false, false, false}, 0.10, 0.01, 0.995},
	};
	const size_t trials = 8 * decisions;
	double *pairs = fg_xcalloc(trials, sizeof(pairs[0]));

	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		const bool is_slower = rows[i].change > 0;
		struct fg_random random;
		size_t hits = 0;

		fg_random_seed(&random, i + 1);
		for (size_t n = 0; n < trials; n++)
			hits += fails(&rows[i].noise, rows[i].change, rows[i].min_effect, &random,
				      &pairs[n]);
		add_row((struct card_row){.name = is_slower ? "slower programs FAIL"
							    : "identical programs FAIL",
					  .setting = rows[i].setting,
					  .hits = hits,
					  .trials = trials,
					  .at_least = is_slower,
					  .goal = rows[i].goal,
					  .median_pairs = fg_median(pairs, trials)},
			card);
	}
	free(pairs);
}

/*
 * Returns the number of changes found in a history; `step` is added from run STEP_AT on. Sets *near
 * if a found change is in the right place.
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
		 {0.0, 0.02, false, false, false},
		 0.0,
		 0.01},
		{"history, no change: any found",
		 "log-normal and outliers",
		 {0.0, 0.02, true, false, false},
		 0.0,
		 0.01},
		{"history, no change: any found",
		 "AR(1), r = 0.5",
		 {0.5, 0.02, false, false, false},
		 0.0,
		 0.01},
		{"history, no change: any found",
		 "AR(1), r = 0.8",
		 {0.8, 0.02, false, false, false},
		 0.0,
		 0.01},
		{"history, +4 %: found where it is",
		 "independent noise of 2 %",
		 {0.0, 0.02, false, false, false},
		 0.04,
		 0.90},
		{"history, +4 %: found where it is",
		 "log-normal and outliers",
		 {0.0, 0.02, true, false, false},
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
	add_runs(decisions, card);
	add_histories(1 + decisions / HISTORY_SHARE, card);
}
