// SPDX-License-Identifier: Apache-2.0
#include "runner/build/git.h"

#include "base/clock.h"
#include "base/process.h"
#include "base/text.h"
#include "runner/execute/output_tail.h"

#include <unistd.h>

enum {
	ARGUMENTS_MAX = 256,
	OUTPUT_LIMIT_BYTES = 16 << 20,
	TIMEOUT_S = 600
};

/*
 * Variables to remove: git sets them for its hooks, or they redirect git to another repository or
 * change its output.
 */
static const char *const taken_out[] = {
	"GIT_DIR=",        "GIT_WORK_TREE=",
	"GIT_INDEX_FILE=", "GIT_PREFIX=",
	"GIT_COMMON_DIR=", "GIT_OBJECT_DIRECTORY=",
	"GIT_NAMESPACE=",  "GIT_ALTERNATE_OBJECT_DIRECTORIES=",
	"LC_ALL=",         "GIT_TERMINAL_PROMPT=",
	"LANGUAGE=",       "GIT_OPTIONAL_LOCKS=",
};

/* Variables to add: output and the hashes of new commits must not depend on the user. */
static const char *const added[] = {
	"GIT_TERMINAL_PROMPT=0",
	"GIT_OPTIONAL_LOCKS=0", /* asking for the status must not rewrite the user's index */
	"LC_ALL=C.UTF-8",
	"GIT_AUTHOR_NAME=fastgate",
	"GIT_AUTHOR_EMAIL=fastgate@localhost",
	"GIT_AUTHOR_DATE=@0 +0000",
	"GIT_COMMITTER_NAME=fastgate",
	"GIT_COMMITTER_EMAIL=fastgate@localhost",
	"GIT_COMMITTER_DATE=@0 +0000",
};

static bool is_taken_out(const char *variable)
{
	return FG_TEXT_STARTS_WITH_ANY(variable, taken_out);
}

static char **environment_with(const struct fg_git *git, const char *const *more, size_t more_count)
{
	char **environment = NULL;
	size_t count = 0;
	size_t room = 0;

	for (char **variable = environ; *variable; variable++) {
		if (!is_taken_out(*variable))
			FG_APPEND(environment, count, room) = fg_xstrdup(*variable);
	}
	if (git->index_file)
		FG_APPEND(environment, count, room) =
			fg_xasprintf("GIT_INDEX_FILE=%s", git->index_file);
	for (size_t i = 0; i < more_count; i++)
		FG_APPEND(environment, count, room) = fg_xstrdup(more[i]);
	(void)FG_APPEND(environment, count, room); /* NULL ends the list */
	return environment;
}

char **fg_git_clean_environment(const struct fg_git *git)
{
	return environment_with(git, NULL, 0);
}

static int run_git(const struct fg_git *git, const char *const *arguments, char **text,
		   size_t *size, struct fg_error *err)
{
	char *argv[ARGUMENTS_MAX] = {(char *)(uintptr_t) "git"};
	char **environment = environment_with(git, added, FG_ARRAY_SIZE(added));
	struct fg_process_result result = {0};
	int status = FG_OK;

	for (size_t i = 0; arguments[i]; i++) {
		FG_ASSERT(i + 2 < ARGUMENTS_MAX);
		argv[i + 1] = (char *)(uintptr_t)arguments[i];
	}
	status = fg_process_run(
		&(struct fg_process_options){.argv = argv,
					     .environment = environment,
					     .working_directory = git->folder,
					     .stdout_to = FG_STREAM_CAPTURE,
					     .stderr_to = FG_STREAM_CAPTURE,
					     .capture_limit_bytes = OUTPUT_LIMIT_BYTES,
					     .timeout_ns = TIMEOUT_S * FG_NS_PER_S,
					     .interrupted = git->interrupted},
		&result, err);
	fg_free_words(environment);
	if (status != FG_OK)
		return status;
	if (!result.exited || result.exit_code != 0) {
		char *words = fg_output_tail(&result, 1, 300);

		status = fg_error_set(err, FG_ECHILD, "git %s: %s", arguments[0],
				      words ? words : "failed without a message");
		free(words);
	} else {
		*text = result.stdout_text;
		*size = result.stdout_size;
		result.stdout_text = NULL;
	}
	fg_process_result_release(&result);
	return status;
}

int fg_git_output(const struct fg_git *git, const char *const *arguments, char **text,
		  struct fg_error *err)
{
	char *out = NULL;
	size_t size = 0;

	FG_TRY(run_git(git, arguments, &out, &size, err));
	while (size > 0 && strchr(" \t\r\n", out[size - 1]))
		out[--size] = '\0';
	*text = out;
	return FG_OK;
}

int fg_git_run(const struct fg_git *git, const char *const *arguments, struct fg_error *err)
{
	char *ignored = NULL;
	const int status = fg_git_output(git, arguments, &ignored, err);

	free(ignored);
	return status;
}

char *fg_git_try_output(const struct fg_git *git, const char *const *arguments)
{
	char *text = NULL;

	return fg_git_output(git, arguments, &text, NULL) == FG_OK ? text : NULL;
}

static char *find_object(const struct fg_git *git, const char *ref, const char *kind)
{
	char *wanted = fg_xasprintf("%s^{%s}", ref, kind);
	char *found = FG_GIT_TRY_OUTPUT(git, "rev-parse", "--verify", "--quiet", "--end-of-options",
					wanted);

	free(wanted);
	return found;
}

char *fg_git_find_commit(const struct fg_git *git, const char *ref)
{
	return find_object(git, ref, "commit");
}

char *fg_git_tree_of(const struct fg_git *git, const char *commit)
{
	return find_object(git, commit, "tree");
}

bool fg_git_ignores(const struct fg_git *git, const char *path)
{
	return FG_GIT_RUN(git, NULL, "check-ignore", path) == FG_OK;
}

bool fg_git_has(const struct fg_git *git, const char *commit, const char *path)
{
	char *found = FG_GIT_TRY_OUTPUT(git, "ls-tree", "--name-only", commit, "--", path);
	const bool has = found && *found;

	free(found);
	return has;
}

/* Runs git twice: in a single output, a path with a line feed would be ambiguous. */
int fg_git_locate(const struct fg_git *git, char **top, char **prefix, struct fg_error *err)
{
	const char *const show_top[] = {"rev-parse", "--show-toplevel", NULL};
	const char *const show_prefix[] = {"rev-parse", "--show-prefix", NULL};
	char *found_top = NULL;
	int status = fg_git_output(git, show_top, &found_top, err);

	if (status == FG_OK)
		status = fg_git_output(git, show_prefix, prefix, err);
	if (status != FG_OK) {
		free(found_top);
		return status;
	}
	if (**prefix)
		(*prefix)[strlen(*prefix) - 1] = '\0'; /* git ends the prefix with a slash */
	*top = found_top;
	return FG_OK;
}

int fg_git_messages(const struct fg_git *git, const char *from, const char *to, char **text,
		    size_t *size, struct fg_error *err)
{
	char *range = from ? fg_xasprintf("%s..%s", from, to) : fg_xstrdup(to);
	const char *const arguments[] = {
		"log", "-z", "--format=%H%n%B", "--max-count=1000", "--end-of-options",
		range, NULL};
	int status = run_git(git, arguments, text, size, err);

	free(range);
	return status;
}

void fg_git_forget_hook(void)
{
	for (size_t i = 0; i < FG_ARRAY_SIZE(taken_out); i++) {
		char *name = fg_xstrndup(taken_out[i], strcspn(taken_out[i], "="));

		if (fg_text_starts_with(name, "GIT_"))
			(void)unsetenv(name);
		free(name);
	}
}
