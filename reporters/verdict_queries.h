/* SPDX-License-Identifier: Apache-2.0 */
/* Questions about a verdict that several formats ask.  Private to reporters/. */
#ifndef FG_REPORTERS_VERDICT_QUERIES_H
#define FG_REPORTERS_VERDICT_QUERIES_H

#include "reporters/reporter.h"

/* What is said of a benchmark that was left out, because no change touches it. */
extern const char fg_report_unaffected[];

/*
 * The metric that represents the benchmark: the worst of those that took part; NULL if it has none.
 */
const struct fg_metric_verdict *fg_report_headline(const struct fg_benchmark_verdict *benchmark);
/* How large its change is, of either sign; 0: not known. */
double fg_report_change_size(const struct fg_benchmark_verdict *benchmark);
/*
 * Indexes of all benchmarks: those that ask for somebody first, the largest change first among
 * equals, those that passed in their order.  To be freed.
 */
size_t *fg_report_worst_first(const struct fg_verdict *verdict);
/* What was measured for a benchmark of the verdict; NULL when the run does not hold it. */
const struct fg_series *fg_report_series(const struct fg_report *report,
					 const struct fg_benchmark_verdict *benchmark);
const struct fg_profile_set *fg_report_profile(const struct fg_report *report,
					       const struct fg_series *series);
/*
 * What is to be known about the metrics that took part and are not simply right: two modes, a
 * sensitive layout, pairs left out.  Not what every format says in its own place (the change that
 * could have been seen, the accepted price).  Begin with a zeroed place; NULL: no more.
 */
struct fg_note_place {
	size_t metric;
	size_t note;
};
const char *fg_report_next_metric_note(const struct fg_benchmark_verdict *benchmark,
				       struct fg_note_place *place);
/*
 * The parts of the change, measure by measure: first that of the metric which tells the story.
 * NULL: no more.
 */
const struct fg_blame *fg_report_blame(const struct fg_benchmark_verdict *benchmark, size_t index);
/* Functions whose change is sure: they come first in the list. */
size_t fg_report_sure_count(const struct fg_blame *blame);
/*
 * What the first `shown` functions do not explain, with its share of the whole (NaN: not to be
 * shown).
 */
struct fg_remainder {
	double delta; /* NaN: nothing is left, or it is not known */
	double share;
};
struct fg_remainder fg_report_everything_else(const struct fg_blame *blame, size_t shown);
/* "duet", or "mixed" when the benchmarks did not all run alike. */
const char *fg_report_schedule(const struct fg_verdict *verdict);
/* Is there a change worth a number, or only an outcome? */
bool fg_report_has_change(const struct fg_metric_verdict *metric);
/* "regressed", "could not be measured": after a number of benchmarks. */
const char *fg_report_outcome_words(enum fg_outcome outcome);
/* "regression: 1 of 5 benchmarks regressed, 4 pass" */
void fg_report_add_summary(struct fg_strbuf *text, const struct fg_verdict *verdict);

#endif
