// SPDX-License-Identifier: Apache-2.0
#include "runner/execute/exact.h"

#include "base/fs.h"
#include "cli/profile/run_argument.h"
#include "cli/record/options.h"
#include "cli/record/outcome.h"
#include "cli/record/recorded_command.h"

/* Folder for callgrind's own files, next to FG_CLI_EXACT_FILE; removed after the recording. */
#define PIECES_FOLDER "pieces"

static int check_programs(const char *command, struct fg_error *err)
{
	char *program = fg_fs_find_program(command);
	const bool is_there = program != NULL;

	free(program);
	if (!is_there)
		return fg_error_set(err, FG_ENOENT, "program '%s' was not found", command);
	if (!fg_runner_has_callgrind())
		return fg_error_set(err, FG_EUNSUPPORTED,
				    "--exact needs valgrind (callgrind), which is not installed");
	return FG_OK;
}

static int run_under_callgrind(char *const *command, const char *pieces, unsigned flags,
			       int *exit_code, struct fg_error *err)
{
	char **words = fg_callgrind_words(pieces, flags);
	struct fg_recorded recorded;
	char **argv = fg_join_words(words, command);
	const pid_t pid = fg_recorded_start(argv, NULL, &recorded);
	int status = FG_OK;

	if (pid < 0)
		status = fg_error_errno(err, FG_EIO, "cannot start %s", argv[0]);
	else
		*exit_code = fg_recorded_await(pid, &recorded);
	free(argv);
	fg_free_words(words);
	return status;
}

static int keep(const char *pieces, const char *path, struct fg_error *err)
{
	struct fg_strbuf all = {0};
	int status = fg_callgrind_read(pieces, &all, err);

	if (status == FG_OK)
		status = fg_fs_write_atomic(path, all.data, all.length, 0644, err);
	else
		fg_error_prefix(err, "callgrind counted nothing");
	fg_strbuf_release(&all);
	return status;
}

int fg_record_exact(struct fg_cli *cli, const struct fg_recording *given, int *exit_code,
		    struct fg_error *err)
{
	char *folder = NULL;
	char *pieces = NULL;
	char *path = NULL;
	int status = FG_OK;

	FG_TRY(check_programs(cli->arguments[0], err));
	FG_TRY(fg_record_make_folder(given, &folder, err));
	pieces = fg_fs_join(folder, PIECES_FOLDER);
	path = fg_fs_join(folder, FG_CLI_EXACT_FILE);
	(void)!fg_fs_remove_tree(pieces, NULL); /* left by a recording that was killed */
	FG_TRY_OUT(fg_fs_make_folders(pieces, 0755, err));
	FG_TRY_OUT(run_under_callgrind(cli->arguments, pieces,
				       given->no_follow ? 0 : FG_CALLGRIND_CHILDREN, exit_code,
				       err));
	FG_TRY_OUT(keep(pieces, path, err));
	fg_cli_say(cli, "counted every instruction and call: %s", fg_record_folder(given));
out:
	(void)!fg_fs_remove_tree(pieces, NULL);
	free(path);
	free(pieces);
	free(folder);
	return status;
}
