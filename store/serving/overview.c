// SPDX-License-Identifier: Apache-2.0
#include "store/serving/overview.h"

#include "base/json.h"
#include "model/run.h"
#include "store/chunks.h"
#include "store/db.h"
#include "store/session.h"
#include "store/transaction.h"
#include "store/values.h"

#include <math.h>

static size_t find_headline(const struct fg_series *series)
{
	size_t found = fg_series_find_metric(series, "cpu_time");

	for (size_t i = 0; i < series->metric_count && found == SIZE_MAX; i++) {
		if (series->metrics[i].gated)
			found = i;
	}
	return found == SIZE_MAX && series->metric_count ? 0 : found;
}

static int read_headline(const char *text, struct fg_overview_row *row, struct fg_error *err)
{
	struct fg_series series = {0};
	cJSON *json = NULL;
	size_t index = SIZE_MAX;
	int status = fg_json_parse(text, strlen(text), FG_MAX_CHUNK_BYTES, &json, err);

	if (status != FG_OK)
		return status;
	fg_series_init(&series, "");
	status = fg_metrics_read(json, &series, err);
	if (status != FG_OK)
		goto out;
	index = find_headline(&series);
	if (index != SIZE_MAX) {
		row->metric = fg_xstrdup(series.metrics[index].name);
		row->label = fg_xstrdup(series.metrics[index].label);
		row->metrics = fg_xstrdup(text);
	}
out:
	cJSON_Delete(json);
	fg_series_release(&series);
	return status;
}

static int read_rows(struct fg_store *store, const char *project, struct fg_overview *overview,
		     struct fg_error *err)
{
	struct fg_query q;
	int status = FG_OK;

	fg_query_begin(&q, store->db, FG_SQL_OVERVIEW);
	fg_query_text(&q, project);
	while ((status = fg_query_step(&q, err)) > 0) {
		struct fg_overview_row *row = NULL;

		overview->items = fg_grow(overview->items, &overview->capacity, overview->count + 1,
					  sizeof(*overview->items));
		row = &overview->items[overview->count++];
		*row = (struct fg_overview_row){
			.benchmark = fg_column_int(&q, 0),
			.name = fg_column_copy(&q, 1),
			.series = fg_column_int(&q, 2),
			.started_ns = fg_column_int(&q, 5),
			.commit = fg_column_copy(&q, 6),
			.branch = fg_column_copy(&q, 7),
			.dirty = fg_column_int(&q, 8) != 0,
			.subject = fg_column_copy(&q, 9),
			.release = (double)NAN,
		};
		(void)snprintf(row->run, sizeof(row->run), "%s", fg_column_text(&q, 4));
		status = read_headline(fg_column_text(&q, 3), row, err);
		if (status != FG_OK)
			break;
	}
	fg_query_end(&q);
	return status;
}

static const struct fg_overview_row *newest_of(const struct fg_overview *overview)
{
	const struct fg_overview_row *newest = NULL;

	for (size_t i = 0; i < overview->count; i++) {
		if (!newest || overview->items[i].started_ns > newest->started_ns)
			newest = &overview->items[i];
	}
	return newest;
}

static int find_release(struct fg_store *store, const char *project, struct fg_overview *overview,
			int64_t *run, struct fg_error *err)
{
	const struct fg_overview_row *newest = newest_of(overview);
	struct fg_query q;
	int status = FG_OK;

	*run = 0;
	if (!newest)
		return FG_OK;
	fg_query_begin(&q, store->db, FG_SQL_RELEASE);
	fg_query_text(&q, project);
	fg_query_int(&q, newest->started_ns);
	status = fg_query_step(&q, err);
	if (status > 0) {
		*run = fg_column_int(&q, 0);
		overview->release_run = fg_column_copy(&q, 1);
		overview->release_tag = fg_column_copy(&q, 2);
		status = FG_OK;
	}
	fg_query_end(&q);
	return status;
}

/* Rows and levels both come in the order of benchmarks' ids, levels of several metrics. */
static int read_release(struct fg_store *store, int64_t run, struct fg_overview *overview,
			struct fg_error *err)
{
	struct fg_query q;
	int status = FG_OK;

	fg_query_begin(&q, store->db, FG_SQL_RELEASE_LEVELS);
	fg_query_int(&q, run);
	while ((status = fg_query_step(&q, err)) > 0) {
		const int64_t benchmark = fg_column_int(&q, 0);
		const char *metric = fg_column_text(&q, 1);

		for (size_t i = 0; i < overview->count; i++) {
			struct fg_overview_row *row = &overview->items[i];

			if (row->benchmark == benchmark && row->metric &&
			    strcmp(row->metric, metric) == 0)
				row->release = fg_column_double(&q, 2);
		}
	}
	fg_query_end(&q);
	return status;
}

static int read_histories(struct fg_store *store, const char *project, size_t runs,
			  struct fg_overview *overview, struct fg_error *err)
{
	struct fg_history_wish *wishes = fg_xcalloc(overview->count + 1, sizeof(*wishes));
	size_t count = 0;
	int status = FG_OK;

	for (size_t i = 0; i < overview->count; i++) {
		struct fg_overview_row *row = &overview->items[i];

		if (row->metric)
			wishes[count++] = (struct fg_history_wish){.benchmark = row->benchmark,
								   .metric = row->metric,
								   .metrics = row->metrics,
								   .history = &row->history};
	}
	status = fg_store_histories(store, project, runs, wishes, count, err);
	free(wishes);
	return status;
}

int fg_store_overview(struct fg_store *store, const char *project, size_t runs,
		      struct fg_overview *overview, struct fg_error *err)
{
	struct fg_overview found = {0};
	int64_t release = 0;
	bool mine = false;
	int status = fg_store_view(store, &mine, err);

	if (status != FG_OK)
		goto out;
	status = read_rows(store, project, &found, err);
	if (status != FG_OK)
		goto out;
	status = read_histories(store, project, runs, &found, err);
	if (status != FG_OK)
		goto out;
	status = find_release(store, project, &found, &release, err);
	if (status != FG_OK || !release)
		goto out;
	status = read_release(store, release, &found, err);
out:
	fg_store_view_end(store, mine);
	if (status == FG_OK)
		*overview = found;
	else
		fg_overview_release(&found);
	return status;
}

void fg_overview_release(struct fg_overview *overview)
{
	for (size_t i = 0; i < overview->count; i++) {
		struct fg_overview_row *row = &overview->items[i];

		free(row->name);
		free(row->metric);
		free(row->label);
		free(row->metrics);
		free(row->commit);
		free(row->branch);
		free(row->subject);
		fg_history_release(&row->history);
	}
	free(overview->items);
	free(overview->release_tag);
	free(overview->release_run);
	*overview = (struct fg_overview){0};
}
