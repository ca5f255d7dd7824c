/* SPDX-License-Identifier: Apache-2.0 */
/* Formats changes, intervals, levels and times for people. Private to reporters/. */
#ifndef FG_REPORTERS_FIGURES_H
#define FG_REPORTERS_FIGURES_H

#include "base/strbuf.h"
#include "model/verdict.h"

/* Rounds to the precision that a chart needs. */
double fg_report_four_digits(double value);
/* Adds "+4.8 %", or nothing if unknown. */
void fg_report_add_change(struct fg_strbuf *text, const struct fg_metric_verdict *metric);
/* Adds "[+3.1, +6.6]", with "…" for open ends, or nothing if unknown. */
void fg_report_add_interval(struct fg_strbuf *text, const struct fg_metric_verdict *metric);
/* Adds "210 ms → 220 ms", or only the level that is known. */
void fg_report_add_levels(struct fg_strbuf *text, const struct fg_metric_verdict *metric);
/*
 * Adds "this run could have detected a change of 1.2 % or more"; returns false and adds nothing if
 * unknown.
 */
bool fg_report_add_detectable(struct fg_strbuf *text, const struct fg_metric_verdict *metric);
/*
 * Adds "22 pairs, 7 s", or nothing if nothing was compared. `headline` may be NULL. Measures
 * counted separately have counts, not pairs.
 */
void fg_report_add_effort(struct fg_strbuf *text, const struct fg_benchmark_verdict *benchmark,
			  const struct fg_metric_verdict *headline);
/* Is this the unit of times in verdicts? */
bool fg_report_is_time(const char *unit);
/* Adds the amount of a measure, without a sign: "9.7 ms", "1.2 MiB". */
void fg_report_add_amount(struct fg_strbuf *text, const char *unit, double amount);
/* Adds a signed difference of a measure: "+9.7 ms", "+1.2 MiB", "+1". */
void fg_report_add_delta(struct fg_strbuf *text, const char *unit, double delta);
/*
 * Adds functions that may have changed, in plain text: "scan +1.1 ms, fit +0.4 ms". May add
 * nothing.
 */
void fg_report_add_not_sure(struct fg_strbuf *text, const struct fg_blame *blame, size_t columns);
/* Adds "accepted up to +10 % until 2027-03-01: larger cache (fastgate.yml:31)". */
void fg_report_add_accept(struct fg_strbuf *text, const struct fg_accept *accept);

/*
 * Adds "612 samples a second, ...; on this host, delivering a signal costs 3 µs ...; CLOCK; not
 * seen: ...".
 */
void fg_report_add_sampling(struct fg_strbuf *text, const struct fg_sampling *sampling);

/* Adds the reasons why a repetition does not count, "warmup+steal"; adds nothing if it counts. */
void fg_report_add_aside(struct fg_strbuf *text, unsigned aside);

#endif
