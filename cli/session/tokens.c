// SPDX-License-Identifier: Apache-2.0
#include "cli/session/tokens.h"

#include "base/base.h"
#include "base/fs.h"
#include "base/secrets.h"
#include "base/text.h"

#include <unistd.h>

#define TRUSTED_VARIABLES "FASTGATE_TRUSTED_VARIABLES"
#define TRUSTED_URLS      "FASTGATE_TRUSTED_URLS"

enum {
	ENVIRONMENT_MAX_BYTES = 4 << 20,
	NAME_SIZE = 64,
	STAT_MAX_BYTES = 4096,
	STAT_STATE_SIZE = 4, /* ") S " */
};

static const char *const usual_names[] = {
	"PERFDB_TOKEN", "GITHUB_TOKEN",          "GH_TOKEN",
	"GITLAB_TOKEN", "ACTIONS_RUNTIME_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_TOKEN",
};

/* GitLab gives it to every job, so a warning about it would be useless. */
#define GITLABS_OWN "CI_JOB_TOKEN"

void fg_tokens_take(void)
{
	for (size_t i = 0; i < FG_ARRAY_SIZE(usual_names); i++)
		fg_secret_take(usual_names[i]);
	fg_secret_take(GITLABS_OWN);
}

/* `name` is part of an environment string and ends at its '='. */
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

/* Is the name in this list, separated by commas or blanks? */
static bool is_listed(const char *list, const char *name)
{
	const size_t length = strlen(name);

	while (list && *list) {
		const size_t size = strcspn(list, ", ");

		if (size == length && strncmp(list, name, size) == 0)
			return true;
		list += size;
		list += strspn(list, ", ");
	}
	return false;
}

static int take(const char *name, const char *usual, struct fg_error *err)
{
	if (!name)
		return FG_OK;
	if ((usual && strcmp(name, usual) == 0) || fg_text_starts_with(name, "FASTGATE_") ||
	    fg_text_starts_with(name, "PERFDB_") || is_listed(getenv(TRUSTED_VARIABLES), name)) {
		fg_secret_take(name);
		return FG_OK;
	}
	return fg_error_set(
		err, FG_EINVAL,
		"token_env names $%s, which fastgate.yml may not use: name a variable that begins with "
		"FASTGATE_ or PERFDB_, or allow it yourself: " TRUSTED_VARIABLES "=%s",
		name, name);
}

int fg_tokens_take_planned(const struct fg_plan *plan, struct fg_error *err)
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
 * The name of a token in a process's environment, to be freed; NULL if it has none or is
 * unreadable.
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

/* 0 if it has no parent or has ended. */
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

char *fg_tokens_above(const struct fg_plan *plan, pid_t *pid)
{
	char *name = NULL;

	*pid = getppid();
	while (*pid > 0 && !(name = token_of(*pid, plan)))
		*pid = parent_of(*pid);
	return name;
}

/* ---- trusted addresses ---- */

/* Is the address equal to or below one in the list? */
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

bool fg_tokens_may_go(const char *url)
{
	return lies_below(getenv("PERFDB_URL"), url) || lies_below(getenv(TRUSTED_URLS), url);
}
