// SPDX-License-Identifier: Apache-2.0
/* A server worker's processing of each upload, in one thread, without a server. */
#include "base/clock.h"
#include "base/fs.h"
#include "bench/perfdb/bench_perfdb.h"
#include "bench/perfdb/generator.h"
#include "gate/statistics/sample.h"
#include "store/serving/batch.h"
#include "store/serving/dictionary.h"
#include "store/serving/ids.h"
#include "store/serving/ingest.h"
#include "store/store.h"

enum {
	RENAMED = 5,
	GROWN = 20
};

/* A way to store the runs, and its milliseconds of CPU time per run. */
struct taker {
	struct fg_store *store;
	struct fg_ids *ids;
	double *open;
	double *intern;
	double *make;
	double bytes;
};

static double cpu_ms(void)
{
	return (double)fg_clock_process_cpu_ns() / 1e6;
}

static void intern(struct fg_store *store, struct fg_dictionary *dictionary)
{
	struct fg_error err = {0};

	if (fg_store_batch_begin(store, &err) != FG_OK ||
	    fg_store_dictionary_intern(store, dictionary, &err) != FG_OK ||
	    fg_store_batch_end(store, &err) != FG_OK)
		fg_bench_die("intern", &err);
}

/* Opens the dictionary of the next run against the previous one (`base`, which is freed). */
static struct fg_dictionary *take(struct taker *t, const struct fg_bundle *bundle, const char *hash,
				  struct fg_dictionary *base, unsigned i)
{
	struct fg_dictionary *dictionary = NULL;
	struct fg_error err = {0};
	double start = cpu_ms();
	bool is_known = false;

	if (fg_dictionary_open(&bundle->dictionary, &fg_bundle_limits_default, hash, base,
			       &dictionary, &err) != FG_OK)
		fg_bench_die("dictionary", &err);
	is_known = fg_dictionary_look_up(dictionary, t->ids);
	t->open[i] = cpu_ms() - start;
	start = cpu_ms();
	if (!is_known)
		intern(t->store, dictionary);
	t->intern[i] = cpu_ms() - start;
	start = cpu_ms();
	fg_dictionary_finish(dictionary);
	t->open[i] += cpu_ms() - start;
	fg_dictionary_free(base);
	return dictionary;
}

static void make(struct fg_stored_run *stored, const struct fg_bundle *bundle,
		 const struct fg_dictionary *dictionary, struct taker *t, unsigned i)
{
	struct fg_arrival arrival = {0};
	struct fg_error err = {0};
	const double start = cpu_ms();

	if (fg_arrival_make(stored, bundle->values.data, bundle->values.size, dictionary, &arrival,
			    &err) != FG_OK)
		fg_bench_die("arrival", &err);
	t->bytes += (double)fg_arrival_bytes(&arrival);
	fg_arrival_release(&arrival);
	t->make[i] = cpu_ms() - start;
}

int fg_bench_make(const char *database, unsigned runs, bool has_base)
{
	struct taker t = {.ids = fg_ids_new(),
			  .open = fg_xcalloc(runs, sizeof(double)),
			  .intern = fg_xcalloc(runs, sizeof(double)),
			  .make = fg_xcalloc(runs, sizeof(double))};
	struct fg_dictionary *dictionary = NULL;
	struct fg_bench_program program;
	struct fg_error err = {0};

	if (fg_store_open(database, FG_STORE_DURABLE, &t.store, &err) != FG_OK)
		fg_bench_die("open", &err);
	fg_store_share_ids(t.store, t.ids);
	fg_bench_program_init(&program, &fg_bench_shape_default);
	for (unsigned i = 0; i < runs; i++) {
		struct fg_stored_run stored = {0};
		struct fg_bundle bundle = {0};
		char hash[FG_SHA256_HEX_SIZE];

		fg_bench_program_run(&program, i, &bundle);
		if (fg_bundle_read_envelope(bundle.envelope.data, bundle.envelope.length,
					    &fg_bundle_limits_default, &stored, hash,
					    &err) != FG_OK)
			fg_bench_die("envelope", &err);
		if (!has_base) {
			fg_dictionary_free(dictionary);
			dictionary = NULL;
		}
		dictionary = take(&t, &bundle, hash, dictionary, i);
		make(&stored, &bundle, dictionary, &t, i);
		fg_bundle_release(&bundle);
		fg_bench_program_change(&program, RENAMED, GROWN);
	}
	(void)printf("CPU time a run, medians: open the dictionary %5.2f ms, add its names %5.2f "
		     "ms, make the blocks %5.2f ms (%.1f KB)\n",
		     fg_quantile(t.open, runs, 0.5), fg_quantile(t.intern, runs, 0.5),
		     fg_quantile(t.make, runs, 0.5), t.bytes / 1e3 / runs);
	fg_dictionary_free(dictionary);
	fg_bench_program_release(&program);
	fg_store_close(t.store);
	fg_ids_free(t.ids);
	free(t.open);
	free(t.intern);
	free(t.make);
	return 0;
}
