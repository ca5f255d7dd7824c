// SPDX-License-Identifier: Apache-2.0
/*
 * The local store compared with the obvious design, one row per function and run in plain SQLite,
 * fed with the same runs (the first hundred only, since rows get too large):
 *
 *	bench_store FOLDER RUNS
 *
 * The store alone then continues to RUNS and answers the queries of the commands.  Times are CPU
 * time of this process, so that a busy host gives the same figures; they exclude the disk. Each run
 * has 5,000 functions, 16,000 call paths, 80 pairs and 60,000 samples, spread by Zipf's law.
 */
#include "base/clock.h"
#include "base/fs.h"
#include "gate/statistics/sample.h"
#include "store/serving/compare.h"
#include "store/serving/history.h"
#include "store/serving/paths.h"
#include "store/serving/side.h"
#include "store/store.h"
#include "tests/unit/store/samples.h"

#include <sqlite3.h>
#include <sys/stat.h>

enum {
	QUERIES = 100,
	PEER_RUNS = 100,
	QUESTIONS = 5
};

static const struct fg_sample_shape shape = {
	.functions = 5000, .paths = 16000, .pairs = 80, .samples = 60000};

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
	    sqlite3_exec(db,
			 "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; CREATE TABLE v "
			 "(run INT, function INT, self REAL, inclusive REAL, PRIMARY KEY (run, "
			 "function)) WITHOUT ROWID; CREATE INDEX i ON v (function, run, self)",
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

	(void)fg_profile_set_mean(set, FG_MEASURE_CPU_TIME, FG_ARM_CANDIDATE, self, inclusive);
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

/* The store is opened for each run, as `fastgate run` does. */
static double save(const char *path, const struct fg_stored_run *run)
{
	const int64_t start = fg_clock_process_cpu_ns();
	struct fg_store *store = NULL;
	struct fg_error err = {0};

	must(fg_store_open(path, 0, &store, &err), &err);
	must(fg_store_save(store, &run->run, run->profiles, NULL, &err), &err);
	fg_store_close(store);
	return ms_since(start);
}

static void print_saves(double *ours, unsigned count, double *rows, unsigned row_count)
{
	const double median = fg_quantile(ours + 1, count - 1, 0.5);
	const double row_median = fg_quantile(rows + 1, row_count - 1, 0.5);

	(void)printf("save, first run of a store            %8.1f ms\n", ours[0]);
	(void)printf(
		"save, later runs, median              %8.1f ms   rows: %.1f ms   ratio %.2f\n",
		median, row_median, median / row_median);
}

static void print_disk(double kb, double row_kb)
{
	(void)printf("disk, a later run                     %8.1f KB   rows: %.1f KB   ratio "
		     "%.2f   (rows keep functions only)\n",
		     kb, row_kb, kb / row_kb);
}

static void measure_saves(const char *folder, unsigned runs)
{
	const unsigned row_count = runs < PEER_RUNS ? runs : PEER_RUNS;
	char *path = fg_fs_join(folder, "store.db");
	char *rows_path = fg_fs_join(folder, "rows.db");
	double *ours = fg_xcalloc(runs, sizeof(*ours));
	double rows[PEER_RUNS] = {0};
	sqlite3_stmt *insert = NULL;
	sqlite3 *db = open_rows(rows_path, &insert);
	double first_kb = 0;

	for (unsigned i = 0; i < runs; i++) {
		struct fg_stored_run run = {0};

		fg_sample_run(&run, i + 1, &shape);
		ours[i] = save(path, &run);
		if (i < row_count) {
			const int64_t start = fg_clock_process_cpu_ns();

			store_rows(db, insert, (int)i, run.profiles[0]);
			rows[i] = ms_since(start);
		}
		if (i == 0)
			first_kb = file_kb(path);
		fg_stored_run_release(&run);
	}
	(void)sqlite3_finalize(insert);
	(void)sqlite3_close(db);
	print_saves(ours, runs, rows, row_count);
	print_disk((file_kb(path) - first_kb) / (runs - 1), file_kb(rows_path) / row_count);
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

static int ask_functions(struct fg_store *store, const struct fg_run_side *sides,
			 struct fg_error *err)
{
	struct fg_function_deltas deltas = {0};
	const int status = fg_store_compare_functions(store, sides, "parse", 200, &deltas, err);

	fg_function_deltas_release(&deltas);
	return status;
}

static int ask_paths(struct fg_store *store, const struct fg_run_side *sides, struct fg_error *err)
{
	struct fg_path_tree tree = {0};
	const int status = fg_store_paths(store, sides, "parse", &tree, err);

	fg_path_tree_release(&tree);
	return status;
}

static int ask_run(struct fg_store *store, const struct fg_run_side *sides, struct fg_error *err)
{
	struct fg_stored_run run = {0};
	const int status = fg_store_load(store, sides[0].run, &run, err);

	fg_stored_run_release(&run);
	return status;
}

static int ask_list(struct fg_store *store, const struct fg_run_side *sides, struct fg_error *err)
{
	struct fg_run_list list = {0};
	const int status = fg_store_list(store, &(struct fg_run_filter){.limit = 20}, &list, err);

	(void)sides;
	fg_run_list_release(&list);
	return status;
}

static int ask_history(struct fg_store *store, const struct fg_run_side *sides,
		       struct fg_error *err)
{
	struct fg_history history = {0};
	const int status = fg_store_history(
		store, &(struct fg_history_query){.benchmark = "parse", .metric = "cpu_time"},
		&history, err);

	(void)sides;
	fg_history_release(&history);
	return status;
}

static const struct {
	const char *name;
	int (*ask)(struct fg_store *store, const struct fg_run_side *sides, struct fg_error *err);
} questions[QUESTIONS] = {
	{"compare two runs by function", ask_functions},
	{"compare two runs by call path", ask_paths},
	{"load a run whole", ask_run},
	{"list the newest 20 runs", ask_list},
	{"history of a metric, all runs", ask_history},
};

static void measure_queries(const char *folder, unsigned runs)
{
	char *path = fg_fs_join(folder, "store.db");
	double times[QUESTIONS][QUERIES];
	struct fg_store *store = NULL;
	struct fg_error err = {0};

	must(fg_store_open(path, FG_STORE_READ_ONLY, &store, &err), &err);
	for (unsigned i = 0; i < QUERIES; i++) {
		const struct fg_run_side sides[2] = {
			{.run = run_id(i * 97 % runs + 1), .arm = FG_ARM_CANDIDATE},
			{.run = run_id((i * 61 + 1) % runs + 1), .arm = FG_ARM_CANDIDATE}};

		for (unsigned q = 0; q < QUESTIONS; q++) {
			const int64_t start = fg_clock_process_cpu_ns();

			must(questions[q].ask(store, sides, &err), &err);
			times[q][i] = ms_since(start);
		}
	}
	for (unsigned q = 0; q < QUESTIONS; q++)
		(void)printf("%-37s %8.2f ms   99 %%: %.2f ms\n", questions[q].name,
			     fg_quantile(times[q], QUERIES, 0.5),
			     fg_quantile(times[q], QUERIES, 0.99));
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
