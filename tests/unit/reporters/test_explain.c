// SPDX-License-Identifier: Apache-2.0
/* The document of `fastgate explain`: all evidence, of bounded size, without secrets. */
#include "base/text.h"
#include "reporters/explain.h"
#include "tests/support/fg_test.h"
#include "tests/support/fixture_report.h"
#include "tests/support/golden.h"

static void check_golden(const char *name,
			 void (*explain)(const struct fg_report *report,
					 const struct fg_benchmark_verdict *benchmark,
					 struct fg_strbuf *text))
{
	struct fg_fixture fixture;
	struct fg_strbuf text = {0};

	fg_fixture_init(&fixture, "regression");
	fixture.run.series[0].layouts = 4;
	for (size_t arm = 0; arm < FG_ARM_COUNT; arm++) {
		struct fg_build_facts *build = &fixture.run.series[0].build[arm];

		fg_build_facts_set(build, "build.inputs", "5f1e");
		fg_build_facts_set(build, "build.library.libc.so.6", arm ? "aa" : "bb");
	}
	explain(&fixture.report, NULL, &text);
	fg_golden_check(name, &text);
	fg_strbuf_release(&text);
	fg_fixture_release(&fixture);
}

FG_TEST(a_regression_is_explained_as_agreed)
{
	check_golden("report/regression.explain.json", fg_explain_json);
	check_golden("report/regression.explain.txt", fg_explain_text);
}

/* Fills every list to its limit, and makes every text as long as possible. */
static void fill(struct fg_fixture *fixture)
{
	static struct fg_source_row rows[FG_SOURCE_ROWS_MAX];
	static struct fg_source_listing listing = {
		.has_side = {true, true}, .rows = rows, .row_count = FG_SOURCE_ROWS_MAX};
	static char line[FG_SOURCE_TEXT_MAX + 1];
	struct fg_arena *arena = &fixture->verdict.arena;
	struct fg_benchmark_verdict *benchmark = &fixture->verdict.benchmarks[0];
	char *huge = fg_arena_alloc(arena, 60000);
	struct fg_node_verdict *functions = fg_arena_array(arena, 50, sizeof(functions[0]));

	memset(huge, '"', 59999);
	memset(line, '\\', sizeof(line) - 1);
	for (unsigned i = 0; i < FG_SOURCE_ROWS_MAX; i++)
		rows[i] = (struct fg_source_row){
			.line = {i % 2 ? i : 0, i % 2 ? 0 : i + 1}, .cost = {i, i}, .text = line};
	listing.file = huge;
	for (size_t i = 0; i < 50; i++) {
		functions[i] = benchmark->time.functions[0];
		functions[i].name = huge;
		functions[i].file = huge;
		functions[i].library = huge;
		functions[i].source = &listing;
		functions[i].assembly = &listing;
	}
	benchmark->time.functions = functions;
	benchmark->time.function_count = 50;
	benchmark->name = huge;
	for (size_t i = 0; i < 50; i++)
		fg_notes_add(&benchmark->notes, arena, "%s", huge);
	fg_environment_set(&fixture->run.sides[FG_ARM_CANDIDATE].build, "git.subject", huge, false);
	fg_environment_set(&fixture->run.sides[FG_ARM_CANDIDATE].build, "git.author", huge, false);
}

FG_TEST(a_document_never_exceeds_its_limit)
{
	static void (*const forms[])(const struct fg_report *report,
				     const struct fg_benchmark_verdict *benchmark,
				     struct fg_strbuf *text) = {fg_explain_json, fg_explain_text};

	for (size_t i = 0; i < FG_ARRAY_SIZE(forms); i++) {
		struct fg_fixture fixture;
		struct fg_strbuf text = {0};

		fg_fixture_init(&fixture, "regression");
		fill(&fixture);
		forms[i](&fixture.report, NULL, &text);
		assert_in_range(text.length, FG_EXPLAIN_BYTES / 2, FG_EXPLAIN_BYTES);
		fg_strbuf_release(&text);
		fg_fixture_release(&fixture);
	}
}

FG_TEST(no_secret_is_in_it)
{
	static const char secret[] = "hunter2";
	struct fg_fixture fixture;
	struct fg_strbuf text = {0};

	fg_fixture_init(&fixture, "regression");
	for (size_t arm = 0; arm < FG_ARM_COUNT; arm++) {
		fg_environment_set(&fixture.run.sides[arm].build, "user.TOKEN",
				   arm ? "hunter2" : "hunter22", true);
		fg_build_facts_set(&fixture.run.series[0].build[arm], "build.environment.PASS",
				   arm ? "hunter2" : "hunter22");
	}
	fg_environment_set(&fixture.run.host, "host.key", secret, true);
	free(fixture.run.series[0].command);
	fixture.run.series[0].command = fg_xstrdup("./app --password hunter2");
	fixture.verdict.benchmarks[0].error = "hunter2";
	fixture.verdict.benchmarks[0].error_tail = "hunter2";
	fixture.verdict.environment_difference =
		fg_arena_array(&fixture.verdict.arena, 1, sizeof(struct fg_fact_difference));
	fixture.verdict.environment_difference[0] = (struct fg_fact_difference){
		.key = "user.TOKEN", .baseline = secret, .candidate = secret, .identity = true};
	fixture.verdict.environment_difference_count = 1;
	fg_explain_json(&fixture.report, NULL, &text);
	fg_explain_text(&fixture.report, NULL, &text);
	assert_null(strstr(fg_strbuf_text(&text), secret));
	assert_non_null(strstr(fg_strbuf_text(&text), "user.TOKEN differ"));
	fg_strbuf_release(&text);
	fg_fixture_release(&fixture);
}

FG_TEST(every_outcome_has_a_document)
{
	for (size_t i = 0; fg_fixture_names[i]; i++) {
		struct fg_fixture fixture;
		struct fg_strbuf text = {0};

		fg_fixture_init(&fixture, fg_fixture_names[i]);
		fg_explain_json(&fixture.report, NULL, &text);
		fg_explain_text(&fixture.report, NULL, &text);
		assert_in_range(text.length, 100, 2 * FG_EXPLAIN_BYTES);
		fg_strbuf_release(&text);
		fg_fixture_release(&fixture);
	}
}

FG_TEST(an_exact_metric_is_compared_with_its_tolerance)
{
	struct fg_fixture fixture;
	struct fg_strbuf text = {0};

	fg_fixture_init(&fixture, "regression");
	for (size_t i = 0; i < fixture.verdict.benchmarks[0].metric_count; i++)
		fixture.verdict.benchmarks[0].metrics[i].exact = true;
	fg_explain_text(&fixture.report, NULL, &text);
	assert_non_null(
		strstr(fg_strbuf_text(&text), "\n  exact: the difference exceeds the tolerance\n"));
	assert_null(strstr(fg_strbuf_text(&text), "min_effect"));
	fg_strbuf_release(&text);
	fg_fixture_release(&fixture);
}

/*
 * Each benchmark that did not pass gets one sentence, and the list ends with the command for more.
 */
FG_TEST(other_benchmarks_that_did_not_pass_are_named)
{
	struct fg_fixture fixture;
	const struct fg_benchmark_verdict *sort = NULL;
	struct fg_strbuf text = {0};

	fg_fixture_init(&fixture, "mixed");
	fg_explain_text(&fixture.report, NULL, &text);
	assert_true(fg_text_starts_with(fg_strbuf_text(&text), "reconstruct is 4.8 % slower"));
	assert_non_null(strstr(fg_strbuf_text(&text), "\n  network could not be measured: "));
	assert_non_null(strstr(fg_strbuf_text(&text), "\n  sort is 8.8 % faster"));
	assert_null(strstr(fg_strbuf_text(&text), "\n  parse "));
	assert_non_null(strstr(fg_strbuf_text(&text), " --bench NAME\n"));
	fg_strbuf_clear(&text);
	for (size_t i = 0; i < fixture.verdict.benchmark_count; i++) {
		if (strcmp(fixture.verdict.benchmarks[i].name, "sort") == 0)
			sort = &fixture.verdict.benchmarks[i];
	}
	fg_explain_text(&fixture.report, sort, &text);
	assert_true(fg_text_starts_with(fg_strbuf_text(&text), "sort is 8.8 % faster"));
	assert_non_null(strstr(fg_strbuf_text(&text), "\n  reconstruct is 4.8 % slower"));
	fg_strbuf_clear(&text);
	fg_explain_json(&fixture.report, sort, &text);
	assert_non_null(strstr(fg_strbuf_text(&text), "\"sentence\": \"sort is 8.8 % faster"));
	assert_non_null(
		strstr(fg_strbuf_text(&text), "\"sentence\": \"reconstruct is 4.8 % slower"));
	fg_strbuf_release(&text);
	fg_fixture_release(&fixture);
}
