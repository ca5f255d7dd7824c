// SPDX-License-Identifier: Apache-2.0
#include "store/db.h"

#include "base/arena.h"
#include "base/strbuf.h"
#include "base/text.h"

#include <math.h>

enum {
	ROW_BYTES = 64 /* bytes of a row without its text and blobs: numbers, indexes */
};

bool fg_db_is_url(const char *location)
{
	return fg_text_starts_with(location, "postgresql://") ||
	       fg_text_starts_with(location, "postgres://");
}

int fg_db_open(const char *location, unsigned flags, struct fg_db **db, struct fg_error *err)
{
	struct fg_db *opened = NULL;
	int status = FG_OK;

	if (!fg_db_is_url(location))
		status = fg_sqlite_open(location, flags, &opened, err);
	else
#ifdef FG_WITH_POSTGRES
		status = fg_postgres_open(location, flags, &opened, err);
#else
		status = fg_error_set(err, FG_EUNSUPPORTED,
				      "this build has no PostgreSQL support: build with "
				      "-DFG_WITH_POSTGRES=ON, or give the path of an SQLite file");
#endif
	if (status != FG_OK) {
		fg_db_close(opened);
		return status;
	}
	*db = opened;
	return FG_OK;
}

void fg_db_close(struct fg_db *db)
{
	if (!db)
		return;
	fg_db_rollback(db);
	free(db->location);
	free(db->name);
	db->location = NULL;
	db->name = NULL;
	db->ops->close(db);
}

bool fg_db_is_broken(const struct fg_db *db)
{
	return db->ops->is_broken && db->ops->is_broken(db);
}

int fg_db_script(struct fg_db *db, const char *sql, struct fg_error *err)
{
	return db->ops->script(db, sql, err);
}

char *fg_db_schema_text(const struct fg_db *db, const char *schema)
{
	const struct {
		const char *word;
		const char *meaning;
	} words[] = {
		{"@ID@", db->ops->id},
		{"@TEXT@", db->ops->text},
		{"@BYTES@", db->ops->bytes},
		{"@CLUSTERED@", db->ops->clustered},
	};
	struct fg_strbuf text = {0};

	while (*schema) {
		size_t i = 0;

		while (i < FG_ARRAY_SIZE(words) &&
		       strncmp(schema, words[i].word, strlen(words[i].word)) != 0)
			i++;
		if (i < FG_ARRAY_SIZE(words)) {
			fg_strbuf_add_text(&text, words[i].meaning);
			schema += strlen(words[i].word);
		} else {
			fg_strbuf_add_char(&text, *schema++);
		}
	}
	return fg_strbuf_detach(&text);
}

int fg_db_begin(struct fg_db *db, enum fg_db_mode mode, struct fg_error *err)
{
	int status = FG_OK;

	FG_ASSERT(!db->in_transaction);
	status = db->ops->begin(db, mode, err);
	db->in_transaction = status == FG_OK;
	return status;
}

int fg_db_commit(struct fg_db *db, struct fg_error *err)
{
	int status = FG_OK;

	FG_ASSERT(db->in_transaction);
	status = db->ops->script(db, "COMMIT", err);
	if (status != FG_OK)
		fg_db_rollback(db);
	db->in_transaction = false;
	return status;
}

void fg_db_rollback(struct fg_db *db)
{
	if (!db->in_transaction)
		return;
	(void)db->ops->script(db, "ROLLBACK", NULL);
	db->in_transaction = false;
}

void fg_query_begin(struct fg_query *query, struct fg_db *db, enum fg_sql sql)
{
	query->db = db;
	query->sql = sql;
	query->parameters = 0;
	query->statement = NULL;
	query->row = -1;
	query->failed = FG_OK;
	query->inserts = fg_text_starts_with(fg_sql_texts[sql].text, "INSERT ");
	if (query->inserts)
		db->written_bytes += ROW_BYTES;
	db->ops->query_begin(query);
}

/* Returns the size of a string or blob; 0 for numbers, which ROW_BYTES includes. */
static int64_t bind_size(const struct fg_bind *bind)
{
	if (bind->kind == FG_BIND_TEXT)
		return bind->text ? (int64_t)strlen(bind->text) : 0;
	return bind->kind == FG_BIND_BYTES ? (int64_t)bind->bytes.size : 0;
}

void fg_query_bind(struct fg_query *query, const struct fg_bind *bind)
{
	const struct fg_db_ops *ops = query->db->ops;

	FG_ASSERT(query->parameters < FG_QUERY_MAX_PARAMETERS);
	if (fg_bind_is_null(bind))
		ops->bind_null(query);
	else if (bind->kind == FG_BIND_NUMBER)
		ops->bind_int(query, bind->number);
	else if (bind->kind == FG_BIND_REAL)
		ops->bind_double(query, bind->real);
	else if (bind->kind == FG_BIND_TEXT)
		ops->bind_bytes(query, bind->text, strlen(bind->text), true);
	else
		ops->bind_bytes(query, bind->bytes.data, bind->bytes.size, false);
	if (query->inserts)
		query->db->written_bytes += bind_size(bind);
	query->parameters++;
}

int fg_query_step(struct fg_query *query, struct fg_error *err)
{
	return query->db->ops->step(query, err);
}

void fg_query_end(struct fg_query *query)
{
	query->db->ops->query_end(query);
}

int fg_query_run(struct fg_query *query, struct fg_error *err)
{
	int status = FG_OK;

	do
		status = fg_query_step(query, err);
	while (status > 0);
	fg_query_end(query);
	return status;
}

void fg_query_with_binds(struct fg_query *query, struct fg_db *db, enum fg_sql sql,
			 const struct fg_bind *binds, size_t count)
{
	fg_query_begin(query, db, sql);
	for (size_t i = 0; i < count; i++)
		fg_query_bind(query, &binds[i]);
}

int fg_query_do_binds(struct fg_db *db, struct fg_error *err, enum fg_sql sql,
		      const struct fg_bind *binds, size_t count)
{
	struct fg_query q;

	fg_query_with_binds(&q, db, sql, binds, count);
	return fg_query_run(&q, err);
}

int fg_query_value(struct fg_query *query, int64_t *value, struct fg_error *err)
{
	int status = fg_query_step(query, err);

	if (status > 0) {
		*value = fg_column_int(query, 0);
		status = FG_OK;
	} else if (status == FG_OK) {
		status = FG_ENOENT;
	}
	fg_query_end(query);
	return status;
}

int fg_query_find_binds(struct fg_db *db, int64_t *value, struct fg_error *err, enum fg_sql sql,
			const struct fg_bind *binds, size_t count)
{
	struct fg_query q;

	fg_query_with_binds(&q, db, sql, binds, count);
	return fg_query_value(&q, value, err);
}

void fg_rows_add(struct fg_rows *rows, const struct fg_bind *binds, size_t count)
{
	rows->columns = count;
	rows->binds = fg_grow(rows->binds, &rows->capacity, (rows->count + 1) * count,
			      sizeof(rows->binds[0]));
	memcpy(rows->binds + rows->count++ * count, binds, count * sizeof(binds[0]));
}

void fg_rows_release(struct fg_rows *rows)
{
	free(rows->binds);
	*rows = (struct fg_rows){0};
}

static int query_row(struct fg_db *db, enum fg_sql sql, const struct fg_rows *rows, size_t row,
		     int64_t *ids, struct fg_error *err)
{
	struct fg_query q;
	int status = FG_OK;

	fg_query_with_binds(&q, db, sql, rows->binds + row * rows->columns, rows->columns);
	if (!ids)
		return fg_query_run(&q, err);
	ids[row] = 0;
	status = fg_query_value(&q, &ids[row], err);
	return status == FG_ENOENT ? FG_OK : status;
}

int fg_query_rows(struct fg_db *db, enum fg_sql sql, const struct fg_rows *rows, int64_t *ids,
		  struct fg_error *err)
{
	int status = FG_OK;

	if (db->ops->query_rows && rows->count > 1) {
		if (fg_text_starts_with(fg_sql_texts[sql].text, "INSERT ")) {
			db->written_bytes += (int64_t)(rows->count * ROW_BYTES);
			for (size_t i = 0; i < rows->count * rows->columns; i++)
				db->written_bytes += bind_size(&rows->binds[i]);
		}
		return db->ops->query_rows(db, sql, rows, ids, err);
	}
	for (size_t i = 0; i < rows->count && status == FG_OK; i++)
		status = query_row(db, sql, rows, i, ids, err);
	return status;
}

int fg_db_next_id(struct fg_db *db, enum fg_sql last, int64_t *next, struct fg_error *err)
{
	struct fg_query q;
	int status = FG_OK;

	FG_ASSERT(db->in_transaction);
	fg_query_begin(&q, db, last);
	status = fg_query_value(&q, next, err);
	*next += 1;
	return status;
}

static bool is_null(const struct fg_query *query, int column)
{
	return query->db->ops->is_null(query, column);
}

int64_t fg_column_int(const struct fg_query *query, int column)
{
	return is_null(query, column) ? 0 : query->db->ops->column_int(query, column);
}

double fg_column_double(const struct fg_query *query, int column)
{
	return is_null(query, column) ? (double)NAN : query->db->ops->column_double(query, column);
}

const char *fg_column_text(const struct fg_query *query, int column)
{
	size_t size = 0;

	if (is_null(query, column))
		return NULL;
	return query->db->ops->column_bytes(query, column, &size);
}

char *fg_column_copy(const struct fg_query *query, int column)
{
	return fg_xstrdup(fg_column_text(query, column));
}

char *fg_column_keep(const struct fg_query *query, int column, struct fg_arena *texts)
{
	return fg_arena_strdup(texts, fg_column_text(query, column));
}

const void *fg_column_bytes(const struct fg_query *query, int column, size_t *size)
{
	*size = 0;
	if (is_null(query, column))
		return NULL;
	return query->db->ops->column_bytes(query, column, size);
}
