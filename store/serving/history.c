// SPDX-License-Identifier: Apache-2.0
#include "store/serving/history.h"

#include "base/json.h"
#include "base/text.h"
#include "model/metric.h"
#include "model/run.h"
#include "store/chunks.h"
#include "store/db.h"
#include "store/names.h"
#include "store/session.h"
#include "store/values.h"

enum {
	LATE = 32,      /* runs that may have been stored after newer ones, and */
	LATE_SHARE = 16 /* this part of those asked for */
};

static int read_names(struct fg_query *q, struct fg_name_list *list, struct fg_error *err)
{
	struct fg_name_list found = {0};
	int status = FG_OK;

	while ((status = fg_query_step(q, err)) > 0) {
		found.items = fg_grow(found.items, &found.capacity, found.count + 1,
				      sizeof(*found.items));
		found.items[found.count++] = fg_column_copy(q, 0);
	}
	fg_query_end(q);
	if (status == FG_OK)
		*list = found;
	else
		fg_name_list_release(&found);
	return status;
}

int fg_store_projects(struct fg_store *store, struct fg_name_list *names, struct fg_error *err)
{
	struct fg_query q;

	fg_query_begin(&q, store->db, FG_SQL_PROJECT_LIST);
	return read_names(&q, names, err);
}

int fg_store_benchmarks(struct fg_store *store, const char *project, struct fg_name_list *names,
			struct fg_error *err)
{
	struct fg_query q;

	fg_query_begin(&q, store->db, FG_SQL_BENCHMARK_LIST);
	fg_query_text(&q, project);
	return read_names(&q, names, err);
}

static int no_benchmark(struct fg_store *store, const char *project, const char *benchmark,
			struct fg_error *err)
{
	struct fg_name_list names = {0};
	const char *nearest = NULL;

	if (fg_store_benchmarks(store, project, &names, NULL) == FG_OK) {
		names.items = fg_grow(names.items, &names.capacity, names.count + 1,
				      sizeof(*names.items));
		names.items[names.count] = NULL;
		nearest = fg_text_nearest(benchmark, (const char *const *)names.items);
	}
	(void)fg_error_set(err, FG_ENOENT, "no benchmark '%s' was ever stored%s%s in %s%s%s%s",
			   benchmark, project ? " for project " : "", project ? project : "",
			   store->db->name, nearest ? "; did you mean '" : "",
			   nearest ? nearest : "", nearest ? "'?" : "");
	fg_name_list_release(&names);
	return FG_ENOENT;
}

int fg_store_benchmark(struct fg_store *store, const char *project, const char *benchmark,
		       int64_t *id, struct fg_error *err)
{
	struct fg_query q;
	int status = FG_OK;

	fg_query_begin(&q, store->db, FG_SQL_BENCHMARK_OF);
	fg_query_text(&q, project);
	fg_query_text(&q, benchmark);
	status = fg_query_value(&q, id, err);
	return status == FG_ENOENT ? no_benchmark(store, project, benchmark, err) : status;
}

int fg_store_metrics(struct fg_store *store, const char *project, const char *benchmark,
		     struct fg_name_list *names, struct fg_error *err)
{
	struct fg_query q;
	int64_t id = 0;
	int status = fg_store_benchmark(store, project, benchmark, &id, err);

	if (status != FG_OK)
		return status;
	fg_query_begin(&q, store->db, FG_SQL_METRIC_NAMES);
	fg_query_int(&q, id);
	return read_names(&q, names, err);
}

void fg_name_list_release(struct fg_name_list *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->items[i]);
	free(names->items);
	*names = (struct fg_name_list){0};
}

static void read_point(const struct fg_query *q, struct fg_history_point *point)
{
	*point = (struct fg_history_point){
		.started_ns = fg_column_int(q, 1),
		.commit = fg_column_copy(q, 2),
		.branch = fg_column_copy(q, 3),
		.fingerprint = fg_column_copy(q, 4),
		.dirty = fg_column_int(q, 5) != 0,
		.complete = fg_column_int(q, 6) != 0,
		.pairs = (unsigned)fg_column_int(q, 7),
		.baseline = fg_column_double(q, 8),
		.candidate = fg_column_double(q, 9),
		.ratio = fg_column_double(q, 10),
		.low = fg_column_double(q, 11),
		.high = fg_column_double(q, 12),
		.outcome = fg_column_copy(q, 13),
		.tag = fg_column_copy(q, 14),
	};
	(void)snprintf(point->run, sizeof(point->run), "%s", fg_column_text(q, 0));
}

/* Unit and direction of a metric, as the newest run of the benchmark knows it. */
static int read_metric(struct fg_store *store, int64_t benchmark, const char *metric,
		       struct fg_history *history, struct fg_error *err)
{
	struct fg_series series = {0};
	cJSON *json = NULL;
	struct fg_query q;
	size_t index = SIZE_MAX;
	int status = FG_OK;

	fg_series_init(&series, "");
	fg_query_begin(&q, store->db, FG_SQL_NEWEST_METRICS);
	fg_query_int(&q, benchmark);
	status = fg_query_step(&q, err);
	if (status > 0) {
		const char *text = fg_column_text(&q, 0);

		status = fg_json_parse(text, strlen(text), FG_MAX_CHUNK_BYTES, &json, err);
		if (status == FG_OK)
			status = fg_metrics_read(json, &series, err);
	}
	fg_query_end(&q);
	if (status == FG_OK) {
		index = fg_series_find_metric(&series, metric);
		history->unit = fg_xstrdup(index == SIZE_MAX ? "1" : series.metrics[index].unit);
		history->better =
			index == SIZE_MAX ? FG_BETTER_LOWER : series.metrics[index].better;
		history->min_effect = index == SIZE_MAX ? 0 : series.metrics[index].min_effect;
	}
	cJSON_Delete(json);
	fg_series_release(&series);
	return status;
}

static int by_start(const void *a, const void *b)
{
	const struct fg_history_point *x = a;
	const struct fg_history_point *y = b;

	if (x->started_ns != y->started_ns)
		return x->started_ns < y->started_ns ? -1 : 1;
	return strcmp(x->run, y->run);
}

static void release_point(struct fg_history_point *point)
{
	free(point->commit);
	free(point->branch);
	free(point->fingerprint);
	free(point->outcome);
	free(point->tag);
}

/* Keeps the newest `count`. */
static void cut(struct fg_history *history, size_t count)
{
	const size_t drop = history->count > count ? history->count - count : 0;

	if (!drop)
		return;
	for (size_t i = 0; i < drop; i++)
		release_point(&history->points[i]);
	memmove(history->points, history->points + drop,
		(history->count - drop) * sizeof(*history->points));
	history->count -= drop;
}

/* What was stored last, and how far back that goes. */
struct newest {
	struct fg_history history;
	/*
	 * the newest of the LATE runs that were stored first: whatever was not read was stored
	 * before it, also if one of them replaced an older run of its id
	 */
	int64_t first_run;
	int64_t project;
};

static int read_last_stored(struct fg_store *store, const int64_t series[2],
			    const struct fg_history_query *query, size_t limit,
			    struct newest *newest, struct fg_error *err)
{
	struct fg_history *history = &newest->history;
	struct fg_query q;
	int status = FG_OK;

	fg_query_begin(&q, store->db, FG_SQL_HISTORY_NEWEST);
	fg_query_int(&q, series[0]);
	fg_query_int(&q, series[1]);
	fg_query_text(&q, query->branch);
	fg_query_int(&q, (int64_t)limit);
	while ((status = fg_query_step(&q, err)) > 0) {
		const int64_t run = fg_column_int(&q, 15);

		history->points = fg_grow(history->points, &history->capacity, history->count + 1,
					  sizeof(*history->points));
		read_point(&q, &history->points[history->count++]);
		if (history->count + LATE > limit && run > newest->first_run)
			newest->first_run = run;
		newest->project = fg_column_int(&q, 16);
	}
	fg_query_end(&q);
	return status;
}

/* Was a run that started since `started_ns` stored before those that were read? */
static int has_missed(struct fg_store *store, const struct newest *newest, int64_t started_ns,
		      bool *missed, struct fg_error *err)
{
	struct fg_query q;
	int64_t run = 0;
	int status = FG_OK;

	fg_query_begin(&q, store->db, FG_SQL_HISTORY_MISSED);
	fg_query_int(&q, newest->project);
	fg_query_int(&q, started_ns);
	fg_query_int(&q, newest->first_run);
	status = fg_query_value(&q, &run, err);
	*missed = status == FG_OK;
	return status == FG_ENOENT ? FG_OK : status;
}

/*
 * Runs are mostly stored in the order in which they started.  So the newest ones are among those
 * stored last, a few more than asked for; *found says whether that is certain.  All runs of a
 * benchmark need not be read and sorted then.
 */
static int read_newest(struct fg_store *store, const int64_t series[2],
		       const struct fg_history_query *query, struct fg_history *history,
		       bool *found, struct fg_error *err)
{
	const size_t limit = query->limit + LATE + query->limit / LATE_SHARE;
	struct newest newest = {0};
	bool missed = false;
	int status = read_last_stored(store, series, query, limit, &newest, err);
	const bool is_all = newest.history.count < limit;

	if (status != FG_OK)
		goto out;
	if (newest.history.count)
		qsort(newest.history.points, newest.history.count, sizeof(*newest.history.points),
		      by_start);
	cut(&newest.history, query->limit);
	if (!is_all && newest.history.points)
		status = has_missed(store, &newest, newest.history.points[0].started_ns, &missed,
				    err);
out:
	*found = status == FG_OK && !missed;
	if (*found) {
		history->points = newest.history.points;
		history->count = newest.history.count;
		history->capacity = newest.history.capacity;
	} else {
		fg_history_release(&newest.history);
	}
	return status;
}

static int read_history(struct fg_store *store, int64_t benchmark, int64_t metric,
			const struct fg_history_query *query, struct fg_history *history,
			struct fg_error *err)
{
	struct fg_query q;
	int status = FG_OK;

	fg_query_begin(&q, store->db, FG_SQL_HISTORY);
	fg_query_int(&q, benchmark);
	fg_query_int(&q, metric);
	fg_query_text(&q, query->branch);
	fg_query_int(&q, query->limit ? (int64_t)query->limit : INT64_MAX);
	while ((status = fg_query_step(&q, err)) > 0) {
		history->points = fg_grow(history->points, &history->capacity, history->count + 1,
					  sizeof(*history->points));
		read_point(&q, &history->points[history->count++]);
	}
	fg_query_end(&q);
	/* The query returns the newest first; the result is oldest first. */
	for (size_t i = 0; i < history->count / 2; i++) {
		const struct fg_history_point point = history->points[i];

		history->points[i] = history->points[history->count - 1 - i];
		history->points[history->count - 1 - i] = point;
	}
	return status;
}

int fg_store_history(struct fg_store *store, const struct fg_history_query *query,
		     struct fg_history *history, struct fg_error *err)
{
	struct fg_history found = {0};
	uint8_t digest[16];
	struct fg_query q;
	int64_t benchmark = 0;
	int64_t metric = 0;
	bool is_found = false;
	int status = fg_store_benchmark(store, query->project, query->benchmark, &benchmark, err);

	if (status != FG_OK)
		return status;
	fg_digest(query->metric, NULL, NULL, digest);
	fg_query_begin(&q, store->db, FG_SQL_WORDS_FIND);
	fg_query_bytes(&q, digest, sizeof(digest));
	status = fg_query_value(&q, &metric, err);
	if (status == FG_ENOENT)
		return fg_error_set(err, FG_ENOENT,
				    "no metric '%s' was ever stored for benchmark '%s'",
				    query->metric, query->benchmark);
	if (status != FG_OK)
		goto out;
	status = read_metric(store, benchmark, query->metric, &found, err);
	if (status != FG_OK)
		goto out;
	if (query->limit)
		status = read_newest(store, (const int64_t[2]){benchmark, metric}, query, &found,
				     &is_found, err);
	if (status == FG_OK && !is_found)
		status = read_history(store, benchmark, metric, query, &found, err);
out:
	if (status == FG_OK)
		*history = found;
	else
		fg_history_release(&found);
	return status;
}

void fg_history_release(struct fg_history *history)
{
	for (size_t i = 0; i < history->count; i++)
		release_point(&history->points[i]);
	free(history->points);
	free(history->unit);
	*history = (struct fg_history){0};
}

int fg_store_fact_keys(struct fg_store *store, const char *project, struct fg_name_list *names,
		       struct fg_error *err)
{
	struct fg_query q;

	fg_query_begin(&q, store->db, FG_SQL_FACT_KEYS);
	fg_query_text(&q, project);
	return read_names(&q, names, err);
}

int fg_store_candidate_fact(struct fg_store *store, const char *run, const char *key,
			    struct fg_arena *arena, const char **value, struct fg_error *err)
{
	struct fg_query q;
	int status = FG_OK;

	*value = NULL;
	fg_query_begin(&q, store->db, FG_SQL_RUN_FACT_FIND);
	fg_query_text(&q, run);
	fg_query_text(&q, key);
	status = fg_query_step(&q, err);
	if (status > 0) {
		*value = fg_arena_strdup(arena, fg_column_text(&q, 0));
		status = FG_OK;
	}
	fg_query_end(&q);
	return status;
}
