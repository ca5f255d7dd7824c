/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Output of benchmark harnesses: one execution of a harness yields several cases, each with its own
 * metrics.
 *
 * The table in harness.c names the options that each harness needs; docs/harnesses.md shows them.
 * Times become nanoseconds: cpu_time and wall_time are the built-in metrics of these names, and
 * everything else (counters) becomes another metric of the case.
 */
#ifndef FG_RUNNER_HARNESS_H
#define FG_RUNNER_HARNESS_H

#include "base/arena.h"
#include "base/error.h"
#include "model/plan.h"

struct fg_harness_value {
	const char *metric;
	const char *unit;
	enum fg_better better;
	double value;
	unsigned repeated; /* number of values averaged; 0 means 1 */
};

struct fg_harness_case {
	const char *name;
	struct fg_harness_value *values;
	size_t value_count;
	size_t value_capacity;
};

/* Names of cases and metrics live in the arena. */
struct fg_harness_report {
	struct fg_arena arena;
	struct fg_harness_case *cases;
	size_t case_count;
	size_t case_capacity;
};

/*
 * `text` may have other lines before and after the harness's own output. FG_ECHILD: that output is
 * missing, broken, or has no case (a filter that matches nothing measures nothing). A filled report
 * must be released.
 */
int fg_harness_parse(enum fg_harness harness, const char *text, size_t size,
		     struct fg_harness_report *report, struct fg_error *err) FG_NODISCARD;
/* Drops all cases except the named ones. FG_ECHILD: no named case exists. */
int fg_harness_keep(struct fg_harness_report *report, const char *const *names, size_t count,
		    struct fg_error *err) FG_NODISCARD;
void fg_harness_report_release(struct fg_harness_report *report);

/* ---- extract.c ---- */

struct fg_extractor; /* the compiled expressions of one benchmark */

struct fg_extract_source {
	const char *stdout_text; /* NUL-terminated */
	size_t stdout_size;
	const char *stderr_text;
	size_t stderr_size;
	bool cut; /* only a part of the output was kept */
	const char *working_directory;
};

/* FG_EPARSE: an invalid expression. The metrics must outlive the extractor. */
int fg_extractor_create(const struct fg_user_metric *metrics, size_t count,
			struct fg_extractor **extractor, struct fg_error *err) FG_NODISCARD;
/* Sets one value per metric. FG_ECHILD: the metric that `err` names is missing or not a number. */
int fg_extractor_run(const struct fg_extractor *extractor, const struct fg_extract_source *source,
		     double *values, struct fg_error *err) FG_NODISCARD;
void fg_extractor_free(struct fg_extractor *extractor); /* NULL does nothing */

#endif
