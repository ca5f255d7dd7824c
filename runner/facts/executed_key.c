// SPDX-License-Identifier: Apache-2.0
#include "base/hash.h"
#include "base/sort.h"
#include "base/text.h"
#include "runner/facts/executed.h"

#include <string.h>

static void add_command(struct fg_sha256 *sha, const struct fg_command *command)
{
	for (size_t i = 0; i < command->argc; i++)
		fg_sha256_add_text(sha, command->argv[i]);
	fg_sha256_add_text(sha, NULL);
}

static void digest_configuration(const struct fg_target *target, char part[FG_EXECUTED_KEY_PART])
{
	const struct fg_benchmark *benchmark = target->benchmark;
	struct fg_sha256 sha;

	fg_sha256_init(&sha);
	add_command(&sha, target->command);
	add_command(&sha, &benchmark->setup);
	add_command(&sha, &benchmark->prepare);
	add_command(&sha, &benchmark->cleanup);
	fg_sha256_add_text(&sha, benchmark->working_directory);
	fg_sha256_add_text(&sha, benchmark->stdin_path);
	for (size_t i = 0; i < benchmark->environment_count; i++) {
		fg_sha256_add_text(&sha, benchmark->environment[i].name);
		fg_sha256_add_text(&sha, benchmark->environment[i].value);
	}
	fg_sha256_finish_hex(&sha, FG_EXECUTED_KEY_PART / 2, part);
}

/* Variables of a session, a terminal or a CI job, which do not affect programs. */
static bool is_of_the_session(const char *variable)
{
	static const char *const beginnings[] = {
		"_=",          "PWD=",       "OLDPWD=",  "SHLVL=",         "TERM",
		"COLORTERM=",  "LINES=",     "COLUMNS=", "GIT_",           "SSH_",
		"XDG_SESSION", "XDG_VTNR=",  "DISPLAY=", "WAYLAND_",       "DBUS_",
		"WINDOWID=",   "TMUX",       "STY=",     "INVOCATION_ID=", "JOURNAL_STREAM=",
		"MAKE",        "MFLAGS=",    "GITHUB_",  "RUNNER_",        "CI_",
		"FASTGATE_",   "PRE_COMMIT", "VSCODE_",  "EDITOR=",        "PAGER=",
	};

	return FG_TEXT_STARTS_WITH_ANY(variable, beginnings);
}

/* git puts its own folder in front of PATH when it runs a hook. */
static void add_path(struct fg_sha256 *sha, const char *folders)
{
	while (*folders) {
		const size_t length = strcspn(folders, ":");
		char *folder = fg_xstrndup(folders, length);

		if (!fg_text_ends_with(folder, "/git-core"))
			fg_sha256_add_text(sha, folder);
		free(folder);
		folders += length + (folders[length] == ':');
	}
}

FG_ORDER_BY(compare_texts, char *const, strcmp(*a, *b))

static void digest_environment(const struct fg_target *target, const struct fg_environment *host,
			       char part[FG_EXECUTED_KEY_PART])
{
	char **sorted = fg_xcalloc(target->environment_count + 1, sizeof(sorted[0]));
	char fingerprint[FG_EXECUTED_KEY_PART];
	struct fg_sha256 sha;

	memcpy(sorted, target->environment, target->environment_count * sizeof(sorted[0]));
	qsort(sorted, target->environment_count, sizeof(sorted[0]), compare_texts);
	fg_sha256_init(&sha);
	for (size_t i = 0; i < target->environment_count; i++) {
		if (fg_text_starts_with(sorted[i], "PATH="))
			add_path(&sha, sorted[i] + strlen("PATH="));
		else if (!is_of_the_session(sorted[i]))
			fg_sha256_add_text(&sha, sorted[i]);
	}
	fg_environment_fingerprint(host, fingerprint);
	fg_sha256_add_text(&sha, fingerprint);
	fg_sha256_finish_hex(&sha, FG_EXECUTED_KEY_PART / 2, part);
	free(sorted);
}

bool fg_executed_key_of(const struct fg_target *target, const struct fg_build_facts *build,
			const struct fg_environment *host, struct fg_executed_key *key)
{
	struct fg_sha256 sha;

	if (!target->command || !build->code)
		return false;
	fg_sha256_init(&sha);
	fg_sha256_add_text(&sha, target->benchmark->name);
	fg_sha256_finish_hex(&sha, FG_EXECUTED_KEY_PART / 2, key->benchmark);
	fg_sha256_init(&sha);
	fg_sha256_add_text(&sha, build->code);
	for (size_t i = 0; i < build->library_count; i++) {
		if (build->libraries[i].code) {
			fg_sha256_add_text(&sha, build->libraries[i].name);
			fg_sha256_add_text(&sha, build->libraries[i].code);
		}
	}
	fg_sha256_finish_hex(&sha, FG_EXECUTED_KEY_PART / 2, key->build);
	digest_configuration(target, key->configuration);
	digest_environment(target, host, key->environment);
	return true;
}
