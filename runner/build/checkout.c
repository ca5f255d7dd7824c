// SPDX-License-Identifier: Apache-2.0
#include "runner/build/checkout.h"

#include "base/fs.h"
#include "base/text.h"
#include "runner/build/file_lock.h"
#include "runner/build/git.h"

#include <sys/file.h>

/* ---- submodules ---- */

struct module {
	char *name; /* usually the path, so it may contain slashes */
	char *path;
};

/*
 * A repository whose submodules are checked out: its folder in the main checkout, and its copy in
 * the new work tree.
 */
struct level {
	const struct fg_checkout *checkout;
	const char *top;
	const char *tree;
	unsigned depth;
};

enum {
	MODULES_MAX = 1000,
	DEPTH_MAX = 16,
};

static struct fg_git git_in(const struct fg_checkout *checkout, const char *folder)
{
	return (struct fg_git){.folder = folder, .interrupted = checkout->interrupted};
}

static void note(const struct fg_checkout *checkout, char *text)
{
	if (checkout->on_note)
		checkout->on_note(checkout->context, text);
	free(text);
}

static void modules_free(struct module *modules, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(modules[i].name);
		free(modules[i].path);
	}
	free(modules);
}

/* Lists the submodules, from the lines "submodule.NAME.path PATH" of .gitmodules. */
static size_t list_modules(const struct fg_git *in_tree, struct module **modules)
{
	static const char start[] = "submodule.";
	static const char end[] = ".path ";
	char *lines = FG_GIT_TRY_OUTPUT(in_tree, "config", "--file", ".gitmodules", "--get-regexp",
					"^submodule\\..*\\.path$");
	char *rest = lines;
	size_t count = 0;
	size_t room = 0;

	*modules = NULL;
	for (char *line; count < MODULES_MAX && (line = fg_text_next_line(&rest));) {
		const char *name_end = strstr(line, end);
		const char *name = line + strlen(start);

		if (!name_end || !fg_text_starts_with(line, start))
			continue;
		FG_APPEND(*modules, count, room) =
			(struct module){.name = fg_xstrndup(name, (size_t)(name_end - name)),
					.path = fg_xstrdup(name_end + strlen(end))};
	}
	free(lines);
	return count;
}

/* Finds the git folder that all work trees of a repository share. The caller frees it. */
static int find_common_folder(const struct fg_checkout *checkout, const char *top, char **common,
			      struct fg_error *err)
{
	const struct fg_git in_top = git_in(checkout, top);
	const char *const ask[] = {"rev-parse", "--path-format=absolute", "--git-common-dir", NULL};

	return fg_git_output(&in_top, ask, common, err);
}

static char *local_clone(const struct level *level, const struct module *module)
{
	char *common = NULL;
	char *modules = NULL;
	char *folder = NULL;

	if (find_common_folder(level->checkout, level->top, &common, NULL) != FG_OK)
		return NULL;
	modules = fg_fs_join(common, "modules");
	folder = fg_fs_join(modules, module->name);
	if (!fg_fs_is_folder(folder)) {
		free(folder);
		folder = NULL;
	}
	free(modules);
	free(common);
	return folder;
}

static int update(const struct level *level, const char *setting, const struct module *module,
		  bool with_nested, struct fg_error *err)
{
	const struct fg_git in_tree = git_in(level->checkout, level->tree);
	const char *arguments[16] = {NULL};
	size_t used = 0;

	if (setting) {
		arguments[used++] = "-c";
		arguments[used++] = "protocol.file.allow=always";
		arguments[used++] = "-c";
		arguments[used++] = setting;
	}
	arguments[used++] = "submodule";
	arguments[used++] = "update";
	arguments[used++] = "--init";
	arguments[used++] = "--force";
	if (with_nested)
		arguments[used++] = "--recursive";
	arguments[used++] = "--";
	arguments[used++] = module->path;
	return fg_git_run(&in_tree, arguments, err);
}

/*
 * Fetches from the main checkout's own clone, or from the submodule's URL if that clone lacks the
 * commit.
 */
static int fetch(const struct level *level, const struct module *module, bool with_nested,
		 struct fg_error *err)
{
	char *local = local_clone(level, module);
	char *setting = NULL;
	int status = FG_ECHILD;

	if (local) {
		setting = fg_xasprintf("submodule.%s.url=%s", module->name, local);
		status = update(level, setting, module, with_nested, err);
	}
	if (status == FG_ECHILD)
		status = update(level, NULL, module, with_nested, err);
	free(setting);
	free(local);
	return status;
}

static int update_submodules(const struct level *level, struct fg_error *err);

/*
 * Checks out a submodule that is initialised in the main checkout, where it is part of the build.
 */
static int take_needed(const struct level *level, const struct module *module, const char *in_top,
		       struct fg_error *err)
{
	char *in_tree = fg_fs_join(level->tree, module->path);
	const struct level below = {.checkout = level->checkout,
				    .top = in_top,
				    .tree = in_tree,
				    .depth = level->depth + 1};
	int status = fetch(level, module, false, err);

	if (status == FG_OK && below.depth < DEPTH_MAX)
		status = update_submodules(&below, err);
	else if (status != FG_OK)
		fg_error_prefix(err, "submodule '%s'", module->path);
	free(in_tree);
	return status;
}

/* Does the commit contain the submodule? .gitmodules may list more submodules. */
static bool is_in_commit(const struct level *level, const struct module *module)
{
	const struct fg_git in_tree = git_in(level->checkout, level->tree);
	char *entry = FG_GIT_TRY_OUTPUT(&in_tree, "ls-files", "--stage", "--", module->path);
	const bool found = entry && fg_text_starts_with(entry, "160000 ");

	free(entry);
	return found;
}

static int take_module(const struct level *level, const struct module *module, struct fg_error *err)
{
	char *in_top = fg_fs_join(level->top, module->path);
	char *git_file = fg_fs_join(in_top, ".git");
	struct fg_error found = {0};
	int status = FG_OK;

	if (fg_fs_exists(git_file)) {
		status = take_needed(level, module, in_top, err);
	} else if (fg_fs_is_folder(in_top)) {
		note(level->checkout,
		     fg_xasprintf("submodule '%s' is left out: it is not initialised here",
				  module->path));
	} else {
		status = fetch(level, module, true, &found);
		if (status == FG_ECHILD) {
			note(level->checkout,
			     fg_xasprintf("warning: submodule '%s' of %.9s cannot be fetched, and "
					  "is left out: %s",
					  module->path, level->checkout->commit, found.message));
			status = FG_OK;
		} else if (status != FG_OK) {
			status = fg_error_set(err, found.code, "%s", found.message);
		}
	}
	free(git_file);
	free(in_top);
	return status;
}

static int update_submodules(const struct level *level, struct fg_error *err)
{
	const struct fg_git in_tree = git_in(level->checkout, level->tree);
	struct module *modules = NULL;
	const size_t count = list_modules(&in_tree, &modules);
	int status = FG_OK;

	for (size_t i = 0; i < count && status == FG_OK; i++) {
		if (is_in_commit(level, &modules[i]))
			status = take_module(level, &modules[i], err);
	}
	modules_free(modules, count);
	return status;
}

/* ---- work trees that git has registered ---- */

/*
 * Allows one checkout at a time per repository: `git worktree prune` would remove what a concurrent
 * `git worktree add` has just begun, and `git submodule update` writes the repository's
 * configuration.
 */
static int lock_repository(const struct fg_checkout *checkout, int *lock_fd, struct fg_error *err)
{
	char *common = NULL;
	int status = find_common_folder(checkout, checkout->top, &common, err);

	if (status == FG_OK)
		status = fg_file_lock(
			common, LOCK_EX,
			&(struct fg_lock_wait){.interrupted = checkout->interrupted,
					       .context = checkout->context,
					       .on_note = checkout->on_note,
					       .note = "waiting: another fastgate is checking out"},
			lock_fd, err);
	free(common);
	return status;
}

static int prune_worktrees(const struct fg_checkout *checkout, struct fg_error *err)
{
	const struct fg_git in_top = git_in(checkout, checkout->top);

	return FG_GIT_RUN(&in_top, err, "worktree", "prune");
}

int fg_checkout_forget_removed(const char *top, struct fg_error *err)
{
	const struct fg_checkout checkout = {.top = top};
	int lock_fd = -1;
	int status = FG_OK;

	FG_TRY(lock_repository(&checkout, &lock_fd, err));
	status = prune_worktrees(&checkout, err);
	(void)close(lock_fd);
	return status;
}

/* ---- the commit itself ---- */

static int add_worktree(const struct fg_checkout *checkout, struct fg_error *err)
{
	const struct fg_git in_top = git_in(checkout, checkout->top);

	FG_TRY(fg_fs_remove_tree(checkout->tree, err));
	FG_TRY(prune_worktrees(checkout, err));
	return FG_GIT_RUN(&in_top, err, "-c", "core.hooksPath=/dev/null", "worktree", "add",
			  "--force", "--detach", "--quiet", checkout->tree, checkout->commit);
}

/* git leaves identical files untouched, so build products made from them stay up to date. */
static int change_worktree(const struct fg_checkout *checkout, struct fg_error *err)
{
	const struct fg_git in_tree = git_in(checkout, checkout->tree);

	return FG_GIT_RUN(&in_tree, err, "-c", "core.hooksPath=/dev/null", "checkout", "--force",
			  "--detach", "--quiet", checkout->commit);
}

int fg_checkout_make(const struct fg_checkout *checkout, struct fg_error *err)
{
	const struct level level = {
		.checkout = checkout, .top = checkout->top, .tree = checkout->tree};
	int lock_fd = -1;
	int status = FG_OK;

	FG_TRY(lock_repository(checkout, &lock_fd, err));
	status = FG_ECHILD;
	if (checkout->keep)
		status = change_worktree(checkout, err);
	if (status == FG_ECHILD)
		status = add_worktree(checkout, err);
	if (status == FG_OK)
		status = update_submodules(&level, err);
	(void)close(lock_fd);
	return status;
}
