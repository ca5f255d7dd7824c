// SPDX-License-Identifier: Apache-2.0
/*
 * A commit may change a file that a benchmark reads. Then the two sides would do different work,
 * and the difference would be blamed on code. So both sides get the candidate's version: in the
 * baseline's checkout the file is replaced until the run ends. Only files tracked by git are
 * replaced, because untracked files come from the build, which is under test.
 */
#include "base/fs.h"
#include "base/text.h"
#include "cli/session/steps.h"
#include "runner/build/git.h"
#include "runner/build/worktree.h"
#include "runner/execute/extra.h"
#include "runner/facts/code_facts.h"
#include "runner/facts/executed.h"
#include "runner/target.h"

#include <ctype.h>
#include <unistd.h>

enum {
	NAMED_MAX = 3
};

/* ---- opened files ---- */

static int observe(void *context, const struct fg_process_options *options,
		   struct fg_process_result *result, struct fg_error *err)
{
	struct fg_opened *opened = context;
	const int status = fg_opened_find(options, opened, err);

	result->exited = opened->exited;
	result->exit_code = opened->exit_code;
	return status;
}

bool fg_session_find_opened(struct fg_runner_job *job, enum fg_arm arm, int64_t timeout_ns,
			    struct fg_opened *opened)
{
	const struct fg_extra extra = {
		.arm = arm, .timeout_ns = timeout_ns, .observe = observe, .context = opened};
	char *why = NULL;
	const int status = fg_runner_extra(job, &extra, &why, NULL);

	free(why);
	return status == FG_OK && !opened->is_incomplete;
}

/* Was the file opened for reading? Links and ".." in its path do not matter. */
static bool is_opened(const struct fg_opened *opened, const char *path)
{
	char *whole = realpath(path, NULL);
	bool found = false;

	for (size_t i = 0; i < opened->paths.count && !found; i++) {
		const struct fg_map_entry *entry = &opened->paths.entries[i];
		char *other = entry->value == FG_OPENED_READ ? realpath(entry->key, NULL) : NULL;

		found = entry->value == FG_OPENED_READ &&
			(whole && other ? strcmp(whole, other) == 0
					: strcmp(path, entry->key) == 0);
		free(other);
	}
	free(whole);
	return found;
}

/* ---- files that differ between the sides ---- */

/*
 * Lists the files in which the candidate's tree differs from the baseline's commit. The caller
 * frees the list.
 */
static char *changed_files(const struct fg_session *session)
{
	const struct fg_git git = {.folder = session->open.roots[FG_ARM_CANDIDATE],
				   .interrupted = session->cli->interrupted};
	const char *const ask[] = {"diff",
				   "--name-only",
				   "--no-renames",
				   "--relative",
				   session->result.run.sides[FG_ARM_BASELINE].commit,
				   NULL};
	char *text = NULL;

	if (!session->open.baseline || !ask[4] || fg_git_output(&git, ask, &text, NULL) != FG_OK)
		return NULL;
	return text;
}

static bool is_part_of_name(char c)
{
	return isalnum((unsigned char)c) || (c && strchr("._-", c));
}

/* Does the command name this path, for example as a word, or after "./" or "="? */
static bool is_named(const char *command, const char *path)
{
	const size_t length = strlen(path);

	for (const char *at = command ? strstr(command, path) : NULL; at;
	     at = strstr(at + 1, path)) {
		if ((at == command || !is_part_of_name(at[-1])) && !is_part_of_name(at[length]) &&
		    at[length] != '/')
			return true;
	}
	return false;
}

/* Programs and scripts are the code under test, never an input. */
static bool is_code(const struct fg_target *target, const char *path, const char *whole)
{
	static const char *const endings[] = {".py", ".sh", ".pl", ".rb", ".js", ".lua", ".tcl"};
	const struct fg_command *command = target->command;
	bool found = is_named(command->argv[0], path) || access(whole, X_OK) == 0 ||
		     (target->is_wrapper && command->argc > 1 && is_named(command->argv[1], path));

	for (size_t i = 0; i < FG_ARRAY_SIZE(endings) && !found; i++)
		found = fg_text_ends_with(path, endings[i]);
	return found;
}

static bool is_same(const struct fg_session *session, const char *path)
{
	const struct fg_executed_input input = {.path = path, .is_inside = true};
	char *states[FG_ARM_COUNT];
	bool same = false;

	for (size_t arm = 0; arm < FG_ARM_COUNT; arm++) {
		const struct fg_target target = {
			.root = (char *)(uintptr_t)session->open.roots[arm]};

		states[arm] = fg_executed_input_now(&target, &input);
	}
	same = strcmp(states[FG_ARM_BASELINE], states[FG_ARM_CANDIDATE]) == 0;
	free(states[FG_ARM_BASELINE]);
	free(states[FG_ARM_CANDIDATE]);
	return same;
}

/* Copies the candidate's file to the baseline; removes it if the candidate lacks it. */
static int give(const struct fg_session *session, const char *path, struct fg_error *err)
{
	char *from = fg_fs_join(session->open.roots[FG_ARM_CANDIDATE], path);
	char *to = fg_fs_join(session->open.roots[FG_ARM_BASELINE], path);
	char *folder = fg_fs_parent(to);
	int status = FG_OK;

	FG_TRY_OUT(fg_worktree_claim(session->open.baseline, err));
	(void)unlink(to);
	if (!fg_fs_exists(from))
		goto out;
	status = fg_fs_make_folders(folder, 0755, err);
	if (status == FG_OK)
		status = fg_fs_copy(from, to, access(from, X_OK) == 0 ? 0755 : 0644, err);
out:
	free(folder);
	free(to);
	free(from);
	return status;
}

struct given {
	struct fg_strbuf names;
	size_t count;
};

static int give_and_note(const struct fg_session *session, const char *path, struct given *given,
			 struct fg_error *err)
{
	const int status = is_same(session, path) ? FG_OK : give(session, path, err);

	if (status != FG_OK) {
		fg_error_prefix(err, "inputs differ: %s is not the same on both sides", path);
		return status;
	}
	if (given->count++ < NAMED_MAX)
		fg_strbuf_printf(&given->names, "%s%s", given->count > 1 ? ", " : "", path);
	return FG_OK;
}

static void report(struct fg_session *session, struct fg_runner_job *job, struct given *given)
{
	struct fg_series *series = fg_session_series(session, job);
	char *text = NULL;

	if (given->count > NAMED_MAX)
		fg_strbuf_printf(&given->names, " and %zu more", given->count - NAMED_MAX);
	text = fg_xasprintf(
		"the change touches files that the benchmark reads (%s): both sides read the "
		"candidate's files, so only code is compared",
		fg_strbuf_text(&given->names));
	fg_progress_clear(&session->progress);
	fg_cli_say(session->cli, "%s: %s", series->name, text);
	fg_series_remark(series, FG_REMARK_INPUTS, text);
}

/* ---- before and after set-up ---- */

static bool is_of_set_up(const struct fg_benchmark *benchmark, const char *path)
{
	return is_named(benchmark->setup.text, path) || is_named(benchmark->prepare.text, path);
}

static bool is_input(const struct fg_session *session, const struct fg_target *target,
		     const struct fg_opened *opened, const char *path)
{
	const struct fg_benchmark *benchmark = target->benchmark;
	char *whole = fg_fs_join(session->open.roots[FG_ARM_CANDIDATE], path);
	bool found = is_of_set_up(benchmark, path);

	if (!found && !is_code(target, path, whole))
		found = is_named(benchmark->command.text, path) ||
			is_named(benchmark->stdin_path, path) || is_opened(opened, whole);
	free(whole);
	return found;
}

void fg_session_give_set_up(struct fg_session *session, const struct fg_benchmark *benchmark)
{
	char *changed = benchmark->setup.argc ? changed_files(session) : NULL;
	struct given given = {.count = 0};
	char *rest = changed;

	for (const char *path = strsep(&rest, "\n"); path; path = strsep(&rest, "\n")) {
		if (is_of_set_up(benchmark, path) &&
		    give_and_note(session, path, &given, NULL) != FG_OK)
			break; /* fg_session_give_inputs() reports the failure */
	}
	fg_strbuf_release(&given.names);
	free(changed);
}

/*
 * May a program read one of these files? Compilers read sources, so a change of sources alone needs
 * no check of opened files.
 */
static bool may_be_read(const char *changed)
{
	char *copy = fg_xstrdup(changed);
	char *rest = copy;
	bool found = false;

	for (const char *path = strsep(&rest, "\n"); path && !found; path = strsep(&rest, "\n"))
		found = *path && !fg_code_facts_is_no_input(path);
	free(copy);
	return found;
}

int fg_session_give_inputs(void *context, struct fg_runner_job *job, struct fg_error *err)
{
	struct fg_session *session = context;
	const struct fg_target *target = &fg_runner_job_targets(job)[FG_ARM_CANDIDATE];
	char *changed = changed_files(session);
	struct fg_opened opened = {0};
	struct given given = {.count = 0};
	char *rest = changed;
	int status = FG_OK;

	if (!changed || !target->program || !fg_runner_job_targets(job)[FG_ARM_BASELINE].program)
		goto out;
	if (may_be_read(changed))
		(void)fg_session_find_opened(job, FG_ARM_CANDIDATE, target->benchmark->timeout_ns,
					     &opened);
	for (const char *path; status == FG_OK && (path = fg_text_next_line(&rest));) {
		if (is_input(session, target, &opened, path))
			status = give_and_note(session, path, &given, err);
	}
	if (status == FG_OK && given.count > 0)
		report(session, job, &given);
out:
	fg_opened_release(&opened);
	fg_strbuf_release(&given.names);
	free(changed);
	return status;
}
