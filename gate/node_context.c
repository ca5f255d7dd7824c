// SPDX-License-Identifier: Apache-2.0
#include "gate/node_context.h"

#include "gate/blame.h"
#include "gate/parts.h"
#include "gate/symbol_similarity.h"
#include "model/coverage.h"

#include <math.h>

#define MS_PER_NS  1e-6
#define ROUNDING   1e-9 /* relative error of sums of counts that were added in another order */
#define COVERED_NS 20e6 /* minimum CPU time of an arm for a meaningful coverage */

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
		double spent_ns =
			repetition->values[c->id == FG_MEASURE_WALL_TIME ? FG_METRIC_WALL_TIME
									 : FG_METRIC_CPU_TIME];

		if (repetition->aside != 0 || repetition->arm >= 2 || !isfinite(spent_ns))
			continue;
		arms[repetition->arm].spent_ns += spent_ns;
		arms[repetition->arm].repetitions++;
	}
	for (int arm = 0; arm < 2; arm++)
		c->coverage[arm] = fg_coverage_share(&arms[arm], COVERED_NS);
	c->escaped = fg_coverage_is_one_sided(arms, COVERED_NS);
}

/* Computes the mean of each arm for every node of the call tree, in the verdict's unit. */
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

/* Finds the smallest change worth reporting for a measure that varies between repetitions. */
static void find_floor(struct fg_node_context *c, double whole)
{
	c->floor = c->policy->function_floor * whole;
	c->margin = fmax(c->floor, margin_of(c) * whole);
}

void fg_node_context_group(struct fg_node_context *c)
{
	const struct fg_profile_set *set = c->set;
	uint32_t *entity = fg_xcalloc(set->node_count + 1, sizeof(entity[0]));

	fg_pair_matrix_release(&c->functions);
	for (size_t n = 0; n < set->node_count; n++)
		entity[n] = c->row_of[set->nodes[c->blamed[n]].function];
	fg_pair_matrix_build(set, &c->pairs, entity, set->function_count, &c->functions);
	free(entity);
}

/*
 * Wall-clock samples belong to wall time if that is gated. Otherwise they count as CPU time, which
 * is right for a program that never waits.
 */
static const char *metric_of_time(const struct fg_node_context *c,
				  const struct fg_benchmark_verdict *verdict)
{
	const struct fg_metric_verdict *wall = fg_verdict_metric(verdict, "wall_time");

	return c->id == FG_MEASURE_WALL_TIME && wall && wall->gated ? "wall_time" : "cpu_time";
}

/* Finds the change of the metric that this measure belongs to. */
static struct fg_whole find_whole(const struct fg_node_context *c,
				  const struct fg_benchmark_verdict *verdict)
{
	const bool is_time = fg_measure_is_time(c->id);
	struct fg_whole whole =
		fg_parts_whole(verdict, is_time ? metric_of_time(c, verdict) : c->measure,
			       is_time ? MS_PER_NS : 1.0);

	if (c->pairs.fold != FG_FOLD_SUM)
		whole.delta = (double)NAN;
	else if (isnan(whole.delta))
		whole.delta = c->inclusive[1][0] - c->inclusive[0][0];
	return whole;
}

void fg_node_context_init(struct fg_node_context *c, const struct fg_series *series,
			  const struct fg_benchmark_verdict *verdict)
{
	const struct fg_profile_set *set = c->set;
	const struct fg_measure *what = fg_measure_at(&set->measures, c->id);
	struct fg_whole whole;

	c->measure = fg_arena_strdup(c->arena, what->name);
	c->unit = fg_measure_is_time(c->id) ? "ms" : fg_arena_strdup(c->arena, what->unit);
	c->blamed = fg_blame_nodes(set, series);
	c->row_of = fg_symbols_rows(set);
	if (fg_measure_is_time(c->id)) {
		c->code = fg_same_code_facts(set, series);
		c->only_changed = fg_same_code_only_changed(set, series);
	}
	fg_profile_pairs_find(set, c->id, &c->pairs);
	c->functions = (struct fg_pair_matrix){0};
	fg_node_context_group(c);
	find_levels(c);
	find_floor(c, c->inclusive[0][0]);
	if (c->exact)
		c->floor = c->margin = ROUNDING * fmax(1.0, c->inclusive[0][0]);
	c->coverage[0] = c->coverage[1] = (double)NAN;
	c->escaped = false;
	whole = find_whole(c, verdict);
	c->total = whole.delta;
	c->total_changed = whole.changed;
	if (fg_measure_is_time(c->id))
		find_coverage(series, c);
}

void fg_node_context_release(struct fg_node_context *c)
{
	fg_profile_pairs_release(&c->pairs);
	fg_pair_matrix_release(&c->functions);
	free(c->blamed);
	free(c->row_of);
	free(c->code);
	for (int arm = 0; arm < 2; arm++) {
		free(c->self[arm]);
		free(c->inclusive[arm]);
	}
}
