/* SPDX-License-Identifier: Apache-2.0 */
/* One parser per harness, and helpers they share.  FG_ECHILD: unexpected output. */
#ifndef FG_RUNNER_HARNESS_PARSERS_H
#define FG_RUNNER_HARNESS_PARSERS_H

#include "runner/harness/harness.h"

/* Returns NULL at the limit of cases. */
struct fg_harness_case *fg_harness_add(struct fg_harness_report *report, const char *name,
				       size_t length);
/* As above, but returns an existing case of this name, for harnesses that repeat. */
struct fg_harness_case *fg_harness_find_or_add(struct fg_harness_report *report, const char *name,
					       size_t length);
/* Values that are not finite are dropped. */
void fg_harness_add_value(struct fg_harness_report *report, struct fg_harness_case *to,
			  struct fg_harness_value value);
void fg_harness_add_time(struct fg_harness_report *report, struct fg_harness_case *to,
			 const char *metric, double value_ns);
/*
 * Chooses the metric by unit: a time (per operation: "ns/op") is wall_time, a rate ("MB/s",
 * "ops/s") is better when higher, anything else is a metric named after the unit.  Repeated values
 * are averaged.
 */
void fg_harness_add_measured(struct fg_harness_report *report, struct fg_harness_case *to,
			     double value, const char *unit);
/* "us" → 1000; NaN: not a time. */
double fg_harness_unit_ns(const char *unit);

int fg_harness_parse_google(const char *text, size_t size, struct fg_harness_report *report,
			    struct fg_error *err) FG_NODISCARD;
int fg_harness_parse_catch2(const char *text, size_t size, struct fg_harness_report *report,
			    struct fg_error *err) FG_NODISCARD;
int fg_harness_parse_hyperfine(const char *text, size_t size, struct fg_harness_report *report,
			       struct fg_error *err) FG_NODISCARD;
int fg_harness_parse_nanobench(const char *text, size_t size, struct fg_harness_report *report,
			       struct fg_error *err) FG_NODISCARD;
int fg_harness_parse_doctest(const char *text, size_t size, struct fg_harness_report *report,
			     struct fg_error *err) FG_NODISCARD;
int fg_harness_parse_criterion(const char *text, size_t size, struct fg_harness_report *report,
			       struct fg_error *err) FG_NODISCARD;
int fg_harness_parse_cargo(const char *text, size_t size, struct fg_harness_report *report,
			   struct fg_error *err) FG_NODISCARD;
int fg_harness_parse_pytest(const char *text, size_t size, struct fg_harness_report *report,
			    struct fg_error *err) FG_NODISCARD;
int fg_harness_parse_go(const char *text, size_t size, struct fg_harness_report *report,
			struct fg_error *err) FG_NODISCARD;
int fg_harness_parse_lit(const char *text, size_t size, struct fg_harness_report *report,
			 struct fg_error *err) FG_NODISCARD;
int fg_harness_parse_plain(const char *text, size_t size, struct fg_harness_report *report,
			   struct fg_error *err) FG_NODISCARD;
int fg_harness_parse_smaller(const char *text, size_t size, struct fg_harness_report *report,
			     struct fg_error *err) FG_NODISCARD;
int fg_harness_parse_bigger(const char *text, size_t size, struct fg_harness_report *report,
			    struct fg_error *err) FG_NODISCARD;

#endif
