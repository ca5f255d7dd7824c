/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two sides of a run. The candidate is a snapshot of the work tree (against a commit), the work
 * tree itself, or a commit (including what is staged) built in a worktree of its own; the baseline
 * is a commit, a stored run, or nothing. The configuration and the command line are applied here.
 */
#ifndef FG_CLI_SESSION_ARMS_H
#define FG_CLI_SESSION_ARMS_H

#include "cli/session/baseline_match.h"
#include "cli/session/session.h"
#include "runner/build/worktree.h"

struct fg_arms {
	struct fg_worktree worktrees[FG_ARM_COUNT];
	bool has_worktree[FG_ARM_COUNT];
	char *candidate_commit;        /* what it is built from; NULL: the work tree in place */
	struct fg_match match;         /* of the baseline's benchmarks, where it is a commit */
	struct fg_stored_run baseline; /* a stored run to compare with */
	bool has_baseline;
	struct fg_stored_history history;   /* of its branch */
	struct fg_store *store;             /* that it comes from */
	struct fg_stored_history *profiled; /* likewise, once a function was asked about */
};

/*
 * Finds the baseline that `plan` names, builds both sides if a build is configured, and fills the
 * session's roots and the sides of its run. `plan` is the session's; it learns how its benchmarks
 * run in the baseline. FG_ENOENT: no such baseline (yet); the message says what was looked for.
 */
int fg_arms_open(struct fg_arms *arms, struct fg_session *session, struct fg_plan *plan,
		 struct fg_error *err) FG_NODISCARD;
/*
 * As above for a run that was already measured: without a baseline of its own it gets the stored
 * one that `plan` names.
 */
int fg_arms_open_stored(struct fg_arms *arms, struct fg_session *session, struct fg_error *err)
	FG_NODISCARD;
/* Fills in what the gate needs to know about the arms. */
void fg_arms_describe(struct fg_arms *arms, struct fg_gate_input *input);
/*
 * Adds accepted slowdowns from the commits between the two sides ("Fastgate-Accept: ...") to every
 * policy of the plan. A malformed line is reported and skipped.
 */
void fg_arms_add_accepts(struct fg_session *session, struct fg_plan *plan);
void fg_arms_close(struct fg_arms *arms);

#endif
