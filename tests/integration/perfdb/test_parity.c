// SPDX-License-Identifier: Apache-2.0
/*
 * SQLite and PostgreSQL give the same answers, byte for byte; two servers share one PostgreSQL;
 * migration goes both ways.
 */
#include "base/json.h"
#include "store/db.h"
#include "store/serving/upkeep.h"
#include "store/session.h"
#include "store/store.h"
#include "store/transaction.h"
#include "tests/integration/perfdb/perfdb_samples.h"
#include "tests/support/fg_test.h"
#include "tests/unit/store/samples.h"

#include <pthread.h>

enum {
	RUNS = 6,
	BOTH = 2,
	RACERS = 4
};

static const char *url(void)
{
	const char *text = getenv("PERFDB_TEST_URL");

	if (!text)
		fail_msg("this test is started by with-postgresql.sh");
	return text;
}

static const char *const questions[] = {
	"/api/v1/projects",
	"/api/v1/benchmarks?project=tracker",
	"/api/v1/metrics?project=tracker&benchmark=parse",
	"/api/v1/facts",
	"/api/v1/facts?project=tracker",
	"/api/v1/facts?project=none",
	"/api/v1/runs?limit=3",
	"/api/v1/runs?branch=main&fact=host.load&value=2",
	"/api/v1/runs?commit=9e3779b9",
	"/api/v1/runs/latest",
	"/api/v1/verdict?a=latest~2&b=latest",
	"/api/v1/verdict?a=latest~1&b=latest",
	"/api/v1/trend?project=tracker&benchmark=parse&metric=cpu_time",
	"/api/v1/search?q=Reader%3CTOKEN",
	"/api/v1/search?q=the%20commit%25_\\",
	"/api/v1/runs/0198f0",
	"/api/v1/runs/nothing",
	"/api/v1/runs/%ff%c3%28",
	"/api/v1/runs?project=%ff",
	"/api/v1/runs?branch=%27%20OR%201%3D1%20--",
	"/api/v1/trend?project=tracker&benchmark=%f0%9f&metric=cpu_time",
};

static void same_answers(const struct fg_test_server s[BOTH])
{
	char *trends[BOTH];

	for (size_t i = 0; i < FG_ARRAY_SIZE(questions); i++) {
		struct fg_strbuf bodies[BOTH] = {{0}};
		int statuses[BOTH];

		for (int k = 0; k < BOTH; k++)
			statuses[k] = fg_test_ask(&s[k], "GET", questions[i], NULL, &bodies[k]);
		if (statuses[0] != statuses[1])
			fail_msg("%s: %d and %d: %s", questions[i], statuses[0], statuses[1],
				 fg_strbuf_text(&bodies[1]));
		if (strcmp(fg_strbuf_text(&bodies[0]), fg_strbuf_text(&bodies[1])) != 0)
			fail_msg("%s:\n%s\n%s", questions[i], fg_strbuf_text(&bodies[0]),
				 fg_strbuf_text(&bodies[1]));
		fg_strbuf_release(&bodies[0]);
		fg_strbuf_release(&bodies[1]);
	}
	for (int k = 0; k < BOTH; k++) {
		cJSON *json = fg_test_function_trend(&s[k], "");

		trends[k] = cJSON_PrintUnformatted(json);
		assert_true(fg_test_count(json, "points") >= RUNS);
		cJSON_Delete(json);
	}
	assert_string_equal(trends[0], trends[1]);
	cJSON_free(trends[0]);
	cJSON_free(trends[1]);
}

FG_TEST(both_answer_alike)
{
	struct fg_test_server s[BOTH];

	fg_test_server_start(&s[0], NULL);
	fg_test_server_start(&s[1], url());
	for (unsigned seed = 1; seed <= RUNS; seed++) {
		assert_int_equal(fg_test_upload(&s[0], seed, NULL), 201);
		assert_int_equal(fg_test_upload(&s[1], seed, NULL), 201);
	}
	assert_int_equal(fg_test_upload(&s[1], 1, NULL), 200);
	same_answers(s);
	fg_test_server_stop(&s[0]);
	fg_test_server_stop(&s[1]);
}

struct racer {
	const struct fg_test_server *server;
	pthread_t thread;
	unsigned stored;
	unsigned known; /* also confirmed, because another racer was faster */
};

/* Repeats an upload that a busy server puts off, as clients do. */
static int upload_until_answered(const struct fg_test_server *server, unsigned seed)
{
	int status = 0;

	do
		status = fg_test_upload(server, seed, NULL);
	while (status == 503);
	return status;
}

static void *race(void *context)
{
	struct racer *r = context;

	for (unsigned seed = 100; seed < 120; seed++) {
		const int status = upload_until_answered(r->server, seed);

		r->stored += status == 201;
		r->known += status == 200;
	}
	return NULL;
}

FG_TEST(two_servers_on_one_database_store_each_run_once)
{
	struct fg_test_server s[BOTH];
	struct racer racers[RACERS];
	unsigned stored = 0;
	unsigned known = 0;
	size_t before = 0;

	fg_test_server_start(&s[0], url());
	fg_test_server_start(&s[1], url());
	before = fg_test_run_count(&s[0]);
	for (int i = 0; i < RACERS; i++) {
		racers[i] = (struct racer){.server = &s[i % BOTH]};
		assert_int_equal(pthread_create(&racers[i].thread, NULL, race, &racers[i]), 0);
	}
	for (int i = 0; i < RACERS; i++) {
		(void)pthread_join(racers[i].thread, NULL);
		stored += racers[i].stored;
		known += racers[i].known;
	}
	assert_int_equal(stored, 20);
	assert_int_equal(known, (RACERS - 1) * 20);
	assert_int_equal(fg_test_run_count(&s[1]) - before, 20);
	fg_test_server_stop(&s[0]);
	fg_test_server_stop(&s[1]);
}

static struct fg_db *open_db(unsigned flags)
{
	struct fg_db *db = NULL;
	struct fg_error err = {0};

	if (fg_db_open(url(), flags, &db, &err) != FG_OK)
		fail_msg("%s", err.message);
	return db;
}

static struct fg_store *open_store(const char *location, unsigned flags)
{
	struct fg_store *store = NULL;
	struct fg_error err = {0};

	if (fg_store_open(location, flags, &store, &err) != FG_OK)
		fail_msg("%s", err.message);
	return store;
}

static void copy_all(const char *from_location, const char *to_location)
{
	struct fg_store *from = open_store(from_location, FG_STORE_READ_ONLY);
	struct fg_store *to = open_store(to_location, 0);
	struct fg_run_list list = {0};
	struct fg_error err = {0};

	if (fg_store_list(from, &(struct fg_run_filter){.limit = 1000}, &list, &err) != FG_OK)
		fail_msg("%s", err.message);
	for (size_t i = 0; i < list.count; i++) {
		if (fg_store_copy(from, to, list.items[i].id, &err) != FG_OK)
			fail_msg("%s", err.message);
	}
	if (fg_store_copy_access(from, to, &err) != FG_OK)
		fail_msg("%s", err.message);
	fg_run_list_release(&list);
	fg_store_close(from);
	fg_store_close(to);
}

FG_TEST(migration_to_sqlite_and_back_changes_no_answer)
{
	struct fg_test_server s[BOTH];
	struct fg_scratch scratch;
	char *path = NULL;

	fg_scratch_init(&scratch);
	path = fg_xstrdup(fg_scratch_path(&scratch, "copy.db"));
	copy_all(url(), path);
	copy_all(path, url());
	fg_test_server_start(&s[0], path);
	fg_test_server_start(&s[1], url());
	assert_true(fg_test_run_count(&s[0]) >= RUNS);
	same_answers(s);
	fg_test_server_stop(&s[0]);
	fg_test_server_stop(&s[1]);
	free(path);
	fg_scratch_release(&scratch);
}

/*
 * One statement failed: PostgreSQL rolls everything back, yet answers COMMIT with success. No
 * client may learn that its run is stored.
 */
FG_TEST(transaction_that_was_undone_is_not_called_committed)
{
	struct fg_db *db = open_db(FG_DB_DURABLE);
	struct fg_error err = {0};

	assert_int_equal(fg_db_begin(db, FG_DB_WRITES, &err), FG_OK);
	assert_int_equal(fg_db_script(db, "SELECT 1 / 0", &err), FG_EDB);
	assert_int_equal(fg_db_commit(db, &err), FG_EDB);
	assert_non_null(strstr(err.message, "rolled back"));
	assert_false(db->in_transaction);
	fg_db_close(db);
}

/* Every session of the database ends, as in a restart: the server reconnects by itself. */
FG_TEST(server_outlives_its_connections)
{
	struct fg_test_server s;
	struct fg_db *db = NULL;
	struct fg_error err = {0};
	int failures = 0;

	fg_test_server_start(&s, url());
	assert_int_equal(fg_test_upload(&s, 201, NULL), 201);
	db = open_db(0);
	if (fg_db_script(db,
			 "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
			 "WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'",
			 &err) != FG_OK)
		fail_msg("%s", err.message);
	fg_db_close(db);
	while (fg_test_upload(&s, 202, NULL) != 201 && failures < 10)
		failures++;
	/* A pooler replaces its connections before anybody notices. */
	assert_in_range(failures, strstr(url(), "port=") ? 0 : 1, 3);
	for (int i = 0; i < 10; i++)
		assert_int_equal(fg_test_ask(&s, "GET", "/api/v1/runs/latest", NULL, NULL), 200);
	assert_int_equal(fg_test_upload(&s, 202, NULL), 200);
	fg_test_server_stop(&s);
}

static int64_t count(struct fg_db *db, enum fg_sql sql)
{
	struct fg_query q;
	struct fg_error err = {0};
	int64_t value = 0;

	fg_query_begin(&q, db, sql);
	if (fg_query_value(&q, &value, &err) != FG_OK)
		fail_msg("%s", err.message);
	return value;
}

/* Functions from `churn` on are new for each seed; 0: no new functions. */
static void save_code(struct fg_store *store, uint64_t seed, unsigned churn, const char *id)
{
	const struct fg_sample_shape some = {
		.functions = 40, .paths = 120, .pairs = 2, .samples = 400, .churn = churn};
	struct fg_stored_run run = {0};
	struct fg_error err = {0};

	fg_sample_run(&run, seed, &some);
	(void)snprintf(run.run.id, sizeof(run.run.id), "%s", id);
	if (fg_store_save(store, &run.run, run.profiles, NULL, &err) != FG_OK)
		fail_msg("%s", err.message);
	fg_stored_run_release(&run);
}

/* A new session does not add rows that the database already has. */
FG_TEST(new_session_finds_what_another_one_added)
{
	struct fg_db *db = open_db(FG_DB_DURABLE);
	int64_t functions = 0;

	for (unsigned i = 0; i < BOTH; i++) {
		struct fg_store *store = open_store(url(), 0);
		char id[37];

		(void)snprintf(id, sizeof(id), "0198f000-0000-7000-8000-f0000000000%u", i);
		save_code(store, 6000, 0, id);
		fg_store_close(store);
		if (i == 0)
			functions = count(db, FG_SQL_FUNCTION_LAST);
	}
	assert_true(functions >= 40);
	assert_int_equal(count(db, FG_SQL_FUNCTION_LAST), functions);
	fg_db_close(db);
}

/* Adds facts with ids from `first` on, which no run uses. */
static int add_rows(struct fg_db *db, int64_t first, size_t count, struct fg_error *err)
{
	int64_t *ids = fg_xcalloc(count, sizeof(*ids));
	struct fg_rows rows = {0};
	int status = FG_OK;

	for (size_t i = 0; i < count; i++) {
		ids[i] = first + (int64_t)i;
		FG_ROWS_ADD(&rows, FG_BIND(ids[i]),
			    FG_BIND(((struct fg_blob){&ids[i], sizeof(ids[i])})), FG_BIND("made"),
			    FG_BIND("made"), FG_BIND(ids[i]));
	}
	status = fg_query_rows(db, FG_SQL_FACT_ADD, &rows, NULL, err);
	fg_rows_release(&rows);
	free(ids);
	return status;
}

FG_TEST(rows_are_added_whole_or_not_at_all)
{
	static const size_t counts[] = {3, 3000, 20000};
	struct fg_store *store = open_store(url(), 0); /* creates the tables */
	struct fg_db *db = open_db(FG_DB_BOUNDED);
	struct fg_error err = {0};

	for (size_t i = 0; i < FG_ARRAY_SIZE(counts); i++) {
		const int64_t before = count(db, FG_SQL_FACT_LAST);
		const int64_t many = (int64_t)counts[i];

		assert_int_equal(fg_db_begin(db, FG_DB_WRITES, &err), FG_OK);
		assert_int_equal(add_rows(db, before + many, counts[i], &err), FG_OK);
		assert_int_equal(count(db, FG_SQL_FACT_LAST), before + 2 * many - 1);
		/* The last of these rows exists already. */
		assert_int_equal(add_rows(db, before + 1, counts[i], &err), FG_EBUSY);
		fg_db_rollback(db);
		assert_int_equal(count(db, FG_SQL_FACT_LAST), before);
	}
	fg_db_close(db);
	fg_store_close(store);
}

/* Whether or not a batch was stored, its ids are unique and without gaps. */
FG_TEST(ids_of_a_batch_follow_each_other)
{
	struct fg_store *stores[BOTH] = {open_store(url(), 0), open_store(url(), 0)};
	struct fg_db *db = open_db(FG_DB_BOUNDED);
	struct fg_error err = {0};
	char *no_gap = NULL;
	int64_t before = 0;

	save_code(stores[0], 6010, 5, "0198f000-0000-7000-8000-f00000000030");
	before = count(db, FG_SQL_FUNCTION_LAST);
	for (int undone = 1; undone >= 0; undone--) {
		assert_int_equal(fg_store_batch_begin(stores[0], &err), FG_OK);
		save_code(stores[0], 6011, 5, "0198f000-0000-7000-8000-f00000000031");
		save_code(stores[0], 6012, 5, "0198f000-0000-7000-8000-f00000000032");
		if (undone)
			fg_store_batch_undo(stores[0]);
		else
			assert_int_equal(fg_store_batch_end(stores[0], &err), FG_OK);
	}
	assert_true(count(db, FG_SQL_FUNCTION_LAST) > before + 50);
	/* The other session's ids follow without a gap. */
	save_code(stores[1], 6013, 5, "0198f000-0000-7000-8000-f00000000033");
	no_gap = fg_xasprintf("SELECT 1 / CAST(count(*) = %lld AS INTEGER) "
			      "FROM function WHERE id > %lld",
			      (long long)(count(db, FG_SQL_FUNCTION_LAST) - before),
			      (long long)before);
	if (fg_db_script(db, no_gap, &err) != FG_OK)
		fail_msg("%s", err.message);
	free(no_gap);
	fg_db_close(db);
	for (int i = 0; i < BOTH; i++)
		fg_store_close(stores[i]);
}

/* If two sessions wrote at once, both could fail to find a name and then add it. */
FG_TEST(one_session_writes_at_a_time)
{
	struct fg_store *store = open_store(url(), 0);
	struct fg_db *db = open_db(FG_DB_BOUNDED);
	struct fg_error err = {0};

	assert_int_equal(fg_store_batch_begin(store, &err), FG_OK);
	assert_int_equal(fg_db_begin(db, FG_DB_WRITES, &err), FG_EBUSY);
	fg_store_batch_undo(store);
	assert_int_equal(fg_db_begin(db, FG_DB_WRITES, &err), FG_OK);
	fg_db_rollback(db);
	fg_db_close(db);
	fg_store_close(store);
}

/* The session also refuses writes outside of a transaction, and writes of many rows. */
FG_TEST(read_only_session_cannot_write)
{
	struct fg_rows rows = {0};
	struct fg_store *store = open_store(url(), 0);
	struct fg_db *db = open_db(FG_DB_READ_ONLY);
	struct fg_query q;
	struct fg_error err = {0};

	FG_QUERY_WITH(&q, db, FG_SQL_LIMITS_REMOVE, FG_BIND("nothing"));
	assert_int_not_equal(fg_query_run(&q, &err), FG_OK);
	assert_non_null(strstr(err.message, "read-only"));
	FG_ROWS_ADD(&rows, FG_BIND(1));
	FG_ROWS_ADD(&rows, FG_BIND(2));
	assert_int_not_equal(fg_query_rows(db, FG_SQL_CHUNKS_FORGET, &rows, NULL, &err), FG_OK);
	fg_rows_release(&rows);
	assert_true(count(db, FG_SQL_TOKEN_COUNT) >= 0);
	fg_db_close(db);
	fg_store_close(store);
}
