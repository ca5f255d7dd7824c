// SPDX-License-Identifier: Apache-2.0
/*
 * Call paths in rows and in blocks: the same answers, also where a database goes over from one to
 * the other while it is used.  In SQLite, and in PostgreSQL if PERFDB_TEST_URL names one, whose
 * tables are created afresh for each database.
 */
#include "base/map.h"
#include "base/strbuf.h"
#include "store/db.h"
#include "store/serving/batch.h"
#include "store/serving/compare.h"
#include "store/serving/paths.h"
#include "store/serving/upkeep.h"
#include "store/session.h"
#include "store/store.h"
#include "tests/support/fg_test.h"
#include "tests/support/scratch.h"
#include "tests/unit/store/samples.h"

#include <pthread.h>

struct fixture {
	struct fg_scratch scratch;
	char *location;
	unsigned databases; /* so far */
	struct fg_error err;
};

static void must(struct fixture *f, int status)
{
	if (status != FG_OK)
		fail_msg("%s", f->err.message);
}

static bool on_postgresql(const struct fixture *f)
{
	return fg_db_is_url(f->location);
}

static void run_script(struct fixture *f, const char *sql)
{
	struct fg_db *db = NULL;

	must(f, fg_db_open(f->location, FG_DB_DURABLE, &db, &f->err));
	must(f, fg_db_script(db, sql, &f->err));
	fg_db_close(db);
}

static struct fg_store *opened(struct fixture *f)
{
	struct fg_store *store = NULL;

	must(f, fg_store_open(f->location, FG_STORE_DURABLE, &store, &f->err));
	return store;
}

/* An empty database, as it begins, or as one of schema 13 is after its upgrade. */
static void begin_database(struct fixture *f, bool in_rows)
{
	const char *url = getenv("PERFDB_TEST_URL");
	char *name = fg_xasprintf("perfdb%u.db", f->databases++);

	free(f->location);
	f->location = fg_xstrdup(url ? url : fg_scratch_path(&f->scratch, name));
	if (url)
		run_script(f, "DROP SCHEMA public CASCADE; CREATE SCHEMA public");
	fg_store_close(opened(f));
	if (in_rows && url)
		run_script(f, "DROP TRIGGER node_closed ON node; DROP FUNCTION perfdb_refuse_path");
	else if (in_rows)
		run_script(f, "DROP TRIGGER node_closed");
	if (in_rows)
		run_script(f, "UPDATE schema_version SET usable_from = 7");
	free(name);
}

static void finish_upgrade(struct fixture *f)
{
	struct fg_store *store = opened(f);
	bool was_finished = false;

	must(f, fg_store_finish(store, &was_finished, &f->err));
	fg_store_close(store);
}

/* Half of the code is new in every run; the second one is too large to be read path by path. */
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

static void tell_set(const struct fg_profile_set *set, struct fg_strbuf *text)
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

/*
 * What the store knows of a run: as a session that has not read the tree yet does, path by path or
 * with the whole tree.
 */
static void tell_run(struct fixture *f, struct fg_store *store, unsigned who, unsigned seed,
		     struct fg_strbuf *text)
{
	struct fg_stored_run run = {0};
	char id[ID_SIZE];

	free(store->tree.nodes);
	store->tree = (struct fg_tree_rows){0};
	name_run(id, who, seed);
	must(f, fg_store_load(store, id, &run, &f->err));
	assert_true(seed % 2 || store->tree.end == 0);
	tell_set(run.profiles[0], text);
	fg_stored_run_release(&run);
}

/* The same from the tree, beside another run. */
static void tell_tree(struct fixture *f, struct fg_store *store, const char *runs[2],
		      struct fg_strbuf *text)
{
	const struct fg_run_side sides[2] = {{.run = runs[0], .arm = FG_ARM_CANDIDATE},
					     {.run = runs[1], .arm = FG_ARM_BASELINE}};
	struct fg_function_deltas deltas = {0};
	struct fg_path_tree tree = {0};

	must(f, fg_store_paths(store, sides, "parse", &tree, &f->err));
	tell_set(&tree.set, text);
	for (size_t n = 0; n < tree.set.node_count; n++)
		fg_strbuf_printf(text, "%.17g %.17g\n", tree.inclusive[0][n], tree.inclusive[1][n]);
	fg_path_tree_release(&tree);
	must(f, fg_store_compare_functions(store, sides, "parse", 100, &deltas, &f->err));
	for (size_t i = 0; i < deltas.count; i++)
		fg_strbuf_printf(text, "%s %.17g %.17g\n", deltas.items[i].name,
				 deltas.items[i].inclusive[0], deltas.items[i].inclusive[1]);
	fg_function_deltas_release(&deltas);
}

static void tell(struct fixture *f, struct fg_store *store, unsigned last, struct fg_strbuf *text)
{
	char ids[2][ID_SIZE];

	fg_strbuf_clear(text);
	for (unsigned seed = 1; seed <= last; seed++)
		tell_run(f, store, 0, seed, text);
	name_run(ids[0], 0, 1);
	name_run(ids[1], 0, last);
	tell_tree(f, store, (const char *[2]){ids[0], ids[1]}, text);
}

static int64_t number(struct fixture *f, struct fg_store *store, enum fg_sql sql)
{
	struct fg_query q;
	int64_t value = 0;

	fg_query_begin(&q, store->db, sql);
	must(f, fg_query_value(&q, &value, &f->err));
	return value;
}

static void note_row(void *context, uint64_t id, const struct fg_call_path *path)
{
	const uint64_t key[2] = {path->parent, path->function};
	bool is_new = false;

	assert_true(path->parent < id);
	(void)fg_map_add(context, key, sizeof(key), id, &is_new);
	if (!is_new)
		fail_msg("path %llu is there twice", (unsigned long long)id);
}

/* Every path is there once, and the database has nothing to complain of. */
static size_t sound_paths(struct fixture *f)
{
	struct fg_store *store = opened(f);
	struct fg_strbuf findings = {0};
	struct fg_map seen = {0};
	const size_t last = (size_t)number(f, store, FG_SQL_PATH_LAST);
	size_t found = 0;

	must(f, fg_call_paths_after(store, 0, note_row, &seen, &f->err));
	found = seen.count;
	assert_int_equal(found, last);
	must(f, fg_store_check(store, &findings, &found, &f->err));
	if (found)
		fail_msg("%s", fg_strbuf_text(&findings));
	fg_strbuf_release(&findings);
	fg_map_release(&seen);
	fg_store_close(store);
	return last;
}

static bool has_blocks(struct fixture *f)
{
	struct fg_store *store = opened(f);
	const bool has = number(f, store, FG_SQL_PATH_ROOT_COUNT) > 0;

	fg_store_close(store);
	return has;
}

enum {
	RUNS = 12,
	PART = 4
};

/* Some runs by one session, some by others, which have to look for what is there. */
static void fill(struct fixture *f, struct fg_store *first, unsigned from, unsigned to)
{
	struct fg_store *second = opened(f);

	for (unsigned seed = from; seed <= to; seed += 2) {
		must(f, save_runs(first, 0, seed, seed, &f->err));
		must(f, save_runs(second, 0, seed + 1, seed + 1, &f->err));
	}
	fg_store_close(second);
}

static void either_layout_answers_the_same(void **state)
{
	struct fixture *f = *state;
	struct fg_strbuf texts[2] = {{0}};
	size_t paths[2] = {0};

	for (int in_rows = 0; in_rows < 2; in_rows++) {
		struct fg_store *store = NULL;

		begin_database(f, in_rows);
		store = opened(f);
		fill(f, store, 1, RUNS);
		fg_store_close(store);
		paths[in_rows] = sound_paths(f);
		assert_int_equal(has_blocks(f), !in_rows);
		store = opened(f);
		tell(f, store, RUNS, &texts[in_rows]);
		fg_store_close(store);
	}
	assert_int_equal(paths[0], paths[1]);
	assert_true(paths[0] > 4000);
	assert_true(texts[0].length > 100000);
	assert_string_equal(fg_strbuf_text(&texts[0]), fg_strbuf_text(&texts[1]));
	fg_strbuf_release(&texts[0]);
	fg_strbuf_release(&texts[1]);
}

/* One that writes and one that reads were there before; a third one comes later. */
static void open_sessions_notice_the_last_step(void **state)
{
	struct fixture *f = *state;
	struct fg_strbuf texts[3] = {{0}};
	struct fg_store *writer = NULL;
	struct fg_store *reader = NULL;
	struct fg_store *later = NULL;
	int64_t rows = 0;

	begin_database(f, true);
	writer = opened(f);
	reader = opened(f);
	fill(f, writer, 1, PART);
	tell(f, reader, PART, &texts[0]);
	rows = number(f, reader, FG_SQL_PATH_LAST);
	finish_upgrade(f);
	assert_false(has_blocks(f));
	tell(f, reader, PART, &texts[1]);
	assert_string_equal(fg_strbuf_text(&texts[1]), fg_strbuf_text(&texts[0]));
	fill(f, writer, PART + 1, RUNS);
	assert_true(has_blocks(f));
	assert_true(reader->paths.first == 0);
	tell(f, reader, RUNS, &texts[0]);
	assert_true(reader->paths.first == (uint64_t)rows + 1);
	tell(f, writer, RUNS, &texts[1]);
	later = opened(f);
	tell(f, later, RUNS, &texts[2]);
	assert_string_equal(fg_strbuf_text(&texts[1]), fg_strbuf_text(&texts[0]));
	assert_string_equal(fg_strbuf_text(&texts[2]), fg_strbuf_text(&texts[0]));
	(void)sound_paths(f);
	for (int i = 0; i < 3; i++)
		fg_strbuf_release(&texts[i]);
	fg_store_close(writer);
	fg_store_close(reader);
	fg_store_close(later);
}

static void last_step_is_taken_once(void **state)
{
	struct fixture *f = *state;
	struct fg_store *store = NULL;
	bool is = true;

	begin_database(f, true);
	store = opened(f);
	must(f, fg_store_is_finished(store, &is, &f->err));
	assert_false(is);
	must(f, fg_store_finish(store, &is, &f->err));
	assert_false(is);
	must(f, fg_store_is_finished(store, &is, &f->err));
	assert_true(is);
	must(f, fg_store_finish(store, &is, &f->err));
	assert_true(is);
	assert_int_equal(number(f, store, FG_SQL_SCHEMA_USABLE_FROM), 14);
	fg_store_close(store);
}

/* What a program that knows rows alone does; it may have been open all the time. */
static int add_rows(struct fg_db *db, size_t count, struct fg_error *err)
{
	int64_t version = 0;
	struct fg_query q;
	int64_t *columns[3];
	struct fg_rows rows = {.column_count = 3, .count = count};
	int status = FG_OK;

	for (size_t c = 0; c < 3; c++) {
		columns[c] = fg_xcalloc(count, sizeof(*columns[c]));
		rows.columns[c].numbers = columns[c];
		for (size_t i = 0; i < count; i++)
			columns[c][i] = (int64_t)(100000 + i);
	}
	status = fg_db_begin(db, FG_DB_WRITES, err);
	if (status != FG_OK)
		goto out;
	status = fg_query_rows(db, FG_SQL_NODE_ADD, &rows, NULL, err);
	if (status != FG_OK)
		goto out;
	/* What was sent ahead is answered with this. */
	fg_query_begin(&q, db, FG_SQL_SCHEMA_VERSION);
	status = fg_query_value(&q, &version, err);
out:
	fg_db_rollback(db);
	for (size_t c = 0; c < 3; c++)
		free(columns[c]);
	return status;
}

/* One by one, some at once, and so many that PostgreSQL copies them. */
static void rows_are_refused_after_the_last_step(void **state)
{
	static const size_t counts[] = {1, 40, 400};
	struct fixture *f = *state;
	struct fg_db *db = NULL;

	begin_database(f, true);
	must(f, fg_db_open(f->location, FG_DB_DURABLE, &db, &f->err));
	for (size_t i = 0; i < FG_ARRAY_SIZE(counts); i++)
		must(f, add_rows(db, counts[i], &f->err));
	finish_upgrade(f);
	for (size_t i = 0; i < FG_ARRAY_SIZE(counts); i++) {
		assert_int_equal(add_rows(db, counts[i], &f->err), FG_EDB);
		assert_non_null(strstr(f->err.message, "this version is too old"));
	}
	fg_db_close(db);
}

/* A server: what it stores, and how that went. */
struct writer {
	struct fixture *f;
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

/* The same code comes to both at once; `finishes`: the last step comes meanwhile. */
static void write_at_once(struct fixture *f, bool in_rows, bool finishes)
{
	struct writer writers[2] = {{.f = f, .who = 0}, {.f = f, .who = 1}};
	struct fg_strbuf texts[2] = {{0}};
	struct fg_store *store = NULL;
	pthread_t threads[2];

	begin_database(f, in_rows);
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, write_all, &writers[i]), 0);
	if (finishes)
		finish_upgrade(f);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(pthread_join(threads[i], NULL), 0);
		if (writers[i].status != FG_OK)
			fail_msg("%s", writers[i].err.message);
	}
	(void)sound_paths(f);
	store = opened(f);
	for (unsigned seed = 1; seed <= RUNS; seed++) {
		for (unsigned who = 0; who < 2; who++) {
			fg_strbuf_clear(&texts[who]);
			tell_run(f, store, who, seed, &texts[who]);
		}
		assert_string_equal(fg_strbuf_text(&texts[0]), fg_strbuf_text(&texts[1]));
	}
	fg_store_close(store);
	fg_strbuf_release(&texts[0]);
	fg_strbuf_release(&texts[1]);
}

static void servers_add_the_same_blocks_at_once(void **state)
{
	write_at_once(*state, false, false);
	assert_true(has_blocks(*state));
}

static void servers_go_on_during_the_last_step(void **state)
{
	write_at_once(*state, true, true);
}

/* All paths, as the columns of a question and its answer. */
struct all_paths {
	int64_t *parents;
	int64_t *functions;
	int64_t *ids;
	size_t count;
	size_t capacity[3];
};

static void list_path(void *context, uint64_t id, const struct fg_call_path *path)
{
	struct all_paths *all = context;
	const size_t count = all->count + 1;

	all->parents = fg_grow(all->parents, &all->capacity[0], count, sizeof(*all->parents));
	all->functions = fg_grow(all->functions, &all->capacity[1], count, sizeof(*all->functions));
	all->ids = fg_grow(all->ids, &all->capacity[2], count, sizeof(*all->ids));
	all->parents[all->count] = (int64_t)path->parent;
	all->functions[all->count] = (int64_t)path->function;
	all->ids[all->count++] = (int64_t)id;
}

static void finds_all(struct fixture *f, struct fg_store *store, const struct all_paths *all)
{
	int64_t *found = fg_xcalloc(all->count, sizeof(*found));
	const struct fg_rows rows = {
		.columns = {{.numbers = all->parents}, {.numbers = all->functions}},
		.column_count = 2,
		.count = all->count};

	must(f, fg_call_paths_find(store, &rows, found, &f->err));
	assert_memory_equal(found, all->ids, all->count * sizeof(*found));
	for (size_t i = 0; i < all->count; i++) {
		struct fg_call_path path = {0};

		must(f, fg_call_paths_get(store, (uint64_t)all->ids[i], &path, &f->err));
		assert_int_equal(path.parent, all->parents[i]);
		assert_int_equal(path.function, all->functions[i]);
	}
	free(found);
}

/* This session has looked when there was nothing yet. */
static void what_others_add_is_found(void **state)
{
	struct fixture *f = *state;

	for (int in_rows = 0; in_rows < 2; in_rows++) {
		struct fg_store *stores[2] = {NULL};
		struct fg_call_path path = {0};
		struct all_paths all = {0};
		size_t last = 1;

		begin_database(f, in_rows);
		for (int i = 0; i < 2; i++)
			stores[i] = opened(f);
		must(f, fg_call_paths_look(stores[1], &last, &f->err));
		assert_int_equal(last, 0);
		assert_int_equal(fg_call_paths_get(stores[1], 1, &path, &f->err), FG_ENOENT);
		for (unsigned seed = 1; seed <= RUNS; seed++)
			must(f, save_runs(stores[0], 0, seed, seed, &f->err));
		must(f, fg_call_paths_after(stores[0], 0, list_path, &all, &f->err));
		assert_true(all.count > 4000);
		finds_all(f, stores[1], &all);
		assert_int_equal(fg_call_paths_get(stores[1], all.count + 1, &path, &f->err),
				 FG_ENOENT);
		for (int i = 0; i < 2; i++)
			fg_store_close(stores[i]);
		free(all.parents);
		free(all.functions);
		free(all.ids);
	}
}

/* What a batch that is undone wrote, others may write, and this session again. */
static void undone_blocks_are_forgotten(void **state)
{
	struct fixture *f = *state;
	struct fg_strbuf texts[2] = {{0}};
	struct fg_store *stores[2] = {NULL};
	struct fg_call_path path = {0};
	char id[ID_SIZE];

	name_run(id, 0, 3);
	begin_database(f, false);
	for (int i = 0; i < 2; i++)
		stores[i] = opened(f);
	must(f, fg_store_batch_begin(stores[0], &f->err));
	must(f, save_run(stores[0], 0, 3, &f->err));
	must(f, fg_store_batch_write(stores[0], &f->err));
	assert_true(stores[0]->paths.first == 1);
	/* As blocks, and as the whole tree. */
	must(f, fg_call_paths_get(stores[0], 1, &path, &f->err));
	tell_tree(f, stores[0], (const char *[2]){id, id}, &texts[0]);
	fg_store_batch_undo(stores[0]);
	must(f, save_runs(stores[1], 0, 2, 2, &f->err));
	must(f, save_runs(stores[0], 0, 3, 3, &f->err));
	(void)sound_paths(f);
	fg_strbuf_clear(&texts[0]);
	for (int i = 0; i < 2; i++) {
		tell_tree(f, stores[i], (const char *[2]){id, id}, &texts[i]);
		for (unsigned seed = 2; seed <= 3; seed++)
			tell_run(f, stores[i], 0, seed, &texts[i]);
		fg_store_close(stores[i]);
	}
	assert_string_equal(fg_strbuf_text(&texts[0]), fg_strbuf_text(&texts[1]));
	fg_strbuf_release(&texts[0]);
	fg_strbuf_release(&texts[1]);
}

static void expect_damage(const struct fixture *f, int status, const char *words)
{
	assert_int_equal(status, FG_EDB);
	if (!strstr(f->err.message, " is damaged: call path") || !strstr(f->err.message, words))
		fail_msg("'%s' lacks '%s'", f->err.message, words);
}

/* Said to whoever reads call paths, one by one or all, and by `perfdb check`. */
static void says_damaged(struct fixture *f, const char *sql, const char *words)
{
	char id[ID_SIZE];
	const struct fg_run_side sides[2] = {{.run = id, .arm = FG_ARM_CANDIDATE}};
	struct fg_path_tree tree = {0};
	struct fg_stored_run run = {0};
	struct fg_strbuf findings = {0};
	struct fg_store *store = NULL;
	size_t found = 0;

	name_run(id, 0, 2);
	begin_database(f, false);
	store = opened(f);
	must(f, save_runs(store, 0, 2, 2, &f->err));
	fg_store_close(store);
	run_script(f, sql);
	store = opened(f);
	expect_damage(f, fg_store_load(store, id, &run, &f->err), words);
	expect_damage(f, fg_store_paths(store, sides, "parse", &tree, &f->err), words);
	must(f, fg_store_check(store, &findings, &found, &f->err));
	if (found != 1 || !strstr(fg_strbuf_text(&findings), " is damaged: "))
		fail_msg("%s", fg_strbuf_text(&findings));
	fg_strbuf_release(&findings);
	fg_store_close(store);
}

static void damaged_blocks_are_named(void **state)
{
	struct fixture *f = *state;
	const bool is_postgresql = getenv("PERFDB_TEST_URL");

	says_damaged(f,
		     is_postgresql
			     ? "UPDATE path_block SET data = substr(data, 1, 60)"
			     : "UPDATE path_block SET data = CAST(substr(data, 1, 60) AS BLOB)",
		     "its checksum does not fit");
	says_damaged(f, "UPDATE path_block SET data = ''", "cut short");
	says_damaged(f, "UPDATE path_block SET count = count - 1", "other paths than its row says");
	says_damaged(f, "UPDATE path_block SET count = 5000", "cannot be in a block");
	says_damaged(f, "UPDATE path_block SET first = 2", "other paths than its row says");
	/* Nothing but a path that is not there says so. */
	says_damaged(f, "DELETE FROM path_block", "is not there");
}

static void listed_roots_are_counted(void **state)
{
	struct fixture *f = *state;
	struct fg_strbuf findings = {0};
	struct fg_store *store = NULL;
	size_t found = 0;

	begin_database(f, false);
	store = opened(f);
	must(f, save_runs(store, 0, 1, 4, &f->err));
	run_script(f, "DELETE FROM path_root WHERE id = (SELECT max(id) FROM path_root)");
	must(f, fg_store_check(store, &findings, &found, &f->err));
	assert_int_equal(found, 1);
	assert_non_null(strstr(fg_strbuf_text(&findings), "call paths begin a block"));
	fg_strbuf_release(&findings);
	fg_store_close(store);
}

static int setup(void **state)
{
	struct fixture *f = fg_xcalloc(1, sizeof(*f));

	fg_scratch_init(&f->scratch);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	fg_scratch_release(&f->scratch);
	free(f->location);
	free(f);
	return 0;
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(either_layout_answers_the_same),
		CASE(open_sessions_notice_the_last_step),
		CASE(last_step_is_taken_once),
		CASE(rows_are_refused_after_the_last_step),
		CASE(servers_add_the_same_blocks_at_once),
		CASE(servers_go_on_during_the_last_step),
		CASE(what_others_add_is_found),
		CASE(undone_blocks_are_forgotten),
		CASE(damaged_blocks_are_named),
		CASE(listed_roots_are_counted),
	};
#undef CASE

	return cmocka_run_group_tests(tests, NULL, NULL);
}
