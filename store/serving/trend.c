// SPDX-License-Identifier: Apache-2.0
/* The trend of one function over thousands of runs, from the totals of each. */
#include "store/serving/trend.h"

#include "base/arena.h"
#include "model/run.h"
#include "store/bytes.h"
#include "store/chunks.h"
#include "store/db.h"
#include "store/names.h"
#include "store/serving/history.h"
#include "store/session.h"
#include "store/totals.h"
#include "store/transaction.h"

#include <math.h>

static const char wall_time[] = "wall_time";

/* The runs of the benchmark, newest first, with points whose values are still unknown. */
struct runs {
	int64_t *series;
	size_t capacity;
	struct fg_function_trend *trend;
};

static void take_run(const struct fg_query *q, struct runs *runs)
{
	struct fg_function_trend *trend = runs->trend;
	struct fg_function_point *point = NULL;

	trend->points =
		fg_grow(trend->points, &trend->capacity, trend->count + 1, sizeof(*trend->points));
	runs->series =
		fg_grow(runs->series, &runs->capacity, trend->count + 1, sizeof(*runs->series));
	runs->series[trend->count] = fg_column_int(q, 0);
	point = &trend->points[trend->count++];
	*point = (struct fg_function_point){
		.started_ns = fg_column_int(q, 1),
		.commit = fg_arena_strdup(&trend->texts, fg_column_text(q, 3)),
		.self = (double)NAN,
		.inclusive = (double)NAN,
	};
	(void)snprintf(point->run, sizeof(point->run), "%s", fg_column_text(q, 2));
}

static int read_runs(struct fg_store *store, int64_t benchmark, const struct fg_trend_query *query,
		     struct runs *runs, struct fg_error *err)
{
	struct fg_query q;
	int status = FG_OK;

	FG_QUERY_WITH(&q, store->db, FG_SQL_RUNS_OF_BENCHMARK, FG_BIND(benchmark),
		      FG_BIND(query->branch),
		      FG_BIND(query->limit ? (int64_t)query->limit : INT64_MAX),
		      FG_BIND(query->before_ns ? query->before_ns : INT64_MAX));
	while ((status = fg_query_step(&q, err)) > 0)
		take_run(&q, runs);
	fg_query_end(&q);
	return status;
}

/* Reads the function's values from a part of a run's totals. */
static int pick(const struct fg_query *q, uint64_t function, struct fg_function_point *point,
		struct fg_error *err)
{
	struct fg_bytes content = {0};
	size_t size = 0;
	const void *block = fg_column_bytes(q, 2, &size);
	int status = fg_unpack(block, size, FG_MAX_CHUNK_BYTES, &content, err);

	if (status == FG_OK) {
		struct fg_byte_reader reader = {content.data, content.data + content.size, false};

		status = fg_totals_pick(&reader, function, FG_ARM_CANDIDATE, &point->self,
					&point->inclusive, err);
	}
	fg_bytes_release(&content);
	return status;
}

/* A search for one function's values of one measure in a benchmark's totals. */
struct wanted {
	int64_t benchmark;
	int64_t measure;
	uint64_t function;
};

/*
 * Merges the parts with the points: both are in the same order, but runs of other branches have no
 * point.
 */
static int read_part(struct fg_store *store, const struct wanted *wanted, uint64_t part,
		     struct runs *runs, struct fg_error *err)
{
	struct fg_function_trend *trend = runs->trend;
	struct fg_query q;
	size_t at = 0;
	int status = FG_OK;

	FG_QUERY_WITH(&q, store->db, FG_SQL_TOTALS_OF_PART, FG_BIND(wanted->benchmark),
		      FG_BIND(wanted->measure), FG_BIND((int64_t)part),
		      FG_BIND(trend->points[trend->count - 1].started_ns),
		      FG_BIND(trend->points[0].started_ns));
	while ((status = fg_query_step(&q, err)) > 0) {
		const int64_t started_ns = fg_column_int(&q, 0);
		const int64_t series = fg_column_int(&q, 1);

		while (at < trend->count &&
		       (trend->points[at].started_ns > started_ns ||
			(trend->points[at].started_ns == started_ns && runs->series[at] > series)))
			at++;
		if (at == trend->count || runs->series[at] != series ||
		    !isnan(trend->points[at].self))
			continue;
		status = pick(&q, wanted->function, &trend->points[at], err);
		if (status != FG_OK)
			break;
	}
	fg_query_end(&q);
	return status;
}

static bool is_complete(const struct fg_function_trend *trend)
{
	for (size_t i = 0; i < trend->count; i++) {
		if (isnan(trend->points[i].self))
			return false;
	}
	return true;
}

/*
 * Reads the values. Part 0 exists for every profile: if the function's own part is missing, the
 * value is zero.
 */
static int read_values(struct fg_store *store, const struct wanted *wanted, struct runs *runs,
		       struct fg_error *err)
{
	const uint64_t parts[] = {wanted->function / fg_totals_part_size(store), 0};
	int status = FG_OK;

	for (size_t i = 0; i < FG_ARRAY_SIZE(parts) && status == FG_OK; i++) {
		if (runs->trend->points && !is_complete(runs->trend))
			status = read_part(store, wanted, parts[i], runs, err);
	}
	return status;
}

/* Reads all measures with this name: the same name with another unit is another measure. */
static int read_named(struct fg_store *store, int64_t benchmark, const char *measure,
		      uint64_t function, struct runs *runs, struct fg_error *err)
{
	int64_t *ids = NULL;
	size_t capacity = 0;
	size_t count = 0;
	struct fg_query q;
	int status = FG_OK;

	FG_QUERY_WITH(&q, store->db, FG_SQL_MEASURES_NAMED, FG_BIND(measure));
	while ((status = fg_query_step(&q, err)) > 0) {
		FG_APPEND(ids, count, capacity) = fg_column_int(&q, 0);
		if (strcmp(measure, wall_time) != 0)
			runs->trend->unit =
				fg_arena_strdup(&runs->trend->texts, fg_column_text(&q, 1));
	}
	fg_query_end(&q);
	for (size_t i = 0; i < count && status == FG_OK; i++)
		status = read_values(store, &(struct wanted){benchmark, ids[i], function}, runs,
				     err);
	free(ids);
	return status;
}

/* Sorts oldest first and drops runs without a profile. */
static void put_in_order(struct fg_function_trend *trend)
{
	size_t kept = 0;

	for (size_t i = 0; i < trend->count; i++) {
		if (!isnan(trend->points[i].self))
			trend->points[kept++] = trend->points[i];
	}
	trend->count = kept;
	for (size_t i = 0; i < trend->count / 2; i++) {
		const struct fg_function_point point = trend->points[i];

		trend->points[i] = trend->points[trend->count - 1 - i];
		trend->points[trend->count - 1 - i] = point;
	}
}

static int read_points(struct fg_store *store, const struct fg_trend_query *query,
		       struct fg_function_trend *trend, struct fg_error *err)
{
	const bool is_cpu_time = !query->measure || strcmp(query->measure, "cpu_time") == 0;
	struct runs runs = {.trend = trend};
	uint8_t digest[FG_DIGEST_SIZE];
	int64_t function = 0; /* no function has this number */
	int64_t benchmark = 0;
	int status = FG_OK;

	FG_TRY(fg_store_benchmark(store, query->project, query->benchmark, &benchmark, err));
	fg_digest(query->name, query->library ? query->library : "", NULL, digest);
	status = fg_store_look_up(store, FG_SQL_FUNCTION_FIND, digest, &function, err);
	if (status != FG_OK && status != FG_ENOENT)
		return status;
	FG_TRY_OUT(read_runs(store, benchmark, query, &runs, err));
	if (is_cpu_time)
		FG_TRY_OUT(read_values(store, &(struct wanted){benchmark, 0, (uint64_t)function},
				       &runs, err));
	/* Some runs have only wall time, because the sampler's clock measured wall time. */
	if (!is_cpu_time || (!query->measure && !is_complete(trend)))
		status = read_named(store, benchmark, is_cpu_time ? wall_time : query->measure,
				    (uint64_t)function, &runs, err);
out:
	put_in_order(trend);
	free(runs.series);
	return status;
}

/*
 * Reports a function without time in these runs as unknown, because it may belong to another
 * project.
 */
static int check_seen(const struct fg_trend_query *query, const struct fg_function_trend *trend,
		      struct fg_error *err)
{
	for (size_t i = 0; i < trend->count; i++) {
		if (trend->points[i].self > 0 || trend->points[i].inclusive > 0)
			return FG_OK;
	}
	return query->before_ns
		       ? FG_OK
		       : fg_error_set(err, FG_ENOENT,
				      "function '%.100s' was not seen in these runs", query->name);
}

int fg_store_function_trend(struct fg_store *store, const struct fg_trend_query *query,
			    struct fg_function_trend *trend, struct fg_error *err)
{
	struct fg_function_trend found = {0};
	bool mine = false;
	int status = FG_OK;

	FG_TRY(fg_store_view(store, &mine, err));
	status = read_points(store, query, &found, err);
	if (status == FG_OK)
		status = check_seen(query, &found, err);
	fg_store_view_end(store, mine);
	if (status != FG_OK) {
		fg_function_trend_release(&found);
		return status;
	}
	*trend = found;
	return FG_OK;
}

size_t fg_store_own_times(const struct fg_earlier_runs *runs, const char *benchmark,
			  const struct fg_profile_function *function, double *self_ns, size_t room)
{
	const struct fg_trend_query query = {
		.project = runs->baseline->project,
		.benchmark = benchmark,
		.branch = runs->baseline->sides[FG_ARM_CANDIDATE].branch,
		.name = function->name,
		.library = function->library,
		.before_ns = runs->before_ns,
		.limit = room,
	};
	struct fg_function_trend trend = {0};
	size_t count = 0;

	if (fg_store_function_trend(runs->store, &query, &trend, NULL) == FG_OK) {
		for (; count < trend.count; count++)
			self_ns[count] = trend.points[count].self;
	}
	fg_function_trend_release(&trend);
	return count;
}

void fg_function_trend_release(struct fg_function_trend *trend)
{
	fg_arena_release(&trend->texts);
	free(trend->points);
	*trend = (struct fg_function_trend){0};
}
