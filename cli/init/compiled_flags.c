// SPDX-License-Identifier: Apache-2.0
#include "base/fs.h"
#include "base/text.h"
#include "cli/init/project.h"
#include "runner/facts/binary.h"

#include <ctype.h>
#include <sys/stat.h>

enum {
	MAX_TEXT_BYTES = 16 << 20,
	MAX_DEPTH = 8,
	MAX_PROGRAMS = 20,
};

/*
 * Files in which build systems keep the compilers' command lines, and the text that marks such a
 * line.
 */
static const struct source {
	const char *file;
	const char *line;
} sources[] = {
	{.file = "flags.make", .line = "_FLAGS = "},  /* CMake's makefiles */
	{.file = "build.ninja", .line = " FLAGS = "}, /* CMake's ninja files */
	{.file = "build.ninja", .line = " ARGS = "},  /* Meson */
	{.file = "compile_commands.json", .line = " \"command\": "},
};

struct scan {
	struct fg_project_flags commands;
	struct fg_project_flags programs;
	size_t files;
	size_t programs_read;
};

static bool is_debug_flag(const char *word, size_t length)
{
	if (length < 2 || strncmp(word, "-g", 2) != 0 || (length == 3 && word[2] == '0'))
		return false;
	return length == 2 || isdigit((unsigned char)word[2]) || strncmp(word + 2, "gdb", 3) == 0 ||
	       strncmp(word + 2, "dwarf", 5) == 0;
}

/* The last -O on a command line counts, as it does for the compiler. */
static void add_command(const char *line, struct fg_project_flags *flags)
{
	bool optimised = false;
	bool debug = false;

	while (*line) {
		const size_t length = strcspn(line, " \t\"\\,");

		if (length >= 2 && strncmp(line, "-O", 2) == 0)
			optimised = line[2] != '0' && line[2] != 'g';
		debug = debug || is_debug_flag(line, length);
		line += length + (line[length] != '\0');
	}
	*(optimised ? &flags->optimised : &flags->unoptimised) += 1;
	flags->with_debug += debug;
}

static void read_commands(const char *path, const char *marker, struct fg_project_flags *flags)
{
	char *text = NULL;
	char *rest = NULL;

	if (fg_fs_read(path, MAX_TEXT_BYTES, &text, NULL, NULL) != FG_OK)
		return;
	rest = text;
	for (const char *line = strsep(&rest, "\n"); line; line = strsep(&rest, "\n")) {
		const char *at = strstr(line, marker);

		if (at)
			add_command(at + strlen(marker), flags);
	}
	free(text);
}

static void read_program(const char *path, struct scan *scan)
{
	const unsigned slow = FG_BINARY_O0 | FG_BINARY_OG;
	struct fg_binary binary = {0};

	if (scan->programs_read == MAX_PROGRAMS || fg_binary_read(path, &binary, NULL) != FG_OK)
		return;
	scan->programs_read++;
	if (binary.levels)
		*(binary.levels & ~slow ? &scan->programs.optimised
					: &scan->programs.unoptimised) += 1;
	scan->programs.with_debug += binary.has_debug_info;
	fg_binary_release(&binary);
}

/* Is this folder to be skipped: third-party code, CMake's compiler tests, .git? */
static bool is_foreign(const char *name)
{
	static const char *const foreign[] = {"CompilerId", "CMakeScratch", "CMakeTmp", "_deps",
					      ".git",       "third_party",  "external"};

	for (size_t i = 0; i < FG_ARRAY_SIZE(foreign); i++) {
		if (fg_text_starts_with(name, foreign[i]))
			return true;
	}
	return false;
}

static void scan_folder(const char *folder, unsigned depth, struct scan *scan);

static void scan_entry(const char *path, unsigned depth, struct scan *scan)
{
	const char *name = fg_fs_base_name(path);
	struct stat status;

	if (lstat(path, &status) != 0)
		return;
	if (S_ISDIR(status.st_mode)) {
		if (depth < MAX_DEPTH)
			scan_folder(path, depth + 1, scan);
		return;
	}
	if (!S_ISREG(status.st_mode))
		return;
	for (size_t i = 0; i < FG_ARRAY_SIZE(sources); i++) {
		if (strcmp(name, sources[i].file) == 0)
			read_commands(path, sources[i].line, &scan->commands);
	}
	if (status.st_mode & 0111)
		read_program(path, scan);
}

static void scan_folder(const char *folder, unsigned depth, struct scan *scan)
{
	char **names = NULL;
	size_t count = 0;

	if (fg_fs_list(folder, &names, &count, NULL) != FG_OK)
		return;
	for (size_t i = 0; i < count && scan->files < FG_PROJECT_MAX_FILES; i++) {
		char *path = fg_fs_join(folder, names[i]);

		scan->files++;
		if (!is_foreign(names[i]))
			scan_entry(path, depth, scan);
		free(path);
	}
	fg_fs_list_free(names, count);
}

void fg_project_read_flags(const char *folder, struct fg_project_flags *flags)
{
	struct scan scan = {0};
	const struct fg_project_flags *commands = &scan.commands;

	scan_folder(folder, 0, &scan);
	*flags = commands->optimised + commands->unoptimised ? scan.commands : scan.programs;
}

bool fg_project_is_optimised(const struct fg_project_flags *flags)
{
	return flags->optimised > 0 && flags->optimised >= flags->unoptimised;
}
