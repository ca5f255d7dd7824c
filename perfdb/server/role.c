// SPDX-License-Identifier: Apache-2.0
/* perfdb role. */
#include "base/clock.h"
#include "base/number.h"
#include "perfdb/server/options.h"
#include "store/serving/batch.h"
#include "store/serving/people.h"
#include "store/store.h"

static const struct fg_option role_options[] = {
	FG_PERFDB_DATABASE,
	FG_ROW_TEXT(struct fg_perfdb_options, project, "project", 0, "NAME",
		    "in this project alone; without it, in all"),
	{.name = "scope",
	 .kind = FG_OPTION_TEXT,
	 .offset = offsetof(struct fg_perfdb_options, scope),
	 .argument = "SCOPE",
	 .initial = "read",
	 .help = "read; upload (and read); triage (and read): notes, decisions; admin: everything"},
	FG_PERFDB_HELP,
	{.name = NULL},
};

static int list(struct fg_store *store, struct fg_error *err)
{
	struct fg_role_list roles = {0};
	const int status = fg_store_role_list(store, &roles, err);

	for (size_t i = 0; i < roles.count; i++) {
		const struct fg_role *role = &roles.items[i];
		char created[FG_TIME_TEXT_SIZE];

		fg_time_format_utc(role->created_ns, created);
		(void)printf("%lld  %-6s  %-20s  %s  %s\n", (long long)role->id,
			     fg_scope_name(role->scope),
			     role->project ? role->project : "(all projects)", created, role->who);
	}
	fg_role_list_release(&roles);
	return status;
}

static int give(struct fg_store *store, const struct fg_perfdb_options *given, char *who,
		struct fg_error *err)
{
	struct fg_role role = {.who = who};
	int status = FG_OK;

	if (!fg_scope_parse(given->scope, &role.scope))
		return fg_error_set(err, FG_EINVAL, "'%s' is not a scope: " FG_SCOPE_NAMES,
				    given->scope);
	role.project = fg_xstrdup(given->project);
	status = fg_store_role_add(store, &role, err);
	free(role.project);
	if (status != FG_OK)
		return status;
	return fg_perfdb_note(store, given->project, "role.add", who, err);
}

static int take_away(struct fg_store *store, const char *number, struct fg_error *err)
{
	char *project = NULL;
	int64_t id = 0;
	int status = fg_parse_int64(number, &id, err);

	if (status != FG_OK)
		return status;
	status = fg_store_role_project(store, id, &project, err);
	if (status != FG_OK)
		return status;
	status = fg_store_role_remove(store, id, err);
	if (status == FG_OK)
		status = fg_perfdb_note(store, project, "role.remove", number, err);
	free(project);
	return status;
}

static int sign_out(struct fg_store *store, const char *who, struct fg_error *err)
{
	const int status = fg_store_sign_out(store, NULL, who, err);

	return status == FG_OK ? fg_perfdb_note(store, NULL, "sign-out", who, err) : status;
}

/* What is done, and its entry in the audit log, in one transaction. */
static int change(struct fg_store *store, const struct fg_perfdb_options *given,
		  const struct fg_perfdb_words *words, struct fg_error *err)
{
	const char *action = words->items[0];
	int status = fg_store_batch_begin(store, err);

	if (status != FG_OK)
		return status;
	if (strcmp(action, "add") == 0)
		status = give(store, given, words->items[1], err);
	else if (strcmp(action, "remove") == 0)
		status = take_away(store, words->items[1], err);
	else
		status = sign_out(store, words->items[1], err);
	if (status == FG_OK)
		return fg_store_batch_end(store, err);
	fg_store_batch_undo(store);
	return status;
}

static bool is_change(const char *action)
{
	return strcmp(action, "add") == 0 || strcmp(action, "remove") == 0 ||
	       strcmp(action, "sign-out") == 0;
}

static int role(const struct fg_perfdb_options *given, const struct fg_perfdb_words *words)
{
	const char *action = words->count ? words->items[0] : "list";
	struct fg_store *store = NULL;
	struct fg_error err = {0};
	int status = fg_store_open(given->database, FG_STORE_DURABLE, &store, &err);

	if (status != FG_OK)
		return fg_perfdb_fail(&err);
	if (strcmp(action, "list") == 0 && words->count <= 1)
		status = list(store, &err);
	else if (is_change(action) && words->count == 2)
		status = change(store, given, words, &err);
	else
		status = fg_error_set(
			&err, FG_EINVAL,
			"expected: perfdb role list, add NAME, remove NUMBER, or sign-out NAME");
	fg_store_close(store);
	return status == FG_OK ? FG_PERFDB_OK : fg_perfdb_fail(&err);
}

const struct fg_perfdb_command fg_perfdb_role = {
	.name = "role",
	.summary = "list, add NAME, remove NUMBER, sign-out NAME: what people may do",
	.options = role_options,
	.run = role,
};
