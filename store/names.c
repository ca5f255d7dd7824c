// SPDX-License-Identifier: Apache-2.0
#include "store/names.h"

#include "base/arena.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/strbuf.h"
#include "store/db.h"
#include "store/session.h"

void fg_digest(const char *a, const char *b, const char *c, uint8_t digest[16])
{
	const char *const parts[] = {a, b, c};
	uint8_t whole[FG_SHA256_SIZE];
	struct fg_sha256 sha;

	fg_sha256_init(&sha);
	for (size_t i = 0; i < FG_ARRAY_SIZE(parts) && parts[i]; i++)
		fg_sha256_add(&sha, parts[i], strlen(parts[i]) + 1);
	fg_sha256_finish(&sha, whole);
	memcpy(digest, whole, 16);
}

int fg_store_look_up(struct fg_store *store, enum fg_sql sql, const uint8_t digest[FG_DIGEST_SIZE],
		     int64_t *id, struct fg_error *err)
{
	struct fg_query q;

	fg_query_begin(&q, store->db, sql);
	fg_query_bytes(&q, digest, FG_DIGEST_SIZE);
	return fg_query_value(&q, id, err);
}

static int find_project(struct fg_store *store, const char *name, int64_t *id, struct fg_error *err)
{
	int status = FG_OK;

	status = FG_QUERY_FIND(store->db, id, err, FG_SQL_PROJECT_FIND, FG_BIND(name));
	if (status != FG_ENOENT)
		return status;
	return FG_QUERY_FIND(store->db, id, err, FG_SQL_PROJECT_ADD, FG_BIND(name));
}

int fg_store_project(struct fg_store *store, const char *name, int64_t *id, struct fg_error *err)
{
	const uint64_t *known = fg_map_get_text(&store->transaction.places, name);

	if (known) {
		*id = (int64_t)*known;
		return FG_OK;
	}
	FG_TRY(find_project(store, name, id, err));
	(void)fg_map_add_text(&store->transaction.places, name, (uint64_t)*id, NULL);
	return FG_OK;
}

int fg_store_text_id(struct fg_store *store, const char *text, int64_t *id, struct fg_error *err)
{
	const uint64_t *known = fg_map_get_text(&store->transaction.texts, text);
	uint8_t digest[16];
	struct fg_query q;
	int status = FG_OK;

	if (known && *known) {
		*id = (int64_t)*known;
		return FG_OK;
	}
	fg_digest(text, NULL, NULL, digest);
	status = fg_store_look_up(store, FG_SQL_WORDS_FIND, digest, id, err);
	if (status == FG_ENOENT) {
		fg_query_begin(&q, store->db, FG_SQL_WORDS_ADD);
		fg_query_bytes(&q, digest, sizeof(digest));
		fg_query_text(&q, text);
		status = fg_query_value(&q, id, err);
	}
	if (status != FG_OK)
		return status;
	*fg_map_add_text(&store->transaction.texts, text, 0, NULL) = (uint64_t)*id;
	return FG_OK;
}

int fg_store_find_texts(struct fg_store *store, const char *const *texts, size_t count,
			struct fg_error *err)
{
	struct fg_arena arena = {0};
	struct fg_blob *digests = NULL;
	const char **wanted = NULL;
	int64_t *ids = NULL;
	struct fg_rows rows = {.column_count = 1};
	int status = FG_OK;

	digests = fg_arena_array(&arena, count, sizeof(*digests));
	wanted = fg_arena_array(&arena, count, sizeof(*wanted));
	ids = fg_arena_array(&arena, count, sizeof(*ids));
	for (size_t i = 0; i < count; i++) {
		uint8_t *digest = NULL;

		if (!texts[i] || fg_map_get_text(&store->transaction.texts, texts[i]))
			continue;
		digest = fg_arena_array(&arena, FG_DIGEST_SIZE, 1);
		fg_digest(texts[i], NULL, NULL, digest);
		wanted[rows.count] = texts[i];
		digests[rows.count++] = (struct fg_blob){digest, FG_DIGEST_SIZE};
	}
	rows.columns[0].blobs = digests;
	if (rows.count)
		status = fg_query_rows(store->db, FG_SQL_WORDS_FIND, &rows, ids, err);
	/* Misses are remembered as well, so that this transaction need not look them up again. */
	for (size_t i = 0; i < rows.count && status == FG_OK; i++)
		(void)fg_map_add_text(&store->transaction.texts, wanted[i], (uint64_t)ids[i], NULL);
	fg_arena_release(&arena);
	return status;
}

static int find_benchmark(struct fg_store *store, int64_t project, const char *name, int64_t *id,
			  struct fg_error *err)
{
	int status = FG_OK;

	status = FG_QUERY_FIND(store->db, id, err, FG_SQL_BENCHMARK_FIND, FG_BIND(project),
			       FG_BIND(name));
	if (status != FG_ENOENT)
		return status;
	return FG_QUERY_FIND(store->db, id, err, FG_SQL_BENCHMARK_ADD, FG_BIND(project),
			     FG_BIND(name));
}

int fg_store_benchmark_id(struct fg_store *store, const char *project_name, const char *name,
			  int64_t *id, struct fg_error *err)
{
	struct fg_strbuf key = {0};
	const uint64_t *known = NULL;
	int64_t project = 0;
	int status = FG_OK;

	fg_strbuf_add_text(&key, project_name);
	fg_strbuf_add_char(&key, '\0');
	fg_strbuf_add_text(&key, name);
	known = fg_map_get(&store->transaction.places, key.data, key.length);
	if (known) {
		*id = (int64_t)*known;
		goto out;
	}
	status = fg_store_project(store, project_name, &project, err);
	if (status != FG_OK)
		goto out;
	status = find_benchmark(store, project, name, id, err);
	if (status != FG_OK)
		goto out;
	(void)fg_map_add(&store->transaction.places, key.data, key.length, (uint64_t)*id, NULL);
out:
	fg_strbuf_release(&key);
	return status;
}
