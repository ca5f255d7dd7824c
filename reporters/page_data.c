// SPDX-License-Identifier: Apache-2.0
/* Writes every measured value of a benchmark, in columns. */
#include "reporters/page_data.h"

#include "base/clock.h"
#include "reporters/figures.h"
#include "reporters/verdict_queries.h"

#include <math.h>

static bool was_measured(const struct fg_series *series, size_t metric)
{
	for (size_t r = 0; r < series->repetition_count; r++) {
		if (isfinite(series->repetitions[r].values[metric]))
			return true;
	}
	return false;
}

static void add_integer_column(struct fg_json_writer *w, const struct fg_series *series,
			       const char *name,
			       int64_t (*get)(const struct fg_repetition *repetition))
{
	fg_json_begin_array(w, name);
	for (size_t r = 0; r < series->repetition_count; r++)
		fg_json_int(w, NULL, get(&series->repetitions[r]));
	fg_json_end(w);
}

static int64_t get_pair(const struct fg_repetition *repetition)
{
	return repetition->pair;
}

static int64_t get_arm(const struct fg_repetition *repetition)
{
	return repetition->arm;
}

static int64_t get_position(const struct fg_repetition *repetition)
{
	return repetition->position;
}

/*
 * Writes start times, relative to the first repetition, and the share of time stolen by the host.
 */
static void add_circumstances(struct fg_json_writer *w, const struct fg_series *series)
{
	int64_t first = INT64_MAX;

	for (size_t r = 0; r < series->repetition_count; r++) {
		if (series->repetitions[r].started_ns < first)
			first = series->repetitions[r].started_ns;
	}
	fg_json_begin_array(w, "started_ms");
	for (size_t r = 0; r < series->repetition_count; r++)
		fg_json_int(w, NULL, (series->repetitions[r].started_ns - first) / FG_NS_PER_MS);
	fg_json_end(w);
	fg_json_begin_array(w, "steal");
	for (size_t r = 0; r < series->repetition_count; r++)
		fg_json_double(w, NULL,
			       fg_report_four_digits((double)series->repetitions[r].steal));
	fg_json_end(w);
}

static void add_raw(struct fg_json_writer *w, const struct fg_series *series)
{
	struct fg_strbuf aside = {0};

	if (!series)
		return;
	fg_json_begin_object(w, "raw");
	add_integer_column(w, series, "pair", get_pair);
	add_integer_column(w, series, "arm", get_arm);
	add_integer_column(w, series, "position", get_position);
	fg_json_begin_array(w, "aside");
	for (size_t r = 0; r < series->repetition_count; r++) {
		fg_strbuf_clear(&aside);
		fg_report_add_aside(&aside, series->repetitions[r].aside);
		fg_json_text(w, NULL, fg_strbuf_text(&aside));
	}
	fg_json_end(w);
	add_circumstances(w, series);
	fg_json_begin_object(w, "values");
	for (size_t m = 0; m < series->metric_count; m++) {
		if (!was_measured(series, m))
			continue;
		fg_json_begin_array(w, series->metrics[m].name);
		for (size_t r = 0; r < series->repetition_count; r++)
			fg_json_double(w, NULL, series->repetitions[r].values[m]);
		fg_json_end(w);
	}
	fg_json_end(w);
	fg_json_end(w);
	fg_strbuf_release(&aside);
}

void fg_report_add_page_data(const struct fg_report *report, size_t benchmark,
			     struct fg_json_writer *w)
{
	const struct fg_series *series =
		fg_run_find(report->run, report->verdict->benchmarks[benchmark].name);

	add_raw(w, series);
	fg_report_add_profile(fg_report_profile(report, series), w);
	fg_report_add_marked(fg_report_profile(report, series), w);
}
