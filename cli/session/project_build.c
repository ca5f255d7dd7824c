// SPDX-License-Identifier: Apache-2.0
#include "cli/session/project_build.h"

#include "base/fs.h"
#include "base/text.h"
#include "cli/session/project_programs.h"
#include "runner/git.h"

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

/* Makefiles often leave their benchmarks to a target of their own. */
static int build_benchmarks(struct fg_cli *cli, struct fg_project *project,
			    const struct fg_worktree_options *options)
{
	const char *target = fg_project_make_target(project->tree, &cli->arena, project);
	struct fg_worktree_options again = *options;
	struct fg_build build = {0};
	char *command = NULL;
	char *log = NULL;
	char *tail = NULL;
	struct fg_error err = {0};
	int status = FG_OK;

	if (!target)
		return FG_OK;
	command = fg_arena_printf(&cli->arena, "make -j2 %s", target);
	status = split(cli, command, false, &build.command, &err);
	if (status != FG_OK)
		return status;
	again.build = &build;
	log = fg_fs_join(again.state_folder, "build-benchmarks.log");
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

int fg_project_build(struct fg_cli *cli, struct fg_project *project, struct fg_worktree *worktree,
		     struct fg_error *err)
{
	const struct fg_git git = {.folder = ".", .interrupted = cli->interrupted};
	struct fg_build build = {0};
	struct fg_worktree_options options = {
		.root = ".",
		.state_folder = ".fastgate",
		.snapshot = true,
		.build = &build,
		.interrupted = cli->interrupted,
		.context = cli,
		.on_note = say_note,
	};
	char *state = NULL;
	char *commit = NULL;
	char *tail = NULL;
	int status =
		split(cli, project->build_command, project->build_needs_shell, &build.command, err);

	if (status != FG_OK)
		return status;
	status = fg_fs_make_folders(options.state_folder, 0755, err);
	if (status != FG_OK)
		return status;
	state = realpath(options.state_folder, NULL);
	status = fg_git_commit_work_tree(&git, state, &commit, err);
	if (status != FG_OK)
		goto out;
	options.commit = commit;
	status = fg_worktree_open(&options, worktree, &tail, err);
	if (status != FG_OK) {
		show_tail(cli, tail);
		goto out;
	}
	project->tree = fg_xstrdup(worktree->root);
	(void)build_benchmarks(cli, project, &options);
out:
	free(commit);
	free(state);
	return status;
}
