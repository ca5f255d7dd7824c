// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "runner/build/git.h"

#include <string.h>

/*
 * Variables in which CI systems name the checked-out branch, because these systems leave HEAD
 * detached; NULL at the end.
 */
static const char *const branch_variables[] = {
	"GITHUB_HEAD_REF",
	"CI_MERGE_REQUEST_SOURCE_BRANCH_NAME",
	"CI_COMMIT_BRANCH",
	"CHANGE_BRANCH", /* Jenkins */
	"BRANCH_NAME",
	"BITBUCKET_BRANCH",
	"SYSTEM_PULLREQUEST_SOURCEBRANCH", /* Azure */
	"BUILD_SOURCEBRANCH",
	"GITHUB_REF",
	NULL,
};

static char *branch_of_ci(void)
{
	static const char heads[] = "refs/heads/";

	for (size_t i = 0; branch_variables[i]; i++) {
		const char *branch = getenv(branch_variables[i]);

		if (!branch || !*branch)
			continue;
		if (fg_text_starts_with(branch, heads))
			return fg_xstrdup(branch + strlen(heads));
		if (!fg_text_starts_with(branch, "refs/"))
			return fg_xstrdup(branch);
	}
	return NULL;
}

int fg_git_describe_side(const struct fg_git *git, struct fg_side *side, struct fg_error *err)
{
	const char *const status_words[] = {"status", "--porcelain", "--untracked-files=no", NULL};
	char *commit = FG_GIT_TRY_OUTPUT(git, "rev-parse", "--verify", "--quiet", "HEAD^{commit}");
	char *changes = NULL;
	char *tag = NULL;
	int status = FG_OK;

	if (!commit)
		return FG_OK;
	status = fg_git_output(git, status_words, &changes, err);
	if (status != FG_OK) {
		free(commit);
		return status;
	}
	free(side->commit);
	free(side->branch);
	side->commit = commit;
	side->branch = FG_GIT_TRY_OUTPUT(git, "symbolic-ref", "--short", "--quiet", "HEAD");
	if (!side->branch)
		side->branch = branch_of_ci();
	side->dirty = *changes != '\0';
	free(changes);
	/* The tag does not describe a tree with uncommitted changes. */
	if (!side->dirty)
		tag = FG_GIT_TRY_OUTPUT(git, "describe", "--tags", "--exact-match", "HEAD");
	if (tag && *tag)
		fg_environment_set(&side->build, "git.tag", tag, false);
	free(tag);
	fg_git_note_subject(git, side);
	return FG_OK;
}

void fg_git_note_subject(const struct fg_git *git, struct fg_side *side)
{
	char *subject = side->commit
				? FG_GIT_TRY_OUTPUT(git, "log", "-1", "--format=%s", side->commit)
				: NULL;

	char *author = side->commit
			       ? FG_GIT_TRY_OUTPUT(git, "log", "-1", "--format=%an", side->commit)
			       : NULL;

	if (subject && *subject)
		fg_environment_set(&side->build, "git.subject", subject, false);
	if (author && *author)
		fg_environment_set(&side->build, "git.author", author, false);
	free(subject);
	free(author);
}

void fg_git_note_request(struct fg_side *side)
{
	static const char pull[] = "refs/pull/";
	const char *merge = getenv("CI_MERGE_REQUEST_IID");
	const char *ref = getenv("GITHUB_REF");
	const char *number = merge;
	char *request = NULL;
	size_t length = 0;

	if (ref && fg_text_starts_with(ref, pull))
		number = ref + strlen(pull);
	length = number ? strspn(number, "0123456789") : 0;
	if (length == 0 || length > 10)
		return;
	request = fg_xasprintf("%c%.*s", number == merge ? '!' : '#', (int)length, number);
	fg_environment_set(&side->build, "git.pull_request", request, false);
	free(request);
}

void fg_git_note_commits(const struct fg_git *git, const struct fg_side *baseline,
			 struct fg_side *candidate)
{
	char *range = NULL;
	char *counts = NULL;

	if (!baseline->commit || !candidate->commit)
		return;
	range = fg_xasprintf("%s...%s", baseline->commit, candidate->commit);
	counts = FG_GIT_TRY_OUTPUT(git, "rev-list", "--count", "--left-right", range);
	if (counts && fg_text_starts_with(counts, "0\t"))
		fg_environment_set(&candidate->build, "git.commits", counts + 2, false);
	free(counts);
	free(range);
}
