// SPDX-License-Identifier: Apache-2.0
#include "runner/target.h"

#include "base/fs.h"
#include "base/hash.h"
#include "base/text.h"
#include "runner/execute/preload.h"

#include <fcntl.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const shells[] = {"sh", "bash", "dash", "zsh", "ksh", "busybox"};

/*
 * Variables that fastgate sets per repetition; values from a surrounding fastgate must not leak in.
 */
static bool is_own_variable(const char *variable)
{
	return fg_text_starts_with(variable, "FASTGATE_PADDING") ||
	       fg_text_starts_with(variable, "FASTGATE_COLLECTOR_");
}

/* Does the benchmark itself set this variable? */
static bool is_overridden(const struct fg_benchmark *benchmark, const char *variable)
{
	for (size_t i = 0; i < benchmark->environment_count; i++) {
		const char *name = benchmark->environment[i].name;
		const size_t length = strlen(name);

		if (strncmp(variable, name, length) == 0 && variable[length] == '=')
			return true;
	}
	return false;
}

/*
 * The environment has the same size in both arms: PWD is the arm's working directory, whose path
 * has the same length in both arms. PWD is not inherited, because fastgate may have been started in
 * the folder of one arm.
 */
static void build_environment(struct fg_target *target)
{
	static const char pwd[] = "PWD=";
	const struct fg_benchmark *benchmark = target->benchmark;
	char **all = NULL;
	size_t count = 0;
	size_t room = 0;

	for (char **variable = environ; *variable; variable++) {
		if (!is_own_variable(*variable) && !is_overridden(benchmark, *variable) &&
		    !fg_text_starts_with(*variable, pwd))
			FG_APPEND(all, count, room) = fg_xstrdup(*variable);
	}
	for (size_t i = 0; i < benchmark->environment_count; i++)
		FG_APPEND(all, count, room) = fg_xasprintf("%s=%s", benchmark->environment[i].name,
							   benchmark->environment[i].value);
	if (!is_overridden(benchmark, pwd))
		FG_APPEND(all, count, room) = fg_xasprintf("%s%s", pwd, target->working_directory);
	target->environment_count = count;
	(void)FG_APPEND(all, count, room); /* NULL ends the list */
	target->environment = all;
}

/*
 * A name with a slash is relative to the working directory, as for exec; other names are searched
 * for in PATH.
 */
static char *find_program(const char *working_directory, const char *name)
{
	char *path = NULL;

	if (!strchr(name, '/'))
		return fg_fs_find_program(name);
	path = fg_fs_join(working_directory, name);
	if (access(path, X_OK) != 0 || fg_fs_is_folder(path)) {
		free(path);
		path = NULL;
	}
	return path;
}

static bool is_shell(const char *program)
{
	return FG_TEXT_IS_AMONG(fg_fs_base_name(program), shells);
}

static char *absolute_folder(const char *path)
{
	char *resolved = realpath(path, NULL);

	return resolved ? resolved : fg_xstrdup(path);
}

static const struct fg_command *command_of(const struct fg_benchmark *benchmark, enum fg_arm arm)
{
	if (arm == FG_ARM_BASELINE && benchmark->baseline_command.argc)
		return &benchmark->baseline_command;
	return &benchmark->command;
}

void fg_target_init(struct fg_target *target, enum fg_arm arm, const struct fg_benchmark *benchmark,
		    const char *root)
{
	*target =
		(struct fg_target){.arm = arm, .benchmark = benchmark, .binary_size = (double)NAN};
	if (!root)
		return;
	target->command = command_of(benchmark, arm);
	FG_ASSERT(target->command->argc > 0);
	target->root = absolute_folder(root);
	char *folder = fg_fs_join(
		target->root, benchmark->working_directory ? benchmark->working_directory : ".");

	target->working_directory = absolute_folder(folder);
	free(folder);
	if (benchmark->stdin_path)
		target->stdin_path = fg_fs_join(target->working_directory, benchmark->stdin_path);
	build_environment(target);
}

/* Is this a readable file other than an ELF program, which the kernel passes to an interpreter? */
static bool is_script(const char *program)
{
	static const char magic[] = "\177ELF";
	char head[sizeof(magic) - 1] = "";
	const int fd = open(program, O_RDONLY | O_CLOEXEC);
	const bool is_elf = fd >= 0 && read(fd, head, sizeof(head)) == (ssize_t)sizeof(head) &&
			    memcmp(head, magic, sizeof(head)) == 0;

	if (fd >= 0)
		(void)close(fd);
	return fd >= 0 && !is_elf;
}

bool fg_targets_are_outside(const struct fg_target targets[FG_ARM_COUNT])
{
	for (size_t arm = 0; arm < FG_ARM_COUNT; arm++)
		if (targets[arm].command &&
		    (!targets[arm].program || !fg_preload_is_outside(targets[arm].program)))
			return false;
	return true;
}

bool fg_target_is_inside(const struct fg_target *target, const char *path)
{
	return fg_fs_is_below(target->root, path);
}

void fg_target_resolve(struct fg_target *target)
{
	struct stat status;

	if (!target->command)
		return;
	free(target->program);
	target->program = find_program(target->working_directory, target->command->argv[0]);
	if (!target->program)
		return;
	target->is_shell = is_shell(target->program);
	target->is_wrapper = target->is_shell || is_script(target->program) ||
			     !fg_fs_is_below(target->root, target->program);
	if (!target->is_shell && stat(target->program, &status) == 0)
		target->binary_size = (double)status.st_size;
}

void fg_target_layouts_cut(struct fg_target_layouts *layouts, unsigned count)
{
	for (; layouts->count > count; layouts->count--) {
		struct fg_target_layout *last = &layouts->items[layouts->count - 1];

		free(last->program);
		free(last->library_folder);
		*last = (struct fg_target_layout){0};
	}
}

void fg_target_release(struct fg_target *target)
{
	fg_free_words(target->environment);
	fg_target_layouts_cut(&target->layouts, 0);
	free(target->root);
	free(target->working_directory);
	free(target->stdin_path);
	free(target->program);
	*target = (struct fg_target){0};
}

static bool hash_file(const char *path, uint8_t digest[FG_SHA256_SIZE])
{
	struct fg_sha256 sha;

	fg_sha256_init(&sha);
	if (!fg_sha256_add_file(&sha, path))
		return false;
	fg_sha256_finish(&sha, digest);
	return true;
}

/* Larger files are not compared: they count as different. */
static const off_t compared_max_bytes = (off_t)1 << 30;

static bool same_file(const char *a, const char *b)
{
	uint8_t digests[2][FG_SHA256_SIZE];
	struct stat status[2];
	const bool a_is_file = stat(a, &status[0]) == 0 && S_ISREG(status[0].st_mode);
	const bool b_is_file = stat(b, &status[1]) == 0 && S_ISREG(status[1].st_mode);

	if (!a_is_file || !b_is_file)
		return a_is_file == b_is_file;
	if (status[0].st_dev == status[1].st_dev && status[0].st_ino == status[1].st_ino)
		return true;
	if (status[0].st_size != status[1].st_size || status[0].st_size > compared_max_bytes)
		return false;
	return hash_file(a, digests[0]) && hash_file(b, digests[1]) &&
	       memcmp(digests[0], digests[1], FG_SHA256_SIZE) == 0;
}

static bool same_named_file(const struct fg_target *a, const struct fg_target *b, const char *name)
{
	char *path_a = fg_fs_join(a->working_directory, name);
	char *path_b = fg_fs_join(b->working_directory, name);
	const bool same = same_file(path_a, path_b);

	free(path_a);
	free(path_b);
	return same;
}

bool fg_target_same_files(const struct fg_target *a, const struct fg_target *b)
{
	if (!a->program || !b->program)
		return false;
	if ((a->is_wrapper || b->is_wrapper) && strcmp(a->root, b->root) != 0)
		return false;
	if (a->is_shell || b->is_shell)
		return false;
	if (a->command->argc != b->command->argc || !same_file(a->program, b->program))
		return false;
	for (size_t i = 1; i < a->command->argc; i++) {
		if (strcmp(a->command->argv[i], b->command->argv[i]) != 0)
			return false;
		if (!same_named_file(a, b, a->command->argv[i]))
			return false;
	}
	return !a->stdin_path || same_file(a->stdin_path, b->stdin_path);
}

void fg_target_share_stdin(struct fg_target *target, const struct fg_target *other)
{
	if (!target->stdin_path || !other->stdin_path || target->benchmark->prepare.argc ||
	    !same_file(target->stdin_path, other->stdin_path))
		return;
	free(target->stdin_path);
	target->stdin_path = fg_xstrdup(other->stdin_path);
}

/* Larger files would take longer than most benchmarks. */
static const off_t reread_max_bytes = (off_t)1 << 30;

static void reread(const char *path)
{
	struct stat status;

	if (stat(path, &status) == 0 && S_ISREG(status.st_mode) &&
	    status.st_size <= reread_max_bytes)
		fg_fs_cache_again(path);
}

void fg_target_reread(const struct fg_target *target)
{
	static const char separators[] = " \t\n\"'`=,:;&|<>()$";

	if (target->program && !target->is_shell)
		reread(target->program);
	if (target->stdin_path && fg_target_is_inside(target, target->stdin_path))
		reread(target->stdin_path);
	/* A word may be a shell's script, or an option with a path. */
	for (size_t i = 1; i < target->command->argc; i++) {
		char *words = fg_xstrdup(target->command->argv[i]);
		char *rest = words;

		for (const char *word; (word = strsep(&rest, separators));) {
			char *path = fg_fs_join(target->working_directory, word);

			if (*word && fg_target_is_inside(target, path))
				reread(path);
			free(path);
		}
		free(words);
	}
}

static void reread_library(void *context, const char *path)
{
	(void)context;
	fg_fs_cache_again(path);
}

void fg_target_reread_layouts(const struct fg_target *target)
{
	for (unsigned i = 0; i < target->layouts.count; i++) {
		const struct fg_target_layout *layout = &target->layouts.items[i];

		fg_fs_cache_again(layout->program);
		if (layout->library_folder)
			(void)fg_fs_each(layout->library_folder, reread_library, NULL, NULL);
	}
}
