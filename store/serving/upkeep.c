// SPDX-License-Identifier: Apache-2.0
#include "store/serving/upkeep.h"

#include "base/fs.h"
#include "base/strbuf.h"
#include "store/bytes.h"
#include "store/chunks.h"
#include "store/db.h"
#include "store/matrix.h"
#include "store/measures.h"
#include "store/session.h"

static void finding(struct fg_strbuf *findings, size_t *count, const char *words)
{
	fg_strbuf_printf(findings, "%s\n", words);
	(*count)++;
}

/* Every chunk is opened; every id that it names must be there. */
static int check_chunk(struct fg_store *store, const struct fg_query *q, struct fg_strbuf *findings,
		       size_t *count)
{
	size_t size = 0;
	const void *data = fg_column_bytes(q, 2, &size);
	struct fg_error reason = {0};
	struct fg_bytes content = {0};
	struct fg_matrix matrix = {0};
	int status = fg_unpack(data, size, FG_MAX_CHUNK_BYTES, &content, &reason);

	(void)store;
	if (status == FG_OK && fg_measure_is_rows(fg_column_int(q, 1))) {
		struct fg_byte_reader reader = {content.data, content.data + content.size, false};

		status = fg_matrix_read(&reader, 0, &matrix, &reason);
	}
	if (status != FG_OK) {
		fg_error_prefix(&reason, "series %lld, chunk of kind %lld",
				(long long)fg_column_int(q, 0), (long long)fg_column_int(q, 1));
		finding(findings, count, reason.message);
	}
	fg_matrix_release(&matrix);
	fg_bytes_release(&content);
	return FG_OK;
}

static int check_pages(struct fg_store *store, struct fg_strbuf *findings, size_t *count,
		       struct fg_error *err)
{
	struct fg_query q;
	int status = FG_OK;

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

struct findings {
	struct fg_strbuf *words;
	size_t *count;
};

static void take_finding(void *context, const char *words)
{
	const struct findings *findings = context;

	finding(findings->words, findings->count, words);
}

int fg_store_check(struct fg_store *store, struct fg_strbuf *findings, size_t *count,
		   struct fg_error *err)
{
	struct fg_query q;
	int status = FG_OK;

	*count = 0;
	status = check_pages(store, findings, count, err);
	if (status != FG_OK)
		return status;
	status = fg_call_paths_check(store, take_finding, &(struct findings){findings, count}, err);
	if (status != FG_OK)
		return status;
	fg_query_begin(&q, store->db, FG_SQL_CHUNKS_ALL);
	while ((status = fg_query_step(&q, err)) > 0)
		(void)check_chunk(store, &q, findings, count);
	fg_query_end(&q);
	return status;
}

int fg_store_backup(struct fg_store *store, const char *path, struct fg_error *err)
{
	struct fg_query q;
	int status = FG_OK;

	if (fg_db_is_url(store->db->location))
		return fg_error_set(err, FG_EUNSUPPORTED,
				    "a PostgreSQL store is backed up with pg_dump");
	if (fg_fs_exists(path))
		return fg_error_set(err, FG_ECONFLICT,
				    "'%s' exists already: a backup never overwrites", path);
	/* It writes to another file, which a read-only session may not do either. */
	status = fg_db_script(store->db, "PRAGMA query_only = OFF", err);
	if (status != FG_OK)
		return status;
	fg_query_begin(&q, store->db, FG_SQL_VACUUM_INTO);
	fg_query_text(&q, path);
	status = fg_query_run(&q, err);
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
