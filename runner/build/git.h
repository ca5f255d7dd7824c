/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queries to git. Runs the `git` program directly, never through a shell. Variables set by a
 * surrounding git (a hook) are removed from its environment, except to query the index of the
 * commit being made.
 */
#ifndef FG_RUNNER_GIT_H
#define FG_RUNNER_GIT_H

#include "base/error.h"
#include "model/run.h"

#include <signal.h>

struct fg_git {
	const char *folder;     /* working directory of the git commands */
	const char *head;       /* the commit to find the merge base of; NULL: HEAD */
	const char *index_file; /* GIT_INDEX_FILE for this command; NULL: the usual index */
	const volatile sig_atomic_t *interrupted; /* may be NULL */
};

/*
 * Gets the trimmed standard output of `git ARGUMENTS...` (NULL at the end), which the caller frees.
 * FG_ECHILD: git failed; the message has the last line of git's output.
 */
int fg_git_output(const struct fg_git *git, const char *const *arguments, char **text,
		  struct fg_error *err) FG_NODISCARD;
/* Runs git and discards its output. */
int fg_git_run(const struct fg_git *git, const char *const *arguments, struct fg_error *err)
	FG_NODISCARD;
#define FG_GIT_RUN(git, err, ...) fg_git_run(git, (const char *const[]){__VA_ARGS__, NULL}, err)
/* Like fg_git_output(), but returns NULL if git fails. */
char *fg_git_try_output(const struct fg_git *git, const char *const *arguments);
#define FG_GIT_TRY_OUTPUT(git, ...) fg_git_try_output(git, (const char *const[]){__VA_ARGS__, NULL})

/*
 * Returns our environment without the variables that redirect git, for commands run in a checkout.
 * The caller frees it with fg_free_words().
 */
char **fg_git_clean_environment(const struct fg_git *git);

/*
 * Fills commit, branch and dirty of a working tree, the fact git.tag if the tree is clean and HEAD
 * has a tag, and the facts of fg_git_note_subject(). For a detached HEAD, the CI system's variables
 * name the branch. Outside a repository nothing is filled and FG_OK is returned.
 */
int fg_git_describe_side(const struct fg_git *git, struct fg_side *side, struct fg_error *err)
	FG_NODISCARD;

/* Records the first line of the commit's message, and the author: git.subject, git.author. */
void fg_git_note_subject(const struct fg_git *git, struct fg_side *side);
/* Records the pull or merge request that the CI job is for: git.pull_request, "#41" or "!41". */
void fg_git_note_request(struct fg_side *side);
/*
 * Records the number of commits that the candidate adds, if it descends from the baseline:
 * git.commits.
 */
void fg_git_note_commits(const struct fg_git *git, const struct fg_side *baseline,
			 struct fg_side *candidate);

/*
 * Turns a ref, a hash or "merge-base" into the full hash, and into words ("merge-base with
 * origin/main"). The merge base is taken with the branch that a CI system names as the target, else
 * with the remote's default branch, else with main or master. If HEAD is on that branch, the result
 * is HEAD if the tree is dirty, otherwise HEAD's first parent. If a shallow clone lacks the commit,
 * the error says how to deepen it.
 */
int fg_git_resolve(const struct fg_git *git, const char *ref, char **commit, char **words,
		   struct fg_error *err) FG_NODISCARD;

/*
 * Makes a commit that no branch refers to from the staged content (in a hook: the content being
 * committed). The same index gives the same hash; with nothing staged, the commit is HEAD. Neither
 * the index nor the working tree is written to.
 */
int fg_git_commit_staged(const struct fg_git *git, char **commit, struct fg_error *err)
	FG_NODISCARD;

/*
 * Makes a commit that no branch refers to from the work tree as it is now: with uncommitted changes
 * and untracked files that are not ignored, without `left_out` (an absolute folder, may be NULL).
 * FG_EINVAL: a submodule has uncommitted changes, which a commit of this repository cannot hold.
 */
int fg_git_commit_work_tree(const struct fg_git *git, const char *left_out, char **commit,
			    struct fg_error *err) FG_NODISCARD;

/*
 * Makes a commit that no branch refers to from `base`, with these files and folders replaced by
 * their state in `source`. Paths (NULL at the end) are relative to git->folder. FG_ENOENT: `source`
 * lacks a path.
 */
int fg_git_commit_with_files(const struct fg_git *git, const char *base, const char *source,
			     const char *const *paths, char **commit, struct fg_error *err)
	FG_NODISCARD;

/*
 * Returns the hash of the commit that `ref` names, which the caller frees; NULL if there is no such
 * commit.
 */
char *fg_git_find_commit(const struct fg_git *git, const char *ref);
/* Is this path, relative to git->folder, in the commit? */
bool fg_git_has(const struct fg_git *git, const char *commit, const char *path);
/* Is this path ignored by the repository's rules? */
bool fg_git_ignores(const struct fg_git *git, const char *path);
/* Returns the hash of a commit's tree, which the caller frees; NULL if there is no such commit. */
char *fg_git_tree_of(const struct fg_git *git, const char *commit);
/* Removes the variables of a surrounding hook from this process and its later children. */
void fg_git_forget_hook(void);

/*
 * Finds the repository's top folder, and the prefix from there to git->folder ("" or "a/b"). The
 * caller frees both.
 */
int fg_git_locate(const struct fg_git *git, char **top, char **prefix, struct fg_error *err)
	FG_NODISCARD;

/*
 * Gets the messages of at most 1,000 commits reachable from `to` but not from `from`, newest first:
 * hash, newline, message, NUL, repeated.
 */
int fg_git_messages(const struct fg_git *git, const char *from, const char *to, char **text,
		    size_t *size, struct fg_error *err) FG_NODISCARD;

#endif
