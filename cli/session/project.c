// SPDX-License-Identifier: Apache-2.0
#include "cli/session/project.h"

#include "base/fs.h"
#include "base/process.h"
#include "cli/session/project_programs.h"

enum {
	MAX_TEXT_BYTES = 4 << 20,
};

const char *fg_project_kind_name(enum fg_project_kind kind)
{
	static const char *const names[FG_PROJECT_KIND_COUNT] = {
		[FG_PROJECT_UNKNOWN] = "unknown",     [FG_PROJECT_CMAKE] = "CMake",
		[FG_PROJECT_MESON] = "Meson",         [FG_PROJECT_MAKE] = "Make",
		[FG_PROJECT_CONFIGURE] = "configure",
	};

	return names[kind];
}

static bool is_there(const char *root, const char *name)
{
	char *path = fg_fs_join(root, name);
	const bool exists = fg_fs_exists(path);

	free(path);
	return exists;
}

static enum fg_project_kind kind_of(const char *root)
{
	static const struct {
		const char *file;
		enum fg_project_kind kind;
	} rows[] = {
		{.file = "CMakeLists.txt", .kind = FG_PROJECT_CMAKE},
		{.file = "meson.build", .kind = FG_PROJECT_MESON},
		{.file = "GNUmakefile", .kind = FG_PROJECT_MAKE},
		{.file = "makefile", .kind = FG_PROJECT_MAKE},
		{.file = "Makefile", .kind = FG_PROJECT_MAKE},
		{.file = "configure", .kind = FG_PROJECT_CONFIGURE},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		if (is_there(root, rows[i].file))
			return rows[i].kind;
	}
	return FG_PROJECT_UNKNOWN;
}

/* The value of an entry of CMakeCache.txt, to be freed; NULL: no such folder or entry. */
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
 * An existing optimised build is used. One without optimisation is left alone: measuring it says
 * little, and changing it would be rude, so ours gets a separate folder.
 */
static void choose_cmake_folder(const char *root, struct fg_arena *arena,
				struct fg_project *project, const char **build_type)
{
	static const char *const folders[] = {
		"build", "build-release",       "build/release",    "_build",
		"out",   "cmake-build-release", "cmake-build-debug"};

	project->build_folder = "build";
	*build_type = "RelWithDebInfo";
	for (size_t i = 0; i < FG_ARRAY_SIZE(folders); i++) {
		char *type = cached_value(root, folders[i], "\nCMAKE_BUILD_TYPE:STRING=");
		const bool is_fast = type && *type && strcmp(type, "Debug") != 0;

		if (is_fast) {
			project->build_folder = folders[i];
			*build_type = fg_arena_strdup(arena, type);
			project->debug_folder = NULL;
		} else if (type && !project->debug_folder) {
			project->debug_folder = folders[i];
		}
		free(type);
		if (is_fast)
			return;
	}
	if (project->debug_folder)
		project->build_folder = "build-fastgate";
}

static void choose_build(const char *root, struct fg_arena *arena, struct fg_project *project)
{
	const char *build_type = NULL;

	switch (project->kind) {
	case FG_PROJECT_CMAKE:
		choose_cmake_folder(root, arena, project, &build_type);
		project->build_command = fg_arena_printf(
			arena, "cmake -B %s -DCMAKE_BUILD_TYPE=%s && cmake --build %s -j2",
			project->build_folder, build_type, project->build_folder);
		project->build_needs_shell = true;
		break;
	case FG_PROJECT_MESON:
		project->build_folder =
			is_there(root, "builddir/build.ninja") ? "builddir" : "build";
		project->build_command = fg_arena_printf(
			arena, "meson setup %s --buildtype=debugoptimized && ninja -C %s",
			project->build_folder, project->build_folder);
		project->build_needs_shell = true;
		break;
	case FG_PROJECT_CONFIGURE:
		project->build_command = "./configure && make -j2";
		project->build_needs_shell = true;
		break;
	case FG_PROJECT_MAKE:
		project->build_command = "make -j2";
		break;
	case FG_PROJECT_UNKNOWN:
	case FG_PROJECT_KIND_COUNT:
		break;
	}
}

static bool is_commit(const char *root, const char *ref)
{
	char git[] = "git";
	char rev_parse[] = "rev-parse";
	char verify[] = "--verify";
	char quiet[] = "--quiet";
	char *name = fg_xstrdup(ref);
	char *const argv[] = {git, rev_parse, verify, quiet, name, NULL};
	char *text = NULL;
	const bool found = fg_process_output(argv, root, &text, NULL) == FG_OK;

	free(name);
	free(text);
	return found;
}

void fg_project_look(const char *root, struct fg_arena *arena, struct fg_project *project)
{
	*project = (struct fg_project){
		.kind = kind_of(root),
		.has_commit = is_commit(root, "HEAD"),
		.has_history = is_commit(root, "HEAD~1"),
	};
	choose_build(root, arena, project);
	fg_project_find_programs(root, arena, project);
}
