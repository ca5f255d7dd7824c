// SPDX-License-Identifier: Apache-2.0
#include "base/fs.h"
#include "runner/harness/harness.h"
#include "tests/support/fg_test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double value_of(const struct fg_harness_case *found, const char *metric)
{
	for (size_t i = 0; i < found->value_count; i++) {
		if (strcmp(found->values[i].metric, metric) == 0)
			return found->values[i].value;
	}
	fail_msg("no metric %s in %s", metric, found->name);
	return 0;
}

static struct fg_harness_report parse(enum fg_harness harness, const char *text)
{
	struct fg_harness_report report = {0};
	struct fg_error err = {0};

	if (fg_harness_parse(harness, text, strlen(text), &report, &err) != FG_OK)
		fail_msg("%s", err.message);
	return report;
}

/*
 * Written by hand, for properties that the recorded outputs below lack: the output of a harness,
 * one case, and one of its metrics.
 */
static const struct {
	enum fg_harness harness;
	const char *text;
	const char *name;
	const char *metric;
	double value;
	size_t cases;
} outputs[] = {
	{
		.harness = FG_HARNESS_GOOGLE_BENCHMARK,
		.text = "some words of the program\n{\"benchmarks\": [{\"name\": \"BM_Sort/8\","
			" \"run_name\": \"BM_Sort/8\", \"run_type\": \"iteration\","
			" \"real_time\": 2.5, \"cpu_time\": 2, \"time_unit\": \"us\"}]}\ngood bye\n",
		.name = "BM_Sort/8",
		.metric = "cpu_time",
		.value = 2000,
		.cases = 1,
	},
	{
		.harness = FG_HARNESS_NANOBENCH,
		.text = "{\"results\": [{\"name\": \"a\", \"batch\": 2, \"median(elapsed)\": 3e-9,"
			" \"median(instructions)\": 10}]}",
		.name = "a",
		.metric = "instructions",
		.value = 5,
		.cases = 1,
	},
	{
		.harness = FG_HARNESS_CRITERION,
		.text = "{\"reason\":\"benchmark-complete\",\"id\":\"norm\","
			"\"typical\":{\"estimate\":1.5,"
			"\"lower_bound\":1,\"upper_bound\":2,\"unit\":\"us\"},\"mean\":{\"estimate\":9,"
			"\"unit\":\"ns\"}}\n{\"reason\":\"group-complete\",\"group_name\":\"norm\"}\n",
		.name = "norm",
		.metric = "wall_time",
		.value = 1500,
		.cases = 1,
	},
	{
		.harness = FG_HARNESS_CARGO_BENCH,
		.text = "running 2 tests\ntest sort::small ... bench:       1,234 ns/iter (+/- 56) "
			"= 789 MB/s\n"
			"test sort::large ... bench:  2 ns/iter (+/- 0)\n\ntest result: ok.\n",
		.name = "sort::small",
		.metric = "wall_time",
		.value = 1234,
		.cases = 2,
	},
	{
		.harness = FG_HARNESS_CARGO_BENCH,
		.text = "test a ... bench:       1,234 ns/iter (+/- 56) = 789 MB/s\n",
		.name = "a",
		.metric = "MB_per_s",
		.value = 789,
		.cases = 1,
	},
	{
		.harness = FG_HARNESS_LIT,
		.text = "-- Testing: 2 tests, 2 workers --\nPASS: suite :: a.test (1 of 2)\n"
			"{\"__version__\": [18, 0, 0], \"elapsed\": 3, \"tests\": ["
			"{\"name\": \"suite :: a.test\", \"code\": \"PASS\", \"elapsed\": 2,"
			" \"metrics\": {\"exec_time\": 0.5, \"size\": 100}},"
			"{\"name\": \"suite :: b.test\", \"code\": \"FAIL\", \"elapsed\": 2}]}",
		.name = "suite :: a.test",
		.metric = "wall_time",
		.value = 5e8,
		.cases = 1,
	},
	{
		.harness = FG_HARNESS_PLAIN,
		.text = "a header\nsort of things 1.5 ms\nthroughput 20 MB/s\nqueue 7 entries\n",
		.name = "sort of things",
		.metric = "wall_time",
		.value = 1.5e6,
		.cases = 3,
	},
	{
		.harness = FG_HARNESS_SMALLER_IS_BETTER,
		.text = "[{\"name\": \"load\", \"unit\": \"Percent\", \"value\": 50, \"range\": \"3\"},"
			"{\"name\": \"open\", \"unit\": \"ms\", \"value\": 2}]",
		.name = "load",
		.metric = "value",
		.value = 50,
		.cases = 2,
	},
	{
		.harness = FG_HARNESS_BIGGER_IS_BETTER,
		.text = "[{\"name\": \"throughput\", \"unit\": \"req/s\", \"value\": 12}]",
		.name = "throughput",
		.metric = "value",
		.value = 12,
		.cases = 1,
	},
};

FG_TEST(each_harness_gives_its_cases_and_numbers)
{
	for (size_t i = 0; i < FG_ARRAY_SIZE(outputs); i++) {
		struct fg_harness_report report = parse(outputs[i].harness, outputs[i].text);

		assert_int_equal(report.case_count, outputs[i].cases);
		assert_string_equal(report.cases[0].name, outputs[i].name);
		assert_true(fabs(value_of(&report.cases[0], outputs[i].metric) / outputs[i].value -
				 1) < 1e-9);
		fg_harness_report_release(&report);
	}
}

/* Recorded output of the tools (harness/NAME-VERSION): a case of each, and one of its metrics. */
static const struct sample {
	enum fg_harness harness;
	const char *file;
	const char *name;
	const char *metric;
	double value;
	size_t cases;
} samples[] = {
	{
		.harness = FG_HARNESS_GOOGLE_BENCHMARK,
		.file = "google-benchmark-1.7.1.json",
		.name = "BM_Add/repeats:3/threads:2",
		.metric = "cpu_time",
		.value = 0.42844686666666659,
		.cases = 4,
	},
	{
		.harness = FG_HARNESS_GOOGLE_BENCHMARK,
		.file = "google-benchmark-1.7.1.json",
		.name = "BM_Fill/4096",
		.metric = "items_per_second",
		.value = 1.8718781125954716e9,
		.cases = 4,
	},
	{
		.harness = FG_HARNESS_CATCH2,
		.file = "catch2-2.13.10.xml",
		.name = "first of v[0] > 1",
		.metric = "wall_time",
		.value = 0.429663,
		.cases = 2,
	},
	{
		.harness = FG_HARNESS_CATCH2,
		.file = "catch2-2.13.10.xml",
		.name = "sum of a < b & \"c\"",
		.metric = "wall_time",
		.value = 97.5409,
		.cases = 2,
	},
	{
		.harness = FG_HARNESS_DOCTEST,
		.file = "doctest-2.4.9.xml",
		.name = "sum <of> 1 & 2",
		.metric = "wall_time",
		.value = 512000,
		.cases = 3,
	},
	{
		.harness = FG_HARNESS_NANOBENCH,
		.file = "nanobench-4.6.0.json",
		.name = "reverse",
		.metric = "wall_time",
		.value = 1.69809169395653e2 / 512,
		.cases = 2,
	},
	{
		.harness = FG_HARNESS_CARGO_BENCH,
		.file = "cargo-bench-criterion-0.3.6.txt",
		.name = "sort/5000",
		.metric = "wall_time",
		.value = 232195,
		.cases = 3,
	},
	{
		.harness = FG_HARNESS_PYTEST,
		.file = "pytest-benchmark-3.2.2.txt",
		.name = "test_sums.py::test_sum[1000]",
		.metric = "wall_time",
		.value = 1.1503669763139138e4,
		.cases = 2,
	},
	{
		.harness = FG_HARNESS_GO,
		.file = "go-1.19.8.txt",
		.name = "BenchmarkSort",
		.metric = "wall_time",
		.value = (317296 + 416361) / 2.0,
		.cases = 4,
	},
	{
		.harness = FG_HARNESS_GO,
		.file = "go-1.19.8.txt",
		.name = "BenchmarkSub/n=100",
		.metric = "things_per_op",
		.value = 3,
		.cases = 4,
	},
	{
		.harness = FG_HARNESS_LIT,
		.file = "lit-14.0.6.txt",
		.name = "sums :: a.test",
		.metric = "wall_time",
		.value = 0.04707694053649902e9,
		.cases = 1,
	},
	{
		.harness = FG_HARNESS_HYPERFINE,
		.file = "hyperfine-1.15.0.txt",
		.name = "seq 200000",
		.metric = "wall_time",
		.value = 32309064,
		.cases = 2,
	},
	{
		.harness = FG_HARNESS_HYPERFINE,
		.file = "hyperfine-1.15.0.txt",
		.name = "seq 1000",
		.metric = "cpu_time",
		.value = 1424000,
		.cases = 2,
	},
};

static char *read_sample(const struct sample *sample)
{
	struct fg_error err = {0};
	char path[512];
	char *text = NULL;

	(void)snprintf(path, sizeof(path), "%s/%s", FG_HARNESS_FOLDER, sample->file);
	if (fg_fs_read(path, 1 << 20, &text, NULL, &err) != FG_OK)
		fail_msg("%s", err.message);
	return text;
}

static const struct fg_harness_case *find_case(const struct fg_harness_report *report,
					       const char *name)
{
	for (size_t i = 0; i < report->case_count; i++) {
		if (strcmp(report->cases[i].name, name) == 0)
			return &report->cases[i];
	}
	fail_msg("no case %s", name);
	return NULL;
}

FG_TEST(the_output_of_each_tool_gives_its_cases_and_numbers)
{
	for (size_t i = 0; i < FG_ARRAY_SIZE(samples); i++) {
		char *text = read_sample(&samples[i]);
		struct fg_harness_report report = parse(samples[i].harness, text);
		const double value =
			value_of(find_case(&report, samples[i].name), samples[i].metric);

		if (report.case_count != samples[i].cases)
			fail_msg("%s: %zu cases", samples[i].file, report.case_count);
		if (fabs(value / samples[i].value - 1) > 1e-9)
			fail_msg("%s: %s is %.17g", samples[i].file, samples[i].metric, value);
		fg_harness_report_release(&report);
		free(text);
	}
}

FG_TEST(all_numbers_of_a_case_are_metrics_but_not_those_of_the_run)
{
	char *text = read_sample(&samples[0]);
	struct fg_harness_report report = parse(FG_HARNESS_GOOGLE_BENCHMARK, text);
	const struct fg_harness_case *fill = find_case(&report, "BM_Fill/64");

	assert_int_equal(fill->value_count, 5); /* two times, two rates and a counter */
	assert_true(value_of(fill, "depth") == 3);
	fg_harness_report_release(&report);
	free(text);
}

FG_TEST(an_output_of_something_else_is_refused_by_every_harness)
{
	static const char nothing[] = "usage: bench [options]\n";

	for (int harness = FG_HARNESS_NONE + 1; harness < FG_HARNESS_COUNT; harness++) {
		struct fg_harness_report report = {0};
		struct fg_error err = {0};

		assert_int_equal(fg_harness_parse((enum fg_harness)harness, nothing,
						  strlen(nothing), &report, &err),
				 FG_ECHILD);
		assert_non_null(strstr(err.message, fg_harness_name((enum fg_harness)harness)));
	}
}

FG_TEST(a_rate_is_better_when_higher_and_a_time_when_lower)
{
	struct fg_harness_report report =
		parse(FG_HARNESS_PLAIN, "copy 20 MB/s\nsort 3 ms\nqueue 7 entries\n");

	assert_int_equal(report.cases[0].values[0].better, FG_BETTER_HIGHER);
	assert_string_equal(report.cases[0].values[0].unit, "MB/s");
	assert_int_equal(report.cases[1].values[0].better, FG_BETTER_LOWER);
	assert_int_equal(report.cases[2].values[0].better, FG_BETTER_LOWER);
	assert_string_equal(report.cases[2].values[0].metric, "entries");
	fg_harness_report_release(&report);
}

FG_TEST(empty_and_broken_reports_are_refused_with_a_hint)
{
	static const struct {
		enum fg_harness harness;
		const char *text;
		const char *words;
	} cases[] = {
		{FG_HARNESS_GOOGLE_BENCHMARK, "BM_Sort  12 ns\n", "--benchmark_format=json"},
		{FG_HARNESS_GOOGLE_BENCHMARK, "{\"benchmarks\": [", "broken"},
		{FG_HARNESS_GOOGLE_BENCHMARK, "{\"benchmarks\": []}", "no case"},
		{FG_HARNESS_GOOGLE_BENCHMARK, "{\"context\": {}}", "no list 'benchmarks'"},
		{FG_HARNESS_GOOGLE_BENCHMARK,
		 "{\"benchmarks\": [{\"name\": \"BM_X\", \"error_occurred\": true, "
		 "\"error_message\": \"no file\"}]}",
		 "no file"},
		{FG_HARNESS_CATCH2, "All tests passed\n", "--reporter xml"},
		{FG_HARNESS_CATCH2,
		 "<BenchmarkResults name=\"a\"><mean value=", "ends in the middle"},
		{FG_HARNESS_CATCH2, "<BenchmarkResults ><mean value=\"1\"/></BenchmarkResults>",
		 "no name"},
		{FG_HARNESS_HYPERFINE, "{}", "no list 'results'"},
		{FG_HARNESS_HYPERFINE, "", "--export-json"},
		{FG_HARNESS_HYPERFINE,
		 "{\"results\": [{\"command\": \"a\", \"mean\": 1}]}\n{\"results\": [",
		 "end of the JSON is missing"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fg_harness_report report = {0};
		struct fg_error err = {0};

		assert_int_equal(fg_harness_parse(cases[i].harness, cases[i].text,
						  strlen(cases[i].text), &report, &err),
				 FG_ECHILD);
		if (!strstr(err.message, cases[i].words))
			fail_msg("'%s' does not say '%s'", err.message, cases[i].words);
		assert_int_equal(report.case_count, 0);
	}
}

FG_TEST(a_report_cut_anywhere_does_no_harm)
{
	for (size_t i = 0; i < FG_ARRAY_SIZE(samples); i++) {
		char *text = read_sample(&samples[i]);

		for (size_t size = 0; size < strlen(text); size++) {
			struct fg_harness_report report = {0};
			char *copy = fg_xstrndup(text, size); /* for ASan */

			if (fg_harness_parse(samples[i].harness, copy, size, &report, NULL) ==
			    FG_OK)
				fg_harness_report_release(&report);
			free(copy);
		}
		free(text);
	}
}
