/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What we ask git.  The program `git` is run, never a shell; variables that a surrounding git (a
 * hook) has set are taken out of its environment, except where the index of a commit in the making
 * is what is asked for.
 */
#ifndef FG_RUNNER_GIT_H
#define FG_RUNNER_GIT_H

#include "base/error.h"
#include "model/run.h"

#include <signal.h>

struct fg_git {
	const char *folder;     /* commands are run in it */
	const char *head;       /* what a merge-base is asked for; NULL: HEAD */
	const char *index_file; /* GIT_INDEX_FILE for this command; NULL: the usual one */
	const volatile sig_atomic_t *interrupted; /* may be NULL */
};

/*
 * Trimmed standard output of `git ARGUMENTS...` (NULL at the end), to be freed.  FG_ECHILD with
 * git's last words.
 */
int fg_git_output(const struct fg_git *git, const char *const *arguments, char **text,
		  struct fg_error *err) FG_NODISCARD;
/*
 * The variables git itself would not pass on, taken out of ours: for commands run in a checkout.
 * To be freed as a whole.
 */
char **fg_git_clean_environment(const struct fg_git *git);
void fg_git_environment_free(char **environment);

/*
 * commit, branch and dirty of a working tree, the fact git.tag where HEAD has one, and git.subject.
 * A detached HEAD is on the branch that the CI says it is.  Outside a repository nothing is filled,
 * and that is no error.
 */
int fg_git_describe_side(const struct fg_git *git, struct fg_side *side, struct fg_error *err)
	FG_NODISCARD;

/* The first line of its commit's message, as the fact git.subject. */
void fg_git_note_subject(const struct fg_git *git, struct fg_side *side);

/*
 * A ref, a hash or "merge-base" → the full hash, and what it means in words ("merge-base with
 * origin/main"). merge-base: with the branch that a CI names as the target, else the remote's
 * default branch, else main or master.  On that very branch it is HEAD itself when the tree is
 * dirty, and its first parent when it is clean. In a shallow clone that lacks it the error says how
 * to deepen.
 */
int fg_git_resolve(const struct fg_git *git, const char *ref, char **commit, char **words,
		   struct fg_error *err) FG_NODISCARD;

/*
 * What is staged (in a hook: what is being committed), as a commit that no branch knows; the same
 * index gives the same hash, and with nothing staged it is HEAD.  Neither the index nor a file of
 * the working tree is written to.
 */
int fg_git_commit_staged(const struct fg_git *git, char **commit, struct fg_error *err)
	FG_NODISCARD;

/*
 * The work tree as it is now, as a commit that no branch knows: uncommitted changes and untracked
 * files that are not ignored belong to it; `left_out` (an absolute folder, may be NULL) does not.
 * FG_EINVAL: a submodule has changes that are not committed there, which no commit here can hold.
 */
int fg_git_commit_work_tree(const struct fg_git *git, const char *left_out, char **commit,
			    struct fg_error *err) FG_NODISCARD;

/*
 * `base` with these files and folders as they are in `source`, as a commit that no branch knows.
 * Paths (NULL at the end) begin at git->folder.  FG_ENOENT: `source` has no such path.
 */
int fg_git_commit_with_files(const struct fg_git *git, const char *base, const char *source,
			     const char *const *paths, char **commit, struct fg_error *err)
	FG_NODISCARD;

/* The hash of a commit's tree (to be freed); NULL if there is no such commit. */
char *fg_git_tree_of(const struct fg_git *git, const char *commit);
/* From here on this process and those that it starts know nothing of the hook that it runs in. */
void fg_git_forget_hook(void);

/*
 * Folder of the repository's top ("prefix" is the way from there to git->folder, "" or "a/b/");
 * both to be freed.
 */
int fg_git_locate(const struct fg_git *git, char **top, char **prefix, struct fg_error *err)
	FG_NODISCARD;

/*
 * The messages of the commits that `to` has and `from` has not, newest first: hash, newline,
 * message, NUL, and so on.
 */
int fg_git_messages(const struct fg_git *git, const char *from, const char *to, char **text,
		    size_t *size, struct fg_error *err) FG_NODISCARD;

#endif
