// SPDX-License-Identifier: Apache-2.0
/*
 * The trend of one function over thousands of runs.
 *
 * In a server's store each series keeps the totals of all its functions in one chunk: right for comparing two runs, wrong for
 * following one function, which would open every chunk there is.  So every 256 series of a benchmark, once there are that many, are
 * turned around: one small blob per function with its values in all 256.  A trend then reads one row per tile, and the
 * chunks of at most 255 series that are not sealed yet.
 *
 * Sealing is for a background thread: it writes some thousand rows, which nobody who uploads should have to wait for.
 * Runs that are deleted later simply no longer join; runs that are saved again get a new series, behind the seal.
 *
 * A tile's blob: for each member, self and inclusive time in tenths of a microsecond, each as the difference from the
 * member before.
 */
#include "store/query.h"
#include "store/store_private.h"

#include <math.h>

enum {
	TILE_MEMBERS = 256,
	STEP_NS = 100,
	TILE_LEVEL = 3,
	DIGEST_BYTES = 16
};

struct tile {
	uint64_t function;
	double self[TILE_MEMBERS];
	double inclusive[TILE_MEMBERS];
};

struct sealing {
	int64_t benchmark;
	int64_t number;
	int64_t members[TILE_MEMBERS];
	size_t count;
	struct fg_map index; /* function → tile */
	struct tile **tiles;
	size_t tile_count;
	size_t capacity;
	size_t at; /* member that is being read */
};

static struct tile *tile_of(struct sealing *s, uint64_t function)
{
	bool is_new = false;
	const uint64_t *place =
		fg_map_add(&s->index, &function, sizeof(function), s->tile_count, &is_new);

	if (is_new) {
		s->tiles =
			fg_grow(s->tiles, &s->capacity, s->tile_count + 1, sizeof(struct tile *));
		s->tiles[s->tile_count] = fg_xcalloc(1, sizeof(struct tile));
		s->tiles[s->tile_count++]->function = function;
	}
	return s->tiles[*place];
}

static void take_member(struct sealing *s, const struct fg_totals *totals)
{
	for (size_t i = 0; i < totals->count; i++) {
		struct tile *tile = tile_of(s, totals->items[i].id);

		tile->self[s->at] = totals->items[i].self_ns[FG_ARM_CANDIDATE];
		tile->inclusive[s->at] = totals->items[i].inclusive_ns[FG_ARM_CANDIDATE];
	}
}

static void write_values(const double *values, size_t count, struct fg_bytes *bytes)
{
	int64_t before = 0;

	for (size_t i = 0; i < count; i++) {
		const int64_t value = llround(values[i] / STEP_NS);

		fg_bytes_signed(bytes, value - before);
		before = value;
	}
}

static int write_tile(struct fg_store *store, const struct sealing *s, const struct tile *tile,
		      struct fg_error *err)
{
	struct fg_bytes content = {0};
	struct fg_bytes block = {0};
	struct fg_query q;
	int status = FG_OK;

	write_values(tile->self, s->count, &content);
	write_values(tile->inclusive, s->count, &content);
	status = fg_seal(content.data, content.size, TILE_LEVEL, &block, err);
	if (status == FG_OK) {
		fg_query_begin(&q, store->db, FG_SQL_TILE_ADD);
		fg_query_int(&q, s->benchmark);
		fg_query_int(&q, (int64_t)tile->function);
		fg_query_int(&q, s->number);
		fg_query_bytes(&q, block.data, block.size);
		status = fg_query_run(&q, err);
	}
	fg_bytes_release(&block);
	fg_bytes_release(&content);
	return status;
}

static int write_seal(struct fg_store *store, const struct sealing *s, struct fg_error *err)
{
	struct fg_bytes content = {0};
	struct fg_bytes block = {0};
	struct fg_query q;
	int64_t before = 0;
	int status = FG_OK;

	for (size_t i = 0; i < s->count; i++) {
		fg_bytes_signed(&content, s->members[i] - before);
		before = s->members[i];
	}
	status = fg_seal(content.data, content.size, TILE_LEVEL, &block, err);
	if (status == FG_OK) {
		fg_query_begin(&q, store->db, FG_SQL_SEAL_ADD);
		fg_query_int(&q, s->benchmark);
		fg_query_int(&q, s->number);
		fg_query_int(&q, s->members[s->count - 1]);
		fg_query_bytes(&q, block.data, block.size);
		status = fg_query_run(&q, err);
	}
	fg_bytes_release(&block);
	fg_bytes_release(&content);
	return status;
}

/*
 * A tile has the totals of its series; what else asks for them (a comparison) can compute them from the rows.  They would be
 * three tenths of what a run takes on the disk.
 */
static int drop_totals(struct fg_store *store, const struct sealing *s, struct fg_error *err)
{
	int status = FG_OK;

	for (size_t i = 0; i < s->count && status == FG_OK; i++) {
		struct fg_query q;

		fg_query_begin(&q, store->db, FG_SQL_TOTALS_DROP);
		fg_query_int(&q, s->members[i]);
		status = fg_query_run(&q, err);
	}
	return status;
}

static int last_seal(struct fg_store *store, int64_t benchmark, int64_t *number, int64_t *series,
		     struct fg_error *err)
{
	struct fg_query q;
	int status = FG_OK;

	*number = 0;
	*series = 0;
	fg_query_begin(&q, store->db, FG_SQL_SEAL_LAST);
	fg_query_int(&q, benchmark);
	status = fg_query_step(&q, err);
	if (status > 0) {
		*number = fg_column_int(&q, 0) + 1;
		*series = fg_column_int(&q, 1);
		status = FG_OK;
	}
	fg_query_end(&q);
	return status;
}

static int read_members(struct fg_store *store, struct sealing *s, struct fg_error *err)
{
	int64_t after = 0;
	struct fg_query q;
	int status = last_seal(store, s->benchmark, &s->number, &after, err);

	if (status != FG_OK)
		return status;
	fg_query_begin(&q, store->db, FG_SQL_SERIES_AFTER);
	fg_query_int(&q, s->benchmark);
	fg_query_int(&q, after);
	fg_query_int(&q, TILE_MEMBERS);
	while ((status = fg_query_step(&q, err)) > 0 && s->count < TILE_MEMBERS)
		s->members[s->count++] = fg_column_int(&q, 0);
	fg_query_end(&q);
	for (s->at = 0; s->at < s->count && status >= FG_OK; s->at++) {
		struct fg_totals totals = {0};

		status = fg__store_totals(store, s->members[s->at], &totals, err);
		if (status == FG_OK)
			take_member(s, &totals);
		fg_totals_release(&totals);
	}
	return status > 0 ? FG_OK : status;
}

static int seal_benchmark(struct fg_store *store, int64_t benchmark, size_t *sealed,
			  struct fg_error *err)
{
	struct sealing s = {.benchmark = benchmark};
	int status = read_members(store, &s, err);

	/* Reading took its time; the writing is one short transaction. */
	if (status == FG_OK && s.count == TILE_MEMBERS) {
		status = fg__store_begin(store, err);
		for (size_t i = 0; i < s.tile_count && status == FG_OK; i++)
			status = write_tile(store, &s, s.tiles[i], err);
		if (status == FG_OK)
			status = write_seal(store, &s, err);
		if (status == FG_OK)
			status = drop_totals(store, &s, err);
		status = fg__store_end(store, status, err);
		if (status == FG_OK)
			*sealed += s.tile_count;
	}
	for (size_t i = 0; i < s.tile_count; i++)
		free(s.tiles[i]);
	free(s.tiles);
	fg_map_release(&s.index);
	return status;
}

int fg_store_seal(struct fg_store *store, size_t *sealed, struct fg_error *err)
{
	int64_t *benchmarks = NULL;
	size_t count = 0;
	size_t capacity = 0;
	struct fg_query q;
	int status = FG_OK;

	*sealed = 0;
	fg_query_begin(&q, store->db, FG_SQL_SEAL_CANDIDATES);
	fg_query_int(&q, TILE_MEMBERS);
	while ((status = fg_query_step(&q, err)) > 0) {
		benchmarks = fg_grow(benchmarks, &capacity, count + 1, sizeof(*benchmarks));
		benchmarks[count++] = fg_column_int(&q, 0);
	}
	fg_query_end(&q);
	for (size_t i = 0; i < count && status == FG_OK; i++)
		status = seal_benchmark(store, benchmarks[i], sealed, err);
	free(benchmarks);
	return status;
}

/* What one series says of the function. */
struct traced {
	int64_t series;
	double self_ns;
	double inclusive_ns;
};

/* Values by series, from wherever they lie. */
struct tracing {
	uint64_t function;
	int64_t benchmark;
	struct traced *items; /* by series, once all have been read */
	size_t count;
	size_t capacity;
	size_t from_tiles;
	int64_t last_sealed;
};

static void trace(struct tracing *t, int64_t series, double self_ns, double inclusive_ns)
{
	t->items = fg_grow(t->items, &t->capacity, t->count + 1, sizeof(*t->items));
	t->items[t->count++] = (struct traced){series, self_ns, inclusive_ns};
}

static int by_series(const void *a, const void *b)
{
	const struct traced *x = a;
	const struct traced *y = b;

	return (x->series > y->series) - (x->series < y->series);
}

static int read_tile(struct tracing *t, const struct fg_bytes *members, const struct fg_bytes *tile,
		     struct fg_error *err)
{
	struct fg_byte_reader names = {members->data, members->data + members->size, false};
	struct fg_byte_reader values = {tile->data, tile->data + tile->size, false};
	double self[TILE_MEMBERS] = {0};
	int64_t value = 0;
	int64_t series = 0;

	for (size_t i = 0; i < TILE_MEMBERS && tile->size; i++) {
		value += fg_read_signed(&values);
		self[i] = (double)value * STEP_NS;
	}
	value = 0;
	for (size_t i = 0; i < TILE_MEMBERS; i++) {
		series += fg_read_signed(&names);
		if (tile->size)
			value += fg_read_signed(&values);
		trace(t, series, self[i], (double)value * STEP_NS);
		t->from_tiles++;
	}
	if (names.failed || values.failed)
		return fg_error_set(err, FG_EPARSE, "a tile is damaged");
	return FG_OK;
}

struct sealed_rows {
	struct fg_map numbers; /* tile number → place */
	struct fg_bytes *items;
	size_t count;
	size_t capacity;
};

static void release_rows(struct sealed_rows *rows)
{
	for (size_t i = 0; i < rows->count; i++)
		fg_bytes_release(&rows->items[i]);
	free(rows->items);
	fg_map_release(&rows->numbers);
}

static int collect(struct fg_query *q, int column, struct sealed_rows *rows, struct tracing *t,
		   struct fg_error *err)
{
	int status = FG_OK;

	while ((status = fg_query_step(q, err)) > 0) {
		const int64_t number = fg_column_int(q, 0);
		size_t size = 0;
		const void *data = fg_column_bytes(q, column, &size);
		struct fg_bytes content = {0};

		if (column == 2)
			t->last_sealed = fg_column_int(q, 1);
		status = fg_unseal(data, size, FG_MAX_CHUNK_BYTES, &content, err);
		if (status != FG_OK)
			break;
		(void)fg_map_add(&rows->numbers, &number, sizeof(number), rows->count, NULL);
		rows->items = fg_grow(rows->items, &rows->capacity, rows->count + 1,
				      sizeof(*rows->items));
		rows->items[rows->count++] = content;
	}
	fg_query_end(q);
	return status;
}

static int read_sealed(struct fg_store *store, struct tracing *t, struct fg_error *err)
{
	struct sealed_rows seals = {0};
	struct sealed_rows tiles = {0};
	const struct fg_bytes none = {0};
	struct fg_query q;
	int status = FG_OK;

	fg_query_begin(&q, store->db, FG_SQL_SEALS);
	fg_query_int(&q, t->benchmark);
	status = collect(&q, 2, &seals, t, err);
	if (status == FG_OK) {
		fg_query_begin(&q, store->db, FG_SQL_TILES);
		fg_query_int(&q, t->benchmark);
		fg_query_int(&q, (int64_t)t->function);
		status = collect(&q, 1, &tiles, t, err);
	}
	for (size_t i = 0; i < seals.count && status == FG_OK; i++) {
		const uint64_t *place =
			fg_map_get(&tiles.numbers, seals.numbers.entries[i].key, sizeof(int64_t));

		status = read_tile(t, &seals.items[i],
				   place && tiles.items ? &tiles.items[*place] : &none, err);
	}
	release_rows(&seals);
	release_rows(&tiles);
	return status;
}

/* One series that is not sealed. */
static void trace_totals(struct tracing *t, int64_t series, const struct fg_totals *totals)
{
	const struct fg_function_total *mine = fg_totals_find(totals, t->function);

	trace(t, series, mine ? mine->self_ns[FG_ARM_CANDIDATE] : 0,
	      mine ? mine->inclusive_ns[FG_ARM_CANDIDATE] : 0);
}

static int read_kept_totals(struct fg_store *store, struct tracing *t, struct fg_error *err)
{
	struct fg_query q;
	int status = FG_OK;

	fg_query_begin(&q, store->db, FG_SQL_TAIL_CHUNKS);
	fg_query_int(&q, t->benchmark);
	fg_query_int(&q, t->last_sealed);
	while ((status = fg_query_step(&q, err)) > 0) {
		size_t size = 0;
		const void *data = fg_column_bytes(&q, 1, &size);
		struct fg_bytes content = {0};
		double self_ns = 0;
		double inclusive_ns = 0;

		status = fg_unseal(data, size, FG_MAX_CHUNK_BYTES, &content, err);
		if (status == FG_OK) {
			struct fg_byte_reader reader = {content.data, content.data + content.size,
							false};

			status = fg_totals_pick(&reader, t->function, FG_ARM_CANDIDATE, &self_ns,
						&inclusive_ns, err);
		}
		fg_bytes_release(&content);
		if (status != FG_OK)
			break;
		trace(t, fg_column_int(&q, 0), self_ns, inclusive_ns);
	}
	fg_query_end(&q);
	return status;
}

static int list_tail(struct fg_store *store, const struct tracing *t, int64_t **series,
		     size_t *count, struct fg_error *err)
{
	size_t capacity = 0;
	struct fg_query q;
	int status = FG_OK;

	fg_query_begin(&q, store->db, FG_SQL_SERIES_AFTER);
	fg_query_int(&q, t->benchmark);
	fg_query_int(&q, t->last_sealed);
	fg_query_int(&q, INT32_MAX);
	while ((status = fg_query_step(&q, err)) > 0) {
		*series = fg_grow(*series, &capacity, *count + 1, sizeof(**series));
		(*series)[(*count)++] = fg_column_int(&q, 0);
	}
	fg_query_end(&q);
	return status;
}

/* Kept totals are read in one go; where a series has none they are computed. */
static int read_tail(struct fg_store *store, struct tracing *t, struct fg_error *err)
{
	const size_t sealed = t->count;
	int64_t *series = NULL;
	size_t count = 0;
	size_t kept = 0;
	int status = read_kept_totals(store, t, err);

	kept = t->count - sealed;
	if (status == FG_OK)
		status = list_tail(store, t, &series, &count, err);
	for (size_t i = 0; i < count && status == FG_OK; i++) {
		struct fg_totals totals = {0};

		if (kept && bsearch(&(struct traced){.series = series[i]}, t->items + sealed, kept,
				    sizeof(*t->items), by_series))
			continue;
		status = fg__store_totals(store, series[i], &totals, err);
		if (status == FG_OK && totals.repetitions[FG_ARM_CANDIDATE])
			trace_totals(t, series[i], &totals);
		fg_totals_release(&totals);
	}
	free(series);
	if (t->count > sealed)
		qsort(t->items + sealed, t->count - sealed, sizeof(*t->items), by_series);
	return status;
}

/* Runs come by series too: what has none of its values was sealed before and removed since, or has no profile. */
static int join_runs(struct fg_store *store, const struct tracing *t, const char *branch,
		     struct fg_function_trend *trend, struct fg_error *err)
{
	size_t at = 0;
	struct fg_query q;
	int status = FG_OK;

	fg_query_begin(&q, store->db, FG_SQL_TREND_RUNS);
	fg_query_int(&q, t->benchmark);
	fg_query_text(&q, branch);
	while ((status = fg_query_step(&q, err)) > 0) {
		const int64_t series = fg_column_int(&q, 0);
		struct fg_trend_point *point = NULL;
		const char *run = NULL;
		size_t length = 0;

		while (at < t->count && t->items[at].series < series)
			at++;
		if (at == t->count || t->items[at].series > series)
			continue;
		run = fg_column_bytes(&q, 1, &length);
		trend->points = fg_grow(trend->points, &trend->capacity, trend->count + 1,
					sizeof(*trend->points));
		point = &trend->points[trend->count++];
		*point = (struct fg_trend_point){
			.started_ns = fg_column_int(&q, 2),
			.commit = fg_xstrdup(fg_column_text(&q, 3)),
			.self_ns = t->items[at].self_ns,
			.inclusive_ns = t->items[at].inclusive_ns,
		};
		memcpy(point->run, run, fg_min_size(length, sizeof(point->run) - 1));
	}
	fg_query_end(&q);
	return status;
}

static int by_time(const void *a, const void *b)
{
	const struct fg_trend_point *x = a;
	const struct fg_trend_point *y = b;

	if (x->started_ns != y->started_ns)
		return x->started_ns < y->started_ns ? -1 : 1;
	return strcmp(x->run, y->run);
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
	status = fg__store_function(store, t->function, &row, err);
	if (status == FG_OK) {
		trend->name = fg_xstrdup(row.function.name);
		trend->library = fg_xstrdup(row.function.library);
	}
	return status;
}

/* NOLINTNEXTLINE(readability-function-size): seven things belong to one row */
int fg_store_function_trend(struct fg_store *store, const char *project, const char *benchmark,
			    const char *branch, const char *function,
			    struct fg_function_trend *trend, struct fg_error *err)
{
	struct fg_function_trend found = {0};
	struct tracing t = {0};
	bool mine = false;
	int status = fg__store_view(store, &mine, err);

	if (status == FG_OK)
		status = fg__store_benchmark(store, project, benchmark, &t.benchmark, err);

	if (status == FG_OK)
		status = find_function(store, function, &t, &found, err);
	if (status == FG_OK)
		status = read_sealed(store, &t, err);
	if (status == FG_OK)
		status = read_tail(store, &t, err);
	if (status == FG_OK)
		status = join_runs(store, &t, branch, &found, err);
	fg__store_view_end(store, mine);
	found.from_tiles = t.from_tiles;
	if (found.count)
		qsort(found.points, found.count, sizeof(*found.points), by_time);
	free(t.items);
	if (status == FG_OK)
		*trend = found;
	else
		fg_function_trend_release(&found);
	return status;
}

void fg_function_trend_release(struct fg_function_trend *trend)
{
	for (size_t i = 0; i < trend->count; i++)
		free(trend->points[i].commit);
	free(trend->points);
	free(trend->name);
	free(trend->library);
	*trend = (struct fg_function_trend){0};
}
