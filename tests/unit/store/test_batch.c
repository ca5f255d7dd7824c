// SPDX-License-Identifier: Apache-2.0
/* Runs that arrive together are written together: each with its own series, and each once. */
#include "store/bundle.h"
#include "store/serving/dictionary.h"
#include "store/serving/ids.h"
#include "store/serving/ingest.h"
#include "tests/unit/store/fixture.h"

#include <math.h>

enum {
	RUNS = 5
};

/* A run as an upload brings it, with its dictionary stored. */
static void arrive(struct fixture *f, uint64_t seed, struct fg_arrival *arrival)
{
	struct fg_stored_run run = {0};
	struct fg_bundle bundle = {0};
	struct fg_dictionary *dictionary = NULL;
	struct fg_ids *ids = fg_ids_new();
	char hash[FG_SHA256_HEX_SIZE];

	fg_sample_run(&run, seed, &fg_sample_small);
	must(f, fg_bundle_from_run(&run, &bundle, &f->err));
	fg_stored_run_release(&run);
	must(f, fg_bundle_read_envelope(fg_strbuf_text(&bundle.envelope), bundle.envelope.length,
					&fg_bundle_limits_default, &run, hash, &f->err));
	must(f, fg_dictionary_open(&bundle.dictionary, &fg_bundle_limits_default, hash, NULL,
				   &dictionary, &f->err));
	if (!fg_dictionary_look_up(dictionary, ids))
		must(f, fg_store_dictionary_intern(f->store, dictionary, &f->err));
	fg_dictionary_finish(dictionary);
	must(f, fg_arrival_make(&run, bundle.values.data, bundle.values.size, dictionary, arrival,
				&f->err));
	fg_dictionary_free(dictionary);
	fg_ids_free(ids);
	fg_bundle_release(&bundle);
}

static void put(struct fixture *f, const struct fg_arrival *arrival)
{
	must(f, fg_store_put_arrival(f->store, arrival, true, &f->err));
}

static size_t count_runs(struct fixture *f)
{
	struct fg_run_list list = {0};
	size_t count = 0;

	must(f, fg_store_list(f->store, &(struct fg_run_filter){.limit = 100}, &list, &f->err));
	count = list.count;
	fg_run_list_release(&list);
	return count;
}

/* The same as the run that was sent. */
static void check_run(struct fixture *f, uint64_t seed)
{
	struct fg_stored_run sent = {0};
	struct fg_stored_run stored = {0};

	fg_sample_run(&sent, seed, &fg_sample_small);
	must(f, fg_store_load(f->store, sample_id(seed), &stored, &f->err));
	assert_int_equal(stored.run.started_ns, sent.run.started_ns);
	assert_string_equal(stored.run.series[0].name, sent.run.series[0].name);
	assert_int_equal(stored.run.series[0].repetition_count,
			 sent.run.series[0].repetition_count);
	for (size_t i = 0; i < sent.run.series[0].repetition_count; i++)
		assert_true(fabs(stored.run.series[0].repetitions[i].values[FG_METRIC_CPU_TIME] -
				 sent.run.series[0].repetitions[i].values[FG_METRIC_CPU_TIME]) < 1);
	assert_int_equal(stored.run.host.count, sent.run.host.count);
	assert_int_equal(stored.profiles[0]->row_count, sent.profiles[0]->row_count);
	fg_stored_run_release(&sent);
	fg_stored_run_release(&stored);
}

static void runs_of_a_batch_keep_what_is_theirs(void **state)
{
	struct fixture *f = *state;
	struct fg_arrival arrivals[RUNS] = {0};

	for (uint64_t i = 0; i < RUNS; i++)
		arrive(f, i + 1, &arrivals[i]);
	must(f, fg_store_batch_begin(f->store, &f->err));
	for (size_t i = 0; i < RUNS; i++)
		put(f, &arrivals[i]);
	must(f, fg_store_batch_end(f->store, &f->err));
	assert_int_equal(count_runs(f), RUNS);
	for (uint64_t i = 0; i < RUNS; i++)
		check_run(f, i + 1);
	for (size_t i = 0; i < RUNS; i++)
		fg_arrival_release(&arrivals[i]);
}

static void a_batch_with_a_run_twice_is_not_written(void **state)
{
	struct fixture *f = *state;
	struct fg_arrival arrivals[2] = {0};

	arrive(f, 1, &arrivals[0]);
	arrive(f, 2, &arrivals[1]);
	must(f, fg_store_batch_begin(f->store, &f->err));
	put(f, &arrivals[0]);
	put(f, &arrivals[1]);
	put(f, &arrivals[0]);
	assert_int_equal(fg_store_batch_write(f->store, &f->err), FG_EBUSY);
	assert_true(fg_store_batch_is_spoiled(f->store));
	fg_store_batch_undo(f->store);
	assert_int_equal(count_runs(f), 0);
	/* One of them alone, as the server does then. */
	must(f, fg_store_batch_begin(f->store, &f->err));
	put(f, &arrivals[0]);
	must(f, fg_store_batch_end(f->store, &f->err));
	check_run(f, 1);
	/* And once more, when it is stored. */
	must(f, fg_store_batch_begin(f->store, &f->err));
	put(f, &arrivals[0]);
	assert_int_equal(fg_store_batch_write(f->store, &f->err), FG_EBUSY);
	fg_store_batch_undo(f->store);
	assert_int_equal(count_runs(f), 1);
	fg_arrival_release(&arrivals[0]);
	fg_arrival_release(&arrivals[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(runs_of_a_batch_keep_what_is_theirs, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_batch_with_a_run_twice_is_not_written, setup,
						teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
