// SPDX-License-Identifier: Apache-2.0
/*
 * JUnit XML for Jenkins and GitLab.
 *
 * Writes one testsuite per benchmark, with one testcase per judged metric and per changed function,
 * or with a single testcase if nothing was measured or compared. The tools that read the file
 * determine its shape:
 *
 * - GitLab shows `classname` as the suite and lists cases by `name` alone. Of several cases with
 *   one name it keeps the first, so names contain the benchmark and are unique in the file.
 * - Jenkins takes the part before the last dot of `classname` for the package: project.benchmark.
 * - Both tools draw `time` over builds: the candidate's time in seconds, or 0 for other metrics.
 * - The strictest of the common schemas (Ant's) has no attributes on the root and neither output
 *   nor properties below a testcase, and requires the order properties, cases, system-out,
 *   system-err. The file uses nothing else.
 */
#include "base/clock.h"
#include "base/xml_write.h"
#include "reporters/card.h"
#include "reporters/figures.h"
#include "reporters/formats.h"
#include "reporters/names.h"
#include "reporters/terminal_page.h"
#include "reporters/verdict_queries.h"

#include <math.h>

enum {
	MAX_NAME_COLUMNS = 300, /* longer names of cases are shortened */
};

struct junit {
	const struct fg_report *report;
	struct fg_xml_writer xml;
	struct fg_map names; /* names used so far */
};

enum result {
	RESULT_PASSED,
	RESULT_SKIPPED,
	RESULT_FAILED,
	RESULT_BROKEN,
	RESULT_COUNT,
};

struct totals {
	unsigned cases;
	unsigned results[RESULT_COUNT];
};

static bool is_case(const struct fg_metric_verdict *metric)
{
	return metric->gated && metric->decided;
}

static bool function_is_case(const struct fg_node_verdict *node)
{
	return fg_standing_is_sure(node->standing);
}

/*
 * A function's case fails only if no metric failed, so that the function alone failed the
 * benchmark. Otherwise the metric's failure mentions the function, and the function's case passes.
 */
static bool function_fails(const struct fg_benchmark_verdict *benchmark,
			   const struct fg_node_verdict *node)
{
	const struct fg_metric_verdict *headline = fg_report_headline(benchmark);

	return node->outcome == FG_OUTCOME_REGRESSION &&
	       benchmark->outcome == FG_OUTCOME_REGRESSION &&
	       (!headline || headline->outcome != FG_OUTCOME_REGRESSION || headline->accepted);
}

/* A case fails if it has the benchmark's outcome and the benchmark fails the run. */
static enum result result_of(const struct fg_benchmark_verdict *benchmark, enum fg_outcome outcome)
{
	if (outcome == FG_OUTCOME_ERROR)
		return RESULT_BROKEN;
	if (outcome == benchmark->outcome && benchmark->exit_code != FG_EXIT_PASS)
		return RESULT_FAILED;
	return benchmark->unaffected || outcome == FG_OUTCOME_INCONCLUSIVE ||
			       outcome == FG_OUTCOME_CREEP || outcome == FG_OUTCOME_NEW ||
			       outcome == FG_OUTCOME_MISSING
		       ? RESULT_SKIPPED
		       : RESULT_PASSED;
}

static void count(struct totals *totals, enum result result)
{
	totals->cases++;
	totals->results[result]++;
}

/* Returns the outcome of a metric's case; an accepted regression passes. */
static enum fg_outcome case_outcome(const struct fg_metric_verdict *metric)
{
	if (!metric->decided || metric->accepted)
		return FG_OUTCOME_PASS;
	return metric->outcome;
}

/* Is the benchmark a single case, because it was not measured or nothing can be compared? */
static bool is_single_case(const struct fg_benchmark_verdict *benchmark)
{
	bool any = false;

	for (size_t i = 0; i < benchmark->metric_count; i++)
		any = any || is_case(&benchmark->metrics[i]);
	return !any || benchmark->outcome == FG_OUTCOME_ERROR ||
	       benchmark->outcome == FG_OUTCOME_NEW || benchmark->outcome == FG_OUTCOME_MISSING;
}

static struct totals count_cases(const struct fg_benchmark_verdict *benchmark)
{
	struct totals totals = {0};

	if (is_single_case(benchmark)) {
		count(&totals, result_of(benchmark, benchmark->outcome));
		return totals;
	}
	for (size_t i = 0; i < benchmark->metric_count; i++) {
		if (is_case(&benchmark->metrics[i]))
			count(&totals, result_of(benchmark, case_outcome(&benchmark->metrics[i])));
	}
	for (size_t i = 0; i < benchmark->time.function_count; i++) {
		const struct fg_node_verdict *node = &benchmark->time.functions[i];

		if (function_is_case(node))
			count(&totals,
			      function_fails(benchmark, node) ? RESULT_FAILED : RESULT_PASSED);
	}
	return totals;
}

static void begin_case(struct junit *j, const struct fg_benchmark_verdict *benchmark,
		       const char *what, double seconds)
{
	struct fg_strbuf name = {0};
	struct fg_strbuf class = {0};
	bool is_new = false;

	fg_report_add_name(&class, j->report->run->project ? j->report->run->project : "fastgate",
			   MAX_NAME_COLUMNS);
	fg_strbuf_add_char(&class, '.');
	fg_report_add_name(&class, benchmark->name, MAX_NAME_COLUMNS);
	fg_report_add_name(&name, benchmark->name, MAX_NAME_COLUMNS);
	fg_strbuf_add_text(&name, *what ? ": " : "");
	if (*what)
		fg_report_add_name(&name, what, MAX_NAME_COLUMNS);
	(void)fg_map_add_text(&j->names, fg_strbuf_text(&name), 0, &is_new);
	if (!is_new) {
		const size_t length = name.length;

		for (unsigned n = 2; !is_new; n++) {
			name.length = length;
			fg_strbuf_printf(&name, " (%u)", n);
			(void)fg_map_add_text(&j->names, fg_strbuf_text(&name), 0, &is_new);
		}
	}
	fg_xml_begin(&j->xml, "testcase");
	fg_xml_attribute(&j->xml, "classname", fg_strbuf_text(&class));
	fg_xml_attribute(&j->xml, "name", fg_strbuf_text(&name));
	fg_xml_attribute_printf(&j->xml, "time", "%.6f",
				isfinite(seconds) && seconds > 0 ? seconds : 0.0);
	fg_strbuf_release(&name);
	fg_strbuf_release(&class);
}

static void add_outcome(struct junit *j, const char *element, const char *type,
			const struct fg_strbuf *message, const struct fg_strbuf *text)
{
	fg_xml_begin(&j->xml, element);
	if (type)
		fg_xml_attribute(&j->xml, "type", type);
	fg_xml_attribute(&j->xml, "message", fg_strbuf_text(message));
	if (text && text->length > 0)
		fg_xml_text(&j->xml, fg_strbuf_text(text));
	fg_xml_end(&j->xml);
}

/* Adds the card's sentence, the benchmark's part of the terminal report, and the card's steps. */
static void add_card(const struct junit *j, const struct fg_benchmark_verdict *benchmark,
		     struct fg_strbuf *text)
{
	struct fg_arena arena = {0};
	struct fg_card card;

	fg_card_make(j->report, benchmark, &arena, &card);
	fg_strbuf_printf(text, "%s\n", card.sentence);
	fg_terminal_quote(j->report, benchmark, benchmark->outcome == FG_OUTCOME_ERROR, text);
	fg_card_add_steps(&card, text);
	fg_arena_release(&arena);
}

static void describe_metric(struct fg_strbuf *text, const struct fg_benchmark_verdict *benchmark,
			    const struct fg_metric_verdict *metric)
{
	fg_report_add_name(text, metric->label, MAX_NAME_COLUMNS);
	fg_strbuf_add_char(text, ' ');
	fg_report_add_change(text, metric);
	fg_strbuf_add_char(text, ' ');
	fg_report_add_interval(text, metric);
	fg_strbuf_add_text(text, ", ");
	fg_report_add_levels(text, metric);
	fg_strbuf_add_text(text, ", ");
	fg_report_add_effort(text, benchmark, metric);
}

/* `metric` NULL: the outcome of the whole benchmark. */
static void add_case_outcome(struct junit *j, const struct fg_benchmark_verdict *benchmark,
			     const struct fg_metric_verdict *metric, enum fg_outcome outcome)
{
	static const char *const elements[RESULT_COUNT] = {[RESULT_SKIPPED] = "skipped",
							   [RESULT_FAILED] = "failure",
							   [RESULT_BROKEN] = "error"};
	const enum result result = result_of(benchmark, outcome);
	const bool is_serious = result == RESULT_FAILED || result == RESULT_BROKEN;
	const bool is_other = metric && metric != fg_report_headline(benchmark);
	struct fg_strbuf message = {0};
	struct fg_strbuf text = {0};

	if (result == RESULT_PASSED)
		return;
	if (!is_other)
		fg_card_add_sentence(&message, benchmark, NULL);
	if (metric && fg_report_has_change(metric) && (is_other || result == RESULT_FAILED)) {
		fg_strbuf_add_text(&message, is_other ? "" : "; ");
		describe_metric(&message, benchmark, metric);
	}
	if (outcome == FG_OUTCOME_INCONCLUSIVE && !fg_report_probably(benchmark) &&
	    fg_report_add_detectable(&text, metric))
		fg_strbuf_printf(&message, "; %s", fg_strbuf_text(&text));
	fg_strbuf_clear(&text);
	/* GitLab shows the message only if there is no text. */
	if (is_serious)
		add_card(j, benchmark, &text);
	add_outcome(j, elements[result], is_serious ? fg_outcome_name(outcome) : NULL, &message,
		    &text);
	fg_strbuf_release(&message);
	fg_strbuf_release(&text);
}

static void add_single_case(struct junit *j, const struct fg_benchmark_verdict *benchmark)
{
	begin_case(j, benchmark, "", 0);
	add_case_outcome(j, benchmark, NULL, benchmark->outcome);
	fg_xml_end(&j->xml);
}

static void add_function_case(struct junit *j, const struct fg_benchmark_verdict *benchmark,
			      const struct fg_node_verdict *node)
{
	struct fg_strbuf what = {0};

	fg_strbuf_add_text(&what, "function ");
	fg_report_add_name(&what, node->name, MAX_NAME_COLUMNS - 20);
	begin_case(j, benchmark, fg_strbuf_text(&what), node->self[1] / 1e3);
	if (function_fails(benchmark, node))
		add_case_outcome(j, benchmark, NULL, FG_OUTCOME_REGRESSION);
	fg_xml_end(&j->xml);
	fg_strbuf_release(&what);
}

static void add_output(struct junit *j, const struct fg_benchmark_verdict *benchmark)
{
	struct fg_strbuf text = {0};

	fg_terminal_quote(j->report, benchmark, true, &text);
	fg_xml_begin(&j->xml, "system-out");
	fg_xml_text(&j->xml, fg_strbuf_text(&text));
	fg_xml_end(&j->xml);
	fg_xml_begin(&j->xml, "system-err");
	fg_xml_text(&j->xml, benchmark->error ? benchmark->error : "");
	fg_xml_end(&j->xml);
	fg_strbuf_release(&text);
}

static void add_cases(struct junit *j, const struct fg_benchmark_verdict *benchmark)
{
	if (is_single_case(benchmark)) {
		add_single_case(j, benchmark);
		return;
	}
	for (size_t i = 0; i < benchmark->metric_count; i++) {
		const struct fg_metric_verdict *metric = &benchmark->metrics[i];

		if (!is_case(metric))
			continue;
		begin_case(j, benchmark, metric->name,
			   strcmp(metric->unit, "ns") == 0 ? metric->candidate / 1e9 : (double)NAN);
		add_case_outcome(j, benchmark, metric, case_outcome(metric));
		fg_xml_end(&j->xml);
	}
	for (size_t i = 0; i < benchmark->time.function_count; i++) {
		if (function_is_case(&benchmark->time.functions[i]))
			add_function_case(j, benchmark, &benchmark->time.functions[i]);
	}
}

static void add_suite(struct junit *j, const struct fg_benchmark_verdict *benchmark, size_t index)
{
	const struct totals totals = count_cases(benchmark);
	struct fg_strbuf name = {0};
	char when[FG_TIME_TEXT_SIZE] = "";

	fg_report_add_name(&name, benchmark->name, MAX_NAME_COLUMNS);
	fg_time_format_utc(j->report->run->started_ns, when);
	fg_xml_begin(&j->xml, "testsuite");
	fg_xml_attribute(&j->xml, "name", fg_strbuf_text(&name));
	fg_xml_attribute_printf(&j->xml, "id", "%zu", index);
	fg_xml_attribute(&j->xml, "package",
			 j->report->run->project ? j->report->run->project : "fastgate");
	fg_xml_attribute(&j->xml, "hostname", "localhost");
	fg_xml_attribute_printf(&j->xml, "timestamp", "%.19s",
				when); /* the schemas require a time without a time zone */
	fg_xml_attribute_printf(&j->xml, "tests", "%u", totals.cases);
	fg_xml_attribute_printf(&j->xml, "failures", "%u", totals.results[RESULT_FAILED]);
	fg_xml_attribute_printf(&j->xml, "errors", "%u", totals.results[RESULT_BROKEN]);
	fg_xml_attribute_printf(&j->xml, "skipped", "%u", totals.results[RESULT_SKIPPED]);
	fg_xml_attribute_printf(&j->xml, "time", "%.3f", benchmark->seconds);
	fg_xml_begin(&j->xml, "properties"); /* the schemas require this element */
	fg_xml_begin(&j->xml, "property");
	fg_xml_attribute(&j->xml, "name", "verdict");
	fg_xml_attribute(&j->xml, "value", fg_outcome_name(benchmark->outcome));
	fg_xml_end(&j->xml);
	fg_xml_end(&j->xml);
	add_cases(j, benchmark);
	add_output(j, benchmark);
	fg_xml_end(&j->xml);
	fg_strbuf_release(&name);
}

/* Jenkins rejects a file without cases, and GitLab ignores it. */
static const struct fg_benchmark_verdict nothing_ran = {
	.name = "fastgate",
	.outcome = FG_OUTCOME_ERROR,
	.exit_code = FG_EXIT_NOT_MEASURED,
	.error = "no benchmark was measured",
};

void fg_report_junit(const struct fg_report *report, const struct fg_report_options *options,
		     struct fg_strbuf *text)
{
	struct junit j = {.report = report};

	(void)options;
	fg_xml_writer_init(&j.xml, text);
	fg_xml_begin(&j.xml, "testsuites");
	for (size_t i = 0; i < report->verdict->benchmark_count; i++)
		add_suite(&j, &report->verdict->benchmarks[i], i);
	if (report->verdict->benchmark_count == 0 && report->verdict->outcome == FG_OUTCOME_ERROR)
		add_suite(&j, &nothing_ran, 0);
	fg_xml_end(&j.xml);
	if (text->length > 0 && text->data[text->length - 1] != '\n')
		fg_strbuf_add_char(text, '\n');
	fg_map_release(&j.names);
}
