/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The user's own metrics: a number out of what a program printed or wrote to a file.
 *
 * regex         POSIX extended; the first group is the number (the whole match if it has none).
 *               Output is searched line by line, stdout before stderr, and the last line that
 *               matches counts: programs print their progress first.
 * json_pointer  RFC 6901, into stdout (or the file) as one JSON text.
 */
#ifndef FG_RUNNER_EXTRACT_H
#define FG_RUNNER_EXTRACT_H

#include "base/error.h"
#include "model/plan.h"

struct fg_extractor; /* the compiled expressions of one benchmark */

struct fg_extract_source {
	const char *stdout_text; /* NUL-terminated */
	size_t stdout_size;
	const char *stderr_text;
	size_t stderr_size;
	bool cut; /* the output was longer than what was kept */
	const char *working_directory;
};

/* FG_EPARSE: an invalid expression.  The metrics must outlive the extractor. */
int fg_extractor_create(const struct fg_user_metric *metrics, size_t count,
			struct fg_extractor **extractor, struct fg_error *err) FG_NODISCARD;
/* One value per metric.  FG_ECHILD with the metric's name if one is missing or not a number. */
int fg_extractor_run(const struct fg_extractor *extractor, const struct fg_extract_source *source,
		     double *values, struct fg_error *err) FG_NODISCARD;
void fg_extractor_free(struct fg_extractor *extractor); /* NULL does nothing */

#endif
