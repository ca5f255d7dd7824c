// SPDX-License-Identifier: Apache-2.0
#include "cli/session/tokens.h"

#include "base/base.h"
#include "base/secrets.h"
#include "base/text.h"

#define TRUSTED_VARIABLES "FASTGATE_TRUSTED_VARIABLES"

void fg_tokens_take(void)
{
	static const char *const names[] = {
		"PERFDB_TOKEN",
		"GITHUB_TOKEN",
		"GH_TOKEN",
		"GITLAB_TOKEN",
		"CI_JOB_TOKEN",
		"ACTIONS_RUNTIME_TOKEN",
		"ACTIONS_ID_TOKEN_REQUEST_TOKEN",
		"FASTGATE_ACTION_PERFDB_TOKEN",
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(names); i++)
		fg_secret_take(names[i]);
}

/* Is the name one of those in the list, which commas or blanks separate? */
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

int fg_tokens_check_url(const char *url, struct fg_error *err)
{
	const char *own = getenv("PERFDB_URL");

	if (!own || !*own || !url || strcmp(own, url) == 0)
		return FG_OK;
	return fg_error_set(err, FG_EINVAL,
			    "perfdb.url in fastgate.yml is '%s', but $PERFDB_URL is '%s': "
			    "nothing is sent there unless --url says so",
			    url, own);
}
