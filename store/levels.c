// SPDX-License-Identifier: Apache-2.0
#include "store/levels.h"

#include "base/json.h"
#include "model/run.h"
#include "store/db.h"
#include "store/names.h"
#include "store/session.h"

#include <math.h>

/* Returns the verdict of a metric in a report, or NULL. */
static const cJSON *find_named(const cJSON *list, const char *name)
{
	const cJSON *item = NULL;

	cJSON_ArrayForEach(item, list)
	{
		if (strcmp(fg_json_text_or(item, "name", ""), name) == 0)
			return item;
	}
	return NULL;
}

static double bound_or_nan(const cJSON *interval, int place)
{
	const cJSON *item = cJSON_GetArrayItem(interval, place);

	return cJSON_IsNumber(item) ? item->valuedouble : (double)NAN;
}

struct fg_level *fg_levels_make(const struct fg_series *series, const cJSON *report)
{
	const cJSON *benchmarks = report ? fg_json_find(report, "benchmarks") : NULL;
	const cJSON *mine = find_named(benchmarks, series->name);
	const cJSON *metrics = mine ? fg_json_find(mine, "metrics") : NULL;
	struct fg_level *levels = fg_xcalloc(series->metric_count, sizeof(*levels));

	for (size_t m = 0; m < series->metric_count; m++) {
		const cJSON *verdict = find_named(metrics, series->metrics[m].name);
		const cJSON *interval = fg_json_find(verdict, "interval");
		const cJSON *step = fg_json_find(verdict, "step");
		size_t counts[FG_ARM_COUNT] = {0};

		for (unsigned arm = 0; arm < FG_ARM_COUNT; arm++)
			levels[m].medians[arm] =
				fg_series_median(series, m, (enum fg_arm)arm, &counts[arm]);
		levels[m].exists = counts[0] + counts[1] > 0;
		levels[m].pairs = (int64_t)fg_json_double_or(verdict, "pairs",
							     (double)counts[FG_ARM_CANDIDATE]);
		levels[m].ratio = fg_json_double_or(verdict, "ratio", (double)NAN);
		levels[m].low = bound_or_nan(interval, 0);
		levels[m].high = bound_or_nan(interval, 1);
		levels[m].step = bound_or_nan(step, 0);
		levels[m].step_error = bound_or_nan(step, 1);
		levels[m].outcome = fg_json_text_or(verdict, "verdict", NULL);
	}
	return levels;
}

int fg_store_put_levels(struct fg_store *store, const struct fg_run *run, int64_t run_id,
			const struct fg_series *series, const struct fg_level *levels,
			struct fg_error *err)
{
	struct fg_rows rows = {0};
	int64_t benchmark = 0;
	int status = fg_store_benchmark_id(store, run->project ? run->project : "", series->name,
					   &benchmark, err);

	for (size_t m = 0; m < series->metric_count && status == FG_OK; m++) {
		const struct fg_level *level = &levels[m];
		int64_t name = 0;

		if (!level->exists)
			continue;
		status = fg_store_text_id(store, series->metrics[m].name, &name, err);
		FG_ROWS_ADD(&rows, FG_BIND(benchmark), FG_BIND(name), FG_BIND(run->started_ns),
			    FG_BIND(run_id), FG_BIND(level->pairs),
			    FG_BIND(level->medians[FG_ARM_BASELINE]),
			    FG_BIND(level->medians[FG_ARM_CANDIDATE]), FG_BIND(level->ratio),
			    FG_BIND(level->low), FG_BIND(level->high), FG_BIND(level->step),
			    FG_BIND(level->step_error), FG_BIND(level->outcome));
	}
	if (status == FG_OK)
		status = fg_query_rows(store->db, FG_SQL_LEVEL_ADD, &rows, NULL, err);
	fg_rows_release(&rows);
	return status;
}
