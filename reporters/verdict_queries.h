/* SPDX-License-Identifier: Apache-2.0 */
/* Queries on a verdict that several formats need. Private to reporters/. */
#ifndef FG_REPORTERS_VERDICT_QUERIES_H
#define FG_REPORTERS_VERDICT_QUERIES_H

#include "reporters/reporter.h"

/* The remark for a benchmark that was skipped because no change affects it. */
extern const char fg_report_unaffected[];
/*
 * Returns a remark to show instead of numbers, such as "same binaries on both sides"; NULL: show
 * numbers.
 */
const char *fg_report_remark(const struct fg_benchmark_verdict *benchmark);
/* Has the benchmark passed, with nothing to report but its name? */
bool fg_report_is_quiet(const struct fg_benchmark_verdict *benchmark);

/*
 * Returns the metric that represents the benchmark: decided before undecided, then gated before
 * informational, then the worst.
 */
const struct fg_metric_verdict *fg_report_headline(const struct fg_benchmark_verdict *benchmark);
/*
 * Returns the indexes of all benchmarks: most urgent first, then by size of the change; passed
 * benchmarks keep the order of the verdict. The caller frees the array.
 */
size_t *fg_report_worst_first(const struct fg_verdict *verdict);
/*
 * Returns the reason why `auto` chose the benchmark's schedule; NULL if unknown or if the baseline
 * is a stored run.
 */
const char *fg_report_schedule_reason(const struct fg_report *report,
				      const struct fg_benchmark_verdict *benchmark);
const struct fg_profile_set *fg_report_profile(const struct fg_report *report,
					       const struct fg_series *series);
/*
 * Iterates over the notes on gated metrics that did not pass. Excludes repeated notes, and notes
 * that every format shows elsewhere (smallest detectable change, accepted regression, probably
 * slower). Start with a zeroed place; NULL ends the iteration.
 */
struct fg_note_place {
	size_t metric;
	size_t note;
};
const char *fg_report_next_metric_note(const struct fg_benchmark_verdict *benchmark,
				       struct fg_note_place *place);
/*
 * Returns the parts of the change for measure number `index`; 0 is the headline metric's measure
 * or, if the profile lacks this measure, time. NULL after the last.
 */
const struct fg_blame *fg_report_blame(const struct fg_benchmark_verdict *benchmark, size_t index);
/* Returns the number of functions whose change is significant; they are first in the list. */
size_t fg_report_sure_count(const struct fg_blame *blame);
/*
 * The part of the change that the first `shown` functions do not explain, with its share of the
 * total (NaN: do not show).
 */
struct fg_remainder {
	double delta; /* NaN: no remainder, or unknown */
	double share;
};
struct fg_remainder fg_report_everything_else(const struct fg_blame *blame, size_t shown);
/* Returns "duet", or "mixed" if the benchmarks differ. */
const char *fg_report_schedule(const struct fg_verdict *verdict);
/* Should the change be shown as a number? */
bool fg_report_has_change(const struct fg_metric_verdict *metric);
/*
 * Returns "probably slower (+7.0 %): all of 21 pairs are slower; not failed because ..."; NULL if
 * the benchmark is not probably slower.
 */
const char *fg_report_probably(const struct fg_benchmark_verdict *benchmark);
/* Returns the benchmark's outcome in one word, or "probably slower". */
const char *fg_report_state(const struct fg_benchmark_verdict *benchmark);
/* Returns words that follow a number of benchmarks: "regressed", "could not be measured". */
const char *fg_report_state_words(const struct fg_benchmark_verdict *benchmark);
/* Adds "5 benchmarks: 1 regressed, 4 passed". */
void fg_report_add_summary(struct fg_strbuf *text, const struct fg_verdict *verdict);

#endif
