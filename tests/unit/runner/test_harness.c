// SPDX-License-Identifier: Apache-2.0
#include "runner/harness.h"
#include "tests/support/fg_test.h"

#include <string.h>

static const char google[] =
	"some words of the program\n"
	"{\n  \"context\": {\"executable\": \"./b\"},\n  \"benchmarks\": [\n"
	"    {\"name\": \"BM_Sort/8\", \"run_name\": \"BM_Sort/8\", \"run_type\": \"iteration\", \"iterations\": 100,\n"
	"     \"real_time\": 2.5, \"cpu_time\": 2.0, \"time_unit\": \"us\", \"items_per_second\": 4e6, \"depth\": 3},\n"
	"    {\"name\": \"BM_Find\", \"run_name\": \"BM_Find\", \"run_type\": \"iteration\", \"real_time\": 9, \"cpu_time\": 9},\n"
	"    {\"name\": \"BM_Find\", \"run_name\": \"BM_Find\", \"run_type\": \"iteration\", \"real_time\": 7, \"cpu_time\": 7},\n"
	"    {\"name\": \"BM_Find_mean\", \"run_name\": \"BM_Find\", \"run_type\": \"aggregate\", \"aggregate_name\": \"mean\", \"real_time\": 8, \"cpu_time\": 8},\n"
	"    {\"name\": \"BM_Find_stddev\", \"run_name\": \"BM_Find\", \"run_type\": \"aggregate\", \"aggregate_name\": \"stddev\", \"real_time\": 1, \"cpu_time\": 1}\n"
	"  ]\n}\ngood bye\n";

static const char catch2[] =
	"<?xml version=\"1.0\"?>\n<Catch2TestRun name=\"b\">\n"
	"<BenchmarkResults name=\"a &lt; b &amp; c\" samples=\"100\" iterations=\"3\">\n"
	"  <!--All values in nano seconds-->\n  <mean value=\"1234.5\" lowerBound=\"1200\" upperBound=\"1300\" ci=\"0.95\"/>\n"
	"  <standardDeviation value=\"9\"/>\n</BenchmarkResults>\n"
	"<BenchmarkResults name=\"second\"><mean value=\"5\"/></BenchmarkResults>\n</Catch2TestRun>\n";

static const char hyperfine[] =
	"Benchmark 1: sleep 1\n  Time: ...\n"
	"{\n \"results\": [ {\"command\": \"sleep 1\", \"mean\": 1.5, \"user\": 0.25, \"system\": 0.5} ]\n}\n";

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

static void google_benchmark_gives_cases_times_and_counters(void **state)
{
	struct fg_harness_report report = parse(FG_HARNESS_GOOGLE_BENCHMARK, google);

	(void)state;
	assert_int_equal(report.case_count, 2);
	assert_string_equal(report.cases[0].name, "BM_Sort/8");
	assert_true(value_of(&report.cases[0], "cpu_time") == 2000);
	assert_true(value_of(&report.cases[0], "wall_time") == 2500);
	assert_true(value_of(&report.cases[0], "items_per_second") == 4e6);
	assert_true(value_of(&report.cases[0], "depth") == 3);
	assert_int_equal(report.cases[0].value_count, 4);
	assert_string_equal(report.cases[1].name, "BM_Find");
	assert_true(value_of(&report.cases[1], "cpu_time") ==
		    8); /* the mean stands for its repetitions */
	fg_harness_report_release(&report);
}

static void catch2_gives_means_with_names_unescaped(void **state)
{
	struct fg_harness_report report = parse(FG_HARNESS_CATCH2, catch2);

	(void)state;
	assert_int_equal(report.case_count, 2);
	assert_string_equal(report.cases[0].name, "a < b & c");
	assert_true(value_of(&report.cases[0], "wall_time") == 1234.5);
	assert_true(value_of(&report.cases[1], "wall_time") == 5);
	fg_harness_report_release(&report);
}

static void hyperfine_gives_commands_in_nanoseconds(void **state)
{
	struct fg_harness_report report = parse(FG_HARNESS_HYPERFINE, hyperfine);

	(void)state;
	assert_int_equal(report.case_count, 1);
	assert_string_equal(report.cases[0].name, "sleep 1");
	assert_true(value_of(&report.cases[0], "wall_time") == 1.5e9);
	assert_true(value_of(&report.cases[0], "cpu_time") == 0.75e9);
	fg_harness_report_release(&report);
}

static void what_reports_nothing_or_is_broken_is_refused_with_a_hint(void **state)
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
		 "{\"benchmarks\": [{\"name\": \"BM_X\", \"error_occurred\": true, \"error_message\": \"no file\"}]}",
		 "no file"},
		{FG_HARNESS_CATCH2, "All tests passed\n", "--reporter xml"},
		{FG_HARNESS_CATCH2,
		 "<BenchmarkResults name=\"a\"><mean value=", "ends in the middle"},
		{FG_HARNESS_CATCH2, "<BenchmarkResults ><mean value=\"1\"/></BenchmarkResults>",
		 "no name"},
		{FG_HARNESS_HYPERFINE, "{}", "no list 'results'"},
		{FG_HARNESS_HYPERFINE, "", "--export-json"},
	};

	(void)state;
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

static void a_report_cut_anywhere_does_no_harm(void **state)
{
	static const struct {
		enum fg_harness harness;
		const char *text;
	} whole[] = {{FG_HARNESS_GOOGLE_BENCHMARK, google},
		     {FG_HARNESS_CATCH2, catch2},
		     {FG_HARNESS_HYPERFINE, hyperfine}};

	(void)state;
	for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++) {
		for (size_t size = 0; size < strlen(whole[i].text); size++) {
			struct fg_harness_report report = {0};
			char *copy = fg_xstrndup(whole[i].text, size); /* ASan sees the end of it */

			if (fg_harness_parse(whole[i].harness, copy, size, &report, NULL) == FG_OK)
				fg_harness_report_release(&report);
			free(copy);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(google_benchmark_gives_cases_times_and_counters),
		cmocka_unit_test(catch2_gives_means_with_names_unescaped),
		cmocka_unit_test(hyperfine_gives_commands_in_nanoseconds),
		cmocka_unit_test(what_reports_nothing_or_is_broken_is_refused_with_a_hint),
		cmocka_unit_test(a_report_cut_anywhere_does_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
