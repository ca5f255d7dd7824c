// SPDX-License-Identifier: Apache-2.0
/* Conditions of builds and hosts: stored once, and returned for each run that has them. */
#include "tests/unit/store/fixture.h"

#include <sqlite3.h>

static int64_t ask(struct fixture *f, const char *sql)
{
	sqlite3 *raw = NULL;
	sqlite3_stmt *statement = NULL;
	int64_t value = 0;

	assert_int_equal(sqlite3_open(fg_scratch_path(&f->scratch, "deep/er/store.db"), &raw),
			 SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(raw, sql, -1, &statement, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
	value = sqlite3_column_int64(statement, 0);
	(void)sqlite3_finalize(statement);
	(void)sqlite3_close(raw);
	return value;
}

/* Stores a run, on a machine with this CPU unless `cpu` is NULL. */
static void put(struct fixture *f, uint64_t seed, const char *cpu)
{
	struct fg_stored_run run = {0};

	fg_sample_run(&run, seed, &fg_sample_small);
	fg_environment_set(&run.run.host, "host.cpu.count", "2", true);
	if (cpu)
		fg_environment_set(&run.run.host, "host.cpu.model", cpu, true);
	must(f, fg_store_save(f->store, &run.run, NULL, NULL, &f->err));
	fg_stored_run_release(&run);
}

static void has(struct fixture *f, uint64_t seed, const char *cpu, const char *load)
{
	struct fg_stored_run run = {0};

	must(f, fg_store_load(f->store, sample_id(seed), &run, &f->err));
	assert_int_equal(run.run.host.count, 3);
	assert_string_equal(fg_environment_get(&run.run.host, "host.cpu.model"), cpu);
	assert_string_equal(fg_environment_get(&run.run.host, "host.cpu.count"), "2");
	assert_string_equal(fg_environment_get(&run.run.host, "host.load"), load);
	fg_stored_run_release(&run);
}

FG_TEST_IN(conditions_shared_by_runs_are_stored_once, setup, teardown)
{
	struct fixture *f = *state;

	put(f, 1, NULL);
	put(f, 2, NULL);
	put(f, 3, "Xeon");
	has(f, 1, "AMD EPYC", "1");
	has(f, 2, "AMD EPYC", "2");
	has(f, 3, "Xeon", "3");
	/* two CPUs, their number, three loads, the compiler and the build-id */
	assert_int_equal(ask(f, "SELECT count(*) FROM fact"), 2 + 1 + 3 + 2);
	assert_int_equal(ask(f, "SELECT count(*) FROM run_fact"), 3 * 5);
}

static size_t count(struct fixture *f, const char *key, const char *value)
{
	const struct fg_run_filter filter = {.fact_key = key, .fact_value = value};
	struct fg_run_list list = {0};
	size_t found = 0;

	must(f, fg_store_list(f->store, &filter, &list, &f->err));
	found = list.count;
	fg_run_list_release(&list);
	return found;
}

FG_TEST_IN(runs_are_found_by_what_they_share_and_by_what_they_do_not, setup, teardown)
{
	struct fixture *f = *state;

	put(f, 1, NULL);
	put(f, 2, NULL);
	put(f, 3, "Xeon");
	assert_int_equal(count(f, "host.cpu.model", NULL), 3);
	assert_int_equal(count(f, "host.cpu.model", "AMD EPYC"), 2);
	assert_int_equal(count(f, "host.cpu.model", "Xeon"), 1);
	assert_int_equal(count(f, "host.cpu.model", "3"), 0);
	assert_int_equal(count(f, "host.load", "3"), 1);
	assert_int_equal(count(f, "host.load", "Xeon"), 0);
}

FG_TEST_IN(conditions_without_a_run_are_removed, setup, teardown)
{
	struct fixture *f = *state;
	const struct fg_gc_policy policy = {.older_than_ns = INT64_MAX, .keep = 1};
	struct fg_gc_result result = {0};

	put(f, 1, "Xeon");
	put(f, 2, NULL);
	put(f, 3, NULL);
	must(f, fg_store_gc(f->store, &policy, &result, &f->err));
	assert_int_equal(result.runs, 2);
	has(f, 3, "AMD EPYC", "3");
	assert_int_equal(ask(f, "SELECT count(*) FROM fact WHERE value IN ('Xeon', '1', '2')"),
			 1); /* the number of CPUs is 2 */
}

/* An unfinished run of a program with many libraries gets more facts about its binaries. */
FG_TEST_IN(later_conditions_are_stored_too, setup, teardown)
{
	struct fixture *f = *state;
	struct fg_stored_run run = {0};
	struct fg_stored_run loaded = {0};
	struct fg_build_facts *build = NULL;
	char key[64];

	fg_sample_run(&run, 1, &fg_sample_small);
	run.run.complete = false;
	build = &run.run.series[0].build[FG_ARM_CANDIDATE];
	fg_build_facts_set(build, "build.flags", "-O2");
	for (unsigned i = 0; i < 100; i++) {
		(void)snprintf(key, sizeof(key), "build.library.lib%u.so", i);
		fg_build_facts_set(build, key, "1234");
	}
	must(f, fg_store_progress(f->store, &run.run, NULL, &f->err));
	fg_build_facts_set(build, "build.mapped", "5678");
	fg_build_facts_set(build, "build.lto", "yes");
	must(f, fg_store_progress(f->store, &run.run, NULL, &f->err));
	must(f, fg_store_load(f->store, run.run.id, &loaded, &f->err));
	build = &loaded.run.series[0].build[FG_ARM_CANDIDATE];
	assert_int_equal(fg_build_facts_count(build), 104);
	assert_string_equal(build->flags, "-O2");
	assert_string_equal(fg_environment_get(&build->other, "build.lto"), "yes");
	assert_string_equal(build->id, "abcdef");
	assert_string_equal(build->mapped, "5678");
	fg_stored_run_release(&loaded);
	fg_stored_run_release(&run);
}
