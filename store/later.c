// SPDX-License-Identifier: Apache-2.0
#include "store/later.h"

#include "store/session.h"

static struct fg_later_rows *table_of(struct fg_later *later, enum fg_sql sql)
{
	for (size_t i = 0; i < later->table_count; i++) {
		if (later->tables[i].sql == sql)
			return &later->tables[i];
	}
	FG_ASSERT(later->table_count < FG_LATER_TABLES);
	later->tables[later->table_count].sql = sql;
	return &later->tables[later->table_count++];
}

static void *widened(const void *items, size_t capacity, size_t size)
{
	return fg_xreallocarray((void *)(uintptr_t)items, capacity, size);
}

static void widen(struct fg_column *to, const struct fg_column *like, size_t capacity)
{
	if (like->numbers)
		to->numbers = widened(to->numbers, capacity, sizeof(*to->numbers));
	else if (like->doubles)
		to->doubles = widened(to->doubles, capacity, sizeof(*to->doubles));
	else if (like->texts)
		to->texts = widened(to->texts, capacity, sizeof(*to->texts));
	else
		to->blobs = widened(to->blobs, capacity, sizeof(*to->blobs));
}

static struct fg_blob copied(struct fg_later *later, const struct fg_blob *blob)
{
	void *data = fg_arena_alloc(&later->texts, blob->size);

	memcpy(data, blob->data, blob->size);
	return (struct fg_blob){data, blob->size};
}

/* The columns were allocated here, for what is then only read. */
static void copy_item(struct fg_later *later, const struct fg_column *to, size_t at,
		      const struct fg_column *from, size_t row)
{
	if (from->numbers)
		((int64_t *)(uintptr_t)to->numbers)[at] = from->numbers[row];
	else if (from->doubles)
		((double *)(uintptr_t)to->doubles)[at] = from->doubles[row];
	else if (from->texts)
		((const char **)(uintptr_t)to->texts)[at] =
			fg_arena_strdup(&later->texts, from->texts[row]);
	else
		((struct fg_blob *)(uintptr_t)to->blobs)[at] =
			from->blobs[row].size <= FG_LATER_SMALL_BYTES
				? copied(later, &from->blobs[row])
				: from->blobs[row];
}

static void keep_rows(struct fg_later *later, enum fg_sql sql, const struct fg_rows *rows)
{
	struct fg_later_rows *table = table_of(later, sql);
	struct fg_rows *to = &table->rows;

	to->column_count = rows->column_count;
	if (to->count + rows->count > table->capacity) {
		table->capacity = 2 * (to->count + rows->count);
		for (size_t c = 0; c < rows->column_count; c++)
			widen(&to->columns[c], &rows->columns[c], table->capacity);
	}
	for (size_t c = 0; c < rows->column_count; c++) {
		for (size_t i = 0; i < rows->count; i++)
			copy_item(later, &to->columns[c], to->count + i, &rows->columns[c], i);
	}
	to->count += rows->count;
}

/* Stands for call paths, which are written as blocks. */
#define PATHS FG_SQL_PATH_BLOCK_ADD

static int write_rows(struct fg_store *store, enum fg_sql sql, const struct fg_rows *rows,
		      struct fg_error *err)
{
	if (sql == PATHS)
		return fg_call_paths_write(store, rows, err);
	return fg_query_rows(store->db, sql, rows, NULL, err);
}

int fg_store_add_rows(struct fg_store *store, enum fg_sql sql, const struct fg_rows *rows,
		      struct fg_error *err)
{
	if (!store->batch.later.collects)
		return fg_query_rows(store->db, sql, rows, NULL, err);
	if (rows->count)
		keep_rows(&store->batch.later, sql, rows);
	return FG_OK;
}

int fg_store_add_names(struct fg_store *store, enum fg_sql sql, const struct fg_rows *rows,
		       struct fg_error *err)
{
	if (!store->batch.is_open)
		return write_rows(store, sql, rows, err);
	keep_rows(&store->batch.later, sql, rows);
	return FG_OK;
}

int fg_store_add_paths(struct fg_store *store, const struct fg_rows *rows, struct fg_error *err)
{
	return fg_store_add_names(store, PATHS, rows, err);
}

static const enum fg_sql adders[FG_LATER_IDS] = {FG_SQL_RUN_ADD, FG_SQL_SERIES_ADD};

static int64_t stand_in(enum fg_later_id kind, size_t place)
{
	return -1 - (int64_t)(place * FG_LATER_IDS + kind);
}

static int64_t resolved(const struct fg_later *later, int64_t number)
{
	const uint64_t place = (uint64_t)(-1 - number);

	if (number >= 0 || number == FG_NO_NUMBER)
		return number;
	FG_ASSERT(place / FG_LATER_IDS < later->id_count[place % FG_LATER_IDS]);
	return later->ids[place % FG_LATER_IDS][place / FG_LATER_IDS];
}

int64_t fg_store_add_later(struct fg_store *store, enum fg_later_id kind,
			   const struct fg_rows *rows)
{
	FG_ASSERT(store->batch.later.collects && rows->count == 1);
	keep_rows(&store->batch.later, adders[kind], rows);
	return stand_in(kind, table_of(&store->batch.later, adders[kind])->rows.count - 1);
}

int fg_store_add_conditions(struct fg_store *store, const struct fg_scoped *scoped, size_t count,
			    struct fg_error *err)
{
	struct fg_later *later = &store->batch.later;

	if (!later->collects)
		return fg_store_put_conditions(store, scoped, count, err);
	later->scoped = fg_grow(later->scoped, &later->scoped_capacity, later->scoped_count + count,
				sizeof(*later->scoped));
	memcpy(later->scoped + later->scoped_count, scoped, count * sizeof(*scoped));
	later->scoped_count += count;
	return FG_OK;
}

static void release_column(const struct fg_column *column)
{
	free((void *)(uintptr_t)column->numbers);
	free((void *)(uintptr_t)column->doubles);
	free((void *)(uintptr_t)column->texts);
	free((void *)(uintptr_t)column->blobs);
}

static void forget(struct fg_later *later)
{
	const bool collects = later->collects;

	for (size_t i = 0; i < later->table_count; i++) {
		for (size_t c = 0; c < later->tables[i].rows.column_count; c++)
			release_column(&later->tables[i].rows.columns[c]);
	}
	for (size_t kind = 0; kind < FG_LATER_IDS; kind++)
		free(later->ids[kind]);
	free(later->scoped);
	fg_arena_release(&later->texts);
	*later = (struct fg_later){.collects = collects};
}

/* Puts ids in the place of what stands for them. */
static void resolve(struct fg_later *later, const struct fg_rows *rows)
{
	for (size_t c = 0; c < rows->column_count; c++) {
		int64_t *numbers = (int64_t *)(uintptr_t)rows->columns[c].numbers;

		for (size_t i = 0; i < rows->count && numbers; i++)
			numbers[i] = resolved(later, numbers[i]);
	}
}

static int write_identified(struct fg_store *store, enum fg_later_id kind,
			    const struct fg_rows *rows, struct fg_error *err)
{
	struct fg_later *later = &store->batch.later;
	int64_t *ids = fg_xcalloc(rows->count, sizeof(*ids));
	const int status = fg_query_rows(store->db, adders[kind], rows, ids, err);

	later->ids[kind] = ids;
	later->id_count[kind] = rows->count;
	for (size_t i = 0; i < rows->count && status == FG_OK; i++) {
		if (ids[i] == 0)
			return fg_error_set(err, FG_EBUSY,
					    "%s: one of these runs has just been stored: try again",
					    store->db->name);
	}
	return status;
}

static int write_table(struct fg_store *store, const struct fg_later_rows *table,
		       struct fg_error *err)
{
	resolve(&store->batch.later, &table->rows);
	for (unsigned kind = 0; kind < FG_LATER_IDS; kind++) {
		if (table->sql == adders[kind])
			return write_identified(store, (enum fg_later_id)kind, &table->rows, err);
	}
	return write_rows(store, table->sql, &table->rows, err);
}

/*
 * Runs come first, then their series: that is the order in which they were added.  Conditions come
 * last: from new ones on, until the commit, other sessions wait to add theirs.
 */
int fg_store_write_later(struct fg_store *store, struct fg_error *err)
{
	struct fg_later *later = &store->batch.later;
	int status = FG_OK;

	for (size_t i = 0; i < later->table_count && status == FG_OK; i++)
		status = write_table(store, &later->tables[i], err);
	for (size_t i = 0; i < later->scoped_count && status == FG_OK; i++)
		later->scoped[i].run = resolved(later, later->scoped[i].run);
	if (status == FG_OK && later->scoped_count)
		status = fg_store_put_conditions(store, later->scoped, later->scoped_count, err);
	forget(later);
	return status;
}

void fg_later_release(struct fg_later *later)
{
	forget(later);
	later->collects = false;
}
