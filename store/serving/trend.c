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
	DIGEST_BYTES = 16
};

static int nibble(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int find_function(struct fg_store *store, const char *hex, uint64_t *function,
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
		return FG_OK;
	if (status != FG_OK)
		return status;
	*function = (uint64_t)id;
	status = fg_store_function(store, *function, &row, err);
	if (status != FG_OK)
		return status;
	trend->name = fg_xstrdup(row.function.name);
	trend->library = fg_xstrdup(row.function.library);
	return FG_OK;
}

/* The function's values in a run; NaN: no profile. */
struct values {
	double self;
	double inclusive;
};

static int pick(const void *block, size_t size, uint64_t function, struct values *values,
		struct fg_error *err)
{
	struct fg_bytes content = {0};
	int status = fg_unpack(block, size, FG_MAX_CHUNK_BYTES, &content, err);

	if (status == FG_OK) {
		struct fg_byte_reader reader = {content.data, content.data + content.size, false};

		status = fg_totals_pick(&reader, function, FG_ARM_CANDIDATE, &values->self,
					&values->inclusive, err);
	}
	fg_bytes_release(&content);
	return status;
}

/* Where no totals are kept: in a store that `fastgate run` filled. */
static int compute(struct fg_store *store, int64_t series, const char *measure, uint64_t function,
		   struct values *values, struct fg_error *err)
{
	struct fg_totals totals = {0};
	const struct fg_function_total *mine = NULL;
	const int status = fg_store_totals(store, series, measure, &totals, err);

	*values = (struct values){(double)NAN, (double)NAN};
	if (status == FG_OK && totals.count && totals.repetitions[FG_ARM_CANDIDATE]) {
		mine = fg_totals_find(&totals, function);
		*values = (struct values){mine ? mine->self[FG_ARM_CANDIDATE] : 0,
					  mine ? mine->inclusive[FG_ARM_CANDIDATE] : 0};
	}
	fg_totals_release(&totals);
	return status;
}

static void add_point(const struct fg_query *q, const struct values *values,
		      struct fg_function_trend *trend)
{
	struct fg_function_point *point = NULL;

	trend->points =
		fg_grow(trend->points, &trend->capacity, trend->count + 1, sizeof(*trend->points));
	point = &trend->points[trend->count++];
	*point = (struct fg_function_point){
		.started_ns = fg_column_int(q, 1),
		.commit = fg_arena_strdup(&trend->texts, fg_column_text(q, 3)),
		.self = values->self,
		.inclusive = values->inclusive,
	};
	(void)snprintf(point->run, sizeof(point->run), "%s", fg_column_text(q, 2));
}

static int take_row(struct fg_store *store, const struct fg_query *q, uint64_t function,
		    const char *measure, struct fg_function_trend *trend, struct fg_error *err)
{
	struct values values = {0};
	size_t size = 0;
	const void *block = fg_column_bytes(q, 4, &size);
	const int status =
		size ? pick(block, size, function, &values, err)
		     : compute(store, fg_column_int(q, 0), measure, function, &values, err);

	if (status != FG_OK)
		return status;
	if (!isnan(values.self))
		add_point(q, &values, trend);
	return FG_OK;
}

static void reverse(struct fg_function_trend *trend)
{
	for (size_t i = 0; i < trend->count / 2; i++) {
		const struct fg_function_point point = trend->points[i];

		trend->points[i] = trend->points[trend->count - 1 - i];
		trend->points[trend->count - 1 - i] = point;
	}
}

static int read_points(struct fg_store *store, const struct fg_trend_query *query,
		       struct fg_function_trend *trend, struct fg_error *err)
{
	/* The totals of CPU time are those without a measure. */
	const char *measure =
		query->measure && strcmp(query->measure, "cpu_time") != 0 ? query->measure : NULL;
	int64_t benchmark = 0;
	uint64_t function = UINT64_MAX; /* none has this number */
	struct fg_query q;
	int status = fg_store_benchmark(store, query->project, query->benchmark, &benchmark, err);

	if (status != FG_OK)
		return status;
	status = find_function(store, query->function, &function, trend, err);
	if (status != FG_OK)
		return status;
	fg_query_begin(&q, store->db, FG_SQL_FUNCTION_TREND);
	fg_query_int(&q, benchmark);
	fg_query_text(&q, query->branch);
	fg_query_int(&q, query->limit ? (int64_t)query->limit : INT64_MAX);
	fg_query_text(&q, measure);
	fg_query_int(&q, query->before_ns ? query->before_ns : INT64_MAX);
	while ((status = fg_query_step(&q, err)) > 0) {
		status = take_row(store, &q, function, measure, trend, err);
		if (status != FG_OK)
			break;
	}
	fg_query_end(&q);
	reverse(trend);
	return status;
}

/*
 * A function that took no time in these runs is answered like one that no run ever had: it may be
 * another project's.
 */
static int hide_stranger(const struct fg_trend_query *query, struct fg_function_trend *trend,
			 struct fg_error *err)
{
	for (size_t i = 0; i < trend->count; i++) {
		if (trend->points[i].self > 0 || trend->points[i].inclusive > 0)
			return FG_OK;
	}
	if (!query->before_ns)
		return fg_error_set(err, FG_ENOENT, "function %s was not seen in these runs",
				    query->function);
	free(trend->name);
	free(trend->library);
	trend->name = NULL;
	trend->library = NULL;
	return FG_OK;
}

int fg_store_function_trend(struct fg_store *store, const struct fg_trend_query *query,
			    struct fg_function_trend *trend, struct fg_error *err)
{
	struct fg_function_trend found = {0};
	bool mine = false;
	int status = fg_store_view(store, &mine, err);

	if (status == FG_OK)
		status = read_points(store, query, &found, err);
	if (status == FG_OK)
		status = hide_stranger(query, &found, err);
	fg_store_view_end(store, mine);
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
