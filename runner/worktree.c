// SPDX-License-Identifier: Apache-2.0
#include "runner/worktree.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/process.h"
#include "base/text.h"
#include "runner/git.h"
#include "runner/tail.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
	KEY_LENGTH = 16,
	KEEP_BUILDS = 5,
	LOCK_RETRY_MS = 100,
	LOG_LIMIT_BYTES = 64 << 20,
	TAIL_LINES = 20,
	TAIL_BYTES = 4096,
	SHORT_HASH = 9,
};

/* Settings from outside that change what a build makes. */
static const char *const build_variables[] = {"CC",
					      "CXX",
					      "CFLAGS",
					      "CXXFLAGS",
					      "CPPFLAGS",
					      "LDFLAGS",
					      "CMAKE_PREFIX_PATH",
					      "CMAKE_BUILD_TYPE",
					      NULL};

static void add_to_key(struct fg_sha256 *sha, const char *text)
{
	/* the NUL keeps "ab" "c" and "a" "bc" apart */
	fg_sha256_add(sha, text ? text : "", text ? strlen(text) + 1 : 1);
}

/*
 * By the tree: a commit that was built while it was staged, or that was only reworded, is not built
 * again.
 */
static void make_key(const struct fg_worktree_options *options, const char *tree,
		     const char *prefix, char key[KEY_LENGTH + 1])
{
	uint8_t digest[FG_SHA256_SIZE];
	char hex[FG_SHA256_HEX_SIZE];
	struct fg_sha256 sha;

	fg_sha256_init(&sha);
	add_to_key(&sha, tree);
	add_to_key(&sha, prefix);
	for (size_t i = 0; i < options->build->command.argc; i++)
		add_to_key(&sha, options->build->command.argv[i]);
	for (size_t i = 0; build_variables[i]; i++)
		add_to_key(&sha, getenv(build_variables[i]));
	for (size_t i = 0; i < options->build->record_count; i++)
		add_to_key(&sha, options->build->record[i].literal);
	fg_sha256_finish(&sha, digest);
	fg_hex(digest, sizeof(digest), hex);
	memcpy(key, hex, KEY_LENGTH);
	key[KEY_LENGTH] = '\0';
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

static bool is_interrupted(const struct fg_worktree_options *options)
{
	return options->interrupted && *options->interrupted;
}

/* Wait for the lock in small steps, so that Ctrl-C is heard. */
static int take_lock(const struct fg_worktree_options *options, const char *path, int how,
		     int *lock_fd, struct fg_error *err)
{
	const struct timespec pause = {.tv_nsec = LOCK_RETRY_MS * FG_NS_PER_MS};
	const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	bool told = false;

	if (fd < 0)
		return fg_error_errno(err, FG_EIO, "cannot make the lock '%s'", path);
	while (flock(fd, how | LOCK_NB) != 0) {
		if (errno != EWOULDBLOCK && errno != EINTR) {
			(void)close(fd);
			return fg_error_errno(err, FG_EIO, "cannot lock '%s'", path);
		}
		if (is_interrupted(options)) {
			(void)close(fd);
			return fg_error_set(err, FG_EINTERRUPTED, "interrupted");
		}
		if (!told)
			note(options, "waiting: another fastgate is building%s%.*s",
			     options->commit ? " " : "", SHORT_HASH,
			     options->commit ? options->commit : "");
		told = true;
		(void)nanosleep(&pause, NULL);
	}
	*lock_fd = fd;
	return FG_OK;
}

/* ---- checkout ---- */

/*
 * "-c submodule.NAME.url=…/modules/NAME" for each submodule of the tree that the main checkout has
 * already.  A name may hold slashes, as the path that it usually is.
 */
static size_t add_local_modules(const struct fg_git *in_tree, const char *modules_folder,
				char *settings[], size_t most)
{
	static const char start[] = "submodule.";
	static const char end[] = ".path ";
	const char *const ask[] = {
		"config", "--file", ".gitmodules", "--get-regexp", "^submodule\\..*\\.path$", NULL};
	char *lines = NULL;
	size_t count = 0;

	if (fg_git_output(in_tree, ask, &lines, NULL) != FG_OK)
		return 0;
	for (char *line = lines; line && count < most;) {
		char *next = strchr(line, '\n');
		char *name_end = NULL;

		if (next)
			*next++ = '\0';
		name_end = strstr(line, end);
		if (name_end && fg_text_starts_with(line, start)) {
			char *folder = NULL;

			*name_end = '\0';
			folder = fg_fs_join(modules_folder, line + strlen(start));
			if (fg_fs_is_folder(folder))
				settings[count++] = fg_xasprintf("%s.url=%s", line, folder);
			free(folder);
		}
		line = next;
	}
	free(lines);
	return count;
}

/*
 * Submodules whose commits the main checkout has already are cloned from there: no network is
 * needed.
 */
static int update_submodules(const struct fg_git *in_tree, const char *top, struct fg_error *err)
{
	enum {
		MODULES_MAX = 100
	};
	const struct fg_git in_top = {.folder = top, .interrupted = in_tree->interrupted};
	const char *const common_dir[] = {"rev-parse", "--path-format=absolute", "--git-common-dir",
					  NULL};
	const char *const plain[] = {"submodule", "update", "--init", "--recursive", NULL};
	const char *arguments[FG_ARRAY_SIZE(plain) + 2 * (size_t)MODULES_MAX + 2] = {
		"-c", "protocol.file.allow=always"};
	char *settings[MODULES_MAX] = {NULL};
	char *modules_folder = NULL;
	char *common = NULL;
	char *ignored = NULL;
	size_t count = 0;
	size_t used = 2;
	int status = fg_git_output(&in_top, common_dir, &common, err);

	if (status != FG_OK)
		return status;
	modules_folder = fg_fs_join(common, "modules");
	count = add_local_modules(in_tree, modules_folder, settings, MODULES_MAX);
	for (size_t i = 0; i < count; i++) {
		arguments[used++] = "-c";
		arguments[used++] = settings[i];
	}
	memcpy(&arguments[used], plain, sizeof(plain));
	status = fg_git_output(in_tree, count ? arguments : plain, &ignored, err);
	if (status == FG_ECHILD && count) /* what is there lacks the commit that is wanted */
		status = fg_git_output(in_tree, plain, &ignored, err);
	for (size_t i = 0; i < count; i++)
		free(settings[i]);
	free(modules_folder);
	free(common);
	free(ignored);
	return status;
}

static int check_out(const struct fg_worktree_options *options, const char *top, const char *tree,
		     struct fg_error *err)
{
	const struct fg_git in_top = {.folder = top, .interrupted = options->interrupted};
	const struct fg_git in_tree = {.folder = tree, .interrupted = options->interrupted};
	const char *const prune[] = {"worktree", "prune", NULL};
	const char *const add[] = {"-c",
				   "core.hooksPath=/dev/null",
				   "worktree",
				   "add",
				   "--force",
				   "--detach",
				   "--quiet",
				   tree,
				   options->commit,
				   NULL};
	char *ignored = NULL;
	char *modules = NULL;
	int status = fg_fs_remove_tree(tree, err);

	if (status == FG_OK)
		status = fg_git_output(&in_top, prune, &ignored, err);
	free(ignored);
	ignored = NULL;
	if (status == FG_OK)
		status = fg_git_output(&in_top, add, &ignored, err);
	free(ignored);
	if (status != FG_OK)
		return status;
	modules = fg_fs_join(tree, ".gitmodules");
	if (fg_fs_exists(modules))
		status = update_submodules(&in_tree, top, err);
	if (status != FG_OK)
		fg_error_prefix(err, "the submodules of %.*s", SHORT_HASH, options->commit);
	free(modules);
	return status;
}

/* ---- build ---- */

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

static int build_in(const struct fg_worktree_options *options, const char *root,
		    const char *log_path, char **tail, struct fg_error *err)
{
	const struct fg_git git = {.folder = root};
	struct fg_process_result result = {0};
	struct fg_strbuf log = {0};
	char **environment = NULL;
	int status = FG_OK;

	if (!options->build->command.argc)
		return FG_OK;
	environment = fg_git_clean_environment(&git);
	status = fg_process_run(&(struct fg_process_options){.argv = options->build->command.argv,
							     .environment = environment,
							     .working_directory = root,
							     .stdout_to = FG_STREAM_CAPTURE,
							     .stderr_to = FG_STREAM_CAPTURE,
							     .capture_limit_bytes = LOG_LIMIT_BYTES,
							     .interrupted = options->interrupted},
				&result, err);
	fg_git_environment_free(environment);
	if (status != FG_OK)
		return status;
	fg_strbuf_printf(&log, "$ %s\n", options->build->command.text);
	fg_strbuf_add(&log, result.stdout_text, result.stdout_size);
	fg_strbuf_add(&log, result.stderr_text, result.stderr_size);
	status = fg_fs_write_atomic(log_path, log.data, log.length, 0644, err);
	if (status == FG_OK && (!result.exited || result.exit_code != 0))
		status = explain_build(options, &result, log_path, tail, err);
	fg_strbuf_release(&log);
	fg_process_result_release(&result);
	return status;
}

int fg_worktree_build(const struct fg_worktree_options *options, const char *root,
		      const char *log_path, char **tail, struct fg_error *err)
{
	char *lock = fg_xasprintf("%s.lock", log_path);
	char *folder = fg_fs_parent(log_path);
	int lock_fd = -1;
	int status = fg_fs_make_folders(folder, 0755, err);

	if (status == FG_OK)
		status = take_lock(options, lock, LOCK_EX, &lock_fd, err);
	if (status == FG_OK)
		status = build_in(options, root, log_path, tail, err);
	if (lock_fd >= 0)
		(void)close(lock_fd);
	free(folder);
	free(lock);
	return status;
}

/* ---- all of it ---- */

struct places {
	char *top;    /* of the repository */
	char *prefix; /* from there to the plan's root */
	char *builds; /* STATE/builds, absolute */
	char *folder; /* STATE/builds/KEY */
	char *tree;
	char *mark; /* exists once the build has succeeded */
	char *log;
	char *lock;
};

static void places_release(struct places *places)
{
	free(places->top);
	free(places->prefix);
	free(places->builds);
	free(places->folder);
	free(places->tree);
	free(places->mark);
	free(places->log);
	free(places->lock);
}

static int places_init(const struct fg_worktree_options *options, struct places *places,
		       struct fg_error *err)
{
	const struct fg_git git = {.folder = options->root, .interrupted = options->interrupted};
	char key[KEY_LENGTH + 1];
	char *builds = fg_fs_join(options->state_folder, "builds");
	char *lock = NULL;
	char *tree = NULL;
	int status = fg_git_locate(&git, &places->top, &places->prefix, err);

	if (status == FG_OK)
		status = fg_fs_make_folders(builds, 0755, err);
	if (status == FG_OK) {
		places->builds = realpath(builds, NULL);
		if (!places->builds)
			status = fg_error_errno(err, FG_EIO, "'%s'", builds);
	}
	free(builds);
	if (status != FG_OK)
		return status;
	tree = fg_git_tree_of(&git, options->commit);
	make_key(options, tree ? tree : options->commit, places->prefix, key);
	free(tree);
	places->folder = fg_fs_join(places->builds, key);
	places->tree = fg_fs_join(places->folder, "tree");
	places->mark = fg_fs_join(places->folder, "built");
	places->log = fg_fs_join(places->folder, "build.log");
	lock = fg_xasprintf("%s.lock", key);
	places->lock = fg_fs_join(places->builds, lock);
	free(lock);
	return FG_OK;
}

static int check_out_and_build(const struct fg_worktree_options *options,
			       const struct places *places, const char *root, char **tail,
			       struct fg_error *err)
{
	int status = fg_fs_make_folders(places->folder, 0755, err);

	if (status == FG_OK)
		status = check_out(options, places->top, places->tree, err);
	if (status != FG_OK)
		return status;
	if (!fg_fs_is_folder(root))
		return fg_error_set(err, FG_ENOENT, "%.*s has no folder '%s'", SHORT_HASH,
				    options->commit, places->prefix);
	if (options->build->command.argc)
		note(options, "building %.*s: %s", SHORT_HASH, options->commit,
		     options->build->command.text);
	status = build_in(options, root, places->log, tail, err);
	if (status == FG_ECHILD)
		fg_error_prefix(err, "%.*s does not build", SHORT_HASH, options->commit);
	if (status == FG_OK)
		status = fg_fs_write_atomic(places->mark, options->commit, strlen(options->commit),
					    0644, err);
	return status;
}

static bool is_built(const struct places *places, const char *root)
{
	return fg_fs_exists(places->mark) && fg_fs_is_folder(root);
}

static int build_alone(const struct fg_worktree_options *options, const struct places *places,
		       const char *root, char **tail, struct fg_error *err)
{
	int lock_fd = -1;
	int status = take_lock(options, places->lock, LOCK_EX, &lock_fd, err);

	if (status != FG_OK)
		return status;
	/* Whoever held the lock before may have built it. */
	if (!is_built(places, root))
		status = check_out_and_build(options, places, root, tail, err);
	(void)close(lock_fd);
	return status;
}

/* Many may use a build at the same time; a shared lock keeps it from being cleared away. */
static int build_and_share(const struct fg_worktree_options *options, const struct places *places,
			   char *root, char **tail, struct fg_worktree *worktree,
			   struct fg_error *err)
{
	bool cached = true;

	for (;;) {
		int lock_fd = -1;
		int status = take_lock(options, places->lock, LOCK_SH, &lock_fd, err);

		if (status != FG_OK)
			return status;
		if (is_built(places, root)) {
			(void)utimensat(AT_FDCWD, places->mark, NULL, 0); /* used last: now */
			*worktree = (struct fg_worktree){
				.root = root, .cached = cached, .lock_fd = lock_fd};
			return FG_OK;
		}
		(void)close(lock_fd);
		cached = false;
		status = build_alone(options, places, root, tail, err);
		if (status != FG_OK)
			return status;
	}
}

int fg_worktree_open(const struct fg_worktree_options *options, struct fg_worktree *worktree,
		     char **tail, struct fg_error *err)
{
	struct places places = {0};
	char *root = NULL;
	size_t removed = 0;
	int status = places_init(options, &places, err);

	if (status != FG_OK)
		goto out;
	root = *places.prefix ? fg_fs_join(places.tree, places.prefix) : fg_xstrdup(places.tree);
	status = build_and_share(options, &places, root, tail, worktree, err);
	if (status != FG_OK)
		goto out;
	root = NULL;
	/* Old ones are litter: if they cannot be cleared away, that is no reason to fail. */
	if (!worktree->cached &&
	    fg_worktree_prune(options->root, options->state_folder, KEEP_BUILDS, &removed, NULL) ==
		    FG_OK &&
	    removed > 0)
		note(options, "cleared away %zu built commits that were not used for long",
		     removed);
out:
	free(root);
	places_release(&places);
	return status;
}

void fg_worktree_close(struct fg_worktree *worktree)
{
	if (worktree->root && worktree->lock_fd >= 0)
		(void)close(worktree->lock_fd);
	free(worktree->root);
	*worktree = (struct fg_worktree){0};
}

/* ---- clearing away ---- */

struct built {
	char *name;
	int64_t used_ns;
};

static int newest_first(const void *a, const void *b)
{
	const int64_t x = ((const struct built *)a)->used_ns;
	const int64_t y = ((const struct built *)b)->used_ns;

	return (x < y) - (x > y);
}

static int64_t used_at(const char *builds, const char *name)
{
	char *folder = fg_fs_join(builds, name);
	char *mark = fg_fs_join(folder, "built");
	struct stat status = {0};

	if (stat(mark, &status) != 0)
		(void)stat(folder, &status);
	free(folder);
	free(mark);
	return status.st_mtim.tv_sec * FG_NS_PER_S + status.st_mtim.tv_nsec;
}

/* Remove one unless somebody uses it. */
static bool remove_built(const char *builds, const char *name)
{
	char *lock_name = fg_xasprintf("%s.lock", name);
	char *lock = fg_fs_join(builds, lock_name);
	char *folder = fg_fs_join(builds, name);
	const int fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	bool removed = false;

	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
		removed = fg_fs_remove_tree(folder, NULL) == FG_OK;
	if (fd >= 0)
		(void)close(fd);
	free(lock_name);
	free(lock);
	free(folder);
	return removed;
}

int fg_worktree_prune(const char *root, const char *state_folder, size_t keep, size_t *removed,
		      struct fg_error *err)
{
	const struct fg_git git = {.folder = root};
	const char *const prune[] = {"worktree", "prune", NULL};
	char *builds = fg_fs_join(state_folder, "builds");
	struct built *found = NULL;
	char **names = NULL;
	char *ignored = NULL;
	size_t count = 0;
	size_t folders = 0;
	int status = FG_OK;

	*removed = 0;
	if (!fg_fs_is_folder(builds))
		goto out;
	status = fg_fs_list(builds, &names, &count, err);
	if (status != FG_OK)
		goto out;
	found = fg_xcalloc(count, sizeof(found[0]));
	for (size_t i = 0; i < count; i++) {
		if (strlen(names[i]) == KEY_LENGTH)
			found[folders++] = (struct built){.name = names[i],
							  .used_ns = used_at(builds, names[i])};
	}
	qsort(found, folders, sizeof(found[0]), newest_first);
	for (size_t i = keep; i < folders; i++)
		*removed += remove_built(builds, found[i].name);
	if (*removed > 0)
		status = fg_git_output(&git, prune, &ignored, err);
out:
	free(ignored);
	free(found);
	fg_fs_list_free(names, count);
	free(builds);
	return status;
}
