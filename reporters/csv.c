// SPDX-License-Identifier: Apache-2.0
/*
 * CSV by RFC 4180: a row a metric (`csv`), or a row a repetition and metric (`csv-raw`), with every
 * value as it was measured.  A cell that a spreadsheet would take for a formula gets an apostrophe
 * in front: names are a stranger's.
 */
#include "base/number.h"
#include "reporters/formats.h"

#include <math.h>

enum {
	MAX_CELL_BYTES = 64 * 1024
};

static void add_cell(struct fg_strbuf *text, const char *value)
{
	struct fg_strbuf clean = {0};

	fg_report_add_clean(&clean, value ? value : "", MAX_CELL_BYTES);
	fg_strbuf_add_char(text, '"');
	if (clean.length > 0 && strchr("=+-@", clean.data[0]))
		fg_strbuf_add_char(text, '\'');
	for (const char *at = fg_strbuf_text(&clean); *at; at++) {
		if (*at == '"')
			fg_strbuf_add_char(text, '"');
		fg_strbuf_add_char(text, *at);
	}
	fg_strbuf_add_char(text, '"');
	fg_strbuf_release(&clean);
}

static void add_number(struct fg_strbuf *text, double value)
{
	char number[FG_NUMBER_TEXT_SIZE] = "";

	fg_strbuf_add_char(text, ',');
	if (isfinite(value))
		fg_strbuf_add_text(text, fg_format_double(value, number));
}

static void add_text_cell(struct fg_strbuf *text, const char *value)
{
	fg_strbuf_add_char(text, ',');
	add_cell(text, value);
}

static void add_metric(struct fg_strbuf *text, const struct fg_benchmark_verdict *benchmark,
		       const struct fg_metric_verdict *metric)
{
	add_cell(text, benchmark->name);
	add_text_cell(text, fg_outcome_name(benchmark->outcome));
	add_text_cell(text, metric ? metric->name : "");
	add_text_cell(text, metric ? metric->unit : "");
	add_text_cell(text,
		      metric ? (metric->decided ? fg_outcome_name(metric->outcome) : "not decided")
			     : "");
	fg_strbuf_printf(text, ",%s", metric ? (metric->gated ? "true" : "false") : "");
	for (size_t i = 0; i < 7; i++) {
		const double values[7] = {metric ? metric->baseline : (double)NAN,
					  metric ? metric->candidate : (double)NAN,
					  metric ? metric->ratio : (double)NAN,
					  metric ? metric->low : (double)NAN,
					  metric ? metric->high : (double)NAN,
					  metric ? metric->smallest_detectable : (double)NAN,
					  metric ? metric->p_value : (double)NAN};

		add_number(text, values[i]);
	}
	fg_strbuf_printf(text, ",%u,%s\r\n", benchmark->pairs,
			 fg_schedule_name(benchmark->schedule));
}

int fg_report_csv(const struct fg_report *report, const struct fg_report_options *options,
		  struct fg_strbuf *text, struct fg_error *err)
{
	(void)options;
	(void)err;
	fg_strbuf_add_text(
		text,
		"benchmark,benchmark_verdict,metric,unit,verdict,gated,baseline,candidate,ratio,low,high,"
		"smallest_detectable,p_value,pairs,schedule\r\n");
	for (size_t i = 0; i < report->verdict->benchmark_count; i++) {
		const struct fg_benchmark_verdict *benchmark = &report->verdict->benchmarks[i];

		if (benchmark->metric_count == 0)
			add_metric(text, benchmark, NULL);
		for (size_t m = 0; m < benchmark->metric_count; m++)
			add_metric(text, benchmark, &benchmark->metrics[m]);
	}
	return FG_OK;
}

static void add_repetition(struct fg_strbuf *text, const struct fg_series *series, size_t index)
{
	const struct fg_repetition *repetition = &series->repetitions[index];

	for (size_t m = 0; m < series->metric_count; m++) {
		if (!isfinite(repetition->values[m]))
			continue;
		add_cell(text, series->name);
		fg_strbuf_printf(text, ",%u,%s,%u,", repetition->pair,
				 repetition->arm == FG_ARM_BASELINE ? "baseline" : "candidate",
				 repetition->position);
		fg_report_add_aside(text, repetition->aside);
		add_text_cell(text, series->metrics[m].name);
		add_text_cell(text, series->metrics[m].unit);
		add_number(text, repetition->values[m]);
		fg_strbuf_add_text(text, "\r\n");
	}
}

int fg_report_csv_raw(const struct fg_report *report, const struct fg_report_options *options,
		      struct fg_strbuf *text, struct fg_error *err)
{
	(void)options;
	(void)err;
	fg_strbuf_add_text(text, "benchmark,pair,arm,position,set_aside,metric,unit,value\r\n");
	for (size_t i = 0; i < report->run->series_count; i++) {
		for (size_t r = 0; r < report->run->series[i].repetition_count; r++)
			add_repetition(text, &report->run->series[i], r);
	}
	return FG_OK;
}
