// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "base/fs.h"
#include "base/text.h"
#include "cli/init/project.h"
#include "cli/session/plan.h"
#include "runner/build/git.h"

static void say_note(void *context, const char *note)
{
	fg_cli_say(context, "%s", note);
}

static int split(struct fg_cli *cli, const char *text, bool shell, struct fg_command *command,
		 struct fg_error *err)
{
	static char program[] = "/bin/sh";
	static char option[] = "-c";

	command->text = text;
	if (!shell)
		return fg_text_split_words(text, &cli->arena, &command->argv, &command->argc, err);
	command->argv = fg_arena_array(&cli->arena, 4, sizeof(command->argv[0]));
	command->argv[0] = program;
	command->argv[1] = option;
	command->argv[2] = fg_arena_strdup(&cli->arena, text);
	command->argc = 3;
	return FG_OK;
}

static void show_tail(const struct fg_cli *cli, char *tail)
{
	char *rest = tail;

	for (const char *line = strsep(&rest, "\n"); line; line = strsep(&rest, "\n")) {
		if (*line)
			fg_cli_say(cli, "  %s", line);
	}
	free(tail);
}

struct opening {
	struct fg_cli *cli;
	struct fg_project *project;
	struct fg_worktree *worktree;
	const char *commit; /* commit of the snapshot */
	char *tail;         /* last lines of the last failed build */
	int64_t ends_ns;    /* time limit, on the monotonic clock */
};

static struct fg_worktree_options options_of(const struct opening *opening,
					     const struct fg_build *build)
{
	return (struct fg_worktree_options){
		.root = ".",
		.state_folder = FG_STATE_FOLDER,
		.commit = opening->commit,
		.snapshot = true,
		.build = build,
		.ends_ns = opening->ends_ns,
		.interrupted = opening->cli->interrupted,
		.context = opening->cli,
		.on_note = say_note,
	};
}

/* Builds another target in the built tree. Returns the command, or NULL if it fails. */
static const char *build_target(struct opening *opening, const char *what, const char *target)
{
	struct fg_cli *cli = opening->cli;
	const char *command = fg_arena_printf(&cli->arena, "make -j2 %s", target);
	struct fg_build build = {0};
	const struct fg_worktree_options options = options_of(opening, &build);
	char *log = fg_fs_join(FG_STATE_FOLDER, "build-benchmarks.log");
	char *tail = NULL;
	struct fg_error err = {0};
	int status = split(cli, command, false, &build.command, &err);

	if (status == FG_OK) {
		fg_cli_say(cli, "building the project's %s (output: %s): %s", what, log, command);
		status = fg_worktree_build(&options, opening->project->tree, log, &tail, &err);
	}
	if (status != FG_OK)
		fg_cli_say(cli, "'%s' fails, so its programs are left out: %s", command,
			   err.message);
	free(tail);
	free(log);
	return status == FG_OK ? command : NULL;
}

/* Makefiles often build benchmarks in a separate target; the first target that builds is enough. */
static void build_benchmarks(struct opening *opening)
{
	struct fg_project *project = opening->project;
	struct fg_arena *arena = &opening->cli->arena;
	const char *targets[FG_PROJECT_MAX_TARGETS];
	const size_t count = fg_project_make_targets(project->tree, arena, project, targets);
	const char *command = NULL;

	for (size_t i = 0; i < count && !command; i++)
		command = build_target(opening, "benchmarks", targets[i]);
	if (command) {
		project->build_command =
			fg_arena_printf(arena, "%s && %s", project->build_command, command);
		project->build_needs_shell = true;
	}
}

/* Builds the tests, often a separate target, unless a likelier program was found. */
static void build_tests(struct opening *opening)
{
	struct fg_project *project = opening->project;
	struct fg_arena *arena = &opening->cli->arena;
	const char *target = NULL;

	if (project->program_count && project->programs[0].rank >= FG_PROJECT_OWN_RANK)
		return;
	target = fg_project_test_target(project->tree, arena, project);
	project->test_command = target ? build_target(opening, "tests", target) : NULL;
	if (project->test_command)
		fg_project_find_programs(project->tree, arena, project);
}

/* Builds the snapshot with this command, which becomes the project's build command on success. */
static int open_tree(struct opening *opening, const char *command, struct fg_error *err)
{
	struct fg_cli *cli = opening->cli;
	struct fg_project *project = opening->project;
	struct fg_build build = {0};
	const struct fg_worktree_options options = options_of(opening, &build);
	struct fg_worktree opened = {.lock_fd = -1};

	FG_TRY(split(cli, command, project->build_needs_shell, &build.command, err));
	free(opening->tail);
	opening->tail = NULL;
	FG_TRY(fg_worktree_open(&options, &opened, &opening->tail, err));
	fg_worktree_close(opening->worktree);
	*opening->worktree = opened;
	free(project->tree);
	project->tree = fg_xstrdup(opened.root);
	project->build_command = command;
	project->program_count = 0;
	build_benchmarks(opening);
	fg_project_find_programs(project->tree, &cli->arena, project);
	return FG_OK;
}

/* Reads the compiler flags of the tree that was built. */
static void read_flags(const struct fg_project *project, struct fg_project_flags *flags)
{
	char *folder =
		fg_fs_join(project->tree, project->build_folder ? project->build_folder : ".");

	fg_project_read_flags(folder, flags);
	free(folder);
}

/*
 * Builds, and reads how the code was compiled. Drops the hint on line numbers if the code has debug
 * information. A CMake project whose own build type is unoptimised is built again with an optimised
 * type.
 */
static int open_optimised(struct opening *opening, const char *command, struct fg_error *err)
{
	static const char type[] = " -DCMAKE_BUILD_TYPE=";
	struct fg_project *project = opening->project;
	struct fg_project_flags flags = {0};
	int status = FG_OK;

	FG_TRY(open_tree(opening, command, err));
	read_flags(project, &flags);
	if (project->kind == FG_PROJECT_CMAKE && flags.unoptimised > 0 &&
	    !fg_project_is_optimised(&flags) && !strstr(command, type)) {
		command = fg_project_command_with(
			project,
			fg_arena_printf(&opening->cli->arena, "%s" FG_PROJECT_CMAKE_TYPE, type),
			&opening->cli->arena);
		status = open_tree(opening, command, err);
		if (status == FG_OK)
			read_flags(project, &flags);
	}
	if (flags.with_debug > 0)
		project->line_hint = NULL;
	return status;
}

/* Builds only the programs: the default target may need a tool that makes manuals. */
static int open_programs(struct opening *opening, struct fg_error *err)
{
	struct fg_arena *arena = &opening->cli->arena;
	const char *targets = fg_project_program_targets(".", arena);

	if (!targets)
		return FG_ECHILD;
	fg_cli_say(opening->cli, "'make' fails; trying to make only its programs:%s", targets);
	return open_optimised(opening, fg_arena_printf(arena, "make -j2%s", targets), err);
}

/*
 * Builds without extra switches. If a parallel build fails, tries a single job, because a makefile
 * that omits prerequisites builds only with one job.
 */
static int open_plain(struct opening *opening, struct fg_error *err)
{
	static const char jobs[] = "make -j2";
	const char *command = opening->project->build_command;
	const char *at = strstr(command, jobs);
	int status = open_optimised(opening, command, err);

	if (status != FG_ECHILD || !at)
		return status;
	command = fg_arena_printf(&opening->cli->arena, "%.*smake%s", (int)(at - command), command,
				  at + strlen(jobs));
	fg_cli_say(opening->cli, "the build fails with two jobs; trying one job");
	status = open_optimised(opening, command, err);
	if (status == FG_ECHILD && strcmp(command, "make") == 0 &&
	    open_programs(opening, NULL) == FG_OK)
		return FG_OK;
	return status;
}

/*
 * Builds with switches that are off by default in the project. FG_ECHILD: no such switch, or the
 * build fails.
 */
static int open_with(struct opening *opening, enum fg_project_wanted wanted, struct fg_error *err)
{
	struct fg_cli *cli = opening->cli;
	const char *folder = opening->project->folder ? opening->project->folder : ".";
	const char *flags = fg_project_option_flags(folder, opening->project, wanted, &cli->arena);
	int status = FG_OK;

	if (!flags)
		return FG_ECHILD;
	status = open_optimised(opening,
				fg_project_command_with(opening->project, flags, &cli->arena), err);
	if (status == FG_ECHILD || status == FG_ETIMEOUT)
		fg_cli_say(cli, "the build %s with these flags, which are left out:%s",
			   status == FG_ECHILD ? "fails" : "takes too long", flags);
	return status;
}

/*
 * Tries one build system, with the switches for benchmarks or else without switches. If no program
 * was built, tries the switches for programs.
 */
static int open_way(struct opening *opening, struct fg_error *err)
{
	int status = open_with(opening, FG_PROJECT_WANT_BENCHMARKS, err);

	if (status == FG_ECHILD) {
		status = open_plain(opening, err);
		if (opening->tail)
			show_tail(opening->cli, opening->tail);
		opening->tail = NULL;
	}
	if (status != FG_OK)
		return status;
	if (opening->project->program_count == 0)
		(void)open_with(opening, FG_PROJECT_WANT_PROGRAMS, NULL);
	build_tests(opening);
	return FG_OK;
}

/* Returns to an earlier build system and rebuilds if needed; FG_ECHILD if it does not build. */
static int go_back(struct opening *opening, const struct fg_project *kept, bool builds,
		   struct fg_error *err)
{
	struct fg_project *project = opening->project;

	if (builds && project->way == kept->way)
		return FG_OK;
	fg_worktree_close(opening->worktree);
	free(project->tree);
	*project = *kept;
	project->tree = NULL;
	return builds ? open_plain(opening, err) : FG_ECHILD;
}

/* FG_ENOENT: the build system is not installed. */
static bool is_failure(int status)
{
	return status == FG_ECHILD || status == FG_ENOENT;
}

/*
 * Tries build systems until one builds a program. If none does, chooses the first build system that
 * builds anything, or else the first of all, with its error.
 */
static int open_some_way(struct opening *opening, struct fg_error *err)
{
	struct fg_cli *cli = opening->cli;
	struct fg_project *project = opening->project;
	int status = open_way(opening, err);
	const struct fg_error first = *err;
	struct fg_project kept = *project;
	bool builds = status == FG_OK;

	while ((is_failure(status) || (status == FG_OK && project->program_count == 0)) &&
	       !project->is_given) {
		const char *before = fg_project_kind_name(project->kind);
		const char *lack =
			status == FG_OK ? "builds no program" : "does not build the project";

		if (fg_clock_monotonic_ns() > opening->ends_ns ||
		    !fg_project_next_way(".", &cli->arena, project)) {
			*err = first;
			return go_back(opening, &kept, builds, err);
		}
		fg_cli_say(cli, "%s %s; trying %s", before, lack,
			   fg_project_kind_name(project->kind));
		status = open_way(opening, err);
		if (status == FG_OK && !builds)
			kept = *project;
		builds = builds || status == FG_OK;
	}
	return status == FG_ETIMEOUT && builds ? go_back(opening, &kept, builds, err) : status;
}

int fg_project_build(struct fg_cli *cli, struct fg_project *project, int64_t ends_ns,
		     struct fg_worktree *worktree, struct fg_error *err)
{
	const struct fg_git git = {.folder = ".", .interrupted = cli->interrupted};
	struct opening opening = {
		.cli = cli, .project = project, .worktree = worktree, .ends_ns = ends_ns};
	char *state = NULL;
	char *commit = NULL;
	int status = FG_OK;

	fg_state_folder_make(FG_STATE_FOLDER);
	state = realpath(FG_STATE_FOLDER, NULL);
	FG_TRY_OUT(fg_git_commit_work_tree(&git, state, &commit, err));
	opening.commit = commit;
	status = open_some_way(&opening, err);
out:
	free(opening.tail);
	free(commit);
	free(state);
	return status;
}
