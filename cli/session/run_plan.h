/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plan from end to end: builds both sides, measures and judges the chosen benchmarks, then
 * stores, reports, uploads and posts the run.
 */
#ifndef FG_CLI_SESSION_RUN_PLAN_H
#define FG_CLI_SESSION_RUN_PLAN_H

#include "cli/framework/command.h"
#include "model/plan.h"

/* A command's request; zero: every benchmark of the plan, stored, reported and posted. */
struct fg_run_request {
	char *const *names; /* names of benchmarks */
	size_t name_count;
	const char *shard;       /* "2/8"; NULL: all of them */
	const char *candidate;   /* a git ref; NULL: the work tree */
	bool staged;             /* the candidate is the staged changes */
	bool in_place;           /* the candidate is the work tree itself, not a snapshot */
	const char *export_path; /* also write the run to this file; needs the store */
	bool quick;
	bool affected; /* only benchmarks that a change can touch; implied by `quick` */
	bool exact;    /* no pairs: count once per side */
	bool resume;
	bool keep_traces;
	bool no_store;
	bool no_post;
};

/*
 * Returns the exit code, or a negative status. The accepted slowdowns of the commits, and how its
 * benchmarks run in the baseline, are added to `plan`. Call fg_session_guard() first.
 */
int fg_session_run_plan(struct fg_cli *cli, const struct fg_run_request *request,
			struct fg_plan *plan, struct fg_error *err) FG_NODISCARD;

#endif
