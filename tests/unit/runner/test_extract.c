// SPDX-License-Identifier: Apache-2.0
#include "runner/harness/harness.h"
#include "tests/support/fg_test.h"
#include "tests/support/scratch.h"

#include <string.h>

static int run_one(const struct fg_user_metric *metric, const char *out, const char *errors,
		   const char *folder, double *value, struct fg_error *err)
{
	const struct fg_extract_source source = {
		.stdout_text = out,
		.stdout_size = strlen(out),
		.stderr_text = errors,
		.stderr_size = strlen(errors),
		.working_directory = folder,
	};
	struct fg_extractor *extractor = NULL;
	int status = fg_extractor_create(metric, 1, &extractor, err);

	if (status == FG_OK)
		status = fg_extractor_run(extractor, &source, value, err);
	fg_extractor_free(extractor);
	return status;
}

FG_TEST(numbers_are_found)
{
	static const struct {
		const char *regex;
		const char *pointer;
		const char *out;
		const char *errors;
		double expected;
		const char *why;
	} cases[] = {
		{"rate: ([0-9.]+)", NULL, "rate: 12.5\n", "", 12.5, "the first group"},
		{"[0-9]+e[0-9]+", NULL, "x 3e4 y\n", "", 3e4, "no group: the whole match"},
		{"rate: ([0-9.]+)", NULL, "rate: 1\nrate: 2\nrate: 3\n", "", 3,
		 "the last line counts"},
		{"rate: ([0-9.]+)", NULL, "nothing\n", "rate: 4\n", 4,
		 "stderr where stdout has none"},
		{"rate: ([0-9.]+)", NULL, "rate: 5\n", "rate: 4\n", 5, "stdout before stderr"},
		{"^t=(-?[0-9]+)$", NULL, "t=-7\r\nt=x", "", -7, "a carriage return ends a line"},
		{NULL, "/a/1/b", "{\"a\": [0, {\"b\": 8.25}]}", "", 8.25, "a JSON pointer"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct fg_user_metric metric = {
			.name = "m", .regex = cases[i].regex, .json_pointer = cases[i].pointer};
		struct fg_error err = {0};
		double value = 0;

		if (run_one(&metric, cases[i].out, cases[i].errors, "/", &value, &err) != FG_OK)
			fail_msg("%s: %s", cases[i].why, err.message);
		if (value != cases[i].expected)
			fail_msg("%s: %g, expected %g", cases[i].why, value, cases[i].expected);
	}
}

FG_TEST(a_missing_value_or_non_number_is_reported_with_the_metrics_name)
{
	static const struct {
		const char *regex;
		const char *pointer;
		const char *out;
		const char *words;
	} cases[] = {
		{"rate: ([0-9.]+)", NULL, "no such thing\n", "nothing in the output matches"},
		{"rate: (.*)", NULL, "rate: fast\n", "not a number"},
		{"rate: (.*)", NULL, "rate: \n", "not a number"},
		{"rate: (.*)", NULL, "rate: inf\n", "not a number"},
		{NULL, "/a", "hello", "not JSON"},
		{NULL, "/a", "{\"b\": 1}", "nothing at '/a'"},
		{NULL, "/a", "{\"a\": \"1\"}", "not a number at '/a'"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct fg_user_metric metric = {
			.name = "speed", .regex = cases[i].regex, .json_pointer = cases[i].pointer};
		struct fg_error err = {0};
		double value = 0;

		assert_int_equal(run_one(&metric, cases[i].out, "", "/", &value, &err), FG_ECHILD);
		assert_int_equal(err.code, FG_ECHILD);
		assert_non_null(strstr(err.message, "metric 'speed'"));
		if (!strstr(err.message, cases[i].words))
			fail_msg("'%s' does not say '%s'", err.message, cases[i].words);
	}
}

FG_TEST(a_file_is_read_instead_of_the_output)
{
	const struct fg_user_metric metric = {
		.name = "m", .regex = "v=([0-9]+)", .file = "result.txt"};
	struct fg_scratch scratch;
	struct fg_error err = {0};
	double value = 0;

	fg_scratch_init(&scratch);
	assert_int_equal(run_one(&metric, "v=1\n", "", scratch.path, &value, &err), FG_ECHILD);
	assert_non_null(strstr(err.message, "result.txt"));
	fg_scratch_write_text(&scratch, "result.txt", "v=2\n");
	assert_int_equal(run_one(&metric, "v=1\n", "", scratch.path, &value, &err), FG_OK);
	assert_true(value == 2);
	fg_scratch_release(&scratch);
}

FG_TEST(an_expression_that_is_not_valid_is_refused)
{
	const struct fg_user_metric metric = {.name = "m", .regex = "rate: ([0-9"};
	struct fg_error err = {0};
	double value = 0;

	assert_int_equal(run_one(&metric, "", "", "/", &value, &err), FG_EPARSE);
	assert_non_null(strstr(err.message, "rate: ([0-9"));
}

FG_TEST(zero_bytes_in_the_output_do_not_end_the_search)
{
	static const char output[] = "bin\0ary\0v=9\n";
	const struct fg_user_metric metric = {.name = "m", .regex = "v=([0-9]+)"};
	const struct fg_extract_source source = {.stdout_text = output,
						 .stdout_size = sizeof(output) - 1,
						 .stderr_text = "",
						 .working_directory = "/"};
	struct fg_extractor *extractor = NULL;
	double value = 0;

	assert_int_equal(fg_extractor_create(&metric, 1, &extractor, NULL), FG_OK);
	assert_int_equal(fg_extractor_run(extractor, &source, &value, NULL), FG_OK);
	assert_true(value == 9);
	fg_extractor_free(extractor);
}
