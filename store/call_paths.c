// SPDX-License-Identifier: Apache-2.0
#include "store/call_paths.h"

#include "base/arena.h"
#include "store/bytes.h"
#include "store/session.h"

void fg_call_paths_forget(struct fg_call_paths *paths)
{
	for (size_t i = 0; i < FG_PATH_BLOCKS_KEPT; i++)
		fg_path_block_release(&paths->kept[i]);
	*paths = (struct fg_call_paths){0};
}

/* The block of a row of path_block. */
static int open_block(const struct fg_store *store, const struct fg_query *row,
		      struct fg_path_block *block, struct fg_error *err)
{
	const uint64_t first = (uint64_t)fg_column_int(row, 0);
	struct fg_error reason = {0};
	size_t size = 0;
	const void *packed = fg_column_bytes(row, 2, &size);
	const int status = fg_path_block_open(packed, size, first, (uint64_t)fg_column_int(row, 1),
					      block, &reason);

	if (status == FG_EPARSE || status == FG_ELIMIT)
		return fg_error_set(err, FG_EDB, "%s is damaged: call paths from %llu on: %s",
				    store->db->name, (unsigned long long)first, reason.message);
	if (status != FG_OK)
		return fg_error_set(err, reason.code, "%s", reason.message);
	return FG_OK;
}

/* The place of the block that was not used for the longest time. */
static size_t oldest(const struct fg_call_paths *paths)
{
	size_t place = 0;

	for (size_t i = 1; i < FG_PATH_BLOCKS_KEPT; i++) {
		if (paths->used[i] < paths->used[place])
			place = i;
	}
	return place;
}

static const struct fg_path_block *kept_block(struct fg_call_paths *paths, uint64_t id)
{
	for (size_t i = 0; i < FG_PATH_BLOCKS_KEPT; i++) {
		if (fg_path_block_has(&paths->kept[i], id)) {
			paths->used[i] = ++paths->uses;
			return &paths->kept[i];
		}
	}
	return NULL;
}

/* The block that has this path, until the next call; NULL: none has. */
static int find_block(struct fg_store *store, uint64_t id, const struct fg_path_block **block,
		      struct fg_error *err)
{
	struct fg_call_paths *paths = &store->paths;
	struct fg_path_block opened = {0};
	size_t place = 0;
	struct fg_query q;
	int status = FG_OK;

	*block = kept_block(paths, id);
	if (*block)
		return FG_OK;
	fg_query_begin(&q, store->db, FG_SQL_PATH_BLOCK_WITH);
	fg_query_int(&q, (int64_t)id);
	status = fg_query_step(&q, err);
	if (status > 0)
		status = open_block(store, &q, &opened, err);
	fg_query_end(&q);
	if (status != FG_OK)
		return status;
	place = oldest(paths);
	fg_path_block_release(&paths->kept[place]);
	paths->kept[place] = opened;
	*block = kept_block(paths, id);
	return FG_OK;
}

/* A row that is to be looked for in the block of its parent. */
struct wanted {
	uint64_t parent;
	size_t row;
};

static int by_parent(const void *a, const void *b)
{
	const struct wanted *x = a;
	const struct wanted *y = b;

	return (x->parent > y->parent) - (x->parent < y->parent);
}

/* Sorted by block, so that each block is opened once. */
static int find_in_blocks(struct fg_store *store, const struct fg_rows *rows, int64_t *ids,
			  struct wanted *wanted, size_t count, struct fg_error *err)
{
	int status = FG_OK;

	qsort(wanted, count, sizeof(*wanted), by_parent);
	for (size_t i = 0; i < count && status == FG_OK; i++) {
		const size_t row = wanted[i].row;
		const struct fg_path_block *block = NULL;

		status = find_block(store, wanted[i].parent, &block, err);
		if (status == FG_OK && block)
			ids[row] = (int64_t)fg_path_block_find(
				block, wanted[i].parent, (uint64_t)rows->columns[1].numbers[row]);
	}
	return status;
}

int fg_call_paths_find(struct fg_store *store, const struct fg_rows *rows, int64_t *ids,
		       struct fg_error *err)
{
	const int64_t *parents = rows->columns[0].numbers;
	struct fg_arena arena = {0};
	struct wanted *wanted = NULL;
	size_t count = 0;
	int status = fg_query_rows(store->db, FG_SQL_PATH_ROOT_FIND, rows, ids, err);

	if (status != FG_OK)
		return status;
	wanted = fg_arena_array(&arena, rows->count, sizeof(*wanted));
	for (size_t i = 0; i < rows->count; i++) {
		if (ids[i] == 0 && parents[i] != 0)
			wanted[count++] = (struct wanted){(uint64_t)parents[i], i};
	}
	if (count)
		status = find_in_blocks(store, rows, ids, wanted, count, err);
	fg_arena_release(&arena);
	return status;
}

/* `last`: everything up to it was taken; the next block has larger ids. */
static int take_block(const struct fg_store *store, const struct fg_query *row, fg_path_taker *take,
		      void *context, uint64_t *last, struct fg_error *err)
{
	struct fg_path_block block = {0};
	const int status = open_block(store, row, &block, err);

	if (status != FG_OK)
		return status;
	for (size_t i = 0; i < block.count; i++) {
		if (block.first + i <= *last)
			continue;
		*last = block.first + i;
		take(context, *last, &block.paths[i]);
	}
	fg_path_block_release(&block);
	return FG_OK;
}

int fg_call_paths_after(struct fg_store *store, uint64_t after, fg_path_taker *take, void *context,
			struct fg_error *err)
{
	const int64_t reach = FG_PATH_BLOCK_MAX;
	uint64_t last = after;
	struct fg_query q;
	int status = FG_OK;

	fg_query_begin(&q, store->db, FG_SQL_PATH_BLOCKS_AFTER);
	fg_query_int(&q, (int64_t)after > reach ? (int64_t)after - reach : 0);
	while ((status = fg_query_step(&q, err)) > 0) {
		status = take_block(store, &q, take, context, &last, err);
		if (status != FG_OK)
			break;
	}
	fg_query_end(&q);
	return status;
}

/* Paths that are to be written, and what is made of them. */
struct writing {
	struct fg_store *store;
	const struct fg_rows *rows;
	struct fg_arena arena;
	int64_t *firsts;
	int64_t *counts;
	struct fg_bytes *packed;
	size_t block_count;
	int64_t *parents; /* columns of path_root */
	int64_t *functions;
	int64_t *ids;
	size_t root_count;
};

/* How many rows, from this one on, have consecutive ids. */
static size_t run_length(const struct fg_rows *rows, size_t at)
{
	const int64_t *ids = rows->columns[0].numbers;
	size_t length = 1;

	while (at + length < rows->count && ids[at + length] == ids[at] + (int64_t)length)
		length++;
	return length;
}

static int add_block(struct writing *w, size_t at, size_t count, struct fg_error *err)
{
	const int64_t *ids = w->rows->columns[0].numbers + at;
	const int64_t *parents = w->rows->columns[1].numbers + at;
	const int64_t *functions = w->rows->columns[2].numbers + at;
	struct fg_call_path *paths = fg_arena_array(&w->arena, count, sizeof(*paths));

	for (size_t i = 0; i < count; i++) {
		FG_ASSERT(parents[i] >= 0 && parents[i] < ids[i] && functions[i] > 0);
		paths[i] = (struct fg_call_path){(uint64_t)parents[i], (uint64_t)functions[i]};
		if (parents[i] >= ids[0])
			continue;
		w->parents[w->root_count] = parents[i];
		w->functions[w->root_count] = functions[i];
		w->ids[w->root_count++] = ids[i];
	}
	w->firsts[w->block_count] = ids[0];
	w->counts[w->block_count] = (int64_t)count;
	return fg_path_block_seal((uint64_t)ids[0], paths, count,
				  w->store->is_durable ? FG_PACK_LEVEL_QUICK : FG_PACK_LEVEL,
				  &w->packed[w->block_count++], err);
}

/* As few blocks as can be, of about the same size. */
static int add_blocks(struct writing *w, size_t at, size_t length, struct fg_error *err)
{
	size_t blocks = (length + FG_PATH_BLOCK_MAX - 1) / FG_PATH_BLOCK_MAX;
	int status = FG_OK;

	for (; blocks > 0 && status == FG_OK; blocks--) {
		const size_t count = (length + blocks - 1) / blocks;

		status = add_block(w, at, count, err);
		at += count;
		length -= count;
	}
	return status;
}

static int insert(struct writing *w, struct fg_error *err)
{
	struct fg_blob *blobs = fg_arena_array(&w->arena, w->block_count, sizeof(*blobs));
	const struct fg_rows blocks = {
		.columns = {{.numbers = w->firsts}, {.numbers = w->counts}, {.blobs = blobs}},
		.column_count = 3,
		.count = w->block_count};
	const struct fg_rows roots = {.columns = {{.numbers = w->parents},
						  {.numbers = w->functions},
						  {.numbers = w->ids}},
				      .column_count = 3,
				      .count = w->root_count};
	int status = FG_OK;

	for (size_t i = 0; i < w->block_count; i++)
		blobs[i] = (struct fg_blob){w->packed[i].data, w->packed[i].size};
	status = fg_query_rows(w->store->db, FG_SQL_PATH_BLOCK_ADD, &blocks, NULL, err);
	if (status != FG_OK)
		return status;
	return fg_query_rows(w->store->db, FG_SQL_PATH_ROOT_ADD, &roots, NULL, err);
}

int fg_call_paths_write(struct fg_store *store, const struct fg_rows *rows, struct fg_error *err)
{
	struct writing w = {.store = store, .rows = rows};
	size_t length = 0;
	int status = FG_OK;

	w.firsts = fg_arena_array(&w.arena, rows->count, sizeof(*w.firsts));
	w.counts = fg_arena_array(&w.arena, rows->count, sizeof(*w.counts));
	w.packed = fg_arena_array(&w.arena, rows->count, sizeof(*w.packed));
	w.parents = fg_arena_array(&w.arena, rows->count, sizeof(*w.parents));
	w.functions = fg_arena_array(&w.arena, rows->count, sizeof(*w.functions));
	w.ids = fg_arena_array(&w.arena, rows->count, sizeof(*w.ids));
	for (size_t at = 0; at < rows->count && status == FG_OK; at += length) {
		length = run_length(rows, at);
		status = add_blocks(&w, at, length, err);
	}
	if (status != FG_OK)
		goto out;
	status = insert(&w, err);
out:
	for (size_t i = 0; i < w.block_count; i++)
		fg_bytes_release(&w.packed[i]);
	fg_arena_release(&w.arena);
	return status;
}

/* State of an inspection of all blocks. */
struct inspection {
	void (*found)(void *context, const char *words);
	void *context;
	uint64_t end; /* of the block before */
	int64_t roots;
	bool is_whole; /* all could be opened */
};

static void say(struct inspection *inspection, const char *words)
{
	inspection->is_whole = false;
	inspection->found(inspection->context, words);
}

static void inspect(const struct fg_store *store, const struct fg_query *row,
		    struct inspection *inspection)
{
	struct fg_path_block block = {0};
	struct fg_error reason = {0};

	if (open_block(store, row, &block, &reason) != FG_OK) {
		say(inspection, reason.message);
		return;
	}
	if (block.first < inspection->end) {
		(void)fg_error_set(&reason, FG_EDB,
				   "%s is damaged: duplicate call paths from %llu on",
				   store->db->name, (unsigned long long)block.first);
		say(inspection, reason.message);
	}
	inspection->end = block.first + block.count;
	for (size_t i = 0; i < block.count; i++)
		inspection->roots += block.paths[i].parent < block.first;
	fg_path_block_release(&block);
}

int fg_call_paths_check(struct fg_store *store, void (*found)(void *context, const char *words),
			void *context, struct fg_error *err)
{
	struct inspection inspection = {.found = found, .context = context, .is_whole = true};
	struct fg_error reason = {0};
	struct fg_query q;
	int64_t roots = 0;
	int status = FG_OK;

	fg_query_begin(&q, store->db, FG_SQL_PATH_BLOCKS_AFTER);
	fg_query_int(&q, 0);
	while ((status = fg_query_step(&q, err)) > 0)
		inspect(store, &q, &inspection);
	fg_query_end(&q);
	if (status != FG_OK)
		return status;
	fg_query_begin(&q, store->db, FG_SQL_PATH_ROOT_COUNT);
	status = fg_query_value(&q, &roots, err);
	if (status != FG_OK || !inspection.is_whole || roots == inspection.roots)
		return status;
	(void)fg_error_set(&reason, FG_EDB,
			   "%s is damaged: %lld call paths begin a block, %lld are listed",
			   store->db->name, (long long)inspection.roots, (long long)roots);
	say(&inspection, reason.message);
	return FG_OK;
}
