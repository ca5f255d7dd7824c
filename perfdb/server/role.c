// SPDX-License-Identifier: Apache-2.0
/* perfdb role. */
#include "base/clock.h"
#include "base/number.h"
#include "perfdb/server/options.h"
#include "store/serving/roles.h"

enum {
	PROJECT_WIDTH = 20
};

static const struct fg_option role_options[] = {
	FG_PERFDB_DATABASE,
	FG_ROW_TEXT(struct fg_perfdb_options, project, "project", 0, "NAME",
		    "in this project only (default: in all)"),
	FG_PERFDB_SCOPE,
	FG_ROW_FLAG(struct fg_perfdb_options, is_group, "group", 0,
		    "NAME is a group, not a person"),
	FG_PERFDB_HELP,
	{.name = NULL},
};

static int list(struct fg_perfdb_action_call *call, struct fg_error *err)
{
	struct fg_role_list roles = {0};
	const int status = fg_store_role_list(call->store, &roles, err);

	for (size_t i = 0; i < roles.count; i++) {
		const struct fg_role *role = &roles.items[i];
		char created[FG_TIME_TEXT_SIZE];

		fg_time_format_utc(role->created_ns, created);
		fg_strbuf_printf(&call->output, "%lld  %-6s  ", (long long)role->id,
				 fg_scope_name(role->scope));
		fg_perfdb_add_name(&call->output, role->project ? role->project : "(all projects)",
				   PROJECT_WIDTH);
		fg_strbuf_printf(&call->output, "  %s  %-6s  ", created,
				 role->kind == FG_ROLE_GROUP ? "group" : "person");
		fg_perfdb_add_name(&call->output, role->who, 0);
		fg_strbuf_add_char(&call->output, '\n');
	}
	fg_role_list_release(&roles);
	return status;
}

static int add(struct fg_perfdb_action_call *call, struct fg_error *err)
{
	const struct fg_perfdb_options *given = call->given;
	struct fg_role role = {.kind = given->is_group ? FG_ROLE_GROUP : FG_ROLE_PERSON,
			       .who = call->word,
			       .project = given->project};

	if (!fg_scope_parse(given->scope, &role.scope))
		return fg_error_set(err, FG_EINVAL, "'%s' is not a scope: " FG_SCOPE_NAMES,
				    given->scope);
	FG_TRY(fg_store_role_add(call->store, &role, err));
	return fg_perfdb_note(call->store, given->project, "role.add", call->word, err);
}

static int take_away(struct fg_perfdb_action_call *call, struct fg_error *err)
{
	char *project = NULL;
	int64_t id = 0;
	int status = FG_OK;

	FG_TRY(fg_parse_int64(call->word, &id, err));
	FG_TRY(fg_store_role_remove(call->store, id, &project, err));
	status = fg_perfdb_note(call->store, project, "role.remove", call->word, err);
	free(project);
	return status;
}

static const struct fg_perfdb_action actions[] = {
	{.name = "list", .run = list},
	{.name = "add", .takes_word = true, .changes = true, .run = add},
	{.name = "remove", .takes_word = true, .changes = true, .run = take_away},
	{.name = NULL},
};

const struct fg_perfdb_command fg_perfdb_role = {
	.name = "role",
	.summary = "manage the roles of people: list, add NAME, remove NUMBER",
	.options = role_options,
	.actions = actions,
	.usage = "perfdb role list, add NAME, or remove NUMBER",
};
