/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matches benchmarks of the baseline with ours. The list in fastgate.yml changes like any other
 * source: benchmarks are added, removed, renamed, and get new programs.
 */
#ifndef FG_CLI_SESSION_BASELINE_MATCH_H
#define FG_CLI_SESSION_BASELINE_MATCH_H

#include "model/plan.h"
#include "model/run.h"

struct fg_match {
	struct fg_plan baseline; /* its own fastgate.yml; commands of ours may point into it */
	bool has_baseline;
	const char **gone; /* names that exist only in the baseline */
	size_t gone_count;
};

/*
 * With the baseline checked out and built at `root`: a benchmark of `plan` whose program does not
 * exist there, but which the baseline's own fastgate.yml knows (by its name or by `was`), runs as
 * that file says. A baseline without a readable fastgate.yml is left as it is. A zeroed struct is
 * empty; release it after the last use of the plan.
 */
void fg_match_commit(struct fg_match *match, struct fg_plan *plan, const char *root);
void fg_match_release(struct fg_match *match);

/* Renames the series of a stored run according to `was`. */
void fg_match_stored(const struct fg_plan *plan, struct fg_run *run);

#endif
