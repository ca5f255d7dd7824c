// SPDX-License-Identifier: Apache-2.0
/*
 * Databases of other versions are refused and left alone; servers that start together create the
 * tables once.  The database is SQLite, or the PostgreSQL that PERFDB_TEST_URL names, whose tables
 * are created afresh for each test.
 */
#include "store/db.h"
#include "store/store.h"
#include "tests/integration/perfdb/database.h"
#include "tests/integration/perfdb/perfdb_samples.h"
#include "tests/support/fg_test.h"

#include <pthread.h>

enum {
	OPENERS = 4
};

static int64_t version_of(const struct fg_database_test *f)
{
	struct fg_db *db = NULL;
	struct fg_query q;
	struct fg_error err = {0};
	int64_t value = 0;

	if (fg_db_open(f->location, 0, &db, &err) != FG_OK)
		fail_msg("%s", err.message);
	fg_query_begin(&q, db, FG_SQL_SCHEMA_VERSION);
	if (fg_query_value(&q, &value, &err) != FG_OK)
		fail_msg("%s", err.message);
	fg_db_close(db);
	return value;
}

static void *open_it(void *context)
{
	struct fg_store *store = NULL;
	struct fg_error err = {0};
	const int status = fg_store_open(context, FG_STORE_DURABLE, &store, &err);

	if (status == FG_OK)
		fg_store_close(store);
	return status == FG_OK ? NULL : fg_xstrdup(err.message);
}

FG_TEST_IN(servers_that_start_together_create_the_tables_once, fg_test_database_setup,
	   fg_test_database_teardown)
{
	const struct fg_database_test *f = *state;
	pthread_t threads[OPENERS];
	void *words[OPENERS] = {NULL};

	for (int i = 0; i < OPENERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, open_it, f->location), 0);
	for (int i = 0; i < OPENERS; i++)
		assert_int_equal(pthread_join(threads[i], &words[i]), 0);
	for (int i = 0; i < OPENERS; i++) {
		if (words[i])
			fail_msg("%s", (char *)words[i]);
	}
	assert_true(version_of(f) > 0);
}

static void refused(const struct fg_database_test *f, const char *words)
{
	const struct fg_server_options options = {.database = f->location, .log_fd = -1};
	const int64_t version = version_of(f);
	struct fg_server *server = NULL;
	struct fg_error err = {0};

	assert_int_equal(fg_server_start(&options, &server, &err), FG_EDB);
	if (!strstr(err.message, words))
		fail_msg("'%s' lacks '%s'", err.message, words);
	assert_int_equal(version_of(f), version);
}

FG_TEST_IN(newer_and_unreleased_versions_are_refused_and_left_alone, fg_test_database_setup,
	   fg_test_database_teardown)
{
	const struct fg_database_test *f = *state;

	free(open_it(f->location));
	fg_test_script(f->location, "UPDATE schema_version SET version = version + 1");
	refused(f, "was written by a newer fastgate");
	fg_test_script(f->location, "UPDATE schema_version SET version = 14");
	refused(f,
		"was made by an unreleased version of fastgate: export its runs with that version");
}
