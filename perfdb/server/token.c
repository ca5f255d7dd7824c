// SPDX-License-Identifier: Apache-2.0
/* perfdb token. */
#include "base/clock.h"
#include "base/number.h"
#include "perfdb/server/options.h"
#include "store/serving/access.h"
#include "store/store.h"

static const struct fg_option token_options[] = {
	FG_PERFDB_DATABASE,
	FG_CLI_TEXT(struct fg_perfdb_options, project, "project", 0, "NAME",
		    "for this project alone; without it, for all"),
	{.name = "scope",
	 .kind = FG_OPTION_TEXT,
	 .offset = offsetof(struct fg_perfdb_options, scope),
	 .argument = "SCOPE",
	 .initial = "read",
	 .help = "read, upload (and read) or admin (everything)"},
	{.name = "expires",
	 .kind = FG_OPTION_DURATION,
	 .offset = offsetof(struct fg_perfdb_options, expires),
	 .argument = "TIME",
	 .initial = "365d",
	 .help = "how long it works"},
	FG_CLI_TEXT(struct fg_perfdb_options, note, "note", 0, "TEXT", "who it is for"),
	FG_PERFDB_HELP,
	{.name = NULL},
};

static int token_create(struct fg_store *store, const struct fg_perfdb_options *given,
			struct fg_error *err)
{
	char text[FG_TOKEN_TEXT_SIZE];
	enum fg_scope scope = FG_SCOPE_NONE;
	int status = FG_OK;

	if (!fg_scope_parse(given->scope, &scope))
		return fg_error_set(err, FG_EINVAL, "'%s' is not a scope: read, upload or admin",
				    given->scope);
	status = fg_store_token_create(store, given->project, scope,
				       fg_clock_wall_ns() + given->expires, given->note, text, err);
	if (status == FG_OK) {
		(void)printf("%s\n", text);
		(void)fprintf(stderr, "perfdb: this is the only time that it is shown\n");
	}
	explicit_bzero(text, sizeof(text));
	return status;
}

static int token_list(struct fg_store *store, struct fg_error *err)
{
	struct fg_token_list list = {0};
	int status = fg_store_token_list(store, &list, err);

	for (size_t i = 0; i < list.count; i++) {
		const struct fg_token *t = &list.items[i];
		char expires[FG_TIME_TEXT_SIZE];
		char used[FG_TIME_TEXT_SIZE] = "never used";

		fg_time_format_utc(t->expires_ns, expires);
		if (t->used_ns)
			fg_time_format_utc(t->used_ns, used);
		(void)printf("%lld  %-6s  %-20s  %s  %s  %s\n", (long long)t->id,
			     fg_scope_name(t->scope), t->project ? t->project : "(all projects)",
			     t->revoked ? "revoked" : expires, used, t->note ? t->note : "");
	}
	fg_token_list_release(&list);
	return status;
}

static int token_revoke(struct fg_store *store, const char *number, struct fg_error *err)
{
	int64_t id = 0;
	const int status = fg_parse_int64(number, &id, err);

	return status == FG_OK ? fg_store_token_revoke(store, id, err) : status;
}

static int token(const struct fg_perfdb_options *given, const struct fg_perfdb_words *words)
{
	const char *action = words->count ? words->items[0] : "list";
	struct fg_store *store = NULL;
	struct fg_error err = {0};
	int status = fg_store_open(given->database, FG_STORE_DURABLE, &store, &err);

	if (status != FG_OK)
		return fg_perfdb_fail(&err);
	if (strcmp(action, "create") == 0)
		status = token_create(store, given, &err);
	else if (strcmp(action, "list") == 0)
		status = token_list(store, &err);
	else if (strcmp(action, "revoke") == 0 && words->count == 2)
		status = token_revoke(store, words->items[1], &err);
	else
		status = fg_error_set(&err, FG_EINVAL,
				      "expected: perfdb token create, list, or revoke NUMBER");
	fg_store_close(store);
	return status == FG_OK ? FG_PERFDB_OK : fg_perfdb_fail(&err);
}

const struct fg_perfdb_command fg_perfdb_token = {
	.name = "token",
	.summary = "create, list, or revoke NUMBER: who may do what",
	.options = token_options,
	.run = token,
};
