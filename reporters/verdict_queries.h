/* SPDX-License-Identifier: Apache-2.0 */
/* Questions about a verdict that several formats ask.  Private to reporters/. */
#ifndef FG_REPORTERS_VERDICT_QUERIES_H
#define FG_REPORTERS_VERDICT_QUERIES_H

#include "reporters/reporter.h"

/* The remark on a benchmark skipped because no change affects it. */
extern const char fg_report_unaffected[];
/* Replaces the numbers: "same binaries on both sides"; NULL: there are numbers. */
const char *fg_report_remark(const struct fg_benchmark_verdict *benchmark);
/* It passed, and only its name is worth mentioning. */
bool fg_report_is_quiet(const struct fg_benchmark_verdict *benchmark);

/* The metric that represents the benchmark: the worst gated one; NULL if none. */
const struct fg_metric_verdict *fg_report_headline(const struct fg_benchmark_verdict *benchmark);
/*
 * Indexes of all benchmarks: the most urgent first, then by size of the change; passed ones in
 * their order. The caller frees them.
 */
size_t *fg_report_worst_first(const struct fg_verdict *verdict);
/* The measured series of a benchmark of the verdict; NULL if the run lacks it. */
const struct fg_series *fg_report_series(const struct fg_report *report,
					 const struct fg_benchmark_verdict *benchmark);
/* Why `auto` chose the benchmark's schedule; NULL: unknown, or two stored runs were compared. */
const char *fg_report_schedule_reason(const struct fg_report *report,
				      const struct fg_benchmark_verdict *benchmark);
const struct fg_profile_set *fg_report_profile(const struct fg_report *report,
					       const struct fg_series *series);
/*
 * Notes on gated metrics that are not simply fine: undecided, excluded pairs. Excludes notes that
 * every format has in its own place (smallest detectable change, accepted slowdown, probably
 * slower). Start with a zeroed place; NULL: no more.
 */
struct fg_note_place {
	size_t metric;
	size_t note;
};
const char *fg_report_next_metric_note(const struct fg_benchmark_verdict *benchmark,
				       struct fg_note_place *place);
/*
 * The parts of the change, measure by measure, starting with the headline metric's. NULL: no more.
 */
const struct fg_blame *fg_report_blame(const struct fg_benchmark_verdict *benchmark, size_t index);
/* Number of functions whose change is sure; they are first in the list. */
size_t fg_report_sure_count(const struct fg_blame *blame);
/*
 * The part not explained by the first `shown` functions, with its share of the total (NaN: do not
 * show).
 */
struct fg_remainder {
	double delta; /* NaN: no remainder, or unknown */
	double share;
};
struct fg_remainder fg_report_everything_else(const struct fg_blame *blame, size_t shown);
/* "duet", or "mixed" if the benchmarks differ. */
const char *fg_report_schedule(const struct fg_verdict *verdict);
/* Is a change worth a number? */
bool fg_report_has_change(const struct fg_metric_verdict *metric);
/* "probably slower (+7.0 %): all of 21 pairs; not failed because ..."; NULL: it is not. */
const char *fg_report_probably(const struct fg_benchmark_verdict *benchmark);
/* Its outcome in one word, or "probably slower". */
const char *fg_report_state(const struct fg_benchmark_verdict *benchmark);
/* "regressed", "could not be measured", to follow a number of benchmarks. */
const char *fg_report_state_words(const struct fg_benchmark_verdict *benchmark);
/* "regression: 1 of 5 benchmarks regressed, 4 pass" */
void fg_report_add_summary(struct fg_strbuf *text, const struct fg_verdict *verdict);

#endif
