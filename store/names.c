// SPDX-License-Identifier: Apache-2.0
#include "store/names.h"

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
	return FG_QUERY_FIND(store->db, id, err, sql, FG_BIND(fg_digest_blob(digest)));
}

/* Looks up the digests whose ids are not known. */
static int find_all(struct fg_store *store, const struct fg_interned *all, struct fg_error *err)
{
	size_t *places = fg_xcalloc(all->count, sizeof(*places));
	int64_t *found = fg_xcalloc(all->count, sizeof(*found));
	struct fg_rows rows = {0};
	int status = FG_OK;

	for (size_t i = 0; i < all->count; i++) {
		const uint64_t *known = fg_map_get(all->known, all->digests[i], FG_DIGEST_SIZE);

		if (known && *known)
			continue;
		places[rows.count] = i;
		FG_ROWS_ADD(&rows, FG_BIND(fg_digest_blob(all->digests[i])));
	}
	status = fg_query_rows(store->db, all->find, &rows, found, err);
	for (size_t i = 0; i < rows.count && status == FG_OK; i++)
		*fg_map_add(all->known, all->digests[places[i]], FG_DIGEST_SIZE, 0, NULL) =
			(uint64_t)found[i];
	fg_rows_release(&rows);
	free(found);
	free(places);
	return status;
}

int fg_store_intern_all(struct fg_store *store, const struct fg_interned *all, int64_t *ids,
			struct fg_error *err)
{
	struct fg_rows rows = {0};
	int64_t next = 0;
	int status = find_all(store, all, err);

	for (size_t i = 0; i < all->count && status == FG_OK; i++) {
		uint64_t *id = fg_map_add(all->known, all->digests[i], FG_DIGEST_SIZE, 0, NULL);

		if (*id == 0 && next == 0)
			status = fg_db_next_id(store->db, all->last, &next, err);
		if (*id == 0 && status == FG_OK) {
			*id = (uint64_t)next++;
			all->add_row(&rows, (int64_t)*id, all, i);
		}
		ids[i] = (int64_t)*id;
	}
	if (status == FG_OK)
		status = fg_query_rows(store->db, all->add, &rows, NULL, err);
	fg_rows_release(&rows);
	return status;
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
	uint8_t digest[FG_DIGEST_SIZE];
	uint64_t *known = NULL;

	FG_TRY(fg_store_find_texts(store, &text, 1, err));
	fg_digest(text, NULL, NULL, digest);
	known = fg_map_add(&store->transaction.texts, digest, FG_DIGEST_SIZE, 0, NULL);
	*id = (int64_t)*known;
	if (*id)
		return FG_OK;
	FG_TRY(FG_QUERY_FIND(store->db, id, err, FG_SQL_WORDS_ADD, FG_BIND(fg_digest_blob(digest)),
			     FG_BIND(text)));
	*known = (uint64_t)*id;
	return FG_OK;
}

int fg_store_find_texts(struct fg_store *store, const char *const *texts, size_t count,
			struct fg_error *err)
{
	struct fg_interned all = {.find = FG_SQL_WORDS_FIND,
				  .known = &store->transaction.texts,
				  .digests = fg_xcalloc(count, FG_DIGEST_SIZE)};
	int status = FG_OK;

	for (size_t i = 0; i < count; i++) {
		if (!texts[i])
			continue;
		fg_digest(texts[i], NULL, NULL, all.digests[all.count]);
		/*
		 * A digest that the database lacks has an entry as well: do not look it up again.
		 */
		all.count += !fg_map_get(all.known, all.digests[all.count], FG_DIGEST_SIZE);
	}
	status = find_all(store, &all, err);
	free(all.digests);
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
	FG_TRY_OUT(fg_store_project(store, project_name, &project, err));
	FG_TRY_OUT(find_benchmark(store, project, name, id, err));
	(void)fg_map_add(&store->transaction.places, key.data, key.length, (uint64_t)*id, NULL);
out:
	fg_strbuf_release(&key);
	return status;
}
