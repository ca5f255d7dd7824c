// SPDX-License-Identifier: Apache-2.0
#include "base/fs.h"
#include "base/text.h"
#include "binary/elf_tables.h"
#include "cli/init/project.h"
#include "runner/build/git.h"

#include <ctype.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

enum {
	MAX_PROGRAM_BYTES = 64 << 20,
	MAX_TEXT_BYTES = 4 << 20,
	MAX_WRAPPER_BYTES = 64 << 10,
	MAX_LIBRARIES = 32,
	MAX_NAME = 100,
	UNREAD_SECONDS = 10 * 365 * 24 * 3600,
};

struct library {
	const char *name;
	const char *folder;
};

struct search {
	const char *root;
	struct fg_arena *arena;
	struct fg_project *project;
	const char *whole_root;
	struct library libraries[MAX_LIBRARIES];
	size_t library_count;
	size_t files;
};

/* ---- ELF files ---- */

static bool open_wide(const char *data, size_t size, struct fg_elf_tables *elf)
{
	if (fg_elf_tables_open_memory(data, size, "", elf, NULL) != FG_OK)
		return false;
	if (elf->header.e_ident[EI_CLASS] == ELFCLASS64)
		return true;
	fg_elf_tables_close(elf);
	return false;
}

/* Is this a 64-bit ELF program: an executable at a fixed address or with a dynamic linker? */
static bool is_elf_program(const char *data, size_t size)
{
	struct fg_elf_tables elf;
	bool is_program = false;

	if (!open_wide(data, size, &elf))
		return false;
	is_program = elf.header.e_type == ET_EXEC ||
		     (elf.header.e_type == ET_DYN && fg_elf_tables_segment(&elf, PT_INTERP));
	fg_elf_tables_close(&elf);
	return is_program;
}

static bool is_name(int64_t tag, const char *text, const char *library)
{
	return tag == DT_NEEDED && strcmp(text, library) == 0;
}

static bool is_below(int64_t tag, const char *text, const char *root)
{
	return (tag == DT_RPATH || tag == DT_RUNPATH) &&
	       (strstr(text, root) || strstr(text, "$ORIGIN"));
}

/* Does any string in the dynamic section satisfy `matches`? */
static bool has_text(const char *data, size_t size,
		     bool (*matches)(int64_t tag, const char *text, const char *argument),
		     const char *argument)
{
	struct fg_elf_tables elf;
	struct fg_elf_dynamic dynamic;
	bool found = false;

	if (!open_wide(data, size, &elf))
		return false;
	fg_elf_dynamic_read(&elf, &dynamic);
	for (size_t i = 0; i < dynamic.count && !found; i++) {
		const char *text = fg_elf_dynamic_text(&dynamic, &dynamic.entries[i]);

		found = text && matches(dynamic.entries[i].d_tag, text, argument);
	}
	fg_elf_dynamic_release(&dynamic);
	fg_elf_tables_close(&elf);
	return found;
}

/* Is the file linked with the library of this name? */
static bool needs_library(const char *data, size_t size, const char *library)
{
	return has_text(data, size, is_name, library);
}

/*
 * Does the file's own run path lead below `root`, either directly or relative to the program's
 * folder ($ORIGIN)?
 */
static bool searches_below(const char *data, size_t size, const char *root)
{
	return has_text(data, size, is_below, root);
}

/* ---- candidates ---- */

static bool holds_text(const char *data, size_t size, const char *text)
{
	return memmem(data, size, text, strlen(text)) != NULL;
}

/* Recognises a harness by the name of an option, a library or a symbol in the file. */
static enum fg_harness harness_of(const char *data, size_t size)
{
	if (holds_text(data, size, "benchmark_min_time") ||
	    holds_text(data, size, "libbenchmark.so"))
		return FG_HARNESS_GOOGLE_BENCHMARK;
	if (holds_text(data, size, "benchmark-samples") || holds_text(data, size, "libCatch2.so"))
		return FG_HARNESS_CATCH2;
	if (holds_text(data, size, "ankerl9nanobench"))
		return FG_HARNESS_NANOBENCH;
	if (holds_text(data, size, "dt-list-test-cases"))
		return FG_HARNESS_DOCTEST;
	return FG_HARNESS_NONE;
}

static void make_room(struct fg_arena *arena, struct fg_project *project)
{
	if (!project->programs)
		project->programs = fg_arena_array(arena, FG_PROJECT_MAX_PROGRAMS,
						   sizeof(project->programs[0]));
}

void fg_project_add_suite(struct fg_arena *arena, struct fg_project *project, const char *command,
			  enum fg_harness harness)
{
	make_room(arena, project);
	if (project->program_count == FG_PROJECT_MAX_PROGRAMS)
		return;
	project->programs[project->program_count++] = (struct fg_project_program){
		.path = command,
		.name = "suite",
		.suite = command,
		.harness = harness,
		.rank = FG_PROJECT_LIKELY_RANK,
		.reason = "the project's benchmarks or tests",
	};
}

static bool has_name(const struct fg_project *project, const char *name)
{
	for (size_t i = 0; i < project->program_count; i++) {
		if (strcmp(project->programs[i].name, name) == 0)
			return true;
	}
	return false;
}

static struct fg_project_program *add_program(struct search *search, const char *path,
					      enum fg_harness harness, bool is_built)
{
	struct fg_project *project = search->project;
	const char *name = fg_fs_base_name(path);
	struct fg_project_program *added = NULL;

	if (project->program_count >= FG_PROJECT_MAX_PROGRAMS || strlen(name) > MAX_NAME)
		return NULL;
	make_room(search->arena, project);
	if (has_name(project, name))
		name = path;
	added = &project->programs[project->program_count++];
	*added = (struct fg_project_program){
		.path = fg_arena_strdup(search->arena, path),
		.name = fg_arena_strdup(search->arena, name),
		.harness = harness,
		.is_built = is_built,
	};
	fg_project_rank(project, added);
	if (harness == FG_HARNESS_GOOGLE_BENCHMARK)
		added->arguments = "--benchmark_format=json";
	else if (harness == FG_HARNESS_CATCH2)
		added->arguments = "--reporter xml";
	else if (harness == FG_HARNESS_DOCTEST)
		added->arguments = "-r=xml -d=true";
	return added;
}

/*
 * libtool puts a wrapper script in the program's place, and the program into FOLDER/.libs/NAME.
 * Adds the program, to be called as the script would call it.
 */
static void add_wrapped(struct search *search, const char *path)
{
	char *folder = strchr(path, '/') ? fg_fs_parent(path) : fg_xstrdup(".");
	char *real = fg_xasprintf("%s%s.libs/%s", strcmp(folder, ".") == 0 ? "" : folder,
				  strcmp(folder, ".") == 0 ? "" : "/", fg_fs_base_name(path));
	char *whole = fg_fs_join(search->root, real);
	char *data = NULL;
	size_t size = 0;
	struct fg_project_program *added = NULL;

	if (fg_fs_read(whole, MAX_PROGRAM_BYTES, &data, &size, NULL) == FG_OK &&
	    is_elf_program(data, size)) {
		added = add_program(search, real, harness_of(data, size), true);
		if (added)
			added->is_wrapped = true;
	}
	free(data);
	free(whole);
	free(real);
	free(folder);
}

/*
 * Notes a shared library of the build. A program started directly may load an installed version
 * instead.
 */
static void note_library(struct search *search, const char *path)
{
	const char *name = fg_fs_base_name(path);
	struct library *library = NULL;

	if (!fg_text_starts_with(name, "lib") || !strstr(name, ".so") ||
	    search->library_count == MAX_LIBRARIES)
		return;
	library = &search->libraries[search->library_count++];
	library->name = fg_arena_strdup(search->arena, name);
	library->folder = strchr(path, '/')
				  ? fg_arena_strndup(search->arena, path, (size_t)(name - path) - 1)
				  : ".";
}

/*
 * Finds the libraries for a program that has no run path, unlike the programs of CMake and Meson.
 * The dynamic linker would load an installed version instead, or fail.
 */
static void find_libraries_of(struct search *search, struct fg_project_program *program)
{
	char *whole = fg_fs_join(search->root, program->path);
	char *data = NULL;
	size_t size = 0;

	if (fg_fs_read(whole, MAX_PROGRAM_BYTES, &data, &size, NULL) != FG_OK)
		goto out;
	for (size_t i = 0; i < search->library_count; i++) {
		const struct library *library = &search->libraries[i];

		if (!needs_library(data, size, library->name) ||
		    searches_below(data, size, search->whole_root))
			continue;
		if (!program->library_path)
			program->library_path = library->folder;
		else if (!strstr(program->library_path, library->folder))
			program->library_path = fg_arena_printf(
				search->arena, "%s:%s", program->library_path, library->folder);
	}
out:
	free(data);
	free(whole);
}

static void find_libraries(struct search *search)
{
	struct fg_project *project = search->project;
	char *whole = realpath(search->root, NULL);

	search->whole_root = whole ? whole : search->root;
	for (size_t i = 0; i < project->program_count && search->library_count > 0; i++) {
		if (project->programs[i].is_built)
			find_libraries_of(search, &project->programs[i]);
	}
	free(whole);
}

/*
 * Was the file read after it was finished? If so, the build itself ran the program. Most file
 * systems record the time of the first read. The linker's own reads are older than the last change,
 * because the linker makes the program executable last.
 */
static bool was_read(const char *whole)
{
	struct stat status;

	return stat(whole, &status) == 0 && status.st_atim.tv_sec <= time(NULL) &&
	       (status.st_atim.tv_sec > status.st_ctim.tv_sec ||
		(status.st_atim.tv_sec == status.st_ctim.tv_sec &&
		 status.st_atim.tv_nsec > status.st_ctim.tv_nsec));
}

/*
 * Sets the access time to the future, where it stays until the file is written again, so that our
 * own reads and executions are not recorded.
 */
static void keep_unread(const char *whole)
{
	const struct timespec times[] = {{.tv_sec = time(NULL) + UNREAD_SECONDS},
					 {.tv_nsec = UTIME_OMIT}};

	(void)utimensat(AT_FDCWD, whole, times, 0);
}

static void note_tool(struct fg_project_program *program, bool is_tool)
{
	if (program && is_tool && program->rank < FG_PROJECT_OWN_RANK &&
	    program->rank > FG_PROJECT_TEST_RANK) {
		program->rank = FG_PROJECT_TOOL_RANK;
		program->reason = "the build ran this program";
	}
}

static void look_at_file(struct search *search, const char *whole, const char *path)
{
	const bool is_tool = was_read(whole);
	char *data = NULL;
	size_t size = 0;

	note_library(search, path);
	if (strstr(path, ".libs/") || strstr(fg_fs_base_name(path), ".so") ||
	    fg_text_ends_with(path, ".o"))
		return;
	if (fg_fs_read(whole, MAX_PROGRAM_BYTES, &data, &size, NULL) != FG_OK)
		return;
	if (search->project->tree && !is_tool)
		keep_unread(whole);
	if (is_elf_program(data, size))
		note_tool(add_program(search, path, harness_of(data, size), true), is_tool);
	else if (size < MAX_WRAPPER_BYTES && holds_text(data, size, "temporary wrapper script"))
		add_wrapped(search, path);
	free(data);
}

/* Does the folder belong to a build system, or hold third-party code? */
static bool is_skipped(const char *name)
{
	static const char *const skipped[] = {"CMakeFiles",    "_deps",       "node_modules",
					      "meson-private", "third_party", "external",
					      "vendor"};

	if (*name == '.' && strcmp(name, ".libs") != 0)
		return true;
	return FG_TEXT_IS_AMONG(name, skipped);
}

static void visit(struct search *search, const char *path, unsigned depth,
		  void (*at_file)(struct search *search, const char *whole, const char *path));

static void visit_entry(struct search *search, const char *path, unsigned depth,
			void (*at_file)(struct search *search, const char *whole, const char *path))
{
	char *whole = fg_fs_join(search->root, path);
	struct stat status;

	if (lstat(whole, &status) == 0) {
		if (S_ISLNK(status.st_mode))
			note_library(search, path);
		if (S_ISDIR(status.st_mode) && depth < FG_PROJECT_MAX_DEPTH)
			visit(search, path, depth + 1, at_file);
		else if (S_ISREG(status.st_mode) &&
			 ((status.st_mode & 0111) || strstr(fg_fs_base_name(path), ".so") ||
			  fg_text_ends_with(path, "CMakeLists.txt") ||
			  fg_text_ends_with(path, "meson.build") ||
			  fg_text_ends_with(path, "Makefile.am")))
			at_file(search, whole, path);
	}
	free(whole);
}

static void visit(struct search *search, const char *path, unsigned depth,
		  void (*at_file)(struct search *search, const char *whole, const char *path))
{
	char *folder = fg_fs_join(search->root, path);
	char **names = NULL;
	size_t count = 0;

	if (fg_fs_list(folder, &names, &count, NULL) == FG_OK) {
		for (size_t i = 0; i < count; i++) {
			char *entry = *path && strcmp(path, ".") != 0 ? fg_fs_join(path, names[i])
								      : fg_xstrdup(names[i]);

			if (search->files >= FG_PROJECT_MAX_FILES)
				search->project->was_cut = true;
			else if (!is_skipped(names[i]))
				visit_entry(search, entry, depth, at_file);
			search->files++;
			free(entry);
		}
		fg_fs_list_free(names, count);
	}
	free(folder);
}

/* ---- programs that the build files declare ---- */

/*
 * Returns the name at the start of `text`, which the caller frees; NULL if the name is not plain.
 */
static char *declared_name(const char *text)
{
	size_t length = 0;

	text += strspn(text, " \t\r\n'\"");
	while (isalnum((unsigned char)text[length]) ||
	       (text[length] && strchr("_-.+", text[length])))
		length++;
	return length > 0 && length <= MAX_NAME &&
			       !strchr("(=@$:", text[length] ? text[length] : ' ')
		       ? fg_xstrndup(text, length)
		       : NULL;
}

/* Adds a program that a build file in `folder` declares, at the path where it will be built. */
static void add_declared(struct search *search, const char *folder, const char *name,
			 enum fg_harness harness)
{
	const char *build = search->project->build_folder;
	char *path = fg_xasprintf("%s%s%s%s%s", build ? build : "", build ? "/" : "", folder,
				  *folder ? "/" : "", name);

	(void)add_program(search, path, harness, false);
	free(path);
}

/* Takes the names from "add_executable(NAME" or "executable('NAME'". */
static void take_calls(struct search *search, const char *folder, const char *text,
		       const char *word)
{
	for (const char *at = strcasestr(text, word); at; at = strcasestr(at + 1, word)) {
		char *name = declared_name(at + strlen(word));

		if (name && !fg_project_is_comment(text, at))
			add_declared(search, folder, name,
				     strcasestr(name, "bench") &&
						     strstr(text, "benchmark::benchmark")
					     ? FG_HARNESS_GOOGLE_BENCHMARK
					     : FG_HARNESS_NONE);
		free(name);
	}
}

/*
 * Takes the names from "bin_PROGRAMS = a b \" and its continuation lines. Programs of `make check`
 * are tests, which are skipped unless their names suggest a benchmark.
 */
static void take_automake(struct search *search, const char *folder, const char *text)
{
	static const char word[] = "_PROGRAMS";

	for (const char *at = strstr(text, word); at; at = strstr(at + 1, word)) {
		const char *list = at + strlen(word) + strspn(at + strlen(word), " \t+");
		const bool is_test = at - text >= 5 && strncmp(at - 5, "check", 5) == 0;

		if (*list != '=')
			continue;
		for (list++; *list && *list != '\n';) {
			char *name = declared_name(list += strspn(list, " \t"));

			/*
			 * If a backslash follows the last name, the next line begins another
			 * assignment, "NAME_SOURCES".
			 */
			if (name && strstr(name, "_SOURCES")) {
				free(name);
				break;
			}
			if (name && (!is_test || fg_project_is_benchmark_name(name)))
				add_declared(search, folder, name, FG_HARNESS_NONE);
			list += strcspn(list, " \t\n\\");
			list += *list == '\\' ? 2 : 0;
			free(name);
		}
	}
}

static void look_at_declarations(struct search *search, const char *whole, const char *path)
{
	const char *file = fg_fs_base_name(path);
	const enum fg_project_kind kind = search->project->kind;
	char *folder = NULL;
	char *text = NULL;

	if (fg_fs_read(whole, MAX_TEXT_BYTES, &text, NULL, NULL) != FG_OK)
		return;
	folder = strchr(path, '/') ? fg_fs_parent(path) : fg_xstrdup("");
	if (strcmp(file, "CMakeLists.txt") == 0 && kind == FG_PROJECT_CMAKE)
		take_calls(search, folder, text, "add_executable(");
	else if (strcmp(file, "meson.build") == 0 && kind == FG_PROJECT_MESON)
		take_calls(search, folder, text, "executable(");
	else if (strcmp(file, "Makefile.am") == 0 && kind != FG_PROJECT_CMAKE &&
		 kind != FG_PROJECT_MESON)
		take_automake(search, folder, text);
	free(folder);
	free(text);
}

static int by_rank(const void *a, const void *b)
{
	const struct fg_project_program *x = a;
	const struct fg_project_program *y = b;

	if ((x->trial == FG_PROJECT_GOOD) != (y->trial == FG_PROJECT_GOOD))
		return x->trial == FG_PROJECT_GOOD ? -1 : 1;
	if ((x->trial == FG_PROJECT_FAILED) != (y->trial == FG_PROJECT_FAILED))
		return y->trial == FG_PROJECT_FAILED ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank > y->rank ? -1 : 1;
	if (x->calls != y->calls)
		return x->calls > y->calls ? -1 : 1;
	return strcmp(x->path, y->path) ? strcmp(x->path, y->path) : strcmp(x->name, y->name);
}

/* Searches the build folder, or the whole tree if the project builds in its source tree. */
static void find_built(struct search *search)
{
	const char *folder = search->project->build_folder;
	char *path = folder ? fg_fs_join(search->root, folder) : NULL;

	if (!folder)
		visit(search, ".", 0, look_at_file);
	else if (fg_fs_exists(path))
		visit(search, folder,
		      search->project->kind == FG_PROJECT_CARGO ? FG_PROJECT_MAX_DEPTH : 1,
		      look_at_file);
	free(path);
}

struct fg_project_program *fg_project_add(const char *root, struct fg_arena *arena,
					  struct fg_project *project, const char *path)
{
	struct search search = {.root = root, .arena = arena, .project = project};
	struct fg_project_program *added = NULL;
	struct fg_project_program *same = NULL;
	char *whole = fg_fs_join(root, path);
	char *data = NULL;
	size_t size = 0;

	if (fg_fs_read(whole, MAX_PROGRAM_BYTES, &data, &size, NULL) == FG_OK &&
	    is_elf_program(data, size)) {
		for (size_t i = 0; i < project->program_count && !same; i++) {
			if (strcmp(project->programs[i].path, path) == 0 &&
			    !project->programs[i].is_named)
				same = &project->programs[i];
		}
		added = same ? same : add_program(&search, path, harness_of(data, size), true);
	}
	free(data);
	free(whole);
	return added;
}

/* Returns an extended regular expression that matches the name as a whole word. */
static const char *word_pattern(const char *name, struct fg_arena *arena)
{
	char *plain = fg_arena_strdup(arena, name);

	for (char *c = plain; *c; c++) {
		if (!isalnum((unsigned char)*c) && *c != '_' && *c != '-')
			*c = '.';
	}
	return fg_arena_printf(arena, "(^|[^A-Za-z0-9_-])%s($|[^A-Za-z0-9_-])", plain);
}

const char *fg_project_service(const char *root, const struct fg_project *project,
			       const struct fg_project_program *program, struct fg_arena *arena)
{
	const struct fg_git git = {.folder = root};
	const char *word = word_pattern(fg_fs_base_name(program->path), arena);
	const char *const units[] = {"grep",       "-IliE",     "-e",         word,       "--",
				     "*.service*", "*.socket*", "*.init",     "*.init.*", "*.initd",
				     "*init.d/*",  "*rc.d/*",   "*systemd/*", "*.xinetd", NULL};
	const char *const administrator[] = {
		"grep",      "-IliE",           "-e",           "sbin", "--and", "-e", word, "--",
		"*akefile*", "*CMakeLists.txt", "*meson.build", NULL};
	char *files = NULL;
	const char *why = NULL;

	if (fg_project_is_for_administrators(project) && program->rank > FG_PROJECT_TEST_RANK &&
	    program->rank < FG_PROJECT_LIKELY_RANK)
		return "is not run: section 8 of the manual is for administrators";
	if (fg_git_output(&git, units, &files, NULL) == FG_OK && *files)
		why = fg_arena_printf(arena, "is not run: %.*s starts it as a service",
				      (int)strcspn(files, "\n"), files);
	free(files);
	files = NULL;
	if (!why && fg_git_output(&git, administrator, &files, NULL) == FG_OK && *files)
		why = fg_arena_printf(arena, "is not run: %.*s installs it for the administrator",
				      (int)strcspn(files, "\n"), files);
	free(files);
	return why;
}

void fg_project_sort(struct fg_project *project)
{
	if (project->program_count > 1)
		qsort(project->programs, project->program_count, sizeof(project->programs[0]),
		      by_rank);
}

void fg_project_find_programs(const char *root, struct fg_arena *arena, struct fg_project *project)
{
	struct search search = {.root = root, .arena = arena, .project = project};

	project->programs = NULL;
	project->program_count = 0;
	find_built(&search);
	find_libraries(&search);
	/* Before the first build, take the programs that the build files declare. */
	if (project->program_count == 0 && !project->tree) {
		search.files = 0;
		visit(&search, ".", 0, look_at_declarations);
	}
	fg_project_prefer_only(project);
	fg_project_sort(project);
}
