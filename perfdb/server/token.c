// SPDX-License-Identifier: Apache-2.0
/* perfdb token. */
#include "base/clock.h"
#include "base/number.h"
#include "perfdb/server/options.h"
#include "store/serving/access.h"

enum {
	SUBJECT_SIZE = 40,
	PROJECT_WIDTH = 20
};

static const struct fg_option token_options[] = {
	FG_PERFDB_DATABASE,
	FG_ROW_TEXT(struct fg_perfdb_options, project, "project", 0, "NAME",
		    "for this project only (default: for all)"),
	FG_PERFDB_SCOPE,
	FG_ROW_DURATION(struct fg_perfdb_options, expires, "expires", FG_TOKEN_LIFE,
			"lifetime, at most two years"),
	FG_ROW_TEXT(struct fg_perfdb_options, note, "note", 0, "TEXT",
		    "a note that names the user of the token"),
	FG_PERFDB_HELP,
	{.name = NULL},
};

static int note(struct fg_perfdb_action_call *call, const char *project, const char *action,
		int64_t id, struct fg_error *err)
{
	char subject[SUBJECT_SIZE];

	(void)snprintf(subject, sizeof(subject), "token %lld", (long long)id);
	return fg_perfdb_note(call->store, project, action, subject, err);
}

static int create(struct fg_perfdb_action_call *call, struct fg_error *err)
{
	const struct fg_perfdb_options *given = call->given;
	struct fg_token token = {.expires_ns = fg_clock_wall_ns() + given->expires};
	char text[FG_TOKEN_TEXT_SIZE] = "";
	int status = FG_OK;

	if (given->expires > FG_TOKEN_LIFE_MAX_NS)
		return fg_error_set(err, FG_EINVAL, FG_TOKEN_LIFE_REFUSED);
	if (!fg_scope_parse(given->scope, &token.scope))
		return fg_error_set(err, FG_EINVAL, "'%s' is not a scope: " FG_SCOPE_NAMES,
				    given->scope);
	token.project = fg_xstrdup(given->project);
	token.note = fg_xstrdup(given->note);
	FG_TRY_OUT(fg_store_token_create(call->store, &token, text, err));
	status = note(call, token.project, "token.create", token.id, err);
	fg_strbuf_printf(&call->output, "%s\n", text);
out:
	explicit_bzero(text, sizeof(text));
	fg_token_release(&token);
	return status;
}

static int list(struct fg_perfdb_action_call *call, struct fg_error *err)
{
	struct fg_token_list tokens = {0};
	const int status = fg_store_token_list(call->store, &tokens, err);

	for (size_t i = 0; i < tokens.count; i++) {
		const struct fg_token *t = &tokens.items[i];
		char expires[FG_TIME_TEXT_SIZE];
		char used[FG_TIME_TEXT_SIZE] = "never used";

		fg_time_format_utc(t->expires_ns, expires);
		if (t->used_ns)
			fg_time_format_utc(t->used_ns, used);
		fg_strbuf_printf(&call->output, "%lld  %-6s  ", (long long)t->id,
				 fg_scope_name(t->scope));
		fg_perfdb_add_name(&call->output, t->project ? t->project : "(all projects)",
				   PROJECT_WIDTH);
		fg_strbuf_printf(&call->output, "  %s  %s%s%s  ", t->revoked ? "revoked" : expires,
				 used, t->used_from ? " from " : "",
				 t->used_from ? t->used_from : "");
		fg_perfdb_add_name(&call->output, t->note ? t->note : "", 0);
		fg_strbuf_add_char(&call->output, '\n');
	}
	fg_token_list_release(&tokens);
	return status;
}

static int revoke(struct fg_perfdb_action_call *call, struct fg_error *err)
{
	char *project = NULL;
	int64_t id = 0;
	int status = FG_OK;

	FG_TRY(fg_parse_int64(call->word, &id, err));
	FG_TRY(fg_store_token_project(call->store, id, &project, err));
	FG_TRY_OUT(fg_store_token_revoke(call->store, id, err));
	status = note(call, project, "token.revoke", id, err);
out:
	free(project);
	return status;
}

static const struct fg_perfdb_action actions[] = {
	{.name = "list", .run = list},
	{.name = "create",
	 .changes = true,
	 .run = create,
	 .remark = "the token will not be shown again"},
	{.name = "revoke", .takes_word = true, .changes = true, .run = revoke},
	{.name = NULL},
};

const struct fg_perfdb_command fg_perfdb_token = {
	.name = "token",
	.summary = "manage tokens: create, list, or revoke NUMBER",
	.options = token_options,
	.actions = actions,
	.usage = "perfdb token create, list, or revoke NUMBER",
};
