// SPDX-License-Identifier: Apache-2.0
/* Reads the benchmarks that a build system or a harness lists: names, arguments and folders. */
#include "base/clock.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/process.h"
#include "base/text.h"
#include "cli/init/project.h"
#include "runner/build/git.h"

#include <math.h>

enum {
	LIST_LIMIT_BYTES = 8 << 20,
	LIST_SECONDS = 30,
	NAMED_RANK = 180,
	LINES_MAX = 400,
	ROUND_SECONDS = 8, /* target duration of a suite's round: thirty rounds take four minutes */
};

static const double google_case_s = 0.5; /* the default of --benchmark_min_time */

/*
 * Returns a tool's output, which the caller frees; NULL if it did not run or, without `any_code`,
 * failed.
 */
static char *output_of(const char *root, const char *line, bool any_code)
{
	struct fg_process_result result = {0};
	struct fg_arena arena = {0};
	struct fg_process_options options = {
		.working_directory = root,
		.stdout_to = FG_STREAM_CAPTURE,
		.stderr_to = FG_STREAM_DISCARD,
		.capture_limit_bytes = LIST_LIMIT_BYTES,
		.timeout_ns = LIST_SECONDS * FG_NS_PER_S,
	};
	char **argv = NULL;
	char *text = NULL;
	size_t argc = 0;

	if (fg_text_split_words(line, &arena, &argv, &argc, NULL) != FG_OK)
		goto out;
	options.argv = argv;
	if (fg_process_run(&options, &result, NULL) == FG_OK && result.exited &&
	    (any_code || result.exit_code == 0) && result.stdout_text)
		text = fg_xstrdup(result.stdout_text);
	fg_process_result_release(&result);
out:
	fg_arena_release(&arena);
	return text;
}

/* Returns the path relative to the root; NULL if the path is outside the root. */
static const char *below(const char *root, const char *path)
{
	if (*path == '/')
		return fg_fs_rest_below(root, path);
	return fg_text_starts_with(path, "./") ? path + 2 : path;
}

static void set_name(struct fg_project_program *program, const char *name, struct fg_arena *arena)
{
	if (program && *name)
		program->name = fg_arena_strdup(arena, name);
}

static void set_benchmark(struct fg_project_program *program, const char *name,
			  struct fg_arena *arena)
{
	if (!program)
		return;
	set_name(program, name, arena);
	program->is_named = true;
	program->rank = program->rank > NAMED_RANK ? program->rank : NAMED_RANK;
	program->reason = "listed as a benchmark by the build";
}

/*
 * Takes the words of a command whose first word is a program of this project. Arguments that name
 * files in this tree are made relative, because fastgate.yml applies to every tree.
 */
static struct fg_project_program *take(const char *root, struct fg_arena *arena,
				       struct fg_project *project, char *const *argv, size_t argc,
				       const char *folder)
{
	const char *path = argc ? below(root, argv[0]) : NULL;
	struct fg_project_program *added = path ? fg_project_add(root, arena, project, path) : NULL;
	const char *up = fg_project_path_up(folder, arena);
	struct fg_strbuf words = {0};

	if (!added)
		return NULL;
	added->is_named = true;
	for (size_t i = 1; i < argc; i++) {
		const char *relative = *argv[i] == '/' ? below(root, argv[i]) : NULL;
		char *word = relative ? fg_xasprintf("%s%s", up, relative) : fg_xstrdup(argv[i]);
		char *one[] = {word, NULL};

		if (i > 1)
			fg_strbuf_add_char(&words, ' ');
		fg_text_quote_words(&words, one);
		free(word);
	}
	if (words.length)
		added->arguments = fg_arena_strdup(arena, fg_strbuf_text(&words));
	if (folder && *folder)
		added->working_directory = fg_arena_strdup(arena, folder);
	fg_strbuf_release(&words);
	return added;
}

/* Is the program a test? Tests also get the arguments with which the build system runs them. */
static bool is_test(const struct fg_project *project, const char *path)
{
	for (size_t i = 0; path && i < project->program_count; i++) {
		if (strcmp(project->programs[i].path, path) == 0)
			return project->programs[i].rank == FG_PROJECT_TEST_RANK;
	}
	return false;
}

static size_t words_of(const cJSON *list, struct fg_arena *arena, char ***argv)
{
	const cJSON *item = NULL;
	size_t count = 0;

	*argv = fg_arena_array(arena, (size_t)cJSON_GetArraySize(list) + 1, sizeof(**argv));
	cJSON_ArrayForEach(item, list)
	{
		if (cJSON_IsString(item))
			(*argv)[count++] = fg_arena_strdup(arena, item->valuestring);
	}
	return count;
}

/* ---- CTest ---- */

static void take_test(const char *root, struct fg_arena *arena, struct fg_project *project,
		      const cJSON *test)
{
	const char *name = fg_json_text_or(test, "name", "");
	const cJSON *property = NULL;
	const char *folder = NULL;
	bool wanted = fg_project_is_benchmark_name(name);
	char **argv = NULL;
	size_t argc = 0;

	cJSON_ArrayForEach(property, fg_json_find(test, "properties"))
	{
		const char *key = fg_json_text_or(property, "name", "");
		const cJSON *label = NULL;

		if (strcmp(key, "WORKING_DIRECTORY") == 0)
			folder = fg_json_text_or(property, "value", "");
		if (strcmp(key, "LABELS") != 0)
			continue;
		cJSON_ArrayForEach(label, fg_json_find(property, "value"))
		{
			wanted = wanted || (cJSON_IsString(label) &&
					    fg_project_is_benchmark_name(label->valuestring));
		}
	}
	argc = words_of(fg_json_find(test, "command"), arena, &argv);
	folder = folder ? below(root, folder) : NULL;
	if (wanted)
		set_benchmark(take(root, arena, project, argv, argc, folder), name, arena);
	else if (argc && is_test(project, below(root, argv[0])))
		set_name(take(root, arena, project, argv, argc, folder), name, arena);
}

static void read_ctest(const char *root, struct fg_arena *arena, struct fg_project *project)
{
	char *line = fg_xasprintf("ctest --test-dir %s --show-only=json-v1", project->build_folder);
	char *text = output_of(root, line, false);
	const cJSON *tests = NULL;
	const cJSON *test = NULL;
	cJSON *json = NULL;

	if (text && fg_json_parse(text, strlen(text), LIST_LIMIT_BYTES, &json, NULL) == FG_OK)
		tests = fg_json_find(json, "tests");
	cJSON_ArrayForEach(test, tests)
	{
		take_test(root, arena, project, test);
	}
	cJSON_Delete(json);
	free(text);
	free(line);
}

/* ---- Meson ---- */

static void read_meson_list(const char *root, struct fg_arena *arena, struct fg_project *project,
			    bool benchmarks)
{
	char *line = fg_xasprintf("meson introspect %s --%s", project->build_folder,
				  benchmarks ? "benchmarks" : "tests");
	char *text = output_of(root, line, false);
	const cJSON *one = NULL;
	cJSON *json = NULL;

	if (text && fg_json_parse(text, strlen(text), LIST_LIMIT_BYTES, &json, NULL) == FG_OK) {
		cJSON_ArrayForEach(one, json)
		{
			const char *folder = below(root, fg_json_text_or(one, "workdir", ""));
			const char *name = fg_json_text_or(one, "name", "");
			char **argv = NULL;
			const size_t argc = words_of(fg_json_find(one, "cmd"), arena, &argv);

			if (benchmarks)
				set_benchmark(take(root, arena, project, argv, argc, folder), name,
					      arena);
			else if (argc && is_test(project, below(root, argv[0])))
				set_name(take(root, arena, project, argv, argc, folder), name,
					 arena);
		}
	}
	cJSON_Delete(json);
	free(text);
	free(line);
}

static void read_meson(const char *root, struct fg_arena *arena, struct fg_project *project)
{
	read_meson_list(root, arena, project, true);
	read_meson_list(root, arena, project, false);
}

/* ---- make ---- */

static const char *const make_targets[] = {"bench", "benchmark", "benchmarks",
					   "perf",  "speed",     "perftest"};

/* Does the root have a makefile, either written by hand or made by configure? */
static bool has_makefile(const struct fg_project *project)
{
	return project->kind != FG_PROJECT_CMAKE && project->kind != FG_PROJECT_MESON &&
	       project->kind != FG_PROJECT_BAZEL && project->kind != FG_PROJECT_NINJA &&
	       project->kind != FG_PROJECT_UNKNOWN && !project->folder && !project->makefile;
}

/*
 * Returns the prerequisites of a target in the database of `make -p`, which the caller frees; NULL
 * if make does not know the target.
 */
static char *prerequisites(const char *database, const char *target)
{
	char *start = fg_xasprintf("\n%s:", target);
	const char *at = strstr(database, start);
	char *found = NULL;

	/* make prints "# Not a target:" before names that are only mentioned. */
	if (at && !(at - database > 15 && strncmp(at - 15, "# Not a target:", 15) == 0)) {
		at += strlen(start);
		found = fg_xstrndup(at, strcspn(at, "|\n"));
	}
	free(start);
	return found;
}

/* Does a command of the recipe begin with "./", and so run a program of the project? */
static bool runs_something(const char *recipe)
{
	for (const char *line = recipe; line && *line; line = strchr(line, '\n')) {
		line += strspn(line, "\n \t");
		if (fg_text_starts_with(line, "./"))
			return true;
	}
	return false;
}

/* Does the recipe link the target, perhaps through libtool ("./libtool ... -o speedtest1")? */
static bool links(const char *recipe, const char *target)
{
	char *output = fg_xasprintf("-o %s", target);
	const size_t length = strlen(output);
	const char *at = strstr(recipe, output);

	while (at && !strchr(" \n", at[length]))
		at = strstr(at + length, output);
	free(output);
	return at != NULL;
}

/* Keeps words that can be programs: no dot, which source files have, and no shell syntax. */
static const char *programs_among(const char *words, struct fg_arena *arena)
{
	char *copy = fg_xstrdup(words);
	struct fg_strbuf kept = {0};
	const char *text = NULL;
	char *rest = copy;

	for (char *word = strsep(&rest, " \t"); word; word = strsep(&rest, " \t")) {
		const char *base = fg_fs_base_name(word);

		if (*word && !strchr(base, '.') && !strpbrk(word, "'\"$`;&|<>()"))
			fg_strbuf_printf(&kept, " %s", word);
	}
	text = kept.length ? fg_arena_strdup(arena, fg_strbuf_text(&kept) + 1) : NULL;
	fg_strbuf_release(&kept);
	free(copy);
	return text;
}

/*
 * Returns the programs that the target's recipe runs, or else the target itself; NULL without a
 * recipe.
 */
static const char *buildable(const char *root, struct fg_arena *arena, const char *database,
			     const char *target)
{
	char *needs = prerequisites(database, target);
	char *line = fg_xasprintf("make -sn %s", target);
	char *recipe = needs ? output_of(root, line, false) : NULL;
	const char *found = NULL;

	if (recipe && runs_something(recipe) && !links(recipe, target))
		found = programs_among(needs, arena);
	else if (recipe && *recipe)
		found = target;
	free(recipe);
	free(line);
	free(needs);
	return found;
}

/*
 * Returns the target that a line of the database defines, if its name is plain and suggests a
 * benchmark.
 */
static const char *benchmark_target(const char *line, struct fg_arena *arena)
{
	const size_t length = strspn(line, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					   "0123456789_-+/");
	const char *name = NULL;

	if (length == 0 || line[length] != ':' || line[length + 1] == '=')
		return NULL;
	name = fg_arena_strndup(arena, line, length);
	return fg_project_is_benchmark_name(name) ? name : NULL;
}

static size_t add_target(const char *root, struct fg_arena *arena, const char *database,
			 const char *name, const char **targets, size_t count)
{
	const char *found = buildable(root, arena, database, name);

	for (size_t i = 0; found && i < count; i++) {
		if (strcmp(targets[i], found) == 0)
			return count;
	}
	if (found)
		targets[count++] = found;
	return count;
}

size_t fg_project_make_targets(const char *root, struct fg_arena *arena, struct fg_project *project,
			       const char *targets[FG_PROJECT_MAX_TARGETS])
{
	char *database = NULL;
	size_t count = 0;

	if (!has_makefile(project))
		return 0;
	database = output_of(root, "make -npq", true);
	for (size_t i = 0; database && i < FG_ARRAY_SIZE(make_targets); i++) {
		if (count < FG_PROJECT_MAX_TARGETS)
			count = add_target(root, arena, database, make_targets[i], targets, count);
	}
	for (const char *line = database; line && count < FG_PROJECT_MAX_TARGETS;) {
		const char *name = benchmark_target(line, arena);

		if (name)
			count = add_target(root, arena, database, name, targets, count);
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	free(database);
	return count;
}

const char *fg_project_program_targets(const char *root, struct fg_arena *arena)
{
	static const char goal_is[] = "\n.DEFAULT_GOAL := ";
	char *database = output_of(root, "make -npq", true);
	const char *at = database ? strstr(database, goal_is) : NULL;
	char *goal =
		at ? fg_xstrndup(at + strlen(goal_is), strcspn(at + strlen(goal_is), "\n")) : NULL;
	char *needs = goal ? prerequisites(database, goal) : NULL;
	char *rest = needs;
	struct fg_strbuf kept = {0};

	for (char *word = strsep(&rest, " "); word; word = strsep(&rest, " ")) {
		char *line = fg_xasprintf("make -sn %s", word);
		char *recipe = *word ? output_of(root, line, false) : NULL;

		if (recipe && links(recipe, word))
			fg_strbuf_printf(&kept, " %s", word);
		free(recipe);
		free(line);
	}
	free(needs);
	free(goal);
	free(database);
	return kept.length ? fg_strbuf_keep(&kept, arena) : NULL;
}

/* Does a target's name suggest that it runs the tests ("run-tests")? */
static bool runs_tests(const char *words)
{
	return strstr(words, "run") || strstr(words, "check-") || strstr(words, "test-");
}

const char *fg_project_test_target(const char *root, struct fg_arena *arena,
				   const struct fg_project *project)
{
	static const char *const targets[] = {"check", "test", "tests"};
	const struct fg_git git = {.folder = root};
	const char *const ask[] = {"grep",         "-q", "check_PROGRAMS", "--", "*Makefile.am",
				   "*Makefile.in", NULL};
	const char *found = NULL;
	char *database = NULL;
	char *ignored = NULL;
	const bool is_automake = fg_git_output(&git, ask, &ignored, NULL) == FG_OK;

	free(ignored);
	if (!has_makefile(project))
		return NULL;
	if (is_automake)
		return "check TESTS="; /* builds the tests without running them */
	if (project->kind != FG_PROJECT_MAKE)
		return NULL;
	database = output_of(root, "make -npq", true);
	for (size_t i = 0; database && i < FG_ARRAY_SIZE(targets) && !found; i++) {
		char *needs = prerequisites(database, targets[i]);

		found = needs && !runs_tests(needs) ? programs_among(needs, arena) : NULL;
		free(needs);
	}
	free(database);
	return found;
}

/* Takes a line of `make -n bench`: "./bench 1000 data"; `folder` is a sub-make's, or NULL. */
static void take_line(const char *root, struct fg_arena *arena, struct fg_project *project,
		      const char *line, const char *folder)
{
	char **argv = NULL;
	size_t argc = 0;

	if (strpbrk(line, "|<>;&$`(") || !fg_text_starts_with(line, "./") ||
	    fg_text_split_words(line, arena, &argv, &argc, NULL) != FG_OK)
		return;
	if (folder)
		argv[0] = fg_arena_printf(arena, "%s/%s/%s", root, folder, argv[0] + 2);
	set_benchmark(take(root, arena, project, argv, argc, folder), "", arena);
}

/* Returns the folder that a sub-make enters: "make[1]: Entering directory '/src/test'"; or NULL. */
static const char *entered(const char *root, const char *line, struct fg_arena *arena)
{
	const char *path = strchr(line, '\'');

	return path && strstr(line, "]: Entering directory '")
		       ? below(root, fg_arena_strndup(arena, path + 1, strcspn(path + 1, "'")))
		       : NULL;
}

static void read_make(const char *root, struct fg_arena *arena, struct fg_project *project)
{
	for (size_t i = 0; i < FG_ARRAY_SIZE(make_targets); i++) {
		char *line = fg_xasprintf("make -n %s", make_targets[i]);
		char *text = output_of(root, line, false);
		const char *folder = NULL;
		char *rest = text;
		size_t lines = 0;

		for (char *one = strsep(&rest, "\n"); one && lines < LINES_MAX;
		     one = strsep(&rest, "\n"), lines++) {
			if (fg_text_starts_with(one, "make["))
				folder = entered(root, one, arena);
			else
				take_line(root, arena, project, one, folder);
		}
		free(text);
		free(line);
	}
}

/* ---- harnesses ---- */

/* Catch2 hides cases tagged as benchmarks, so a program without arguments does not run them. */
static void read_tags(const char *root, struct fg_arena *arena, struct fg_project_program *program)
{
	char *line = fg_xasprintf("./%s --list-tags", program->path);
	char *text = output_of(root, line, true);

	if (text && strstr(text, "[!benchmark]")) {
		program->arguments = fg_arena_strdup(arena, "\"[!benchmark]\" --reporter xml");
		set_benchmark(program, "", arena);
	}
	free(text);
	free(line);
}

/* If there are many cases, shortens each, so that the rounds for a verdict fit the budget. */
static void limit_cases(const char *root, struct fg_arena *arena,
			struct fg_project_program *program)
{
	char *line = fg_xasprintf("./%s --benchmark_list_tests", program->path);
	char *text = output_of(root, line, false);
	size_t cases = 0;

	for (const char *at = text; at && (at = strchr(at, '\n')); at++)
		cases++;
	if ((double)cases * google_case_s > ROUND_SECONDS)
		program->arguments =
			fg_arena_printf(arena, "%s --benchmark_min_time=%.2g", program->arguments,
					fmax(ROUND_SECONDS / (double)cases, 0.005));
	free(text);
	free(line);
}

static void read_harnesses(const char *root, struct fg_arena *arena, struct fg_project *project)
{
	for (size_t i = 0; i < project->program_count; i++) {
		struct fg_project_program *program = &project->programs[i];

		if (program->is_built && program->harness == FG_HARNESS_CATCH2)
			read_tags(root, arena, program);
		else if (program->is_built && program->harness == FG_HARNESS_GOOGLE_BENCHMARK)
			limit_cases(root, arena, program);
	}
}

/* Suites of other languages, recognised by the content of a file. */
static const struct suite {
	enum fg_project_kind kind;
	const char *files;
	const char *word;
	const char *command;
	enum fg_harness harness;
} suites[] = {
	{FG_PROJECT_CARGO, "*Cargo.toml", "criterion", "cargo bench -- --output-format bencher",
	 FG_HARNESS_CARGO_BENCH},
	{FG_PROJECT_CARGO, "*Cargo.toml", "[[bench]]", "cargo bench", FG_HARNESS_CARGO_BENCH},
	{FG_PROJECT_GO, "*_test.go", "func Benchmark",
	 "go test -run - -bench . -benchtime 100ms ./...", FG_HARNESS_GO},
	{FG_PROJECT_SETUP_PY, ".", "pytest-benchmark",
	 "python3 -m pytest --benchmark-only --benchmark-json=/dev/stdout", FG_HARNESS_PYTEST},
	{FG_PROJECT_PYPROJECT, ".", "pytest-benchmark",
	 "python3 -m pytest --benchmark-only --benchmark-json=/dev/stdout", FG_HARNESS_PYTEST},
};

void fg_project_find_suite(const char *root, struct fg_arena *arena, struct fg_project *project)
{
	const struct fg_git git = {.folder = root};

	for (size_t i = 0; i < FG_ARRAY_SIZE(suites); i++) {
		const char *const ask[] = {"grep", "-qF",           suites[i].word,
					   "--",   suites[i].files, NULL};
		char *text = NULL;

		if (project->kind == suites[i].kind &&
		    fg_git_output(&git, ask, &text, NULL) == FG_OK) {
			fg_project_add_suite(arena, project, suites[i].command, suites[i].harness);
			i = FG_ARRAY_SIZE(suites) - 1;
		}
		free(text);
	}
	fg_project_sort(project);
}

void fg_project_read_lists(const char *root, struct fg_arena *arena, struct fg_project *project)
{
	char *whole = realpath(root, NULL);

	if (!whole)
		return;
	if (project->kind == FG_PROJECT_CMAKE)
		read_ctest(whole, arena, project);
	else if (project->kind == FG_PROJECT_MESON)
		read_meson(whole, arena, project);
	else if (has_makefile(project))
		read_make(whole, arena, project);
	read_harnesses(whole, arena, project);
	fg_project_sort(project);
	free(whole);
}
