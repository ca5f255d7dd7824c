// SPDX-License-Identifier: Apache-2.0
#include "runner/build/git.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/process.h"
#include "base/text.h"
#include "runner/execute/output_tail.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	ARGUMENTS_MAX = 256,
	OUTPUT_LIMIT_BYTES = 16 << 20,
	TIMEOUT_S = 600
};

/* Variables that git sets for its hooks or that would redirect it to another repository. */
static const char *const taken_out[] = {
	"GIT_DIR=",        "GIT_WORK_TREE=",
	"GIT_INDEX_FILE=", "GIT_PREFIX=",
	"GIT_COMMON_DIR=", "GIT_OBJECT_DIRECTORY=",
	"GIT_NAMESPACE=",  "GIT_ALTERNATE_OBJECT_DIRECTORIES=",
	"LC_ALL=",         "GIT_TERMINAL_PROMPT=",
	"LANGUAGE=",       "GIT_OPTIONAL_LOCKS=",
};

/* The staged commit's names, hashes and times must not depend on the user. */
static const char *const added[] = {
	"GIT_TERMINAL_PROMPT=0",
	"GIT_OPTIONAL_LOCKS=0", /* asking for the status must not rewrite the user's index */
	"LC_ALL=C.UTF-8",
	"GIT_AUTHOR_NAME=fastgate",
	"GIT_AUTHOR_EMAIL=fastgate@localhost",
	"GIT_AUTHOR_DATE=@0 +0000",
	"GIT_COMMITTER_NAME=fastgate",
	"GIT_COMMITTER_EMAIL=fastgate@localhost",
	"GIT_COMMITTER_DATE=@0 +0000",
};

static bool is_taken_out(const char *variable)
{
	for (size_t i = 0; i < FG_ARRAY_SIZE(taken_out); i++) {
		if (fg_text_starts_with(variable, taken_out[i]))
			return true;
	}
	return false;
}

static void add_variable(char ***environment, size_t *count, size_t *room, char *variable)
{
	*environment = fg_grow(*environment, room, *count + 2, sizeof(char *));
	(*environment)[(*count)++] = variable;
	(*environment)[*count] = NULL;
}

char **fg_git_clean_environment(const struct fg_git *git)
{
	char **environment = NULL;
	size_t count = 0;
	size_t room = 0;

	for (char **variable = environ; *variable; variable++) {
		if (!is_taken_out(*variable))
			add_variable(&environment, &count, &room, fg_xstrdup(*variable));
	}
	if (git->index_file)
		add_variable(&environment, &count, &room,
			     fg_xasprintf("GIT_INDEX_FILE=%s", git->index_file));
	if (!environment)
		environment = fg_xcalloc(1, sizeof(char *));
	return environment;
}

void fg_git_environment_free(char **environment)
{
	for (char **variable = environment; variable && *variable; variable++)
		free(*variable);
	free(environment);
}

static char **git_environment(const struct fg_git *git)
{
	char **environment = fg_git_clean_environment(git);
	size_t count = 0;
	size_t room = 0;

	while (environment[count])
		count++;
	room = count + 1;
	for (size_t i = 0; i < FG_ARRAY_SIZE(added); i++)
		add_variable(&environment, &count, &room, fg_xstrdup(added[i]));
	return environment;
}

static int run_git(const struct fg_git *git, const char *const *arguments, char **text,
		   size_t *size, struct fg_error *err)
{
	char *argv[ARGUMENTS_MAX] = {(char *)(uintptr_t) "git"};
	char **environment = git_environment(git);
	struct fg_process_result result = {0};
	int status = FG_OK;

	for (size_t i = 0; arguments[i]; i++) {
		FG_ASSERT(i + 2 < ARGUMENTS_MAX);
		argv[i + 1] = (char *)(uintptr_t)arguments[i];
	}
	status = fg_process_run(
		&(struct fg_process_options){.argv = argv,
					     .environment = environment,
					     .working_directory = git->folder,
					     .stdout_to = FG_STREAM_CAPTURE,
					     .stderr_to = FG_STREAM_CAPTURE,
					     .capture_limit_bytes = OUTPUT_LIMIT_BYTES,
					     .timeout_ns = TIMEOUT_S * FG_NS_PER_S,
					     .interrupted = git->interrupted},
		&result, err);
	fg_git_environment_free(environment);
	if (status != FG_OK)
		return status;
	if (!result.exited || result.exit_code != 0) {
		char *words = fg_output_tail(&result, 1, 300);

		status = fg_error_set(err, FG_ECHILD, "git %s: %s", arguments[0],
				      words ? words : "failed without a message");
		free(words);
	} else {
		*text = result.stdout_text;
		*size = result.stdout_size;
		result.stdout_text = NULL;
	}
	fg_process_result_release(&result);
	return status;
}

int fg_git_output(const struct fg_git *git, const char *const *arguments, char **text,
		  struct fg_error *err)
{
	char *out = NULL;
	size_t size = 0;
	int status = run_git(git, arguments, &out, &size, err);

	if (status != FG_OK)
		return status;
	while (size > 0 && strchr(" \t\r\n", out[size - 1]))
		out[--size] = '\0';
	*text = out;
	return FG_OK;
}

/* The trimmed output, or NULL if git fails. */
static char *ask(const struct fg_git *git, const char *const *arguments)
{
	char *text = NULL;

	return fg_git_output(git, arguments, &text, NULL) == FG_OK ? text : NULL;
}

#define ASK(git, ...) ask(git, (const char *const[]){__VA_ARGS__, NULL})

/* ---- where we are ---- */

/* One process for each: in a single output, a path with a line feed would be ambiguous. */
int fg_git_locate(const struct fg_git *git, char **top, char **prefix, struct fg_error *err)
{
	const char *const show_top[] = {"rev-parse", "--show-toplevel", NULL};
	const char *const show_prefix[] = {"rev-parse", "--show-prefix", NULL};
	char *found_top = NULL;
	int status = fg_git_output(git, show_top, &found_top, err);

	if (status == FG_OK)
		status = fg_git_output(git, show_prefix, prefix, err);
	if (status != FG_OK) {
		free(found_top);
		return status;
	}
	if (**prefix)
		(*prefix)[strlen(*prefix) - 1] = '\0'; /* git ends it with a slash */
	*top = found_top;
	return FG_OK;
}

/*
 * Variables in which CI systems name the checked-out branch, since they leave HEAD detached; NULL
 * at the end.
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
	char *commit = ASK(git, "rev-parse", "--verify", "--quiet", "HEAD^{commit}");
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
	side->branch = ASK(git, "symbolic-ref", "--short", "--quiet", "HEAD");
	if (!side->branch)
		side->branch = branch_of_ci();
	side->dirty = *changes != '\0';
	free(changes);
	/* With uncommitted changes the tree is no longer what the tag names. */
	if (!side->dirty)
		tag = ASK(git, "describe", "--tags", "--exact-match", "HEAD");
	if (tag && *tag)
		fg_environment_set(&side->build, "git.tag", tag, false);
	free(tag);
	fg_git_note_subject(git, side);
	return FG_OK;
}

void fg_git_note_subject(const struct fg_git *git, struct fg_side *side)
{
	char *subject = side->commit ? ASK(git, "log", "-1", "--format=%s", side->commit) : NULL;

	char *author = side->commit ? ASK(git, "log", "-1", "--format=%an", side->commit) : NULL;

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
	counts = ASK(git, "rev-list", "--count", "--left-right", range);
	if (counts && fg_text_starts_with(counts, "0\t"))
		fg_environment_set(&candidate->build, "git.commits", counts + 2, false);
	free(counts);
	free(range);
}

/* ---- refs ---- */

static bool is_shallow(const struct fg_git *git)
{
	char *answer = ASK(git, "rev-parse", "--is-shallow-repository");
	const bool shallow = answer && strcmp(answer, "true") == 0;

	free(answer);
	return shallow;
}

static char *find_commit(const struct fg_git *git, const char *ref)
{
	char *wanted = fg_xasprintf("%s^{commit}", ref);
	char *commit = ASK(git, "rev-parse", "--verify", "--quiet", "--end-of-options", wanted);

	free(wanted);
	return commit;
}

static int explain_missing(const struct fg_git *git, const char *what, struct fg_error *err)
{
	if (is_shallow(git))
		return fg_error_set(
			err, FG_ENOENT,
			"%s is not in this clone, which is shallow: run 'git fetch --unshallow' first (on GitHub: fetch-depth: 0 for actions/checkout; on GitLab: GIT_DEPTH: 0)",
			what);
	return fg_error_set(err, FG_ENOENT, "there is no commit %s in this repository", what);
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
	char *commit = find_commit(git, ref);
	const bool exists = commit != NULL;

	free(commit);
	return exists ? fg_xstrdup(ref) : NULL;
}

/* The branch that HEAD will be merged into, or NULL. */
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
		ref = ASK(git, "symbolic-ref", "--short", "--quiet", "refs/remotes/origin/HEAD");
	for (size_t i = 0; usual_targets[i] && !ref; i++)
		ref = existing_ref(git, usual_targets[i]);
	return ref;
}

static const char *head_name(const struct fg_git *git)
{
	return git->head ? git->head : "HEAD";
}

/*
 * HEAD is on the target branch: take its parent, or HEAD itself if there are changes on top of it.
 */
static int resolve_on_target(const struct fg_git *git, const char *head, char **commit,
			     char **words, struct fg_error *err)
{
	char *changes =
		git->head ? NULL : ASK(git, "status", "--porcelain", "--untracked-files=no");
	const bool dirty = changes && *changes;
	char *parent_of_head = fg_xasprintf("%s^1", head);
	char *parent = NULL;

	free(changes);
	if (dirty) {
		free(parent_of_head);
		*commit = fg_xstrdup(head);
		*words = fg_xstrdup("HEAD (the working tree has changes)");
		return FG_OK;
	}
	parent = find_commit(git, parent_of_head);
	free(parent_of_head);
	if (!parent && is_shallow(git))
		return explain_missing(git, "HEAD's parent", err);
	if (!parent)
		return fg_error_set(
			err, FG_ENOENT,
			"the first commit of a repository has nothing to be compared with");
	*commit = parent;
	*words = fg_xasprintf("%s^ (%s is on the target branch)", head_name(git), head_name(git));
	return FG_OK;
}

static int explain_no_target(const struct fg_git *git, struct fg_error *err)
{
	if (is_shallow(git))
		return explain_missing(git, "the branch to be merged into", err);
	return fg_error_set(
		err, FG_ENOENT,
		"no branch to be merged into was found (tried origin/HEAD, origin/main, origin/master, main, master): name a ref instead of merge-base");
}

static int resolve_merge_base(const struct fg_git *git, char **commit, char **words,
			      struct fg_error *err)
{
	char *head = find_commit(git, head_name(git));
	char *target = find_target(git);
	char *base = NULL;
	int status = FG_OK;

	if (!head) {
		status = fg_error_set(err, FG_ENOENT,
				      "there is no commit in '%s', so there is no merge-base",
				      git->folder);
		goto out;
	}
	if (!target) {
		status = explain_no_target(git, err);
		goto out;
	}
	base = ASK(git, "merge-base", head, target);
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
	char *inside = ASK(git, "rev-parse", "--is-inside-work-tree");
	const bool is_tree = inside && strcmp(inside, "true") == 0;
	char *found = NULL;
	char *what = NULL;
	int status = FG_OK;

	free(inside);
	if (!is_tree)
		return fg_error_set(err, FG_ENOENT,
				    "'%s' is not in a git working tree, so there is no '%s'",
				    git->folder, ref);
	if (strcmp(ref, "merge-base") == 0)
		return resolve_merge_base(git, commit, words, err);
	found = find_commit(git, ref);
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

/*
 * git assumes a file unchanged if its size and mtime (in seconds) match, unless the index dates
 * from that second or before: then it compares contents.  A copy that looked newer than its
 * original would hide changes made right after a commit.
 */
static void keep_times(const char *from, const char *to)
{
	struct stat status;

	if (stat(from, &status) == 0)
		(void)!utimensat(AT_FDCWD, to, (struct timespec[]){status.st_atim, status.st_mtim},
				 0);
}

/*
 * `git write-tree` writes what it learns back into the index, so give it a copy and leave the
 * user's untouched.
 */
static int copy_index(const struct fg_git *git, const char *copy, struct fg_error *err)
{
	const char *of_hook = getenv("GIT_INDEX_FILE");
	char *usual = NULL;
	const char *index = git->index_file;
	int status = FG_OK;

	if (!index && of_hook && *of_hook)
		index = of_hook;
	if (!index) {
		usual = ASK(git, "rev-parse", "--path-format=absolute", "--git-path", "index");
		index = usual;
	}
	/* Before the first `git add` there is no index: the empty tree. */
	if (index && fg_fs_exists(index)) {
		status = fg_fs_copy(index, copy, 0600, err);
		if (status == FG_OK)
			keep_times(index, copy);
	}
	free(usual);
	return status;
}

bool fg_git_ignores(const struct fg_git *git, const char *path)
{
	char *found = ASK(git, "check-ignore", path);
	const bool ignored = found != NULL;

	free(found);
	return ignored;
}

/* Adds everything that is not ignored to the index; `left_out` lies below the repository's top. */
static int add_work_tree(const struct fg_git *git, const char *left_out, struct fg_error *err)
{
	char *top = NULL;
	char *prefix = NULL;
	char *exclude = NULL;
	char *ignored = NULL;
	int status = fg_git_locate(git, &top, &prefix, err);

	if (status != FG_OK)
		return status;
	/* git rejects an exclusion pattern for a path that is ignored anyway. */
	if (left_out && fg_text_starts_with(left_out, top) && left_out[strlen(top)] == '/' &&
	    !fg_git_ignores(git, left_out))
		exclude = fg_xasprintf(":(exclude,literal)%s", left_out + strlen(top) + 1);
	const struct fg_git in_top = {
		.folder = top, .index_file = git->index_file, .interrupted = git->interrupted};
	const char *const arguments[] = {
		"-c", "advice.addEmbeddedRepo=false", "add", "--all", "--", ".", exclude, NULL};

	status = fg_git_output(&in_top, arguments, &ignored, err);
	free(ignored);
	free(exclude);
	free(prefix);
	free(top);
	return status;
}

/* The content of a private index, which `git write-tree` turns into a tree. */
struct filling {
	int (*fill)(const struct fg_git *git, const struct filling *filling, struct fg_error *err);
	const struct fg_git *usual; /* environment with the user's index */
	const char *left_out;
	const char *base;
	const char *source;
	const char *const *paths; /* NULL at the end */
};

static int fill_staged(const struct fg_git *git, const struct filling *filling,
		       struct fg_error *err)
{
	return copy_index(filling->usual, git->index_file, err);
}

static int fill_from_work_tree(const struct fg_git *git, const struct filling *filling,
			       struct fg_error *err)
{
	const int status = copy_index(filling->usual, git->index_file, err);

	return status == FG_OK ? add_work_tree(git, filling->left_out, err) : status;
}

bool fg_git_has(const struct fg_git *git, const char *commit, const char *path)
{
	char *found = ASK(git, "ls-tree", "--name-only", commit, "--", path);
	const bool has = found && *found;

	free(found);
	return has;
}

/* Makes this path exactly as in `source`. */
static int take_path(const struct fg_git *git, const char *source, const char *path,
		     struct fg_error *err)
{
	char *literal = fg_xasprintf(":(literal)%s", path);
	char *from = fg_xasprintf("--source=%s", source);
	/* `restore` alone would delete a path that only the base has. */
	const char *const restore[] = {"restore", "--staged", from, "--", literal, NULL};
	char *nothing = NULL;
	const int status =
		fg_git_has(git, source, path)
			? fg_git_output(git, restore, &nothing, err)
			: fg_error_set(err, FG_ENOENT, "the candidate has no '%s'", path);

	free(nothing);
	free(from);
	free(literal);
	return status;
}

static int fill_with_files(const struct fg_git *git, const struct filling *filling,
			   struct fg_error *err)
{
	const char *const read[] = {"read-tree", filling->base, NULL};
	char *nothing = NULL;
	int status = fg_git_output(git, read, &nothing, err);

	free(nothing);
	for (size_t i = 0; status == FG_OK && filling->paths[i]; i++)
		status = take_path(git, filling->source, filling->paths[i], err);
	return status;
}

static int write_tree(const struct fg_git *git, const struct filling *filling, char **tree,
		      struct fg_error *err)
{
	const char *const arguments[] = {"write-tree", NULL};
	const char *temporary = getenv("TMPDIR");
	char *folder = NULL;
	char *copy = NULL;
	int status = fg_fs_temporary_folder(temporary && *temporary ? temporary : "/tmp",
					    "fastgate-index-", &folder, err);

	if (status != FG_OK)
		return status;
	copy = fg_fs_join(folder, "index");
	const struct fg_git with_copy = {
		.folder = git->folder, .index_file = copy, .interrupted = git->interrupted};

	status = filling->fill(&with_copy, filling, err);
	if (status == FG_OK)
		status = fg_git_output(&with_copy, arguments, tree, err);
	if (fg_fs_remove_tree(folder, status == FG_OK ? err : NULL) != FG_OK && status == FG_OK) {
		free(*tree);
		*tree = NULL;
		status = FG_EIO;
	}
	free(copy);
	free(folder);
	return status;
}

/*
 * Commits the content on top of `parent` (NULL: no parent); returns `parent` itself if nothing
 * differs.
 */
static int commit_content(const struct fg_git *git, const struct filling *filling,
			  const char *parent, const char *words, char **commit,
			  struct fg_error *err)
{
	char *parent_tree = parent ? fg_git_tree_of(git, parent) : NULL;
	char *tree = NULL;
	int status = write_tree(git, filling, &tree, err);

	if (status == FG_OK && parent_tree && strcmp(parent_tree, tree) == 0) {
		*commit = fg_xstrdup(parent);
	} else if (status == FG_OK) {
		const char *const with_parent[] = {"commit-tree", tree,   "-m", words,
						   "-p",          parent, NULL};
		const char *const alone[] = {"commit-tree", tree, "-m", words, NULL};

		status = fg_git_output(git, parent ? with_parent : alone, commit, err);
	}
	free(tree);
	free(parent_tree);
	return status;
}

static int commit_on_head(const struct fg_git *git, const struct filling *filling,
			  const char *words, char **commit, struct fg_error *err)
{
	char *head = find_commit(git, "HEAD");
	const int status = commit_content(git, filling, head, words, commit, err);

	free(head);
	return status;
}

int fg_git_commit_staged(const struct fg_git *git, char **commit, struct fg_error *err)
{
	const struct filling filling = {.fill = fill_staged, .usual = git};

	return commit_on_head(git, &filling, "staged", commit, err);
}

int fg_git_commit_with_files(const struct fg_git *git, const char *base, const char *source,
			     const char *const *paths, char **commit, struct fg_error *err)
{
	const struct filling filling = {
		.fill = fill_with_files, .base = base, .source = source, .paths = paths};

	return commit_content(git, &filling, base, "with files of the candidate", commit, err);
}

/* Changes inside a submodule: "S.M." and the like in the third field of a porcelain=v2 line. */
static int check_submodules(const struct fg_git *git, struct fg_error *err)
{
	char *lines = ASK(git, "status", "--porcelain=v2", "--untracked-files=no",
			  "--ignore-submodules=none");
	char *rest = lines;
	int status = FG_OK;

	for (char *line = strsep(&rest, "\n"); line && status == FG_OK;
	     line = strsep(&rest, "\n")) {
		const char *name = strrchr(line, ' ');

		/* "1 XY S<commit><modified><untracked> ..." */
		if (strlen(line) > 9 && line[0] == '1' && line[5] == 'S' && line[7] == 'M')
			status = fg_error_set(
				err, FG_EINVAL,
				"submodule '%s' has changes that are not committed, which a "
				"snapshot cannot hold: commit them there, or use --in-place",
				name ? name + 1 : "?");
	}
	free(lines);
	return status;
}

int fg_git_commit_work_tree(const struct fg_git *git, const char *left_out, char **commit,
			    struct fg_error *err)
{
	const struct filling filling = {
		.fill = fill_from_work_tree, .usual = git, .left_out = left_out};
	const int status = check_submodules(git, err);

	return status == FG_OK ? commit_on_head(git, &filling, "work tree", commit, err) : status;
}

char *fg_git_tree_of(const struct fg_git *git, const char *commit)
{
	char *wanted = fg_xasprintf("%s^{tree}", commit);
	char *tree = ASK(git, "rev-parse", "--verify", "--quiet", "--end-of-options", wanted);

	free(wanted);
	return tree;
}

void fg_git_forget_hook(void)
{
	for (size_t i = 0; i < FG_ARRAY_SIZE(taken_out); i++) {
		char *name = fg_xstrndup(taken_out[i], strcspn(taken_out[i], "="));

		if (fg_text_starts_with(name, "GIT_"))
			(void)unsetenv(name);
		free(name);
	}
}

int fg_git_messages(const struct fg_git *git, const char *from, const char *to, char **text,
		    size_t *size, struct fg_error *err)
{
	char *range = from ? fg_xasprintf("%s..%s", from, to) : fg_xstrdup(to);
	const char *const arguments[] = {
		"log", "-z", "--format=%H%n%B", "--max-count=1000", "--end-of-options",
		range, NULL};
	int status = run_git(git, arguments, text, size, err);

	free(range);
	return status;
}
