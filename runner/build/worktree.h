/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks out and builds one side of a run outside the user's work tree.
 *
 * The side lies in STATE/builds/KEY/tree, a git worktree without a branch. All keys have the same
 * length, so the paths of both sides also have the same length. For a commit, KEY is a digest of
 * its tree, the build command and build variables such as CC: the second run with the same settings
 * builds nothing, and many runs share the build. A snapshot of the work tree keeps its KEY: its
 * files are changed in place and built incrementally, and it belongs to one run at a time;
 * concurrent runs use different trees. A commit that was measured as a snapshot is not built again.
 *
 * A lock file per key keeps parallel jobs from building the same thing twice and from removing a
 * build that another job measures; it is held until fg_worktree_close(). An interrupted build is
 * redone from scratch.
 */
#ifndef FG_RUNNER_WORKTREE_H
#define FG_RUNNER_WORKTREE_H

#include "base/error.h"
#include "model/plan.h"

#include <signal.h>

enum {
	FG_WORKTREE_KEY_LENGTH = 16,
	FG_WORKTREES_KEPT = 6,
};

struct fg_worktree_options {
	const char *root;             /* the plan's root: the folder of fastgate.yml */
	const char *state_folder;     /* ".fastgate" */
	const char *commit;           /* full hash */
	const char *known_as;         /* the commit to report instead; NULL: `commit` */
	bool snapshot;                /* the commit comes from fg_git_commit_work_tree() */
	bool apart;                   /* do not share the build with other runs of the commit */
	const char *baseline;         /* with `snapshot`: the baseline, whose build is left alone */
	size_t keep;                  /* builds to keep afterwards; 0: FG_WORKTREES_KEPT */
	const struct fg_build *build; /* command.argc 0: nothing to build */
	int64_t ends_ns;              /* time limit of a build, on the monotonic clock; 0: none */
	const volatile sig_atomic_t *interrupted; /* may be NULL */
	void *context;
	void (*on_note)(void *context, const char *note); /* "building 1a2b3c4"; may be NULL */
};

struct fg_worktree {
	char *root;  /* the plan's root within the checkout */
	char *tree;  /* the whole checkout */
	bool cached; /* an earlier build was reused */
	int lock_fd;
	/*
	 * content of the mark (the file that names the built tree), which is removed while this run
	 * has the build to itself; NULL: the build is shared
	 */
	char *claimed;
};

/*
 * FG_ECHILD: the build failed. `tail` (may be NULL) then gets the last lines of its output, which
 * the caller frees; the message names the log with the whole output. FG_ETIMEOUT: the build ran
 * until `ends_ns`.
 */
int fg_worktree_open(const struct fg_worktree_options *options, struct fg_worktree *worktree,
		     char **tail, struct fg_error *err) FG_NODISCARD;
/*
 * Claims the tree for this run alone, which may then change the tree's files. fg_worktree_close()
 * restores the files that git tracks. A tree that a killed run leaves behind is built again.
 * FG_ECONFLICT: another run uses the tree.
 */
int fg_worktree_claim(struct fg_worktree *worktree, struct fg_error *err) FG_NODISCARD;
void fg_worktree_close(struct fg_worktree *worktree);

/* Runs the build command in any folder, for a work tree that is measured in place. */
int fg_worktree_build(const struct fg_worktree_options *options, const char *root,
		      const char *log_path, char **tail, struct fg_error *err) FG_NODISCARD;

/*
 * Removes all builds except the `keep` most recently used; builds in use stay. (worktree_prune.c)
 */
int fg_worktree_prune(const char *root, const char *state_folder, size_t keep, size_t *removed,
		      struct fg_error *err) FG_NODISCARD;

#endif
