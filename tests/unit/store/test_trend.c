// SPDX-License-Identifier: Apache-2.0
/* A function's trend. */
#include "store/bytes.h"
#include "store/serving/overview.h"
#include "store/serving/trend.h"
#include "store/store.h"
#include "store/totals.h"
#include "store/transaction.h"
#include "tests/unit/store/fixture.h"

#include <math.h>

enum {
	RUNS = 60,
	STEP_NS = 100 /* totals are kept in fractions of a sample */
};

static const struct fg_sample_shape tiny = {
	.functions = 6, .paths = 12, .pairs = 2, .samples = 400};

static void same_points(const struct fg_function_point *x, const struct fg_function_point *y)
{
	assert_string_equal(x->run, y->run);
	assert_int_equal(x->started_ns, y->started_ns);
	if (x->commit && y->commit)
		assert_string_equal(x->commit, y->commit);
	else
		assert_ptr_equal(x->commit, y->commit);
	assert_true(fabs(x->self - y->self) <= STEP_NS);
	assert_true(fabs(x->inclusive - y->inclusive) <= STEP_NS);
}

static void same_trends(const struct fg_function_trend *x, const struct fg_function_trend *y)
{
	assert_int_equal(x->count, y->count);
	for (size_t i = 0; i < x->count; i++)
		same_points(&x->points[i], &y->points[i]);
}

/* The busiest function of the first run, and the query for its trend. */
struct busiest {
	struct fg_stored_run run;
	struct fg_trend_query query;
};

static void find_busiest(struct busiest *b)
{
	const struct fg_profile_function *function = NULL;

	fg_sample_run(&b->run, 1, &tiny);
	function = fg_sample_busiest(b->run.profiles[0]);
	b->query = (struct fg_trend_query){.project = "tracker",
					   .benchmark = "parse",
					   .name = function->name,
					   .library = function->library};
}

static struct fg_function_trend trend_of(struct fixture *f, const struct fg_trend_query *query)
{
	struct fg_function_trend trend = {0};

	must(f, fg_store_function_trend(f->store, query, &trend, &f->err));
	return trend;
}

FG_TEST_IN(points_are_what_the_call_paths_add_up_to, setup, teardown)
{
	struct fixture *f = *state;
	struct busiest b = {0};
	struct fg_function_trend all = {0};
	struct fg_function_trend fewer = {0};

	save_samples(f, 1, RUNS, &tiny);
	save_samples(f, 1, RUNS / 2, &tiny); /* stored again */
	find_busiest(&b);
	all = trend_of(f, &b.query);
	assert_int_equal(all.count, RUNS);
	for (size_t i = 0; i < all.count; i++)
		assert_true(fabs(all.points[i].self - self_of(f, sample_id(i + 1), b.query.name,
							      FG_ARM_CANDIDATE)) <= STEP_NS);
	must(f, fg_store_delete(f->store, sample_id(17), &f->err));
	fewer = trend_of(f, &b.query);
	assert_int_equal(fewer.count, RUNS - 1);
	for (size_t i = 0; i < fewer.count; i++)
		same_points(&all.points[i < 16 ? i : i + 1], &fewer.points[i]);
	fg_function_trend_release(&all);
	fg_function_trend_release(&fewer);
	fg_stored_run_release(&b.run);
}

/* The new functions' ids lie in a part of `function_total` for which earlier runs have no row. */
FG_TEST_IN(a_new_function_took_nothing_before_it_was_there, setup, teardown)
{
	static const struct fg_sample_shape wide = {
		.functions = 136, .paths = 1200, .pairs = 2, .samples = 4000};
	struct fixture *f = *state;
	struct fg_trend_query query = {.project = "tracker", .benchmark = "parse"};
	struct fg_stored_run stored = {0};
	size_t fresh = 0;

	save_samples(f, 1, 1, &tiny);
	save_samples(f, 2, 2, &wide);
	fg_sample_run(&stored, 2, &wide);
	for (size_t i = tiny.functions + 1; i < stored.profiles[0]->function_count; i++) {
		struct fg_function_trend trend = {0};

		query.name = stored.profiles[0]->functions[i].name;
		query.library = stored.profiles[0]->functions[i].library;
		if (fg_store_function_trend(f->store, &query, &trend, &f->err) != FG_OK)
			continue; /* is on no call path */
		fresh++;
		assert_int_equal(trend.count, 2);
		assert_true(trend.points[0].inclusive <= 0);
		assert_true(trend.points[1].inclusive > 0);
		fg_function_trend_release(&trend);
	}
	assert_true(fresh > 64);
	fg_stored_run_release(&stored);
}

FG_TEST_IN(a_run_without_a_profile_is_not_a_point_at_zero, setup, teardown)
{
	struct fixture *f = *state;
	struct fg_stored_run without = {0};
	struct busiest b = {0};
	struct fg_function_trend trend = {0};

	save_samples(f, 1, 3, &tiny);
	fg_sample_run(&without, 4, &tiny);
	must(f, fg_store_save(f->store, &without.run, NULL, NULL, &f->err));
	fg_stored_run_release(&without);
	save_samples(f, 5, 5, &tiny);
	find_busiest(&b);
	trend = trend_of(f, &b.query);
	assert_int_equal(trend.count, 4);
	assert_string_equal(trend.points[3].run, sample_id(5));
	fg_function_trend_release(&trend);
	fg_stored_run_release(&b.run);
}

FG_TEST_IN(unknown_function_is_refused, setup, teardown)
{
	struct fixture *f = *state;
	struct fg_function_trend trend = {0};
	struct busiest b = {0};

	save_samples(f, 1, 1, &tiny);
	find_busiest(&b);
	b.query.library = "elsewhere.so";
	assert_int_equal(fg_store_function_trend(f->store, &b.query, &trend, &f->err), FG_ENOENT);
	fg_stored_run_release(&b.run);
}

FG_TEST_IN(trend_of_a_branch_has_its_runs_alone, setup, teardown)
{
	static const char *const branches[] = {NULL, "main", "mainly"};
	struct fixture *f = *state;
	struct busiest b = {0};
	struct fg_function_trend trend = {0};

	must(f, fg_store_batch_begin(f->store, &f->err));
	for (uint64_t seed = 1; seed <= RUNS; seed++) {
		struct fg_stored_run s = {0};
		char **branch = &s.run.sides[FG_ARM_CANDIDATE].branch;

		fg_sample_run(&s, seed, &tiny);
		free(*branch);
		*branch = branches[seed % 3] ? fg_xstrdup(branches[seed % 3]) : NULL;
		must(f, fg_store_save_upload(f->store, &s, NULL, &f->err));
		fg_stored_run_release(&s);
	}
	must(f, fg_store_batch_end(f->store, &f->err));
	find_busiest(&b);
	b.query.branch = "main";
	trend = trend_of(f, &b.query);
	assert_int_equal(trend.count, RUNS / 3);
	for (size_t i = 0; i < trend.count; i++)
		assert_string_equal(trend.points[i].run, sample_id(3 * i + 1));
	fg_function_trend_release(&trend);
	fg_stored_run_release(&b.run);
}

/* Last year's runs are imported: the last stored run is not the last started one. */
FG_TEST_IN(newest_are_those_that_started_last, setup, teardown)
{
	struct fixture *f = *state;
	struct fg_overview overview = {0};
	struct fg_function_trend trend = {0};
	struct busiest b = {0};

	save_samples(f, RUNS + 1, RUNS + 7, &tiny);
	save_samples(f, 1, RUNS, &tiny);
	find_busiest(&b);
	b.query.limit = 5;
	trend = trend_of(f, &b.query);
	assert_int_equal(trend.count, 5);
	for (size_t i = 0; i < trend.count; i++)
		assert_string_equal(trend.points[i].run, sample_id(RUNS + 3 + i));
	b.query.before_ns = trend.points[0].started_ns;
	fg_function_trend_release(&trend);
	trend = trend_of(f, &b.query);
	assert_int_equal(trend.count, 5);
	assert_string_equal(trend.points[4].run, sample_id(RUNS + 2));
	fg_function_trend_release(&trend);
	must(f, fg_store_overview(f->store, "tracker", 3, &overview, &f->err));
	assert_string_equal(overview.items[0].run, sample_id(RUNS + 7));
	fg_overview_release(&overview);
	fg_stored_run_release(&b.run);
}

static void newest_is(struct fixture *f, const struct busiest *b, uint64_t seed)
{
	struct fg_function_trend trend = trend_of(f, &b->query);
	const struct fg_function_point *newest = &trend.points[trend.count - 1];

	assert_string_equal(newest->run, sample_id(seed));
	assert_true(fabs(newest->self -
			 self_of(f, sample_id(seed), b->query.name, FG_ARM_CANDIDATE)) <= STEP_NS);
	fg_function_trend_release(&trend);
}

/* SQLite reuses the number of the newest series once that series is gone. */
FG_TEST_IN(run_in_the_place_of_a_removed_one_has_its_own_values, setup, teardown)
{
	static const struct fg_sample_shape more = {
		.functions = 6, .paths = 12, .pairs = 4, .samples = 1600};
	struct fixture *f = *state;
	struct busiest b = {0};

	save_samples(f, 1, RUNS, &tiny);
	find_busiest(&b);
	must(f, fg_store_delete(f->store, sample_id(RUNS), &f->err));
	save_samples(f, 400, 400, &tiny);
	newest_is(f, &b, 400);
	/* A run that is sent again with more data has the values of the new data. */
	save_samples(f, 400, 400, &more);
	newest_is(f, &b, 400);
	fg_stored_run_release(&b.run);
}

/* An upload may claim any weights: sums that are too large are capped, and affect nothing else. */
FG_TEST(sums_beyond_measure_stay_sums)
{
	struct fg_error err = {0};
	struct fg_function_total items[] = {
		{1, {1e300, 0}, {1e308, 0}}, {2, {7, 0}, {9, 0}}, {3, {NAN, 0}, {1e300, 0}},
		{4, {1e300, 0}, {-5, 0}},    {5, {3, 0}, {4, 0}},
	};
	const struct fg_totals totals = {
		.items = items, .count = 5, .repetitions = {1, 0}, .unit = 1.0};
	struct fg_totals found = {0};
	struct fg_bytes content = {0};
	struct fg_byte_reader reader;

	fg_totals_write(&totals, &content);
	reader = (struct fg_byte_reader){content.data, content.data + content.size, false};
	assert_int_equal(fg_totals_read(&reader, &found, &err), FG_OK);
	assert_int_equal(found.count, 5);
	assert_true(found.items[0].self[0] > 1e18 && found.items[0].inclusive[0] > 1e18);
	assert_true(found.items[2].self[0] == 0 && found.items[2].inclusive[0] > 1e18);
	assert_true(found.items[3].self[0] > 1e18 && found.items[3].inclusive[0] == 0);
	for (size_t i = 1; i < 5; i += 3) {
		assert_true(found.items[i].self[0] == items[i].self[0]);
		assert_true(found.items[i].inclusive[0] == items[i].inclusive[0]);
	}
	fg_totals_release(&found);
	fg_bytes_release(&content);
}

/* ---- totals as bytes ---- */

/*
 * Makes totals with every third id from 10 on; the values are whole steps, so that they are
 * restored exactly.
 */
static struct fg_totals made_totals(size_t count)
{
	struct fg_totals totals = {.items = fg_xcalloc(count, sizeof(*totals.items)),
				   .count = count,
				   .repetitions = {3, 4},
				   .unit = 12};

	for (size_t i = 0; i < count; i++)
		totals.items[i] = (struct fg_function_total){
			.id = 10 + 3 * i,
			.self = {(double)(i % 91) * 4, (double)(i % 13) * 3},
			.inclusive = {(double)(i % 97) * 4, (double)(i % 13 + i % 7) * 3},
		};
	return totals;
}

static void pick_both(const struct fg_bytes *bytes, uint64_t id, double found[2])
{
	struct fg_byte_reader reader = {bytes->data, bytes->data + bytes->size, false};
	struct fg_error err = {0};

	if (fg_totals_pick(&reader, id, FG_ARM_CANDIDATE, &found[0], &found[1], &err) != FG_OK)
		fail_msg("%s", err.message);
}

FG_TEST(one_function_of_many_is_found)
{
	static const size_t counts[] = {0, 1, 512};

	for (size_t c = 0; c < FG_ARRAY_SIZE(counts); c++) {
		struct fg_totals totals = made_totals(counts[c]);
		struct fg_totals again = {0};
		struct fg_bytes bytes = {0};
		struct fg_byte_reader reader;
		struct fg_error err = {0};
		double found[2] = {-1, -1};

		fg_totals_write(&totals, &bytes);
		reader = (struct fg_byte_reader){bytes.data, bytes.data + bytes.size, false};
		assert_int_equal(fg_totals_read(&reader, &again, &err), FG_OK);
		assert_ptr_equal(reader.at, reader.end);
		assert_int_equal(again.count, counts[c]);
		assert_int_equal(again.repetitions[1], 4);
		for (size_t i = 0; i < counts[c]; i++) {
			const struct fg_function_total *item = &totals.items[i];

			assert_int_equal(again.items[i].id, item->id);
			pick_both(&bytes, item->id, found);
			assert_true(fabs(found[0] - item->self[1]) < 1e-6);
			assert_true(fabs(found[1] - item->inclusive[1]) < 1e-6);
			assert_true(fabs(again.items[i].inclusive[0] - item->inclusive[0]) < 1e-6);
		}
		pick_both(&bytes, 11, found);
		assert_true(fabs(found[0]) + fabs(found[1]) < 1e-9);
		fg_totals_release(&totals);
		fg_totals_release(&again);
		fg_bytes_release(&bytes);
	}
}

FG_TEST(totals_cut_short_are_refused)
{
	struct fg_totals totals = made_totals(300);
	struct fg_bytes bytes = {0};
	struct fg_error err = {0};

	fg_totals_write(&totals, &bytes);
	for (size_t size = 0; size < bytes.size; size++) {
		struct fg_byte_reader reader = {bytes.data, bytes.data + size, false};
		struct fg_totals again = {0};

		assert_int_equal(fg_totals_read(&reader, &again, &err), FG_EPARSE);
	}
	fg_totals_release(&totals);
	fg_bytes_release(&bytes);
}
