// SPDX-License-Identifier: Apache-2.0
#include "gate/node_context.h"

#include "gate/blame.h"
#include "gate/pairs.h"
#include "model/coverage.h"

#include <math.h>

#define MS_PER_NS    1e-6
#define TOTAL_ERRORS 2.0  /* the least change of the whole, in standard errors */
#define ROUNDING     1e-9 /* of the whole: sums of counts in another order */
#define COVERED_NS   20e6 /* of CPU time in an arm, before its coverage means anything */

/* Mean of the differences of some pairs, and its standard error. */
struct whole {
	double mean;
	double error;
};

static struct whole whole_of(const double *difference, size_t count)
{
	double sum = 0.0;
	double squares = 0.0;
	double n = (double)count;

	for (size_t i = 0; i < count; i++) {
		sum += difference[i];
		squares += difference[i] * difference[i];
	}
	return (struct whole){
		.mean = sum / n,
		.error = sqrt(fmax(0.0, squares - sum * sum / n) / fmax(1.0, n - 1.0) / n),
	};
}

/* CPU time as the kernel measured it, over the pairs that count; the sampled whole without any. */
static struct whole whole_time(const struct fg_series *series, const struct fg_node_context *c)
{
	struct whole found = {.mean = c->inclusive[1][0] - c->inclusive[0][0],
			      .error = (double)NAN};
	struct fg_pairs pairs;

	fg_pairs_collect(series, FG_METRIC_CPU_TIME, &pairs);
	for (size_t i = 0; i < pairs.count; i++)
		pairs.difference[i] = (pairs.candidate[i] - pairs.baseline[i]) * MS_PER_NS;
	if (pairs.count > 0)
		found = whole_of(pairs.difference, pairs.count);
	fg_pairs_release(&pairs);
	return found;
}

/* Any other measure is its total over the profile: a pair has one of each arm. */
static struct whole whole_measure(const struct fg_node_context *c)
{
	struct whole found = {.mean = (double)NAN, .error = (double)NAN};
	double *difference = fg_xcalloc(c->pairs.count + 1, sizeof(difference[0]));

	for (size_t k = 0; k < c->pairs.row_count; k++) {
		const struct fg_profile_row *row = &c->set->rows[c->pairs.rows[k]];
		const uint32_t pair = c->pairs.pair_of_row[c->pairs.rows[k]];
		const double sign = row->arm ? 1.0 : -1.0;

		difference[pair] += sign * row->total;
	}
	if (c->pairs.fold == FG_FOLD_SUM)
		found = whole_of(difference, c->pairs.count);
	free(difference);
	return found;
}

/* The interval of the metric leaves zero out, and the sum that is shared out agrees with it. */
static bool has_whole_changed(const struct fg_node_context *c,
			      const struct fg_benchmark_verdict *verdict, struct whole whole)
{
	/* Wall-clock samples, too, are parts of the CPU time where a program never waits. */
	const char *name = fg_measure_is_time(c->id) ? fg_metric_builtin(FG_METRIC_CPU_TIME)->name
						     : c->measure;

	for (size_t i = 0; i < verdict->metric_count; i++) {
		const struct fg_metric_verdict *metric = &verdict->metrics[i];

		if (strcmp(metric->name, name) != 0)
			continue;
		if (metric->low > 1.0)
			return whole.mean > TOTAL_ERRORS * whole.error;
		return metric->high < 1.0 && whole.mean < -TOTAL_ERRORS * whole.error;
	}
	return false;
}

static void find_coverage(const struct fg_series *series, struct fg_node_context *c)
{
	struct fg_coverage arms[2] = {{0}};

	for (size_t i = 0; i < c->set->row_count; i++) {
		const struct fg_profile_row *row = &c->set->rows[i];

		if (row->measure == c->id && row->aside == 0 && row->arm < 2)
			arms[row->arm].sampled_ns += row->total;
	}
	for (size_t i = 0; i < series->repetition_count; i++) {
		const struct fg_repetition *repetition = &series->repetitions[i];
		double cpu_ns = repetition->values[FG_METRIC_CPU_TIME];

		if (repetition->aside != 0 || repetition->arm >= 2 || !isfinite(cpu_ns))
			continue;
		arms[repetition->arm].spent_ns += cpu_ns;
		arms[repetition->arm].repetitions++;
	}
	for (int arm = 0; arm < 2; arm++)
		c->coverage[arm] = fg_coverage_share(&arms[arm], COVERED_NS);
	c->escaped = fg_coverage_is_one_sided(arms, COVERED_NS);
}

/* Means of each arm over the call tree, in the unit of the verdict. */
static void find_levels(struct fg_node_context *c)
{
	const size_t count = c->set->node_count;

	for (uint8_t arm = 0; arm < 2; arm++) {
		c->self[arm] = fg_xcalloc(count + 1, sizeof(c->self[arm][0]));
		c->inclusive[arm] = fg_xcalloc(count + 1, sizeof(c->self[arm][0]));
		(void)fg_profile_set_mean(c->set, c->id, arm, c->self[arm], c->inclusive[arm]);
		for (size_t n = 0; n < count; n++) {
			c->self[arm][n] *= c->pairs.scale;
			c->inclusive[arm][n] *= c->pairs.scale;
		}
	}
}

static double margin_of(const struct fg_node_context *c)
{
	return fg_measure_is_time(c->id) ? fg_policy_metric(c->policy, "cpu_time").margin
					 : fg_policy_measure(c->policy, c->measure).margin;
}

/* What is news of a measure that is estimated or differs between repetitions. */
static void find_floor(struct fg_node_context *c, double whole)
{
	c->floor = c->policy->function_floor * whole;
	c->margin = fmax(c->floor, margin_of(c) * whole);
}

void fg_node_context_init(struct fg_node_context *c, const struct fg_series *series,
			  const struct fg_benchmark_verdict *verdict)
{
	const struct fg_profile_set *set = c->set;
	const struct fg_measure *what = fg_measure_at(&set->measures, c->id);
	uint32_t *entity = fg_xcalloc(set->node_count + 1, sizeof(entity[0]));
	struct whole whole;

	c->measure = fg_arena_strdup(c->arena, what->name);
	c->unit = fg_measure_is_time(c->id) ? "ms" : fg_arena_strdup(c->arena, what->unit);
	c->blamed = fg_blame_nodes(set, series);
	fg_profile_pairs_find(set, c->id, &c->pairs);
	for (size_t n = 0; n < set->node_count; n++)
		entity[n] = set->nodes[c->blamed[n]].function;
	fg_pair_matrix_build(set, &c->pairs, entity, set->function_count, &c->functions);
	free(entity);
	find_levels(c);
	find_floor(c, c->inclusive[0][0]);
	if (c->exact)
		c->floor = c->margin = ROUNDING * fmax(1.0, c->inclusive[0][0]);
	c->coverage[0] = c->coverage[1] = (double)NAN;
	c->escaped = false;
	whole = fg_measure_is_time(c->id) ? whole_time(series, c) : whole_measure(c);
	c->total = whole.mean;
	c->whole_changed = has_whole_changed(c, verdict, whole);
	if (fg_measure_is_time(c->id))
		find_coverage(series, c);
}

void fg_node_context_release(struct fg_node_context *c)
{
	fg_profile_pairs_release(&c->pairs);
	fg_pair_matrix_release(&c->functions);
	free(c->blamed);
	for (int arm = 0; arm < 2; arm++) {
		free(c->self[arm]);
		free(c->inclusive[arm]);
	}
}
