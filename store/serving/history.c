// SPDX-License-Identifier: Apache-2.0
/* The history of a metric, from the rows of `level`. */
#include "store/serving/history.h"

#include "base/json.h"
#include "model/metric.h"
#include "model/run.h"
#include "store/chunks.h"
#include "store/db.h"
#include "store/names.h"
#include "store/session.h"
#include "store/values.h"

static const char *copy_of(struct fg_arena *arena, const struct fg_query *q, int column,
			   const char *last)
{
	const char *text = fg_column_text(q, column);

	return text && last && strcmp(text, last) == 0 ? last : fg_arena_strdup(arena, text);
}

/* Strings that most runs share with the previous run. */
struct last_texts {
	const char *branch;
	const char *fingerprint;
	const char *outcome;
	const char *base_commit;
};

static struct last_texts last_of(const struct fg_history *history)
{
	const struct fg_history_point *last = NULL;

	if (history->count == 0)
		return (struct last_texts){0};
	last = &history->points[history->count - 1];
	return (struct last_texts){last->branch, last->fingerprint, last->outcome,
				   last->base_commit};
}

static void take_point(const struct fg_query *q, struct fg_history *history)
{
	const struct last_texts last = last_of(history);
	struct fg_history_point *point =
		&FG_APPEND(history->points, history->count, history->capacity);

	*point = (struct fg_history_point){
		.started_ns = fg_column_int(q, 1),
		.commit = copy_of(&history->texts, q, 2, NULL),
		.branch = copy_of(&history->texts, q, 3, last.branch),
		.fingerprint = copy_of(&history->texts, q, 4, last.fingerprint),
		.dirty = fg_column_int(q, 5) != 0,
		.complete = fg_column_int(q, 6) != 0,
		.pairs = (unsigned)fg_column_int(q, 7),
		.baseline = fg_column_double(q, 8),
		.candidate = fg_column_double(q, 9),
		.ratio = fg_column_double(q, 10),
		.low = fg_column_double(q, 11),
		.high = fg_column_double(q, 12),
		.outcome = copy_of(&history->texts, q, 13, last.outcome),
		.tag = copy_of(&history->texts, q, 14, NULL),
		.base_commit = copy_of(&history->texts, q, 15, last.base_commit),
	};
	(void)snprintf(point->run, sizeof(point->run), "%s", fg_column_text(q, 0));
}

/* Takes unit and direction of a metric from a run's definitions. */
static int take_metric(const char *definitions, const char *metric, struct fg_history *history,
		       struct fg_error *err)
{
	struct fg_series series = {0};
	cJSON *json = NULL;
	size_t index = SIZE_MAX;
	int status = FG_OK;

	fg_series_init(&series, "");
	if (definitions)
		status = fg_json_parse(definitions, strlen(definitions), FG_MAX_CHUNK_BYTES, &json,
				       err);
	if (definitions && status == FG_OK)
		status = fg_metrics_read(json, &series, err);
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

/* Reads the metric's definition from the newest run of the benchmark. */
static int read_metric(struct fg_store *store, int64_t benchmark, const char *metric,
		       struct fg_history *history, struct fg_error *err)
{
	struct fg_query q;
	int status = FG_OK;

	FG_QUERY_WITH(&q, store->db, FG_SQL_NEWEST_METRICS, FG_BIND(benchmark));
	status = fg_query_step(&q, err);
	if (status >= 0)
		status = take_metric(status > 0 ? fg_column_text(&q, 0) : NULL, metric, history,
				     err);
	fg_query_end(&q);
	return status;
}

static void reverse(struct fg_history *history)
{
	for (size_t i = 0; i < history->count / 2; i++) {
		const struct fg_history_point point = history->points[i];

		history->points[i] = history->points[history->count - 1 - i];
		history->points[history->count - 1 - i] = point;
	}
}

static int read_points(struct fg_store *store, int64_t benchmark,
		       const struct fg_history_query *query, struct fg_history *history,
		       struct fg_error *err)
{
	uint8_t digest[FG_DIGEST_SIZE];
	struct fg_query q;
	int status = FG_OK;

	fg_digest(query->metric, NULL, NULL, digest);
	FG_QUERY_WITH(&q, store->db, FG_SQL_HISTORY, FG_BIND(benchmark),
		      FG_BIND(fg_digest_blob(digest)), FG_BIND(query->branch),
		      FG_BIND(query->limit ? (int64_t)query->limit : INT64_MAX));
	while ((status = fg_query_step(&q, err)) > 0)
		take_point(&q, history);
	fg_query_end(&q);
	reverse(history);
	return status;
}

/*
 * FG_ENOENT: no benchmark ever had a metric of this name. FG_OK does not mean that this benchmark
 * has values of the metric.
 */
static int check_metric(struct fg_store *store, const struct fg_history_query *query,
			struct fg_error *err)
{
	uint8_t digest[FG_DIGEST_SIZE];
	int64_t id = 0;
	int status = FG_OK;

	fg_digest(query->metric, NULL, NULL, digest);
	status = fg_store_look_up(store, FG_SQL_WORDS_FIND, digest, &id, err);
	if (status == FG_ENOENT)
		return fg_error_set(err, FG_ENOENT,
				    "no metric '%s' was ever stored for benchmark '%s'",
				    query->metric, query->benchmark);
	return status;
}

int fg_store_history(struct fg_store *store, const struct fg_history_query *query,
		     struct fg_history *history, struct fg_error *err)
{
	struct fg_history found = {0};
	int64_t benchmark = 0;
	int status = FG_OK;

	FG_TRY(fg_store_benchmark(store, query->project, query->benchmark, &benchmark, err));
	FG_TRY(check_metric(store, query, err));
	status = read_metric(store, benchmark, query->metric, &found, err);
	if (status == FG_OK)
		status = read_points(store, benchmark, query, &found, err);
	if (status == FG_OK)
		*history = found;
	else
		fg_history_release(&found);
	return status;
}

int fg_store_newest_points(struct fg_store *store, int64_t benchmark, const char *definitions,
			   const struct fg_history_query *query, struct fg_history *history,
			   struct fg_error *err)
{
	const int status = take_metric(definitions, query->metric, history, err);

	return status == FG_OK ? read_points(store, benchmark, query, history, err) : status;
}

void fg_history_release(struct fg_history *history)
{
	free(history->points);
	fg_arena_release(&history->texts);
	free(history->unit);
	*history = (struct fg_history){0};
}
