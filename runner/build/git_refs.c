// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "runner/build/git.h"

#include <string.h>

static bool is_shallow(const struct fg_git *git)
{
	char *answer = FG_GIT_TRY_OUTPUT(git, "rev-parse", "--is-shallow-repository");
	const bool shallow = answer && strcmp(answer, "true") == 0;

	free(answer);
	return shallow;
}

static int explain_missing(const struct fg_git *git, const char *what, struct fg_error *err)
{
	if (is_shallow(git))
		return fg_error_set(
			err, FG_ENOENT,
			"%s is not in this clone, which is shallow: run 'git fetch --unshallow' "
			"first (on GitHub: fetch-depth: 0 for actions/checkout; on GitLab: "
			"GIT_DEPTH: 0)",
			what);
	return fg_error_set(err, FG_ENOENT, "%s does not exist in this repository", what);
}

/*
 * Variables in which CI systems name the branch that this change will be merged into; NULL at the
 * end.
 */
static const char *const target_variables[] = {
	"GITHUB_BASE_REF",
	"CI_MERGE_REQUEST_TARGET_BRANCH_NAME",
	"CHANGE_TARGET", /* Jenkins */
	"BITBUCKET_PR_DESTINATION_BRANCH",
	"SYSTEM_PULLREQUEST_TARGETBRANCH", /* Azure */
	NULL,
};

static const char *const usual_targets[] = {"origin/main", "origin/master", "main", "master", NULL};

static char *existing_ref(const struct fg_git *git, const char *ref)
{
	char *commit = fg_git_find_commit(git, ref);
	const bool exists = commit != NULL;

	free(commit);
	return exists ? fg_xstrdup(ref) : NULL;
}

/* Returns the branch that HEAD will be merged into, or NULL. */
static char *find_target(const struct fg_git *git)
{
	char *ref = NULL;

	for (size_t i = 0; target_variables[i] && !ref; i++) {
		const char *branch = getenv(target_variables[i]);

		if (!branch || !*branch)
			continue;
		if (fg_text_starts_with(branch, "refs/heads/"))
			branch += strlen("refs/heads/");
		char *remote = fg_xasprintf("origin/%s", branch);

		ref = existing_ref(git, remote);
		free(remote);
		if (!ref)
			ref = existing_ref(git, branch);
	}
	if (!ref)
		ref = FG_GIT_TRY_OUTPUT(git, "symbolic-ref", "--short", "--quiet",
					"refs/remotes/origin/HEAD");
	for (size_t i = 0; usual_targets[i] && !ref; i++)
		ref = existing_ref(git, usual_targets[i]);
	return ref;
}

static const char *head_name(const struct fg_git *git)
{
	return git->head ? git->head : "HEAD";
}

/* With HEAD on the target branch, takes HEAD's parent, or HEAD itself if the tree has changes. */
static int resolve_on_target(const struct fg_git *git, const char *head, char **commit,
			     char **words, struct fg_error *err)
{
	char *changes =
		git->head ? NULL
			  : FG_GIT_TRY_OUTPUT(git, "status", "--porcelain", "--untracked-files=no");
	const bool dirty = changes && *changes;
	char *parent_of_head = fg_xasprintf("%s^1", head);
	char *parent = NULL;

	free(changes);
	if (dirty) {
		free(parent_of_head);
		*commit = fg_xstrdup(head);
		*words = fg_xstrdup("HEAD (the work tree has changes)");
		return FG_OK;
	}
	parent = fg_git_find_commit(git, parent_of_head);
	free(parent_of_head);
	if (!parent && is_shallow(git))
		return explain_missing(git, "HEAD's parent", err);
	if (!parent)
		return fg_error_set(
			err, FG_ENOENT,
			"the first commit of a repository has no earlier commit to compare with");
	*commit = parent;
	*words = fg_xasprintf("%s^ (%s is on the target branch)", head_name(git), head_name(git));
	return FG_OK;
}

static int explain_no_target(const struct fg_git *git, struct fg_error *err)
{
	if (is_shallow(git))
		return explain_missing(git, "the target branch", err);
	return fg_error_set(
		err, FG_ENOENT,
		"no target branch was found (tried origin/HEAD, origin/main, origin/master, main, "
		"master): name a ref instead of merge-base");
}

static int resolve_merge_base(const struct fg_git *git, char **commit, char **words,
			      struct fg_error *err)
{
	char *head = fg_git_find_commit(git, head_name(git));
	char *target = find_target(git);
	char *base = NULL;
	int status = FG_OK;

	if (!head) {
		status = fg_error_set(err, FG_ENOENT,
				      "'%s' has no commit yet, so there is no merge-base",
				      git->folder);
		goto out;
	}
	if (!target) {
		status = explain_no_target(git, err);
		goto out;
	}
	base = FG_GIT_TRY_OUTPUT(git, "merge-base", head, target);
	if (!base) {
		char *what = fg_xasprintf("the merge-base of %s and %s", head_name(git), target);

		status = explain_missing(git, what, err);
		free(what);
	} else if (strcmp(base, head) == 0) {
		status = resolve_on_target(git, head, commit, words, err);
	} else {
		*commit = base;
		*words = fg_xasprintf("merge-base with %s", target);
		base = NULL;
	}
out:
	free(base);
	free(target);
	free(head);
	return status;
}

int fg_git_resolve(const struct fg_git *git, const char *ref, char **commit, char **words,
		   struct fg_error *err)
{
	char *inside = FG_GIT_TRY_OUTPUT(git, "rev-parse", "--is-inside-work-tree");
	const bool is_tree = inside && strcmp(inside, "true") == 0;
	char *found = NULL;
	char *what = NULL;
	int status = FG_OK;

	free(inside);
	if (!is_tree)
		return fg_error_set(err, FG_ENOENT,
				    "'%s' is not in a git work tree, so there is no '%s'",
				    git->folder, ref);
	if (strcmp(ref, "merge-base") == 0)
		return resolve_merge_base(git, commit, words, err);
	found = fg_git_find_commit(git, ref);
	if (!found) {
		what = fg_xasprintf("'%s'", ref);
		status = explain_missing(git, what, err);
		free(what);
		return status;
	}
	*commit = found;
	*words = fg_xstrdup(ref);
	return FG_OK;
}
