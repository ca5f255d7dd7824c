// SPDX-License-Identifier: Apache-2.0
/* The history of a metric, by the rows of `level`. */
#include "store/serving/history.h"

#include "base/json.h"
#include "model/metric.h"
#include "model/run.h"
#include "store/chunks.h"
#include "store/db.h"
#include "store/levels.h"
#include "store/names.h"
#include "store/session.h"
#include "store/transaction.h"
#include "store/values.h"

enum {
	LATE = 32,      /* runs that may have been stored after newer ones, and */
	LATE_SHARE = 16 /* this part of those asked for */
};

static const char *copy_of(struct fg_arena *arena, const struct fg_query *q, int column,
			   const char *last)
{
	const char *text = fg_column_text(q, column);

	return text && last && strcmp(text, last) == 0 ? last : fg_arena_strdup(arena, text);
}

/* Most runs have these in common with the one before. */
struct last_texts {
	const char *branch;
	const char *fingerprint;
	const char *outcome;
};

static struct last_texts last_of(const struct fg_history *history)
{
	const struct fg_history_point *last = NULL;

	if (history->count == 0)
		return (struct last_texts){0};
	last = &history->points[history->count - 1];
	return (struct last_texts){last->branch, last->fingerprint, last->outcome};
}

static struct fg_history_point *add_points(struct fg_history *history, size_t count)
{
	history->points = fg_grow(history->points, &history->capacity, history->count + count,
				  sizeof(*history->points));
	return history->points + history->count;
}

/* The row's columns from `first` on. */
static void take_point(const struct fg_query *q, int first, struct fg_history *history)
{
	const struct last_texts last = last_of(history);
	struct fg_history_point *point = add_points(history, 1);

	history->count++;
	*point = (struct fg_history_point){
		.started_ns = fg_column_int(q, first + 1),
		.commit = copy_of(&history->texts, q, first + 2, NULL),
		.branch = copy_of(&history->texts, q, first + 3, last.branch),
		.fingerprint = copy_of(&history->texts, q, first + 4, last.fingerprint),
		.dirty = fg_column_int(q, first + 5) != 0,
		.complete = fg_column_int(q, first + 6) != 0,
		.pairs = (unsigned)fg_column_int(q, first + 7),
		.baseline = fg_column_double(q, first + 8),
		.candidate = fg_column_double(q, first + 9),
		.ratio = fg_column_double(q, first + 10),
		.low = fg_column_double(q, first + 11),
		.high = fg_column_double(q, first + 12),
		.outcome = copy_of(&history->texts, q, first + 13, last.outcome),
		.tag = copy_of(&history->texts, q, first + 14, NULL),
	};
	(void)snprintf(point->run, sizeof(point->run), "%s", fg_column_text(q, first));
}

/* Unit and direction of a metric, by the definitions of a run. */
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

/* As the newest run of the benchmark knows it. */
static int read_metric(struct fg_store *store, int64_t benchmark, const char *metric,
		       struct fg_history *history, struct fg_error *err)
{
	struct fg_query q;
	int status = FG_OK;

	fg_query_begin(&q, store->db, FG_SQL_NEWEST_METRICS);
	fg_query_int(&q, benchmark);
	status = fg_query_step(&q, err);
	if (status >= 0)
		status = take_metric(status > 0 ? fg_column_text(&q, 0) : NULL, metric, history,
				     err);
	fg_query_end(&q);
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

/* Runs mostly arrive in the order of their start. */
static void sort(struct fg_history *history)
{
	for (size_t i = 1; i < history->count; i++) {
		if (by_start(&history->points[i - 1], &history->points[i]) > 0) {
			qsort(history->points, history->count, sizeof(*history->points), by_start);
			return;
		}
	}
}

/* Keeps the newest `count`. */
static void cut(struct fg_history *history, size_t count)
{
	const size_t drop = history->count > count ? history->count - count : 0;

	if (!drop)
		return;
	memmove(history->points, history->points + drop,
		(history->count - drop) * sizeof(*history->points));
	history->count -= drop;
}

static void reverse(struct fg_history *history)
{
	for (size_t i = 0; i < history->count / 2; i++) {
		const struct fg_history_point point = history->points[i];

		history->points[i] = history->points[history->count - 1 - i];
		history->points[history->count - 1 - i] = point;
	}
}

/* Nothing but unit and direction is left. */
static void empty(struct fg_history *history)
{
	free(history->points);
	fg_arena_release(&history->texts);
	history->points = NULL;
	history->count = 0;
	history->capacity = 0;
}

/* The history that is read. */
struct place {
	int64_t benchmark;
	int64_t metric;
	const char *branch;
	size_t limit;
};

/* What was stored last, newest first, and how far back that goes. */
struct newest {
	struct fg_history *history;
	size_t most; /* runs that are read at most */
	size_t read;
	/*
	 * the newest of the LATE runs that were stored first: whatever was not read was stored
	 * before it, also if one of them replaced an older run of its id
	 */
	int64_t first_run;
	int64_t project;
};

static size_t most_of(size_t limit)
{
	return limit + LATE + limit / LATE_SHARE;
}

static void take_newest(const struct fg_query *q, int first, struct newest *newest)
{
	const int64_t run = fg_column_int(q, first + 15);

	take_point(q, first, newest->history);
	if (++newest->read + LATE > newest->most && run > newest->first_run)
		newest->first_run = run;
	newest->project = fg_column_int(q, first + 16);
}

static int read_last_stored(struct fg_store *store, const struct place *place,
			    struct newest *newest, struct fg_error *err)
{
	struct fg_query q;
	int status = FG_OK;

	fg_query_begin(&q, store->db, FG_SQL_HISTORY_NEWEST);
	fg_query_int(&q, place->benchmark);
	fg_query_int(&q, place->metric);
	fg_query_text(&q, place->branch);
	fg_query_int(&q, (int64_t)newest->most);
	while ((status = fg_query_step(&q, err)) > 0)
		take_newest(&q, 0, newest);
	fg_query_end(&q);
	return status;
}

/* There may be more. */
static bool is_full(const struct newest *newest)
{
	return newest->read == newest->most;
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

static void put_in_order(struct fg_history *history, size_t limit)
{
	reverse(history);
	sort(history);
	cut(history, limit);
}

/*
 * Runs are mostly stored in the order in which they started.  So the newest ones are among those
 * stored last, a few more than asked for; if not, *missed.
 */
static int read_newest(struct fg_store *store, const struct place *place,
		       struct fg_history *history, bool *missed, struct fg_error *err)
{
	struct newest newest = {.history = history, .most = most_of(place->limit)};
	int status = read_last_stored(store, place, &newest, err);

	*missed = false;
	if (status != FG_OK)
		return status;
	put_in_order(history, place->limit);
	if (is_full(&newest) && history->count > 0)
		status = has_missed(store, &newest, history->points[0].started_ns, missed, err);
	return status;
}

static int read_all(struct fg_store *store, const struct place *place, struct fg_history *history,
		    struct fg_error *err)
{
	struct fg_query q;
	int status = FG_OK;

	fg_query_begin(&q, store->db, FG_SQL_HISTORY_ALL);
	fg_query_int(&q, place->benchmark);
	fg_query_int(&q, place->metric);
	fg_query_text(&q, place->branch);
	while ((status = fg_query_step(&q, err)) > 0)
		take_point(&q, 0, history);
	fg_query_end(&q);
	sort(history);
	if (place->limit)
		cut(history, place->limit);
	return status;
}

static int read_history(struct fg_store *store, const struct place *place,
			struct fg_history *history, struct fg_error *err)
{
	bool missed = true;
	int status = FG_OK;

	if (place->limit)
		status = read_newest(store, place, history, &missed, err);
	if (status != FG_OK || !missed)
		return status;
	empty(history);
	return read_all(store, place, history, err);
}

static int find_metric(struct fg_store *store, const char *name, int64_t *id, struct fg_error *err)
{
	uint8_t digest[16];
	struct fg_query q;

	fg_digest(name, NULL, NULL, digest);
	fg_query_begin(&q, store->db, FG_SQL_WORDS_FIND);
	fg_query_bytes(&q, digest, sizeof(digest));
	return fg_query_value(&q, id, err);
}

int fg_store_history(struct fg_store *store, const struct fg_history_query *query,
		     struct fg_history *history, struct fg_error *err)
{
	struct place place = {.branch = query->branch, .limit = query->limit};
	struct fg_history found = {0};
	int status =
		fg_store_benchmark(store, query->project, query->benchmark, &place.benchmark, err);

	if (status != FG_OK)
		return status;
	status = find_metric(store, query->metric, &place.metric, err);
	if (status == FG_ENOENT)
		return fg_error_set(err, FG_ENOENT,
				    "no metric '%s' was ever stored for benchmark '%s'",
				    query->metric, query->benchmark);
	if (status != FG_OK)
		return status;
	status = read_metric(store, place.benchmark, query->metric, &found, err);
	if (status == FG_OK)
		status = read_history(store, &place, &found, err);
	if (status == FG_OK)
		*history = found;
	else
		fg_history_release(&found);
	return status;
}

void fg_history_release(struct fg_history *history)
{
	empty(history);
	free(history->unit);
	*history = (struct fg_history){0};
}

/* One metric's newest runs of several benchmarks, which were read together. */
struct gathering {
	struct fg_store *store;
	int64_t metric;
	size_t limit;
	struct fg_history_wish **wishes; /* by benchmark */
	struct newest *newest;
	size_t count;
};

static int by_benchmark(const void *a, const void *b)
{
	const struct fg_history_wish *const *x = a;
	const struct fg_history_wish *const *y = b;

	return ((*x)->benchmark > (*y)->benchmark) - ((*x)->benchmark < (*y)->benchmark);
}

static int gather_rows(struct gathering *g, const char *project, struct fg_error *err)
{
	size_t at = 0;
	struct fg_query q;
	int status = FG_OK;

	fg_query_begin(&q, g->store->db, FG_SQL_OVERVIEW_LEVELS);
	fg_query_text(&q, project);
	fg_query_int(&q, g->metric);
	fg_query_int(&q, (int64_t)most_of(g->limit));
	while ((status = fg_query_step(&q, err)) > 0) {
		const int64_t benchmark = fg_column_int(&q, 0);

		while (at < g->count && g->wishes[at]->benchmark < benchmark)
			at++;
		if (at < g->count && g->wishes[at]->benchmark == benchmark)
			take_newest(&q, 1, &g->newest[at]);
	}
	fg_query_end(&q);
	return status;
}

/* Asks for all at once whether rows that were not read have newer runs. */
static int find_missed(struct gathering *g, int64_t *missed, struct fg_error *err)
{
	struct fg_arena arena = {0};
	int64_t *projects = fg_arena_array(&arena, g->count, sizeof(*projects));
	int64_t *starts_ns = fg_arena_array(&arena, g->count, sizeof(*starts_ns));
	int64_t *first_runs = fg_arena_array(&arena, g->count, sizeof(*first_runs));
	int64_t *runs = fg_arena_array(&arena, g->count, sizeof(*runs));
	size_t *places = fg_arena_array(&arena, g->count, sizeof(*places));
	struct fg_rows rows = {
		.columns = {{.numbers = projects}, {.numbers = starts_ns}, {.numbers = first_runs}},
		.column_count = 3};
	int status = FG_OK;

	for (size_t i = 0; i < g->count; i++) {
		if (!is_full(&g->newest[i]))
			continue;
		projects[rows.count] = g->newest[i].project;
		starts_ns[rows.count] = g->newest[i].history->points[0].started_ns;
		first_runs[rows.count] = g->newest[i].first_run;
		places[rows.count++] = i;
	}
	if (rows.count)
		status = fg_query_rows(g->store->db, FG_SQL_HISTORY_MISSED, &rows, runs, err);
	for (size_t i = 0; i < rows.count && status == FG_OK; i++)
		missed[places[i]] = runs[i];
	fg_arena_release(&arena);
	return status;
}

static int read_again(struct gathering *g, const struct fg_history_wish *wish, struct fg_error *err)
{
	const struct place place = {
		.benchmark = wish->benchmark, .metric = g->metric, .limit = g->limit};

	empty(wish->history);
	return read_history(g->store, &place, wish->history, err);
}

static int gather(struct gathering *g, const char *project, struct fg_error *err)
{
	struct fg_arena arena = {0};
	int64_t *missed = fg_arena_array(&arena, g->count, sizeof(*missed));
	int status = FG_OK;

	g->newest = fg_arena_array(&arena, g->count, sizeof(*g->newest));
	for (size_t i = 0; i < g->count; i++)
		g->newest[i] = (struct newest){.history = g->wishes[i]->history,
					       .most = most_of(g->limit)};
	status = gather_rows(g, project, err);
	for (size_t i = 0; i < g->count; i++)
		put_in_order(g->wishes[i]->history, g->limit);
	if (status == FG_OK)
		status = find_missed(g, missed, err);
	for (size_t i = 0; i < g->count && status == FG_OK; i++) {
		if (missed[i])
			status = read_again(g, g->wishes[i], err);
	}
	fg_arena_release(&arena);
	return status;
}

/* Reads the histories of the benchmarks whose story this metric tells. */
static int read_wishes_of(struct gathering *g, const char *metric, const char *project,
			  struct fg_error *err)
{
	int status = find_metric(g->store, metric, &g->metric, err);

	/* It never came to a value. */
	if (status != FG_OK)
		return status == FG_ENOENT ? FG_OK : status;
	/* One statement that asks for each benchmark in turn is what SQLite does not know. */
	if (fg_db_is_url(g->store->db->location))
		return gather(g, project, err);
	for (size_t i = 0; i < g->count && status == FG_OK; i++)
		status = read_again(g, g->wishes[i], err);
	return status;
}

int fg_store_histories(struct fg_store *store, const char *project, size_t limit,
		       struct fg_history_wish *wishes, size_t count, struct fg_error *err)
{
	struct gathering g = {.store = store, .limit = limit};
	bool *done = fg_xcalloc(count + 1, sizeof(*done));
	int status = FG_OK;

	g.wishes = fg_xcalloc(count + 1, sizeof(struct fg_history_wish *));
	for (size_t i = 0; i < count && status == FG_OK; i++)
		status = take_metric(wishes[i].metrics, wishes[i].metric, wishes[i].history, err);
	for (size_t i = 0; i < count && status == FG_OK; i++) {
		g.count = 0;
		for (size_t k = i; k < count && !done[i]; k++) {
			if (done[k] || strcmp(wishes[k].metric, wishes[i].metric) != 0)
				continue;
			g.wishes[g.count++] = &wishes[k];
			done[k] = k != i;
		}
		if (g.count == 0)
			continue;
		qsort(g.wishes, g.count, sizeof(struct fg_history_wish *), by_benchmark);
		status = read_wishes_of(&g, wishes[i].metric, project, err);
	}
	free(g.wishes);
	free(done);
	return status;
}
