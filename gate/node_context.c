// SPDX-License-Identifier: Apache-2.0
#include "gate/node_context.h"

#include "gate/blame.h"
#include "gate/pairs.h"

/*
 * The whole, as the kernel measured it, over the pairs that count; the sampled whole where that is
 * not known.
 */
static double total_delta_ms(const struct fg_series *series, const struct fg_node_context *c)
{
	struct fg_pairs pairs;
	double sum = 0.0;
	double result;

	fg_pairs_collect(series, FG_METRIC_CPU_TIME, &pairs);
	for (size_t i = 0; i < pairs.count; i++)
		sum += (pairs.candidate[i] - pairs.baseline[i]) / 1e6;
	result = pairs.count > 0 ? sum / (double)pairs.count
				 : c->inclusive_ms[1][0] - c->inclusive_ms[0][0];
	fg_pairs_release(&pairs);
	return result;
}

static bool has_whole_changed(const struct fg_benchmark_verdict *verdict)
{
	for (size_t i = 0; i < verdict->metric_count; i++) {
		const struct fg_metric_verdict *metric = &verdict->metrics[i];

		if (strcmp(metric->name, fg_metric_builtin(FG_METRIC_CPU_TIME)->name) == 0)
			return metric->low > 1.0 || metric->high < 1.0;
	}
	return false;
}

void fg_node_context_init(struct fg_node_context *c, const struct fg_series *series,
			  const struct fg_benchmark_verdict *verdict)
{
	const struct fg_profile_set *set = c->set;
	const uint16_t time = fg_profile_set_time(set);
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
	c->whole_changed = has_whole_changed(verdict);
	c->total_ms = total_delta_ms(series, c);
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
