/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One side of a run, checked out and built beside the work tree.
 *
 * It lies in STATE/builds/KEY/tree, a git worktree without a branch; keys are of one length, so the
 * paths of both sides are.  For a commit, KEY is a digest of its tree and of what it is built with:
 * the second run with the same settings builds nothing, and many runs share the build.  A snapshot
 * of the work tree has a KEY that stays: its files are changed in place and built incrementally,
 * and it belongs to one run at a time; other runs take the next one.
 *
 * A lock file per key keeps parallel jobs from building the same twice, and from removing what
 * another one measures; it is held until fg_worktree_close().  A build that was cut off is done
 * again from the beginning.
 */
#ifndef FG_RUNNER_WORKTREE_H
#define FG_RUNNER_WORKTREE_H

#include "base/error.h"
#include "model/plan.h"

#include <signal.h>

enum {
	FG_WORKTREE_KEY_LENGTH = 16
};

struct fg_worktree_options {
	const char *root;             /* the plan's: the folder of fastgate.yml */
	const char *state_folder;     /* ".fastgate" */
	const char *commit;           /* full hash */
	const char *known_as;         /* the commit that is meant; NULL: `commit` */
	bool snapshot;                /* the commit is one of fg_git_commit_work_tree() */
	const struct fg_build *build; /* command.argc 0: nothing is built */
	const volatile sig_atomic_t *interrupted; /* may be NULL */
	void *context;
	void (*on_note)(void *context, const char *note); /* "building 1a2b3c4"; may be NULL */
};

struct fg_worktree {
	char *root;  /* what corresponds to the plan's root */
	char *tree;  /* the whole checkout */
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
/*
 * Before anything is built: could this commit be checked out, with the submodules that it needs?
 */
int fg_worktree_check(const struct fg_worktree_options *options, struct fg_error *err) FG_NODISCARD;

/* The build command in any folder: for a work tree that is measured in place. */
int fg_worktree_build(const struct fg_worktree_options *options, const char *root,
		      const char *log_path, char **tail, struct fg_error *err) FG_NODISCARD;

/* Remove all builds but the `keep` used last; those in use stay.  (worktree_prune.c) */
int fg_worktree_prune(const char *root, const char *state_folder, size_t keep, size_t *removed,
		      struct fg_error *err) FG_NODISCARD;

#endif
