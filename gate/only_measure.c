// SPDX-License-Identifier: Apache-2.0
#include "gate/gate.h"
#include "model/measure.h"

int fg_policy_only_measure(struct fg_policy *policy, const char *measure, const struct fg_run *run,
			   struct fg_arena *arena, struct fg_error *err)
{
	size_t most = 1;
	size_t count = 1;
	struct fg_metric_policy *rows = NULL;

	if (!fg_measure_is_known(measure) || fg_metric_find_builtin(measure))
		return fg_error_set(err, FG_EINVAL,
				    "'%.100s' is not a measure that can be gated by call path",
				    measure);
	for (size_t i = 0; i < run->series_count; i++)
		most += run->series[i].metric_count;
	rows = fg_arena_array(arena, most, sizeof(rows[0]));
	rows[0] = fg_policy_measure(policy, measure);
	rows[0].gated = true;
	for (size_t i = 0; i < run->series_count; i++) {
		for (size_t m = 0; m < run->series[i].metric_count; m++) {
			struct fg_metric_policy *row = &rows[count++];

			*row = fg_policy_metric(policy, run->series[i].metrics[m].name);
			row->gated = false;
		}
	}
	policy->metrics = rows;
	policy->metric_count = count;
	return FG_OK;
}
