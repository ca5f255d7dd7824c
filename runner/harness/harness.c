// SPDX-License-Identifier: Apache-2.0
#include "runner/harness/harness.h"

#include "runner/harness/harness_parsers.h"

static const struct {
	enum fg_harness harness;
	int (*parse)(const char *text, size_t size, struct fg_harness_report *report,
		     struct fg_error *err);
	const char *hint;
} parsers[] = {
	{
		.harness = FG_HARNESS_GOOGLE_BENCHMARK,
		.parse = fg_harness_parse_google,
		.hint = "--benchmark_format=json",
	},
	{
		.harness = FG_HARNESS_CATCH2,
		.parse = fg_harness_parse_catch2,
		.hint = "--reporter xml",
	},
	{
		.harness = FG_HARNESS_HYPERFINE,
		.parse = fg_harness_parse_hyperfine,
		.hint = "--export-json /dev/stdout",
	},
	{
		.harness = FG_HARNESS_NANOBENCH,
		.parse = fg_harness_parse_nanobench,
		.hint = "ankerl::nanobench::render(ankerl::nanobench::templates::json(), ...)",
	},
	{
		.harness = FG_HARNESS_DOCTEST,
		.parse = fg_harness_parse_doctest,
		.hint = "-r=xml -d=true",
	},
	{
		.harness = FG_HARNESS_CRITERION,
		.parse = fg_harness_parse_criterion,
		.hint = "cargo criterion --message-format=json",
	},
	{
		.harness = FG_HARNESS_CARGO_BENCH,
		.parse = fg_harness_parse_cargo,
		.hint = "cargo bench, for Criterion with --output-format bencher",
	},
	{
		.harness = FG_HARNESS_PYTEST,
		.parse = fg_harness_parse_pytest,
		.hint = "--benchmark-json=/dev/stdout",
	},
	{
		.harness = FG_HARNESS_GO,
		.parse = fg_harness_parse_go,
		.hint = "go test -bench .",
	},
	{
		.harness = FG_HARNESS_LIT,
		.parse = fg_harness_parse_lit,
		.hint = "-o /dev/stdout",
	},
	{
		.harness = FG_HARNESS_PLAIN,
		.parse = fg_harness_parse_plain,
		.hint = "NAME VALUE UNIT",
	},
	{
		.harness = FG_HARNESS_SMALLER_IS_BETTER,
		.parse = fg_harness_parse_smaller,
		.hint = "[{\"name\": ..., \"unit\": ..., \"value\": ...}]",
	},
	{
		.harness = FG_HARNESS_BIGGER_IS_BETTER,
		.parse = fg_harness_parse_bigger,
		.hint = "[{\"name\": ..., \"unit\": ..., \"value\": ...}]",
	},
};

int fg_harness_parse(enum fg_harness harness, const char *text, size_t size,
		     struct fg_harness_report *report, struct fg_error *err)
{
	struct fg_harness_report found = {0};
	size_t row = 0;
	int status = FG_OK;

	while (row < FG_ARRAY_SIZE(parsers) && parsers[row].harness != harness)
		row++;
	FG_ASSERT(row < FG_ARRAY_SIZE(parsers));
	status = parsers[row].parse(text, size, &found, err);
	if (status == FG_OK && found.case_count == 0)
		status = fg_error_set(err, FG_ECHILD, "it reported no case");
	if (status != FG_OK) {
		fg_error_prefix(err, "%s (is '%s' on its command line?)", fg_harness_name(harness),
				parsers[row].hint);
		fg_harness_report_release(&found);
		return status;
	}
	*report = found;
	return FG_OK;
}

static bool is_among(const char *name, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(names[i], name) == 0)
			return true;
	}
	return false;
}

int fg_harness_keep(struct fg_harness_report *report, const char *const *names, size_t count,
		    struct fg_error *err)
{
	size_t kept = 0;

	for (size_t i = 0; i < report->case_count; i++) {
		if (is_among(report->cases[i].name, names, count))
			report->cases[kept++] = report->cases[i];
		else
			free(report->cases[i].values);
	}
	report->case_count = kept;
	return kept > 0 ? FG_OK
			: fg_error_set(err, FG_ECHILD, "it reported no case '%s'", names[0]);
}
