// SPDX-License-Identifier: Apache-2.0
#include "base/fs.h"
#include "base/map.h"
#include "base/process.h"
#include "tests/support/fg_test.h"
#include "tests/support/fixture_report.h"
#include "tests/support/scratch.h"

FG_TEST(every_outcome_is_written_as_agreed)
{
	fg_fixture_check_golden("junit", NULL, ".junit.xml");
}

static bool is_valid(const char *path, const char *schema, struct fg_process_result *result)
{
	char xmllint[] = "xmllint";
	char noout[] = "--noout";
	char nonet[] = "--nonet";
	char flag[] = "--schema";
	char *schema_path = fg_fs_join(FG_SCHEMA_FOLDER, schema);
	char *file = fg_xstrdup(path);
	char *argv[] = {xmllint, noout, nonet, flag, schema_path, file, NULL};
	const struct fg_process_options options = {.argv = argv,
						   .stdout_to = FG_STREAM_CAPTURE,
						   .stderr_to = FG_STREAM_CAPTURE,
						   .cpu = -1};
	struct fg_error err = {0};

	if (fg_process_run(&options, result, &err) != FG_OK)
		fail_msg("%s", err.message);
	free(schema_path);
	free(file);
	return result->exited && result->exit_code == 0;
}

static void require_xmllint(void)
{
	char *program = fg_fs_find_program("xmllint");

	if (!program) {
		print_message("xmllint is not installed\n");
		skip();
	}
	free(program);
}

FG_TEST(every_outcome_is_valid_by_the_common_schemas)
{
	static const char *const schemas[] = {"junit-ant.xsd", "junit-jenkins.xsd"};
	struct fg_scratch scratch;

	require_xmllint();
	fg_scratch_init(&scratch);
	for (size_t i = 0; fg_fixture_names[i]; i++) {
		struct fg_strbuf text = {0};

		fg_fixture_write(fg_fixture_names[i], "junit", NULL, &text);
		fg_scratch_write(&scratch, "r.xml", fg_strbuf_text(&text), text.length);
		for (size_t s = 0; s < FG_ARRAY_SIZE(schemas); s++) {
			struct fg_process_result result = {0};

			if (!is_valid(fg_scratch_path(&scratch, "r.xml"), schemas[s], &result))
				fail_msg("%s by %s: %s", fg_fixture_names[i], schemas[s],
					 result.stderr_text);
			fg_process_result_release(&result);
		}
		fg_strbuf_release(&text);
	}
	fg_scratch_release(&scratch);
}

/* If the schemas accepted invalid files, the previous test would prove nothing. */
FG_TEST(the_schemas_refuse_invalid_files)
{
	static const char wrong[] = "<testsuites><testsuite name='x' tests='many'/></testsuites>";
	struct fg_process_result result = {0};
	struct fg_scratch scratch;

	require_xmllint();
	fg_scratch_init(&scratch);
	fg_scratch_write_text(&scratch, "r.xml", wrong);
	assert_false(is_valid(fg_scratch_path(&scratch, "r.xml"), "junit-ant.xsd", &result));
	fg_process_result_release(&result);
	assert_false(is_valid(fg_scratch_path(&scratch, "r.xml"), "junit-jenkins.xsd", &result));
	fg_process_result_release(&result);
	fg_scratch_release(&scratch);
}

/* GitLab keeps the first of several cases with the same name. */
FG_TEST(names_are_unique_over_the_file)
{
	static const char start[] = "\" name=\"";
	struct fg_strbuf text = {0};
	struct fg_map names = {0};
	const char *at = NULL;

	fg_fixture_write("hostile", "junit", NULL, &text);
	for (at = strstr(fg_strbuf_text(&text), "<testcase "); at; at = strstr(at, "<testcase ")) {
		bool is_new = false;

		at = strstr(at, start) + strlen(start);
		(void)fg_map_add(&names, at, strcspn(at, "\""), 0, &is_new);
		assert_true(is_new);
	}
	assert_true(names.count > 10);
	fg_map_release(&names);
	fg_strbuf_release(&text);
}

/* Writes a creeping benchmark with a different outcome and exit code. */
static void write_as(enum fg_outcome outcome, enum fg_exit exit_code, struct fg_strbuf *text)
{
	struct fg_fixture fixture;

	fg_fixture_init(&fixture, "creeping");
	fixture.verdict.benchmarks[0].outcome = outcome;
	fixture.verdict.benchmarks[0].metrics[0].outcome = outcome;
	fixture.verdict.benchmarks[0].exit_code = exit_code;
	fg_strbuf_clear(text);
	fg_fixture_write_report(&fixture, "junit", NULL, text);
	fg_fixture_release(&fixture);
}

FG_TEST(what_the_policy_fails_is_a_failure)
{
	static const struct {
		enum fg_outcome outcome;
		enum fg_exit exit_code;
		const char *expected;
	} cases[] = {
		{FG_OUTCOME_CREEP, FG_EXIT_PASS, "<skipped message="},
		{FG_OUTCOME_CREEP, FG_EXIT_REGRESSION, "<failure type=\"creep\""},
		{FG_OUTCOME_PLACEMENT, FG_EXIT_PASS, "failures=\"0\" errors=\"0\" skipped=\"0\""},
		{FG_OUTCOME_PLACEMENT, FG_EXIT_REGRESSION, "<failure type=\"placement\""},
		{FG_OUTCOME_INCONCLUSIVE, FG_EXIT_PASS, "<skipped message="},
		{FG_OUTCOME_INCONCLUSIVE, FG_EXIT_INCONCLUSIVE, "<failure type=\"inconclusive\""},
	};
	struct fg_strbuf text = {0};

	for (size_t i = 0; i < FG_ARRAY_SIZE(cases); i++) {
		const bool fails = cases[i].exit_code != FG_EXIT_PASS;

		write_as(cases[i].outcome, cases[i].exit_code, &text);
		assert_non_null(strstr(fg_strbuf_text(&text), cases[i].expected));
		assert_int_equal(strstr(fg_strbuf_text(&text), "failures=\"1\"") != NULL, fails);
		assert_int_equal(strstr(fg_strbuf_text(&text), "<failure ") != NULL, fails);
	}
	fg_strbuf_release(&text);
}
