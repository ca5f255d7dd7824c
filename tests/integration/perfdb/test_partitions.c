// SPDX-License-Identifier: Apache-2.0
/*
 * Partitions of a PostgreSQL store: where runs lie, what removal drops, and that nobody sees a run
 * without its values.  with-postgresql.sh starts it.
 */
#include "base/clock.h"
#include "store/db.h"
#include "store/partitions.h"
#include "store/serving/batch.h"
#include "store/serving/compare.h"
#include "store/serving/copy.h"
#include "store/serving/limits.h"
#include "store/serving/sums.h"
#include "store/serving/tiles.h"
#include "store/serving/trend.h"
#include "store/session.h"
#include "store/transaction.h"
#include "tests/integration/perfdb/perfdb_samples.h"
#include "tests/unit/store/fixture.h"

#include <pthread.h>
#include <stdatomic.h>

enum {
	SEALED = FG_TILE_MEMBERS
};

/* In September, October and November 2026. */
#define SEPTEMBER_NS INT64_C(1789000000000000000)
#define OCTOBER_NS   (SEPTEMBER_NS + 30 * FG_NS_PER_DAY)
#define NOVEMBER_NS  (SEPTEMBER_NS + 60 * FG_NS_PER_DAY)

static const struct fg_sample_shape tiny = {
	.functions = 6, .paths = 12, .pairs = 2, .samples = 400};

static const char *url(void)
{
	const char *text = getenv("PERFDB_TEST_URL");

	if (!text)
		fail_msg("this test is started by with-postgresql.sh");
	return text;
}

static void run_sql(struct fixture *f, const char *sql)
{
	struct fg_db *db = NULL;

	must(f, fg_db_open(url(), FG_DB_DURABLE, &db, &f->err));
	must(f, fg_db_script(db, sql, &f->err));
	fg_db_close(db);
}

/* Fails with the condition in the message. */
static void holds(struct fixture *f, const char *condition)
{
	char *sql =
		fg_xasprintf("DO $$ BEGIN ASSERT (%s), '%s'; END $$", condition, "does not hold");

	if (strstr(condition, "$$"))
		fail_msg("%s", condition);
	run_sql(f, sql);
	free(sql);
}

static int empty_store(void **state)
{
	struct fixture *f = fg_xcalloc(1, sizeof(*f));

	fg_scratch_init(&f->scratch);
	run_sql(f, "DROP SCHEMA public CASCADE; CREATE SCHEMA public");
	must(f, fg_store_open(url(), FG_STORE_DURABLE, &f->store, &f->err));
	*state = f;
	return 0;
}

static void begin_month(struct fixture *f, int64_t at_ns)
{
	must(f, fg_store_make_partitions(f->store, at_ns, false, &f->err));
}

static void save(struct fixture *f, uint64_t first, uint64_t last)
{
	save_samples_by(f, first, last, &tiny, fg_store_save_with_totals);
}

static size_t run_count(struct fixture *f)
{
	struct fg_query q;
	int64_t count = 0;

	fg_query_begin(&q, f->store->db, FG_SQL_COUNT_RUNS);
	must(f, fg_query_value(&q, &count, &f->err));
	return (size_t)count;
}

static void is_same(double a, double b)
{
	assert_memory_equal(&a, &b, sizeof(a));
}

/* Whole, as it was made. */
static void is_whole(struct fixture *f, uint64_t seed)
{
	struct fg_stored_run made = {0};
	struct fg_stored_run kept = {0};
	double self[2][12];

	fg_sample_run(&made, seed, &tiny);
	must(f, fg_store_load(f->store, made.run.id, &kept, &f->err));
	assert_int_equal(kept.run.series[0].repetition_count, made.run.series[0].repetition_count);
	is_same(kept.run.series[0].repetitions[3].values[0],
		made.run.series[0].repetitions[3].values[0]);
	assert_int_equal(kept.profiles[0]->row_count, made.profiles[0]->row_count);
	assert_int_equal(fg_profile_set_mean(made.profiles[0], FG_MEASURE_CPU_TIME,
					     FG_ARM_CANDIDATE, self[0], NULL),
			 2);
	assert_int_equal(fg_profile_set_mean(kept.profiles[0], FG_MEASURE_CPU_TIME,
					     FG_ARM_CANDIDATE, self[1], NULL),
			 2);
	is_same(self[0][1], self[1][1]);
	fg_stored_run_release(&made);
	fg_stored_run_release(&kept);
}

/* How many runs the trend of a function shows, with the sum of its time in all or one of them. */
static size_t trend_with(struct fixture *f, const char *only, double *sum)
{
	struct fg_function_trend trend = {0};
	struct fg_trend_query query = {.project = "tracker", .benchmark = "parse"};
	char function[FG_FUNCTION_ID_SIZE];
	struct fg_stored_run made = {0};
	size_t count = 0;

	fg_sample_run(&made, 1, &tiny);
	fg_store_function_id(made.profiles[0]->functions[0].name,
			     made.profiles[0]->functions[0].library, function);
	fg_stored_run_release(&made);
	query.function = function;
	must(f, fg_store_function_trend(f->store, &query, &trend, &f->err));
	*sum = 0;
	for (size_t i = 0; i < trend.count; i++)
		*sum += !only || strcmp(trend.points[i].run, only) == 0 ? trend.points[i].inclusive
									: 0;
	count = trend.count;
	fg_function_trend_release(&trend);
	return count;
}

static size_t trend_of(struct fixture *f, double *sum)
{
	return trend_with(f, NULL, sum);
}

static struct fg_gc_result collect(struct fixture *f, struct fg_gc_policy policy)
{
	struct fg_gc_result result = {0};

	must(f, fg_store_gc(f->store, &policy, &result, &f->err));
	return result;
}

static int64_t started(uint64_t seed)
{
	struct fg_stored_run made = {0};
	int64_t ns = 0;

	fg_sample_run(&made, seed, &tiny);
	ns = made.run.started_ns;
	fg_stored_run_release(&made);
	return ns;
}

static void each_month_has_partitions_of_its_own(void **state)
{
	struct fixture *f = *state;

	save(f, 1, 2);
	begin_month(f, SEPTEMBER_NS);
	begin_month(f, SEPTEMBER_NS);
	save(f, 3, 5);
	begin_month(f, OCTOBER_NS);
	begin_month(f, SEPTEMBER_NS);
	save(f, 6, 9);
	holds(f, "(SELECT count(*) FROM run_partition) = 3");
	holds(f, "(SELECT count(DISTINCT series) FROM chunk_0) = 2");
	holds(f, "(SELECT count(DISTINCT series) FROM chunk_1) = 3");
	holds(f, "(SELECT count(DISTINCT series) FROM chunk_2) = 4");
	holds(f, "(SELECT array_agg(uuid ORDER BY id) = array_agg(uuid ORDER BY uuid) FROM run)");
	for (uint64_t seed = 1; seed <= 9; seed++)
		is_whole(f, seed);
}

static void run_that_is_saved_again_in_another_month_is_there_once(void **state)
{
	struct fixture *f = *state;

	begin_month(f, SEPTEMBER_NS);
	save(f, 1, 4);
	begin_month(f, OCTOBER_NS);
	save(f, 1, 1);
	assert_int_equal(run_count(f), 4);
	holds(f, "(SELECT count(*) FROM series) = 4");
	holds(f, "(SELECT count(DISTINCT series) FROM chunk_2) = 1");
	/* The three others leave; it lies in both months. */
	assert_int_equal(fg_store_baseline_set(f->store, "gold", sample_id(1), &f->err), FG_OK);
	assert_int_equal(collect(f, (struct fg_gc_policy){.older_than_ns = INT64_MAX}).runs, 3);
	holds(f, "(SELECT count(*) FROM chunk_1) = 0");
	is_whole(f, 1);
}

static void upload_is_known_in_the_next_month(void **state)
{
	struct fixture *f = *state;
	struct fg_test_server s;

	begin_month(f, SEPTEMBER_NS);
	fg_test_server_start(&s, url());
	assert_int_equal(fg_test_upload(&s, 1, NULL), 201);
	begin_month(f, OCTOBER_NS);
	assert_int_equal(fg_test_upload(&s, 1, NULL), 200);
	assert_int_equal(fg_test_upload(&s, 2, NULL), 201);
	assert_int_equal(fg_test_run_count(&s), 2);
	fg_test_server_stop(&s);
	holds(f, "(SELECT count(*) FROM run WHERE uuid LIKE '%000001') = 1");
}

static void partition_whose_runs_all_leave_is_dropped(void **state)
{
	struct fixture *f = *state;
	double before = 0;
	double after = 0;
	struct fg_gc_result result = {0};

	begin_month(f, SEPTEMBER_NS);
	save(f, 1, SEALED);
	begin_month(f, OCTOBER_NS);
	save(f, SEALED + 1, 2 * SEALED);
	for (int i = 0; i < 2; i++) {
		size_t sealed = 0;

		must(f, fg_store_seal(f->store, &sealed, &f->err));
		assert_true(sealed > 0);
	}
	holds(f, "EXISTS (SELECT 1 FROM tile_1) AND EXISTS (SELECT 1 FROM tile_2)");
	assert_int_equal(trend_of(f, &before), 2 * SEALED);
	result = collect(f, (struct fg_gc_policy){.older_than_ns = started(SEALED + 1)});
	assert_int_equal(result.runs, SEALED);
	assert_int_equal(result.partitions, 2); /* the first one is empty */
	holds(f, "to_regclass('chunk_1') IS NULL");
	holds(f, "(SELECT count(DISTINCT series) FROM level) = 256");
	holds(f, "to_regclass('report_1') IS NULL AND to_regclass('tile_1') IS NULL");
	holds(f, "(SELECT count(*) FROM seal) = 1");
	assert_int_equal(run_count(f), SEALED);
	assert_int_equal(trend_of(f, &after), SEALED);
	assert_true(after > 0 && after < before);
	is_whole(f, SEALED + 1);
}

/* A server of the version before counts seals: their tiles are in the first partition. */
static void tiles_that_an_older_server_sealed_go_with_their_runs(void **state)
{
	struct fixture *f = *state;
	size_t sealed = 0;

	save(f, 1, 1);
	begin_month(f, SEPTEMBER_NS);
	save(f, 2, SEALED);
	must(f, fg_store_seal(f->store, &sealed, &f->err));
	run_sql(f, "UPDATE seal SET number = 0; UPDATE tile SET number = 0");
	begin_month(f, OCTOBER_NS);
	save(f, SEALED + 1, SEALED + 1);
	holds(f, "EXISTS (SELECT 1 FROM tile_0)");
	assert_int_equal(
		collect(f, (struct fg_gc_policy){.older_than_ns = started(SEALED + 1)}).runs,
		SEALED);
	holds(f, "NOT EXISTS (SELECT 1 FROM tile) AND NOT EXISTS (SELECT 1 FROM seal)");
	is_whole(f, SEALED + 1);
}

static void kept_runs_stay_whole_when_a_partition_is_replaced(void **state)
{
	struct fixture *f = *state;
	double before = 0;
	double after = 0;
	size_t sealed = 0;
	struct fg_gc_result result = {0};

	begin_month(f, SEPTEMBER_NS);
	save(f, 1, SEALED);
	must(f, fg_store_seal(f->store, &sealed, &f->err));
	begin_month(f, OCTOBER_NS);
	save(f, SEALED + 1, SEALED + 1);
	assert_int_equal(fg_store_baseline_set(f->store, "gold", sample_id(7), &f->err), FG_OK);
	run_sql(f, "CREATE TABLE identity_before AS SELECT 'chunk_1'::regclass::oid AS o");
	(void)trend_with(f, sample_id(7), &before);
	result = collect(f, (struct fg_gc_policy){.older_than_ns = started(SEALED + 1)});
	assert_int_equal(result.runs, SEALED - 1);
	assert_int_equal(result.partitions, 1); /* the first one */
	assert_int_equal(result.kept_baselines, 1);
	holds(f, "'chunk_1'::regclass::oid <> (SELECT o FROM identity_before)");
	holds(f, "(SELECT count(DISTINCT series) FROM chunk_1) = 1");
	holds(f, "NOT EXISTS (SELECT 1 FROM run_partition WHERE leftovers <> 0)");
	is_whole(f, 7);
	/* Its value comes from the tile. */
	assert_int_equal(trend_with(f, sample_id(7), &after), 2);
	assert_true(before > 0);
	is_same(after, before);
}

static void few_runs_leave_row_by_row(void **state)
{
	struct fixture *f = *state;

	begin_month(f, SEPTEMBER_NS);
	save(f, 1, 8);
	begin_month(f, OCTOBER_NS);
	run_sql(f, "CREATE TABLE identity_before AS SELECT 'chunk_1'::regclass::oid AS o");
	assert_int_equal(collect(f, (struct fg_gc_policy){.older_than_ns = started(4)}).runs, 3);
	holds(f, "'chunk_1'::regclass::oid = (SELECT o FROM identity_before)");
	holds(f, "(SELECT count(DISTINCT series) FROM chunk_1) = 5");
	holds(f, "(SELECT count(DISTINCT series) FROM level) = 5");
	is_whole(f, 4);
}

static void interrupted_removal_is_finished_by_the_next(void **state)
{
	struct fixture *f = *state;

	begin_month(f, SEPTEMBER_NS);
	save(f, 1, 3);
	begin_month(f, OCTOBER_NS);
	save(f, 4, 4);
	must(f, fg_store_mark_partition(f->store, 1, &f->err));
	must(f, fg_store_batch_begin(f->store, &f->err));
	must(f, fg_store_leave_values(f->store, 1, &f->err));
	must(f, fg_store_delete(f->store, sample_id(1), &f->err));
	must(f, fg_store_batch_end(f->store, &f->err));
	holds(f, "(SELECT count(DISTINCT series) FROM chunk_1) = 3");
	assert_int_equal(collect(f, (struct fg_gc_policy){.keep = 10}).runs, 0);
	holds(f, "(SELECT count(DISTINCT series) FROM chunk_1) = 2");
	is_whole(f, 2);
}

static void projects_that_keep_runs_for_a_month_have_partitions_of_their_own(void **state)
{
	struct fixture *f = *state;
	char project[] = "tracker";
	char who[] = "ann";
	struct fg_limits month = {.project = project, .keep_days = 30, .set_by = who};
	struct fg_gc_policy policy = {.keep = 1000};

	begin_month(f, SEPTEMBER_NS);
	save(f, 1, 2);
	must(f, fg_store_limits_set(f->store, &month, &f->err));
	begin_month(f, OCTOBER_NS);
	save(f, 3, 4);
	run_sql(f, "INSERT INTO project (name) VALUES ('other')");
	holds(f, "(SELECT array_agg(class ORDER BY number) FROM run_partition) = '{0,0,0,1}'");
	holds(f, "(SELECT count(DISTINCT series) FROM chunk_3) = 2");
	holds(f,
	      "(SELECT perfdb_first_id(id) FROM project WHERE name = 'other') = 2::BIGINT << 40");
	begin_month(f, NOVEMBER_NS);
	save(f, 5, 5);
	policy.now_ns = started(5) + 29 * FG_NS_PER_DAY;
	assert_int_equal(collect(f, policy).runs, 0);
	policy.now_ns = started(5) + 30 * FG_NS_PER_DAY;
	assert_int_equal(collect(f, policy).partitions, 2); /* both months in which it was */
	holds(f, "to_regclass('chunk_3') IS NULL");
	assert_int_equal(run_count(f), 1);
	is_whole(f, 5);
}

/* Removes everything, while somebody looks. */
struct remover {
	pthread_t thread;
	atomic_bool done;
	struct fg_gc_result result;
	struct fg_error err;
	int status;
};

static void *remove_everything(void *context)
{
	struct remover *r = context;
	const struct fg_gc_policy everything = {.older_than_ns = INT64_MAX};
	struct fg_store *store = NULL;

	if (fg_store_open(url(), FG_STORE_DURABLE, &store, &r->err) == FG_OK)
		r->status = fg_store_gc(store, &everything, &r->result, &r->err);
	fg_store_close(store);
	atomic_store(&r->done, true);
	return NULL;
}

static bool does_hold(struct fg_db *db, const char *condition)
{
	char *sql = fg_xasprintf("DO $$ BEGIN ASSERT (%s); END $$", condition);
	const int status = fg_db_script(db, sql, NULL);

	free(sql);
	return status == FG_OK;
}

static void reader_sees_the_runs_whole_until_it_has_finished(void **state)
{
	static const char waits[] = "NOT EXISTS (SELECT 1 FROM run) AND EXISTS (SELECT 1 FROM "
				    "pg_stat_activity WHERE query = 'SELECT pg_sleep(0.1)')";
	struct fixture *f = *state;
	struct remover remover = {.status = FG_EIO};
	struct fg_db *db = NULL;
	bool mine = false;
	double before = 0;
	double after = 0;

	begin_month(f, SEPTEMBER_NS);
	save(f, 1, 3);
	begin_month(f, OCTOBER_NS);
	(void)trend_of(f, &before);
	must(f, fg_db_open(url(), FG_DB_DURABLE, &db, &f->err));
	must(f, fg_store_view(f->store, &mine, &f->err));
	assert_int_equal(run_count(f), 3);
	assert_int_equal(pthread_create(&remover.thread, NULL, remove_everything, &remover), 0);
	while (!atomic_load(&remover.done) && !does_hold(db, waits))
		continue;
	fg_db_close(db);
	assert_int_equal(trend_of(f, &after), 3);
	is_same(after, before);
	fg_store_view_end(f->store, mine);
	assert_int_equal(pthread_join(remover.thread, NULL), 0);
	if (remover.status != FG_OK)
		fail_msg("%s", remover.err.message);
	assert_int_equal(remover.result.partitions, 2);
	assert_int_equal(run_count(f), 0);
}

static void copy_puts_runs_into_the_months_in_which_they_started(void **state)
{
	struct fixture *f = *state;
	struct fg_store *from = NULL;
	struct fg_stored_run made = {0};
	const int64_t now_ns = fg_clock_wall_ns();

	must(f, fg_store_open(fg_scratch_path(&f->scratch, "from.db"), 0, &from, &f->err));
	for (unsigned i = 0; i < 3; i++) {
		fg_sample_run(&made, i + 1, &tiny);
		made.run.started_ns = now_ns - (int64_t)(2 - i) * 40 * FG_NS_PER_DAY;
		must(f, fg_store_save(from, &made.run, made.profiles, NULL, &f->err));
		must(f, fg_store_copy(from, f->store, made.run.id, &f->err));
		fg_stored_run_release(&made);
	}
	fg_store_close(from);
	holds(f, "(SELECT array_agg(id >> 40 ORDER BY uuid) FROM run) = '{1,2,3}'");
	is_whole(f, 2);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, empty_store, teardown)
	const struct CMUnitTest tests[] = {
		CASE(each_month_has_partitions_of_its_own),
		CASE(run_that_is_saved_again_in_another_month_is_there_once),
		CASE(upload_is_known_in_the_next_month),
		CASE(partition_whose_runs_all_leave_is_dropped),
		CASE(tiles_that_an_older_server_sealed_go_with_their_runs),
		CASE(kept_runs_stay_whole_when_a_partition_is_replaced),
		CASE(few_runs_leave_row_by_row),
		CASE(interrupted_removal_is_finished_by_the_next),
		CASE(projects_that_keep_runs_for_a_month_have_partitions_of_their_own),
		CASE(reader_sees_the_runs_whole_until_it_has_finished),
		CASE(copy_puts_runs_into_the_months_in_which_they_started),
	};
#undef CASE

	return cmocka_run_group_tests(tests, NULL, NULL);
}
