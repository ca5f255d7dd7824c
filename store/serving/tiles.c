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
 * Sealing is for a background thread: it writes thousands of rows, and no upload should wait for
 * them.  A run that is saved again gets a new series, after the seal.
 *
 * A tile's blob: for each member, self and inclusive time in tenths of a microsecond, each as the
 * difference from the member before.  A seal's blob: the members' series as differences; then what
 * a trend shows about their runs (start as a difference, id, commit, branch), each a column, so
 * that it need not read ten thousand rows.  While all members exist this is correct: a stored run
 * never changes under its series.
 */
#include "store/serving/tiles.h"

#include "base/arena.h"
#include "base/map.h"
#include "model/run.h"
#include "store/bytes.h"
#include "store/db.h"
#include "store/serving/sums.h"
#include "store/serving/totals.h"
#include "store/session.h"
#include "store/transaction.h"

#include <math.h>

enum {
	TILE_LEVEL = 3
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
};

static int add_tile(struct tile_rows *rows, const struct sealing *s, const struct tile *tile,
		    struct fg_error *err)
{
	struct fg_bytes content = {0};
	struct fg_bytes block = {0};
	int status = FG_OK;

	write_values(tile->self, s->count, &content);
	write_values(tile->inclusive, s->count, &content);
	status = fg_pack(content.data, content.size, TILE_LEVEL, &block, err);
	if (status == FG_OK) {
		rows->benchmarks[rows->count] = s->benchmark;
		rows->functions[rows->count] = (int64_t)tile->function;
		rows->numbers[rows->count] = s->number;
		rows->blobs[rows->count++] = (struct fg_blob){
			fg_arena_memdup(&rows->arena, block.data, block.size), block.size};
	}
	fg_bytes_release(&block);
	fg_bytes_release(&content);
	return status;
}

static int make_tiles(const struct sealing *s, struct tile_rows *rows, struct fg_error *err)
{
	int status = FG_OK;

	rows->benchmarks = fg_arena_array(&rows->arena, s->tile_count, sizeof(*rows->benchmarks));
	rows->functions = fg_arena_array(&rows->arena, s->tile_count, sizeof(*rows->functions));
	rows->numbers = fg_arena_array(&rows->arena, s->tile_count, sizeof(*rows->numbers));
	rows->blobs = fg_arena_array(&rows->arena, s->tile_count, sizeof(*rows->blobs));
	for (size_t i = 0; i < s->tile_count && status == FG_OK; i++)
		status = add_tile(rows, s, s->tiles[i], err);
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
	HEADS
};

/*
 * The members' runs as the database has them now.  If a member was deleted, no heads are written.
 */
static int add_heads(struct fg_store *store, const struct sealing *s, struct fg_bytes *content,
		     struct fg_error *err)
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

		fg_bytes_signed(&columns[TIMES], time - before);
		before = time;
		fg_bytes_text(&columns[RUNS], fg_column_text(&q, 1));
		fg_bytes_text(&columns[COMMITS], fg_column_text(&q, 3));
		fg_bytes_text(&columns[BRANCHES], fg_column_text(&q, 4));
		if (count < s->count)
			fg_bytes_varint(&columns[PROFILED], s->profiled[count]);
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
	status = add_heads(store, s, &content, err);
	if (status != FG_OK)
		goto out;
	status = fg_pack(content.data, content.size, TILE_LEVEL, &block, err);
	if (status != FG_OK)
		goto out;
	fg_query_begin(&q, store->db, FG_SQL_SEAL_ADD);
	fg_query_int(&q, s->benchmark);
	fg_query_int(&q, s->number);
	fg_query_int(&q, s->members[s->count - 1]);
	fg_query_bytes(&q, block.data, block.size);
	status = fg_query_run(&q, err);
out:
	fg_bytes_release(&block);
	fg_bytes_release(&content);
	return status;
}

/*
 * Tiles now hold the totals of their series, and a comparison can compute them from the rows.  They
 * would be three tenths of a run on disk.
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

/* The number of a seal is that of its last series: PostgreSQL's partitions go by it. */
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

/* Reading and packing are done; writing is one short transaction.  Writes nothing if not `same`. */
static int write_all(struct fg_store *store, const struct sealing *s, const struct tile_rows *rows,
		     bool *same, struct fg_error *err)
{
	int status = fg_store_begin_alone(store, err);

	if (status != FG_OK)
		return status;
	status = is_as_read(store, s, same, err);
	if (status != FG_OK || !*same)
		goto out;
	status = write_tiles(store, rows, err);
	if (status != FG_OK)
		goto out;
	status = write_seal(store, s, err);
	if (status != FG_OK)
		goto out;
	status = drop_totals(store, s, err);
out:
	return fg_store_end(store, status, err);
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
	if (status != FG_OK)
		goto out;
	status = write_all(store, &s, &rows, &same, err);
	if (status != FG_OK)
		goto out;
	*sealed += same ? s.tile_count : 0;
out:
	fg_arena_release(&rows.arena);
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
	fg_query_int(&q, FG_TILE_MEMBERS);
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
