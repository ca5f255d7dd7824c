// SPDX-License-Identifier: Apache-2.0
#include "store/levels.h"

#include "base/arena.h"
#include "base/json.h"
#include "model/run.h"
#include "store/db.h"
#include "store/names.h"
#include "store/session.h"

#include <math.h>

/* The verdict of a metric in a report, or NULL. */
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

/* Columns of `level`, in the order of the query. */
struct level_columns {
	struct fg_arena arena;
	int64_t *whole[5]; /* benchmark, metric, started_ns, run, pairs */
	double *real[7];   /* baseline, candidate, ratio, low, high, step, step_error */
	const char **outcomes;
	size_t count;
};

static void add_level(struct level_columns *c, const int64_t whole[4], const struct fg_level *level)
{
	const double real[] = {level->medians[FG_ARM_BASELINE],
			       level->medians[FG_ARM_CANDIDATE],
			       level->ratio,
			       level->low,
			       level->high,
			       level->step,
			       level->step_error};

	for (size_t i = 0; i < 4; i++)
		c->whole[i][c->count] = whole[i];
	c->whole[4][c->count] = level->pairs;
	for (size_t i = 0; i < FG_ARRAY_SIZE(real); i++)
		c->real[i][c->count] = real[i];
	c->outcomes[c->count++] = level->outcome;
}

static void make_columns(struct level_columns *c, size_t count)
{
	*c = (struct level_columns){0};
	for (size_t i = 0; i < FG_ARRAY_SIZE(c->whole); i++)
		c->whole[i] = fg_arena_array(&c->arena, count, sizeof(*c->whole[i]));
	for (size_t i = 0; i < FG_ARRAY_SIZE(c->real); i++)
		c->real[i] = fg_arena_array(&c->arena, count, sizeof(*c->real[i]));
	c->outcomes = fg_arena_array(&c->arena, count, sizeof(*c->outcomes));
}

/* Stores the columns and releases them. */
static int put_columns(struct fg_store *store, struct level_columns *c, struct fg_error *err)
{
	struct fg_rows rows = {.count = c->count};
	int status = FG_OK;

	for (size_t i = 0; i < FG_ARRAY_SIZE(c->whole); i++)
		rows.columns[rows.column_count++].numbers = c->whole[i];
	for (size_t i = 0; i < FG_ARRAY_SIZE(c->real); i++)
		rows.columns[rows.column_count++].doubles = c->real[i];
	rows.columns[rows.column_count++].texts = c->outcomes;
	status = fg_query_rows(store->db, FG_SQL_LEVEL_ADD, &rows, NULL, err);
	fg_arena_release(&c->arena);
	return status;
}

int fg_store_put_levels(struct fg_store *store, const struct fg_run *run, int64_t run_id,
			const struct fg_series *series, const struct fg_level *levels,
			struct fg_error *err)
{
	struct level_columns columns;
	int64_t benchmark = 0;
	int status = fg_store_benchmark_id(store, run->project ? run->project : "", series->name,
					   &benchmark, err);

	make_columns(&columns, series->metric_count);
	for (size_t m = 0; m < series->metric_count && status == FG_OK; m++) {
		int64_t name = 0;

		if (!levels[m].exists)
			continue;
		status = fg_store_text_id(store, series->metrics[m].name, &name, err);
		add_level(&columns, (const int64_t[]){benchmark, name, run->started_ns, run_id},
			  &levels[m]);
	}
	if (status == FG_OK)
		return put_columns(store, &columns, err);
	fg_arena_release(&columns.arena);
	return status;
}
