// SPDX-License-Identifier: Apache-2.0
/*
 * Histories and trends have the newest runs, whatever the order in which runs were stored, replaced
 * and removed: in SQLite, or in the PostgreSQL that PERFDB_TEST_URL names. Its tables are created
 * afresh for each test.
 */
#include "model/profile_set.h"
#include "store/db.h"
#include "store/serving/history.h"
#include "store/serving/overview.h"
#include "store/serving/trend.h"
#include "store/store.h"
#include "store/transaction.h"
#include "tests/integration/perfdb/database.h"
#include "tests/support/fg_test.h"
#include "tests/unit/store/samples.h"

#include <math.h>

enum {
	RUNS = 800,
	PROFILED_RUNS = 500,
	BENCHMARKS = 5,
	OVERVIEW_RUNS = 70,
	MINUTE_NS = 60000000,
};

static const int64_t thousand = 1000;

static const struct fg_sample_shape tiny = {.functions = 4, .paths = 8, .pairs = 1, .samples = 60};

static int setup(void **state)
{
	struct fg_database_test *f = NULL;

	fg_test_database_setup(state);
	f = *state;
	fg_must(f, fg_store_open(f->location, 0, &f->store, &f->err));
	return 0;
}

/*
 * Returns the number of the run that is stored n-th: most runs are stored in the order of their
 * start times, one run in seven swaps places with the next, and two distant runs swap places.
 */
static uint64_t nth_stored(uint64_t n, uint64_t count)
{
	const uint64_t far = count * 4 / 5 / 7 * 7;

	if (n == 14 || n == far)
		return n == 14 ? far : 14;
	if (n % 7 == 3 && n + 1 < count)
		return n + 1;
	return n % 7 == 4 ? n - 1 : n;
}

static void set_build(struct fg_run *run, uint64_t n)
{
	struct fg_side *side = &run->sides[FG_ARM_CANDIDATE];

	free(side->branch);
	side->branch = fg_xstrdup(n % 5 == 2 ? "feature" : "main");
	side->dirty = n % 11 == 0;
	run->complete = n % 13 != 0;
	if (n % 50 == 0) {
		char *tag = fg_xasprintf("v%llu", (unsigned long long)n);

		fg_environment_set(&side->build, "git.tag", tag, true);
		free(tag);
	}
}

static void save_run(struct fg_database_test *f, uint64_t n, bool has_profile)
{
	struct fg_stored_run s = {0};
	char *report = n % 3 ? fg_sample_report(n % 2 ? "pass" : "regression", 1 + (double)n / 1000)
			     : NULL;

	fg_sample_run(&s, n + 1, &tiny);
	s.run.started_ns = INT64_C(1700000000000000000) + (int64_t)n * MINUTE_NS * thousand;
	set_build(&s.run, n);
	fg_must(f,
		fg_store_save(f->store, &s.run, has_profile ? s.profiles : NULL, report, &f->err));
	fg_stored_run_release(&s);
	free(report);
}

static void save_runs(struct fg_database_test *f, uint64_t count, bool have_profiles)
{
	fg_must(f, fg_store_batch_begin(f->store, &f->err));
	for (uint64_t n = 0; n < count; n++)
		save_run(f, nth_stored(n, count), have_profiles);
	fg_must(f, fg_store_batch_end(f->store, &f->err));
}

static struct fg_history history_of(struct fg_database_test *f, const char *branch, size_t limit)
{
	const struct fg_history_query query = {.project = "tracker",
					       .benchmark = "parse",
					       .metric = "cpu_time",
					       .branch = branch,
					       .limit = limit};
	struct fg_history history = {0};

	fg_must(f, fg_store_history(f->store, &query, &history, &f->err));
	return history;
}

static void same_text(const char *x, const char *y)
{
	if (x && y)
		assert_string_equal(x, y);
	else
		assert_ptr_equal(x, y);
}

static void same_value(double x, double y)
{
	assert_int_equal(isnan(x), isnan(y));
	if (!isnan(x))
		assert_true(!(x < y) && !(x > y));
}

static void same_point(const struct fg_history_point *x, const struct fg_history_point *y)
{
	assert_string_equal(x->run, y->run);
	assert_int_equal(x->started_ns, y->started_ns);
	same_text(x->commit, y->commit);
	same_text(x->branch, y->branch);
	same_text(x->fingerprint, y->fingerprint);
	same_text(x->outcome, y->outcome);
	same_text(x->tag, y->tag);
	assert_int_equal(x->dirty, y->dirty);
	assert_int_equal(x->complete, y->complete);
	assert_int_equal(x->pairs, y->pairs);
	same_value(x->baseline, y->baseline);
	same_value(x->candidate, y->candidate);
	same_value(x->ratio, y->ratio);
	same_value(x->low, y->low);
	same_value(x->high, y->high);
}

/* `newest` must be the end of `all`. */
static void is_end_of(const struct fg_history *all, const struct fg_history *newest, size_t limit)
{
	const size_t expected = limit && limit < all->count ? limit : all->count;

	assert_int_equal(newest->count, expected);
	for (size_t i = 0; i < expected; i++)
		same_point(&all->points[all->count - expected + i], &newest->points[i]);
	assert_string_equal(all->unit, newest->unit);
	assert_int_equal(all->better, newest->better);
}

static void have_newest(struct fg_database_test *f, const char *branch,
			const struct fg_history *all)
{
	static const size_t limits[] = {0, 1, 30, 511, 512, 600, 790, 5000};

	for (size_t i = 0; i < FG_ARRAY_SIZE(limits); i++) {
		struct fg_history newest = history_of(f, branch, limits[i]);

		is_end_of(all, &newest, limits[i]);
		fg_history_release(&newest);
	}
}

/* Histories of the only benchmark: of all branches, and of one branch. */
struct expected {
	struct fg_history all;
	struct fg_history branch;
};

static struct expected expect(struct fg_database_test *f)
{
	return (struct expected){history_of(f, NULL, 0), history_of(f, "feature", 0)};
}

static void is_as_expected(struct fg_database_test *f, struct expected *e)
{
	have_newest(f, NULL, &e->all);
	have_newest(f, "feature", &e->branch);
}

static void release(struct expected *e)
{
	fg_history_release(&e->all);
	fg_history_release(&e->branch);
}

static void newest_are_those_of_all(void **state)
{
	struct fg_database_test *f = *state;
	struct expected rows = expect(f);

	assert_int_equal(rows.all.count, RUNS);
	for (size_t i = 1; i < RUNS; i++)
		assert_true(rows.all.points[i - 1].started_ns < rows.all.points[i].started_ns);
	is_as_expected(f, &rows);
	release(&rows);
}

static const char *id_of(uint64_t n)
{
	static char id[37];

	(void)snprintf(id, sizeof(id), "0198f000-0000-7000-8000-%012llx",
		       (unsigned long long)n + 1);
	return id;
}

static void removed_and_replaced_runs_are_seen(void **state)
{
	struct fg_database_test *f = *state;
	struct expected rows;

	fg_must(f, fg_store_delete(f->store, id_of(300), &f->err));
	fg_must(f, fg_store_delete(f->store, id_of(RUNS - 3), &f->err));
	save_run(f, 700, false);
	rows = expect(f);
	assert_int_equal(rows.all.count, RUNS - 2);
	is_as_expected(f, &rows);
	release(&rows);
}

static struct fg_function_trend trend_of(struct fg_database_test *f,
					 const struct fg_profile_function *function, size_t limit)
{
	struct fg_function_trend trend = {0};

	fg_must(f, fg_store_function_trend(f->store,
					   &(struct fg_trend_query){.project = "tracker",
								    .benchmark = "parse",
								    .branch = "main",
								    .name = function->name,
								    .library = function->library,
								    .limit = limit},
					   &trend, &f->err));
	return trend;
}

static void newest_of_a_function_are_those_of_all(void **state)
{
	static const size_t limits[] = {1, 10, 200, 300, 5000};
	struct fg_database_test *f = *state;
	const struct fg_profile_function *function = NULL;
	struct fg_stored_run run = {0};
	struct fg_function_trend all = {0};

	save_runs(f, PROFILED_RUNS, true);
	fg_must(f, fg_store_load(f->store, id_of(5), &run, &f->err));
	function = fg_sample_busiest(run.profiles[0]);
	all = trend_of(f, function, 0);
	assert_true(all.count > PROFILED_RUNS / 2);
	for (size_t i = 0; i < FG_ARRAY_SIZE(limits); i++) {
		struct fg_function_trend newest = trend_of(f, function, limits[i]);
		const size_t wanted = limits[i] < all.count ? limits[i] : all.count;

		assert_true(newest.count >= wanted);
		for (size_t k = 1; k <= wanted; k++) {
			const struct fg_function_point *x = &all.points[all.count - k];
			const struct fg_function_point *y = &newest.points[newest.count - k];

			assert_string_equal(x->run, y->run);
			same_text(x->commit, y->commit);
			same_value(x->self, y->self);
			same_value(x->inclusive, y->inclusive);
		}
		fg_function_trend_release(&newest);
	}
	fg_function_trend_release(&all);
	fg_stored_run_release(&run);
}

enum {
	CASE_OF_A_HARNESS = 1
};

/* Adds the harness's own metric; CPU time is gated but unknown for a case. */
static void add_case_metric(struct fg_series *series)
{
	series->metrics[FG_METRIC_CPU_TIME].gated = true;
	(void)fg_series_add_metric(series, &(struct fg_metric){.name = "case_time",
							       .label = "case time",
							       .unit = "ns",
							       .gated = true});
}

/* Saves a run of all benchmarks; the newest runs have only the first two. */
static void save_overview_run(struct fg_database_test *f, uint64_t n)
{
	const size_t several = n > OVERVIEW_RUNS - 9 ? 2 : BENCHMARKS;
	struct fg_stored_run s = {0};

	fg_sample_run(&s, n + 1, &tiny);
	s.run.started_ns = INT64_C(1700000000000000000) + (int64_t)n * MINUTE_NS * thousand;
	for (size_t b = 1; b < several; b++) {
		struct fg_series *series = NULL;
		char name[] = "other-0";

		name[sizeof(name) - 2] = (char)('0' + b);
		series = fg_run_add_series(&s.run, name);
		series->state = FG_MEASURED;
		series->schedule = FG_SCHEDULE_DUET;
		if (b == CASE_OF_A_HARNESS)
			add_case_metric(series);
		for (uint8_t arm = 0; arm < FG_ARM_COUNT; arm++) {
			double *values = fg_sample_repetition(series, arm, 0)->values;
			const size_t metric = b == CASE_OF_A_HARNESS ? series->metric_count - 1
								     : FG_METRIC_CPU_TIME;

			values[FG_METRIC_CPU_TIME] = (double)NAN;
			values[metric] = 1e8 + (double)(b * 1000 + n);
		}
	}
	fg_profile_set_release(s.profiles[0]);
	free(s.profiles[0]);
	free(s.profiles);
	s.profiles = NULL;
	fg_must(f, fg_store_save(f->store, &s.run, NULL, NULL, &f->err));
	fg_stored_run_release(&s);
}

static void overview_has_the_newest_of_each_benchmark(void **state)
{
	enum {
		SHOWN = 12
	};
	struct fg_database_test *f = *state;
	struct fg_overview overview = {0};

	fg_must(f, fg_store_batch_begin(f->store, &f->err));
	for (uint64_t n = 0; n < OVERVIEW_RUNS; n++)
		save_overview_run(f, nth_stored(n, OVERVIEW_RUNS));
	fg_must(f, fg_store_batch_end(f->store, &f->err));
	/* Deletes a run that was stored early, yet is among the newest. */
	fg_must(f, fg_store_delete(f->store, id_of(3), &f->err));
	fg_must(f, fg_store_overview(f->store, "tracker", SHOWN, &overview, &f->err));
	assert_int_equal(overview.count, BENCHMARKS);
	for (size_t b = 0; b < overview.count; b++) {
		const struct fg_overview_row *row = &overview.items[b];
		struct fg_history alone = {0};

		fg_must(f, fg_store_history(f->store,
					    &(struct fg_history_query){.project = "tracker",
								       .benchmark = row->name,
								       .metric = row->metric},
					    &alone, &f->err));
		is_end_of(&alone, &row->history, SHOWN);
		fg_history_release(&alone);
		assert_true(row->history.count > 0);
		if (strcmp(row->name, "other-1") == 0)
			assert_string_equal(row->metric, "case_time");
	}
	fg_overview_release(&overview);
}

static int setup_filled(void **state)
{
	setup(state);
	save_runs(*state, RUNS, false);
	return 0;
}

int main(void)
{
	/* Each test continues with the previous test's store. */
	const struct CMUnitTest life[] = {
		cmocka_unit_test(newest_are_those_of_all),
		cmocka_unit_test(removed_and_replaced_runs_are_seen),
	};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(newest_of_a_function_are_those_of_all, setup,
						fg_test_database_teardown),
		cmocka_unit_test_setup_teardown(overview_has_the_newest_of_each_benchmark, setup,
						fg_test_database_teardown),
	};
	const int failed = cmocka_run_group_tests(life, setup_filled, fg_test_database_teardown);

	return failed + cmocka_run_group_tests(tests, NULL, NULL);
}
