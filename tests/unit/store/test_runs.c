// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"
#include "base/strbuf.h"
#include "store/db.h"
#include "store/serving/history.h"
#include "store/serving/upkeep.h"
#include "store/values.h"
#include "tests/unit/store/fixture.h"
#include "tests/unit/store/samples.h"

#include <math.h>
#include <sqlite3.h>

static void save(struct fixture *f, const struct fg_stored_run *s, const char *report)
{
	must(f, fg_store_save(f->store, &s->run, s->profiles, report, &f->err));
}

static void load(struct fixture *f, const char *id, struct fg_stored_run *s)
{
	must(f, fg_store_load(f->store, id, s, &f->err));
}

/* NaN equals NaN here, because "not measured" must be preserved. */
static void same_number(double a, double b)
{
	assert_true((isnan(a) && isnan(b)) || memcmp(&a, &b, sizeof(a)) == 0);
}

static void same_series(const struct fg_series *a, const struct fg_series *b)
{
	assert_string_equal(a->name, b->name);
	assert_string_equal(a->command, b->command);
	assert_int_equal(a->state, b->state);
	assert_int_equal(a->schedule, b->schedule);
	assert_int_equal(!a->as_linked_metric, !b->as_linked_metric);
	if (a->as_linked_metric)
		assert_string_equal(a->as_linked_metric, b->as_linked_metric);
	same_number(a->as_linked, b->as_linked);
	assert_int_equal(a->layouts, b->layouts);
	same_number(a->sampler_cost, b->sampler_cost);
	same_number(a->sampling.rate_hz, b->sampling.rate_hz);
	same_number(a->sampling.budget, b->sampling.budget);
	same_number(a->sampling.signal_ns, b->sampling.signal_ns);
	same_number(a->sampling.handler_ns, b->sampling.handler_ns);
	same_number(a->sampling.switch_ns, b->sampling.switch_ns);
	same_number(a->sampling.switches_hz, b->sampling.switches_hz);
	same_number(a->sampling.start_share, b->sampling.start_share);
	same_number(a->sampling.expected_cost, b->sampling.expected_cost);
	assert_string_equal(a->sampling.clock, b->sampling.clock);
	assert_string_equal(a->sampling.unseen, b->sampling.unseen);
	for (size_t r = 0; r < FG_REMARK_COUNT; r++) {
		assert_int_equal(!a->remarks[r], !b->remarks[r]);
		if (a->remarks[r])
			assert_string_equal(a->remarks[r], b->remarks[r]);
	}
	assert_int_equal(a->metric_count, b->metric_count);
	for (size_t m = 0; m < a->metric_count; m++) {
		assert_string_equal(a->metrics[m].name, b->metrics[m].name);
		assert_string_equal(a->metrics[m].unit, b->metrics[m].unit);
		assert_int_equal(a->metrics[m].better, b->metrics[m].better);
		same_number(a->metrics[m].min_effect, b->metrics[m].min_effect);
	}
	assert_int_equal(a->repetition_count, b->repetition_count);
	for (size_t i = 0; i < a->repetition_count; i++) {
		const struct fg_repetition *x = &a->repetitions[i];
		const struct fg_repetition *y = &b->repetitions[i];

		assert_int_equal(x->pair, y->pair);
		assert_int_equal(x->arm, y->arm);
		assert_int_equal(x->aside, y->aside);
		assert_int_equal(x->cpu, y->cpu);
		assert_int_equal(x->padding, y->padding);
		assert_int_equal(x->started_ns, y->started_ns);
		assert_int_equal(x->sampled, y->sampled);
		same_number((double)x->pressure, (double)y->pressure);
		for (size_t m = 0; m < a->metric_count; m++)
			same_number(x->values[m], y->values[m]);
	}
}

/* Returns a path as text, which identifies a node whatever its number. */
static char *path_text(const struct fg_profile_set *set, uint32_t node)
{
	char *text = fg_xstrdup("");

	while (node != 0) {
		char *longer =
			fg_xasprintf("%s;%s", set->functions[set->nodes[node].function].name, text);

		free(text);
		text = longer;
		node = set->nodes[node].parent;
	}
	return text;
}

static void same_profile(const struct fg_profile_set *a, const struct fg_profile_set *b)
{
	assert_int_equal(a->row_count, b->row_count);
	assert_string_equal(a->functions[0].name, b->functions[0].name);
	for (size_t r = 0; r < a->row_count; r++) {
		const struct fg_profile_row *x = &a->rows[r];
		const struct fg_profile_row *y = &b->rows[r];
		struct fg_map found = {0};

		assert_int_equal(x->count, y->count);
		assert_int_equal(x->arm, y->arm);
		assert_int_equal(x->pair, y->pair);
		same_number(x->total, y->total);
		for (uint32_t i = 0; i < x->count; i++) {
			char *path = path_text(a, x->nodes[i]);

			*fg_map_add_text(&found, path, 0, NULL) += x->samples[i];
			free(path);
		}
		for (uint32_t i = 0; i < y->count; i++) {
			char *path = path_text(b, y->nodes[i]);
			uint64_t *samples = fg_map_get_text(&found, path);

			assert_non_null(samples);
			*samples -= y->samples[i];
			same_number(y->values[i], (double)y->samples[i] * 1e6);
			assert_true(i == 0 || y->nodes[i] > y->nodes[i - 1]);
			free(path);
		}
		for (size_t i = 0; i < found.count; i++)
			assert_int_equal(found.entries[i].value, 0);
		fg_map_release(&found);
	}
	assert_int_equal(a->region_row_count, b->region_row_count);
	for (size_t i = 0; i < a->region_row_count; i++) {
		assert_string_equal(a->regions[a->region_rows[i].region],
				    b->regions[b->region_rows[i].region]);
		same_number(a->region_rows[i].cpu_ns, b->region_rows[i].cpu_ns);
	}
}

FG_TEST_IN(run_is_read_back_whole, setup, teardown)
{
	struct fixture *f = *state;
	struct fg_stored_run saved = {0};
	struct fg_stored_run loaded = {0};
	char *report = fg_sample_report("regression", 1.05);

	fg_sample_run(&saved, 1, &fg_sample_small);
	saved.run.series[0].as_linked_metric = fg_xstrdup("cpu_time");
	saved.run.series[0].as_linked = 1.03;
	saved.run.series[0].layouts = FG_LAYOUTS_MAX;
	save(f, &saved, report);
	fg_store_close(f->store);
	open_store(f);
	load(f, saved.run.id, &loaded);
	assert_string_equal(loaded.run.project, "tracker");
	assert_int_equal(loaded.run.started_ns, saved.run.started_ns);
	assert_int_equal(loaded.run.seed, saved.run.seed);
	assert_true(loaded.run.complete);
	assert_string_equal(loaded.run.sides[FG_ARM_CANDIDATE].commit,
			    saved.run.sides[FG_ARM_CANDIDATE].commit);
	assert_string_equal(loaded.run.sides[FG_ARM_BASELINE].describe, "merge-base");
	assert_null(loaded.run.sides[FG_ARM_BASELINE].commit);
	assert_string_equal(fg_environment_get(&loaded.run.host, "host.cpu.model"), "AMD EPYC");
	assert_string_equal(loaded.run.series[0].build[FG_ARM_CANDIDATE].id, "abcdef");
	assert_string_equal(loaded.report, report);
	assert_string_equal(loaded.outcome, "regression");
	assert_int_equal(loaded.run.series_count, 1);
	same_series(&saved.run.series[0], &loaded.run.series[0]);
	same_profile(saved.profiles[0], loaded.profiles[0]);
	free(report);
	fg_stored_run_release(&saved);
	fg_stored_run_release(&loaded);
}

/* Uploads are not trusted. */
FG_TEST(implausible_numbers_of_layouts_become_four)
{
	static const struct {
		const char *said;
		unsigned layouts;
	} rows[] = {
		{"\"as_linked_metric\": \"\", \"layouts\": 8", 8},
		{"\"as_linked_metric\": \"cpu_time\"", 4},
		{"\"as_linked_metric\": \"cpu_time\", \"layouts\": 1e30", 4},
		{"\"as_linked_metric\": \"cpu_time\", \"layouts\": 0", 4},
		{"\"as_linked_metric\": \"cpu_time\", \"layouts\": \"x\"", 4},
		{"\"layouts\": 8", 0},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		char *text = fg_xasprintf("{\"state\": \"measured\", %s}", rows[i].said);
		struct fg_series series = {.name = (char *)(uintptr_t) "b"};
		struct fg_error err = {0};
		cJSON *json = NULL;

		assert_int_equal(fg_json_parse(text, strlen(text), 1000, &json, &err), FG_OK);
		assert_int_equal(fg_details_read(json, &series, &err), FG_OK);
		assert_int_equal(series.layouts, rows[i].layouts);
		free(series.as_linked_metric);
		cJSON_Delete(json);
		free(text);
	}
}

FG_TEST_IN(weights_are_read_back_to_a_64th_of_a_period, setup, teardown)
{
	struct fixture *f = *state;
	struct fg_stored_run saved = {0};
	struct fg_stored_run loaded = {0};

	fg_sample_run(&saved, 1, &fg_sample_small);
	for (size_t r = 0; r < saved.profiles[0]->row_count; r++) {
		for (uint32_t i = 0; i < saved.profiles[0]->rows[r].count; i++)
			saved.profiles[0]->rows[r].values[i] +=
				137.0 * (double)((i * 7919 + r) % 1000);
	}
	save(f, &saved, NULL);
	load(f, saved.run.id, &loaded);
	for (size_t r = 0; r < saved.profiles[0]->row_count; r++) {
		double sums[2] = {0};

		for (uint32_t i = 0; i < saved.profiles[0]->rows[r].count; i++) {
			sums[0] += saved.profiles[0]->rows[r].values[i];
			sums[1] += loaded.profiles[0]->rows[r].values[i];
		}
		assert_true(fabs(sums[0] - sums[1]) <=
			    saved.profiles[0]->rows[r].count * 1.2e6 / 64);
	}
	fg_stored_run_release(&saved);
	fg_stored_run_release(&loaded);
}

/* Stores the finished part of a run. */
static void progress(struct fixture *f, struct fg_stored_run *whole)
{
	must(f, fg_store_progress(f->store, &whole->run, whole->profiles, &f->err));
}

/* A run that is completed step by step. */
struct partial_run {
	struct fg_series *series;
	struct fg_profile_set *set;
	size_t repetitions; /* final number */
	size_t rows;
};

static void begin(struct partial_run *run, struct fg_stored_run *whole)
{
	fg_sample_run(whole, 3, &fg_sample_small);
	whole->run.complete = false;
	*run = (struct partial_run){.series = &whole->run.series[0], .set = whole->profiles[0]};
	run->repetitions = run->series->repetition_count;
	run->rows = run->set->row_count;
}

/* Frees everything. */
static void end(struct partial_run *run)
{
	run->series->repetition_count = run->repetitions;
	run->set->row_count = run->rows;
}

FG_TEST_IN(finished_pairs_of_an_interrupted_run_are_there, setup, teardown)
{
	struct fixture *f = *state;
	struct fg_stored_run whole = {0};
	struct fg_stored_run loaded = {0};
	struct partial_run run;
	char id[37];

	begin(&run, &whole);
	run.series->state = FG_INTERRUPTED;
	for (size_t done = 2; done <= 8; done += 2) {
		run.series->repetition_count = done;
		run.set->row_count = done;
		progress(f, &whole);
	}
	fg_store_close(f->store);
	open_store(f);
	assert_int_equal(fg_store_find_incomplete(f->store, "tracker", id, &f->err), FG_OK);
	assert_string_equal(id, whole.run.id);
	load(f, id, &loaded);
	assert_false(loaded.run.complete);
	assert_int_equal(loaded.run.series[0].state, FG_INTERRUPTED);
	same_series(run.series, &loaded.run.series[0]);
	same_profile(run.set, loaded.profiles[0]);
	end(&run);
	whole.run.complete = true;
	save(f, &whole, NULL);
	fg_stored_run_release(&loaded);
	load(f, id, &loaded);
	same_series(run.series, &loaded.run.series[0]);
	same_profile(run.set, loaded.profiles[0]);
	assert_int_equal(fg_store_find_incomplete(f->store, "tracker", id, &f->err), FG_ENOENT);
	fg_stored_run_release(&whole);
	fg_stored_run_release(&loaded);
}

/*
 * The stored part of a pair in progress is set aside. Once the pair ends it counts, and nothing is
 * stored twice.
 */
FG_TEST_IN(an_unfinished_pair_is_kept_and_settled_later, setup, teardown)
{
	struct fixture *f = *state;
	struct fg_stored_run whole = {0};
	struct partial_run run;

	begin(&run, &whole);
	for (size_t done = 1; done <= 8; done++) {
		struct fg_stored_run loaded = {0};
		const uint32_t pair = run.series->repetitions[done - 1].pair;
		const bool goes_on = run.series->repetitions[done].pair == pair;

		run.series->repetition_count = done;
		run.set->row_count = done;
		for (size_t i = done; i > 0 && run.series->repetitions[i - 1].pair == pair; i--)
			run.series->repetitions[i - 1].aside = goes_on ? FG_ASIDE_UNPAIRED : 0;
		fg_profile_set_settle(run.set, pair, goes_on ? FG_ASIDE_UNPAIRED : 0);
		progress(f, &whole);
		load(f, whole.run.id, &loaded);
		same_series(run.series, &loaded.run.series[0]);
		same_profile(run.set, loaded.profiles[0]);
		fg_stored_run_release(&loaded);
	}
	end(&run);
	fg_stored_run_release(&whole);
}

/* Everything stored pair by pair is set aside at once, and nothing is stored twice. */
FG_TEST_IN(a_schedule_that_is_given_up_is_set_aside_in_the_store, setup, teardown)
{
	struct fixture *f = *state;
	struct fg_stored_run whole = {0};
	struct fg_stored_run loaded = {0};
	struct partial_run run;

	begin(&run, &whole);
	for (size_t done = 2; done <= 8; done += 2) {
		run.series->repetition_count = done;
		run.set->row_count = done;
		if (done == 6) {
			run.series->schedule = FG_SCHEDULE_ABBA;
			for (size_t i = 0; i < done; i++)
				run.series->repetitions[i].aside |= FG_ASIDE_GIVEN_UP;
			fg_profile_set_give_up(run.set);
		}
		progress(f, &whole);
	}
	load(f, whole.run.id, &loaded);
	assert_int_equal(loaded.run.series[0].repetitions[0].aside, FG_ASIDE_GIVEN_UP);
	assert_int_equal(loaded.profiles[0]->rows[0].aside, FG_ASIDE_GIVEN_UP);
	assert_int_equal(loaded.profiles[0]->rows[7].aside, 0);
	same_series(run.series, &loaded.run.series[0]);
	same_profile(run.set, loaded.profiles[0]);
	end(&run);
	fg_stored_run_release(&loaded);
	fg_stored_run_release(&whole);
}

static void fill(struct fixture *f, uint64_t count)
{
	for (uint64_t seed = 1; seed <= count; seed++) {
		struct fg_stored_run saved = {0};
		char *report = fg_sample_report(seed % 3 ? "pass" : "regression",
						1.0 + (double)seed / 100);

		fg_sample_run(&saved, seed, &fg_sample_small);
		if (seed == 2)
			fg_environment_set(&saved.run.sides[FG_ARM_CANDIDATE].build, "git.tag",
					   "v1.4", false);
		if (seed == 3) {
			free(saved.run.sides[FG_ARM_CANDIDATE].branch);
			saved.run.sides[FG_ARM_CANDIDATE].branch = fg_xstrdup("feature/x");
		}
		save(f, &saved, report);
		free(report);
		fg_stored_run_release(&saved);
	}
}

static void find(struct fixture *f, const char *words, uint64_t expected)
{
	char id[37] = "";

	if (fg_store_find(f->store, "tracker", words, id, &f->err) != FG_OK)
		fail_msg("%s: %s", words, f->err.message);
	if (strcmp(id, sample_id(expected)) != 0)
		fail_msg("%s: found %s, expected number %d", words, id, (int)expected);
}

FG_TEST_IN(runs_are_found_by_every_kind_of_name, setup, teardown)
{
	struct fixture *f = *state;
	char id[37];

	fill(f, 5);
	find(f, "", 5);
	find(f, "latest", 5);
	find(f, "latest~4", 1);
	find(f, "v1.4", 2);
	find(f, "feature/x", 3);
	find(f, "main", 5);
	find(f, sample_id(4), 4);
	find(f, "9e3779b9", 1); /* a commit */
	assert_int_equal(fg_store_find(f->store, NULL, "0198f0", id, &f->err), FG_ECONFLICT);
	assert_non_null(strstr(f->err.message, "give more digits"));
	assert_int_equal(fg_store_find(f->store, NULL, "nonsense", id, &f->err), FG_ENOENT);
	assert_int_equal(fg_store_find(f->store, "other", "latest", id, &f->err), FG_ENOENT);
	f->err.message[0] = '\0';
	assert_int_equal(fg_store_find(f->store, "tracker", "latest-fix", id, &f->err), FG_ENOENT);
	assert_non_null(strstr(f->err.message, "no run is called 'latest-fix'"));
	assert_int_equal(fg_store_find(f->store, NULL, "'; DROP TABLE run; --", id, &f->err),
			 FG_ENOENT);
}

static size_t count(struct fixture *f, const struct fg_run_filter *filter)
{
	struct fg_run_list list = {0};
	size_t found = 0;

	must(f, fg_store_list(f->store, filter, &list, &f->err));
	found = list.count;
	fg_run_list_release(&list);
	return found;
}

FG_TEST_IN(lists_are_filtered_and_paged, setup, teardown)
{
	struct fixture *f = *state;
	struct fg_run_list list = {0};

	fill(f, 5);
	assert_int_equal(count(f, &(struct fg_run_filter){.branch = "main"}), 4);
	assert_int_equal(count(f, &(struct fg_run_filter){.tag = "v1.4"}), 1);
	assert_int_equal(count(f, &(struct fg_run_filter){.outcome = "regression"}), 1);
	assert_int_equal(count(f, &(struct fg_run_filter){.benchmark = "parse"}), 5);
	assert_int_equal(count(f, &(struct fg_run_filter){.benchmark = "other"}), 0);
	assert_int_equal(count(f, &(struct fg_run_filter){.project = "x' OR '1'='1"}), 0);
	assert_int_equal(
		fg_store_list(f->store, &(struct fg_run_filter){.limit = 2}, &list, &f->err),
		FG_OK);
	assert_int_equal(list.count, 2);
	assert_true(list.more);
	assert_true(list.items[0].started_ns > list.items[1].started_ns);
	assert_int_equal(count(f, &(struct fg_run_filter){.before_ns = list.items[1].started_ns,
							  .before_id = list.items[1].id}),
			 3);
	assert_int_equal(list.items[0].benchmark_count, 1);
	assert_string_equal(list.items[0].outcome, "pass");
	fg_run_list_release(&list);
}

FG_TEST_IN(history_lists_levels_and_verdicts_in_order, setup, teardown)
{
	struct fixture *f = *state;
	const struct fg_history_query query = {"tracker", "parse", "cpu_time", "main", 3};
	struct fg_history history = {0};

	fill(f, 5);
	assert_int_equal(fg_store_history(f->store, &query, &history, &f->err), FG_OK);
	assert_int_equal(history.count, 3);
	assert_string_equal(history.unit, "ns");
	assert_string_equal(history.points[0].run, sample_id(2));
	assert_string_equal(history.points[2].run, sample_id(5));
	assert_true(fabs(history.points[2].ratio - 1.05) < 1e-9);
	assert_true(fabs(history.points[2].low - 1.04) < 1e-9);
	assert_true(fabs(history.points[2].candidate - 2e8) < 2e6);
	assert_string_equal(history.points[2].outcome, "pass");
	fg_history_release(&history);
	assert_int_equal(fg_store_history(f->store,
					  &(struct fg_history_query){.benchmark = "nope",
								     .metric = "cpu_time"},
					  &history, &f->err),
			 FG_ENOENT);
}

FG_TEST_IN(deleted_run_is_gone_and_others_stay, setup, teardown)
{
	struct fixture *f = *state;
	struct fg_stored_run loaded = {0};

	fill(f, 2);
	assert_int_equal(fg_store_delete(f->store, sample_id(1), &f->err), FG_OK);
	assert_int_equal(fg_store_load(f->store, sample_id(1), &loaded, &f->err), FG_ENOENT);
	assert_int_equal(fg_store_delete(f->store, sample_id(1), &f->err), FG_ENOENT);
	load(f, sample_id(2), &loaded);
	fg_stored_run_release(&loaded);
}

FG_TEST_IN(garbage_collection_spares_the_new_and_the_tagged, setup, teardown)
{
	struct fixture *f = *state;
	struct fg_gc_policy policy = {.older_than_ns = INT64_MAX, .keep = 2, .dry_run = true};
	struct fg_gc_result result = {0};

	fill(f, 6); /* number 3 is alone on its branch, number 2 has a tag */
	assert_int_equal(fg_store_gc(f->store, &policy, &result, &f->err), FG_OK);
	assert_int_equal(result.runs, 2);
	assert_int_equal(result.kept_tagged, 1);
	assert_int_equal(count(f, &(struct fg_run_filter){0}), 6);
	policy.dry_run = false;
	must(f, fg_store_gc(f->store, &policy, &result, &f->err));
	assert_int_equal(count(f, &(struct fg_run_filter){0}), 4);
}

/* A history needs neither the other benchmarks of its runs nor their profiles. */
FG_TEST_IN(one_benchmark_is_loaded_without_the_others, setup, teardown)
{
	struct fixture *f = *state;
	char *report = fg_sample_report("regression", 1.25);
	struct fg_stored_run saved = {0};
	struct fg_stored_run loaded = {0};
	struct fg_series *print = NULL;
	char id[37];

	fg_sample_run(&saved, 1, &fg_sample_small);
	(void)snprintf(id, sizeof(id), "%s", saved.run.id);
	print = fg_run_add_series(&saved.run, "print");
	print->command = fg_xstrdup("./build/print");
	(void)fg_sample_repetition(print, FG_ARM_CANDIDATE, 0);
	saved.profiles = fg_xreallocarray(saved.profiles, 2, sizeof(struct fg_profile_set *));
	saved.profiles[1] = NULL;
	must(f, fg_store_save(f->store, &saved.run, saved.profiles, report, &f->err));
	for (size_t i = 0; i < saved.run.series_count; i++) {
		const struct fg_series *series = &saved.run.series[i];

		must(f,
		     fg_store_load_benchmark(f->store, id, series->name, i == 1, &loaded, &f->err));
		assert_int_equal(loaded.run.series_count, 1);
		assert_string_equal(loaded.run.series[0].command, series->command);
		assert_int_equal(loaded.run.series[0].repetition_count, series->repetition_count);
		if (i == 0)
			same_series(series, &loaded.run.series[0]);
		assert_null(loaded.profiles[0]);
		assert_int_equal(loaded.run.started_ns, saved.run.started_ns);
		assert_string_equal(fg_environment_get(&loaded.run.host, "host.cpu.model"),
				    "AMD EPYC");
		assert_int_equal(loaded.report != NULL, i == 1);
		fg_stored_run_release(&loaded);
	}
	must(f, fg_store_load_benchmark(f->store, id, "none", true, &loaded, &f->err));
	assert_int_equal(loaded.run.series_count, 0);
	assert_string_equal(loaded.report, report);
	fg_stored_run_release(&loaded);
	fg_stored_run_release(&saved);
	free(report);
}

FG_TEST_IN(foreign_damaged_and_newer_files_are_refused_with_a_reason, setup, teardown)
{
	struct fixture *f = *state;
	struct fg_store *other = NULL;
	const char *path = NULL;
	sqlite3 *raw = NULL;

	fg_scratch_write_text(
		&f->scratch, "text.db",
		"this is a text, not a database, and long enough to be read as a header of "
		"one......................................");
	assert_int_not_equal(
		fg_store_open(fg_scratch_path(&f->scratch, "text.db"), 0, &other, &f->err), FG_OK);
	assert_non_null(strstr(f->err.message, "is not an SQLite database"));
	path = fg_scratch_path(&f->scratch, "foreign.db");
	assert_int_equal(sqlite3_open(path, &raw), SQLITE_OK);
	assert_int_equal(sqlite3_exec(raw, "CREATE TABLE mine (x)", NULL, NULL, NULL), SQLITE_OK);
	(void)sqlite3_close(raw);
	assert_int_not_equal(fg_store_open(path, 0, &other, &f->err), FG_OK);
	assert_non_null(strstr(f->err.message, "another program"));
	path = fg_scratch_path(&f->scratch, "deep/er/store.db");
	assert_int_equal(sqlite3_open(path, &raw), SQLITE_OK);
	assert_int_equal(
		sqlite3_exec(raw, "UPDATE schema_version SET version = 999", NULL, NULL, NULL),
		SQLITE_OK);
	assert_int_equal(fg_store_open(path, 0, &other, &f->err), FG_EDB);
	assert_non_null(strstr(f->err.message, "newer fastgate"));
	assert_int_equal(
		sqlite3_exec(raw, "UPDATE schema_version SET version = 14", NULL, NULL, NULL),
		SQLITE_OK);
	(void)sqlite3_close(raw);
	assert_int_equal(fg_store_open(path, FG_STORE_READ_ONLY, &other, &f->err), FG_EDB);
	assert_non_null(strstr(f->err.message, "unreleased version"));
	assert_int_equal(fg_store_open(fg_scratch_path(&f->scratch, "absent.db"),
				       FG_STORE_READ_ONLY, &other, &f->err),
			 FG_ENOENT);
}

FG_TEST_IN(damaged_chunk_is_named_by_load_and_check, setup, teardown)
{
	struct fixture *f = *state;
	struct fg_stored_run loaded = {0};
	struct fg_strbuf findings = {0};
	size_t found = 0;
	sqlite3 *raw = NULL;

	fill(f, 1);
	assert_int_equal(fg_store_check(f->store, &findings, &found, &f->err), FG_OK);
	assert_int_equal(found, 0);
	assert_int_equal(sqlite3_open(fg_scratch_path(&f->scratch, "deep/er/store.db"), &raw),
			 SQLITE_OK);
	assert_int_equal(
		sqlite3_exec(raw,
			     "UPDATE chunk SET data = CAST(substr(data, 1, 40) || "
			     "CASE substr(data, 41, 1) WHEN x'00' THEN x'01' ELSE x'00' END || "
			     "substr(data, 42) AS BLOB) WHERE kind = 2",
			     NULL, NULL, NULL),
		SQLITE_OK);
	(void)sqlite3_close(raw);
	assert_int_equal(fg_store_load(f->store, sample_id(1), &loaded, &f->err), FG_EPARSE);
	assert_int_equal(fg_store_check(f->store, &findings, &found, &f->err), FG_OK);
	assert_int_equal(found, 1);
	assert_non_null(strstr(fg_strbuf_text(&findings), "checksum"));
	fg_strbuf_release(&findings);
}

FG_TEST_IN(backup_is_a_store_of_its_own, setup, teardown)
{
	struct fixture *f = *state;
	struct fg_store *copy = NULL;
	struct fg_stored_run loaded = {0};
	const char *path = fg_scratch_path(&f->scratch, "copy.db");

	fill(f, 2);
	assert_int_equal(fg_store_backup(f->store, path, &f->err), FG_OK);
	assert_int_equal(fg_store_backup(f->store, path, &f->err), FG_ECONFLICT);
	assert_int_equal(fg_store_open(path, FG_STORE_READ_ONLY, &copy, &f->err), FG_OK);
	assert_int_equal(fg_store_load(copy, sample_id(2), &loaded, &f->err), FG_OK);
	fg_stored_run_release(&loaded);
	fg_store_close(copy);
}
