// SPDX-License-Identifier: Apache-2.0
#include "runner/build/worktree.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/process.h"
#include "runner/build/build_files.h"
#include "runner/build/checkout.h"
#include "runner/build/file_lock.h"
#include "runner/build/git.h"
#include "runner/build/link_record.h"
#include "runner/execute/output_tail.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
	SNAPSHOTS_MAX = 4,
	TAIL_LINES = 20,
	TAIL_BYTES = 4096,
	SHORT_HASH = 9,
	MARK_BYTES_MAX = 256,
};

/* Environment variables that change the result of a build. */
static const char *const build_variables[] = {"CC",
					      "CXX",
					      "CFLAGS",
					      "CXXFLAGS",
					      "CPPFLAGS",
					      "LDFLAGS",
					      "CMAKE_PREFIX_PATH",
					      "CMAKE_BUILD_TYPE",
					      NULL};

/*
 * `what` identifies the content. For a commit it is the tree's hash: a commit that was built while
 * staged, or was only reworded, is not built again. For a snapshot it is a name that stays the same
 * while the files change.
 */
static void make_key(const struct fg_worktree_options *options, const char *what,
		     const char *prefix, char key[FG_WORKTREE_KEY_LENGTH + 1])
{
	struct fg_sha256 sha;

	fg_sha256_init(&sha);
	fg_sha256_add_text(&sha, what);
	fg_sha256_add_text(&sha, prefix);
	if (options->apart)
		fg_sha256_add_text(&sha, "apart");
	for (size_t i = 0; i < options->build->command.argc; i++)
		fg_sha256_add_text(&sha, options->build->command.argv[i]);
	for (size_t i = 0; build_variables[i]; i++)
		fg_sha256_add_text(&sha, getenv(build_variables[i]));
	for (size_t i = 0; i < options->build->record_count; i++)
		fg_sha256_add_text(&sha, options->build->record[i].literal);
	fg_sha256_finish_hex(&sha, FG_WORKTREE_KEY_LENGTH / 2, key);
}

FG_PRINTF(2, 3) static void note(const struct fg_worktree_options *options, const char *format, ...)
{
	char text[256];
	va_list ap;

	if (!options->on_note)
		return;
	va_start(ap, format);
	(void)vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	options->on_note(options->context, text);
}

static const char *known_as(const struct fg_worktree_options *options)
{
	return options->known_as ? options->known_as : options->commit;
}

static int take_lock(const struct fg_worktree_options *options, const char *path, int how,
		     int *lock_fd, struct fg_error *err)
{
	char *text = fg_xasprintf("waiting: another fastgate is building%s%.*s",
				  options->commit ? " " : "", SHORT_HASH,
				  options->commit ? known_as(options) : "");
	const int status = fg_file_lock(path, how,
					&(struct fg_lock_wait){.interrupted = options->interrupted,
							       .context = options->context,
							       .on_note = options->on_note,
							       .note = text},
					lock_fd, err);

	free(text);
	return status;
}

/* ---- build ---- */

static int explain_limit(const struct fg_worktree_options *options,
			 const struct fg_process_result *result, const char *log_path,
			 struct fg_error *err)
{
	return fg_error_set(err, FG_ETIMEOUT,
			    "'%s' was stopped at the time limit, after %.0f s; its output is in "
			    "'%s'",
			    options->build->command.text, (double)result->wall_ns / FG_NS_PER_S,
			    log_path);
}

static int explain_build(const struct fg_worktree_options *options,
			 const struct fg_process_result *result, const char *log_path, char **tail,
			 struct fg_error *err)
{
	struct fg_strbuf how = {0};

	fg_process_describe(result, &how);
	(void)fg_error_set(err, FG_ECHILD, "'%s' %s; its output is in '%s'",
			   options->build->command.text, fg_strbuf_text(&how), log_path);
	if (tail)
		*tail = fg_output_tail(result, TAIL_LINES, TAIL_BYTES);
	fg_strbuf_release(&how);
	return FG_ECHILD;
}

/*
 * PWD is the folder in which the build runs, so that both arms are built alike. Links are recorded
 * in `folder` (NULL: not recorded). If recording is impossible, links cannot be repeated, which is
 * not an error.
 */
static char **build_environment(const char *root, const char *folder)
{
	const struct fg_git git = {.folder = root};
	char **environment = fg_git_clean_environment(&git);
	char *noting = NULL;

	fg_variable_set(&environment, fg_xasprintf("PWD=%s", root));
	if (folder && fg_link_record_begin(folder, &noting, NULL) == FG_OK)
		fg_variable_set(&environment, noting);
	return environment;
}

/* The log grows during the build, so that a long build can be followed. */
static int open_log(const struct fg_worktree_options *options, const char *path, int *fd,
		    struct fg_error *err)
{
	*fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (*fd < 0)
		return fg_error_errno(err, FG_EIO, "'%s'", path);
	if (dprintf(*fd, "$ %s\n", options->build->command.text) < 0) {
		(void)close(*fd);
		return fg_error_errno(err, FG_EIO, "'%s'", path);
	}
	return FG_OK;
}

static int build_in(const struct fg_worktree_options *options, const char *root, const char *folder,
		    const char *log_path, char **tail, struct fg_error *err)
{
	const int64_t left_ns = options->ends_ns - fg_clock_monotonic_ns();
	struct fg_process_result result = {0};
	char **environment = NULL;
	int log_fd = -1;
	int status = FG_OK;

	if (!options->build->command.argc)
		return FG_OK;
	FG_TRY(open_log(options, log_path, &log_fd, err));
	environment = build_environment(root, folder);
	status = fg_process_run(
		&(struct fg_process_options){
			.argv = options->build->command.argv,
			.environment = environment,
			.working_directory = root,
			.stdout_to = FG_STREAM_CAPTURE,
			.stderr_to = FG_STREAM_CAPTURE,
			.copy_fd = log_fd,
			.timeout_ns = options->ends_ns ? (left_ns > 0 ? left_ns : 1) : 0,
			.interrupted = options->interrupted},
		&result, err);
	fg_free_words(environment);
	(void)close(log_fd);
	if (status == FG_OK && result.timed_out)
		status = explain_limit(options, &result, log_path, err);
	else if (status == FG_OK && (!result.exited || result.exit_code != 0))
		status = explain_build(options, &result, log_path, tail, err);
	fg_process_result_release(&result);
	return status;
}

int fg_worktree_build(const struct fg_worktree_options *options, const char *root,
		      const char *log_path, char **tail, struct fg_error *err)
{
	char *lock = fg_xasprintf("%s.lock", log_path);
	char *folder = fg_fs_parent(log_path);
	int lock_fd = -1;
	int status = FG_OK;

	FG_TRY_OUT(fg_fs_make_folders(folder, 0755, err));
	FG_TRY_OUT(take_lock(options, lock, LOCK_EX, &lock_fd, err));
	status = build_in(options, root, NULL, log_path, tail, err);
out:
	if (lock_fd >= 0)
		(void)close(lock_fd);
	free(folder);
	free(lock);
	return status;
}

/* ---- paths of a build ---- */

struct places {
	char *top;             /* root of the repository */
	char *prefix;          /* path from the repository's root to the plan's root */
	char *builds;          /* STATE/builds, an absolute path */
	char *wanted;          /* hash of the tree to be built */
	struct fg_arena arena; /* has the paths below */
	char *folder;          /* STATE/builds/KEY */
	char *tree;
	char *root; /* the plan's root within the tree */
	char *mark; /* a file with the hash of the tree that was built, or `failed` */
	char *log;
	char *lock;
};

/* Mark of a build whose command failed: the next build can continue from its products. */
static const char failed[] = "failed";

static void places_release(struct places *places)
{
	fg_arena_release(&places->arena);
	free(places->top);
	free(places->prefix);
	free(places->builds);
	free(places->wanted);
}

static void set_folder(const struct fg_worktree_options *options, struct places *places,
		       const char *what)
{
	struct fg_arena *arena = &places->arena;
	char key[FG_WORKTREE_KEY_LENGTH + 1];

	make_key(options, what, places->prefix, key);
	places->folder = fg_arena_printf(arena, "%s/%s", places->builds, key);
	places->tree = fg_arena_printf(arena, "%s/tree", places->folder);
	places->root = *places->prefix
			       ? fg_arena_printf(arena, "%s/%s", places->tree, places->prefix)
			       : places->tree;
	places->mark = fg_arena_printf(arena, "%s/built", places->folder);
	places->log = fg_arena_printf(arena, "%s/build.log", places->folder);
	places->lock = fg_arena_printf(arena, "%s.lock", places->folder);
}

static int places_init(const struct fg_worktree_options *options, struct places *places,
		       struct fg_error *err)
{
	const struct fg_git git = {.folder = options->root, .interrupted = options->interrupted};
	char *builds = fg_fs_join(options->state_folder, "builds");
	int status = FG_OK;

	FG_TRY_OUT(fg_git_locate(&git, &places->top, &places->prefix, err));
	FG_TRY_OUT(fg_fs_make_folders(builds, 0755, err));
	places->builds = realpath(builds, NULL);
	if (!places->builds) {
		status = fg_error_errno(err, FG_EIO, "'%s'", builds);
		goto out;
	}
	places->wanted = fg_git_tree_of(&git, options->commit);
	if (!places->wanted)
		places->wanted = fg_xstrdup(options->commit);
out:
	free(builds);
	return status;
}

static bool mark_is(const struct places *places, const char *what)
{
	char *text = NULL;
	bool says = false;

	if (fg_fs_read(places->mark, MARK_BYTES_MAX, &text, NULL, NULL) == FG_OK)
		says = strcmp(text, what) == 0;
	free(text);
	return says;
}

static bool is_built(const struct places *places)
{
	return mark_is(places, places->wanted) && fg_fs_is_folder(places->root);
}

/* ---- check out and build ---- */

/*
 * Names missing submodules, which may be why the build failed: `git submodule status` prints "-HASH
 * PATH" for them.
 */
static void report_missing_modules(const struct fg_worktree_options *options,
				   const struct places *places)
{
	const struct fg_git git = {.folder = places->tree, .interrupted = options->interrupted};
	char *text = FG_GIT_TRY_OUTPUT(&git, "submodule", "status");
	char *rest = text;

	for (const char *line = strsep(&rest, "\n"); line; line = strsep(&rest, "\n")) {
		const char *path = *line == '-' ? strchr(line, ' ') : NULL;

		if (path)
			note(options,
			     "built without submodule '%s': if the build needs it, run `git "
			     "submodule update --init %s`",
			     path + 1, path + 1);
	}
	free(text);
}

/* Shortens a path below the working directory, whose name goes into `here`, to a relative path. */
static const char *seen_from(char here[PATH_MAX], const char *path)
{
	const char *rest = fg_fs_rest_below(getcwd(here, PATH_MAX), path);

	return rest ? rest : path;
}

static int build_tree(const struct fg_worktree_options *options, const struct places *places,
		      char **tail, struct fg_error *err)
{
	const char *name = options->snapshot ? "the work tree" : known_as(options);
	const int length = options->snapshot ? (int)strlen(name) : SHORT_HASH;
	char here[PATH_MAX];
	int status = FG_OK;

	if (!fg_fs_is_folder(places->root))
		return fg_error_set(err, FG_ENOENT, "%.*s has no folder '%s'", length, name,
				    places->prefix);
	if (options->build->command.argc)
		note(options, "building %.*s (output: %s): %s", length, name,
		     seen_from(here, places->log), options->build->command.text);
	status = build_in(options, places->root, places->folder, places->log, tail, err);
	if (status == FG_ECHILD) {
		fg_error_prefix(err, "%.*s does not build", length, name);
		report_missing_modules(options, places);
		/*
		 * Without this mark the next build starts from scratch: slower, but still correct.
		 */
		if (fg_fs_write_atomic(places->mark, failed, strlen(failed), 0644, NULL) != FG_OK)
			fg_log(FG_LOG_RUNNER, 1, "cannot write '%s'", places->mark);
	}
	if (status != FG_OK)
		return status;
	return fg_fs_write_atomic(places->mark, places->wanted, strlen(places->wanted), 0644, err);
}

/*
 * Does the next snapshot change how the project is built? Makefiles may then fail to rebuild stale
 * products, while the other side is built from scratch.
 */
static bool changes_the_build(const struct fg_worktree_options *options, const char *tree)
{
	const struct fg_git git = {.folder = tree, .interrupted = options->interrupted};
	char *text = FG_GIT_TRY_OUTPUT(&git, "diff", "--name-only", "--no-renames", "HEAD",
				       options->commit);
	char *rest = text;
	bool changes = text == NULL;

	for (const char *line = strsep(&rest, "\n"); line && !changes; line = strsep(&rest, "\n"))
		changes = *line == '"' || fg_is_build_file(line, &options->build->command);
	free(text);
	return changes;
}

/* An interrupted build left no mark and is redone from scratch. */
static int check_out_and_build(const struct fg_worktree_options *options,
			       const struct places *places, char **tail, struct fg_error *err)
{
	const struct fg_checkout checkout = {
		.top = places->top,
		.tree = places->tree,
		.commit = options->commit,
		.keep = options->snapshot && fg_fs_exists(places->mark) &&
			!changes_the_build(options, places->tree),
		.interrupted = options->interrupted,
		.context = options->context,
		.on_note = options->on_note,
	};
	int status = FG_OK;

	FG_TRY(fg_fs_make_folders(places->folder, 0755, err));
	(void)unlink(places->mark);
	status = fg_checkout_make(&checkout, err);
	if (status == FG_ECHILD)
		fg_error_prefix(err, "%s%.*s cannot be checked out",
				options->snapshot ? "the snapshot " : "", SHORT_HASH,
				known_as(options));
	return status == FG_OK ? build_tree(options, places, tail, err) : status;
}

static void give(const struct places *places, bool cached, int lock_fd,
		 struct fg_worktree *worktree)
{
	(void)utimensat(AT_FDCWD, places->mark, NULL, 0); /* mark it as most recently used */
	*worktree = (struct fg_worktree){.root = fg_xstrdup(places->root),
					 .tree = fg_xstrdup(places->tree),
					 .cached = cached,
					 .lock_fd = lock_fd};
}

static int build_alone(const struct fg_worktree_options *options, const struct places *places,
		       char **tail, struct fg_error *err)
{
	int lock_fd = -1;
	int status = FG_OK;

	FG_TRY(take_lock(options, places->lock, LOCK_EX, &lock_fd, err));
	/* The previous holder of the lock may have built the tree. */
	if (!is_built(places))
		status = check_out_and_build(options, places, tail, err);
	(void)close(lock_fd);
	return status;
}

static void set_snapshot(const struct fg_worktree_options *options, struct places *places,
			 unsigned number)
{
	char what[32];

	(void)snprintf(what, sizeof(what), "snapshot %u", number);
	set_folder(options, places, what);
}

/*
 * Takes the build of a commit that was the candidate of an earlier run. Returns false if there is
 * no such build, or another run uses it.
 */
static bool take_snapshot_of(const struct fg_worktree_options *options, struct places *places,
			     struct fg_worktree *worktree)
{
	for (unsigned i = 0; i < SNAPSHOTS_MAX; i++) {
		int lock_fd = -1;

		set_snapshot(options, places, i);
		if (!is_built(places) || !fg_file_try_lock(places->lock, &lock_fd))
			continue;
		if (is_built(places)) {
			give(places, true, lock_fd, worktree);
			return true;
		}
		(void)close(lock_fd);
	}
	return false;
}

/*
 * Many runs may use a commit's build at the same time; the shared lock keeps it from being removed.
 */
static int open_commit(const struct fg_worktree_options *options, struct places *places,
		       struct fg_worktree *worktree, char **tail, struct fg_error *err)
{
	bool cached = true;

	set_folder(options, places, places->wanted);
	if (!is_built(places) && take_snapshot_of(options, places, worktree))
		return FG_OK;
	set_folder(options, places, places->wanted);
	for (;;) {
		int lock_fd = -1;

		FG_TRY(take_lock(options, places->lock, LOCK_SH, &lock_fd, err));
		if (is_built(places)) {
			give(places, cached, lock_fd, worktree);
			return FG_OK;
		}
		(void)close(lock_fd);
		cached = false;
		FG_TRY(build_alone(options, places, tail, err));
	}
}

/*
 * If only a snapshot may hold the baseline's build, returns the hash of the baseline's tree, which
 * the caller frees. NULL: the commit's own build exists, both sides have the same tree, or there is
 * no baseline.
 */
static char *tree_to_spare(const struct fg_worktree_options *options, struct places *places)
{
	const struct fg_git git = {.folder = options->root, .interrupted = options->interrupted};
	char *tree = options->baseline ? fg_git_tree_of(&git, options->baseline) : NULL;

	if (tree)
		set_folder(options, places, tree);
	if (tree && (strcmp(tree, places->wanted) == 0 || mark_is(places, tree))) {
		free(tree);
		return NULL;
	}
	return tree;
}

/*
 * A snapshot's tree changes from run to run, so each run locks the first free tree, but not the
 * tree with the baseline's build.
 */
static int lock_snapshot(const struct fg_worktree_options *options, struct places *places,
			 int *lock_fd, struct fg_error *err)
{
	char *spared = tree_to_spare(options, places);

	for (unsigned i = 0; i < SNAPSHOTS_MAX; i++) {
		set_snapshot(options, places, i);
		if (!(spared && mark_is(places, spared)) &&
		    fg_file_try_lock(places->lock, lock_fd)) {
			free(spared);
			return FG_OK;
		}
	}
	free(spared);
	return take_lock(options, places->lock, LOCK_EX, lock_fd, err);
}

static int open_snapshot(const struct fg_worktree_options *options, struct places *places,
			 struct fg_worktree *worktree, char **tail, struct fg_error *err)
{
	bool cached = false;
	int lock_fd = -1;
	int status = FG_OK;

	FG_TRY(lock_snapshot(options, places, &lock_fd, err));
	cached = is_built(places);
	if (!cached)
		status = check_out_and_build(options, places, tail, err);
	if (status == FG_OK)
		give(places, cached, lock_fd, worktree);
	else
		(void)close(lock_fd);
	return status;
}

int fg_worktree_open(const struct fg_worktree_options *options, struct fg_worktree *worktree,
		     char **tail, struct fg_error *err)
{
	const size_t keep = options->keep ? options->keep : FG_WORKTREES_KEPT;
	struct places places = {0};
	size_t removed = 0;
	int status = FG_OK;

	FG_TRY_OUT(places_init(options, &places, err));
	status = options->snapshot ? open_snapshot(options, &places, worktree, tail, err)
				   : open_commit(options, &places, worktree, tail, err);
	if (status != FG_OK || worktree->cached)
		goto out;
	/* Pruning is best effort: stale builds only cost disk space. */
	if (fg_worktree_prune(options->root, options->state_folder, keep, &removed, NULL) ==
		    FG_OK &&
	    removed > 0)
		note(options, "removed %zu older build%s: the last %zu are kept", removed,
		     removed == 1 ? "" : "s", keep);
out:
	places_release(&places);
	return status;
}

static char *mark_of(const struct fg_worktree *worktree)
{
	char *folder = fg_fs_parent(worktree->tree);
	char *mark = fg_fs_join(folder, "built");

	free(folder);
	return mark;
}

int fg_worktree_claim(struct fg_worktree *worktree, struct fg_error *err)
{
	char *mark = NULL;
	int status = FG_OK;

	if (worktree->claimed)
		return FG_OK;
	if (flock(worktree->lock_fd, LOCK_EX | LOCK_NB) != 0) {
		(void)flock(worktree->lock_fd, LOCK_SH);
		return fg_error_set(err, FG_ECONFLICT, "another run uses this build now");
	}
	mark = mark_of(worktree);
	status = fg_fs_read(mark, MARK_BYTES_MAX, &worktree->claimed, NULL, err);
	if (status == FG_OK)
		(void)unlink(mark);
	free(mark);
	return status;
}

static void restore(const struct fg_worktree *worktree)
{
	const struct fg_git git = {.folder = worktree->tree};
	char *mark = mark_of(worktree);

	if (FG_GIT_RUN(&git, NULL, "checkout", "--force", "HEAD", "--", ".") != FG_OK ||
	    fg_fs_write_atomic(mark, worktree->claimed, strlen(worktree->claimed), 0644, NULL) !=
		    FG_OK)
		fg_log(FG_LOG_RUNNER, 1, "'%s' cannot be restored: the next run builds it again",
		       worktree->tree);
	free(mark);
}

void fg_worktree_close(struct fg_worktree *worktree)
{
	if (worktree->claimed)
		restore(worktree);
	free(worktree->claimed);
	if (worktree->root && worktree->lock_fd >= 0)
		(void)close(worktree->lock_fd);
	free(worktree->root);
	free(worktree->tree);
	*worktree = (struct fg_worktree){0};
}
