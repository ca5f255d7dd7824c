// SPDX-License-Identifier: Apache-2.0
#include "runner/build/build_files.h"

#include "base/fs.h"
#include "base/text.h"

#include <string.h>

static const char *const names[] = {
	"Makefile",          "makefile",      "GNUmakefile",       "CMakeLists.txt", "configure",
	"CMakePresets.json", "meson.build",   "meson_options.txt", "meson.options",  "BUILD",
	"WORKSPACE",         "MODULE.bazel",  "SConstruct",        "SConscript",     "wscript",
	"xmake.lua",         "conanfile.txt", "conanfile.py",      "premake5.lua",   "Jamroot",
	"CMakeCache.txt",    "build.ninja",   "Justfile",          "justfile",
};

static const char *const endings[] = {
	".mk", ".mak", ".cmake", ".am", ".ac", ".bazel", ".bzl", ".gn", ".gni", ".pro", ".pri",
};

static bool is_named_by(const struct fg_command *build, const char *path)
{
	for (size_t i = 0; i < build->argc; i++) {
		const char *word = build->argv[i];

		if (fg_text_starts_with(word, "./"))
			word += 2;
		if (*word && fg_text_ends_with(path, word) &&
		    strcmp(fg_fs_base_name(path), fg_fs_base_name(word)) == 0)
			return true;
	}
	return false;
}

bool fg_is_build_file(const char *path, const struct fg_command *build)
{
	const char *name = fg_fs_base_name(path);

	if (FG_TEXT_IS_AMONG(name, names))
		return true;
	if (FG_TEXT_ENDS_WITH_ANY(name, endings))
		return true;
	return is_named_by(build, path);
}
