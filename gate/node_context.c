// SPDX-License-Identifier: Apache-2.0
#include "gate/node_context.h"

#include "gate/blame.h"
#include "gate/pairs.h"

#include <math.h>

#define NS_PER_MS    1e6
#define TOTAL_ERRORS 2.0  /* the whole changed by at least so many standard errors */
#define COVERED_MS   20.0 /* of CPU time in an arm, before its coverage means anything */

/*
 * The whole, as the kernel measured it, over the pairs that count; the sampled whole where that is
 * not known.
 */
static double total_delta_ms(const struct fg_series *series, const struct fg_node_context *c,
			     double *error)
{
	struct fg_pairs pairs;
	double sum = 0.0;
	double squares = 0.0;
	double n;

	*error = (double)NAN;
	fg_pairs_collect(series, FG_METRIC_CPU_TIME, &pairs);
	n = (double)pairs.count;
	for (size_t i = 0; i < pairs.count; i++) {
		double delta = (pairs.candidate[i] - pairs.baseline[i]) / NS_PER_MS;

		sum += delta;
		squares += delta * delta;
	}
	fg_pairs_release(&pairs);
	if (n < 1.0)
		return c->inclusive_ms[1][0] - c->inclusive_ms[0][0];
	*error = sqrt(fmax(0.0, squares - sum * sum / n) / fmax(1.0, n - 1.0) / n);
	return sum / n;
}

/* The interval of the CPU time leaves zero out, and the sum that is shared out agrees with it. */
static bool has_whole_changed(const struct fg_benchmark_verdict *verdict, double total_ms,
			      double error)
{
	for (size_t i = 0; i < verdict->metric_count; i++) {
		const struct fg_metric_verdict *metric = &verdict->metrics[i];

		if (strcmp(metric->name, fg_metric_builtin(FG_METRIC_CPU_TIME)->name) != 0)
			continue;
		if (metric->low > 1.0)
			return total_ms > TOTAL_ERRORS * error;
		return metric->high < 1.0 && total_ms < -TOTAL_ERRORS * error;
	}
	return false;
}

static void find_coverage(const struct fg_series *series, struct fg_node_context *c)
{
	const uint16_t time = fg_profile_set_time(c->set);
	double sampled[2] = {0.0, 0.0};
	double spent[2] = {0.0, 0.0};

	for (size_t i = 0; i < c->set->row_count; i++) {
		const struct fg_profile_row *row = &c->set->rows[i];

		if (row->measure == time && row->aside == 0 && row->arm < 2)
			sampled[row->arm] += row->total;
	}
	for (size_t i = 0; i < series->repetition_count; i++) {
		const struct fg_repetition *repetition = &series->repetitions[i];
		double cpu_ns = repetition->values[FG_METRIC_CPU_TIME];

		if (repetition->aside == 0 && repetition->arm < 2 && isfinite(cpu_ns))
			spent[repetition->arm] += cpu_ns;
	}
	for (int arm = 0; arm < 2; arm++)
		c->coverage[arm] = spent[arm] >= COVERED_MS * NS_PER_MS ? sampled[arm] / spent[arm]
									: (double)NAN;
}

void fg_node_context_init(struct fg_node_context *c, const struct fg_series *series,
			  const struct fg_benchmark_verdict *verdict)
{
	const struct fg_profile_set *set = c->set;
	const uint16_t time = fg_profile_set_time(set);
	double error;
	uint32_t *entity = fg_xcalloc(set->node_count + 1, sizeof(entity[0]));

	c->blamed = fg_blame_nodes(set, series);
	fg_profile_pairs_find(set, time, &c->pairs);
	for (size_t n = 0; n < set->node_count; n++)
		entity[n] = set->nodes[c->blamed[n]].function;
	fg_pair_matrix_build(set, &c->pairs, entity, set->function_count, &c->functions);
	free(entity);
	for (uint8_t arm = 0; arm < 2; arm++) {
		c->self_ms[arm] = fg_xcalloc(set->node_count + 1, sizeof(c->self_ms[arm][0]));
		c->inclusive_ms[arm] = fg_xcalloc(set->node_count + 1, sizeof(c->self_ms[arm][0]));
		(void)fg_profile_set_mean(set, time, arm, c->self_ms[arm], c->inclusive_ms[arm]);
		for (size_t n = 0; n < set->node_count; n++) {
			c->self_ms[arm][n] /= 1e6;
			c->inclusive_ms[arm][n] /= 1e6;
		}
	}
	c->floor_ms = c->policy->function_floor * c->inclusive_ms[0][0];
	c->margin_ms = fmax(c->floor_ms,
			    fg_policy_metric(c->policy, "cpu_time").margin * c->inclusive_ms[0][0]);
	c->total_ms = total_delta_ms(series, c, &error);
	c->whole_changed = has_whole_changed(verdict, c->total_ms, error);
	find_coverage(series, c);
}

void fg_node_context_release(struct fg_node_context *c)
{
	fg_profile_pairs_release(&c->pairs);
	fg_pair_matrix_release(&c->functions);
	free(c->blamed);
	for (int arm = 0; arm < 2; arm++) {
		free(c->self_ms[arm]);
		free(c->inclusive_ms[arm]);
	}
}
