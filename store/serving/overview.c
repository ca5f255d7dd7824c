// SPDX-License-Identifier: Apache-2.0
#include "store/serving/overview.h"

#include "base/json.h"
#include "model/run.h"
#include "store/chunks.h"
#include "store/db.h"
#include "store/session.h"
#include "store/transaction.h"
#include "store/values.h"

/*
 * Returns the nth metric that may represent a row: a gated metric; if none is gated, CPU time or
 * else the first metric.
 */
static size_t nth_headline(const struct fg_series *series, size_t nth)
{
	size_t gated = 0;
	size_t found = SIZE_MAX;

	for (size_t i = 0; i < series->metric_count; i++) {
		if (series->metrics[i].gated && gated++ == nth)
			return i;
	}
	if (gated > 0 || nth > 0)
		return SIZE_MAX;
	found = fg_series_find_metric(series, "cpu_time");
	return found == SIZE_MAX && series->metric_count > 0 ? 0 : found;
}

/* Copies the name and label of the nth headline to the row. `found` may be NULL. */
static int read_headline(size_t nth, struct fg_overview_row *row, struct fg_arena *texts,
			 bool *found, struct fg_error *err)
{
	struct fg_series series = {0};
	cJSON *json = NULL;
	size_t index = SIZE_MAX;
	int status = FG_OK;

	FG_TRY(fg_json_parse(row->metrics, strlen(row->metrics), FG_MAX_CHUNK_BYTES, &json, err));
	fg_series_init(&series, "");
	FG_TRY_OUT(fg_metrics_read(json, &series, err));
	index = nth_headline(&series, nth);
	if (index != SIZE_MAX) {
		row->metric = fg_arena_strdup(texts, series.metrics[index].name);
		row->label = fg_arena_strdup(texts, series.metrics[index].label);
	}
	if (found)
		*found = index != SIZE_MAX;
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

	FG_QUERY_WITH(&q, store->db, FG_SQL_OVERVIEW, FG_BIND(project));
	while ((status = fg_query_step(&q, err)) > 0) {
		struct fg_overview_row *row =
			&FG_APPEND(overview->items, overview->count, overview->capacity);

		*row = (struct fg_overview_row){
			.benchmark = fg_column_int(&q, 0),
			.name = fg_column_keep(&q, 1, &overview->texts),
			.series = fg_column_int(&q, 2),
			.started_ns = fg_column_int(&q, 5),
			.metrics = fg_column_keep(&q, 3, &overview->texts),
			.commit = fg_column_keep(&q, 6, &overview->texts),
			.branch = fg_column_keep(&q, 7, &overview->texts),
			.dirty = fg_column_int(&q, 8) != 0,
			.subject = fg_column_keep(&q, 9, &overview->texts),
		};
		(void)snprintf(row->run, sizeof(row->run), "%s", fg_column_text(&q, 4));
		status = read_headline(0, row, &overview->texts, NULL, err);
		if (status != FG_OK)
			break;
	}
	fg_query_end(&q);
	return status;
}

const struct fg_overview_row *fg_overview_newest(const struct fg_overview *overview)
{
	const struct fg_overview_row *newest = NULL;

	for (size_t i = 0; i < overview->count; i++) {
		if (!newest || overview->items[i].started_ns > newest->started_ns)
			newest = &overview->items[i];
	}
	return newest;
}

static int find_release(struct fg_store *store, const char *project, struct fg_overview *overview,
			struct fg_error *err)
{
	const struct fg_overview_row *newest = fg_overview_newest(overview);
	struct fg_query q;
	int status = FG_OK;

	if (!newest)
		return FG_OK;
	FG_QUERY_WITH(&q, store->db, FG_SQL_RELEASE, FG_BIND(project), FG_BIND(newest->started_ns));
	status = fg_query_step(&q, err);
	if (status > 0) {
		overview->release_run = fg_column_keep(&q, 0, &overview->texts);
		overview->release_tag = fg_column_keep(&q, 1, &overview->texts);
		status = FG_OK;
	}
	fg_query_end(&q);
	return status;
}

static bool has_value(const struct fg_overview_row *row)
{
	const struct fg_history_point *newest =
		row->history.count > 0 ? &row->history.points[row->history.count - 1] : NULL;

	return newest && strcmp(newest->run, row->run) == 0;
}

/* Reads the histories of rows without a value in the newest run; at first, these are all rows. */
static int ask_histories(struct fg_store *store, size_t runs, struct fg_overview *overview,
			 struct fg_error *err)
{
	int status = FG_OK;

	for (size_t i = 0; i < overview->count && status == FG_OK; i++) {
		struct fg_overview_row *row = &overview->items[i];
		const struct fg_history_query query = {.metric = row->metric, .limit = runs};

		if (!row->metric || has_value(row))
			continue;
		fg_history_release(&row->history);
		status = fg_store_newest_points(store, row->benchmark, row->metrics, &query,
						&row->history, err);
	}
	return status;
}

/*
 * Gives all rows without a value their nth headline; *any becomes true if a row has an nth
 * headline.
 */
static int try_headline(struct fg_overview *overview, size_t nth, bool *any, struct fg_error *err)
{
	int status = FG_OK;

	*any = false;
	for (size_t i = 0; i < overview->count && status == FG_OK; i++) {
		struct fg_overview_row *row = &overview->items[i];
		bool found = false;

		if (!row->metric || has_value(row))
			continue;
		status = read_headline(nth, row, &overview->texts, &found, err);
		*any |= found;
	}
	return status;
}

/*
 * A harness has values only for its own metrics, so the first gated metric with values represents a
 * row. If no gated metric has values, the benchmark failed, and its first metric shows earlier
 * values.
 */
static int read_histories(struct fg_store *store, size_t runs, struct fg_overview *overview,
			  struct fg_error *err)
{
	int status = ask_histories(store, runs, overview, err);
	bool any = true;

	for (size_t nth = 1; any && status == FG_OK; nth++) {
		status = try_headline(overview, nth, &any, err);
		if (!any && status == FG_OK)
			status = try_headline(overview, 0, &(bool){false}, err);
		if (status != FG_OK)
			return status;
		status = ask_histories(store, runs, overview, err);
	}
	return status;
}

int fg_store_overview(struct fg_store *store, const char *project, size_t runs,
		      struct fg_overview *overview, struct fg_error *err)
{
	bool mine = false;
	int status = FG_OK;

	*overview = (struct fg_overview){0};
	FG_TRY_OUT(fg_store_view(store, &mine, err));
	FG_TRY_OUT(read_rows(store, project, overview, err));
	FG_TRY_OUT(read_histories(store, runs, overview, err));
	status = find_release(store, project, overview, err);
out:
	fg_store_view_end(store, mine);
	if (status != FG_OK)
		fg_overview_release(overview);
	return status;
}

void fg_overview_release(struct fg_overview *overview)
{
	for (size_t i = 0; i < overview->count; i++)
		fg_history_release(&overview->items[i].history);
	free(overview->items);
	fg_arena_release(&overview->texts);
	*overview = (struct fg_overview){0};
}
