// SPDX-License-Identifier: Apache-2.0
/* The trend of one function over thousands of runs, from the totals that are kept of each. */
#include "store/serving/trend.h"

#include "base/arena.h"
#include "model/run.h"
#include "store/bytes.h"
#include "store/chunks.h"
#include "store/db.h"
#include "store/functions.h"
#include "store/serving/history.h"
#include "store/serving/sums.h"
#include "store/serving/totals.h"
#include "store/session.h"
#include "store/transaction.h"

#include <math.h>

enum {
	DIGEST_BYTES = 16,
	LATE = 32,      /* runs that may have been stored after newer ones, and */
	LATE_SHARE = 16 /* this part of those asked for */
};

/* The function's values in one series. */
struct traced {
	int64_t series;
	double self;
	double inclusive;
};

struct tracing {
	uint64_t function;
	int64_t benchmark;
	int64_t after;        /* series up to this one are not wanted */
	struct traced *items; /* by series */
	size_t count;
	size_t capacity;
};

static void trace(struct tracing *t, int64_t series, double self, double inclusive)
{
	t->items = fg_grow(t->items, &t->capacity, t->count + 1, sizeof(*t->items));
	t->items[t->count++] = (struct traced){series, self, inclusive};
}

static int by_series(const void *a, const void *b)
{
	const struct traced *x = a;
	const struct traced *y = b;

	return (x->series > y->series) - (x->series < y->series);
}

static int read_block(const struct fg_query *q, int column, struct fg_bytes *content,
		      struct fg_error *err)
{
	size_t size = 0;
	const void *data = fg_column_bytes(q, column, &size);

	return fg_unpack(data, size, FG_MAX_CHUNK_BYTES, content, err);
}

static struct fg_function_point *add_points(struct fg_function_trend *trend, size_t count)
{
	trend->points = fg_grow(trend->points, &trend->capacity, trend->count + count,
				sizeof(*trend->points));
	return trend->points + trend->count;
}

static bool is_wanted(const char *own, size_t length, const char *only)
{
	return !only || (own && strlen(only) == length && strncmp(own, only, length) == 0);
}

/*
 * Read the runs of the series after t->after from the database and join them with t->items, which
 * are sorted by series too.
 */
static int join_runs(struct fg_store *store, const struct tracing *t, const char *branch,
		     struct fg_function_trend *trend, struct fg_error *err)
{
	size_t at = 0;
	struct fg_query q;
	int status = FG_OK;

	fg_query_begin(&q, store->db, FG_SQL_TREND_RUNS);
	fg_query_int(&q, t->benchmark);
	fg_query_int(&q, t->after);
	while ((status = fg_query_step(&q, err)) > 0) {
		const int64_t series = fg_column_int(&q, 0);
		const char *its_branch = fg_column_text(&q, 4);
		struct fg_function_point *point = NULL;

		while (at < t->count && t->items[at].series < series)
			at++;
		if (at == t->count || t->items[at].series > series || isnan(t->items[at].self) ||
		    !is_wanted(its_branch, its_branch ? strlen(its_branch) : 0, branch))
			continue;
		point = add_points(trend, 1);
		trend->count++;
		*point = (struct fg_function_point){
			.started_ns = fg_column_int(&q, 2),
			.commit = fg_arena_strdup(&trend->texts, fg_column_text(&q, 3)),
			.self = t->items[at].self,
			.inclusive = t->items[at].inclusive,
		};
		(void)snprintf(point->run, sizeof(point->run), "%s", fg_column_text(&q, 1));
	}
	fg_query_end(&q);
	return status;
}

static void trace_totals(struct tracing *t, int64_t series, const struct fg_totals *totals)
{
	const struct fg_function_total *mine = fg_totals_find(totals, t->function);

	trace(t, series, mine ? mine->self[FG_ARM_CANDIDATE] : 0,
	      mine ? mine->inclusive[FG_ARM_CANDIDATE] : 0);
}

static int pick(const struct fg_query *q, const struct tracing *t, struct traced *found,
		struct fg_error *err)
{
	struct fg_bytes content = {0};
	int status = read_block(q, 1, &content, err);

	if (status == FG_OK) {
		struct fg_byte_reader reader = {content.data, content.data + content.size, false};

		status = fg_totals_pick(&reader, t->function, FG_ARM_CANDIDATE, &found->self,
					&found->inclusive, err);
	}
	fg_bytes_release(&content);
	return status;
}

static int read_kept_totals(struct fg_store *store, struct tracing *t, const char *measure,
			    struct fg_error *err)
{
	struct fg_query q;
	int status = FG_OK;

	fg_query_begin(&q, store->db,
		       measure                             ? FG_SQL_MEASURE_TOTALS
		       : fg_db_is_url(store->db->location) ? FG_SQL_TAIL_CHUNKS_EACH
							   : FG_SQL_TAIL_CHUNKS);
	fg_query_int(&q, t->benchmark);
	if (measure)
		fg_query_text(&q, measure);
	else
		fg_query_int(&q, t->after);
	while ((status = fg_query_step(&q, err)) > 0) {
		struct traced found = {.series = fg_column_int(&q, 0)};

		status = pick(&q, t, &found, err);
		if (status != FG_OK)
			break;
		trace(t, found.series, found.self, found.inclusive);
	}
	fg_query_end(&q);
	return status;
}

/* The series that have the measure. */
static int list_series(struct fg_store *store, const struct tracing *t, const char *measure,
		       int64_t **series, size_t *count, struct fg_error *err)
{
	size_t capacity = 0;
	struct fg_query q;
	int status = FG_OK;

	fg_query_begin(&q, store->db, measure ? FG_SQL_MEASURE_SERIES : FG_SQL_SERIES_AFTER);
	fg_query_int(&q, t->benchmark);
	if (measure) {
		fg_query_text(&q, measure);
	} else {
		fg_query_int(&q, t->after);
		fg_query_int(&q, INT32_MAX);
	}
	while ((status = fg_query_step(&q, err)) > 0) {
		*series = fg_grow(*series, &capacity, *count + 1, sizeof(**series));
		(*series)[(*count)++] = fg_column_int(&q, 0);
	}
	fg_query_end(&q);
	return status;
}

/* Kept totals are read in one go; the others are computed. */
static int trace_all(struct fg_store *store, struct tracing *t, const char *measure,
		     struct fg_error *err)
{
	int64_t *series = NULL;
	size_t count = 0;
	size_t kept = 0;
	int status = read_kept_totals(store, t, measure, err);

	if (status != FG_OK)
		return status;
	kept = t->count;
	status = list_series(store, t, measure, &series, &count, err);
	for (size_t i = 0; i < count && status == FG_OK; i++) {
		struct fg_totals totals = {0};

		if (kept && bsearch(&(struct traced){.series = series[i]}, t->items, kept,
				    sizeof(*t->items), by_series))
			continue;
		status = fg_store_totals(store, series[i], measure, &totals, err);
		if (status == FG_OK && totals.count && totals.repetitions[FG_ARM_CANDIDATE])
			trace_totals(t, series[i], &totals);
		fg_totals_release(&totals);
	}
	free(series);
	if (t->count > kept)
		qsort(t->items, t->count, sizeof(*t->items), by_series);
	return status;
}

/* At least the newest `limit`: those stored last, and some more, for runs that were late. */
static int find_first(struct fg_store *store, struct tracing *t, size_t limit, struct fg_error *err)
{
	struct fg_query q;
	int status = FG_OK;

	if (!limit)
		return FG_OK;
	fg_query_begin(&q, store->db, FG_SQL_SERIES_BEFORE_NEWEST);
	fg_query_int(&q, t->benchmark);
	fg_query_int(&q, (int64_t)(limit + LATE + limit / LATE_SHARE));
	status = fg_query_value(&q, &t->after, err);
	return status == FG_ENOENT ? FG_OK : status;
}

static int by_time(const void *a, const void *b)
{
	const struct fg_function_point *x = a;
	const struct fg_function_point *y = b;

	if (x->started_ns != y->started_ns)
		return x->started_ns < y->started_ns ? -1 : 1;
	return strcmp(x->run, y->run);
}

/* Runs mostly arrive in order of their start. */
static void sort(struct fg_function_trend *trend)
{
	for (size_t i = 1; i < trend->count; i++) {
		if (by_time(&trend->points[i - 1], &trend->points[i]) > 0) {
			qsort(trend->points, trend->count, sizeof(*trend->points), by_time);
			return;
		}
	}
}

static int nibble(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int find_function(struct fg_store *store, const char *hex, struct tracing *t,
			 struct fg_function_trend *trend, struct fg_error *err)
{
	uint8_t digest[DIGEST_BYTES];
	struct fg_function_row row;
	struct fg_query q;
	int64_t id = 0;
	int status = FG_OK;

	for (size_t i = 0; i < DIGEST_BYTES; i++) {
		const int high = strlen(hex) == 2 * sizeof(digest) ? nibble(hex[2 * i]) : -1;
		const int low = high < 0 ? -1 : nibble(hex[2 * i + 1]);

		if (low < 0)
			return fg_error_set(
				err, FG_EINVAL,
				"'%.40s' does not name a function: expected 32 hexadecimal digits",
				hex);
		digest[i] = (uint8_t)(high * 16 + low);
	}
	fg_query_begin(&q, store->db, FG_SQL_FUNCTION_FIND);
	fg_query_bytes(&q, digest, sizeof(digest));
	status = fg_query_value(&q, &id, err);
	if (status == FG_ENOENT)
		return fg_error_set(err, FG_ENOENT, "function %s was never seen", hex);
	if (status != FG_OK)
		return status;
	t->function = (uint64_t)id;
	status = fg_store_function(store, t->function, &row, err);
	if (status != FG_OK)
		return status;
	trend->name = fg_xstrdup(row.function.name);
	trend->library = fg_xstrdup(row.function.library);
	return FG_OK;
}

static int read_points(struct fg_store *store, struct tracing *t,
		       const struct fg_trend_query *query, struct fg_function_trend *trend,
		       struct fg_error *err)
{
	int status =
		fg_store_benchmark(store, query->project, query->benchmark, &t->benchmark, err);

	if (status != FG_OK)
		return status;
	status = find_function(store, query->function, t, trend, err);
	if (status != FG_OK)
		return status;
	/* Which of them are of the branch is not known yet. */
	status = find_first(store, t, query->branch ? 0 : query->limit, err);
	if (status != FG_OK)
		return status;
	status = trace_all(store, t, query->measure, err);
	return status == FG_OK ? join_runs(store, t, query->branch, trend, err) : status;
}

int fg_store_function_trend(struct fg_store *store, const struct fg_trend_query *query,
			    struct fg_function_trend *trend, struct fg_error *err)
{
	struct fg_trend_query asked = *query;
	struct fg_function_trend found = {0};
	struct tracing t = {0};
	bool mine = false;
	int status = fg_store_view(store, &mine, err);

	if (asked.measure && strcmp(asked.measure, "cpu_time") == 0)
		asked.measure = NULL;
	if (status == FG_OK)
		status = read_points(store, &t, &asked, &found, err);
	fg_store_view_end(store, mine);
	sort(&found);
	free(t.items);
	if (status == FG_OK)
		*trend = found;
	else
		fg_function_trend_release(&found);
	return status;
}

void fg_function_trend_release(struct fg_function_trend *trend)
{
	fg_arena_release(&trend->texts);
	free(trend->points);
	free(trend->name);
	free(trend->library);
	*trend = (struct fg_function_trend){0};
}
