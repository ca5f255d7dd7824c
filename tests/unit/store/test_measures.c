// SPDX-License-Identifier: Apache-2.0
/* Profiles with more measures than time: in the store, in transfer, and in a server's answers. */
#include "store/bundle.h"
#include "store/serving/trend.h"
#include "store/serving/upkeep.h"
#include "store/serving/uploads.h"
#include "store/transaction.h"
#include "tests/unit/store/fixture.h"

static const struct fg_measure bytes = {
	.name = "test.bytes",
	.label = "bytes",
	.unit = "bytes",
	.fold = FG_FOLD_SUM,
	.exact = true,
};

static const struct fg_measure largest = {
	.name = "test.largest",
	.label = "largest",
	.unit = "bytes",
	.fold = FG_FOLD_MAX,
	.exact = true,
};

static const double odd_bytes = 4503599627370497.0; /* 2^52 + 1: nothing may be rounded */

static void add_row(struct fg_profile_set *set, const struct fg_measure *measure, uint32_t pair,
		    const double values[2])
{
	struct fg_profile_row *row = fg_profile_set_add_row(set, 2);

	row->measure = fg_profile_set_measure(set, measure);
	row->arm = FG_ARM_CANDIDATE;
	row->pair = pair;
	row->count = 2;
	for (uint32_t i = 0; i < 2; i++) {
		row->nodes[i] = i + 1;
		row->samples[i] = i + 3;
		row->values[i] = values[i];
		row->total += values[i];
	}
}

/* The rows of three measures alternate, as in a repetition. */
static void sample(struct fg_stored_run *run, uint64_t seed)
{
	static const struct fg_sample_shape shape = {
		.functions = 6, .paths = 10, .pairs = 2, .samples = 60};
	struct fg_profile_set *set = NULL;

	fg_sample_run(run, seed, &shape);
	set = run->profiles[0];
	for (uint32_t pair = 0; pair < 2; pair++) {
		add_row(set, &bytes, pair, (const double[]){odd_bytes, 100 + (double)seed});
		add_row(set, &largest, pair, (const double[]){64, 4096 + (double)seed});
	}
}

static const struct fg_profile_row *find_row(const struct fg_profile_set *set, const char *measure,
					     uint32_t pair)
{
	uint16_t id = 0;

	if (!fg_measure_find(&set->measures, measure, &id))
		return NULL;
	for (size_t r = 0; r < set->row_count; r++) {
		if (set->rows[r].measure == id && set->rows[r].pair == pair)
			return &set->rows[r];
	}
	return NULL;
}

static void has_measures(const struct fg_profile_set *set, uint64_t seed)
{
	size_t time_rows = 0;
	uint16_t id = 0;

	for (size_t r = 0; r < set->row_count; r++)
		time_rows += set->rows[r].measure == FG_MEASURE_CPU_TIME;
	assert_int_equal(time_rows, 4);
	assert_int_equal(set->row_count, 8);
	for (uint32_t pair = 0; pair < 2; pair++) {
		const struct fg_profile_row *row = find_row(set, bytes.name, pair);

		assert_non_null(row);
		assert_int_equal(row->arm, FG_ARM_CANDIDATE);
		assert_int_equal(row->count, 2);
		assert_true(row->values[0] == odd_bytes);
		assert_true(row->values[1] == 100 + (double)seed);
		assert_int_equal(row->samples[1], 4);
		assert_true(row->total == odd_bytes + 100 + (double)seed);
		row = find_row(set, largest.name, pair);
		assert_non_null(row);
		assert_true(row->values[1] == 4096 + (double)seed);
	}
	assert_true(fg_measure_find(&set->measures, largest.name, &id));
	assert_string_equal(fg_measure_at(&set->measures, id)->unit, "bytes");
	assert_int_equal(fg_measure_at(&set->measures, id)->fold, FG_FOLD_MAX);
	assert_true(fg_measure_at(&set->measures, id)->exact);
}

static void check_stored(struct fg_store *store, uint64_t seed)
{
	struct fg_stored_run loaded = {0};
	struct fg_error err = {0};

	if (fg_store_load(store, sample_id((unsigned)seed), &loaded, &err) != FG_OK)
		fail_msg("%s", err.message);
	has_measures(loaded.profiles[0], seed);
	fg_stored_run_release(&loaded);
}

FG_TEST_IN(measures_are_read_back_by_name_and_exact, setup, teardown)
{
	struct fixture *f = *state;
	struct fg_stored_run run = {0};
	struct fg_strbuf findings = {0};
	size_t count = 0;

	sample(&run, 5);
	must(f, fg_store_save(f->store, &run.run, run.profiles, NULL, &f->err));
	fg_stored_run_release(&run);
	fg_store_close(f->store);
	open_store(f);
	check_stored(f->store, 5);
	must(f, fg_store_check(f->store, &findings, &count, &f->err));
	assert_int_equal(count, 0);
	fg_strbuf_release(&findings);
}

FG_TEST_IN(measures_of_a_run_in_progress_are_kept, setup, teardown)
{
	struct fixture *f = *state;
	struct fg_stored_run run = {0};

	sample(&run, 6);
	/* First without the last rows, which belong to the last pair. */
	run.profiles[0]->row_count -= 2;
	must(f, fg_store_progress(f->store, &run.run, run.profiles, &f->err));
	run.profiles[0]->row_count += 2;
	must(f, fg_store_progress(f->store, &run.run, run.profiles, &f->err));
	fg_stored_run_release(&run);
	check_stored(f->store, 6);
}

/* Returns the trend of the busiest function in `run`. */
static struct fg_function_trend trend_of(struct fixture *f, const struct fg_stored_run *run,
					 const char *measure)
{
	const struct fg_profile_function *function = fg_sample_busiest(run->profiles[0]);
	const struct fg_trend_query query = {.project = "tracker",
					     .benchmark = "parse",
					     .name = function->name,
					     .library = function->library,
					     .measure = measure};
	struct fg_function_trend trend = {0};

	must(f, fg_store_function_trend(f->store, &query, &trend, &f->err));
	return trend;
}

FG_TEST_IN(wall_time_keeps_its_name_and_is_the_time_of_its_run, setup, teardown)
{
	struct fixture *f = *state;
	struct fg_function_trend trend = {0};
	struct fg_stored_run run = {0};

	sample(&run, 7);
	for (size_t r = 0; r < run.profiles[0]->row_count; r++) {
		if (run.profiles[0]->rows[r].measure == FG_MEASURE_CPU_TIME)
			run.profiles[0]->rows[r].measure = FG_MEASURE_WALL_TIME;
	}
	must(f, fg_store_save(f->store, &run.run, run.profiles, NULL, &f->err));
	fg_stored_run_release(&run);
	must(f, fg_store_load(f->store, sample_id(7), &run, &f->err));
	assert_non_null(find_row(run.profiles[0], "wall_time", 0));
	assert_null(find_row(run.profiles[0], "cpu_time", 0));
	trend = trend_of(f, &run, NULL);
	assert_int_equal(trend.count, 1);
	assert_true(trend.points[0].self > 1e5);
	assert_null(trend.unit);
	fg_function_trend_release(&trend);
	fg_stored_run_release(&run);
}

/* ---- answers of a server ---- */

FG_TEST_IN(trend_of_a_measure_has_its_values_and_unit, setup, teardown)
{
	struct fixture *f = *state;
	struct fg_stored_run run = {0};
	struct fg_function_trend trend = {0};

	for (uint64_t seed = 1; seed <= 2; seed++) {
		fg_stored_run_release(&run);
		sample(&run, seed);
		must(f, fg_store_save(f->store, &run.run, run.profiles, NULL, &f->err));
	}
	trend = trend_of(f, &run, "test.bytes");
	assert_int_equal(trend.count, 2);
	assert_true(trend.points[0].inclusive >= odd_bytes);
	assert_string_equal(trend.unit, "bytes");
	fg_function_trend_release(&trend);
	fg_stored_run_release(&run);
}

/* ---- transfer ---- */

static void make_bundle(struct fg_bundle *bundle, uint64_t seed)
{
	struct fg_stored_run run = {0};
	struct fg_error err = {0};

	sample(&run, seed);
	if (fg_bundle_from_run(&run, bundle, &err) != FG_OK)
		fail_msg("%s", err.message);
	fg_stored_run_release(&run);
}

static int receive(struct fixture *f, const struct fg_bundle *bundle)
{
	enum fg_upload_outcome outcome = FG_UPLOAD_STORED;
	struct fg_stored_run stored = {0};

	FG_TRY(fg_bundle_to_run(bundle, &fg_bundle_limits_default, &stored, &f->err));
	must(f, fg_store_batch_begin(f->store, &f->err));
	must(f, fg_store_put_upload(f->store, &stored, "digest", &outcome, &f->err));
	must(f, fg_store_batch_end(f->store, &f->err));
	fg_stored_run_release(&stored);
	return FG_OK;
}

FG_TEST_IN(an_upload_is_stored_with_its_measures, setup, teardown)
{
	struct fixture *f = *state;
	struct fg_bundle bundle = {0};

	make_bundle(&bundle, 9);
	must(f, receive(f, &bundle));
	check_stored(f->store, 9);
	fg_bundle_release(&bundle);
}

/* Replaces a name in the values of a bundle, and seals it again. */
static void replace_name(struct fg_bundle *bundle, const char *from, const char *to)
{
	struct fg_bytes content = {0};
	struct fg_error err = {0};
	uint8_t *at = NULL;

	assert_int_equal(
		fg_unpack(bundle->values.data, bundle->values.size, 1 << 20, &content, &err),
		FG_OK);
	at = memmem(content.data, content.size, from, strlen(from));
	assert_non_null(at);
	memcpy(at, to, strlen(to));
	bundle->values.size = 0;
	assert_int_equal(fg_pack(content.data, content.size, FG_PACK_LEVEL, &bundle->values, &err),
			 FG_OK);
	fg_bytes_release(&content);
}

FG_TEST_IN(a_measure_that_is_there_twice_is_refused, setup, teardown)
{
	struct fixture *f = *state;
	struct fg_stored_run arrived = {0};
	struct fg_stored_run run = {0};
	struct fg_measure twin = bytes;
	struct fg_bundle bundle = {0};

	sample(&run, 10);
	twin.name = "test.bytez";
	add_row(run.profiles[0], &twin, 0, (const double[]){1, 2});
	must(f, fg_bundle_from_run(&run, &bundle, &f->err));
	replace_name(&bundle, "test.bytez", "test.bytes");
	assert_int_equal(fg_bundle_to_run(&bundle, &fg_bundle_limits_default, &arrived, &f->err),
			 FG_EPARSE);
	assert_non_null(strstr(f->err.message, "duplicate"));
	assert_int_equal(receive(f, &bundle), FG_EPARSE);
	assert_non_null(strstr(f->err.message, "duplicate"));
	fg_bundle_release(&bundle);
	fg_stored_run_release(&run);
}

FG_TEST_IN(copies_keep_measures, setup, teardown)
{
	struct fixture *f = *state;
	struct fg_store *to = NULL;
	struct fg_stored_run run = {0};

	sample(&run, 11);
	must(f, fg_store_save(f->store, &run.run, run.profiles, NULL, &f->err));
	fg_stored_run_release(&run);
	must(f, fg_store_open(fg_scratch_path(&f->scratch, "copy.db"), 0, &to, &f->err));
	must(f, fg_store_copy(f->store, to, sample_id(11), &f->err));
	check_stored(to, 11);
	fg_store_close(to);
}
