/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which benchmark of the baseline is which of ours.  The list in fastgate.yml changes like any
 * other source: benchmarks come, go, and get new names and other programs.
 */
#ifndef FG_CLI_SESSION_BASELINE_MATCH_H
#define FG_CLI_SESSION_BASELINE_MATCH_H

#include "model/plan.h"
#include "model/run.h"

struct fg_match {
	struct fg_plan baseline; /* its own fastgate.yml; commands of ours may point into it */
	bool has_baseline;
	const char **gone; /* names that only it has */
	size_t gone_count;
};

/*
 * With the checked out and built baseline at `root`: a benchmark of `plan` whose program is not
 * there, but which its own fastgate.yml knows (by its name or what it `was`), runs in the baseline
 * as that says.  A baseline without a fastgate.yml that can be read is taken as it is.  Zero is
 * empty; release it after the plan was used for the last time.
 */
void fg_match_commit(struct fg_match *match, struct fg_plan *plan, const char *root);
void fg_match_release(struct fg_match *match);

/* In a stored run, what a benchmark of `plan` `was` gets its present name. */
void fg_match_stored(const struct fg_plan *plan, struct fg_run *run);

#endif
