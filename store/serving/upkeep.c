// SPDX-License-Identifier: Apache-2.0
#include "store/serving/upkeep.h"

#include "base/fs.h"
#include "base/strbuf.h"
#include "store/bytes.h"
#include "store/chunks.h"
#include "store/db.h"
#include "store/matrix.h"
#include "store/measures.h"
#include "store/paths.h"
#include "store/session.h"
#include "store/totals.h"

static void finding(struct fg_strbuf *findings, size_t *count, const char *words)
{
	fg_strbuf_printf(findings, "%s\n", words);
	(*count)++;
}

/* Unpacks and reads a series' block from the query's third column. */
static int check_block(const struct fg_query *q, bool is_totals, struct fg_error *reason)
{
	size_t size = 0;
	const void *data = fg_column_bytes(q, 2, &size);
	struct fg_bytes content = {0};
	struct fg_matrix matrix = {0};
	struct fg_totals totals = {0};
	struct fg_byte_reader reader;
	int status = FG_OK;

	FG_TRY(fg_unpack(data, size, FG_MAX_CHUNK_BYTES, &content, reason));
	reader = (struct fg_byte_reader){content.data, content.data + content.size, false};
	if (is_totals)
		status = fg_totals_read(&reader, &totals, reason);
	else if (fg_measure_is_rows(fg_column_int(q, 1)))
		status = fg_matrix_read(&reader, 0, &matrix, reason);
	else if (fg_column_int(q, 1) == FG_CHUNK_PATHS)
		status = fg_stored_paths_read(&reader, NULL, reason);
	fg_totals_release(&totals);
	fg_matrix_release(&matrix);
	fg_bytes_release(&content);
	return status;
}

static int check_blocks(struct fg_store *store, enum fg_sql sql, const char *what,
			struct fg_strbuf *findings, size_t *count, struct fg_error *err)
{
	struct fg_query q;
	int status = FG_OK;

	fg_query_begin(&q, store->db, sql);
	while ((status = fg_query_step(&q, err)) > 0) {
		struct fg_error reason = {0};

		if (check_block(&q, sql == FG_SQL_TOTALS_ALL, &reason) == FG_OK)
			continue;
		fg_error_prefix(&reason, "series %lld, %s %lld", (long long)fg_column_int(&q, 0),
				what, (long long)fg_column_int(&q, 1));
		finding(findings, count, reason.message);
	}
	fg_query_end(&q);
	return status;
}

static int check_pages(struct fg_store *store, struct fg_strbuf *findings, size_t *count,
		       struct fg_error *err)
{
	struct fg_query q;
	int status = FG_OK;

	*count = 0;
	if (fg_db_is_url(store->db->location))
		return FG_OK;
	fg_query_begin(&q, store->db, FG_SQL_QUICK_CHECK);
	while ((status = fg_query_step(&q, err)) > 0) {
		if (strcmp(fg_column_text(&q, 0), "ok") != 0)
			finding(findings, count, fg_column_text(&q, 0));
	}
	fg_query_end(&q);
	return status;
}

int fg_store_check(struct fg_store *store, struct fg_strbuf *findings, size_t *count,
		   struct fg_error *err)
{
	FG_TRY(check_pages(store, findings, count, err));
	FG_TRY(check_blocks(store, FG_SQL_CHUNKS_ALL, "chunk of kind", findings, count, err));
	return check_blocks(store, FG_SQL_TOTALS_ALL, "times by function of measure", findings,
			    count, err);
}

int fg_store_backup(struct fg_store *store, const char *path, struct fg_error *err)
{
	int status = FG_OK;

	if (fg_db_is_url(store->db->location))
		return fg_error_set(err, FG_EUNSUPPORTED,
				    "a PostgreSQL store cannot be backed up here: use pg_dump");
	if (fg_fs_exists(path))
		return fg_error_set(err, FG_ECONFLICT,
				    "'%s' exists already: a backup never overwrites a file", path);
	/* The backup writes to another file, which SQLite refuses in a read-only session. */
	FG_TRY(fg_db_script(store->db, "PRAGMA query_only = OFF", err));
	status = FG_QUERY_DO(store->db, err, FG_SQL_VACUUM_INTO, FG_BIND(path));
	if (store->db->read_only && status == FG_OK)
		status = fg_db_script(store->db, "PRAGMA query_only = ON", err);
	if (status != FG_OK)
		fg_error_prefix(err, "backup to '%s'", path);
	return status;
}

int fg_store_lag(struct fg_store *store, int64_t *milliseconds, struct fg_error *err)
{
	struct fg_query q;

	*milliseconds = 0;
	if (!fg_db_is_url(store->db->location))
		return FG_OK;
	fg_query_begin(&q, store->db, FG_SQL_REPLICA_LAG);
	return fg_query_value(&q, milliseconds, err);
}
