// SPDX-License-Identifier: Apache-2.0
#include "base/fs.h"
#include "base/text.h"
#include "runner/build/git.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/*
 * git assumes a file unchanged if its size and mtime (in seconds) match, unless the index dates
 * from that second or before: then it compares contents. A copy that looked newer than its original
 * would hide changes made right after a commit.
 */
static void keep_times(const char *from, const char *to)
{
	struct stat status;

	if (stat(from, &status) == 0)
		(void)!utimensat(AT_FDCWD, to, (struct timespec[]){status.st_atim, status.st_mtim},
				 0);
}

/*
 * `git write-tree` updates the index that it reads, so give it a copy and leave the user's index
 * untouched.
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
		usual = FG_GIT_TRY_OUTPUT(git, "rev-parse", "--path-format=absolute", "--git-path",
					  "index");
		index = usual;
	}
	/* A repository without an index (before the first `git add`) starts with the empty tree. */
	if (index && fg_fs_exists(index)) {
		status = fg_fs_copy(index, copy, 0600, err);
		if (status == FG_OK)
			keep_times(index, copy);
	}
	free(usual);
	return status;
}

/* Adds everything that is not ignored to the index; `left_out` lies below the repository's top. */
static int add_work_tree(const struct fg_git *git, const char *left_out, struct fg_error *err)
{
	char *top = NULL;
	char *prefix = NULL;
	char *exclude = NULL;
	int status = FG_OK;

	FG_TRY(fg_git_locate(git, &top, &prefix, err));
	/* git rejects an exclusion pattern for a path that is ignored anyway. */
	if (left_out && fg_fs_rest_below(top, left_out) && !fg_git_ignores(git, left_out))
		exclude = fg_xasprintf(":(exclude,literal)%s", fg_fs_rest_below(top, left_out));
	const struct fg_git in_top = {
		.folder = top, .index_file = git->index_file, .interrupted = git->interrupted};

	status = FG_GIT_RUN(&in_top, err, "-c", "advice.addEmbeddedRepo=false", "add", "--all",
			    "--", ".", exclude);
	free(exclude);
	free(prefix);
	free(top);
	return status;
}

/* The content of a private index, which `git write-tree` turns into a tree. */
struct filling {
	int (*fill)(const struct fg_git *git, const struct filling *filling, struct fg_error *err);
	const struct fg_git *usual; /* the user's repository and index */
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

/* Copies this path from `source`; FG_ENOENT if `source` does not have it. */
static int take_path(const struct fg_git *git, const char *source, const char *path,
		     struct fg_error *err)
{
	char *literal = fg_xasprintf(":(literal)%s", path);
	char *from = fg_xasprintf("--source=%s", source);
	/* `restore` alone would delete a path that only the base has. */
	const int status =
		fg_git_has(git, source, path)
			? FG_GIT_RUN(git, err, "restore", "--staged", from, "--", literal)
			: fg_error_set(err, FG_ENOENT, "the candidate has no '%s'%s", path,
				       fg_git_ignores(git, path) ? ", which git ignores" : "");

	free(from);
	free(literal);
	return status;
}

static int fill_with_files(const struct fg_git *git, const struct filling *filling,
			   struct fg_error *err)
{
	int status = FG_GIT_RUN(git, err, "read-tree", filling->base);

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
	int status = FG_OK;

	FG_TRY(fg_fs_temporary_folder(temporary && *temporary ? temporary : "/tmp",
				      "fastgate-index-", &folder, err));
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
	char *head = fg_git_find_commit(git, "HEAD");
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

/* Fails if files of a submodule have changed: "S.M." or "SCM." in the third field of a line. */
static int check_submodules(const struct fg_git *git, struct fg_error *err)
{
	char *lines = FG_GIT_TRY_OUTPUT(git, "status", "--porcelain=v2", "--untracked-files=no",
					"--ignore-submodules=none");
	char *rest = lines;
	int status = FG_OK;

	for (char *line; status == FG_OK && (line = fg_text_next_line(&rest));) {
		const char *name = strrchr(line, ' ');

		/* "1 XY S<commit><modified><untracked> ..." */
		if (strlen(line) > 9 && line[0] == '1' && line[5] == 'S' && line[7] == 'M')
			status = fg_error_set(
				err, FG_EINVAL,
				"submodule '%s' has changes that are not committed, which a "
				"snapshot cannot hold: commit them in the submodule, or use "
				"--in-place",
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
