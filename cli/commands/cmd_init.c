// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "base/fs.h"
#include "base/number.h"
#include "cli/framework/command.h"
#include "cli/init/project.h"
#include "config/config.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum {
	SHOWN_MAX = 4,
	CONFIG_BYTES_MAX = 1 << 20,
	/* time limit for trials, at most half of the budget; builds get the rest */
	TRIALS_SECONDS = 90,
};

struct options {
	bool print;
	bool no_build;
	const char *build;
	const char *ci;
	int64_t budget_ns;
};

/*
 * Does the file list no benchmark, like the file that `init` writes if nothing works? Such a file
 * may be replaced.
 */
static bool measures_nothing(const char *path)
{
	char *text = NULL;
	const bool found = fg_fs_read(path, CONFIG_BYTES_MAX, &text, NULL, NULL) == FG_OK &&
			   strstr(text, "\nbenchmarks:\n") && !strstr(text, "\n  - ");

	free(text);
	return found;
}

/*
 * Creates the file exclusively, so that an existing file is never overwritten, not even if it was
 * created a moment ago.
 */
static int create(const char *path, const char *text, struct fg_error *err)
{
	const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	int status = FG_OK;

	if (fd < 0 && errno == EEXIST)
		return fg_error_set(
			err, FG_ECONFLICT,
			"%s exists already and is left unchanged: remove it to write a new one; "
			"'fastgate init --print' shows what would be written",
			path);
	if (fd < 0)
		return fg_error_errno(err, FG_EIO, "cannot write %s", path);
	status = fg_fs_write_all(fd, text, strlen(text), err);
	if (close(fd) != 0 && status == FG_OK)
		status = fg_error_errno(err, FG_EIO, "cannot write %s", path);
	if (status != FG_OK)
		(void)unlink(path);
	return status;
}

/* ---- findings, for people ---- */

static void print_trial(const struct fg_cli *cli, const struct fg_project_program *program)
{
	char spread[FG_NUMBER_TEXT_SIZE];
	char smallest[FG_NUMBER_TEXT_SIZE];

	if (program->trial == FG_PROJECT_SHORT && program->is_idle)
		fg_cli_say(cli, "    one execution takes %.2g ms, and " FG_PROJECT_IDLE,
			   1e3 * program->seconds);
	else if (program->trial == FG_PROJECT_SHORT)
		fg_cli_say(
			cli,
			"    one execution takes %.2g ms, which is too short to time well: make "
			"the program repeat its work (with an option or a loop) for at least 0.1 "
			"s",
			1e3 * program->seconds);
	if (program->trial != FG_PROJECT_GOOD)
		return;
	fg_cli_say(cli,
		   "    one execution takes %.2g s, %.0f %% of it on a CPU; two executions differ "
		   "by %s; a slowdown of about %s is found within 30 s",
		   program->seconds, 100 * program->busy,
		   fg_format_without_sign(fg_format_change(program->spread, spread)),
		   fg_format_without_sign(fg_format_change(program->smallest, smallest)));
	if (program->busy < 0.7)
		fg_cli_say(
			cli,
			"    the rest of the time, the program waits for its output to be read, "
			"for a disk, or for a timer; CPU time and wall time are judged separately");
	if (program->busy > 1.3)
		fg_cli_say(
			cli,
			"    the program uses several CPUs: limit it to one thread for less noise");
}

static void print_benchmark(struct fg_cli *cli, const struct fg_project_program *program)
{
	const char *input = fg_project_stdin(program, &cli->arena);

	fg_cli_say(cli, "  benchmark: %s%s%s%s%s%s", fg_project_command(program, &cli->arena),
		   input ? " <" : "", input ? input : "",
		   program->harness != FG_HARNESS_NONE ? ", " : "",
		   program->harness != FG_HARNESS_NONE ? fg_harness_name(program->harness) : "",
		   program->is_built ? ""
		   : program->suite  ? " (not tried)"
				     : " (not built yet)");
	if (program->rank < FG_PROJECT_SURE_RANK)
		fg_cli_say(cli, "    a guess: %s", program->reason);
	if (program->input_copies > 1)
		fg_cli_say(cli, "    a guess: the input is %s, %s %u times", program->input,
			   program->input_is_repeated ? "given" : "copied", program->input_copies);
	else if (program->input)
		fg_cli_say(cli, "    a guess: the input is a file %s",
			   program->input_made ? "made by fastgate" : "of this project");
	if (program->loops)
		fg_cli_say(cli,
			   "    a guess: %u executions in a row, because a single execution is "
			   "too short to time well",
			   program->loops);
	if (program->is_wrapped)
		fg_cli_say(cli,
			   "    this is the program that libtool's wrapper script starts, so the "
			   "script is not measured; with ./configure --disable-shared there is no "
			   "script");
	if (program->library_path)
		fg_cli_say(cli,
			   "    LD_LIBRARY_PATH is set to %s, because the program needs this "
			   "project's own libraries",
			   program->library_path);
	print_trial(cli, program);
}

static void print_lack(const struct fg_cli *cli, const struct fg_project_program *program)
{
	if (program->trial == FG_PROJECT_FAILED)
		fg_cli_say(cli, "    %s: %s", program->path, program->why);
	else if (program->trial == FG_PROJECT_SHORT)
		fg_cli_say(cli, "    %s: one execution takes %.2g ms, %s", program->path,
			   1e3 * program->seconds,
			   program->is_idle ? "and " FG_PROJECT_IDLE : "which is too short");
	else
		fg_cli_say(cli, "    %s: not %s", program->path,
			   program->is_built ? "tried" : "built");
}

static void print_lacks(const struct fg_cli *cli, const struct fg_project *project, bool tried,
			size_t *shown)
{
	for (size_t i = 0; i < project->program_count && *shown < SHOWN_MAX; i++) {
		const struct fg_project_program *program = &project->programs[i];

		if (program->rank <= FG_PROJECT_TEST_RANK ||
		    (program->trial != FG_PROJECT_UNTRIED) != tried)
			continue;
		*shown += 1;
		print_lack(cli, program);
	}
}

/* Reports why programs cannot be measured, beginning with the programs that were tried. */
static void print_need(const struct fg_cli *cli, const struct fg_project *project)
{
	size_t shown = 0;

	fg_cli_say(cli, "  benchmark: none was found. Under `benchmarks`, write a command that "
			"does typical work, on an input of typical size, for 0.1 to 10 s.");
	print_lacks(cli, project, true, &shown);
	print_lacks(cli, project, false, &shown);
	if (project->program_count == 0 && project->tree && !project->has_failed)
		fg_cli_say(cli,
			   "    the build makes no program; if an option of the build adds "
			   "examples, tests or benchmarks, give a command with it: fastgate init "
			   "--build 'COMMAND'");
}

static const char *next_step(const struct fg_project *project)
{
	if (project->is_cut)
		return "fastgate init --budget 30m   (gives the build more time, and replaces this "
		       "file)";
	if (project->has_failed)
		return "fastgate init --build 'COMMAND'   (with a command that builds the "
		       "project; replaces this file)";
	if (fg_project_chosen(project) == 0)
		return "name a benchmark in fastgate.yml, then `fastgate run`";
	if (project->build_command && project->has_history)
		return "fastgate run                  (compares the work tree with the commit "
		       "where its branch began)";
	if (project->build_command && project->has_commit)
		return "fastgate run --against HEAD   (compares the work tree with the last commit)";
	return "fastgate run                  (measures, and keeps the run for later "
	       "comparisons)";
}

static void print_summary(struct fg_cli *cli, const struct fg_project *project)
{
	const size_t count = fg_project_chosen(project);

	fg_cli_say(cli, "Wrote %s.", FG_CONFIG_FILE_NAME);
	if (project->build_command)
		fg_cli_say(cli, "  build: %s (%s)", project->build_command,
			   project->is_given ? "as given" : fg_project_kind_name(project->kind));
	else
		fg_cli_say(cli, "  build: not known; to compare with another commit, try "
				"`fastgate init --build 'COMMAND'` or fill in build.command");
	for (size_t i = 0; i < count; i++)
		print_benchmark(cli, &project->programs[i]);
	if (count == 0)
		print_need(cli, project);
	if (project->was_cut)
		fg_cli_say(cli, "  Only the first %d files were examined.", FG_PROJECT_MAX_FILES);
	fg_cli_say(cli, "Next: %s", next_step(project));
}

/* ---- the command ---- */

/* A failed build is reported, and fastgate.yml is still written from the build files alone. */
static int look(struct fg_cli *cli, const struct options *given, struct fg_project *project,
		struct fg_error *err)
{
	const int64_t trials_ns = given->budget_ns / 2 < TRIALS_SECONDS * FG_NS_PER_S
					  ? given->budget_ns / 2
					  : TRIALS_SECONDS * FG_NS_PER_S;
	const int64_t builds_end_ns = fg_clock_monotonic_ns() + given->budget_ns - trials_ns;
	struct fg_worktree worktree = {.lock_fd = -1};
	int status = FG_OK;

	fg_project_look(".", &cli->arena, project);
	if (given->build)
		fg_project_give_command(project, given->build);
	if (!given->no_build && project->build_command && project->has_commit) {
		status = fg_project_build(cli, project, builds_end_ns, &worktree, err);
		if (status == FG_EINTERRUPTED)
			return status;
		project->has_failed = status != FG_OK;
		project->is_cut = status == FG_ETIMEOUT;
		if (status != FG_OK)
			fg_cli_warn(cli, "%s", err->message);
	} else if (!given->no_build && project->build_command) {
		fg_cli_say(cli, "Nothing was built: a build needs a git repository with a commit.");
	}
	if (project->tree) {
		fg_project_read_lists(project->tree, &cli->arena, project);
		fg_project_try(cli, project, fg_clock_monotonic_ns() + trials_ns);
		fg_project_keep_tests(project, &cli->arena);
		fg_worktree_close(&worktree);
	} else {
		fg_project_find_programs(".", &cli->arena, project);
	}
	if (project->has_commit)
		fg_project_find_suite(".", &cli->arena, project);
	for (size_t i = 0; i < project->program_count; i++)
		fg_cli_detail(cli, "possible benchmark %s: %s", project->programs[i].path,
			      project->programs[i].reason);
	return cli->interrupted && *cli->interrupted
		       ? fg_error_set(err, FG_EINTERRUPTED, "interrupted: nothing was written")
		       : FG_OK;
}

static int write_config(struct fg_cli *cli, const struct options *given, struct fg_error *err)
{
	struct fg_project project = {0};
	const bool is_empty = measures_nothing(FG_CONFIG_FILE_NAME);
	struct fg_strbuf text = {0};
	int status = FG_OK;

	if (!given->print && fg_fs_exists(FG_CONFIG_FILE_NAME) && !is_empty)
		return create(FG_CONFIG_FILE_NAME, "", err);
	FG_TRY_OUT(look(cli, given, &project, err));
	fg_project_write_file(&project, &cli->arena, &text);
	if (is_empty && !given->print)
		(void)unlink(FG_CONFIG_FILE_NAME);
	if (given->print)
		fg_cli_print(cli, &text);
	else
		status = create(FG_CONFIG_FILE_NAME, fg_strbuf_text(&text), err);
	if (status == FG_OK && !given->print)
		print_summary(cli, &project);
out:
	free(project.tree);
	fg_strbuf_release(&text);
	return status;
}

/* Writes the CI job, and before that fastgate.yml if it does not exist. */
static int write_job(struct fg_cli *cli, const struct options *given,
		     const struct fg_project_ci *ci, struct fg_error *err)
{
	struct fg_strbuf text = {0};
	char *folder = NULL;
	int status = FG_OK;

	if (given->print) {
		fg_strbuf_add_text(&text, ci->text);
		fg_cli_print(cli, &text);
		fg_strbuf_release(&text);
		return FG_OK;
	}
	if (!fg_fs_exists(FG_CONFIG_FILE_NAME))
		FG_TRY(write_config(cli, given, err));
	folder = strchr(ci->path, '/') ? fg_fs_parent(ci->path) : fg_xstrdup(".");
	status = fg_fs_make_folders(folder, 0755, err);
	free(folder);
	if (status != FG_OK)
		return status;
	FG_TRY(create(ci->path, ci->text, err));
	fg_cli_say(cli, "Wrote %s: %s.", ci->path, ci->next);
	return FG_OK;
}

static int run(struct fg_cli *cli, const void *values)
{
	const struct options *given = values;
	const struct fg_project_ci *ci = given->ci ? fg_project_ci_find(given->ci) : NULL;
	struct fg_error err = {0};
	int status = FG_OK;

	if (given->ci && !ci)
		return fg_cli_usage(cli, "--ci: '%s' is not one of github, gitlab, jenkins",
				    given->ci);
	status = ci ? write_job(cli, given, ci, &err) : write_config(cli, given, &err);
	return status == FG_OK ? FG_EXIT_PASS : fg_cli_fail(cli, &err);
}

static const struct fg_option options[] = {
	FG_ROW_FLAG(struct options, print, "print", 0,
		    "write to standard output instead of fastgate.yml"),
	FG_ROW_FLAG(struct options, no_build, "no-build", 0,
		    "build and run nothing: write only what the build files show"),
	FG_ROW_TEXT(struct options, build, "build", 0, "COMMAND",
		    "build with this shell command, whatever the build files say"),
	FG_ROW_BUDGET(struct options, budget_ns, "5m",
		      "end the build and the trials after this time"),
	FG_ROW_TEXT(struct options, ci, "ci", 0, "SYSTEM",
		    "also write a CI job: github, gitlab or jenkins"),
	{.name = NULL},
};

static const struct fg_cli_example examples[] = {
	{"fastgate init", "write fastgate.yml for the project in this folder"},
	{"fastgate init --print", "print the file instead of writing it"},
	{"fastgate init --build 'cargo build --release'", "with your own build command"},
	{"fastgate init --budget 30m", "for a project with a long build"},
	{"fastgate init --no-build", "without building or running anything"},
	{"fastgate init --ci github", "also write a workflow that gates pull requests"},
	{NULL, NULL},
};

const struct fg_cli_command fg_cmd_init = {
	.name = "init",
	.group = FG_CLI_GROUP_SETUP,
	.summary = "build the project once, find benchmarks, and write a fastgate.yml that works",
	.description =
		"Finds the project's build systems (CMake, Meson, configure, autotools, "
		"autogen.sh, bootstrap, Make, Bazel, ninja, Cargo, Go, setup.py, pyproject.toml; "
		"in this folder or up to two levels below it). If there are several, those that "
		"name a benchmark are tried first; if a build fails, the next is tried. Builds a "
		"snapshot of the work tree below .fastgate/, where `fastgate run` finds the "
		"build again, and looks for benchmarks in it: programs of Google Benchmark, "
		"nanobench and Catch2, benchmarks of CTest, Meson, Cargo, Go and "
		"pytest-benchmark, makefile targets whose names suggest speed, programs with "
		"'bench' or 'perf' in their name, the program with the name of the project, and "
		"commands with a page in section 1 of its manual. A program that is not a "
		"benchmark is marked as a guess, unless it has the name of the project and a "
		"README shows its use.\n"
		"\n"
		"The likeliest programs are run a few times in the snapshot, with a time limit, "
		"to measure how long an execution takes, how much of that is CPU time, how much "
		"two executions differ, and how small a slowdown is found within 30 s. A program "
		"that needs an input is tried with the files that the project's tests, build "
		"files or documentation give it, then with any file of the project, then with "
		"generated files of simple formats; such a command is marked as a guess. A "
		"program that the project starts as a service or installs for the administrator "
		"is not run, nor is a command of a project whose manual has a section 8. If no "
		"program can be measured, the longest of the tests is chosen, with the command "
		"that CTest or Meson lists; if all are short, the likeliest program is executed "
		"many times in a row; if none works, the file says what is needed.\n"
		"\n"
		"An existing fastgate.yml is never changed, unless `init` wrote it and found "
		"nothing to measure: after a failed build, `fastgate init --build 'COMMAND'` "
		"tries again. --ci also writes a CI job, with cache, permissions "
		"and reports; an existing file of the job is not changed either.",
	.options = options,
	.options_size = sizeof(struct options),
	.examples = examples,
	.stops_cleanly = true,
	.run = run,
};
