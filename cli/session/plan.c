// SPDX-License-Identifier: Apache-2.0
#include "cli/session/plan.h"

#include "base/base.h"
#include "base/beneath.h"
#include "base/fs.h"
#include "base/secrets.h"
#include "base/text.h"
#include "model/links.h"
#include "runner/build/git.h"

#include <sys/stat.h>
#include <unistd.h>

/* ---- state folder ---- */

static bool is_link(const char *path)
{
	struct stat found;

	return lstat(path, &found) == 0 && S_ISLNK(found.st_mode);
}

int fg_state_folder_check(const char *root, struct fg_error *err)
{
	char *folder = fg_fs_join(root, FG_STATE_FOLDER);
	char *bad = is_link(folder) ? fg_xstrdup(folder) : NULL;
	char **names = NULL;
	size_t count = 0;
	int status = FG_OK;

	if (!bad && fg_fs_is_folder(folder))
		status = fg_fs_list(folder, &names, &count, err);
	for (size_t i = 0; i < count && !bad; i++) {
		char *path = fg_fs_join(folder, names[i]);

		if (is_link(path))
			bad = path;
		else
			free(path);
	}
	if (bad)
		status = fg_error_set(
			err, FG_EINVAL,
			"%s is a link, through which fastgate would write its files elsewhere: "
			"remove the link",
			bad);
	fg_fs_list_free(names, count);
	free(bad);
	free(folder);
	return status;
}

void fg_state_folder_make(const char *path)
{
	static const char content[] =
		"# Created by fastgate: nothing in this folder belongs to the project.\n*\n";
	char *ignore = fg_fs_join(path, ".gitignore");

	if (fg_fs_make_folders(path, 0755, NULL) == FG_OK && !fg_fs_exists(ignore))
		(void)!fg_fs_write_atomic(ignore, content, strlen(content), 0644, NULL);
	free(ignore);
}

/* ---- tokens ---- */

#define TRUSTED_VARIABLES "FASTGATE_TRUSTED_VARIABLES"
#define TRUSTED_URLS      "FASTGATE_TRUSTED_URLS"

enum {
	ENVIRONMENT_MAX_BYTES = 4 << 20,
	NAME_SIZE = 64,
	STAT_MAX_BYTES = 4096,
	STAT_STATE_SIZE = 4, /* length of ") S " in /proc/PID/stat, before the parent's pid */
};

static const char *const usual_names[] = {
	"PERFDB_TOKEN", "GITHUB_TOKEN",          "GH_TOKEN",
	"GITLAB_TOKEN", "ACTIONS_RUNTIME_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_TOKEN",
};

/* GitLab gives this token to every job, so a warning about it would be useless. */
#define GITLABS_OWN "CI_JOB_TOKEN"

void fg_tokens_take(void)
{
	for (size_t i = 0; i < FG_ARRAY_SIZE(usual_names); i++)
		fg_secret_take(usual_names[i]);
	fg_secret_take(GITLABS_OWN);
}

/* `name` is part of an environment string and ends at '='. */
static bool is_token(const char *name, size_t length, const struct fg_plan *plan)
{
	bool is = plan->perfdb.token_env && strlen(plan->perfdb.token_env) == length &&
		  strncmp(name, plan->perfdb.token_env, length) == 0;

	for (size_t i = 0; i < FG_ARRAY_SIZE(usual_names) && !is; i++)
		is = strlen(usual_names[i]) == length && strncmp(name, usual_names[i], length) == 0;
	for (size_t i = 0; i < plan->post_count && !is; i++) {
		const char *own = plan->posts[i].token_env;

		is = own && strlen(own) == length && strncmp(name, own, length) == 0;
	}
	return is;
}

static int take(const char *name, const char *usual, struct fg_error *err)
{
	if (!name)
		return FG_OK;
	if ((usual && strcmp(name, usual) == 0) || fg_text_starts_with(name, "FASTGATE_") ||
	    fg_text_starts_with(name, "PERFDB_") ||
	    fg_text_has_word(getenv(TRUSTED_VARIABLES), ", ", name, strlen(name))) {
		fg_secret_take(name);
		return FG_OK;
	}
	return fg_error_set(
		err, FG_EINVAL,
		"token_env names $%s, which fastgate.yml may not use: name a variable that "
		"begins with FASTGATE_ or PERFDB_, or allow this variable in the environment: "
		"%s=%s",
		name, TRUSTED_VARIABLES, name);
}

/*
 * Takes the secrets that a plan names. A checkout can come from anybody, so it may only name
 * variables that begin with FASTGATE_ or PERFDB_, a host's own token for its own kind of post, and
 * variables in FASTGATE_TRUSTED_VARIABLES. FG_EINVAL: the plan names another variable.
 */
static int take_planned(const struct fg_plan *plan, struct fg_error *err)
{
	int status = take(plan->perfdb.token_env, NULL, err);

	for (size_t i = 0; i < plan->post_count && status == FG_OK; i++) {
		const struct fg_post_target *post = &plan->posts[i];
		const char *usual = strcmp(post->kind, "github") == 0   ? "GITHUB_TOKEN"
				    : strcmp(post->kind, "gitlab") == 0 ? "GITLAB_TOKEN"
									: NULL;

		status = take(post->token_env, usual, err);
	}
	return status;
}

/* ---- tokens that programs under test can still read ---- */

/*
 * Returns the name of a token in a process's environment, which the caller frees; NULL if the
 * environment has no token or is unreadable.
 */
static char *token_of(pid_t pid, const struct fg_plan *plan)
{
	char path[NAME_SIZE];
	char *text = NULL;
	char *found = NULL;
	size_t size = 0;

	(void)snprintf(path, sizeof(path), "/proc/%d/environ", (int)pid);
	if (fg_fs_read(path, ENVIRONMENT_MAX_BYTES, &text, &size, NULL) != FG_OK)
		return NULL;
	for (const char *at = text; at < text + size && !found; at += strlen(at) + 1) {
		const size_t length = strcspn(at, "=");

		if (at[length] == '=' && at[length + 1] && is_token(at, length, plan))
			found = fg_xstrndup(at, length);
	}
	free(text);
	return found;
}

/* Returns 0 if the process has no parent or has ended. */
static pid_t parent_of(pid_t pid)
{
	char path[NAME_SIZE];
	char *text = NULL;
	const char *behind_name = NULL;
	pid_t parent = 0;
	size_t size = 0;

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (fg_fs_read(path, STAT_MAX_BYTES, &text, &size, NULL) != FG_OK)
		return 0;
	behind_name = strrchr(text, ')');
	if (behind_name && strlen(behind_name) > STAT_STATE_SIZE)
		parent = (pid_t)strtol(behind_name + STAT_STATE_SIZE, NULL, 10);
	free(text);
	return parent;
}

/*
 * Finds the nearest process above this one with a token in its environment. Sets `pid` and returns
 * the token's name; NULL: no token.
 */
static char *token_above(const struct fg_plan *plan, pid_t *pid)
{
	char *name = NULL;

	*pid = getppid();
	while (*pid > 0 && !(name = token_of(*pid, plan)))
		*pid = parent_of(*pid);
	return name;
}

int fg_cli_check_event(struct fg_error *err)
{
	const char *event = getenv("GITHUB_EVENT_NAME");
	const char *allowed = getenv("FASTGATE_PULL_REQUEST_TARGET");

	if (!event || strcmp(event, "pull_request_target") != 0 ||
	    (allowed && strcmp(allowed, "allow") == 0))
		return FG_OK;
	return fg_error_set(err, FG_EINVAL,
			    "the event is pull_request_target, whose jobs have this repository's "
			    "secrets: measure on pull_request (docs/ci.md), or set "
			    "FASTGATE_PULL_REQUEST_TARGET=allow");
}

void fg_cli_warn_of_tokens(const struct fg_cli *cli, const struct fg_plan *plan)
{
	pid_t pid = 0;
	char *name = token_above(plan, &pid);

	if (name)
		fg_cli_warn(cli,
			    "process %d, which started fastgate, has $%s in its environment, where "
			    "benchmarks can read it: measure without the variable, then send the "
			    "result (docs/ci.md)",
			    (int)pid, name);
	free(name);
}

/* ---- trusted addresses ---- */

/* Is the address equal to, or below, an address of the list? */
static bool lies_below(const char *list, const char *url)
{
	while (list && *list) {
		size_t size = strcspn(list, ", ");

		while (size > 0 && list[size - 1] == '/')
			size--;
		if (size > 0 && strncmp(list, url, size) == 0 &&
		    (url[size] == '\0' || url[size] == '/'))
			return true;
		list += strcspn(list, ", ");
		list += strspn(list, ", ");
	}
	return false;
}

bool fg_tokens_allow_url(const char *url)
{
	return lies_below(getenv("PERFDB_URL"), url) || lies_below(getenv(TRUSTED_URLS), url);
}

/* ---- fastgate.yml ---- */

static void print_messages(const struct fg_cli *cli, const struct fg_config_report *report)
{
	const char *key = NULL;
	size_t shown = 0;

	for (size_t i = 0; i < report->count; i++) {
		const struct fg_config_message *message = &report->items[i];
		struct fg_error err = {.code = FG_EPARSE};

		if (message->is_warning) {
			fg_cli_warn(cli, "%s", message->text);
			continue;
		}
		(void)snprintf(err.message, sizeof(err.message), "%s", message->text);
		(void)fg_cli_fail(cli, &err);
		shown++;
		key = key ? key : message->key;
	}
	if (report->error_count > shown)
		fg_cli_say(cli, "… and %zu more", report->error_count - shown);
	if (key)
		fg_cli_say(cli, "'fastgate config --explain %s' explains the key", key);
}

/* Checks the places where fastgate writes files, because a checkout can come from anybody. */
static int check_places(const struct fg_plan *plan, struct fg_error *err)
{
	int status = fg_state_folder_check(plan->root, err);

	if (status != FG_OK || !plan->store_from_file)
		return status;
	status = fg_beneath_check(plan->root, plan->store_path, err);
	if (status != FG_OK)
		fg_error_prefix(err, "store.path of fastgate.yml");
	return status;
}

int fg_cli_load_plan(const struct fg_cli *cli, const struct fg_cli_config *config, bool optional,
		     struct fg_plan *plan)
{
	const struct fg_config_source source = {
		.path = config->path,
		.optional = optional,
		.settings = config->settings.items,
		.setting_count = config->settings.count,
		.options = config->short_forms,
		.option_count = config->short_form_count,
		.environment = environ,
	};
	struct fg_config_report report = {0};
	struct fg_error err = {0};
	int code = FG_EXIT_PASS;

	if (fg_config_load(&source, plan, &report, &err) != FG_OK) {
		code = (int)fg_cli_exit_code(err.code);
		if (report.error_count == 0)
			code = fg_cli_fail(cli, &err);
	} else if (take_planned(plan, &err) != FG_OK || check_places(plan, &err) != FG_OK) {
		code = fg_cli_fail(cli, &err);
		fg_plan_release(plan);
	}
	print_messages(cli, &report);
	fg_config_report_release(&report);
	return code;
}

static bool is_in_checkout(const char *folder)
{
	const struct fg_git git = {.folder = folder};
	char *top = NULL;
	char *prefix = NULL;
	const bool is = fg_git_locate(&git, &top, &prefix, NULL) == FG_OK;

	free(top);
	free(prefix);
	return is;
}

void fg_cli_set_plan_root(struct fg_plan *plan)
{
	char *here = NULL;

	if (is_in_checkout(plan->root) || !is_in_checkout("."))
		return;
	here = realpath(".", NULL);
	if (here)
		plan->root = fg_arena_strdup(&plan->arena, here);
	free(here);
}

void fg_cli_set(struct fg_cli *cli, struct fg_cli_config *config, const char *key,
		const char *value, const char *option, const char *argument)
{
	if (!argument)
		return;
	FG_ASSERT(config->short_form_count < FG_CLI_SHORT_FORMS_MAX);
	config->short_forms[config->short_form_count++] = (struct fg_config_option){
		.setting = fg_arena_printf(&cli->arena, "%s=%s", key, value),
		.written = fg_arena_printf(&cli->arena, "%s %s", option, argument)};
}

/* ---- cases of a suite ---- */

/* Appends an argument that makes Google Benchmark skip unwanted cases. */
static void add_filter(struct fg_plan *plan, const struct fg_benchmark *benchmark,
		       struct fg_command *command)
{
	struct fg_strbuf filter = {0};
	char **argv = NULL;

	if (command->argc == 0 || benchmark->harness != FG_HARNESS_GOOGLE_BENCHMARK ||
	    strcmp(fg_fs_base_name(command->argv[0]), "sh") == 0)
		return;
	for (size_t i = 0; i < benchmark->case_count; i++) {
		fg_strbuf_add_text(&filter, i ? "|" : "--benchmark_filter=^(");
		for (const char *c = benchmark->cases[i]; *c; c++) {
			if (strchr("\\^$.|?*+()[]{}", *c))
				fg_strbuf_add_char(&filter, '\\');
			fg_strbuf_add_char(&filter, *c);
		}
	}
	fg_strbuf_add_text(&filter, ")$");
	argv = fg_arena_array(&plan->arena, command->argc + 2, sizeof(argv[0]));
	memcpy(argv, command->argv, command->argc * sizeof(argv[0]));
	argv[command->argc++] = fg_arena_strdup(&plan->arena, fg_strbuf_text(&filter));
	command->argv = argv;
	fg_strbuf_release(&filter);
}

void fg_cli_choose_cases(struct fg_plan *plan, struct fg_benchmark *benchmark,
			 const char *const *names, size_t count)
{
	const char **cases = fg_arena_array(&plan->arena, count + 1, sizeof(cases[0]));
	size_t chosen = 0;

	for (size_t i = 0; i < count; i++) {
		const char *name = fg_benchmark_case(benchmark, names[i]);

		if (strcmp(names[i], benchmark->name) == 0)
			return;
		if (name)
			cases[chosen++] = name;
	}
	if (chosen == 0)
		return;
	benchmark->cases = cases;
	benchmark->case_count = chosen;
	add_filter(plan, benchmark, &benchmark->command);
	add_filter(plan, benchmark, &benchmark->baseline_command);
}

/* ---- links ---- */

static void guess_links(const struct fg_plan *plan, struct fg_strbuf patterns[FG_WEB_LINK_COUNT])
{
	const struct fg_git git = {.folder = plan->root};
	const char *const ask[] = {"remote", "get-url", "origin", NULL};
	char *remote = NULL;

	if (fg_git_output(&git, ask, &remote, NULL) == FG_OK)
		(void)fg_web_link_guess(remote, patterns);
	free(remote);
}

void fg_cli_record_links(const struct fg_plan *plan, struct fg_environment *build)
{
	const struct fg_perfdb *perfdb = &plan->perfdb;
	struct fg_strbuf patterns[FG_WEB_LINK_COUNT] = {0};

	guess_links(plan, patterns);
	for (enum fg_web_link link = 0; link < FG_WEB_LINK_COUNT; link++) {
		const char *pattern = plan->links[link]       ? plan->links[link]
				      : patterns[link].length ? fg_strbuf_text(&patterns[link])
							      : NULL;

		if (pattern)
			fg_environment_set(build, fg_web_link_fact(link), pattern, false);
		fg_strbuf_release(&patterns[link]);
	}
	/* An address that contains a user name may also contain a password. */
	if (perfdb->url && perfdb->upload != FG_UPLOAD_NEVER && !strchr(perfdb->url, '@')) {
		char *page = fg_xasprintf("%s%s?view=run&run={run}", perfdb->url,
					  fg_text_ends_with(perfdb->url, "/") ? "" : "/");

		fg_environment_set(build, FG_WEB_LINK_RUN, page, false);
		free(page);
	}
}
