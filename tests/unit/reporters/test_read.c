// SPDX-License-Identifier: Apache-2.0
#include "reporters/reporter.h"
#include "tests/support/fg_test.h"
#include "tests/support/fixture_report.h"

#include <math.h>

FG_TEST(a_verdict_is_read_back_unchanged)
{
	const struct fg_report_options plain = {0};

	for (size_t i = 0; fg_fixture_names[i]; i++) {
		struct fg_strbuf first = {0};
		struct fg_strbuf second = {0};
		struct fg_verdict verdict = {0};
		struct fg_fixture fixture;
		struct fg_report report = {0};

		fg_fixture_init(&fixture, fg_fixture_names[i]);
		fg_fixture_write(fg_fixture_names[i], "json", NULL, &first);
		assert_int_equal(
			fg_report_read(fg_strbuf_text(&first), first.length, &verdict, NULL),
			FG_OK);
		report = (struct fg_report){.run = &fixture.run, .verdict = &verdict};
		if (strcmp(fg_fixture_names[i], "hostile") != 0) {
			fg_reporter_find("json", NULL)->write(&report, &plain, &second);
			assert_string_equal(fg_strbuf_text(&first), fg_strbuf_text(&second));
		}
		fg_verdict_release(&verdict);
		fg_fixture_release(&fixture);
		fg_strbuf_release(&first);
		fg_strbuf_release(&second);
	}
}

FG_TEST(a_function_that_moved_comes_back_as_moved_and_never_as_passed)
{
	struct fg_fixture fixture;
	struct fg_strbuf text = {0};
	struct fg_verdict verdict = {0};

	fg_fixture_init(&fixture, "regression");
	fixture.verdict.benchmarks[0].time.functions[1].outcome = FG_OUTCOME_PASS;
	fixture.verdict.benchmarks[0].time.functions[1].standing = FG_STANDING_MOVED;
	fg_reporter_find("json", NULL)
		->write(&fixture.report, &(struct fg_report_options){0}, &text);
	assert_non_null(strstr(fg_strbuf_text(&text), "\"verdict\": \"moved\""));
	assert_non_null(strstr(fg_strbuf_text(&text), "\"standing\": \"moved\""));
	assert_int_equal(fg_report_read(fg_strbuf_text(&text), text.length, &verdict, NULL), FG_OK);
	assert_int_equal(verdict.benchmarks[0].time.functions[1].standing, FG_STANDING_MOVED);
	assert_int_equal(verdict.benchmarks[0].time.functions[1].outcome, FG_OUTCOME_PASS);
	fg_verdict_release(&verdict);
	fg_strbuf_release(&text);
	fg_fixture_release(&fixture);
}

FG_TEST(anything_but_a_report_is_refused)
{
	static const struct {
		const char *json;
		const char *why;
	} wrong[] = {
		{"", "empty"},
		{"{", "not JSON"},
		{"{}", "no schema"},
		{"{\"schema\": \"fastgate-report/2\"}", "a schema of the future"},
		{"[1]", "no object"},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(wrong); i++) {
		struct fg_verdict verdict = {.benchmark_count = 77};
		struct fg_error err = {0};

		if (fg_report_read(wrong[i].json, strlen(wrong[i].json), &verdict, &err) == FG_OK)
			fail_msg("%s was taken", wrong[i].why);
		assert_true(strlen(err.message) > 0);
		assert_int_equal(verdict.benchmark_count, 77);
	}
}

/* Members of a wrong type count as absent: nothing from the network is trusted. */
FG_TEST(wrong_types_do_no_harm)
{
	static const char json[] =
		"{\"schema\": \"fastgate-report/1\", \"verdict\": 7, \"exit_code\": -1e300, "
		"\"notes\": [1, null, \"x\"],"
		" \"environment_difference\": [3, {\"key\": []}], \"benchmarks\": [null, 1, "
		"{\"name\": {}, \"pairs\": 1e99,"
		" \"metrics\": [[], {\"interval\": [1], \"accepted\": {\"until\": \"soon\"}}],"
		" \"functions\": [{\"paths\": [{\"frames\": [1, \"main\"]}, 2]}], \"moved\": [0]}]}";
	const struct fg_report_options plain = {.verbose = true};
	struct fg_verdict verdict = {0};
	struct fg_fixture fixture;
	struct fg_report report = {0};
	size_t count = 0;
	const struct fg_reporter *table = fg_reporter_table(&count);

	fg_fixture_init(&fixture, "nothing");
	assert_int_equal(fg_report_read(json, strlen(json), &verdict, NULL), FG_OK);
	assert_int_equal(verdict.benchmark_count, 3);
	assert_int_equal(verdict.notes.count, 1);
	assert_int_equal(verdict.benchmarks[2].pairs, 0);
	assert_string_equal(verdict.benchmarks[2].time.functions[0].paths[0].frames[0], "main");
	report = (struct fg_report){.run = &fixture.run, .verdict = &verdict};
	for (size_t i = 0; i < count; i++) {
		struct fg_strbuf text = {0};

		table[i].write(&report, &plain, &text);
		fg_strbuf_release(&text);
	}
	fg_verdict_release(&verdict);
	fg_fixture_release(&fixture);
}

#define RUN_OF(members) "{\"schema\": \"fastgate-report/1\", \"run\": {" members "}}"

FG_TEST(a_run_is_known_by_its_report)
{
	struct fg_strbuf json = {0};
	struct fg_strbuf name = {0};
	struct fg_fixture fixture;
	struct fg_run run;

	fg_fixture_init(&fixture, "regression");
	fg_fixture_write("regression", "json", NULL, &json);
	assert_int_equal(fg_report_read_run(fg_strbuf_text(&json), json.length, &run, NULL), FG_OK);
	assert_string_equal(run.id, fixture.run.id);
	assert_string_equal(run.project, fixture.run.project);
	assert_string_equal(run.sides[FG_ARM_CANDIDATE].commit,
			    fixture.run.sides[FG_ARM_CANDIDATE].commit);
	assert_int_equal(run.series_count, 0);
	fg_report_status_name(&run, &name);
	assert_true(strlen(fg_strbuf_text(&name)) > strlen("fastgate/"));
	fg_run_release(&run);
	fg_fixture_release(&fixture);
	fg_strbuf_release(&name);
	fg_strbuf_release(&json);
}

/* A comment shows the report of a stranger's job, so its raw values must be well-formed. */
FG_TEST(a_malformed_run_is_refused)
{
	static const struct {
		const char *json;
		const char *why;
	} wrong[] = {
		{"{\"schema\": \"fastgate-report/1\"}", "no run"},
		{RUN_OF("\"id\": \"\""), "no id"},
		{RUN_OF("\"id\": \"<b>\""), "an id with signs"},
		{RUN_OF("\"id\": \"0123456789012345678901234567890123456\""), "a long id"},
		{RUN_OF("\"id\": \"a\", \"candidate\": {\"commit\": \"@all\"}"),
		 "a commit with signs"},
		{RUN_OF("\"id\": \"a\", \"baseline\": {\"commit\": \"\"}"), "an empty commit"},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(wrong); i++) {
		struct fg_run run = {.series_count = 77};
		struct fg_error err = {0};

		if (fg_report_read_run(wrong[i].json, strlen(wrong[i].json), &run, &err) == FG_OK)
			fail_msg("%s was taken", wrong[i].why);
		assert_true(strlen(err.message) > 0);
		assert_int_equal(run.series_count, 77);
	}
}

FG_TEST(names_hold_no_signs)
{
	char project[] = "a/b?c&d -->";
	struct fg_run run = {.project = project};
	struct fg_strbuf text = {0};

	fg_report_status_name(&run, &text);
	assert_string_equal(fg_strbuf_text(&text), "fastgate/a_b_c_d____");
	fg_strbuf_release(&text);
}

/*
 * For a stranger's table, no memory is allocated that a run cannot need, and every frame needs a
 * name.
 */
FG_TEST(a_table_of_arguments_takes_no_more_than_its_room)
{
	enum {
		BENCHMARKS = 40,
		FUNCTIONS = 70,
		PATHS = 70
	};
	struct fg_strbuf text = {0};
	struct fg_verdict verdict = {0};
	size_t functions = 0;
	size_t paths = 0;

	fg_strbuf_add_text(&text, "{\"schema\": \"fastgate-report/1\", \"benchmarks\": [");
	for (unsigned b = 0; b < BENCHMARKS; b++) {
		fg_strbuf_printf(&text, "%s{\"arguments\": {\"names\": [\"a\"], \"functions\": [",
				 b ? "," : "");
		for (unsigned f = 0; f < FUNCTIONS; f++) {
			fg_strbuf_printf(&text, "%s{\"paths\": [", f ? "," : "");
			for (unsigned p = 0; p < PATHS; p++)
				fg_strbuf_printf(&text, "%s{\"frames\": [0]}", p ? "," : "");
			fg_strbuf_add_text(&text, "]}");
		}
		fg_strbuf_add_text(&text, "]}}");
	}
	fg_strbuf_add_text(&text, "]}");
	assert_int_equal(fg_report_read(fg_strbuf_text(&text), text.length, &verdict, NULL), FG_OK);
	for (size_t b = 0; b < verdict.benchmark_count; b++) {
		const struct fg_argument_table *table = verdict.benchmarks[b].arguments;

		assert_true(table->function_count <= FG_ARGUMENT_FUNCTIONS_MAX);
		assert_int_equal(table->function_count + table->functions_left_out, FUNCTIONS);
		functions += table->function_count;
		for (size_t f = 0; f < table->function_count; f++) {
			assert_true(table->functions[f].path_count <= FG_ARGUMENT_PATHS_MAX);
			assert_int_equal(table->functions[f].path_count +
						 table->functions[f].paths_left_out,
					 PATHS);
			paths += table->functions[f].path_count;
		}
	}
	assert_int_equal(functions, fg_argument_room_of_run.functions);
	assert_int_equal(paths, fg_argument_room_of_run.paths);
	fg_verdict_release(&verdict);
	fg_strbuf_release(&text);
}

FG_TEST(invalid_entries_in_a_table_of_arguments_are_left_out)
{
	static const char wrong[] =
		"{\"schema\": \"fastgate-report/1\", \"benchmarks\": [{\"arguments\": {"
		"\"names\": [\"main\", \"a\\u0001b\", 7, \"late\"], \"functions\": [7, {"
		"\"name\": \"exp\", \"candidate\": {\"calls\": -3, \"min\": \"x\", \"mean\": 2},"
		"\"traces\": [1e300, \"x\"], \"paths\": [{\"frames\": [2]}, {\"frames\": [-1]}, 7,"
		"{\"frames\": [0, 1], \"candidate\": {\"calls\": 2.5}, \"baseline\": 7,"
		"\"histogram\": [[-33, 1, 1], [32, 1, 1], [0, 1, 5], [1, 0, -4], 7, [], [2]]}]}]}}]}";
	struct fg_verdict verdict = {0};
	const struct fg_argument_function *function = NULL;
	const struct fg_argument_path *path = NULL;
	double in_bins = 0;

	assert_int_equal(fg_report_read(wrong, strlen(wrong), &verdict, NULL), FG_OK);
	assert_int_equal(verdict.benchmarks[0].arguments->name_count, 2);
	assert_string_equal(verdict.benchmarks[0].arguments->names[1], "a\xef\xbf\xbd"
								       "b");
	assert_int_equal(verdict.benchmarks[0].arguments->function_count, 2);
	assert_string_equal(verdict.benchmarks[0].arguments->functions[0].name, "");
	function = &verdict.benchmarks[0].arguments->functions[1];
	assert_null(function->sides[0]);
	assert_float_equal(function->sides[1]->values, 0, 0);
	assert_true(isnan(function->sides[1]->least));
	assert_int_equal(function->traces[0], 0);
	assert_int_equal(function->path_count, 1);
	assert_int_equal(function->paths_left_out, 3);
	path = &function->paths[0];
	assert_null(path->sides[0]);
	assert_float_equal(path->sides[1]->values, 2, 0);
	for (unsigned i = 0; i < FG_ARGUMENT_BINS; i++)
		in_bins += path->sides[1]->bins[i];
	assert_float_equal(path->sides[1]->bins[FG_ARGUMENT_BIN_OF_ONE], 5, 0);
	assert_float_equal(in_bins, 5, 0);
	fg_verdict_release(&verdict);
}
