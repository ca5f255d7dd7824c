// SPDX-License-Identifier: Apache-2.0
/*
 * GitLab's metrics report: OpenMetrics text, one family per metric, one sample per benchmark.
 *
 * GitLab compares the values of two pipelines as text and shows each value that changed, so a value
 * is rounded to the run's precision, about half the width of its interval.
 * The samples of a family must be contiguous, so metrics are the outer loop.
 */
#include "base/number.h"
#include "base/text.h"
#include "reporters/formats.h"

#include <ctype.h>
#include <math.h>

enum {
	MAX_LABEL_BYTES = 500,
	MIN_DIGITS = 2,
	MAX_DIGITS = 6,
};

/* Adds a name that includes the base unit: "fastgate_cpu_time_seconds". */
static void add_family_name(struct fg_strbuf *text, const struct fg_metric_verdict *metric)
{
	fg_strbuf_add_text(text, "fastgate_");
	for (const char *at = metric->name; *at; at++)
		fg_strbuf_add_char(text, isalnum((unsigned char)*at) && isascii((unsigned char)*at)
						 ? *at
						 : '_');
	if (strcmp(metric->unit, "ns") == 0)
		fg_strbuf_add_text(text, "_seconds");
	else if (strcmp(metric->unit, "bytes") == 0)
		fg_strbuf_add_text(text, "_bytes");
}

static void add_label_value(struct fg_strbuf *text, const char *value)
{
	struct fg_strbuf clean = {0};

	fg_text_add_clean(&clean, value, strlen(value), MAX_LABEL_BYTES);
	for (const char *at = fg_strbuf_text(&clean); *at; at++) {
		if (*at == '\\' || *at == '"')
			fg_strbuf_add_char(text, '\\');
		fg_strbuf_add_char(text, *at);
	}
	fg_strbuf_release(&clean);
}

/* Returns the number of digits above the value's noise. */
static int meaningful_digits(const struct fg_metric_verdict *metric)
{
	const double half = (metric->high - metric->low) / 2;
	double digits = MAX_DIGITS;

	if (metric->exact)
		return 15;
	if (isfinite(half) && half > 0)
		digits = 1 - floor(log10(half)) - 1;
	if (digits < MIN_DIGITS)
		return MIN_DIGITS;
	return digits > MAX_DIGITS ? MAX_DIGITS : (int)digits;
}

static void add_sample(struct fg_strbuf *text, const struct fg_benchmark_verdict *benchmark,
		       const struct fg_metric_verdict *metric)
{
	const double value =
		strcmp(metric->unit, "ns") == 0 ? metric->candidate / 1e9 : metric->candidate;
	char number[FG_NUMBER_TEXT_SIZE] = "";
	char rounded[FG_NUMBER_TEXT_SIZE] = "";

	(void)snprintf(rounded, sizeof(rounded), "%.*g", meaningful_digits(metric), value);
	add_family_name(text, metric);
	fg_strbuf_add_text(text, "{benchmark=\"");
	add_label_value(text, benchmark->name);
	fg_strbuf_printf(text, "\"} %s\n", fg_format_double(strtod(rounded, NULL), number));
}

static bool same_family(const struct fg_metric_verdict *a, const struct fg_metric_verdict *b)
{
	struct fg_strbuf names[2] = {{0}, {0}};
	bool same = false;

	add_family_name(&names[0], a);
	add_family_name(&names[1], b);
	same = strcmp(fg_strbuf_text(&names[0]), fg_strbuf_text(&names[1])) == 0;
	fg_strbuf_release(&names[0]);
	fg_strbuf_release(&names[1]);
	return same;
}

/* If two metrics of a benchmark get the same name in this format, the first wins. */
static const struct fg_metric_verdict *find_family(const struct fg_benchmark_verdict *benchmark,
						   const struct fg_metric_verdict *like)
{
	for (size_t i = 0; i < benchmark->metric_count; i++) {
		if (isfinite(benchmark->metrics[i].candidate) &&
		    same_family(&benchmark->metrics[i], like))
			return &benchmark->metrics[i];
	}
	return NULL;
}

static bool is_first_of_family(const struct fg_verdict *verdict, size_t benchmark,
			       const struct fg_metric_verdict *metric)
{
	for (size_t i = 0; i < benchmark; i++) {
		if (find_family(&verdict->benchmarks[i], metric))
			return false;
	}
	return find_family(&verdict->benchmarks[benchmark], metric) == metric;
}

static void add_family(struct fg_strbuf *text, const struct fg_verdict *verdict, size_t from,
		       const struct fg_metric_verdict *like)
{
	struct fg_strbuf name = {0};

	add_family_name(&name, like);
	fg_strbuf_printf(text, "# TYPE %s gauge\n", fg_strbuf_text(&name));
	for (size_t i = from; i < verdict->benchmark_count; i++) {
		const struct fg_metric_verdict *metric = find_family(&verdict->benchmarks[i], like);

		if (metric)
			add_sample(text, &verdict->benchmarks[i], metric);
	}
	fg_strbuf_release(&name);
}

void fg_report_gitlab(const struct fg_report *report, const struct fg_report_options *options,
		      struct fg_strbuf *text)
{
	const struct fg_verdict *verdict = report->verdict;

	(void)options;
	for (size_t i = 0; i < verdict->benchmark_count; i++) {
		for (size_t m = 0; m < verdict->benchmarks[i].metric_count; m++) {
			const struct fg_metric_verdict *metric = &verdict->benchmarks[i].metrics[m];

			if (isfinite(metric->candidate) && is_first_of_family(verdict, i, metric))
				add_family(text, verdict, i, metric);
		}
	}
	fg_strbuf_add_text(text, "# EOF\n");
}
