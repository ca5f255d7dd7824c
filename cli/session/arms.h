/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two sides of a run.  The candidate is the work tree, or a commit (what is staged is one)
 * built in a worktree of its own; the baseline is a commit, a stored run, or nothing.  What the
 * configuration and the command line say about them is settled here.
 */
#ifndef FG_CLI_SESSION_ARMS_H
#define FG_CLI_SESSION_ARMS_H

#include "cli/session/baseline_match.h"
#include "cli/session/session.h"
#include "runner/worktree.h"

enum {
	FG_ARMS_HISTORY_MAX = 20
};

struct fg_arms {
	struct fg_worktree worktrees[FG_ARM_COUNT];
	bool has_worktree[FG_ARM_COUNT];
	struct fg_match match;         /* of the baseline's benchmarks, where it is a commit */
	struct fg_stored_run baseline; /* a stored run to compare with */
	bool has_baseline;
	/* earlier runs of its line, oldest first */
	struct fg_stored_run history[FG_ARMS_HISTORY_MAX];
	const struct fg_run *history_runs[FG_ARMS_HISTORY_MAX];
	size_t history_count;
};

/*
 * Settle the baseline that `plan` names, build both sides where a build is configured, and fill the
 * session's roots and the sides of its run; `plan` is the session's, and learns how its benchmarks
 * run in the baseline.  FG_ENOENT: there is no such baseline (yet); the message says what was
 * looked for.
 */
int fg_arms_open(struct fg_arms *arms, struct fg_session *session, struct fg_plan *plan,
		 struct fg_error *err) FG_NODISCARD;
/*
 * The same for a run that was measured already: without its own baseline it gets the stored one
 * that `plan` names.
 */
int fg_arms_open_stored(struct fg_arms *arms, struct fg_session *session, struct fg_error *err)
	FG_NODISCARD;
/* What the gate needs to know about them. */
void fg_arms_describe(const struct fg_arms *arms, struct fg_gate_input *input);
/*
 * Known prices from the commits between the two sides ("Fastgate-Accept: ..."), added to every
 * policy of the plan. A line that does not follow the form is said and left out.
 */
void fg_arms_add_accepts(struct fg_session *session, struct fg_plan *plan);
void fg_arms_close(struct fg_arms *arms);

#endif
