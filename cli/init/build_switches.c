// SPDX-License-Identifier: Apache-2.0
#include "base/fs.h"
#include "base/text.h"
#include "cli/init/project.h"

#include <ctype.h>

enum {
	MAX_TEXT_BYTES = 4 << 20,
	MAX_NAME = 100,
	MAX_WORDS = 8,
};

/* The form in which a build system declares a switch. */
static const struct dialect {
	enum fg_project_kind kind;
	const char *file;
	const char *declares;
	const char *off[MAX_WORDS]; /* a declaration with one of these words is off by default */
	const char *before;         /* flags are inserted before this part of the build command */
} dialects[] = {
	{
		.kind = FG_PROJECT_CMAKE,
		.file = "CMakeLists.txt",
		.declares = "option(",
		.off = {" off", " no", " false", " 0"},
		.before = " && cmake --build",
	},
	{
		.kind = FG_PROJECT_MESON,
		.file = "meson_options.txt",
		.declares = "option(",
		.off = {" false", ":false", "'disabled'", "'false'"},
		.before = " && ninja",
	},
	{
		.kind = FG_PROJECT_MESON,
		.file = "meson.options",
		.declares = "option(",
		.off = {" false", ":false", "'disabled'", "'false'"},
		.before = " && ninja",
	},
	{
		.kind = FG_PROJECT_CONFIGURE,
		.file = "configure.ac",
		.declares = "AC_ARG_ENABLE(",
		.off = {" no", "=no", "disabled"},
		.before = " && make",
	},
};

static const char *const wanted_words[][MAX_WORDS] = {
	[FG_PROJECT_WANT_BENCHMARKS] = {"bench", "perf_test", "perftest"},
	[FG_PROJECT_WANT_PROGRAMS] = {"tool", "cli", "program", "example", "test", "demo"},
};

/* Options with these words do not build programs. */
static const char *const other_words[MAX_WORDS] = {"install",  "download", "system", "use_",
						   "coverage", "lto",      "warn"};

static bool says_one_of(const char *text, const char *const *words)
{
	for (size_t i = 0; i < MAX_WORDS && words[i]; i++) {
		if (strcasestr(text, words[i]))
			return true;
	}
	return false;
}

/* Adds the flag for "option(NAME "description" OFF)"; `text` begins after the bracket. */
static void take_option(const struct dialect *dialect, enum fg_project_wanted wanted,
			const char *text, struct fg_strbuf *flags)
{
	const char *end = strchr(text, ')');
	char name[MAX_NAME + 1] = "";
	char *whole = end ? fg_xstrndup(text, (size_t)(end - text)) : NULL;
	const char *values = NULL;
	size_t length = 0;

	if (!whole)
		return;
	text = whole + strspn(whole, " \t\r\n'[");
	while (length < MAX_NAME &&
	       (isalnum((unsigned char)text[length]) || text[length] == '_' || text[length] == '-'))
		length++;
	memcpy(name, text, length);
	/* CMake's value follows a quoted explanation that may itself contain "off". */
	values = dialect->kind == FG_PROJECT_CMAKE   ? strrchr(text, '"')
		 : dialect->kind == FG_PROJECT_MESON ? strstr(text, "value")
						     : text;
	if (length > 0 && values && says_one_of(values, dialect->off) &&
	    says_one_of(name, wanted_words[wanted]) && !says_one_of(name, other_words)) {
		if (dialect->kind == FG_PROJECT_CONFIGURE)
			fg_strbuf_printf(flags, " --enable-%s", name);
		else
			fg_strbuf_printf(flags, " -D%s=%s", name,
					 strstr(values, "'disabled'")        ? "enabled"
					 : dialect->kind == FG_PROJECT_CMAKE ? "ON"
									     : "true");
	}
	free(whole);
}

static enum fg_project_kind dialect_kind(const struct fg_project *project)
{
	return fg_project_is_autotools(project->kind) ? FG_PROJECT_CONFIGURE : project->kind;
}

bool fg_project_is_comment(const char *text, const char *at)
{
	while (at > text && at[-1] != '\n')
		at--;
	return at[strspn(at, " \t")] == '#';
}

const char *fg_project_option_flags(const char *root, const struct fg_project *project,
				    enum fg_project_wanted wanted, struct fg_arena *arena)
{
	const enum fg_project_kind kind = dialect_kind(project);
	struct fg_strbuf flags = {0};
	const char *found = NULL;

	for (size_t i = 0; i < FG_ARRAY_SIZE(dialects); i++) {
		const struct dialect *dialect = &dialects[i];
		char *path = fg_fs_join(root, dialect->file);
		char *text = NULL;

		if (kind == dialect->kind &&
		    fg_fs_read(path, MAX_TEXT_BYTES, &text, NULL, NULL) == FG_OK) {
			for (const char *at = strcasestr(text, dialect->declares); at;
			     at = strcasestr(at + 1, dialect->declares)) {
				const bool is_word =
					at == text ||
					(!isalnum((unsigned char)at[-1]) && at[-1] != '_');

				if (is_word && !fg_project_is_comment(text, at))
					take_option(dialect, wanted, at + strlen(dialect->declares),
						    &flags);
			}
		}
		free(text);
		free(path);
	}
	found = flags.length ? fg_arena_strdup(arena, fg_strbuf_text(&flags)) : NULL;
	fg_strbuf_release(&flags);
	return found;
}

const char *fg_project_command_with(const struct fg_project *project, const char *flags,
				    struct fg_arena *arena)
{
	for (size_t i = 0; i < FG_ARRAY_SIZE(dialects); i++) {
		const char *at = dialect_kind(project) == dialects[i].kind
					 ? strstr(project->build_command, dialects[i].before)
					 : NULL;

		if (at)
			return fg_arena_printf(arena, "%.*s%s%s",
					       (int)(at - project->build_command),
					       project->build_command, flags, at);
	}
	return project->build_command;
}
