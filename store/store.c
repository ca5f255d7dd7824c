// SPDX-License-Identifier: Apache-2.0
#include "store/store.h"

#include "store/db.h"
#include "store/functions.h"
#include "store/session.h"
#include "store/transaction.h"

#include <stdatomic.h>

/*
 * The oldest program that can use this schema, by the schema that it knows: raise it when a
 * migration changes or removes what such a program reads or writes.  A new table or column that has
 * a default leaves it alone.  The last step of an upgrade, which a new database begins with, raises
 * it further (schema/last_step.sql).
 */
enum {
	USABLE_FROM = 7,
	LAST_STEP = 14
};

static int read_number(struct fg_db *db, enum fg_sql sql, int64_t *number, struct fg_error *err)
{
	struct fg_query q;
	int status = FG_OK;

	fg_query_begin(&q, db, sql);
	status = fg_query_value(&q, number, err);
	if (status == FG_ENOENT)
		status = fg_error_set(err, FG_EDB,
				      "%s does not say which version it has: it is damaged",
				      db->name);
	return status;
}

static int take_last_step(struct fg_db *db, struct fg_error *err)
{
	char *script = fg_db_schema_text(db, fg_schema_last_step);
	const int status = fg_db_script(db, script, err);

	free(script);
	return status;
}

static int set_version(struct fg_db *db, struct fg_error *err)
{
	char text[160];

	(void)snprintf(text, sizeof(text),
		       "UPDATE schema_version SET version = %d, usable_from = "
		       "CASE WHEN usable_from > %d THEN usable_from ELSE %d END",
		       FG_SCHEMA_VERSION, USABLE_FROM, USABLE_FROM);
	return fg_db_script(db, text, err);
}

static int apply(struct fg_db *db, int64_t from, struct fg_error *err)
{
	int status = FG_OK;

	for (size_t i = 0; i < FG_SCHEMA_PARTS && status == FG_OK; i++) {
		char *script = NULL;

		if (fg_schema_parts[i].version <= from)
			continue;
		script = fg_db_schema_text(db, fg_schema_parts[i].text);
		status = fg_db_script(db, script, err);
		free(script);
	}
	if (status != FG_OK)
		goto out;
	status = set_version(db, err);
	if (status != FG_OK)
		goto out;
	if (from == 0)
		status = take_last_step(db, err);
out:
	if (status != FG_OK)
		fg_error_prefix(err, "cannot bring the store from version %lld to %d",
				(long long)from, FG_SCHEMA_VERSION);
	return status;
}

/* Two processes may open a new store at the same time: the version is read again under the lock. */
static int migrate(struct fg_db *db, struct fg_error *err)
{
	int64_t version = 0;
	int status = fg_db_begin(db, FG_DB_WRITES_ALONE, err);

	if (status != FG_OK)
		return status;
	status = fg_db_script(
		db,
		"CREATE TABLE IF NOT EXISTS schema_version (version BIGINT NOT NULL); "
		"INSERT INTO schema_version (version) SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM schema_version)",
		err);
	if (status != FG_OK)
		goto out;
	status = read_number(db, FG_SQL_SCHEMA_VERSION, &version, err);
	if (status != FG_OK)
		goto out;
	if (version < FG_SCHEMA_VERSION)
		status = apply(db, version, err);
	if (status != FG_OK)
		goto out;
	return fg_db_commit(db, err);
out:
	fg_db_rollback(db);
	return status;
}

static int check_version(struct fg_db *db, bool *is_old, struct fg_error *err)
{
	int64_t version = 0;
	struct fg_error reason = {0};
	int64_t usable_from = 0;
	int status = read_number(db, FG_SQL_SCHEMA_VERSION, &version, &reason);

	*is_old = status != FG_OK || version < FG_SCHEMA_VERSION;
	if (status != FG_OK) {
		/* No such table: a new store.  Anything else stays an error. */
		if (status == FG_EDB && strstr(reason.message, "schema_version"))
			return FG_OK;
		return fg_error_set(err, reason.code, "%s", reason.message);
	}
	if (version <= FG_SCHEMA_VERSION)
		return FG_OK;
	status = read_number(db, FG_SQL_SCHEMA_USABLE_FROM, &usable_from, err);
	if (status != FG_OK)
		return status;
	if (usable_from > FG_SCHEMA_VERSION)
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
	if (flags & FG_STORE_BOUNDED)
		db_flags |= FG_DB_BOUNDED;
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

/* An older store was opened for reading with permission to migrate. */
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

/* Opened by this process so far. */
static atomic_ullong sessions;

int fg_store_open(const char *location, unsigned flags, struct fg_store **store,
		  struct fg_error *err)
{
	struct fg_db *db = NULL;
	bool is_old = false;
	int status = open_checked(location, flags, &db, &is_old, err);

	if (status != FG_OK)
		return status;
	if (is_old && (flags & FG_STORE_READ_ONLY)) {
		fg_db_close(db);
		status = bring_up_to_date(location, err);
		if (status == FG_OK)
			status = open_checked(location, flags, &db, &is_old, err);
	}
	if (status != FG_OK)
		return status;
	*store = fg_xcalloc(1, sizeof(**store));
	(*store)->db = db;
	(*store)->is_durable = flags & FG_STORE_DURABLE;
	(*store)->batch.turn.session = atomic_fetch_add(&sessions, 1) + 1;
	return FG_OK;
}

int fg_store_is_finished(struct fg_store *store, bool *is_finished, struct fg_error *err)
{
	int64_t usable_from = 0;
	const int status = read_number(store->db, FG_SQL_SCHEMA_USABLE_FROM, &usable_from, err);

	*is_finished = status == FG_OK && usable_from >= LAST_STEP;
	return status;
}

int fg_store_finish(struct fg_store *store, bool *was_finished, struct fg_error *err)
{
	int status = fg_store_begin_alone(store, err);

	*was_finished = false;
	if (status != FG_OK)
		return status;
	status = fg_store_is_finished(store, was_finished, err);
	if (status == FG_OK && !*was_finished)
		status = take_last_step(store->db, err);
	return fg_store_end(store, status, err);
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

void fg_store_close(struct fg_store *store)
{
	if (!store)
		return;
	fg_store_forget_progress(store);
	fg_store_forget_ids(store);
	fg_store_forget_functions(store);
	fg_call_paths_forget(&store->paths);
	free(store->tree.nodes);
	fg_db_close(store->db);
	free(store);
}
