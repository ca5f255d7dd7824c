// SPDX-License-Identifier: Apache-2.0
#include "gate/creep_functions.h"

#include "base/sort.h"
#include "gate/creep.h"
#include "gate/statistics/distributions.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	FUNCTIONS_MAX = 20000, /* maximum number of functions per benchmark and per pool */
};

static const double false_discoveries = 0.05;
/* lower limit of probabilities, which keeps their quantiles finite */
static const double surest = 1e-300;

/* ---- one chain ---- */

/*
 * Returns the variance of a function's gain in one pair: the variance of a step times the step's
 * pairs.
 */
static double scatter_of(const struct fg_chain *chain, const struct fg_creep_window *window,
			 const double *gains)
{
	double weights = 0;
	double mean = 0;
	double squares = 0;

	for (size_t i = window->from + 1; i <= window->to; i++) {
		const double error = chain->points[i].error;

		if (!fg_creep_is_small(&chain->points[i]))
			continue;
		weights += 1 / (error * error);
		mean += gains[i] / (error * error);
	}
	mean /= weights;
	for (size_t i = window->from + 1; i <= window->to; i++) {
		const double off = (gains[i] - mean) / chain->points[i].error;

		squares += fg_creep_is_small(&chain->points[i]) ? off * off : 0;
	}
	return squares / (double)(window->steps - 1);
}

/* A weighted sum of gains: the weights, and the error if the variance of a pair is 1. */
struct linear {
	double *steps;
	double *anchors;
	double error;
};

static struct fg_creep_rise test(const struct fg_chain *chain, const struct fg_creep_window *window,
				 const struct linear *sum, const struct fg_creep_gains *gains,
				 size_t f)
{
	const double *steps = gains->steps + f * chain->count;
	const double *anchors =
		chain->anchor_count ? gains->anchors + f * chain->anchor_count : NULL;
	const double scatter =
		fmax(scatter_of(chain, window, steps), gains->sampling ? gains->sampling[f] : 0);
	struct fg_creep_rise rise = {.function = f, .p = 1};

	for (size_t i = 0; i < chain->count; i++)
		rise.change += sum->steps[i] * steps[i];
	for (size_t i = 0; i < chain->anchor_count; i++)
		rise.change += sum->anchors[i] * anchors[i];
	if (!(scatter > 0))
		return rise;
	rise.p = fg_t_cdf(-rise.change / (sqrt(scatter) * sum->error), (double)(window->steps - 1));
	rise.quantiles = -fg_normal_quantile(fmin(fmax(rise.p, surest), 1 - DBL_EPSILON));
	rise.benchmarks = 1;
	return rise;
}

bool fg_creep_test(const struct fg_chain *chain, unsigned commits,
		   const struct fg_creep_gains *gains, struct fg_creep_rise *rises)
{
	const struct fg_creep_window window = fg_creep_window_of(chain, commits);
	struct linear sum = {0};

	if (window.steps < FG_CREEP_FUNCTION_STEPS)
		return false;
	sum.steps = fg_xcalloc(chain->count, sizeof(sum.steps[0]));
	sum.anchors = fg_xcalloc(chain->anchor_count + 1, sizeof(sum.anchors[0]));
	sum.error = fg_chain_sum(chain, window.from, window.to, FG_CHAIN_SMALL).error;
	fg_chain_weights(chain, window.from, window.to, FG_CHAIN_SMALL, sum.steps, sum.anchors);
	for (size_t f = 0; f < gains->function_count; f++)
		rises[f] = test(chain, &window, &sum, gains, f);
	free(sum.steps);
	free(sum.anchors);
	return true;
}

FG_ORDER_BY(surest_first, struct fg_creep_rise, FG_UP(p))

FG_ORDER_BY(most_first, struct fg_creep_rise, FG_DOWN(change))

size_t fg_creep_risen(struct fg_creep_rise *rises, size_t count, double floor)
{
	size_t found = 0;
	size_t risen = 0;

	if (count == 0)
		return 0;
	qsort(rises, count, sizeof(rises[0]), surest_first);
	for (size_t i = 0; i < count; i++) {
		if (rises[i].p <= false_discoveries * (double)(i + 1) / (double)count)
			found = i + 1;
	}
	qsort(rises, found, sizeof(rises[0]), most_first);
	while (risen < found && rises[risen].change >= floor)
		risen++;
	return risen;
}

/* ---- runs of a benchmark ---- */

void fg_creep_runs_pick(const struct fg_chain *chain, const struct fg_chain_edge *edges,
			size_t count, unsigned commits, struct fg_creep_runs *runs)
{
	const struct fg_creep_window window = fg_creep_window_of(chain, commits);
	struct fg_map points = {0};

	*runs = (struct fg_creep_runs){
		.edges = fg_xcalloc(count + 1, sizeof(runs->edges[0])),
		.totals = fg_xcalloc(count + 1, sizeof(runs->totals[0])),
	};
	for (size_t i = window.from; i < chain->count; i++)
		(void)fg_map_add_text(&points, chain->points[i].commit, i, NULL);
	for (size_t i = 0; i < count; i++) {
		if (edges[i].series && fg_map_get_text(&points, edges[i].from) &&
		    fg_map_get_text(&points, edges[i].to))
			runs->edges[runs->count++] = edges[i];
	}
	fg_map_release(&points);
}

void fg_creep_runs_release(struct fg_creep_runs *runs)
{
	for (size_t i = 0; i < runs->count; i++)
		fg_totals_release(&runs->totals[i]);
	free(runs->edges);
	free(runs->totals);
	*runs = (struct fg_creep_runs){0};
}

static double total_of(const struct fg_totals *totals, int arm)
{
	double sum = 0;

	for (size_t i = 0; i < totals->count; i++)
		sum += totals->items[i].self[arm];
	return sum;
}

/* Returns the variance of the mean of a run's pairs if each pair has variance 1. */
static double variance_of(const struct fg_totals *totals)
{
	return 0.5 / totals->repetitions[0] + 0.5 / totals->repetitions[1];
}

/*
 * Drops runs of different builds that lack a profile of either side: they show nothing about
 * functions. The errors of the remaining runs depend only on the number of pairs; identical builds
 * have no error.
 */
static void keep_profiled(struct fg_creep_runs *runs)
{
	size_t kept = 0;

	for (size_t i = 0; i < runs->count; i++) {
		struct fg_chain_edge edge = runs->edges[i];
		struct fg_totals *totals = &runs->totals[i];
		const bool is_same = !(edge.error > 0) && !(fabs(edge.change) > 0);

		if (!is_same && (!totals->repetitions[0] || !totals->repetitions[1] ||
				 !(total_of(totals, 0) > 0))) {
			fg_totals_release(totals);
			continue;
		}
		edge.error = is_same ? 0 : sqrt(variance_of(totals));
		runs->edges[kept] = edge;
		if (kept != i) {
			runs->totals[kept] = *totals;
			*totals = (struct fg_totals){0};
		}
		kept++;
	}
	runs->count = kept;
}

/* ---- gains per run ---- */

/* Functions by the store's id, and their gains in each step and each anchor of a chain. */
struct gains {
	struct fg_map ids;
	double *steps;
	double *anchors;
	double *sampling;
};

static void name_functions(const struct fg_creep_runs *runs, struct fg_map *ids)
{
	for (size_t i = 0; i < runs->count; i++) {
		const struct fg_totals *totals = &runs->totals[i];

		for (size_t k = 0; k < totals->count && ids->count < FUNCTIONS_MAX; k++)
			(void)fg_map_add(ids, &totals->items[k].id, sizeof(totals->items[k].id),
					 ids->count, NULL);
	}
}

/*
 * Returns the variance of a pair that comes from sampling alone, if samples of this function are
 * random.
 */
static double sampling_of(const struct fg_totals *totals, const struct fg_function_total *item,
			  double whole)
{
	const double sample = FG_TOTALS_FRACTIONS * totals->unit;

	return sample *
	       (item->self[0] / totals->repetitions[0] + item->self[1] / totals->repetitions[1]) /
	       (whole * whole) / variance_of(totals);
}

/*
 * Writes candidate − baseline, as shares of the baseline's time, to one column of a table; the sign
 * is changed if `is_reversed`. Updates the variances caused by sampling.
 */
static void take_gains(const struct fg_totals *totals, const struct gains *gains, bool is_reversed,
		       double *values, size_t stride)
{
	const double whole = total_of(totals, 0);

	for (size_t k = 0; k < totals->count; k++) {
		const struct fg_function_total *item = &totals->items[k];
		const uint64_t *index = fg_map_get(&gains->ids, &item->id, sizeof(item->id));
		const double gain = (item->self[1] - item->self[0]) / whole;

		if (!index)
			continue;
		values[*index * stride] = is_reversed ? -gain : gain;
		gains->sampling[*index] =
			fmax(gains->sampling[*index], sampling_of(totals, item, whole));
	}
}

static void fill(const struct fg_chain *chain, const struct fg_creep_runs *runs,
		 struct gains *gains)
{
	gains->steps = fg_xcalloc(gains->ids.count * chain->count + 1, sizeof(double));
	gains->sampling = fg_xcalloc(gains->ids.count + 1, sizeof(double));
	gains->anchors = fg_xcalloc(gains->ids.count * chain->anchor_count + 1, sizeof(double));
	for (size_t i = 1; i < chain->count; i++) {
		const size_t edge = chain->points[i].edge;
		const bool is_reversed = strcmp(runs->edges[edge].to, chain->points[i].commit) != 0;

		take_gains(&runs->totals[edge], gains, is_reversed, &gains->steps[i], chain->count);
	}
	for (size_t i = 0; i < chain->anchor_count; i++) {
		const struct fg_chain_anchor *anchor = &chain->anchors[i];
		const bool is_reversed =
			strcmp(runs->edges[anchor->edge].to, chain->points[anchor->to].commit) != 0;

		take_gains(&runs->totals[anchor->edge], gains, is_reversed, &gains->anchors[i],
			   chain->anchor_count);
	}
}

static void release_gains(struct gains *gains)
{
	fg_map_release(&gains->ids);
	free(gains->steps);
	free(gains->anchors);
	free(gains->sampling);
}

/* ---- pool of benchmarks ---- */

static void add_rise(struct fg_creep_pool *pool, const struct fg_creep_rise *rise)
{
	const size_t count = pool->ids.count;
	bool is_new = false;
	const size_t at =
		*fg_map_add(&pool->ids, &rise->function, sizeof(rise->function), count, &is_new);

	if (is_new) {
		pool->rises =
			fg_grow(pool->rises, &pool->capacity, count + 1, sizeof(pool->rises[0]));
		pool->rises[at] = (struct fg_creep_rise){.function = rise->function};
	}
	pool->rises[at].change += rise->change;
	pool->rises[at].quantiles += rise->quantiles;
	pool->rises[at].benchmarks++;
}

void fg_creep_pool_add(struct fg_creep_pool *pool, const struct fg_creep_rise *rises, size_t count)
{
	pool->benchmarks++;
	for (size_t i = 0; i < count; i++) {
		if (rises[i].benchmarks && pool->ids.count < FUNCTIONS_MAX)
			add_rise(pool, &rises[i]);
	}
}

static void add_tested(struct fg_creep_pool *pool, const struct fg_chain *chain, unsigned commits,
		       const struct gains *gains)
{
	const size_t count = gains->ids.count;
	struct fg_creep_rise *rises = fg_xcalloc(count + 1, sizeof(rises[0]));
	const struct fg_creep_gains all = {count, gains->steps, gains->anchors, gains->sampling};
	const bool is_tested = fg_creep_test(chain, commits, &all, rises);

	for (size_t i = 0; i < count; i++)
		memcpy(&rises[i].function, gains->ids.entries[i].key, sizeof(rises[i].function));
	if (is_tested)
		fg_creep_pool_add(pool, rises, count);
	free(rises);
}

/*
 * Returns the last commit of the chain that has a profile. A run that is not stored yet has no
 * profile, so the chain of functions ends at its baseline.
 */
static const char *profiled_tip(const struct fg_chain *chain, const struct fg_creep_runs *runs)
{
	for (size_t i = chain->count; i-- > 0;) {
		for (size_t k = 0; k < runs->count; k++) {
			if (strcmp(runs->edges[k].to, chain->points[i].commit) == 0)
				return runs->edges[k].to;
		}
	}
	return NULL;
}

void fg_creep_pool_add_runs(struct fg_creep_pool *pool, const struct fg_chain *whole,
			    struct fg_creep_runs *runs, unsigned commits)
{
	const char *tip = NULL;
	struct fg_chain chain = {0};
	struct gains gains = {0};

	keep_profiled(runs);
	tip = profiled_tip(whole, runs);
	if (!tip)
		return;
	fg_chain_build(runs->edges, runs->count, tip, &chain);
	if (chain.count > FG_CREEP_FUNCTION_STEPS) {
		name_functions(runs, &gains.ids);
		fill(&chain, runs, &gains);
		add_tested(pool, &chain, commits, &gains);
	}
	release_gains(&gains);
	fg_chain_release(&chain);
}

size_t fg_creep_pool_risen(struct fg_creep_pool *pool, size_t benchmarks, double floor)
{
	size_t count = 0;

	for (size_t i = 0; i < pool->ids.count; i++) {
		struct fg_creep_rise rise = pool->rises[i];
		const double n = (double)rise.benchmarks;

		if (rise.benchmarks < benchmarks)
			continue;
		rise.change /= n;
		rise.p = fg_normal_cdf(-rise.quantiles / sqrt(n));
		pool->rises[count++] = rise;
	}
	return fg_creep_risen(pool->rises, count, floor);
}

void fg_creep_pool_release(struct fg_creep_pool *pool)
{
	fg_map_release(&pool->ids);
	free(pool->rises);
	*pool = (struct fg_creep_pool){0};
}
