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

#include <math.h>

enum {
	RUNS = 125,       /* per history */
	STEP_AT = 60,     /* first run after the change */
	STEP_REACH = 3,   /* a change found this many runs off still counts */
	HISTORY_SHARE = 2 /* a history takes longer than a decision: this many times fewer */
};

struct noise {
	double r; /* of an AR(1) series; 0: independent */
	double spread;
	bool skewed; /* log-normal, with one value in fifty 30 % higher */
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

/* A run in simulated time with one benchmark, slower by `change`. */
struct made {
	const struct noise *noise;
	struct fg_random *random;
	double state; /* of the noise */
	double change;
	struct fg_measuring measure;
	struct fg_policy policy;
	struct fg_metric_policy metric;
	struct fg_series series;
	uint32_t pairs; /* number of pairs that count */
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
}

static void made_measure(struct made *made, unsigned pairs)
{
	while (made->pairs < pairs)
		add_pair(made->pairs++,
			 made->change + draw(made->noise, made->random, &made->state),
			 &made->series);
}

/* Continues from look to look. Returns whether the run fails. */
static bool made_fails(struct made *made, struct fg_gate_progress *progress)
{
	*progress = (struct fg_gate_progress){.next_look = 1};
	do {
		made_measure(made, progress->next_look);
		fg_gate_look(&made->series, &made->policy, &made->measure, progress);
	} while (!progress->decided && progress->next_look > 0);
	return progress->outcome == FG_OUTCOME_REGRESSION;
}

static void made_anew(struct made *made)
{
	fg_series_release(&made->series);
	fg_series_init(&made->series, "made");
	made->series.schedule = FG_SCHEDULE_DUET;
	made->pairs = 0;
}

/* A whole sequential run with identical programs. Returns whether it fails. */
static bool fails(const struct noise *noise, struct fg_random *random)
{
	struct fg_gate_progress progress;
	struct made made;
	bool failed;

	made_begin(noise, 0, 0, random, &made);
	failed = made_fails(&made, &progress);
	fg_series_release(&made.series);
	return failed;
}

/* Ways to confirm a failure, and the pairs that each takes. */
enum {
	ONCE,  /* the first failure counts */
	TWICE, /* found again with new pairs */
	SURE,  /* with more pairs, else found again: cli/session/measure.c */
	WAYS,
};

struct tally {
	size_t failed[WAYS];
	double *pairs[WAYS]; /* by trial */
	size_t trials;
};

static bool is_confirmed(struct made *made, const struct fg_gate_progress *failed)
{
	enum fg_evidence evidence = FG_EVIDENCE_MORE;
	unsigned next_look = 0;

	for (;;) {
		evidence = fg_gate_weigh(&made->series, &made->policy, &made->measure, failed,
					 &next_look);
		if (evidence != FG_EVIDENCE_MORE)
			return evidence == FG_EVIDENCE_SURE;
		made_measure(made, next_look);
	}
}

static void try_ways(const struct noise *noise, double change, double min_effect,
		     struct fg_random *random, struct tally *tally)
{
	struct fg_gate_progress progress;
	struct fg_gate_progress second;
	double pairs[WAYS] = {0, 0, 0};
	struct made made;
	bool sure;

	made_begin(noise, change, min_effect, random, &made);
	if (made_fails(&made, &progress)) {
		tally->failed[ONCE]++;
		pairs[ONCE] = pairs[TWICE] = made.pairs;
		sure = is_confirmed(&made, &progress);
		pairs[SURE] = made.pairs;
		made_anew(&made);
		tally->failed[TWICE] += made_fails(&made, &second);
		tally->failed[SURE] += sure || second.outcome == FG_OUTCOME_REGRESSION;
		pairs[TWICE] += made.pairs;
		pairs[SURE] += sure ? 0 : made.pairs;
	} else {
		pairs[ONCE] = pairs[TWICE] = pairs[SURE] = made.pairs;
	}
	for (int way = 0; way < WAYS; way++)
		tally->pairs[way][tally->trials] = pairs[way];
	tally->trials++;
	fg_series_release(&made.series);
}

static void add_row(struct card_row row, struct card *card)
{
	row.kind = CARD_GOAL;
	row.effect = row.load = (double)NAN;
	if (!(row.median_pairs > 0))
		row.median_pairs = (double)NAN;
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

/* The rule for measuring in layouts from the beginning, between its neighbours. */
static void add_ways(size_t decisions, struct card *card)
{
	static const struct {
		const char *setting[WAYS];
		double r;
		double change;
		double min_effect;
		double spread;
		double goal;
	} rows[] = {
		{{"AR(1), r = 0.6, min_effect 0: once", "the same: found twice",
		  "the same: once, and sure"},
		 0.6,
		 0,
		 0,
		 0.02,
		 0.01},
		{{"+2 %, pairs scatter by 2 %: once", "the same: found twice",
		  "the same: once, and sure"},
		 0,
		 0.02,
		 0.01,
		 0.02,
		 0.95},
		{{"+2 %, pairs scatter by 3 %: once", "the same: found twice",
		  "the same: once, and sure"},
		 0,
		 0.02,
		 0.01,
		 0.03,
		 0.95},
	};
	const size_t trials = 8 * decisions;

	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		const struct noise noise = {.r = rows[i].r, .spread = rows[i].spread};
		struct tally tally = {0};
		struct fg_random random;

		for (int way = 0; way < WAYS; way++)
			tally.pairs[way] = fg_xcalloc(trials, sizeof(tally.pairs[way][0]));
		fg_random_seed(&random, 3 + i); /* same start as the last row above */
		for (size_t n = 0; n < trials; n++)
			try_ways(&noise, rows[i].change, rows[i].min_effect, &random, &tally);
		for (int way = 0; way < WAYS; way++)
			add_row((struct card_row){.name = rows[i].change > 0
								  ? "slower programs FAIL"
								  : "identical programs FAIL",
						  .setting = rows[i].setting[way],
						  .hits = tally.failed[way],
						  .trials = trials,
						  .at_least = rows[i].change > 0,
						  .goal = rows[i].goal,
						  .median_pairs =
							  fg_median(tally.pairs[way], trials)},
				card);
		for (int way = 0; way < WAYS; way++)
			free(tally.pairs[way]);
	}
}

/*
 * Number of changes found in a history; `step` is added from run STEP_AT on. Sets *near if one of
 * them is in the right place.
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
	add_ways(decisions, card);
	add_histories(1 + decisions / HISTORY_SHARE, card);
}
