// SPDX-License-Identifier: Apache-2.0
#include "store/store.h"

#include "store/db.h"
#include "store/functions.h"
#include "store/session.h"
#include "store/transaction.h"

enum {
	SCHEMA_VERSION = 21 /* raise it with each change of schema.sql; 1 to 20 were not released */
};

/* FG_ENOENT without a message: the store has no version yet. */
static int read_version(struct fg_db *db, int64_t *version, struct fg_error *err)
{
	struct fg_query q;

	fg_query_begin(&q, db, FG_SQL_SCHEMA_VERSION);
	return fg_query_value(&q, version, err);
}

static int check_version(const struct fg_db *db, int64_t version, struct fg_error *err)
{
	if (version > SCHEMA_VERSION)
		return fg_error_set(
			err, FG_EDB,
			"%s was written by a newer fastgate (store version %lld; this one reads "
			"up to %d): use the newer fastgate, or another store",
			db->name, (long long)version, SCHEMA_VERSION);
	if (version < SCHEMA_VERSION)
		return fg_error_set(
			err, FG_EDB,
			"%s was made by an unreleased version of fastgate: export its runs with "
			"that version, and import them with this one",
			db->name);
	return FG_OK;
}

static int make_tables(struct fg_db *db, struct fg_error *err)
{
	char version[80];
	int status = FG_OK;

	for (size_t i = 0; fg_schema[i] && status == FG_OK; i++) {
		char *statement = fg_db_schema_text(db, fg_schema[i]);

		status = fg_db_script(db, statement, err);
		free(statement);
	}
	if (status != FG_OK)
		return status;
	(void)snprintf(version, sizeof(version), "INSERT INTO schema_version VALUES (%d)",
		       SCHEMA_VERSION);
	return fg_db_script(db, version, err);
}

/* Creates the tables. If two processes do so at the same time, the second process finds them. */
static int create(struct fg_db *db, struct fg_error *err)
{
	int64_t version = 0;
	int status = FG_OK;

	FG_TRY(fg_db_begin(db, FG_DB_WRITES, err));
	FG_TRY_OUT(fg_db_script(
		db, "CREATE TABLE IF NOT EXISTS schema_version (version BIGINT NOT NULL)", err));
	status = read_version(db, &version, err);
	if (status == FG_ENOENT)
		status = make_tables(db, err);
	else if (status == FG_OK)
		status = check_version(db, version, err);
	if (status != FG_OK)
		goto out;
	return fg_db_commit(db, err);
out:
	fg_db_rollback(db);
	return status;
}

static int check_or_create(struct fg_db *db, struct fg_error *err)
{
	struct fg_error reason = {0};
	int64_t version = 0;
	const int status = read_version(db, &version, &reason);

	if (status == FG_OK)
		return check_version(db, version, err);
	/* Without the table, the store is new. Any other failure is an error. */
	if (status == FG_EDB && strstr(reason.message, "schema_version") && !db->read_only)
		return create(db, err);
	if (status == FG_ENOENT || (status == FG_EDB && strstr(reason.message, "schema_version")))
		return fg_error_set(err, FG_EDB, "%s is empty: nothing was ever stored in it",
				    db->name);
	return fg_error_set(err, reason.code, "%s", reason.message);
}

static int open_database(const char *location, unsigned flags, struct fg_db **db,
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
	FG_TRY(fg_db_open(location, db_flags, db, err));
	status = check_or_create(*db, err);
	if (status != FG_OK)
		fg_db_close(*db);
	return status;
}

int fg_store_open(const char *location, unsigned flags, struct fg_store **store,
		  struct fg_error *err)
{
	struct fg_db *db = NULL;

	FG_TRY(open_database(location, flags, &db, err));
	*store = fg_xcalloc(1, sizeof(**store));
	(*store)->db = db;
	(*store)->is_durable = flags & FG_STORE_DURABLE;
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

void fg_store_close(struct fg_store *store)
{
	if (!store)
		return;
	fg_store_forget_progress(store);
	fg_store_forget_ids(store);
	fg_store_forget_functions(store);
	fg_db_close(store->db);
	free(store);
}
