// SPDX-License-Identifier: Apache-2.0
/*
 * The trend of one function over thousands of runs: from tiles (tiles.c), seal by seal; then from
 * the totals of the unsealed series.
 */
#include "store/serving/trend.h"

#include "base/arena.h"
#include "model/run.h"
#include "store/bytes.h"
#include "store/chunks.h"
#include "store/db.h"
#include "store/functions.h"
#include "store/serving/history.h"
#include "store/serving/seals.h"
#include "store/serving/sums.h"
#include "store/serving/tiles.h"
#include "store/serving/totals.h"
#include "store/session.h"
#include "store/transaction.h"

#include <math.h>

enum {
	DIGEST_BYTES = 16
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
	int64_t last_sealed;
	struct traced *items; /* of one seal, then of the unsealed series; sorted by series */
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

/* The function's values in the members of a seal. */
static int read_values(struct tracing *t, const struct fg_seal *seal,
		       const struct fg_member *members, struct fg_error *err)
{
	struct fg_byte_reader values = {seal->values.data, seal->values.data + seal->values.size,
					false};
	int64_t value = 0;

	t->count = 0;
	for (size_t i = 0; i < FG_TILE_MEMBERS; i++)
		trace(t, members[i].series, 0, 0);
	for (size_t i = 0; i < FG_TILE_MEMBERS && seal->values.size; i++) {
		value += fg_read_signed(&values);
		t->items[i].self = (double)value * FG_TILE_STEP_NS;
	}
	value = 0;
	for (size_t i = 0; i < FG_TILE_MEMBERS && seal->values.size; i++) {
		value += fg_read_signed(&values);
		t->items[i].inclusive = (double)value * FG_TILE_STEP_NS;
	}
	return values.failed ? fg_error_set(err, FG_EPARSE, "a tile is damaged") : FG_OK;
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

static void take_members(const struct tracing *t, const struct fg_member *members,
			 const char *branch, struct fg_function_trend *trend)
{
	struct fg_function_point *points = add_points(trend, FG_TILE_MEMBERS);
	size_t kept = 0;

	for (size_t i = 0; i < FG_TILE_MEMBERS; i++) {
		const struct fg_member *m = &members[i];
		struct fg_function_point *point = &points[kept];

		if (!m->is_profiled || !is_wanted(m->branch.at, m->branch.length, branch))
			continue;
		*point = (struct fg_function_point){
			.started_ns = m->started_ns,
			.commit = fg_member_copy(&trend->texts, &m->commit, NULL),
			.self = t->items[i].self,
			.inclusive = t->items[i].inclusive};
		(void)snprintf(point->run, sizeof(point->run), "%.*s", (int)m->run.length,
			       m->run.at ? m->run.at : "");
		kept++;
	}
	trend->count += kept;
}

/*
 * Read the runs of the series in (range[0], range[1]] from the database and join them with
 * t->items, which are sorted by series too.
 */
static int join_runs(struct fg_store *store, const struct tracing *t, const int64_t range[2],
		     const char *branch, struct fg_function_trend *trend, struct fg_error *err)
{
	size_t at = 0;
	struct fg_query q;
	int status = FG_OK;

	fg_query_begin(&q, store->db, FG_SQL_TREND_RUNS);
	fg_query_int(&q, t->benchmark);
	fg_query_int(&q, range[0]);
	fg_query_int(&q, range[1]);
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

/* The walk through the seals. */
struct sealed_trend {
	struct fg_store *store;
	struct tracing *t;
	const char *branch;
	struct fg_function_trend *trend;
};

/*
 * If members were deleted, or an older server sealed them without their runs, ask the database
 * which runs exist.
 */
static int take_seal(void *context, const struct fg_seal *seal, struct fg_error *err)
{
	const struct sealed_trend *s = context;
	struct fg_member members[FG_TILE_MEMBERS];
	enum fg_seal_heads heads = FG_SEAL_NUMBERS;
	int status = fg_seal_members(seal, members, &heads, err);

	if (status != FG_OK)
		return status;
	status = read_values(s->t, seal, members, err);
	if (status != FG_OK)
		return status;
	s->trend->from_tiles += FG_TILE_MEMBERS;
	if (heads == FG_SEAL_NUMBERS || seal->alive != FG_TILE_MEMBERS)
		return join_runs(s->store, s->t, (const int64_t[2]){seal->after, seal->last},
				 s->branch, s->trend, err);
	take_members(s->t, members, s->branch, s->trend);
	return FG_OK;
}

static size_t count_points(void *context, size_t limit, int64_t *since_ns)
{
	const struct sealed_trend *s = context;
	const size_t count = s->trend->count;
	int64_t *starts_ns = NULL;

	if (count < limit)
		return count;
	starts_ns = fg_xmalloc(count * sizeof(*starts_ns));
	for (size_t i = 0; i < count; i++)
		starts_ns[i] = s->trend->points[i].started_ns;
	*since_ns = fg_newest_since(starts_ns, count, limit);
	free(starts_ns);
	return count;
}

/* One unsealed series. */
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

		status = (fg_column_int(q, 2) == FG_CHUNK_TOTALS
				  ? fg_totals_pick
				  : fg_totals_part_pick)(&reader, t->function, FG_ARM_CANDIDATE,
							 &found->self, &found->inclusive, err);
	}
	fg_bytes_release(&content);
	return status;
}

/* Kept totals of the series that are in no tile. */
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
		fg_query_int(&q, t->last_sealed);
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

/* The series that have the measure and are in no tile. */
static int list_tail(struct fg_store *store, const struct tracing *t, const char *measure,
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
		fg_query_int(&q, t->last_sealed);
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
static int trace_tail(struct fg_store *store, struct tracing *t, const char *measure,
		      struct fg_error *err)
{
	int64_t *series = NULL;
	size_t count = 0;
	size_t kept = 0;
	int status = read_kept_totals(store, t, measure, err);

	if (status != FG_OK)
		return status;
	kept = t->count;
	status = list_tail(store, t, measure, &series, &count, err);
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

static int read_tail(struct fg_store *store, struct tracing *t, const struct fg_trend_query *query,
		     struct fg_function_trend *trend, struct fg_error *err)
{
	int status = FG_OK;

	t->count = 0;
	status = trace_tail(store, t, query->measure, err);
	if (status != FG_OK)
		return status;
	return join_runs(store, t, (const int64_t[2]){t->last_sealed, INT64_MAX}, query->branch,
			 trend, err);
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

/* What is not sealed comes first: then it is known how many of the others are wanted. */
static int read_time(struct fg_store *store, struct tracing *t, const struct fg_trend_query *query,
		     struct fg_function_trend *trend, struct fg_error *err)
{
	struct sealed_trend sealed = {store, t, query->branch, trend};
	const struct fg_seal_walk walk = {.benchmark = t->benchmark,
					  .key = (int64_t)t->function,
					  .limit = query->limit,
					  .context = &sealed,
					  .count = count_points,
					  .take = take_seal};
	struct fg_seals seals = {0};
	size_t unsealed = 0;
	int status = fg_seals_list(store, t->benchmark, &seals, err);

	if (status != FG_OK)
		goto out;
	t->last_sealed = seals.count ? seals.items[seals.count - 1].last : 0;
	status = read_tail(store, t, query, trend, err);
	unsealed = trend->count;
	if (status == FG_OK)
		status = fg_seals_walk(store, &walk, &seals, err);
	fg_put_head_last(trend->points, sizeof(*trend->points), unsealed, trend->count);
out:
	fg_seals_release(&seals);
	return status;
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
	return query->measure ? read_tail(store, t, query, trend, err)
			      : read_time(store, t, query, trend, err);
}

int fg_store_function_trend(struct fg_store *store, const struct fg_trend_query *query,
			    struct fg_function_trend *trend, struct fg_error *err)
{
	struct fg_trend_query asked = *query;
	struct fg_function_trend found = {0};
	struct tracing t = {0};
	bool mine = false;
	int status = fg_store_view(store, &mine, err);

	/* Tiles hold time. */
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
