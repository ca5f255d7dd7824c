// SPDX-License-Identifier: Apache-2.0
/* Real output of the harnesses, written through a pipe: the files harness/NAME-VERSION. */
#include "base/fs.h"
#include "runner/harness/harness.h"
#include "tests/support/fg_test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A case of each file and one of its metrics. */
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
};

static struct fg_harness_report read_sample(const struct sample *sample)
{
	struct fg_harness_report report = {0};
	struct fg_error err = {0};
	char path[512];
	char *text = NULL;
	size_t size = 0;

	(void)snprintf(path, sizeof(path), "%s/%s", FG_HARNESS_FOLDER, sample->file);
	if (fg_fs_read(path, 1 << 20, &text, &size, &err) != FG_OK ||
	    fg_harness_parse(sample->harness, text, size, &report, &err) != FG_OK)
		fail_msg("%s: %s", sample->file, err.message);
	free(text);
	return report;
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

static double value_of(const struct fg_harness_case *found, const char *metric)
{
	for (size_t i = 0; i < found->value_count; i++) {
		if (strcmp(found->values[i].metric, metric) == 0)
			return found->values[i].value;
	}
	fail_msg("no metric %s in %s", metric, found->name);
	return 0;
}

FG_TEST(the_output_of_each_tool_gives_its_cases_and_numbers)
{
	for (size_t i = 0; i < FG_ARRAY_SIZE(samples); i++) {
		struct fg_harness_report report = read_sample(&samples[i]);
		const double value =
			value_of(find_case(&report, samples[i].name), samples[i].metric);

		if (report.case_count != samples[i].cases)
			fail_msg("%s: %zu cases", samples[i].file, report.case_count);
		if (fabs(value / samples[i].value - 1) > 1e-9)
			fail_msg("%s: %s is %.17g", samples[i].file, samples[i].metric, value);
		fg_harness_report_release(&report);
	}
}
