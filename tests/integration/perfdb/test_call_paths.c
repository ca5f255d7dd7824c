// SPDX-License-Identifier: Apache-2.0
/*
 * Profiles written by several sessions at once, and damaged ones, in SQLite or in the PostgreSQL
 * that PERFDB_TEST_URL names. Its tables are created afresh for each database.
 */
#include "base/strbuf.h"
#include "store/db.h"
#include "store/serving/upkeep.h"
#include "store/store.h"
#include "store/transaction.h"
#include "tests/integration/perfdb/database.h"
#include "tests/support/fg_test.h"
#include "tests/unit/store/samples.h"

#include <pthread.h>

static struct fg_store *opened(struct fg_database_test *f)
{
	struct fg_store *store = NULL;

	fg_must(f, fg_store_open(f->location, FG_STORE_DURABLE, &store, &f->err));
	return store;
}

static void begin_database(struct fg_database_test *f)
{
	fg_test_begin_database(f);
	fg_store_close(opened(f));
}

/* Half of the code is new in every run; the second shape is too large to be read path by path. */
static const struct fg_sample_shape shapes[] = {
	{.functions = 40, .paths = 120, .pairs = 2, .samples = 400, .churn = 20},
	{.functions = 200, .paths = 1500, .pairs = 2, .samples = 6000, .churn = 100},
};

enum {
	ID_SIZE = 37
};

static void name_run(char id[ID_SIZE], unsigned who, unsigned seed)
{
	(void)snprintf(id, ID_SIZE, "0198f000-0000-7000-8%03x-%012x", who, seed);
}

static int save_run(struct fg_store *store, unsigned who, unsigned seed, struct fg_error *err)
{
	struct fg_stored_run run = {0};
	int status = FG_OK;

	fg_sample_run(&run, seed, &shapes[seed % FG_ARRAY_SIZE(shapes)]);
	name_run(run.run.id, who, seed);
	status = fg_store_save(store, &run.run, run.profiles, NULL, err);
	fg_stored_run_release(&run);
	return status;
}

static int save_runs(struct fg_store *store, unsigned who, unsigned first, unsigned last,
		     struct fg_error *err)
{
	int status = fg_store_batch_begin(store, err);

	if (status != FG_OK)
		return status;
	for (unsigned seed = first; seed <= last && status == FG_OK; seed++)
		status = save_run(store, who, seed, err);
	if (status == FG_OK)
		return fg_store_batch_end(store, err);
	fg_store_batch_undo(store);
	return status;
}

static void write_set(const struct fg_profile_set *set, struct fg_strbuf *text)
{
	for (size_t n = 1; n < set->node_count; n++)
		fg_strbuf_printf(text, "%zu below %u: %s\n", n, set->nodes[n].parent,
				 set->functions[set->nodes[n].function].name);
	for (size_t r = 0; r < set->row_count; r++) {
		for (uint32_t i = 0; i < set->rows[r].count; i++)
			fg_strbuf_printf(text, "%u %u %.17g\n", set->rows[r].pair,
					 set->rows[r].nodes[i], set->rows[r].values[i]);
	}
}

static void write_run(struct fg_database_test *f, struct fg_store *store, unsigned who,
		      unsigned seed, struct fg_strbuf *text)
{
	struct fg_stored_run run = {0};
	char id[ID_SIZE];

	name_run(id, who, seed);
	fg_must(f, fg_store_load(store, id, &run, &f->err));
	write_set(run.profiles[0], text);
	fg_stored_run_release(&run);
}

static void is_sound(struct fg_database_test *f)
{
	struct fg_store *store = opened(f);
	struct fg_strbuf findings = {0};
	size_t found = 0;

	fg_must(f, fg_store_check(store, &findings, &found, &f->err));
	if (found)
		fail_msg("%s", fg_strbuf_text(&findings));
	fg_strbuf_release(&findings);
	fg_store_close(store);
}

enum {
	RUNS = 12
};

/* A thread that opens the store and writes runs, and its result. */
struct writer {
	struct fg_database_test *f;
	unsigned who;
	struct fg_error err;
	int status;
};

static void *write_all(void *context)
{
	struct writer *w = context;
	struct fg_store *store = NULL;

	w->status = fg_store_open(w->f->location, FG_STORE_DURABLE, &store, &w->err);
	for (unsigned seed = 1; seed <= RUNS && w->status == FG_OK; seed += 2)
		w->status = save_runs(store, w->who, seed, seed + 1, &w->err);
	fg_store_close(store);
	return NULL;
}

FG_TEST_IN(servers_add_the_same_functions_at_once, fg_test_database_setup,
	   fg_test_database_teardown)
{
	struct fg_database_test *f = *state;
	struct writer writers[2] = {{.f = f, .who = 0}, {.f = f, .who = 1}};
	struct fg_strbuf texts[2] = {{0}};
	struct fg_store *store = NULL;
	pthread_t threads[2];

	begin_database(f);
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, write_all, &writers[i]), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(pthread_join(threads[i], NULL), 0);
		if (writers[i].status != FG_OK)
			fail_msg("%s", writers[i].err.message);
	}
	is_sound(f);
	store = opened(f);
	for (unsigned seed = 1; seed <= RUNS; seed++) {
		for (unsigned who = 0; who < 2; who++) {
			fg_strbuf_clear(&texts[who]);
			write_run(f, store, who, seed, &texts[who]);
		}
		assert_string_equal(fg_strbuf_text(&texts[0]), fg_strbuf_text(&texts[1]));
	}
	fg_store_close(store);
	fg_strbuf_release(&texts[0]);
	fg_strbuf_release(&texts[1]);
}

/* A batch that was rolled back may be written again, by other sessions and by this one. */
FG_TEST_IN(undone_ids_are_forgotten, fg_test_database_setup, fg_test_database_teardown)
{
	struct fg_database_test *f = *state;
	struct fg_strbuf texts[2] = {{0}};
	struct fg_store *stores[2] = {NULL};

	begin_database(f);
	for (int i = 0; i < 2; i++)
		stores[i] = opened(f);
	fg_must(f, fg_store_batch_begin(stores[0], &f->err));
	fg_must(f, save_run(stores[0], 0, 3, &f->err));
	fg_store_batch_undo(stores[0]);
	fg_must(f, save_runs(stores[1], 0, 2, 2, &f->err));
	fg_must(f, save_runs(stores[0], 0, 3, 3, &f->err));
	is_sound(f);
	for (int i = 0; i < 2; i++) {
		for (unsigned seed = 2; seed <= 3; seed++)
			write_run(f, stores[i], 0, seed, &texts[i]);
		fg_store_close(stores[i]);
	}
	assert_string_equal(fg_strbuf_text(&texts[0]), fg_strbuf_text(&texts[1]));
	fg_strbuf_release(&texts[0]);
	fg_strbuf_release(&texts[1]);
}

/* Loading the damaged run fails with these words; `perfdb check` reports no other damage. */
static void says_damaged(struct fg_database_test *f, const char *sql, const char *words)
{
	char id[ID_SIZE];
	struct fg_stored_run run = {0};
	struct fg_strbuf findings = {0};
	struct fg_store *store = NULL;
	size_t found = 0;

	name_run(id, 0, 2);
	begin_database(f);
	store = opened(f);
	fg_must(f, save_runs(store, 0, 2, 2, &f->err));
	fg_store_close(store);
	fg_test_script(f->location, sql);
	store = opened(f);
	assert_true(fg_store_load(store, id, &run, &f->err) < 0);
	if (!strstr(f->err.message, words))
		fail_msg("'%s' lacks '%s'", f->err.message, words);
	fg_must(f, fg_store_check(store, &findings, &found, &f->err));
	if (found > 1 || (found == 1 && !strstr(fg_strbuf_text(&findings), words)))
		fail_msg("%s", fg_strbuf_text(&findings));
	fg_strbuf_release(&findings);
	fg_store_close(store);
}

FG_TEST_IN(damaged_paths_are_named, fg_test_database_setup, fg_test_database_teardown)
{
	struct fg_database_test *f = *state;
	const bool is_postgresql = getenv("PERFDB_TEST_URL");

	says_damaged(f,
		     is_postgresql ? "UPDATE chunk SET data = substr(data, 1, 60) WHERE kind = 6"
				   : "UPDATE chunk SET data = CAST(substr(data, 1, 60) AS BLOB) "
				     "WHERE kind = 6",
		     "its checksum does not match");
	says_damaged(f, "UPDATE chunk SET data = '' WHERE kind = 6", "cut short");
	says_damaged(f, "DELETE FROM chunk WHERE kind = 6", "a call path is missing");
}
