// SPDX-License-Identifier: Apache-2.0
#include "store/serving/roles.h"

#include "base/clock.h"
#include "base/text.h"
#include "store/db.h"
#include "store/session.h"

int fg_role_check_name(const char *name, struct fg_error *err)
{
	const size_t length = name ? strlen(name) : 0;

	if (length == 0 || length > FG_ROLE_NAME_MAX)
		return fg_error_set(err, FG_EINVAL, "a name must have 1 to %d bytes",
				    FG_ROLE_NAME_MAX);
	return fg_text_is_clean(name, length)
		       ? FG_OK
		       : fg_error_set(err, FG_EINVAL,
				      "a name must be UTF-8 without control characters");
}

int fg_store_role_add(struct fg_store *store, struct fg_role *role, struct fg_error *err)
{
	FG_TRY(fg_role_check_name(role->who, err));
	role->created_ns = fg_clock_wall_ns();
	return FG_QUERY_FIND(store->db, &role->id, err, FG_SQL_ROLE_ADD,
			     FG_BIND((int64_t)role->kind), FG_BIND(role->who),
			     FG_BIND(role->project), FG_BIND(fg_scope_name(role->scope)),
			     FG_BIND(role->created_ns));
}

int fg_store_role_remove(struct fg_store *store, int64_t id, char **project, struct fg_error *err)
{
	struct fg_query q;
	int status = FG_OK;

	*project = NULL;
	FG_QUERY_WITH(&q, store->db, FG_SQL_ROLE_REMOVE, FG_BIND(id));
	status = fg_query_step(&q, err);
	if (status > 0)
		*project = fg_xstrdup(fg_column_text(&q, 0));
	fg_query_end(&q);
	if (status == FG_OK)
		return fg_error_set(err, FG_ENOENT, "there is no role %lld", (long long)id);
	return status > 0 ? FG_OK : status;
}

int fg_store_role_list(struct fg_store *store, struct fg_role_list *list, struct fg_error *err)
{
	struct fg_query q;
	int status = FG_OK;

	*list = (struct fg_role_list){0};
	fg_query_begin(&q, store->db, FG_SQL_ROLE_LIST);
	while ((status = fg_query_step(&q, err)) > 0) {
		struct fg_role *role = &FG_APPEND(list->items, list->count, list->capacity);

		*role = (struct fg_role){
			.id = fg_column_int(&q, 0),
			.kind = (enum fg_role_kind)fg_column_int(&q, 1),
			.who = fg_column_keep(&q, 2, &list->texts),
			.project = fg_column_keep(&q, 3, &list->texts),
			.created_ns = fg_column_int(&q, 5),
		};
		(void)fg_scope_parse(fg_column_text(&q, 4), &role->scope);
	}
	fg_query_end(&q);
	if (status != FG_OK)
		fg_role_list_release(list);
	return status;
}

void fg_role_list_release(struct fg_role_list *list)
{
	fg_arena_release(&list->texts);
	free(list->items);
	*list = (struct fg_role_list){0};
}

void fg_grant_list_add(struct fg_grant_list *grants, const char *project, enum fg_scope scope)
{
	FG_APPEND(grants->items, grants->count, grants->capacity) =
		(struct fg_grant){.project = fg_xstrdup(project), .scope = scope};
}

void fg_grant_list_release(struct fg_grant_list *grants)
{
	for (size_t i = 0; i < grants->count; i++)
		free(grants->items[i].project);
	free(grants->items);
	*grants = (struct fg_grant_list){0};
}

int fg_store_grants(struct fg_store *store, enum fg_role_kind kind, const char *name,
		    struct fg_grant_list *grants, struct fg_error *err)
{
	struct fg_query q;
	int status = FG_OK;

	FG_QUERY_WITH(&q, store->db, FG_SQL_ROLE_OF_NAME, FG_BIND((int64_t)kind), FG_BIND(name));
	while ((status = fg_query_step(&q, err)) > 0) {
		enum fg_scope scope = FG_SCOPE_NONE;

		if (fg_scope_parse(fg_column_text(&q, 1), &scope))
			fg_grant_list_add(grants, fg_column_text(&q, 0), scope);
	}
	fg_query_end(&q);
	return status;
}
