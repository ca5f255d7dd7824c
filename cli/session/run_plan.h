/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plan from end to end: both sides are built, the chosen benchmarks measured and judged, the run
 * kept, reported, uploaded and posted.
 */
#ifndef FG_CLI_SESSION_RUN_PLAN_H
#define FG_CLI_SESSION_RUN_PLAN_H

#include "cli/framework/command.h"
#include "model/plan.h"

/* What a command asks for; zero: every benchmark of the plan, kept, reported and posted. */
struct fg_run_request {
	char *const *names; /* of benchmarks */
	size_t name_count;
	const char *shard;       /* "2/8"; NULL: all of them */
	const char *candidate;   /* a git ref; NULL: the work tree, */
	bool staged;             /* or what is staged in it */
	bool in_place;           /* the work tree itself, not a snapshot of it */
	const char *export_path; /* a file for the run as well; needs the store */
	bool quick;
	bool affected; /* only benchmarks that a change can touch; `quick` implies it */
	bool exact;    /* no pairs: counted once a side */
	bool resume;
	bool keep_traces;
	bool no_store;
	bool no_post;
};

/*
 * Returns the exit code, or a negative status.  `plan` learns the accepted slowdowns of the commits
 * and how its benchmarks run in the baseline.  Call fg_session_guard() first.
 */
int fg_session_run_plan(struct fg_cli *cli, const struct fg_run_request *request,
			struct fg_plan *plan, struct fg_error *err) FG_NODISCARD;

#endif
