// SPDX-License-Identifier: Apache-2.0
/* Ways in which a project can be built, judged by its files. */
#include "base/fs.h"
#include "base/text.h"
#include "cli/init/project.h"
#include "runner/build/git.h"

#include <sys/stat.h>

/* Files by which a build system is recognised, in order of preference. */
static const struct kind_row {
	const char *file;
	enum fg_project_kind kind;
} kind_rows[] = {
	{.file = "CMakeLists.txt", .kind = FG_PROJECT_CMAKE},
	{.file = "meson.build", .kind = FG_PROJECT_MESON},
	{.file = "MODULE.bazel", .kind = FG_PROJECT_BAZEL},
	{.file = "WORKSPACE", .kind = FG_PROJECT_BAZEL},
	{.file = "WORKSPACE.bazel", .kind = FG_PROJECT_BAZEL},
	{.file = "configure", .kind = FG_PROJECT_CONFIGURE},
	{.file = "autogen.sh", .kind = FG_PROJECT_AUTOGEN},
	{.file = "bootstrap", .kind = FG_PROJECT_BOOTSTRAP},
	{.file = "bootstrap.sh", .kind = FG_PROJECT_BOOTSTRAP},
	{.file = "configure.ac", .kind = FG_PROJECT_AUTORECONF},
	{.file = "configure.in", .kind = FG_PROJECT_AUTORECONF},
	{.file = "configure.sh", .kind = FG_PROJECT_CONFIGURE},
	{.file = "GNUmakefile", .kind = FG_PROJECT_MAKE},
	{.file = "makefile", .kind = FG_PROJECT_MAKE},
	{.file = "Makefile", .kind = FG_PROJECT_MAKE},
	{.file = "build.ninja", .kind = FG_PROJECT_NINJA},
	{.file = "Cargo.toml", .kind = FG_PROJECT_CARGO},
	{.file = "go.mod", .kind = FG_PROJECT_GO},
	{.file = "setup.py", .kind = FG_PROJECT_SETUP_PY},
	{.file = "pyproject.toml", .kind = FG_PROJECT_PYPROJECT},
};

static bool git_says(const char *root, const char *const *arguments)
{
	const struct fg_git git = {.folder = root};
	char *text = NULL;
	const bool found = fg_git_output(&git, arguments, &text, NULL) == FG_OK;

	free(text);
	return found;
}

#define GIT_SAYS(root, ...) git_says(root, (const char *const[]){__VA_ARGS__, NULL})

bool fg_project_is_kept(const char *root, const struct fg_project *project, const char *name)
{
	return fg_fs_has(root, name) &&
	       (!project->has_commit || GIT_SAYS(root, "ls-files", "--error-unmatch", name));
}

struct way {
	enum fg_project_kind kind;
	char *folder;   /* folder below the root; NULL: the root */
	char *makefile; /* makefile with an unusual name; NULL: make finds it */
	bool has_benchmarks;
};

struct ways {
	struct way items[FG_PROJECT_MAX_WAYS];
	size_t count;
};

/*
 * All autotools kinds count as one way, because autogen.sh makes the configure script that another
 * row would run.
 */
bool fg_project_is_autotools(enum fg_project_kind kind)
{
	return kind == FG_PROJECT_CONFIGURE || kind == FG_PROJECT_AUTORECONF ||
	       kind == FG_PROJECT_AUTOGEN || kind == FG_PROJECT_BOOTSTRAP;
}

static bool is_known(const struct ways *ways, enum fg_project_kind kind)
{
	for (size_t i = 0; i < ways->count; i++) {
		if (ways->items[i].kind == kind ||
		    (fg_project_is_autotools(ways->items[i].kind) && fg_project_is_autotools(kind)))
			return true;
	}
	return false;
}

/* Do the files of this build system name a benchmark? */
static bool names_benchmarks(const char *root, const struct fg_project *project,
			     enum fg_project_kind kind)
{
	if (!project->has_commit)
		return false;
	if (kind == FG_PROJECT_CMAKE)
		return GIT_SAYS(root, "grep", "-qi", "bench", "--", "*CMakeLists.txt", "*.cmake");
	if (kind == FG_PROJECT_MESON)
		return GIT_SAYS(root, "grep", "-qi", "bench", "--", "*meson.build");
	return fg_project_is_autotools(kind) &&
	       GIT_SAYS(root, "grep", "-qi", "bench", "--", "*Makefile.am", "*Makefile.in");
}

static void add_way(struct ways *ways, enum fg_project_kind kind, const char *folder,
		    const char *makefile)
{
	if (ways->count == FG_PROJECT_MAX_WAYS)
		return;
	ways->items[ways->count++] = (struct way){
		.kind = kind,
		.folder = folder ? fg_xstrdup(folder) : NULL,
		.makefile = makefile ? fg_xstrdup(makefile) : NULL,
	};
}

static void find_in(const char *root, const struct fg_project *project, const char *folder,
		    struct ways *ways)
{
	for (size_t i = 0; i < FG_ARRAY_SIZE(kind_rows); i++) {
		char *name = folder ? fg_fs_join(folder, kind_rows[i].file)
				    : fg_xstrdup(kind_rows[i].file);

		if (!is_known(ways, kind_rows[i].kind) && fg_project_is_kept(root, project, name))
			add_way(ways, kind_rows[i].kind, folder, NULL);
		free(name);
	}
}

/* Prefers "Makefile.unix" to "Makefile.abc"; skips templates and makefiles for other systems. */
static void find_named_makefile(const char *root, const struct fg_project *project,
				struct ways *ways)
{
	static const char *const preferred[] = {"linux", "unix", "unx", "gnu", "gcc", "cmdline"};
	static const char *const others[] = {".in",    ".am", ".win", ".vc",  ".msc", ".mingw",
					     ".nmake", ".dj", ".bor", ".osx", ".mac", ".emx"};
	char **names = NULL;
	size_t count = 0;
	const char *best = NULL;
	size_t best_rank = SIZE_MAX;

	if (fg_fs_list(root, &names, &count, NULL) != FG_OK)
		return;
	for (size_t i = 0; i < count; i++) {
		size_t rank = 0;
		bool is_other = strncasecmp(names[i], "makefile.", 9) != 0;

		for (size_t k = 0; k < FG_ARRAY_SIZE(others); k++)
			is_other = is_other || strcasestr(names[i], others[k]);
		while (rank < FG_ARRAY_SIZE(preferred) && !strcasestr(names[i], preferred[rank]))
			rank++;
		if (!is_other && rank < best_rank && fg_project_is_kept(root, project, names[i])) {
			best = names[i];
			best_rank = rank;
		}
	}
	if (best)
		add_way(ways, FG_PROJECT_MAKE, NULL, best);
	fg_fs_list_free(names, count);
}

static bool is_folder(const char *root, const char *path)
{
	char *whole = fg_fs_join(root, path);
	struct stat status;
	const bool found = lstat(whole, &status) == 0 && S_ISDIR(status.st_mode);

	free(whole);
	return found;
}

/*
 * Finds the first folder with build files, one or two levels down; source folders come before
 * documentation.
 */
static void find_below(const char *root, const struct fg_project *project, const char *parent,
		       unsigned levels, struct ways *ways)
{
	char *whole = parent ? fg_fs_join(root, parent) : fg_xstrdup(root);
	char **names = NULL;
	size_t count = 0;

	if (fg_fs_list(whole, &names, &count, NULL) != FG_OK)
		goto out;
	for (unsigned level = 0; level < levels && ways->count == 0; level++) {
		for (size_t i = 0; i < count && ways->count == 0; i++) {
			char *below = parent ? fg_fs_join(parent, names[i]) : fg_xstrdup(names[i]);

			if (*names[i] != '.' && strncmp(names[i], "doc", 3) != 0 &&
			    is_folder(root, below)) {
				if (level == 0)
					find_in(root, project, below, ways);
				else
					find_below(root, project, below, 1, ways);
			}
			free(below);
		}
	}
	fg_fs_list_free(names, count);
out:
	free(whole);
}

/* Puts ways that name a benchmark first; otherwise keeps the order. */
static void sort_ways(struct ways *ways)
{
	for (size_t i = 1; i < ways->count; i++) {
		for (size_t k = i;
		     k > 0 && ways->items[k].has_benchmarks && !ways->items[k - 1].has_benchmarks;
		     k--) {
			const struct way moved = ways->items[k];

			ways->items[k] = ways->items[k - 1];
			ways->items[k - 1] = moved;
		}
	}
}

static void find_ways(const char *root, const struct fg_project *project, struct ways *ways)
{
	*ways = (struct ways){.count = 0};
	find_in(root, project, NULL, ways);
	for (size_t i = 0; i < ways->count && ways->count > 1; i++)
		ways->items[i].has_benchmarks =
			names_benchmarks(root, project, ways->items[i].kind);
	sort_ways(ways);
	if (ways->count == 0)
		find_named_makefile(root, project, ways);
	if (ways->count == 0)
		find_below(root, project, NULL, 2, ways);
}

static void ways_release(struct ways *ways)
{
	for (size_t i = 0; i < ways->count; i++) {
		free(ways->items[i].folder);
		free(ways->items[i].makefile);
	}
}

void fg_project_find_commits(const char *root, struct fg_project *project)
{
	project->has_commit = GIT_SAYS(root, "rev-parse", "--verify", "HEAD");
	project->has_history = GIT_SAYS(root, "rev-parse", "--verify", "HEAD~1");
}

bool fg_project_choose_way(const char *root, struct fg_arena *arena, struct fg_project *project,
			   size_t n)
{
	struct ways ways;
	bool found = false;

	find_ways(root, project, &ways);
	found = n < ways.count;
	if (found) {
		const struct way *way = &ways.items[n];

		project->way = n;
		project->kind = way->kind;
		project->folder = way->folder ? fg_arena_strdup(arena, way->folder) : NULL;
		project->makefile = way->makefile ? fg_arena_strdup(arena, way->makefile) : NULL;
	}
	ways_release(&ways);
	return found;
}
