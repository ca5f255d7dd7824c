// SPDX-License-Identifier: Apache-2.0
#include "cli/init/project.h"

#include "base/fs.h"
#include "base/text.h"
#include "cli/init/inputs.h"
#include "runner/build/git.h"

#include <ctype.h>

enum {
	MAX_TEXT_BYTES = 4 << 20,
};

const char *fg_project_kind_name(enum fg_project_kind kind)
{
	static const char *const names[FG_PROJECT_KIND_COUNT] = {
		[FG_PROJECT_UNKNOWN] = "unknown",
		[FG_PROJECT_CMAKE] = "CMake",
		[FG_PROJECT_MESON] = "Meson",
		[FG_PROJECT_BAZEL] = "Bazel",
		[FG_PROJECT_MAKE] = "Make",
		[FG_PROJECT_CONFIGURE] = "configure",
		[FG_PROJECT_AUTORECONF] = "autotools",
		[FG_PROJECT_AUTOGEN] = "autogen.sh",
		[FG_PROJECT_BOOTSTRAP] = "bootstrap",
		[FG_PROJECT_NINJA] = "ninja",
		[FG_PROJECT_CARGO] = "Cargo",
		[FG_PROJECT_GO] = "Go",
		[FG_PROJECT_SETUP_PY] = "setup.py",
		[FG_PROJECT_PYPROJECT] = "pyproject.toml",
	};

	return names[kind];
}

/* "zlib-1.2.13" becomes "zlib". */
static const char *name_of(const char *root, struct fg_arena *arena)
{
	char *whole = realpath(root, NULL);
	const char *base = whole ? fg_fs_base_name(whole) : "";
	size_t length = strlen(base);
	const char *name = NULL;

	for (size_t i = 1; i < strlen(base); i++) {
		if (base[i - 1] == '-' && isdigit((unsigned char)base[i])) {
			length = i - 1;
			break;
		}
	}
	name = fg_arena_printf(arena, "%.*s", (int)length, base);
	free(whole);
	return name;
}

/* Returns the file's text, which the caller frees; NULL if the file is absent or too large. */
static char *text_of(const char *root, const char *name)
{
	char *path = fg_fs_join(root, name);
	char *text = NULL;

	if (fg_fs_read(path, MAX_TEXT_BYTES, &text, NULL, NULL) != FG_OK)
		text = NULL;
	free(path);
	return text;
}

static bool file_says(const char *root, const char *name, const char *words)
{
	char *text = text_of(root, name);
	const bool found = text && strstr(text, words);

	free(text);
	return found;
}

static bool has_line_beginning(const char *root, const char *name, const char *beginning)
{
	char *text = text_of(root, name);
	char *rest = text;
	bool found = false;

	for (const char *line = strsep(&rest, "\n"); line && !found; line = strsep(&rest, "\n"))
		found = fg_text_starts_with(line, beginning);
	free(text);
	return found;
}

/*
 * Returns the value of an entry of CMakeCache.txt, which the caller frees; "" without the entry,
 * NULL without the file.
 */
static char *cached_value(const char *root, const char *folder, const char *entry)
{
	char *path = fg_xasprintf("%s/%s/CMakeCache.txt", root, folder);
	char *text = NULL;
	char *value = NULL;
	size_t size = 0;

	if (fg_fs_read(path, MAX_TEXT_BYTES, &text, &size, NULL) == FG_OK) {
		const char *at = strstr(text, entry);

		value = at ? fg_xstrndup(at + strlen(entry), strcspn(at + strlen(entry), "\r\n"))
			   : fg_xstrdup("");
	}
	free(text);
	free(path);
	return value;
}

/*
 * Is this existing CMake build optimised? The compiler flags decide, or before the first
 * compilation the build type.
 */
static bool is_optimised_build(const char *root, const char *build, const char *type,
			       struct fg_project_flags *flags)
{
	char *path = fg_fs_join(root, build);

	fg_project_read_flags(path, flags);
	free(path);
	if (flags->optimised + flags->unoptimised > 0)
		return fg_project_is_optimised(flags);
	return *type && strcmp(type, "Debug") != 0;
}

/* Does CMakeLists.txt set a build type other than Debug? */
static bool sets_own_type(const char *root)
{
	static const char setting[] = "set(CMAKE_BUILD_TYPE";
	char *text = text_of(root, "CMakeLists.txt");
	bool found = false;

	for (const char *at = text ? strcasestr(text, setting) : NULL; at && !found;
	     at = strcasestr(at + 1, setting)) {
		const char *value = at + strlen(setting);

		value += strspn(value, " \t\r\n\"");
		found = !fg_project_is_comment(text, at) && !fg_text_starts_with(value, "Debug");
	}
	free(text);
	return found;
}

/* Choices for CMake's configure command. An empty `type` leaves the build type to the project. */
struct cmake_choice {
	const char *type;
	bool add_debug; /* the existing build has debug information that its type does not imply */
};

/*
 * Uses an existing optimised build. An unoptimised build is useless for measuring, but the user may
 * need it, so our build gets a separate folder.
 */
static struct cmake_choice choose_cmake_folder(const char *root, struct fg_arena *arena,
					       struct fg_project *project)
{
	static const char *const folders[] = {
		"build", "build-release",       "build/release",    "_build",
		"out",   "cmake-build-release", "cmake-build-debug"};

	project->build_folder = "build";
	for (size_t i = 0; i < FG_ARRAY_SIZE(folders); i++) {
		char *type = cached_value(root, folders[i], "\nCMAKE_BUILD_TYPE:STRING=");
		struct fg_project_flags flags = {0};

		if (type && is_optimised_build(root, folders[i], type, &flags)) {
			const struct cmake_choice choice = {
				.type = fg_arena_strdup(arena, type),
				.add_debug = *type && strcmp(type, "RelWithDebInfo") != 0 &&
					     flags.with_debug > 0,
			};

			project->build_folder = folders[i];
			project->debug_folder = NULL;
			free(type);
			return choice;
		}
		if (type && !project->debug_folder)
			project->debug_folder = folders[i];
		free(type);
	}
	if (project->debug_folder)
		project->build_folder = "build-fastgate";
	return (struct cmake_choice){.type = sets_own_type(root) ? "" : FG_PROJECT_CMAKE_TYPE};
}

/* Chooses bmake for a BSD makefile, whose conditions and inclusions GNU make rejects. */
static const char *make_of(const char *root)
{
	static const char *const words[] = {".if", ".include", ".for "};

	for (size_t i = 0; i < FG_ARRAY_SIZE(words) && !fg_fs_has(root, "GNUmakefile"); i++) {
		if (has_line_beginning(root, "Makefile", words[i]))
			return "bmake -j2";
	}
	return "make -j2";
}

/*
 * Returns a make command that leaves released files alone. git does not keep modification times, so
 * automake's rules would regenerate the files with another version of the tools, or fail without
 * the tools.
 */
static const char *make_released(const char *root)
{
	return file_says(root, "Makefile.in", "am__configure_deps")
		       ? "make -j2 ACLOCAL=: AUTOCONF=: AUTOMAKE=: AUTOHEADER=: MAKEINFO=:"
		       : make_of(root);
}

/* Without shared libraries, the build tree has real programs instead of libtool's wrappers. */
static const char *configure_flags(const char *root)
{
	static const char *const files[] = {"configure", "configure.ac", "configure.in"};

	for (size_t i = 0; i < FG_ARRAY_SIZE(files); i++) {
		if (file_says(root, files[i], "LT_INIT") ||
		    file_says(root, files[i], "AC_PROG_LIBTOOL") ||
		    file_says(root, files[i], "--enable-shared[=PKGS]"))
			return " --disable-shared";
	}
	return "";
}

static void choose_configure(const char *root, struct fg_arena *arena, struct fg_project *project)
{
	const char *flags = configure_flags(root);

	switch (project->kind) {
	case FG_PROJECT_CONFIGURE:
		project->build_command = fg_arena_printf(
			arena, "%s%s && %s",
			fg_project_is_kept(root, project, "configure") ? "./configure"
								       : "sh ./configure.sh",
			flags, make_released(root));
		break;
	case FG_PROJECT_AUTOGEN:
		project->build_command = fg_arena_printf(
			arena, "NOCONFIGURE=1 sh ./autogen.sh && ./configure%s && make -j2", flags);
		break;
	case FG_PROJECT_BOOTSTRAP:
		project->build_command = fg_arena_printf(
			arena, "sh ./%s && ./configure%s && make -j2",
			fg_fs_has(root, "bootstrap") ? "bootstrap" : "bootstrap.sh", flags);
		break;
	default:
		project->build_command = fg_arena_printf(
			arena, "autoreconf -fi && ./configure%s && make -j2", flags);
		break;
	}
	project->build_needs_shell = true;
	project->line_hint = "./configure CFLAGS=\"-O2 -g\"";
}

static void choose_cmake(const char *root, struct fg_arena *arena, struct fg_project *project)
{
	static const char debug_flags[] = "-DCMAKE_C_FLAGS=-g -DCMAKE_CXX_FLAGS=-g";
	const struct cmake_choice choice = choose_cmake_folder(root, arena, project);

	project->build_command =
		fg_arena_printf(arena, "cmake -B %s%s%s%s%s && cmake --build %s -j2",
				project->build_folder, *choice.type ? " -DCMAKE_BUILD_TYPE=" : "",
				choice.type, choice.add_debug ? " " : "",
				choice.add_debug ? debug_flags : "", project->build_folder);
	project->build_needs_shell = true;
	if (*choice.type && strcmp(choice.type, FG_PROJECT_CMAKE_TYPE) != 0 && !choice.add_debug)
		project->line_hint = debug_flags;
}

static void choose_build(const char *root, struct fg_arena *arena, struct fg_project *project)
{
	switch (project->kind) {
	case FG_PROJECT_CMAKE:
		choose_cmake(root, arena, project);
		break;
	case FG_PROJECT_MESON:
		project->build_folder =
			fg_fs_has(root, "builddir/build.ninja") ? "builddir" : "build";
		project->build_command = fg_arena_printf(
			arena, "meson setup %s --buildtype=release -Ddebug=true && ninja -C %s",
			project->build_folder, project->build_folder);
		project->build_needs_shell = true;
		break;
	case FG_PROJECT_BAZEL:
		project->build_folder = "bazel-bin";
		project->build_command = "bazel build -c opt --copt=-g //...";
		break;
	case FG_PROJECT_CONFIGURE:
	case FG_PROJECT_AUTORECONF:
	case FG_PROJECT_AUTOGEN:
	case FG_PROJECT_BOOTSTRAP:
		choose_configure(root, arena, project);
		break;
	case FG_PROJECT_MAKE:
		project->build_command =
			project->makefile
				? fg_arena_printf(arena, "make -f %s -j2", project->makefile)
				: make_of(root);
		project->line_hint = "make CFLAGS=\"-O2 -g\"";
		break;
	case FG_PROJECT_NINJA:
		project->build_command = "ninja";
		break;
	case FG_PROJECT_CARGO:
		project->build_folder = "target/release";
		project->build_command = "CARGO_PROFILE_RELEASE_DEBUG=1 cargo build --release";
		project->build_needs_shell = true;
		break;
	case FG_PROJECT_GO:
		project->build_folder = "bin";
		project->build_command = "go build -o bin/ ./...";
		break;
	case FG_PROJECT_SETUP_PY:
		project->build_command = "python3 setup.py build_ext --inplace";
		break;
	case FG_PROJECT_PYPROJECT:
		project->build_command =
			"python3 -m pip install --no-deps --no-build-isolation --target build .";
		break;
	case FG_PROJECT_UNKNOWN:
	case FG_PROJECT_KIND_COUNT:
		break;
	}
}

/* If the build files are below the root, the build runs in their folder. */
static void choose_build_in(const char *root, struct fg_arena *arena, struct fg_project *project)
{
	char *folder = project->folder ? fg_fs_join(root, project->folder) : fg_xstrdup(root);

	project->build_folder = NULL;
	project->build_command = NULL;
	project->build_needs_shell = false;
	project->debug_folder = NULL;
	project->line_hint = NULL;
	choose_build(folder, arena, project);
	free(folder);
	if (!project->folder || !project->build_command)
		return;
	project->build_command =
		fg_arena_printf(arena, "cd %s && %s", project->folder, project->build_command);
	project->build_needs_shell = true;
	if (project->build_folder)
		project->build_folder =
			fg_arena_printf(arena, "%s/%s", project->folder, project->build_folder);
}

/* Returns the output of a git command, or NULL if the command failed. */
static const char *git_text(const char *root, struct fg_arena *arena, const char *const *ask)
{
	const struct fg_git git = {.folder = root};
	char *text = NULL;
	const char *kept = fg_git_output(&git, ask, &text, NULL) == FG_OK
				   ? fg_arena_strdup(arena, text)
				   : NULL;

	free(text);
	return kept;
}

void fg_project_look(const char *root, struct fg_arena *arena, struct fg_project *project)
{
	const char *const pages[] = {"ls-files", "*.1", "*.1.*", "*.8", "*.8.*", NULL};
	const char *const lines[] = {"grep",
				     "-hI",
				     "-e",
				     "",
				     "--",
				     ":(glob,icase)readme*",
				     ":(glob,icase)*/readme*",
				     ":(glob,icase)usage*",
				     NULL};

	*project = (struct fg_project){.name = name_of(root, arena)};
	fg_project_find_commits(root, project);
	project->manual = git_text(root, arena, pages);
	project->readme = git_text(root, arena, lines);
	if (fg_project_choose_way(root, arena, project, 0))
		choose_build_in(root, arena, project);
}

void fg_project_give_command(struct fg_project *project, const char *command)
{
	project->kind = FG_PROJECT_UNKNOWN;
	project->folder = NULL;
	project->build_folder = NULL;
	project->debug_folder = NULL;
	project->line_hint = NULL;
	project->build_command = command;
	project->build_needs_shell = true;
	project->is_given = true;
}

bool fg_project_next_way(const char *root, struct fg_arena *arena, struct fg_project *project)
{
	if (!fg_project_choose_way(root, arena, project, project->way + 1))
		return false;
	choose_build_in(root, arena, project);
	return true;
}

const char *fg_project_path_up(const char *folder, struct fg_arena *arena)
{
	struct fg_strbuf up = {0};
	const char *text = NULL;

	for (const char *at = folder; at && *at; at = strchr(at, '/')) {
		at += *at == '/';
		fg_strbuf_add_text(&up, "../");
	}
	text = fg_arena_strdup(arena, fg_strbuf_text(&up));
	fg_strbuf_release(&up);
	return text;
}

/* Returns the file that one execution reads on standard input, or NULL. */
static const char *file_read(const struct fg_project_program *program, struct fg_arena *arena)
{
	if (!program->input || program->input_is_argument)
		return NULL;
	return program->input_copies > 1 ? fg_project_input_name(program->input, arena)
					 : program->input;
}

const char *fg_project_stdin(const struct fg_project_program *program, struct fg_arena *arena)
{
	return program->loops ? NULL : file_read(program, arena);
}

const char *fg_project_command(const struct fg_project_program *program, struct fg_arena *arena)
{
	const char *up = fg_project_path_up(program->working_directory, arena);
	char *path = fg_xasprintf("%s%s", *up ? up : "./", program->path);
	char *argv[] = {path, NULL};
	struct fg_strbuf command = {0};
	const char *text = NULL;

	if (program->suite) {
		free(path);
		return program->suite;
	}
	fg_text_quote_words(&command, argv);
	if (program->arguments && *program->arguments)
		fg_strbuf_printf(&command, " %s", program->arguments);
	if (program->input_is_argument && program->input_is_repeated)
		fg_strbuf_printf(&command, " $(yes %s | head -n %u)", program->input,
				 program->input_copies);
	else if (program->input_is_argument)
		fg_strbuf_printf(&command, " %s",
				 program->input_copies > 1
					 ? fg_project_input_name(program->input, arena)
					 : program->input);
	if (program->tail)
		fg_strbuf_printf(&command, " %s", program->tail);
	if (program->loops && file_read(program, arena))
		fg_strbuf_printf(&command, " <%s%s", up, file_read(program, arena));
	if (program->loops)
		text = fg_arena_printf(arena, "sh -c 'for i in $(seq %u); do %s || exit; done'",
				       program->loops, fg_strbuf_text(&command));
	else if (program->input_is_repeated)
		text = fg_arena_printf(arena, "sh -c 'exec %s'", fg_strbuf_text(&command));
	else
		text = fg_arena_strdup(arena, fg_strbuf_text(&command));
	fg_strbuf_release(&command);
	free(path);
	return text;
}

size_t fg_project_chosen(const struct fg_project *project)
{
	size_t count = 0;

	while (count < project->program_count && count < FG_PROJECT_MAX_BENCHMARKS) {
		const struct fg_project_program *program = &project->programs[count];

		if (program->trial != FG_PROJECT_GOOD &&
		    (program->trial == FG_PROJECT_FAILED || program->rank < FG_PROJECT_LIKELY_RANK))
			break;
		count++;
	}
	return count;
}

void fg_project_keep_tests(struct fg_project *project, struct fg_arena *arena)
{
	const struct fg_project_program *first = project->programs;

	if (!project->test_command || fg_project_chosen(project) == 0 ||
	    first->rank > FG_PROJECT_TEST_RANK)
		return;
	project->build_command =
		fg_arena_printf(arena, "%s && %s", project->build_command, project->test_command);
	project->build_needs_shell = true;
}
