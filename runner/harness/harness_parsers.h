/* SPDX-License-Identifier: Apache-2.0 */
/* One reader per harness, and helpers that the readers share. FG_ECHILD: unexpected output. */
#ifndef FG_RUNNER_HARNESS_PARSERS_H
#define FG_RUNNER_HARNESS_PARSERS_H

#include "base/json.h"
#include "runner/harness/harness.h"

/* Adds a case. Returns NULL at the limit of cases. */
struct fg_harness_case *fg_harness_add(struct fg_harness_report *report, const char *name,
				       size_t length);
/* Finds or adds a case, for harnesses that repeat cases. Returns NULL at the limit of cases. */
struct fg_harness_case *fg_harness_find_or_add(struct fg_harness_report *report, const char *name,
					       size_t length);
/* Values that are not finite are dropped. */
void fg_harness_add_value(struct fg_harness_report *report, struct fg_harness_case *to,
			  struct fg_harness_value value);
void fg_harness_add_time(struct fg_harness_report *report, struct fg_harness_case *to,
			 const char *metric, double value_ns);
/*
 * Chooses the metric by unit: a time (per operation: "ns/op") becomes wall_time. Any other unit
 * becomes a metric named after the unit; higher values are better if it is a rate ("MB/s",
 * "ops/s"). Repeated values are averaged.
 */
void fg_harness_add_measured(struct fg_harness_report *report, struct fg_harness_case *to,
			     double value, const char *unit);
/* Returns the nanoseconds of a unit: 1000 for "us"; NaN: not a unit of time. */
double fg_harness_unit_ns(const char *unit);

/* Readers of one entry of a JSON list, of one line, and of one XML element without its end tag. */
typedef int fg_harness_entry(struct fg_harness_report *report, const cJSON *entry,
			     struct fg_error *err);
typedef void fg_harness_line(struct fg_harness_report *report, char *line);
typedef int fg_harness_element(struct fg_harness_report *report, const char *tag, const char *end,
			       struct fg_error *err);

fg_harness_entry fg_harness_google, fg_harness_hyperfine, fg_harness_nanobench, fg_harness_pytest,
	fg_harness_lit, fg_harness_smaller, fg_harness_bigger;
fg_harness_line fg_harness_go, fg_harness_cargo, fg_harness_criterion, fg_harness_plain;
fg_harness_element fg_harness_catch2, fg_harness_doctest;

/* Reads each entry of the list at `path` ("": the document itself). */
int fg_harness_read_list(const char *text, size_t size, const char *path, fg_harness_entry *read,
			 struct fg_harness_report *report, struct fg_error *err) FG_NODISCARD;
void fg_harness_read_lines(const char *text, size_t size, fg_harness_line *read,
			   struct fg_harness_report *report);
/* Reads each element of this name that is not empty. */
int fg_harness_read_elements(const char *text, size_t size, const char *name,
			     fg_harness_element *read, struct fg_harness_report *report,
			     struct fg_error *err) FG_NODISCARD;

#endif
