// SPDX-License-Identifier: Apache-2.0
/*
 * Histories with and without creep, judged as `fastgate run` judges them: the sequential rule ends
 * each run, its step joins the chain, and a run against the release follows when the chain is too
 * vague. First, pairs are simulated; then recorded pairs of real programs are used, with the creep
 * planted.
 */
#include "gate/creep.h"

#include "base/random.h"
#include "bench/recorded.h"
#include "gate/creep_functions.h"
#include "gate/rule.h"
#include "gate/statistics/distributions.h"
#include "model/metric.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
	COMMITS = 60,
	FIRST_STEP = 10, /* the first commit that creeps */
	STEPS = 40,
	HISTORIES = 200,
	ANCHOR_PAIRS = 41,
	ANCHOR_EVERY = 10,
	PAIRS_MAX = 400,
	NAME = 8,
	FUNCTIONS = 100,
	CREEPER = 17,
	SAMPLES = 1000, /* per repetition */
};

static const double step_size = 0.001;

struct world {
	const char *name;
	double spread; /* standard deviation of a pair */
	double drift;  /* the host's level rises and falls by this much */
	double layout; /* odd commits are this much slower because of their layout */
	/* share of the pairs disturbed by a neighbour, which makes them ten times as noisy */
	double neighbours;
	double creep; /* slowdown per step */
	bool anchors;
	const char *program; /* use the recorded pairs of this program; NULL: simulate pairs */
};

struct history {
	struct fg_chain_edge edges[2 * COMMITS];
	size_t count;
	size_t runs;
	size_t anchor_runs;
	size_t pairs;
	size_t last_anchor;
	size_t false_verdicts;
};

static char names[COMMITS][NAME];
static struct fg_policy policy;

/*
 * Draws a pair whose sides run at almost the same time, so nearly all of the host's level cancels.
 */
static double draw(const struct world *world, double change, double time, struct fg_random *random)
{
	const double now = world->drift * sin(6.283 * time);
	const double later = world->drift * sin(6.283 * (time + 1e-4));
	const double noisy = fg_random_uniform(random) < world->neighbours ? 10 : 1;
	const double sign = fg_random_below(random, 2) ? 1 : -1;

	return change + noisy * world->spread * fg_random_normal(random) +
	       sign * log((1 + later) / (1 + now));
}

static double level_of(const struct world *world, size_t commit)
{
	const size_t steps = commit < FIRST_STEP           ? 0
			     : commit > FIRST_STEP + STEPS ? STEPS
							   : commit - FIRST_STEP;

	return world->creep * (double)steps + (commit % 2 ? world->layout : 0);
}

/* Measures until the rule is satisfied, or exactly `fixed` pairs. */
static void measure(const struct world *world, struct history *history, size_t from, size_t to,
		    size_t fixed, struct fg_random *random)
{
	const struct fg_metric *metric = fg_metric_find_builtin("cpu_time");
	const struct fg_rule rule = {.alpha = policy.alpha,
				     .min_effect = metric->min_effect,
				     .margin = metric->margin,
				     .min_pairs = fixed ? (unsigned)fixed : 10,
				     .max_pairs = fixed ? (unsigned)fixed : PAIRS_MAX,
				     .is_drawn = true};
	const double change = level_of(world, to) - level_of(world, from);
	struct fg_rule_finding finding = {.next_look = fixed ? fixed : 12};
	struct stretch stretch = {0};
	double pairs[PAIRS_MAX];
	size_t count = 0;

	if (world->program)
		stretch_begin(&stretch, world->program, random);
	while (!finding.decided && finding.next_look > count && finding.next_look <= PAIRS_MAX) {
		for (; count < finding.next_look; count++)
			pairs[count] =
				world->program
					? change + stretch_next(&stretch, random)
					: draw(world, change,
					       (double)history->runs / 37 + (double)count / 900,
					       random);
		fg_rule_apply(&rule, pairs, count, false, &finding);
	}
	fg_rule_apply(&rule, pairs, count, true, &finding);
	history->pairs += finding.pairs;
	history->edges[history->count++] = (struct fg_chain_edge){
		.run = "r",
		.from = names[from],
		.to = names[to],
		.pairs = (unsigned)finding.pairs,
		.change = finding.step,
		.error = finding.step_error,
		.is_known = !fixed && (finding.outcome == FG_OUTCOME_REGRESSION ||
				       finding.outcome == FG_OUTCOME_IMPROVEMENT)};
	if (!fixed)
		history->false_verdicts += history->edges[history->count - 1].is_known;
}

static struct fg_creep_verdict *judge(const struct history *history, size_t commit,
				      struct fg_chain *chain, struct fg_arena *arena)
{
	fg_chain_build(history->edges, history->count, names[commit], chain);
	return fg_creep_judge(chain, &policy, FG_BETTER_LOWER, arena);
}

/* Adds a commit; returns whether creep was found. */
static bool add_commit(const struct world *world, struct history *history, size_t commit,
		       struct fg_random *random)
{
	struct fg_arena arena = {0};
	struct fg_chain chain;
	const struct fg_creep_verdict *creep = NULL;
	bool is_creep = false;

	measure(world, history, commit - 1, commit, 0, random);
	history->runs++;
	creep = judge(history, commit, &chain, &arena);
	is_creep = creep && creep->is_creep;
	if (creep && world->anchors && commit > 1 && fg_creep_needs_anchor(creep, &policy) &&
	    commit >= history->last_anchor + ANCHOR_EVERY) {
		measure(world, history, 0, commit, ANCHOR_PAIRS, random);
		history->last_anchor = commit;
		history->anchor_runs++;
	}
	fg_chain_release(&chain);
	fg_arena_release(&arena);
	return is_creep;
}

static void show_world(const struct world *world)
{
	size_t found = 0;
	size_t windows = 0;
	size_t crept = 0;
	size_t at = 0;
	size_t pairs = 0;
	size_t runs = 0;
	size_t anchors = 0;
	size_t known = 0;

	for (size_t h = 0; h < HISTORIES; h++) {
		static struct history history;
		struct fg_random random;
		bool is_found = false;

		history = (struct history){0};
		fg_random_seed(&random, h + 1);
		for (size_t commit = 1; commit < COMMITS; commit++) {
			const bool creeps = add_commit(world, &history, commit, &random);

			windows++;
			crept += creeps;
			if (creeps && !is_found)
				at += commit - FIRST_STEP;
			is_found = is_found || creeps;
		}
		found += is_found;
		pairs += history.pairs;
		runs += history.runs;
		anchors += history.anchor_runs;
		known += history.false_verdicts;
	}
	printf("%-44s %5.1f %%  %6.2f %%  %6.1f  %5.1f  %5.1f  %5.2f\n", world->name,
	       100.0 * (double)found / HISTORIES, 100.0 * (double)crept / (double)windows,
	       found ? (double)at / (double)found : 0, (double)pairs / (double)runs,
	       (double)anchors / HISTORIES, (double)known / HISTORIES);
}

/* ---- recorded pairs ---- */

static void show_recorded(void)
{
	static const char *const programs[] = {"integer", "allocation", "memory", "interpreter"};

	for (size_t i = 0; i < FG_ARRAY_SIZE(programs); i++) {
		const double spread = recorded_spread(programs[i]);
		/* scaled so that pairs with a scatter of 2 % get steps of +0.1 % */
		const double steps[] = {step_size * spread / 0.02, step_size, 0};

		for (size_t k = 0; k < FG_ARRAY_SIZE(steps); k++) {
			char name[64];

			(void)snprintf(name, sizeof(name), "%s (pairs of %.1f %%), 40 x +%.2f %%",
				       programs[i], 100 * spread, 100 * steps[k]);
			show_world(&(struct world){.name = name,
						   .program = programs[i],
						   .creep = steps[k],
						   .anchors = true});
		}
	}
}

/* ---- functions ---- */

/*
 * Draws the number of samples of a function in `pairs` repetitions: Poisson, approximated by a
 * normal distribution.
 */
static double sampled(double share, size_t pairs, struct fg_random *random)
{
	const double expected = share * SAMPLES * (double)pairs;

	return (expected + sqrt(expected) * fg_random_normal(random)) / (SAMPLES * (double)pairs);
}

/* Tests the functions over one history. */
static void test_functions(const struct history *history, double creep, struct fg_random *random,
			   struct fg_creep_rise *rises)
{
	static double steps[FUNCTIONS * (COMMITS + 1)];
	static double anchors[FUNCTIONS * FG_CHAIN_ANCHORS_MAX];
	static struct fg_chain_edge edges[2 * COMMITS];
	struct fg_chain chain;

	for (size_t i = 0; i < history->count; i++) {
		edges[i] = history->edges[i];
		edges[i].error = 1 / sqrt((double)edges[i].pairs);
	}
	fg_chain_build(edges, history->count, names[COMMITS - 1], &chain);
	for (size_t f = 0; f < FUNCTIONS; f++) {
		/* A few functions are large, many are small. */
		const double share = 1 / (double)((f + 1) * (f + 2));
		const struct world world = {.creep = f == CREEPER ? creep : 0};

		for (size_t i = 1; i < chain.count; i++) {
			const size_t pairs = edges[chain.points[i].edge].pairs;

			steps[f * chain.count + i] =
				sampled(share + level_of(&world, i), pairs, random) -
				sampled(share + level_of(&world, i - 1), pairs, random);
		}
		for (size_t i = 0; i < chain.anchor_count; i++)
			anchors[f * chain.anchor_count + i] =
				sampled(share + level_of(&world, chain.anchors[i].to), ANCHOR_PAIRS,
					random) -
				sampled(share, ANCHOR_PAIRS, random);
	}
	(void)fg_creep_test(&chain, policy.creep_window,
			    &(struct fg_creep_gains){FUNCTIONS, steps, anchors, NULL}, rises);
	fg_chain_release(&chain);
}

/* Adds the functions of several benchmarks to a pool, which the caller releases. */
static size_t risen_of(const struct world *world, size_t benchmarks, uint64_t seed,
		       struct fg_creep_pool *pool)
{
	struct fg_random random;

	fg_random_seed(&random, seed);
	for (size_t b = 0; b < benchmarks; b++) {
		static struct history history;
		struct fg_creep_rise rises[FUNCTIONS];

		history = (struct history){0};
		for (size_t commit = 1; commit < COMMITS; commit++)
			(void)add_commit(world, &history, commit, &random);
		test_functions(&history, world->creep, &random, rises);
		fg_creep_pool_add(pool, rises, FUNCTIONS);
	}
	return fg_creep_pool_risen(pool, benchmarks, policy.function_floor);
}

static void show_functions(bool has_anchors, double creep, size_t benchmarks)
{
	const struct world world = {.spread = 0.02, .anchors = has_anchors, .creep = creep};
	size_t first = 0;
	size_t named = 0;
	double rate = 0;
	char name[80];

	for (size_t h = 0; h < HISTORIES; h++) {
		struct fg_creep_pool pool = {0};
		const size_t count = risen_of(&world, benchmarks, h + 1, &pool);
		size_t wrong = 0;

		first += count > 0 && creep > 0 && pool.rises[0].function == CREEPER;
		named += count;
		for (size_t i = 0; i < count; i++)
			wrong += !(creep > 0) || pool.rises[i].function != CREEPER;
		rate += count > 0 ? (double)wrong / (double)count : 0;
		fg_creep_pool_release(&pool);
	}
	(void)snprintf(name, sizeof(name), "%s, +%.2f %% a step, %zu benchmark%s",
		       creep > 0 ? has_anchors ? "1 of 100 creeps, anchored" : "1 of 100 creeps"
				 : "none creeps",
		       100 * creep, benchmarks, benchmarks == 1 ? "" : "s");
	printf("%-52s first in %5.1f %%, %zu named, false discovery rate %.1f %%\n", name,
	       100.0 * (double)first / HISTORIES, named, 100 * rate / HISTORIES);
}

int main(void)
{
	static const struct world worlds[] = {
		{.name = "40 steps of +0.1 %, anchored", .creep = step_size, .anchors = true},
		{.name = "40 steps of +0.1 %, chain alone", .creep = step_size},
		{.name = "the same, anchored, the host drifts by ±20 %",
		 .creep = step_size,
		 .anchors = true,
		 .drift = 0.2},
		{.name = "the same, anchored, layouts alternate",
		 .creep = step_size,
		 .anchors = true,
		 .layout = 0.005},
		{.name = "the same, anchored, noisy neighbours",
		 .creep = step_size,
		 .anchors = true,
		 .neighbours = 0.1},
		{.name = "no change, anchored", .anchors = true},
		{.name = "no change, chain alone"},
		{.name = "no change, the host drifts by ±20 %", .anchors = true, .drift = 0.2},
		{.name = "no change, layouts alternate by 0.5 %", .anchors = true, .layout = 0.005},
		{.name = "no change, noisy neighbours", .anchors = true, .neighbours = 0.1},
	};

	fg_policy_defaults(&policy);
	for (size_t i = 0; i < COMMITS; i++)
		(void)snprintf(names[i], NAME, "c%zu", i);
	printf("%-44s %7s  %8s  %6s  %5s  %5s  %5s\n", "200 histories of 60 commits, pairs of 2 %",
	       "found", "windows", "after", "pairs", "anchors", "steps");
	for (size_t i = 0; i < FG_ARRAY_SIZE(worlds); i++) {
		struct world world = worlds[i];

		world.spread = 0.02;
		show_world(&world);
	}
	putchar('\n');
	show_recorded();
	putchar('\n');
	show_functions(true, step_size, 1);
	show_functions(false, step_size, 1);
	show_functions(true, 0, 1);
	show_functions(true, step_size / 5, 1);
	show_functions(true, step_size / 5, 8);
	show_functions(true, 0, 8);
	return 0;
}
