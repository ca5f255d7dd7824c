// SPDX-License-Identifier: Apache-2.0
#include "base/fs.h"
#include "base/text.h"
#include "cli/init/project.h"
#include "cli/session/plan.h"
#include "runner/build/git.h"

#include <unistd.h>

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

static int build_target(struct fg_cli *cli, struct fg_project *project,
			const struct fg_worktree_options *options, const char *target)
{
	const char *command = fg_arena_printf(&cli->arena, "make -j2 %s", target);
	struct fg_worktree_options again = *options;
	struct fg_build build = {0};
	char *log = NULL;
	char *tail = NULL;
	struct fg_error err = {0};
	int status = split(cli, command, false, &build.command, &err);

	if (status != FG_OK)
		return status;
	again.build = &build;
	log = fg_fs_join(again.state_folder, "build-benchmarks.log");
	fg_cli_say(cli, "building its benchmarks (output: %s): %s", log, command);
	status = fg_worktree_build(&again, project->tree, log, &tail, &err);
	if (status == FG_OK) {
		project->build_command =
			fg_arena_printf(&cli->arena, "%s && %s", project->build_command, command);
		project->build_needs_shell = true;
	} else {
		fg_cli_say(cli, "'%s' fails, so its programs are left out: %s", command,
			   err.message);
	}
	free(tail);
	free(log);
	return status;
}

/* Makefiles often build benchmarks in a separate target; the first one that builds is enough. */
static void build_benchmarks(struct fg_cli *cli, struct fg_project *project,
			     const struct fg_worktree_options *options)
{
	const char *targets[FG_PROJECT_MAX_TARGETS];
	const size_t count = fg_project_make_targets(project->tree, &cli->arena, project, targets);
	size_t i = 0;

	while (i < count && build_target(cli, project, options, targets[i]) != FG_OK)
		i++;
}

struct opening {
	struct fg_cli *cli;
	struct fg_project *project;
	struct fg_worktree *worktree;
	const char *commit; /* commit of the snapshot */
	char *tail;         /* last lines of the last failed build */
};

/* Builds the snapshot with this command; on success the project adopts the command. */
static int open_tree(struct opening *opening, const char *command, struct fg_error *err)
{
	struct fg_cli *cli = opening->cli;
	struct fg_project *project = opening->project;
	struct fg_build build = {0};
	const struct fg_worktree_options options = {
		.root = ".",
		.state_folder = FG_STATE_FOLDER,
		.commit = opening->commit,
		.snapshot = true,
		.build = &build,
		.interrupted = cli->interrupted,
		.context = cli,
		.on_note = say_note,
	};
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
	build_benchmarks(cli, project, &options);
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
 * Builds, and reads how the code was compiled. If it has debug information, no hint is needed; a
 * CMake project whose own build type is not optimised gets one that is.
 */
static int open_optimised(struct opening *opening, const char *command, struct fg_error *err)
{
	static const char type[] = " -DCMAKE_BUILD_TYPE=";
	struct fg_project *project = opening->project;
	struct fg_project_flags flags = {0};
	int status = open_tree(opening, command, err);

	if (status != FG_OK)
		return status;
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

/*
 * Builds without extra switches. A makefile that omits prerequisites builds only with one job, so
 * that is tried if a parallel build fails.
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
	fg_cli_say(opening->cli, "the build fails with two jobs; trying one");
	return open_optimised(opening, command, err);
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
	if (status == FG_ECHILD)
		fg_cli_say(cli, "the build fails with%s, so that is left out", flags);
	return status;
}

/* Tries one build system, with and without its switches. */
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
	return FG_OK;
}

/* Tries build systems until one works; if all fail, fastgate.yml gets the first. */
static int open_some_way(struct opening *opening, struct fg_error *err)
{
	struct fg_cli *cli = opening->cli;
	struct fg_project *project = opening->project;
	const struct fg_project first = *project;
	int status = open_way(opening, err);

	while (status == FG_ECHILD && !project->is_given) {
		const char *failed = fg_project_kind_name(project->kind);

		if (!fg_project_next_way(".", &cli->arena, project))
			break;
		fg_cli_say(cli, "%s does not build it; trying %s", failed,
			   fg_project_kind_name(project->kind));
		status = open_way(opening, err);
	}
	if (status == FG_ECHILD)
		*project = first;
	return status;
}

int fg_project_build(struct fg_cli *cli, struct fg_project *project, struct fg_worktree *worktree,
		     struct fg_error *err)
{
	const struct fg_git git = {.folder = ".", .interrupted = cli->interrupted};
	struct opening opening = {.cli = cli, .project = project, .worktree = worktree};
	char *state = NULL;
	char *commit = NULL;
	int status = FG_OK;

	fg_state_folder_make(FG_STATE_FOLDER);
	state = realpath(FG_STATE_FOLDER, NULL);
	status = fg_git_commit_work_tree(&git, state, &commit, err);
	if (status != FG_OK)
		goto out;
	opening.commit = commit;
	status = open_some_way(&opening, err);
out:
	free(opening.tail);
	free(commit);
	free(state);
	return status;
}
