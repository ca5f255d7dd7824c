// SPDX-License-Identifier: Apache-2.0
/*
 * CSV: one row per metric (`csv`), or one row per repetition and metric (`csv-raw`) with every
 * measured value.
 */
#include "base/csv.h"

#include "reporters/figures.h"
#include "reporters/formats.h"
#include "reporters/names.h"

#include <math.h>

enum {
	MAX_CELL_BYTES = 64 * 1024
};

static void add_head(struct fg_csv *csv, const char *const *columns, size_t count)
{
	for (size_t i = 0; i < count; i++)
		fg_csv_text(csv, columns[i]);
	fg_csv_end(csv);
}

/* Adds a name that comes from an untrusted program. */
static void add_name(struct fg_csv *csv, const char *name)
{
	struct fg_strbuf clean = {0};

	fg_report_add_clean(&clean, name, MAX_CELL_BYTES);
	fg_csv_text(csv, fg_strbuf_text(&clean));
	fg_strbuf_release(&clean);
}

static void add_metric_cells(struct fg_csv *csv, const struct fg_metric_verdict *metric)
{
	add_name(csv, metric->name);
	add_name(csv, metric->unit);
	fg_csv_text(csv, metric->decided ? fg_outcome_name(metric->outcome) : "not judged");
	fg_csv_text(csv, metric->gated ? "true" : "false");
	fg_csv_number(csv, metric->baseline);
	fg_csv_number(csv, metric->candidate);
	fg_csv_number(csv, metric->ratio);
	fg_csv_number(csv, metric->low);
	fg_csv_number(csv, metric->high);
	fg_csv_number(csv, metric->smallest_detectable);
	fg_csv_number(csv, metric->p_value);
}

/* `metric` is NULL for a benchmark without metrics: the cells of the metric stay empty. */
static void add_row(struct fg_csv *csv, const struct fg_benchmark_verdict *benchmark,
		    const struct fg_metric_verdict *metric)
{
	enum {
		METRIC_CELLS = 11
	};

	add_name(csv, benchmark->name);
	fg_csv_text(csv, fg_outcome_name(benchmark->outcome));
	for (int i = 0; !metric && i < METRIC_CELLS; i++)
		fg_csv_text(csv, NULL);
	if (metric)
		add_metric_cells(csv, metric);
	fg_csv_number(csv, benchmark->pairs);
	fg_csv_text(csv, fg_schedule_name(benchmark->schedule));
	fg_csv_end(csv);
}

void fg_report_csv(const struct fg_report *report, const struct fg_report_options *options,
		   struct fg_strbuf *text)
{
	static const char *const columns[] = {
		"benchmark", "benchmark_verdict",
		"metric",    "unit",
		"verdict",   "gated",
		"baseline",  "candidate",
		"ratio",     "low",
		"high",      "smallest_detectable",
		"p_value",   "pairs",
		"schedule",
	};
	struct fg_csv csv = {.out = text};

	(void)options;
	add_head(&csv, columns, FG_ARRAY_SIZE(columns));
	for (size_t i = 0; i < report->verdict->benchmark_count; i++) {
		const struct fg_benchmark_verdict *benchmark = &report->verdict->benchmarks[i];

		if (benchmark->metric_count == 0)
			add_row(&csv, benchmark, NULL);
		for (size_t m = 0; m < benchmark->metric_count; m++)
			add_row(&csv, benchmark, &benchmark->metrics[m]);
	}
}

static void add_repetition(struct fg_csv *csv, const struct fg_series *series,
			   const struct fg_repetition *repetition)
{
	struct fg_strbuf aside = {0};

	fg_report_add_aside(&aside, repetition->aside);
	for (size_t m = 0; m < series->metric_count; m++) {
		if (!isfinite(repetition->values[m]))
			continue;
		add_name(csv, series->name);
		fg_csv_number(csv, repetition->pair);
		fg_csv_text(csv, repetition->arm == FG_ARM_BASELINE ? "baseline" : "candidate");
		fg_csv_number(csv, repetition->position);
		fg_csv_text(csv, fg_strbuf_text(&aside));
		add_name(csv, series->metrics[m].name);
		add_name(csv, series->metrics[m].unit);
		fg_csv_number(csv, repetition->values[m]);
		fg_csv_end(csv);
	}
	fg_strbuf_release(&aside);
}

void fg_report_csv_raw(const struct fg_report *report, const struct fg_report_options *options,
		       struct fg_strbuf *text)
{
	static const char *const columns[] = {
		"benchmark", "pair", "arm", "position", "set_aside", "metric", "unit", "value",
	};
	struct fg_csv csv = {.out = text};

	(void)options;
	add_head(&csv, columns, FG_ARRAY_SIZE(columns));
	for (size_t i = 0; i < report->run->series_count; i++) {
		const struct fg_series *series = &report->run->series[i];

		for (size_t r = 0; r < series->repetition_count; r++)
			add_repetition(&csv, series, &series->repetitions[r]);
	}
}
