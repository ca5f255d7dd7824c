/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A commit checked out and built beside the working tree: the other side of `--against`.
 *
 * It lies in STATE/builds/KEY/tree, a git worktree without a branch.  KEY is a digest of the
 * commit's tree and of what it is built with, so the second run with the same settings builds
 * nothing.  A lock file per key keeps parallel jobs from building the same twice; one that many can
 * share keeps them from clearing away what another one measures, and is held until
 * fg_worktree_close(). A build that was cut off left no mark of success and is done again from the
 * beginning.
 */
#ifndef FG_RUNNER_WORKTREE_H
#define FG_RUNNER_WORKTREE_H

#include "base/error.h"
#include "model/plan.h"

#include <signal.h>

struct fg_worktree_options {
	const char *root;                         /* the plan's: the folder of fastgate.yml */
	const char *state_folder;                 /* ".fastgate" */
	const char *commit;                       /* full hash */
	const struct fg_build *build;             /* command.argc 0: nothing is built */
	const volatile sig_atomic_t *interrupted; /* may be NULL */
	void *context;
	void (*on_note)(void *context, const char *note); /* "building 1a2b3c4"; may be NULL */
};

struct fg_worktree {
	char *root;  /* what corresponds to the plan's root */
	bool cached; /* it was built already */
	int lock_fd;
};

/*
 * FG_ECHILD: it does not build.  `tail` (may be NULL) then gets the last lines of the build's
 * output, to be freed; all of it is in the log that the message names.
 */
int fg_worktree_open(const struct fg_worktree_options *options, struct fg_worktree *worktree,
		     char **tail, struct fg_error *err) FG_NODISCARD;
void fg_worktree_close(struct fg_worktree *worktree);

/* The build command in any folder: for the working tree.  As above; one at a time for each log. */
int fg_worktree_build(const struct fg_worktree_options *options, const char *root,
		      const char *log_path, char **tail, struct fg_error *err) FG_NODISCARD;

/* Clear away built commits but the `keep` used last; those in use stay. */
int fg_worktree_prune(const char *root, const char *state_folder, size_t keep, size_t *removed,
		      struct fg_error *err) FG_NODISCARD;

#endif
