/* SPDX-License-Identifier: Apache-2.0 */
/* An empty database for a test: SQLite, or the PostgreSQL that PERFDB_TEST_URL names. */
#ifndef FG_TESTS_PERFDB_DATABASE_H
#define FG_TESTS_PERFDB_DATABASE_H

#include "store/db.h"
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

#endif
