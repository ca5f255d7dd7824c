// SPDX-License-Identifier: Apache-2.0
/*
 * Totals of functions, turned around for the trend of one function over thousands of runs
 * (trend.c).
 *
 * In a server's store each series keeps the totals of all its functions in one chunk: right for
 * comparing two runs, wrong for following one function, which would open every chunk.  So every 256
 * series of a benchmark are transposed: one small blob per function with its values in all 256.  A
 * trend then reads one row per tile and the chunks of at most 255 unsealed series.
 *
 * Sealing is for a background thread: it writes thousands of rows, and no upload waits for them.
 * A run that is saved again gets a new series, after the seal.
 *
 * A tile's blob: for each member, self and inclusive time in tenths of a microsecond, each as the
 * difference from the member before.  A seal's blob: the members' series as differences; then what
 * a trend shows about their runs (start as a difference, id, commit, branch, is there a profile,
 * host, tag, flags), each a column, so that it need not read ten thousand rows.  While all members
 * exist this is correct: a stored run never changes under its series.
 *
 * The levels of each metric become a tile, too (metric_tile.c), under the metric's number below
 * zero.  Seals of servers that made none get them later, one at a time.
 */
#include "store/serving/tiles.h"

#include "base/arena.h"
#include "base/map.h"
#include "model/run.h"
#include "store/bytes.h"
#include "store/chunks.h"
#include "store/db.h"
#include "store/levels.h"
#include "store/serving/seals.h"
#include "store/serving/sums.h"
#include "store/serving/totals.h"
#include "store/session.h"
#include "store/transaction.h"

#include <math.h>

enum {
	TILE_LEVEL = 3,
	RENEWED_AT_ONCE = 64 /* seals of earlier versions */
};

struct tile {
	uint64_t function;
	double self[FG_TILE_MEMBERS];
	double inclusive[FG_TILE_MEMBERS];
};

struct sealing {
	int64_t benchmark;
	int64_t number;
	int64_t after; /* series: the last one that was sealed before */
	int64_t members[FG_TILE_MEMBERS];
	bool profiled[FG_TILE_MEMBERS];
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
	s->profiled[s->at] = totals->count && totals->repetitions[FG_ARM_CANDIDATE];
	for (size_t i = 0; i < totals->count; i++) {
		struct tile *tile = tile_of(s, totals->items[i].id);

		tile->self[s->at] = totals->items[i].self[FG_ARM_CANDIDATE];
		tile->inclusive[s->at] = totals->items[i].inclusive[FG_ARM_CANDIDATE];
	}
}

static void write_values(const double *values, size_t count, struct fg_bytes *bytes)
{
	int64_t before = 0;

	for (size_t i = 0; i < count; i++) {
		const int64_t value = llround(values[i] / FG_TILE_STEP_NS);

		fg_bytes_signed(bytes, value - before);
		before = value;
	}
}

/* Rows of `tile`, made before the transaction begins. */
struct tile_rows {
	struct fg_arena arena;
	int64_t *benchmarks;
	int64_t *functions;
	int64_t *numbers;
	struct fg_blob *blobs;
	size_t count;
	size_t capacity;
};

static void release_rows(struct tile_rows *rows)
{
	free(rows->benchmarks);
	free(rows->functions);
	free(rows->numbers);
	free(rows->blobs);
	fg_arena_release(&rows->arena);
}

static void widen(struct tile_rows *rows)
{
	if (rows->count < rows->capacity)
		return;
	rows->capacity = 2 * rows->capacity + FG_TILE_MEMBERS;
	rows->benchmarks = fg_xreallocarray(rows->benchmarks, rows->capacity, sizeof(int64_t));
	rows->functions = fg_xreallocarray(rows->functions, rows->capacity, sizeof(int64_t));
	rows->numbers = fg_xreallocarray(rows->numbers, rows->capacity, sizeof(int64_t));
	rows->blobs = fg_xreallocarray(rows->blobs, rows->capacity, sizeof(*rows->blobs));
}

/* The content is released. */
static int add_row(struct tile_rows *rows, const struct sealing *s, int64_t key,
		   struct fg_bytes *content, struct fg_error *err)
{
	struct fg_bytes block = {0};
	const int status = fg_pack(content->data, content->size, TILE_LEVEL, &block, err);

	if (status == FG_OK) {
		widen(rows);
		rows->benchmarks[rows->count] = s->benchmark;
		rows->functions[rows->count] = key;
		rows->numbers[rows->count] = s->number;
		rows->blobs[rows->count++] = (struct fg_blob){
			fg_arena_memdup(&rows->arena, block.data, block.size), block.size};
	}
	fg_bytes_release(&block);
	fg_bytes_release(content);
	return status;
}

static int make_tiles(const struct sealing *s, struct tile_rows *rows, struct fg_error *err)
{
	int status = FG_OK;

	for (size_t i = 0; i < s->tile_count && status == FG_OK; i++) {
		struct fg_bytes content = {0};

		write_values(s->tiles[i]->self, s->count, &content);
		write_values(s->tiles[i]->inclusive, s->count, &content);
		status = add_row(rows, s, (int64_t)s->tiles[i]->function, &content, err);
	}
	return status;
}

/* The levels of one metric, so far. */
struct metric_levels {
	int64_t metric;
	struct fg_level of[FG_TILE_MEMBERS]; /* by member */
	struct fg_arena texts;
};

static int end_metric(const struct sealing *s, struct metric_levels *levels, struct tile_rows *rows,
		      struct fg_error *err)
{
	struct fg_bytes content = {0};
	int status = FG_OK;

	if (levels->metric) {
		fg_metric_tile_write(levels->of, &content);
		status = add_row(rows, s, fg_metric_key(levels->metric), &content, err);
	}
	fg_arena_release(&levels->texts);
	*levels = (struct metric_levels){0};
	return status;
}

static int take_level(const struct fg_query *q, const struct sealing *s,
		      struct metric_levels *levels, struct tile_rows *rows, struct fg_error *err)
{
	const int64_t series = fg_column_int(q, 1);
	size_t at = 0;
	int status = FG_OK;

	if (levels->metric != fg_column_int(q, 0))
		status = end_metric(s, levels, rows, err);
	if (status != FG_OK)
		return status;
	levels->metric = fg_column_int(q, 0);
	while (at < s->count && s->members[at] < series)
		at++;
	/* Stored since the members were read: then nothing of this is written. */
	if (at == s->count || s->members[at] != series)
		return FG_OK;
	levels->of[at] = (struct fg_level){
		.is_there = true,
		.pairs = fg_column_int(q, 2),
		.medians = {fg_column_double(q, 3), fg_column_double(q, 4)},
		.ratio = fg_column_double(q, 5),
		.low = fg_column_double(q, 6),
		.high = fg_column_double(q, 7),
		.outcome = fg_arena_strdup(&levels->texts, fg_column_text(q, 8)),
	};
	return FG_OK;
}

static int make_metric_tiles(struct fg_store *store, const struct sealing *s,
			     struct tile_rows *rows, struct fg_error *err)
{
	struct metric_levels levels = {0};
	struct fg_query q;
	int status = FG_OK;

	fg_query_begin(&q, store->db, FG_SQL_LEVELS_BETWEEN);
	fg_query_int(&q, s->benchmark);
	fg_query_int(&q, s->after);
	fg_query_int(&q, s->members[s->count - 1]);
	while ((status = fg_query_step(&q, err)) > 0) {
		status = take_level(&q, s, &levels, rows, err);
		if (status != FG_OK)
			break;
	}
	fg_query_end(&q);
	if (status == FG_OK)
		return end_metric(s, &levels, rows, err);
	fg_arena_release(&levels.texts);
	return status;
}

static int write_tiles(struct fg_store *store, const struct tile_rows *rows, struct fg_error *err)
{
	return fg_query_rows(store->db, FG_SQL_TILE_ADD,
			     &(struct fg_rows){.columns = {{.numbers = rows->benchmarks},
							   {.numbers = rows->functions},
							   {.numbers = rows->numbers},
							   {.blobs = rows->blobs}},
					       .column_count = 4,
					       .count = rows->count},
			     NULL, err);
}

enum {
	TIMES,
	RUNS,
	COMMITS,
	BRANCHES,
	PROFILED,
	FINGERPRINTS,
	TAGS,
	FLAGS,
	HEADS
};

static uint64_t flags_of(const struct fg_query *run)
{
	return (fg_column_int(run, 6) ? FG_MEMBER_DIRTY : 0) |
	       (fg_column_int(run, 7) ? FG_MEMBER_COMPLETE : 0);
}

/*
 * The members' runs as the database has them now, and when the newest started.  If a member was
 * deleted, no heads are written.
 */
static int add_heads(struct fg_store *store, const struct sealing *s, struct fg_bytes *content,
		     int64_t *newest_ns, struct fg_error *err)
{
	struct fg_bytes columns[HEADS] = {{0}};
	int64_t before = 0;
	size_t count = 0;
	struct fg_query q;
	int status = FG_OK;

	fg_query_begin(&q, store->db, FG_SQL_TREND_RUNS);
	fg_query_int(&q, s->benchmark);
	fg_query_int(&q, s->after);
	fg_query_int(&q, s->members[s->count - 1]);
	while ((status = fg_query_step(&q, err)) > 0) {
		const int64_t time = fg_column_int(&q, 2);

		*newest_ns = count && *newest_ns > time ? *newest_ns : time;
		fg_bytes_signed(&columns[TIMES], time - before);
		before = time;
		fg_bytes_text(&columns[RUNS], fg_column_text(&q, 1));
		fg_bytes_text(&columns[COMMITS], fg_column_text(&q, 3));
		fg_bytes_text(&columns[BRANCHES], fg_column_text(&q, 4));
		if (count < s->count)
			fg_bytes_varint(&columns[PROFILED], s->profiled[count]);
		fg_bytes_text(&columns[FINGERPRINTS], fg_column_text(&q, 5));
		fg_bytes_text(&columns[TAGS], fg_column_text(&q, 8));
		fg_bytes_varint(&columns[FLAGS], flags_of(&q));
		count++;
	}
	fg_query_end(&q);
	for (int i = 0; i < HEADS; i++) {
		if (status == FG_OK && count == s->count)
			fg_bytes_add(content, columns[i].data, columns[i].size);
		fg_bytes_release(&columns[i]);
	}
	return status;
}

static int make_seal(struct fg_store *store, const struct sealing *s, struct fg_bytes *block,
		     int64_t *newest_ns, struct fg_error *err)
{
	struct fg_bytes content = {0};
	int64_t before = 0;
	int status = FG_OK;

	for (size_t i = 0; i < s->count; i++) {
		fg_bytes_signed(&content, s->members[i] - before);
		before = s->members[i];
	}
	status = add_heads(store, s, &content, newest_ns, err);
	if (status == FG_OK)
		status = fg_pack(content.data, content.size, TILE_LEVEL, block, err);
	fg_bytes_release(&content);
	return status;
}

static int write_seal(struct fg_store *store, const struct sealing *s, struct fg_error *err)
{
	struct fg_bytes block = {0};
	int64_t newest_ns = 0;
	struct fg_query q;
	int status = make_seal(store, s, &block, &newest_ns, err);

	if (status == FG_OK) {
		fg_query_begin(&q, store->db, FG_SQL_SEAL_ADD);
		fg_query_int(&q, s->benchmark);
		fg_query_int(&q, s->number);
		fg_query_int(&q, s->members[s->count - 1]);
		fg_query_int(&q, newest_ns);
		fg_query_bytes(&q, block.data, block.size);
		status = fg_query_run(&q, err);
	}
	fg_bytes_release(&block);
	return status;
}

static int drop_each(struct fg_store *store, const struct sealing *s, struct fg_error *err)
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

/* Not cut off since: then its last series may have become another one. */
static int is_sealed(struct fg_store *store, const struct sealing *s, bool *sealed,
		     struct fg_error *err)
{
	struct fg_query q;
	int64_t last = 0;
	int status = FG_OK;

	fg_query_begin(&q, store->db, FG_SQL_SEAL_LAST);
	fg_query_int(&q, s->benchmark);
	status = fg_query_value(&q, &last, err);
	*sealed = status == FG_OK && last >= s->number;
	return status == FG_ENOENT ? FG_OK : status;
}

/*
 * Tiles now hold the totals of their series, and a comparison can compute them from the rows.  They
 * would be three tenths of a run on disk.  Whoever is ended between the two transactions leaves
 * them there, which costs room and nothing else.
 */
static int drop_totals(struct fg_store *store, const struct sealing *s, struct fg_error *err)
{
	bool sealed = false;
	int status = fg_store_begin(store, err);

	if (status != FG_OK)
		return status;
	status = is_sealed(store, s, &sealed, err);
	if (sealed)
		status = drop_each(store, s, err);
	return fg_store_end(store, status, err);
}

/* A seal's number is the id of its last series. */
static int list_members(struct fg_store *store, struct sealing *s, struct fg_error *err)
{
	struct fg_query q;
	int status = FG_OK;

	fg_query_begin(&q, store->db, FG_SQL_SEAL_LAST);
	fg_query_int(&q, s->benchmark);
	status = fg_query_value(&q, &s->after, err);
	if (status != FG_OK && status != FG_ENOENT)
		return status;
	fg_query_begin(&q, store->db, FG_SQL_SERIES_AFTER);
	fg_query_int(&q, s->benchmark);
	fg_query_int(&q, s->after);
	fg_query_int(&q, FG_TILE_MEMBERS);
	while ((status = fg_query_step(&q, err)) > 0 && s->count < FG_TILE_MEMBERS)
		s->members[s->count++] = fg_column_int(&q, 0);
	fg_query_end(&q);
	if (s->count)
		s->number = s->members[s->count - 1];
	return status > 0 ? FG_OK : status;
}

static int read_members(struct fg_store *store, struct sealing *s, struct fg_error *err)
{
	int status = list_members(store, s, err);

	for (s->at = 0; s->at < s->count && status == FG_OK; s->at++) {
		struct fg_totals totals = {0};

		status = fg_store_totals(store, s->members[s->at], NULL, &totals, err);
		if (status == FG_OK)
			take_member(s, &totals);
		fg_totals_release(&totals);
	}
	return status;
}

/*
 * Since the members were read, another server may have sealed them, one of them may be gone, or a
 * slow writer may have stored a series with a number between theirs.
 */
static int is_as_read(struct fg_store *store, const struct sealing *s, bool *same,
		      struct fg_error *err)
{
	struct sealing now = {.benchmark = s->benchmark};
	int status = list_members(store, &now, err);

	*same = status == FG_OK && now.number == s->number && now.after == s->after &&
		now.count == s->count &&
		memcmp(now.members, s->members, s->count * sizeof(*s->members)) == 0;
	return status;
}

static int write_if_as_read(struct fg_store *store, const struct sealing *s,
			    const struct tile_rows *rows, bool *same, struct fg_error *err)
{
	int status = is_as_read(store, s, same, err);

	if (status != FG_OK || !*same)
		return status;
	status = write_tiles(store, rows, err);
	if (status != FG_OK)
		return status;
	status = fg_store_go_on_alone(store, err);
	if (status != FG_OK)
		return status;
	status = is_as_read(store, s, same, err);
	return status == FG_OK && *same ? write_seal(store, s, err) : status;
}

/*
 * Writers wait while the seal itself is written, not for its tiles: nobody reads those before it is
 * there.  Writes nothing if not `same`.
 */
static int write_all(struct fg_store *store, const struct sealing *s, const struct tile_rows *rows,
		     bool *same, struct fg_error *err)
{
	int status = fg_store_begin_preparing(store, err);

	if (status != FG_OK)
		return status;
	status = write_if_as_read(store, s, rows, same, err);
	if (status != FG_OK || *same)
		return fg_store_end(store, status, err);
	fg_store_undo(store);
	return FG_OK;
}

static int seal_benchmark(struct fg_store *store, int64_t benchmark, size_t *sealed,
			  struct fg_error *err)
{
	struct sealing s = {.benchmark = benchmark};
	struct tile_rows rows = {0};
	bool same = false;
	int status = read_members(store, &s, err);

	if (status != FG_OK || s.count != FG_TILE_MEMBERS)
		goto out;
	status = make_tiles(&s, &rows, err);
	if (status == FG_OK)
		status = make_metric_tiles(store, &s, &rows, err);
	if (status != FG_OK)
		goto out;
	status = write_all(store, &s, &rows, &same, err);
	if (status != FG_OK)
		goto out;
	*sealed += same ? rows.count : 0;
	if (same)
		status = drop_totals(store, &s, err);
out:
	release_rows(&rows);
	for (size_t i = 0; i < s.tile_count; i++)
		free(s.tiles[i]);
	free(s.tiles);
	fg_map_release(&s.index);
	return status;
}

/* The oldest seal that an earlier version wrote, if any is left. */
static int read_old_seal(struct fg_store *store, struct sealing *s, struct fg_error *err)
{
	struct fg_member members[FG_TILE_MEMBERS];
	struct fg_seal seal = {0};
	enum fg_seal_heads heads = FG_SEAL_NUMBERS;
	struct fg_query q;
	int status = FG_OK;

	fg_query_begin(&q, store->db, FG_SQL_SEAL_OLD);
	status = fg_query_step(&q, err);
	if (status > 0) {
		size_t size = 0;
		const void *data = fg_column_bytes(&q, 3, &size);

		s->benchmark = fg_column_int(&q, 0);
		s->number = fg_column_int(&q, 1);
		s->after = fg_column_int(&q, 4);
		status = fg_unpack(data, size, FG_MAX_CHUNK_BYTES, &seal.members, err);
		if (status == FG_OK)
			status = fg_seal_members(&seal, members, &heads, err);
		for (size_t i = 0; i < FG_TILE_MEMBERS && status == FG_OK; i++) {
			s->members[i] = members[i].series;
			s->profiled[i] = heads == FG_SEAL_NUMBERS || members[i].is_profiled;
		}
		s->count = status == FG_OK ? FG_TILE_MEMBERS : 0;
	}
	fg_query_end(&q);
	fg_bytes_release(&seal.members);
	return status;
}

static int write_renewed(struct fg_store *store, const struct sealing *s,
			 const struct tile_rows *rows, struct fg_error *err)
{
	struct fg_bytes block = {0};
	int64_t newest_ns = 0;
	int64_t number = 0;
	struct fg_query q;
	int status = make_seal(store, s, &block, &newest_ns, err);

	if (status != FG_OK)
		goto out;
	fg_query_begin(&q, store->db, FG_SQL_SEAL_RENEW);
	fg_query_int(&q, s->benchmark);
	fg_query_int(&q, s->number);
	fg_query_bytes(&q, block.data, block.size);
	fg_query_int(&q, newest_ns);
	status = fg_query_value(&q, &number, err);
	if (status == FG_OK)
		status = write_tiles(store, rows, err);
	else if (status == FG_ENOENT) /* another server was quicker, or it is gone */
		status = FG_OK;
out:
	fg_bytes_release(&block);
	return status;
}

/* Gives a seal of an earlier version its tiles of metrics. */
static int renew_seal(struct fg_store *store, size_t *sealed, struct fg_error *err)
{
	struct sealing s = {0};
	struct tile_rows rows = {0};
	int status = read_old_seal(store, &s, err);

	if (status != FG_OK || s.count == 0)
		return status;
	status = make_metric_tiles(store, &s, &rows, err);
	if (status != FG_OK)
		goto out;
	status = fg_store_begin_alone(store, err);
	if (status != FG_OK)
		goto out;
	status = fg_store_end(store, write_renewed(store, &s, &rows, err), err);
	*sealed += status == FG_OK;
out:
	release_rows(&rows);
	return status;
}

static int renew_some(struct fg_store *store, size_t *sealed, struct fg_error *err)
{
	size_t done = 0;
	int status = FG_OK;

	for (int i = 0; i < RENEWED_AT_ONCE && status == FG_OK; i++) {
		const size_t before = done;

		status = renew_seal(store, &done, err);
		if (done == before)
			break;
	}
	*sealed += done;
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
	fg_query_int(&q, FG_TILE_MEMBERS);
	while ((status = fg_query_step(&q, err)) > 0) {
		benchmarks = fg_grow(benchmarks, &capacity, count + 1, sizeof(*benchmarks));
		benchmarks[count++] = fg_column_int(&q, 0);
	}
	fg_query_end(&q);
	for (size_t i = 0; i < count && status == FG_OK; i++)
		status = seal_benchmark(store, benchmarks[i], sealed, err);
	free(benchmarks);
	return status == FG_OK ? renew_some(store, sealed, err) : status;
}
