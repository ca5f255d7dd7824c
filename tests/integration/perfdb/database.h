/* SPDX-License-Identifier: Apache-2.0 */
/* An empty database for a test: SQLite, or the PostgreSQL that PERFDB_TEST_URL names. */
#ifndef FG_TESTS_PERFDB_DATABASE_H
#define FG_TESTS_PERFDB_DATABASE_H

#include "store/db.h"
#include "store/store.h"
#include "tests/support/fg_test.h"
#include "tests/support/scratch.h"

/* Executes statements in the database; failure fails the test. */
static inline void fg_test_script(const char *location, const char *sql)
{
	struct fg_db *db = NULL;
	struct fg_error err = {0};

	if (fg_db_open(location, FG_DB_DURABLE, &db, &err) != FG_OK ||
	    fg_db_script(db, sql, &err) != FG_OK)
		fail_msg("%s", err.message);
	fg_db_close(db);
}

/*
 * Returns the database: a file of this name in the folder, or the URL. The caller frees the text.
 */
static inline char *fg_test_database(const struct fg_scratch *scratch, const char *name)
{
	const char *url = getenv("PERFDB_TEST_URL");

	if (!url)
		return fg_xstrdup(fg_scratch_path(scratch, name));
	fg_test_script(url, "DROP SCHEMA public CASCADE; CREATE SCHEMA public");
	return fg_xstrdup(url);
}

/* A test's database, and its store if the test opens one. */
struct fg_database_test {
	struct fg_scratch scratch;
	char *location;
	struct fg_store *store;
	unsigned databases; /* created so far */
	struct fg_error err;
};

static inline void fg_must(struct fg_database_test *f, int status)
{
	if (status != FG_OK)
		fail_msg("%s", f->err.message);
}

/* Continues with another, empty database. */
static inline void fg_test_begin_database(struct fg_database_test *f)
{
	char *name = fg_xasprintf("perfdb%u.db", f->databases++);

	free(f->location);
	f->location = fg_test_database(&f->scratch, name);
	free(name);
}

static inline int fg_test_database_setup(void **state)
{
	struct fg_database_test *f = fg_xcalloc(1, sizeof(*f));

	fg_scratch_init(&f->scratch);
	fg_test_begin_database(f);
	*state = f;
	return 0;
}

static inline int fg_test_database_teardown(void **state)
{
	struct fg_database_test *f = *state;

	fg_store_close(f->store);
	fg_scratch_release(&f->scratch);
	free(f->location);
	free(f);
	return 0;
}

#endif
