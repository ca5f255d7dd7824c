// SPDX-License-Identifier: Apache-2.0
#include "runner/harness/harness.h"

#include "base/text.h"
#include "runner/harness/harness_parsers.h"

/* Each harness has one of the three readers; `name` is the list or the element that it reads. */
static const struct {
	const char *hint;
	const char *name;
	fg_harness_entry *entry;
	fg_harness_element *element;
	fg_harness_line *line;
} parsers[] = {
	[FG_HARNESS_GOOGLE_BENCHMARK] = {"--benchmark_format=json", "benchmarks",
					 .entry = fg_harness_google},
	[FG_HARNESS_CATCH2] = {"--reporter xml", "BenchmarkResults", .element = fg_harness_catch2},
	[FG_HARNESS_HYPERFINE] = {"--export-json /dev/stdout", "results",
				  .entry = fg_harness_hyperfine},
	[FG_HARNESS_NANOBENCH] =
		{"ankerl::nanobench::render(ankerl::nanobench::templates::json(), ...)", "results",
		 .entry = fg_harness_nanobench},
	[FG_HARNESS_DOCTEST] = {"-r=xml -d=true", "TestCase", .element = fg_harness_doctest},
	[FG_HARNESS_CRITERION] = {"cargo criterion --message-format=json",
				  .line = fg_harness_criterion},
	[FG_HARNESS_CARGO_BENCH] = {"cargo bench, for Criterion with --output-format bencher",
				    .line = fg_harness_cargo},
	[FG_HARNESS_PYTEST] = {"--benchmark-json=/dev/stdout", "benchmarks",
			       .entry = fg_harness_pytest},
	[FG_HARNESS_GO] = {"go test -bench .", .line = fg_harness_go},
	[FG_HARNESS_LIT] = {"-o /dev/stdout", "tests", .entry = fg_harness_lit},
	[FG_HARNESS_PLAIN] = {"NAME VALUE UNIT", .line = fg_harness_plain},
	[FG_HARNESS_SMALLER_IS_BETTER] = {"[{\"name\": ..., \"unit\": ..., \"value\": ...}]", "",
					  .entry = fg_harness_smaller},
	[FG_HARNESS_BIGGER_IS_BETTER] = {"[{\"name\": ..., \"unit\": ..., \"value\": ...}]", "",
					 .entry = fg_harness_bigger},
};

int fg_harness_parse(enum fg_harness harness, const char *text, size_t size,
		     struct fg_harness_report *report, struct fg_error *err)
{
	struct fg_harness_report found = {0};
	int status = FG_OK;

	FG_ASSERT(harness < FG_ARRAY_SIZE(parsers) && parsers[harness].hint);
	if (parsers[harness].entry)
		status = fg_harness_read_list(text, size, parsers[harness].name,
					      parsers[harness].entry, &found, err);
	else if (parsers[harness].element)
		status = fg_harness_read_elements(text, size, parsers[harness].name,
						  parsers[harness].element, &found, err);
	else
		fg_harness_read_lines(text, size, parsers[harness].line, &found);
	if (status == FG_OK && found.case_count == 0)
		status = fg_error_set(err, FG_ECHILD, "the program reported no case");
	if (status != FG_OK) {
		fg_error_prefix(err, "%s (is '%s' on the command line?)", fg_harness_name(harness),
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
			: fg_error_set(err, FG_ECHILD, "the program reported no case '%s'",
				       names[0]);
}
