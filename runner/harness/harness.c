// SPDX-License-Identifier: Apache-2.0
#include "runner/harness/harness.h"

#include "base/text.h"
#include "runner/harness/harness_parsers.h"

static const struct {
	int (*parse)(const char *text, size_t size, struct fg_harness_report *report,
		     struct fg_error *err);
	const char *hint;
} parsers[] = {
	[FG_HARNESS_GOOGLE_BENCHMARK] = {fg_harness_parse_google, "--benchmark_format=json"},
	[FG_HARNESS_CATCH2] = {fg_harness_parse_catch2, "--reporter xml"},
	[FG_HARNESS_HYPERFINE] = {fg_harness_parse_hyperfine, "--export-json /dev/stdout"},
	[FG_HARNESS_NANOBENCH] =
		{fg_harness_parse_nanobench,
		 "ankerl::nanobench::render(ankerl::nanobench::templates::json(), ...)"},
	[FG_HARNESS_DOCTEST] = {fg_harness_parse_doctest, "-r=xml -d=true"},
	[FG_HARNESS_CRITERION] = {fg_harness_parse_criterion,
				  "cargo criterion --message-format=json"},
	[FG_HARNESS_CARGO_BENCH] = {fg_harness_parse_cargo,
				    "cargo bench, for Criterion with --output-format bencher"},
	[FG_HARNESS_PYTEST] = {fg_harness_parse_pytest, "--benchmark-json=/dev/stdout"},
	[FG_HARNESS_GO] = {fg_harness_parse_go, "go test -bench ."},
	[FG_HARNESS_LIT] = {fg_harness_parse_lit, "-o /dev/stdout"},
	[FG_HARNESS_PLAIN] = {fg_harness_parse_plain, "NAME VALUE UNIT"},
	[FG_HARNESS_SMALLER_IS_BETTER] = {fg_harness_parse_smaller,
					  "[{\"name\": ..., \"unit\": ..., \"value\": ...}]"},
	[FG_HARNESS_BIGGER_IS_BETTER] = {fg_harness_parse_bigger,
					 "[{\"name\": ..., \"unit\": ..., \"value\": ...}]"},
};

int fg_harness_parse(enum fg_harness harness, const char *text, size_t size,
		     struct fg_harness_report *report, struct fg_error *err)
{
	struct fg_harness_report found = {0};
	int status = FG_OK;

	FG_ASSERT(harness < FG_ARRAY_SIZE(parsers) && parsers[harness].parse);
	status = parsers[harness].parse(text, size, &found, err);
	if (status == FG_OK && found.case_count == 0)
		status = fg_error_set(err, FG_ECHILD, "it reported no case");
	if (status != FG_OK) {
		fg_error_prefix(err, "%s (is '%s' on its command line?)", fg_harness_name(harness),
				parsers[harness].hint);
		fg_harness_report_release(&found);
		return status;
	}
	*report = found;
	return FG_OK;
}

int fg_harness_keep(struct fg_harness_report *report, const char *const *names, size_t count,
		    struct fg_error *err)
{
	size_t kept = 0;

	for (size_t i = 0; i < report->case_count; i++) {
		if (fg_text_find(report->cases[i].name, names, count) < count)
			report->cases[kept++] = report->cases[i];
		else
			free(report->cases[i].values);
	}
	report->case_count = kept;
	return kept > 0 ? FG_OK
			: fg_error_set(err, FG_ECHILD, "it reported no case '%s'", names[0]);
}
