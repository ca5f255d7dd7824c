// SPDX-License-Identifier: Apache-2.0
#include "store/store.h"

#include "base/hash.h"
#include "base/log.h"
#include "store/query.h"
#include "store/store_private.h"

enum {
	CACHE_LIMIT = 4 << 20
};

static int read_version(struct fg_db *db, int64_t *version, struct fg_error *err)
{
	struct fg_query q;
	int status = FG_OK;

	fg_query_begin(&q, db, FG_SQL_SCHEMA_VERSION);
	status = fg_query_value(&q, version, err);
	if (status == FG_ENOENT)
		status = fg_error_set(err, FG_EDB,
				      "%s does not say which version it has: it is damaged",
				      db->name);
	return status;
}

static int apply(struct fg_db *db, int64_t from, struct fg_error *err)
{
	char text[64];
	int status = FG_OK;

	for (size_t i = 0; i < FG_SCHEMA_PARTS && status == FG_OK; i++) {
		char *script = NULL;

		if (fg_schema_parts[i].version <= from)
			continue;
		script = fg_db_schema_text(db, fg_schema_parts[i].text);
		status = fg_db_script(db, script, err);
		free(script);
	}
	(void)snprintf(text, sizeof(text), "UPDATE schema_version SET version = %d",
		       FG_SCHEMA_VERSION);
	if (status == FG_OK)
		status = fg_db_script(db, text, err);
	if (status != FG_OK)
		fg_error_prefix(err, "cannot bring the store from version %lld to %d",
				(long long)from, FG_SCHEMA_VERSION);
	return status;
}

/* Two processes may open a new store at the same time: the version is read again under the lock. */
static int migrate(struct fg_db *db, struct fg_error *err)
{
	int64_t version = 0;
	int status = fg_db_begin(db, true, err);

	if (status != FG_OK)
		return status;
	status = fg_db_script(
		db,
		"CREATE TABLE IF NOT EXISTS schema_version (version BIGINT NOT NULL); "
		"INSERT INTO schema_version SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM schema_version)",
		err);
	if (status == FG_OK)
		status = read_version(db, &version, err);
	if (status == FG_OK && version < FG_SCHEMA_VERSION)
		status = apply(db, version, err);
	if (status == FG_OK)
		return fg_db_commit(db, err);
	fg_db_rollback(db);
	return status;
}

static int check_version(struct fg_db *db, bool *is_old, struct fg_error *err)
{
	int64_t version = 0;
	struct fg_error reason = {0};
	int status = read_version(db, &version, &reason);

	*is_old = status != FG_OK || version < FG_SCHEMA_VERSION;
	if (status != FG_OK) {
		/* No such table: a store that was just made.  Anything else stays an error. */
		if (status == FG_EDB && strstr(reason.message, "schema_version"))
			return FG_OK;
		return fg_error_set(err, reason.code, "%s", reason.message);
	}
	if (version > FG_SCHEMA_VERSION)
		return fg_error_set(
			err, FG_EDB,
			"%s was written by a newer fastgate (store version %lld, this one knows %d): use that one, or another store",
			db->name, (long long)version, FG_SCHEMA_VERSION);
	return FG_OK;
}

static int open_checked(const char *location, unsigned flags, struct fg_db **db, bool *is_old,
			struct fg_error *err)
{
	unsigned db_flags = 0;
	int status = FG_OK;

	if (flags & FG_STORE_READ_ONLY)
		db_flags |= FG_DB_READ_ONLY;
	if (flags & FG_STORE_DURABLE)
		db_flags |= FG_DB_DURABLE;
	status = fg_db_open(location, db_flags, db, err);
	if (status != FG_OK)
		return status;
	status = check_version(*db, is_old, err);
	if (status == FG_OK && *is_old && !(flags & FG_STORE_READ_ONLY))
		status = migrate(*db, err);
	else if (status == FG_OK && *is_old && !(flags & FG_STORE_MIGRATE))
		status = fg_error_set(
			err, FG_EDB,
			"%s was written by an older fastgate: `perfdb migrate` brings it up to date",
			(*db)->name);
	if (status != FG_OK) {
		fg_db_close(*db);
		*db = NULL;
	}
	return status;
}

/* Somebody only wants to read in an older store. */
static int bring_up_to_date(const char *location, struct fg_error *err)
{
	struct fg_db *db = NULL;
	bool is_old = false;
	int status = open_checked(location, 0, &db, &is_old, err);

	if (status == FG_OK)
		fg_db_close(db);
	else
		fg_error_prefix(err,
				"written by an older fastgate, to be brought up to date first");
	return status;
}

int fg_store_open(const char *location, unsigned flags, struct fg_store **store,
		  struct fg_error *err)
{
	struct fg_db *db = NULL;
	bool is_old = false;
	int status = open_checked(location, flags, &db, &is_old, err);

	if (status == FG_OK && is_old && (flags & FG_STORE_READ_ONLY)) {
		fg_db_close(db);
		status = bring_up_to_date(location, err);
		if (status == FG_OK)
			status = open_checked(location, flags, &db, &is_old, err);
	}
	if (status != FG_OK)
		return status;
	*store = fg_xcalloc(1, sizeof(**store));
	(*store)->db = db;
	(*store)->for_server = flags & FG_STORE_DURABLE;
	return FG_OK;
}

bool fg_store_is_broken(const struct fg_store *store)
{
	return fg_db_is_broken(store->db);
}

const char *fg_store_location(const struct fg_store *store)
{
	return store->db->location;
}

void fg_store_set_name(struct fg_store *store, const char *name)
{
	free(store->db->name);
	store->db->name = fg_xstrdup(name);
}

void fg_store_forget_progress(struct fg_store *store)
{
	for (size_t i = 0; i < store->mark_count; i++) {
		free(store->marks[i].functions);
		free(store->marks[i].nodes);
	}
	free(store->marks);
	store->marks = NULL;
	store->mark_count = 0;
	store->progress_run[0] = '\0';
}

/* What garbage collection may remove before the next batch. */
static void forget_batch(struct fg_store *store)
{
	fg_map_release(&store->facts);
	fg_map_release(&store->fact_sets);
	fg_map_release(&store->words);
	fg_map_release(&store->places);
}

static void forget_ids(struct fg_store *store)
{
	fg_map_release(&store->functions);
	fg_map_release(&store->nodes);
	forget_batch(store);
}

void fg_store_share_ids(struct fg_store *store, struct fg_ids *ids)
{
	store->shared = ids;
}

void fg_store_close(struct fg_store *store)
{
	if (!store)
		return;
	fg_store_forget_progress(store);
	forget_ids(store);
	fg_store_forget_functions(store);
	free(store->tree);
	fg_db_close(store->db);
	free(store);
}

static void limit_cache(struct fg_store *store)
{
	if (store->nodes.count > CACHE_LIMIT || store->functions.count > CACHE_LIMIT) {
		fg_map_release(&store->functions);
		fg_map_release(&store->nodes);
	}
}

int fg_store_begin(struct fg_store *store, struct fg_error *err)
{
	limit_cache(store);
	store->knows_all_functions = false;
	store->knows_all_nodes = false;
	if (store->is_spoiled)
		return fg_error_set(err, FG_EBUSY, "%s: another part of the transaction has failed",
				    store->db->name);
	return store->in_batch ? FG_OK : fg_db_begin(store->db, true, err);
}

/* Roll back, and forget ids. */
static void undo(struct fg_store *store)
{
	fg_db_rollback(store->db);
	forget_ids(store);
	fg_store_forget_functions(store);
	fg_store_forget_progress(store);
}

int fg_store_end(struct fg_store *store, int status, struct fg_error *err)
{
	if (store->in_batch) {
		store->is_spoiled = store->is_spoiled || status != FG_OK;
		return status;
	}
	if (status == FG_OK)
		status = fg_db_commit(store->db, err);
	if (status != FG_OK)
		undo(store);
	return status;
}

int fg_store_view(struct fg_store *store, bool *mine, struct fg_error *err)
{
	int status = FG_OK;

	*mine = false;
	if (store->db->in_transaction)
		return FG_OK;
	fg_store_limit_functions(store);
	status = fg_db_begin(store->db, false, err);
	*mine = status == FG_OK;
	return status;
}

void fg_store_view_end(struct fg_store *store, bool mine)
{
	if (mine)
		fg_db_rollback(store->db); /* nothing was written */
}

int fg_store_batch_begin(struct fg_store *store, struct fg_error *err)
{
	const int status = fg_db_begin(store->db, true, err);

	store->in_batch = status == FG_OK;
	return status;
}

bool fg_store_batch_is_spoiled(const struct fg_store *store)
{
	return store->is_spoiled;
}

void fg_store_batch_undo(struct fg_store *store)
{
	store->in_batch = false;
	store->is_spoiled = false;
	undo(store);
}

int fg_store_batch_end(struct fg_store *store, struct fg_error *err)
{
	int status = FG_OK;

	FG_ASSERT(!store->is_spoiled);
	store->in_batch = false;
	status = fg_db_commit(store->db, err);
	if (status != FG_OK) {
		undo(store);
		return status;
	}
	forget_batch(store);
	if (store->shared) {
		fg_ids_add(store->shared, &store->functions, &store->nodes);
		forget_ids(store);
	}
	return FG_OK;
}

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

static int find_project(struct fg_store *store, const char *name, int64_t *id, struct fg_error *err)
{
	struct fg_query q;
	int status = FG_OK;

	fg_query_begin(&q, store->db, FG_SQL_PROJECT_FIND);
	fg_query_text(&q, name);
	status = fg_query_value(&q, id, err);
	if (status != FG_ENOENT)
		return status;
	fg_query_begin(&q, store->db, FG_SQL_PROJECT_ADD);
	fg_query_text(&q, name);
	return fg_query_value(&q, id, err);
}

int fg_store_project(struct fg_store *store, const char *name, int64_t *id, struct fg_error *err)
{
	const uint64_t *known = fg_map_get_text(&store->places, name);
	int status = FG_OK;

	if (known) {
		*id = (int64_t)*known;
		return FG_OK;
	}
	status = find_project(store, name, id, err);
	if (status == FG_OK && store->in_batch)
		(void)fg_map_add_text(&store->places, name, (uint64_t)*id, NULL);
	return status;
}

int fg_store_words(struct fg_store *store, const char *text, int64_t *id, struct fg_error *err)
{
	const uint64_t *known = fg_map_get_text(&store->words, text);
	uint8_t digest[16];
	struct fg_query q;
	int status = FG_OK;

	if (known) {
		*id = (int64_t)*known;
		return FG_OK;
	}
	fg_digest(text, NULL, NULL, digest);
	fg_query_begin(&q, store->db, FG_SQL_WORDS_FIND);
	fg_query_bytes(&q, digest, sizeof(digest));
	status = fg_query_value(&q, id, err);
	if (status == FG_ENOENT) {
		fg_query_begin(&q, store->db, FG_SQL_WORDS_ADD);
		fg_query_bytes(&q, digest, sizeof(digest));
		fg_query_text(&q, text);
		status = fg_query_value(&q, id, err);
	}
	if (status == FG_OK && store->in_batch)
		(void)fg_map_add_text(&store->words, text, (uint64_t)*id, NULL);
	return status;
}

void fg_stored_run_release(struct fg_stored_run *stored)
{
	if (stored->profiles) {
		for (size_t i = 0; i < stored->run.series_count; i++) {
			if (stored->profiles[i])
				fg_profile_set_release(stored->profiles[i]);
			free(stored->profiles[i]);
		}
	}
	free(stored->profiles);
	free(stored->report);
	free(stored->outcome);
	fg_run_release(&stored->run);
	*stored = (struct fg_stored_run){0};
}
