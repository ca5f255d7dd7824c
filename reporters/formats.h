/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside reporters/ only: the writers behind the table, and the questions that several of them ask.
 * None of these functions keeps anything.
 */
#ifndef FG_REPORTERS_FORMATS_H
#define FG_REPORTERS_FORMATS_H

#include "base/json_write.h"
#include "reporters/reporter.h"

#define FG_REPORT_ARGUMENTS                                                                       \
 const struct fg_report *report, const struct fg_report_options *options, struct fg_strbuf *text, \
	 struct fg_error *err

int fg_report_terminal(FG_REPORT_ARGUMENTS);
int fg_report_json(FG_REPORT_ARGUMENTS);
int fg_report_html(FG_REPORT_ARGUMENTS);
int fg_report_junit(FG_REPORT_ARGUMENTS);
int fg_report_markdown(FG_REPORT_ARGUMENTS);
int fg_report_comment(FG_REPORT_ARGUMENTS);
int fg_report_github(FG_REPORT_ARGUMENTS);
int fg_report_gitlab(FG_REPORT_ARGUMENTS);
int fg_report_csv(FG_REPORT_ARGUMENTS);
int fg_report_csv_raw(FG_REPORT_ARGUMENTS);

/* --- what.c: questions about a verdict --- */

/*
 * The metric that tells the benchmark's story: the worst of those that took part; NULL when it has
 * none.
 */
const struct fg_metric_verdict *fg_report_headline(const struct fg_benchmark_verdict *benchmark);
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
/* "duet", or "mixed" when the benchmarks did not all run alike. */
const char *fg_report_schedule(const struct fg_verdict *verdict);
/* Is there a change worth a number, or only an outcome? */
bool fg_report_has_change(const struct fg_metric_verdict *metric);
/* Benchmarks with this outcome. */
size_t fg_report_count(const struct fg_verdict *verdict, enum fg_outcome outcome);
/* "regression: 1 of 5 benchmarks regressed, 4 pass" */
void fg_report_add_summary(struct fg_strbuf *text, const struct fg_verdict *verdict);

/* --- json.c, page.c --- */

/* report.json, and for a page what it draws: raw values and the profile. */
void fg_report_add_json(const struct fg_report *report, bool for_page, struct fg_json_writer *w);
void fg_report_add_page_data(const struct fg_report *report, size_t benchmark,
			     struct fg_json_writer *w);

/* --- words.c: names and numbers as people read them --- */

/* Valid UTF-8 without control characters, at most `limit` bytes. */
void fg_report_add_clean(struct fg_strbuf *text, const char *words, size_t limit);
/* "warmup+steal": why a repetition does not count; nothing when it does. */
void fg_report_add_aside(struct fg_strbuf *text, unsigned aside);
/*
 * A symbol's name in at most `columns` columns (0: as long as it is): clean UTF-8; too long, first
 * template arguments, then parameters become "…", then the middle goes.
 */
void fg_report_add_name(struct fg_strbuf *text, const char *name, size_t columns);
/* Without parameters and template arguments: "ns::fit" for "ns::fit<int>(Track&)". */
void fg_report_add_plain_name(struct fg_strbuf *text, const char *name, size_t columns);
/* "main → loop → fit", at most `columns` columns; frames in the middle give way to "…". */
void fg_report_add_path(struct fg_strbuf *text, const struct fg_path_verdict *path, size_t columns);
/* "+4.8 %", or nothing. */
void fg_report_add_change(struct fg_strbuf *text, const struct fg_metric_verdict *metric);
/* "[+3.1, +6.6]", or nothing; open ends are "…". */
void fg_report_add_interval(struct fg_strbuf *text, const struct fg_metric_verdict *metric);
/* "210 ms → 220 ms", or the one that is there. */
void fg_report_add_levels(struct fg_strbuf *text, const struct fg_metric_verdict *metric);
/* "22 pairs, 7 s" */
void fg_report_add_effort(struct fg_strbuf *text, const struct fg_benchmark_verdict *benchmark);
/* "+9.7 ms": a signed difference in milliseconds, in the unit that fits. */
void fg_report_add_delta_ms(struct fg_strbuf *text, double delta_ms);
/* "fit.cpp:88"; the base name only unless `whole`.  Nothing when unknown. */
void fg_report_add_place(struct fg_strbuf *text, const struct fg_node_verdict *node, bool whole);
/* "accepted up to +10 % until 2027-03-01: larger cache (fastgate.yml:31)" */
void fg_report_add_accept(struct fg_strbuf *text, const struct fg_accept *accept);

#endif
