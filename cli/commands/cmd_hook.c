// SPDX-License-Identifier: Apache-2.0
/*
 * Our hooks identify themselves in the second line, by the SHA-256 of everything after it. A hook
 * that was edited belongs to the user: it is neither overwritten nor removed.
 */
#include "base/fs.h"
#include "base/hash.h"
#include "base/text.h"
#include "cli/session/plan.h"
#include "runner/build/git.h"

#include <unistd.h>

struct options {
	int type;
};

enum {
	HOOK_MAX_BYTES = 1 << 20,
	HOOK_MODE = 0755,
};

#define HOOK_HEAD "#!/bin/sh\n# fastgate hook "

static const char *const types[] = {"pre-commit", "pre-push", NULL};

/*
 * The script follows the lines that check for fastgate; %s is the `fastgate run` command without
 * the options that select the commits. Git gives a pre-push hook one line per pushed ref.
 */
static const struct {
	const char *script;
	const char *line; /* options of the command in a user's own hook */
	const char *skip; /* the git option that skips the hook once */
} hooks[] = {
	{.script = "git rev-parse --quiet --verify HEAD >/dev/null || exit 0 # the first commit\n"
		   "%s --staged\n",
	 .line = "--staged",
	 .skip = "git commit --no-verify"},
	{.script = "status=0\n"
		   "while read -r _ commit ref there; do\n"
		   "\tcase $ref in refs/heads/*) ;; *) continue ;; esac\n"
		   "\t# a branch that is removed, or a first commit\n"
		   "\tgit rev-parse --quiet --verify \"$commit^\" >/dev/null || continue\n"
		   "\tcase $there in\n"
		   "\t*[!0]*) ;;\n"
		   "\t*) there=merge-base ;; # a new branch\n"
		   "\tesac\n"
		   "\tif [ \"$there\" != merge-base ] && ! git cat-file -e \"$there^{commit}\" "
		   "2>/dev/null; then\n"
		   "\t\techo \"the remote's $ref has commits that were not fetched: nothing was "
		   "measured\" >&2\n"
		   "\t\tcontinue\n"
		   "\tfi\n"
		   "\t%s --candidate \"$commit\" --against \"$there\" </dev/null || status=$?\n"
		   "done\n"
		   "exit $status\n",
	 .line = "--candidate HEAD --against '@{upstream}'",
	 .skip = "git push --no-verify"},
};

static const struct fg_option options[] = {
	FG_ROW_CHOICE(struct options, type, "type", 't', "TYPE", types, "pre-commit",
		      "pre-commit: gate the staged changes against HEAD; pre-push: gate the pushed "
		      "commits against the remote's state"),
	{.name = NULL},
};

static const char *const actions[] = {"install", "uninstall", NULL};

static const struct fg_cli_argument arguments[] = {
	{.name = "ACTION", .help = "what to do", .min = 1, .max = 1, .choices = actions},
	{.name = NULL},
};

static const struct fg_cli_example examples[] = {
	{"fastgate hook install", "gate every commit"},
	{"fastgate hook install --type pre-push", "gate every push"},
	{"fastgate hook uninstall --type pre-push", "stop gating pushes"},
	{NULL, NULL},
};

/* Adds the measuring command for the top of the repository, where git runs hooks. */
static void add_command(struct fg_strbuf *text, const char *prefix)
{
	char *path = fg_xasprintf("./%s%sfastgate.yml", prefix, *prefix ? "/" : "");
	char *const words[] = {path, NULL};

	fg_strbuf_add_text(text, "fastgate run --quick --no-post");
	if (*prefix) {
		fg_strbuf_add_text(text, " --config ");
		fg_text_quote_words(text, words);
	}
	free(path);
}

/* Adds `format` with the measuring command in place of its only %s. */
static void add_with_command(struct fg_strbuf *text, const char *format, const char *prefix)
{
	const char *hole = strstr(format, "%s");

	fg_strbuf_add(text, format, (size_t)(hole - format));
	add_command(text, prefix);
	fg_strbuf_add_text(text, hole + 2);
}

static void write_script(struct fg_strbuf *text, int type, const char *prefix)
{
	struct fg_strbuf body = {0};
	char hash[FG_SHA256_HEX_SIZE];

	fg_strbuf_printf(
		&body,
		"# `fastgate hook uninstall --type %s` removes this hook; `%s` skips it once.\n"
		"command -v fastgate >/dev/null || { echo 'fastgate is not in PATH: nothing was "
		"measured' >&2; exit 0; }\n",
		types[type], hooks[type].skip);
	add_with_command(&body, hooks[type].script, prefix);
	fg_sha256_hex(body.data, body.length, hash);
	fg_strbuf_printf(text, HOOK_HEAD "%s\n%s", hash, fg_strbuf_text(&body));
	fg_strbuf_release(&body);
}

/* Was the script written by any version of fastgate, and not changed since? */
static bool is_ours(const char *script, size_t size)
{
	const size_t head = strlen(HOOK_HEAD);
	/* a line feed replaces the NUL after the hash */
	const size_t body = head + FG_SHA256_HEX_SIZE;
	char hash[FG_SHA256_HEX_SIZE];

	if (size < body || memcmp(script, HOOK_HEAD, head) != 0)
		return false;
	fg_sha256_hex(script + body, size - body, hash);
	return memcmp(script + head, hash, FG_SHA256_HEX_SIZE - 1) == 0;
}

/* Writes the line to add to a user's own hook. */
static void write_line(struct fg_strbuf *line, int type, const char *prefix)
{
	add_command(line, prefix);
	fg_strbuf_printf(line, " %s || exit 1", hooks[type].line);
}

/* Sets *there if a hook exists; fails if the hook is not ours. */
static int look_at(const char *path, const char *advice, bool *there, struct fg_error *err)
{
	char *script = NULL;
	size_t size = 0;
	int status = FG_OK;

	*there = fg_fs_exists(path);
	if (!*there)
		return FG_OK;
	status = fg_fs_read(path, HOOK_MAX_BYTES, &script, &size, err);
	if (status == FG_OK && !is_ours(script, size))
		status = fg_error_set(
			err, FG_ECONFLICT,
			"%s was not written by fastgate, or was changed later, and is left "
			"unchanged%s",
			path, advice);
	free(script);
	return status;
}

/*
 * Finds the folder of this repository's own hooks, which the caller frees. Fails if core.hooksPath
 * names another folder, which several repositories may share.
 */
static int find_folder(const struct fg_git *git, char **folder, struct fg_error *err)
{
	static const char *const ask_common[] = {"rev-parse", "--path-format=absolute",
						 "--git-common-dir", NULL};
	static const char *const ask_hooks[] = {"rev-parse", "--path-format=absolute", "--git-path",
						"hooks", NULL};
	char *common = NULL;
	char *hook_folder = NULL;
	char *usual = NULL;
	int status = FG_OK;

	FG_TRY_OUT(fg_git_output(git, ask_common, &common, err));
	FG_TRY_OUT(fg_git_output(git, ask_hooks, &hook_folder, err));
	usual = fg_fs_join(common, "hooks");
	if (strcmp(usual, hook_folder) != 0)
		FG_TRY_OUT(fg_error_set(
			err, FG_ECONFLICT,
			"core.hooksPath points to %s, which other repositories may share: add "
			"the line shown in docs/before-commit.md to the hook there",
			hook_folder));
	*folder = hook_folder;
	hook_folder = NULL;
out:
	free(usual);
	free(hook_folder);
	free(common);
	return status;
}

static int install(const struct fg_cli *cli, const char *path, int type, const char *prefix,
		   struct fg_error *err)
{
	struct fg_strbuf script = {0};
	char *folder = fg_fs_parent(path);
	int status = fg_fs_make_folders(folder, 0777, err);

	write_script(&script, type, prefix);
	if (status != FG_OK)
		goto out;
	FG_TRY_OUT(fg_fs_write_atomic(path, script.data, script.length, HOOK_MODE, err));
	fg_cli_say(cli, "installed %s", path);
out:
	free(folder);
	fg_strbuf_release(&script);
	return status;
}

static int uninstall(const struct fg_cli *cli, const char *path, bool there, struct fg_error *err)
{
	if (!there)
		fg_cli_say(cli, "%s does not exist: there is nothing to remove", path);
	else if (unlink(path) != 0)
		return fg_error_errno(err, FG_EIO, "cannot remove %s", path);
	else
		fg_cli_say(cli, "removed %s", path);
	return FG_OK;
}

static int change(const struct fg_cli *cli, const struct options *given, const struct fg_plan *plan,
		  struct fg_error *err)
{
	const struct fg_git git = {.folder = plan->root};
	char *top = NULL;
	char *prefix = NULL;
	char *folder = NULL;
	char *path = NULL;
	const bool installs = strcmp(cli->arguments[0], "install") == 0;
	struct fg_strbuf advice = {0};
	bool there = false;
	int status = FG_OK;

	FG_TRY_OUT(fg_git_locate(&git, &top, &prefix, err));
	FG_TRY_OUT(find_folder(&git, &folder, err));
	path = fg_fs_join(folder, types[given->type]);
	if (installs) {
		fg_strbuf_add_text(&advice, ": add this line to it: ");
		write_line(&advice, given->type, prefix);
	}
	FG_TRY_OUT(look_at(path, fg_strbuf_text(&advice), &there, err));
	status = installs ? install(cli, path, given->type, prefix, err)
			  : uninstall(cli, path, there, err);
out:
	fg_strbuf_release(&advice);
	free(path);
	free(folder);
	free(prefix);
	free(top);
	return status;
}

static int run(struct fg_cli *cli, const void *values)
{
	const struct fg_cli_config config = {0};
	struct fg_plan plan = {0};
	struct fg_error err = {0};
	int code = fg_cli_load_plan(cli, &config, false, &plan);

	if (code == FG_EXIT_PASS && change(cli, values, &plan, &err) != FG_OK)
		code = fg_cli_fail(cli, &err);
	fg_plan_release(&plan);
	return code;
}

const struct fg_cli_command fg_cmd_hook = {
	.name = "hook",
	.group = FG_CLI_GROUP_SETUP,
	.summary = "gate every commit or push of this repository",
	.description =
		"Installs a git hook that runs `fastgate run --quick`. Before a commit, the "
		"staged changes are built and compared with HEAD; before a push, the pushed "
		"commits are compared with the remote's state. A regression stops the commit or "
		"the push. A benchmark is skipped if nothing that it executes or reads has "
		"changed.\n"
		"\n"
		"The hook measures exactly the changes that are committed or pushed, in "
		"worktrees below .fastgate/; your files and the index are not touched. A hook "
		"that fastgate did not write, or that was changed later, is never touched "
		"either; a message says what to add to the hook.",
	FG_CLI_TABLES,
	.run = run,
};
