// SPDX-License-Identifier: Apache-2.0
/*
 * The local store beside the obvious design, one row per function and run in plain SQLite, fed with the same runs:
 *
 *	bench_store FOLDER RUNS
 *
 * Times are CPU time of this process, so that a busy host tells the same story; the disk's share is not in them.
 * Each run has 5,000 functions, 16,000 call paths, 80 pairs and 60,000 samples, spread by Zipf's law.
 */
#include "base/clock.h"
#include "base/fs.h"
#include "store/query.h"
#include "tests/unit/store/samples.h"

#include <sqlite3.h>
#include <sys/stat.h>

enum {
	QUERIES = 100
};

static const struct fg_sample_shape shape = {
	.functions = 5000, .paths = 16000, .pairs = 80, .samples = 60000};

static int compare_double(const void *a, const void *b)
{
	const double x = *(const double *)a;
	const double y = *(const double *)b;

	return (x > y) - (x < y);
}

static double part(double *values, size_t count, double share)
{
	qsort(values, count, sizeof(*values), compare_double);
	return values[(size_t)((double)(count - 1) * share)];
}

static void must(int status, const struct fg_error *err)
{
	if (status == FG_OK)
		return;
	(void)fprintf(stderr, "bench_store: %s\n", err->message);
	exit(1);
}

static double ms_since(int64_t start_ns)
{
	return (double)(fg_clock_process_cpu_ns() - start_ns) / 1e6;
}

static double file_kb(const char *path)
{
	struct stat status = {0};

	(void)stat(path, &status);
	return (double)status.st_size / 1e3;
}

static sqlite3 *open_rows(const char *path, sqlite3_stmt **insert)
{
	sqlite3 *db = NULL;

	if (sqlite3_open(path, &db) != SQLITE_OK ||
	    sqlite3_exec(
		    db,
		    "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; CREATE TABLE v (run INT, function INT, self REAL, "
		    "inclusive REAL, PRIMARY KEY (run, function)) WITHOUT ROWID; CREATE INDEX i ON v (function, run, self)",
		    NULL, NULL, NULL) != SQLITE_OK ||
	    sqlite3_prepare_v2(db, "INSERT INTO v VALUES (?, ?, ?, ?)", -1, insert, NULL) !=
		    SQLITE_OK) {
		(void)fprintf(stderr, "bench_store: %s\n", sqlite3_errmsg(db));
		exit(1);
	}
	return db;
}

/* The peer keeps only functions: no paths, no repetitions. */
static void store_rows(sqlite3 *db, sqlite3_stmt *insert, int run, const struct fg_profile_set *set)
{
	double *self = fg_xcalloc(set->node_count, sizeof(*self));
	double *inclusive = fg_xcalloc(set->node_count, sizeof(*inclusive));
	double *sums = fg_xcalloc(set->function_count, sizeof(*sums));

	(void)fg_profile_set_mean(set, FG_ARM_CANDIDATE, self, inclusive);
	for (size_t n = 0; n < set->node_count; n++)
		sums[set->nodes[n].function] += self[n];
	(void)sqlite3_exec(db, "BEGIN", NULL, NULL, NULL);
	for (size_t f = 0; f < set->function_count; f++) {
		(void)sqlite3_bind_int(insert, 1, run);
		(void)sqlite3_bind_int64(insert, 2, (int64_t)f);
		(void)sqlite3_bind_double(insert, 3, sums[f]);
		(void)sqlite3_bind_double(insert, 4, sums[f]);
		(void)sqlite3_step(insert);
		(void)sqlite3_reset(insert);
	}
	(void)sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
	free(sums);
	free(inclusive);
	free(self);
}

static void measure_saves(const char *folder, unsigned runs)
{
	char *path = fg_fs_join(folder, "store.db");
	char *rows_path = fg_fs_join(folder, "rows.db");
	double *ours = fg_xcalloc(runs, sizeof(*ours));
	double *rows = fg_xcalloc(runs, sizeof(*rows));
	sqlite3_stmt *insert = NULL;
	sqlite3 *db = open_rows(rows_path, &insert);
	double first_kb = 0;
	struct fg_error err = {0};

	for (unsigned i = 0; i < runs; i++) {
		struct fg_stored_run run = {0};
		struct fg_store *store = NULL;
		int64_t start = 0;

		fg_sample_run(&run, i + 1, &shape);
		/* A store is opened for each run, as `fastgate run` does. */
		start = fg_clock_process_cpu_ns();
		must(fg_store_open(path, 0, &store, &err), &err);
		must(fg_store_save(store, &run.run, run.profiles, NULL, &err), &err);
		fg_store_close(store);
		ours[i] = ms_since(start);
		start = fg_clock_process_cpu_ns();
		store_rows(db, insert, (int)i, run.profiles[0]);
		rows[i] = ms_since(start);
		if (i == 0)
			first_kb = file_kb(path);
		fg_stored_run_release(&run);
	}
	(void)sqlite3_finalize(insert);
	(void)sqlite3_close(db);
	(void)printf("save, first run of a store            %8.1f ms\n", ours[0]);
	(void)printf(
		"save, later runs, median              %8.1f ms   rows: %.1f ms   ratio %.2f\n",
		part(ours + 1, runs - 1, 0.5), part(rows + 1, runs - 1, 0.5),
		part(ours + 1, runs - 1, 0.5) / part(rows + 1, runs - 1, 0.5));
	(void)printf(
		"disk, a later run                     %8.1f KB   rows: %.1f KB   ratio %.2f   (rows keep functions only)\n",
		(file_kb(path) - first_kb) / (runs - 1), file_kb(rows_path) / runs,
		(file_kb(path) - first_kb) / (runs - 1) / (file_kb(rows_path) / runs));
	free(rows);
	free(ours);
	free(rows_path);
	free(path);
}

static const char *run_id(unsigned seed)
{
	static char ring[2][37];
	static unsigned next;
	char *text = ring[next++ % 2];

	(void)snprintf(text, sizeof(ring[0]), "0198f000-0000-7000-8000-%012x", seed);
	return text;
}

static void measure_queries(const char *folder, unsigned runs)
{
	char *path = fg_fs_join(folder, "store.db");
	double times[3][QUERIES];
	struct fg_store *store = NULL;
	struct fg_error err = {0};

	must(fg_store_open(path, FG_STORE_READ_ONLY, &store, &err), &err);
	for (unsigned i = 0; i < QUERIES; i++) {
		const struct fg_run_side sides[2] = {
			{run_id(i % runs + 1),           FG_ARM_CANDIDATE},
			{run_id((i * 7 + 1) % runs + 1), FG_ARM_CANDIDATE}
                };
		struct fg_function_deltas deltas = {0};
		struct fg_path_tree tree = {0};
		struct fg_stored_run run = {0};
		int64_t start = fg_clock_process_cpu_ns();

		must(fg_store_compare_functions(store, sides, "parse", 200, &deltas, &err), &err);
		times[0][i] = ms_since(start);
		start = fg_clock_process_cpu_ns();
		must(fg_store_paths(store, sides, "parse", &tree, &err), &err);
		times[1][i] = ms_since(start);
		start = fg_clock_process_cpu_ns();
		must(fg_store_load(store, sides[0].run, &run, &err), &err);
		times[2][i] = ms_since(start);
		fg_function_deltas_release(&deltas);
		fg_path_tree_release(&tree);
		fg_stored_run_release(&run);
	}
	(void)printf("compare two runs by function          %8.2f ms   99 %%: %.2f ms\n",
		     part(times[0], QUERIES, 0.5), part(times[0], QUERIES, 0.99));
	(void)printf("compare two runs by call path         %8.2f ms   99 %%: %.2f ms\n",
		     part(times[1], QUERIES, 0.5), part(times[1], QUERIES, 0.99));
	(void)printf("load a run whole                      %8.2f ms   99 %%: %.2f ms\n",
		     part(times[2], QUERIES, 0.5), part(times[2], QUERIES, 0.99));
	fg_store_close(store);
	free(path);
}

int main(int argc, char **argv)
{
	const unsigned runs = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 50;

	if (argc < 2 || runs < 2) {
		(void)fprintf(stderr, "usage: bench_store FOLDER [RUNS]\n");
		return 2;
	}
	(void)printf("%u runs of 5,000 functions, 16,000 paths, 80 pairs, 60,000 samples\n", runs);
	measure_saves(argv[1], runs);
	measure_queries(argv[1], runs);
	return 0;
}
