// SPDX-License-Identifier: Apache-2.0
#include "runner/harness/harness.h"
#include "tests/support/fg_test.h"

#include <math.h>
#include <string.h>

static const char google[] =
	"some words of the program\n"
	"{\n  \"context\": {\"executable\": \"./b\"},\n  \"benchmarks\": [\n"
	"    {\"name\": \"BM_Sort/8\", \"run_name\": \"BM_Sort/8\", \"run_type\": \"iteration\", "
	"\"iterations\": 100,\n"
	"     \"real_time\": 2.5, \"cpu_time\": 2.0, \"time_unit\": \"us\", \"items_per_second\": "
	"4e6, \"depth\": 3},\n"
	"    {\"name\": \"BM_Find\", \"run_name\": \"BM_Find\", \"run_type\": \"iteration\", "
	"\"real_time\": 9, \"cpu_time\": 9},\n"
	"    {\"name\": \"BM_Find\", \"run_name\": \"BM_Find\", \"run_type\": \"iteration\", "
	"\"real_time\": 7, \"cpu_time\": 7},\n"
	"    {\"name\": \"BM_Find_mean\", \"run_name\": \"BM_Find\", \"run_type\": \"aggregate\", "
	"\"aggregate_name\": \"mean\", \"real_time\": 8, \"cpu_time\": 8},\n"
	"    {\"name\": \"BM_Find_stddev\", \"run_name\": \"BM_Find\", \"run_type\": "
	"\"aggregate\", \"aggregate_name\": \"stddev\", \"real_time\": 1, \"cpu_time\": 1}\n"
	"  ]\n}\ngood bye\n";

/* Output of Catch2 2.13.10. */
static const char catch2[] =
	"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	"<Catch name=\"c\">\n"
	"  <Group name=\"c\">\n"
	"    <TestCase name=\"sums\" filename=\"c.cpp\" line=\"6\">\n"
	"      <BenchmarkResults name=\"sum of a &lt; b &amp; c\" samples=\"10\" "
	"resamples=\"100000\" iterations=\"61\" clockResolution=\"67.8506\" "
	"estimatedDuration=\"680150\">\n"
	"        <!--All values in nano seconds-->\n"
	"        <mean value=\"507.149\" lowerBound=\"448.849\" upperBound=\"539.477\" ci=\"0.95\"/>\n"
	"        <standardDeviation value=\"68.0808\" lowerBound=\"38.867\" upperBound=\"106.525\" "
	"ci=\"0.95\"/>\n"
	"        <outliers variance=\"0.478324\" lowMild=\"1\" lowSevere=\"0\" highMild=\"0\" "
	"highSevere=\"0\"/>\n"
	"      </BenchmarkResults>\n"
	"      <BenchmarkResults name=\"first\" samples=\"10\" resamples=\"100000\" "
	"iterations=\"59776\" clockResolution=\"67.8506\" estimatedDuration=\"597760\">\n"
	"        <!--All values in nano seconds-->\n"
	"        <mean value=\"0.887401\" lowerBound=\"0.777958\" upperBound=\"1.20415\" ci=\"0.95\"/>\n"
	"        <standardDeviation value=\"0.306535\" lowerBound=\"0.0277544\" "
	"upperBound=\"0.511505\" ci=\"0.95\"/>\n"
	"        <outliers variance=\"0.889393\" lowMild=\"0\" lowSevere=\"2\" highMild=\"0\" "
	"highSevere=\"1\"/>\n"
	"      </BenchmarkResults>\n"
	"      <OverallResult success=\"true\"/>\n"
	"    </TestCase>\n"
	"    <OverallResults successes=\"0\" failures=\"0\" expectedFailures=\"0\"/>\n"
	"    <OverallResultsCases successes=\"1\" failures=\"0\" expectedFailures=\"0\"/>\n"
	"  </Group>\n"
	"  <OverallResults successes=\"0\" failures=\"0\" expectedFailures=\"0\"/>\n"
	"  <OverallResultsCases successes=\"1\" failures=\"0\" expectedFailures=\"0\"/>\n"
	"</Catch>\n";

/* Output of hyperfine 1.15, shortened: it prints all results again after each of two commands. */
static const char hyperfine[] = "Benchmark 1: /bin/true\n  Time: ...\n"
				"{\n"
				"  \"results\": [\n"
				"    {\n"
				"      \"command\": \"/bin/true\",\n"
				"      \"mean\": 0.0023742043333333336,\n"
				"      \"user\": 0.0012756666666666665,\n"
				"      \"system\": 0.0,\n"
				"      \"times\": [\n"
				"        0.0017605910000000002,\n"
				"        0.0013812030000000001\n"
				"      ]\n"
				"    }\n"
				"  ]\n"
				"}\n"
				"{\n"
				"  \"results\": [\n"
				"    {\n"
				"      \"command\": \"/bin/true\",\n"
				"      \"mean\": 0.0023742043333333336,\n"
				"      \"user\": 0.0012756666666666665,\n"
				"      \"system\": 0.0,\n"
				"      \"times\": [\n"
				"        0.0017605910000000002,\n"
				"        0.0013812030000000001\n"
				"      ]\n"
				"    },\n"
				"    {\n"
				"      \"command\": \"echo 'a b'\",\n"
				"      \"mean\": 0.0039,\n"
				"      \"user\": 0.0016,\n"
				"      \"system\": 0.0004\n"
				"    }\n"
				"  ]\n"
				"}\n";

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

FG_TEST(google_benchmark_gives_cases_times_and_counters)
{
	struct fg_harness_report report = parse(FG_HARNESS_GOOGLE_BENCHMARK, google);

	assert_int_equal(report.case_count, 2);
	assert_string_equal(report.cases[0].name, "BM_Sort/8");
	assert_true(value_of(&report.cases[0], "cpu_time") == 2000);
	assert_true(value_of(&report.cases[0], "wall_time") == 2500);
	assert_true(value_of(&report.cases[0], "items_per_second") == 4e6);
	assert_true(value_of(&report.cases[0], "depth") == 3);
	assert_int_equal(report.cases[0].value_count, 4);
	assert_string_equal(report.cases[1].name, "BM_Find");
	assert_true(value_of(&report.cases[1], "cpu_time") == 8); /* the mean of both repetitions */
	fg_harness_report_release(&report);
}

FG_TEST(catch2_gives_means_with_names_unescaped)
{
	struct fg_harness_report report = parse(FG_HARNESS_CATCH2, catch2);

	assert_int_equal(report.case_count, 2);
	assert_string_equal(report.cases[0].name, "sum of a < b & c");
	assert_true(value_of(&report.cases[0], "wall_time") == 507.149);
	assert_true(value_of(&report.cases[1], "wall_time") == 0.887401);
	fg_harness_report_release(&report);
}

/*
 * One row per harness: its output, one case, and one of its metrics. Real output of the tools is in
 * test_harness_samples.c; these texts cover what those samples lack.
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
		.harness = FG_HARNESS_NANOBENCH,
		.text = "warming up\n{ \"results\": [ { \"title\": \"t\", \"name\": \"x += x\", "
			"\"unit\": \"op\","
			" \"batch\": 2, \"median(elapsed)\": 3e-9, \"median(instructions)\": 10,"
			" \"median(pagefaults)\": 0, \"measurements\": [ {\"elapsed\": 3e-9} ] } ] }\n",
		.name = "x += x",
		.metric = "wall_time",
		.value = 1.5,
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
		.harness = FG_HARNESS_DOCTEST,
		.text = "<doctest binary=\"./d\" version=\"2.4.9\">\n  <TestSuite>\n"
			"    <TestCase name=\"sum &amp; more\" filename=\"d.cpp\" line=\"3\">\n"
			"      <OverallResultsAsserts successes=\"1\" failures=\"0\" "
			"test_case_success=\"true\" duration=\"0.001009\"/>\n    </TestCase>\n"
			"    <TestCase name=\"second\" filename=\"d.cpp\" line=\"4\">\n"
			"      <OverallResultsAsserts successes=\"1\" failures=\"0\" "
			"test_case_success=\"true\" duration=\"3e-06\"/>\n    </TestCase>\n  "
			"</TestSuite>\n"
			"  <OverallResultsAsserts successes=\"2\" failures=\"0\"/>\n</doctest>\n",
		.name = "sum & more",
		.metric = "wall_time",
		.value = 1009000,
		.cases = 2,
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
		.harness = FG_HARNESS_PYTEST,
		.text = "..                                                                       "
			"[100%]{\n"
			"    \"machine_info\": {\n        \"node\": \"vm\"\n    },\n    "
			"\"benchmarks\": [\n"
			"        {\n            \"group\": null,\n            \"name\": \"test_sum\",\n"
			"            \"fullname\": \"test_b.py::test_sum\",\n            \"stats\": {\n"
			"                \"min\": 5.759000487159938e-06,\n                "
			"\"mean\": 9.0e-06,\n"
			"                \"rounds\": 4213\n            }\n        }\n    ],\n"
			"    \"version\": \"3.2.2\"\n}\n"
			"Wrote benchmark data in: <_io.BufferedWriter name='/dev/stdout'>\n",
		.name = "test_b.py::test_sum",
		.metric = "wall_time",
		.value = 9000,
		.cases = 1,
	},
	{
		.harness = FG_HARNESS_GO,
		.text = "goos: linux\npkg: example.org/gob\n"
			"BenchmarkSort-2   \t    2264\t     20000 ns/op\t  28.94 MB/s\t     920 "
			"B/op\t       2 allocs/op\n"
			"BenchmarkSort-2   \t    4526\t     40000 ns/op\t  17.69 MB/s\t     920 "
			"B/op\t       2 allocs/op\n"
			"BenchmarkSub/n=10-2         \t 1000000\t        31.21 ns/op\t         "
			"3.000 things/op\n"
			"PASS\nok  \texample.org/gob\t0.738s\n",
		.name = "BenchmarkSort",
		.metric = "wall_time",
		.value = 30000,
		.cases = 2,
	},
	{
		.harness = FG_HARNESS_GO,
		.text = "BenchmarkSub/n=10-2 \t 1000000\t 31.21 ns/op\t 3.000 things/op\n",
		.name = "BenchmarkSub/n=10",
		.metric = "things_per_op",
		.value = 3,
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

FG_TEST(hyperfine_gives_commands_in_nanoseconds)
{
	struct fg_harness_report report = parse(FG_HARNESS_HYPERFINE, hyperfine);

	assert_int_equal(report.case_count, 2);
	assert_string_equal(report.cases[0].name, "/bin/true");
	assert_string_equal(report.cases[1].name, "echo 'a b'");
	assert_true(fabs(value_of(&report.cases[1], "wall_time") - 3.9e6) < 1);
	assert_true(fabs(value_of(&report.cases[1], "cpu_time") - 2e6) < 1);
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
	static const struct {
		enum fg_harness harness;
		const char *text;
	} whole[] = {{FG_HARNESS_GOOGLE_BENCHMARK, google},
		     {FG_HARNESS_CATCH2, catch2},
		     {FG_HARNESS_HYPERFINE, hyperfine}};

	for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++) {
		for (size_t size = 0; size < strlen(whole[i].text); size++) {
			struct fg_harness_report report = {0};
			char *copy = fg_xstrndup(whole[i].text, size); /* ASan sees its end */

			if (fg_harness_parse(whole[i].harness, copy, size, &report, NULL) == FG_OK)
				fg_harness_report_release(&report);
			free(copy);
		}
	}
}
