// SPDX-License-Identifier: Apache-2.0
/*
 * A database of the previous schema is migrated, one of the next is refused: in SQLite, and in
 * PostgreSQL if PERFDB_TEST_URL names one, whose tables are created afresh for each test.
 */
#include "base/fs.h"
#include "store/db.h"
#include "store/serving/compare.h"
#include "store/store.h"
#include "tests/integration/perfdb/perfdb_samples.h"
#include "tests/support/fg_test.h"
#include "tests/unit/store/samples.h"

#include <pthread.h>
#include <stdatomic.h>

enum {
	PREVIOUS = FG_SCHEMA_VERSION - 1,
	OPENERS = 4
};

struct fixture {
	struct fg_scratch scratch;
	char *location;
};

static void run_script(const struct fixture *f, const char *sql)
{
	struct fg_db *db = NULL;
	struct fg_error err = {0};

	if (fg_db_open(f->location, FG_DB_DURABLE, &db, &err) != FG_OK ||
	    fg_db_script(db, sql, &err) != FG_OK)
		fail_msg("%s", err.message);
	fg_db_close(db);
}

/* The tables as this version of the schema made them, with something in them. */
static void make_version(const struct fixture *f, int version)
{
	struct fg_db *db = NULL;
	struct fg_error err = {0};
	char *first = fg_xasprintf("CREATE TABLE schema_version (version BIGINT NOT NULL); "
				   "INSERT INTO schema_version VALUES (%d)",
				   version);

	run_script(f, first);
	if (fg_db_open(f->location, FG_DB_DURABLE, &db, &err) != FG_OK)
		fail_msg("%s", err.message);
	for (size_t i = 0; i < FG_SCHEMA_PARTS && fg_schema_parts[i].version <= version; i++) {
		char *script = fg_db_schema_text(db, fg_schema_parts[i].text);

		if (fg_db_script(db, script, &err) != FG_OK)
			fail_msg("%s", err.message);
		free(script);
	}
	fg_db_close(db);
	run_script(f, "INSERT INTO project (name) VALUES ('kept')");
	free(first);
}

/* What this query finds. */
static int64_t number(const struct fixture *f, enum fg_sql sql)
{
	struct fg_db *db = NULL;
	struct fg_query q;
	struct fg_error err = {0};
	int64_t value = 0;

	if (fg_db_open(f->location, 0, &db, &err) != FG_OK)
		fail_msg("%s", err.message);
	fg_query_begin(&q, db, sql);
	if (fg_query_value(&q, &value, &err) != FG_OK)
		fail_msg("%s", err.message);
	fg_db_close(db);
	return value;
}

static int64_t version_of(const struct fixture *f)
{
	return number(f, FG_SQL_SCHEMA_VERSION);
}

static int set_up(void **state, int version)
{
	struct fixture *f = fg_xcalloc(1, sizeof(*f));
	const char *url = getenv("PERFDB_TEST_URL");

	fg_scratch_init(&f->scratch);
	f->location = fg_xstrdup(url ? url : fg_scratch_path(&f->scratch, "perfdb.db"));
	if (url)
		run_script(f, "DROP SCHEMA public CASCADE; CREATE SCHEMA public");
	make_version(f, version);
	*state = f;
	return 0;
}

static int setup(void **state)
{
	return set_up(state, PREVIOUS);
}

static int setup_schema_5(void **state)
{
	return set_up(state, 5);
}

static int setup_schema_3(void **state)
{
	return set_up(state, 3);
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	fg_scratch_release(&f->scratch);
	free(f->location);
	free(f);
	return 0;
}

static void previous_schema_is_brought_up_to_date_with_what_it_holds(void **state)
{
	const struct fixture *f = *state;
	struct fg_test_server s;
	struct fg_strbuf body = {0};

	fg_test_server_start(&s, f->location);
	assert_int_equal(version_of(f), FG_SCHEMA_VERSION);
	assert_int_equal(fg_test_upload(&s, 1, NULL), 201);
	assert_int_equal(fg_test_ask(&s, "GET", "/api/v1/projects", NULL, &body), 200);
	assert_string_equal(fg_strbuf_text(&body), "{\"projects\":[\"kept\",\"tracker\"]}");
	fg_strbuf_release(&body);
	fg_test_server_stop(&s);
}

static void *open_it(void *context)
{
	struct fg_store *store = NULL;
	struct fg_error err = {0};
	const int status = fg_store_open(context, FG_STORE_DURABLE, &store, &err);

	fg_store_close(store);
	return status == FG_OK ? NULL : fg_xstrdup(err.message);
}

static void servers_that_start_together_upgrade_once(void **state)
{
	const struct fixture *f = *state;
	pthread_t threads[OPENERS];

	for (int i = 0; i < OPENERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, open_it, f->location), 0);
	for (int i = 0; i < OPENERS; i++) {
		void *words = NULL;

		assert_int_equal(pthread_join(threads[i], &words), 0);
		if (words)
			fail_msg("%s", (char *)words);
	}
	assert_int_equal(version_of(f), FG_SCHEMA_VERSION);
}

static void upgrade_that_fails_leaves_the_previous_schema(void **state)
{
	const struct fixture *f = *state;
	struct fg_store *store = NULL;
	struct fg_error err = {0};

	/* In the way of an index that the upgrade makes last. */
	run_script(f, "CREATE TABLE role_by_who (id BIGINT)");
	assert_int_not_equal(fg_store_open(f->location, 0, &store, &err), FG_OK);
	assert_non_null(strstr(err.message, "cannot bring the store from version"));
	assert_int_equal(version_of(f), 5);
	run_script(f, "DROP TABLE role_by_who");
	if (fg_store_open(f->location, 0, &store, &err) != FG_OK)
		fail_msg("%s", err.message);
	fg_store_close(store);
}

/* The rows that the last release with schema 3 wrote, in the words of this database. */
static void load_rows(const struct fixture *f)
{
	static const char *const numbered[] = {"project", "benchmark", "words",  "function", "node",
					       "fact",    "fact_set",  "series", "run"};
	struct fg_strbuf script = {0};
	struct fg_error err = {0};
	char *rows = NULL;

	if (fg_fs_read(ROWS_OF_SCHEMA_3, 1 << 20, &rows, NULL, &err) != FG_OK)
		fail_msg("%s", err.message);
	fg_strbuf_add_text(&script, "DELETE FROM project;");
	for (const char *at = rows; *at; at++) {
		if (fg_db_is_url(f->location) && at[0] == 'X' && at[1] == '\'' && at[-1] == ',') {
			fg_strbuf_add_text(&script, "'\\x");
			at++;
		} else {
			fg_strbuf_add_char(&script, *at);
		}
	}
	for (size_t i = 0; i < FG_ARRAY_SIZE(numbered) && fg_db_is_url(f->location); i++)
		fg_strbuf_printf(
			&script,
			"SELECT setval(pg_get_serial_sequence('%s', 'id'), max(id)) FROM %s;",
			numbered[i], numbered[i]);
	run_script(f, fg_strbuf_text(&script));
	fg_strbuf_release(&script);
	free(rows);
}

static void same_run(struct fg_store *store, uint64_t seed, bool complete)
{
	static const struct fg_sample_shape shape = {
		.functions = 6, .paths = 10, .pairs = 2, .samples = 60};
	struct fg_stored_run made = {0};
	struct fg_stored_run kept = {0};
	struct fg_error err = {0};
	double self[2][10];

	fg_sample_run(&made, seed, &shape);
	if (fg_store_load(store, made.run.id, &kept, &err) != FG_OK)
		fail_msg("%s", err.message);
	assert_int_equal(kept.run.complete, complete);
	assert_int_equal(kept.run.host.count, made.run.host.count);
	assert_int_equal(kept.run.series[0].repetition_count, made.run.series[0].repetition_count);
	assert_true(kept.run.series[0].repetitions[3].values[0] ==
		    made.run.series[0].repetitions[3].values[0]);
	assert_int_equal(kept.profiles[0]->row_count, made.profiles[0]->row_count);
	assert_int_equal(kept.profiles[0]->region_row_count, made.profiles[0]->region_row_count);
	for (size_t r = 0; r < made.profiles[0]->row_count; r++)
		assert_int_equal(kept.profiles[0]->rows[r].measure, FG_MEASURE_CPU_TIME);
	assert_true(kept.profiles[0]->node_count <= 10);
	assert_int_equal(fg_profile_set_mean(made.profiles[0], FG_MEASURE_CPU_TIME,
					     FG_ARM_CANDIDATE, self[0], NULL),
			 2);
	assert_int_equal(fg_profile_set_mean(kept.profiles[0], FG_MEASURE_CPU_TIME,
					     FG_ARM_CANDIDATE, self[1], NULL),
			 2);
	assert_true(self[0][1] == self[1][1]);
	fg_stored_run_release(&made);
	fg_stored_run_release(&kept);
}

static void runs_of_schema_3_come_back_whole(void **state)
{
	const struct fixture *f = *state;
	const struct fg_run_side sides[2] = {
		{.run = "0198f000-0000-7000-8000-000000000001", .arm = FG_ARM_CANDIDATE},
		{.run = "0198f000-0000-7000-8000-000000000002", .arm = FG_ARM_CANDIDATE}};
	struct fg_store *store = NULL;
	struct fg_function_deltas deltas = {0};
	struct fg_error err = {0};
	char id[37];

	load_rows(f);
	if (fg_store_open(f->location, FG_STORE_DURABLE, &store, &err) != FG_OK)
		fail_msg("%s", err.message);
	assert_int_equal(version_of(f), FG_SCHEMA_VERSION);
	same_run(store, 1, true);
	same_run(store, 2, true);
	same_run(store, 3, false);
	assert_int_equal(fg_store_find(store, "tracker", "stable", id, &err), FG_OK);
	assert_string_equal(id, "0198f000-0000-7000-8000-000000000001");
	assert_int_equal(fg_store_compare_functions(store, sides, "parse", 100, &deltas, &err),
			 FG_OK);
	assert_true(deltas.count > 3);
	assert_true(deltas.sums[0] > 1e6);
	fg_function_deltas_release(&deltas);
	fg_store_close(store);
}

static void runs_of_schema_3_stand_beside_new_ones(void **state)
{
	const struct fixture *f = *state;
	struct fg_test_server s;
	struct fg_strbuf body = {0};

	load_rows(f);
	fg_test_server_start(&s, f->location);
	assert_int_equal(fg_test_upload(&s, 7, NULL), 201);
	assert_int_equal(fg_test_ask(&s, "GET", "/api/v1/runs?project=tracker", NULL, &body), 200);
	for (int run = 1; run <= 7; run += run == 3 ? 4 : 1) {
		char *text = fg_xasprintf("0198f000-0000-7000-8000-00000000000%d", run);

		assert_non_null(strstr(fg_strbuf_text(&body), text));
		free(text);
	}
	fg_strbuf_release(&body);
	fg_test_server_stop(&s);
}

static void reader_says_that_an_old_schema_is_to_be_upgraded(void **state)
{
	const struct fixture *f = *state;
	struct fg_store *store = NULL;
	struct fg_error err = {0};

	assert_int_equal(fg_store_open(f->location, FG_STORE_READ_ONLY, &store, &err), FG_EDB);
	assert_non_null(strstr(err.message, "older"));
	assert_non_null(strstr(err.message, "perfdb migrate"));
	assert_int_equal(version_of(f), PREVIOUS);
}

static void make_current(const struct fixture *f)
{
	struct fg_store *store = NULL;
	struct fg_error err = {0};

	if (fg_store_open(f->location, 0, &store, &err) != FG_OK)
		fail_msg("%s", err.message);
	fg_store_close(store);
}

/* What clients do all the time while servers are replaced. */
struct client {
	const struct fg_test_server *server;
	unsigned first;
	atomic_bool stopping;
	unsigned uploads;
	int failure; /* the first answer that was none of 200 and 201 */
};

static void *use_server(void *context)
{
	struct client *c = context;

	while (!atomic_load(&c->stopping) && !c->failure) {
		const int stored = fg_test_upload(c->server, c->first + c->uploads, NULL);
		const int shown =
			fg_test_ask(c->server, "GET", "/api/v1/runs?project=tracker", NULL, NULL);

		c->uploads++;
		if (stored != 201 || shown != 200)
			c->failure = stored != 201 ? stored : shown;
	}
	return NULL;
}

/*
 * The next version adds a table and a column while a server of this version works, then starts a
 * server of its own: here one of this version that finds the newer schema.
 */
static void old_server_goes_on_while_a_newer_one_upgrades(void **state)
{
	const struct fixture *f = *state;
	char *sql = fg_xasprintf("CREATE TABLE added (id BIGINT); "
				 "ALTER TABLE run ADD COLUMN added BIGINT NOT NULL DEFAULT 0; "
				 "UPDATE schema_version SET version = %d, usable_from = %d",
				 FG_SCHEMA_VERSION + 1, FG_SCHEMA_VERSION - 1);
	struct fg_test_server servers[2];
	struct client clients[2] = {{.server = &servers[0], .first = 100},
				    {.server = &servers[1], .first = 500}};
	pthread_t threads[2];
	struct fg_db *db = NULL;
	struct fg_error err = {0};

	fg_test_server_start(&servers[0], f->location);
	assert_int_equal(pthread_create(&threads[0], NULL, use_server, &clients[0]), 0);
	if (fg_db_open(f->location, FG_DB_DURABLE, &db, &err) != FG_OK ||
	    fg_db_begin(db, FG_DB_WRITES_ALONE, &err) != FG_OK ||
	    fg_db_script(db, sql, &err) != FG_OK || fg_db_commit(db, &err) != FG_OK)
		fail_msg("%s", err.message);
	fg_db_close(db);
	fg_test_server_start(&servers[1], f->location);
	assert_int_equal(pthread_create(&threads[1], NULL, use_server, &clients[1]), 0);
	assert_int_equal(fg_test_upload(&servers[1], 1, NULL), 201);
	assert_int_equal(fg_test_upload(&servers[0], 2, NULL), 201);
	for (int i = 0; i < 2; i++) {
		atomic_store(&clients[i].stopping, true);
		assert_int_equal(pthread_join(threads[i], NULL), 0);
		assert_int_equal(clients[i].failure, 0);
		fg_test_server_stop(&servers[i]);
	}
	assert_int_equal(version_of(f), FG_SCHEMA_VERSION + 1);
	free(sql);
}

/* A run whose code nobody has seen yet. */
static void upload_new_code(const struct fg_test_server *s, unsigned seed)
{
	static const struct fg_sample_shape shape = {
		.functions = 40, .paths = 120, .pairs = 2, .samples = 400, .churn = 5};
	struct fg_strbuf parcel = {0};

	fg_test_parcel_of(&shape, seed, true, &parcel);
	assert_int_equal(fg_test_send(s, &parcel, NULL, NULL), 201);
	fg_strbuf_release(&parcel);
}

static void take_last_step(const struct fixture *f)
{
	struct fg_store *store = NULL;
	struct fg_error err = {0};
	bool was_finished = true;

	if (fg_store_open(f->location, FG_STORE_DURABLE, &store, &err) != FG_OK ||
	    fg_store_finish(store, &was_finished, &err) != FG_OK)
		fail_msg("%s", err.message);
	assert_false(was_finished);
	fg_store_close(store);
}

/* All servers are new; their clients see nothing of the step. */
static void servers_go_on_while_the_last_step_is_taken(void **state)
{
	const struct fixture *f = *state;
	struct fg_test_server servers[2];
	struct client clients[2] = {{.server = &servers[0], .first = 100},
				    {.server = &servers[1], .first = 500}};
	pthread_t threads[2];
	int64_t paths = 0;

	for (int i = 0; i < 2; i++)
		fg_test_server_start(&servers[i], f->location);
	for (unsigned i = 0; i < 2; i++)
		upload_new_code(&servers[i], 1000 + i);
	paths = number(f, FG_SQL_PATH_LAST);
	assert_true(paths > 120);
	assert_int_equal(number(f, FG_SQL_PATH_ROOT_COUNT), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, use_server, &clients[i]), 0);
	take_last_step(f);
	for (unsigned i = 0; i < 2; i++)
		upload_new_code(&servers[i], 1010 + i);
	for (int i = 0; i < 2; i++) {
		atomic_store(&clients[i].stopping, true);
		assert_int_equal(pthread_join(threads[i], NULL), 0);
		assert_int_equal(clients[i].failure, 0);
		fg_test_server_stop(&servers[i]);
	}
	assert_true(number(f, FG_SQL_PATH_LAST) > paths);
	assert_true(number(f, FG_SQL_PATH_ROOT_COUNT) > 0);
}

static void newer_schema_is_refused_and_left_alone(void **state)
{
	const struct fixture *f = *state;
	const struct fg_server_options options = {.database = f->location, .log_fd = -1};
	char *sql = fg_xasprintf("UPDATE schema_version SET version = %d, usable_from = %d",
				 FG_SCHEMA_VERSION + 1, FG_SCHEMA_VERSION + 1);
	char *versions = fg_xasprintf("store version %d, this one knows %d", FG_SCHEMA_VERSION + 1,
				      FG_SCHEMA_VERSION);
	struct fg_server *server = NULL;
	struct fg_error err = {0};

	make_current(f);
	run_script(f, sql);
	assert_int_equal(fg_server_start(&options, &server, &err), FG_EDB);
	assert_non_null(strstr(err.message, "newer fastgate"));
	assert_non_null(strstr(err.message, versions));
	assert_int_equal(version_of(f), FG_SCHEMA_VERSION + 1);
	free(versions);
	free(sql);
}

int main(void)
{
#define CASE(name)     cmocka_unit_test_setup_teardown(name, setup, teardown)
#define SCHEMA_5(name) cmocka_unit_test_setup_teardown(name, setup_schema_5, teardown)
#define SCHEMA_3(name) cmocka_unit_test_setup_teardown(name, setup_schema_3, teardown)
	const struct CMUnitTest tests[] = {
		CASE(previous_schema_is_brought_up_to_date_with_what_it_holds),
		CASE(servers_that_start_together_upgrade_once),
		SCHEMA_5(upgrade_that_fails_leaves_the_previous_schema),
		SCHEMA_3(runs_of_schema_3_come_back_whole),
		SCHEMA_3(runs_of_schema_3_stand_beside_new_ones),
		CASE(reader_says_that_an_old_schema_is_to_be_upgraded),
		CASE(old_server_goes_on_while_a_newer_one_upgrades),
		CASE(servers_go_on_while_the_last_step_is_taken),
		CASE(newer_schema_is_refused_and_left_alone),
	};
#undef CASE

	return cmocka_run_group_tests(tests, NULL, NULL);
}
