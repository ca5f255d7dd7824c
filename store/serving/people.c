// SPDX-License-Identifier: Apache-2.0
#include "store/serving/people.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/random.h"
#include "store/db.h"
#include "store/session.h"

enum {
	SECRET_BYTES = (FG_SIGN_IN_TEXT_SIZE - 1) / 2,
	NAME_MAX_BYTES = 200
};

void fg_person_add(struct fg_person *person, const char *name, bool is_group)
{
	if (!*name || strlen(name) > NAME_MAX_BYTES || person->name_count == FG_PERSON_NAMES_MAX)
		return;
	person->names[person->name_count++] =
		is_group ? fg_xasprintf(FG_GROUP_START "%s", name) : fg_xstrdup(name);
}

void fg_person_release(struct fg_person *person)
{
	for (size_t i = 0; i < person->name_count; i++)
		free(person->names[i]);
	*person = (struct fg_person){0};
}

int fg_store_role_add(struct fg_store *store, struct fg_role *role, struct fg_error *err)
{
	struct fg_query q;

	if (!role->who || !*role->who || strlen(role->who) > NAME_MAX_BYTES)
		return fg_error_set(err, FG_EINVAL, "a name has 1 to %d bytes", NAME_MAX_BYTES);
	role->created_ns = fg_clock_wall_ns();
	fg_query_begin(&q, store->db, FG_SQL_ROLE_ADD);
	fg_query_text(&q, role->who);
	fg_query_text(&q, role->project);
	fg_query_text(&q, fg_scope_name(role->scope));
	fg_query_int(&q, role->created_ns);
	return fg_query_value(&q, &role->id, err);
}

int fg_store_role_project(struct fg_store *store, int64_t id, char **project, struct fg_error *err)
{
	struct fg_query q;
	int status = FG_OK;

	*project = NULL;
	fg_query_begin(&q, store->db, FG_SQL_ROLE_PROJECT);
	fg_query_int(&q, id);
	status = fg_query_step(&q, err);
	if (status > 0)
		*project = fg_xstrdup(fg_column_text(&q, 0));
	fg_query_end(&q);
	if (status == FG_OK)
		return fg_error_set(err, FG_ENOENT, "there is no role %lld", (long long)id);
	return status > 0 ? FG_OK : status;
}

int fg_store_role_remove(struct fg_store *store, int64_t id, struct fg_error *err)
{
	struct fg_query q;

	fg_query_begin(&q, store->db, FG_SQL_ROLE_REMOVE);
	fg_query_int(&q, id);
	return fg_query_run(&q, err);
}

int fg_store_role_list(struct fg_store *store, struct fg_role_list *list, struct fg_error *err)
{
	struct fg_role_list found = {0};
	struct fg_query q;
	int status = FG_OK;

	fg_query_begin(&q, store->db, FG_SQL_ROLE_LIST);
	while ((status = fg_query_step(&q, err)) > 0) {
		struct fg_role *role = NULL;

		found.items = fg_grow(found.items, &found.capacity, found.count + 1,
				      sizeof(*found.items));
		role = &found.items[found.count++];
		*role = (struct fg_role){
			.id = fg_column_int(&q, 0),
			.who = fg_xstrdup(fg_column_text(&q, 1)),
			.project = fg_xstrdup(fg_column_text(&q, 2)),
			.created_ns = fg_column_int(&q, 4),
		};
		(void)fg_scope_parse(fg_column_text(&q, 3), &role->scope);
	}
	fg_query_end(&q);
	if (status == FG_OK)
		*list = found;
	else
		fg_role_list_release(&found);
	return status;
}

void fg_role_list_release(struct fg_role_list *list)
{
	for (size_t i = 0; i < list->count; i++) {
		free(list->items[i].who);
		free(list->items[i].project);
	}
	free(list->items);
	*list = (struct fg_role_list){0};
}

void fg_grant_list_add(struct fg_grant_list *grants, const char *project, enum fg_scope scope)
{
	grants->items = fg_grow(grants->items, &grants->capacity, grants->count + 1,
				sizeof(*grants->items));
	grants->items[grants->count++] =
		(struct fg_grant){.project = fg_xstrdup(project), .scope = scope};
}

void fg_grant_list_release(struct fg_grant_list *grants)
{
	for (size_t i = 0; i < grants->count; i++)
		free(grants->items[i].project);
	free(grants->items);
	*grants = (struct fg_grant_list){0};
}

/* Adds the rows (project, scope) that `q` finds. */
static int add_grants(struct fg_query *q, struct fg_grant_list *grants, struct fg_error *err)
{
	int status = FG_OK;

	while ((status = fg_query_step(q, err)) > 0) {
		enum fg_scope scope = FG_SCOPE_NONE;

		if (fg_scope_parse(fg_column_text(q, 1), &scope))
			fg_grant_list_add(grants, fg_column_text(q, 0), scope);
	}
	fg_query_end(q);
	return status;
}

int fg_store_grants(struct fg_store *store, const struct fg_person *person,
		    struct fg_grant_list *grants, struct fg_error *err)
{
	for (size_t i = 0; i < person->name_count; i++) {
		struct fg_query q;
		int status = FG_OK;

		fg_query_begin(&q, store->db, FG_SQL_ROLE_OF_NAME);
		fg_query_text(&q, person->names[i]);
		status = add_grants(&q, grants, err);
		if (status != FG_OK)
			return status;
	}
	return FG_OK;
}

static int run_with_text(struct fg_store *store, enum fg_sql sql, const char *text,
			 struct fg_error *err)
{
	struct fg_query q;

	fg_query_begin(&q, store->db, sql);
	fg_query_text(&q, text);
	return fg_query_run(&q, err);
}

static int remove_names(struct fg_store *store, struct fg_error *err)
{
	struct fg_query q;

	fg_query_begin(&q, store->db, FG_SQL_SIGN_IN_REMOVE_NAMES);
	return fg_query_run(&q, err);
}

static int remove_old(struct fg_store *store, int64_t now_ns, struct fg_error *err)
{
	struct fg_query q;

	fg_query_begin(&q, store->db, FG_SQL_SIGN_IN_REMOVE_OLD);
	fg_query_int(&q, now_ns);
	return fg_query_run(&q, err);
}

static int add_names(struct fg_store *store, const struct fg_person *person, int64_t id,
		     struct fg_error *err)
{
	for (size_t i = 0; i < person->name_count; i++) {
		struct fg_query q;
		int status = FG_OK;

		fg_query_begin(&q, store->db, FG_SQL_SIGN_IN_ADD_NAME);
		fg_query_int(&q, id);
		fg_query_text(&q, person->names[i]);
		status = fg_query_run(&q, err);
		if (status != FG_OK)
			return status;
	}
	return FG_OK;
}

int fg_store_sign_in(struct fg_store *store, const struct fg_person *person, int64_t expires_ns,
		     char text[FG_SIGN_IN_TEXT_SIZE], struct fg_error *err)
{
	uint8_t secret[SECRET_BYTES];
	char digest[FG_SHA256_HEX_SIZE];
	const int64_t now_ns = fg_clock_wall_ns();
	struct fg_query q;
	int64_t id = 0;
	int status = fg_random_bytes(secret, sizeof(secret), err);

	if (status != FG_OK)
		return status;
	fg_hex(secret, sizeof(secret), text);
	explicit_bzero(secret, sizeof(secret));
	fg_sha256_hex(text, strlen(text), digest);
	status = remove_old(store, now_ns, err);
	if (status != FG_OK)
		return status;
	status = remove_names(store, err);
	if (status != FG_OK)
		return status;
	fg_query_begin(&q, store->db, FG_SQL_SIGN_IN_ADD);
	fg_query_text(&q, digest);
	fg_query_text(&q, person->names[0]);
	fg_query_int(&q, now_ns);
	fg_query_int(&q, expires_ns);
	status = fg_query_value(&q, &id, err);
	if (status != FG_OK)
		return status;
	return add_names(store, person, id, err);
}

int fg_store_signed_in(struct fg_store *store, const char *text, int64_t now_ns, char **who,
		       struct fg_grant_list *grants, struct fg_error *err)
{
	char digest[FG_SHA256_HEX_SIZE];
	struct fg_query q;
	char *found = NULL;
	int64_t id = 0;
	int status = FG_OK;

	*who = NULL;
	fg_sha256_hex(text, strlen(text), digest);
	fg_query_begin(&q, store->db, FG_SQL_SIGN_IN_FIND);
	fg_query_text(&q, digest);
	status = fg_query_step(&q, err);
	if (status > 0) {
		id = fg_column_int(&q, 0);
		if (fg_column_int(&q, 2) > now_ns)
			found = fg_xstrdup(fg_column_text(&q, 1));
	}
	fg_query_end(&q);
	if (status < 0)
		return status;
	if (!found)
		return fg_error_set(err, FG_ENOENT, "nobody is signed in here any more");
	fg_query_begin(&q, store->db, FG_SQL_ROLE_OF_SIGN_IN);
	fg_query_int(&q, id);
	status = add_grants(&q, grants, err);
	if (status == FG_OK)
		*who = found;
	else
		free(found);
	return status;
}

int fg_store_sign_out(struct fg_store *store, const char *text, const char *who,
		      struct fg_error *err)
{
	char digest[FG_SHA256_HEX_SIZE];
	int status = FG_OK;

	if (text) {
		fg_sha256_hex(text, strlen(text), digest);
		status = run_with_text(store, FG_SQL_SIGN_IN_REMOVE, digest, err);
	} else {
		status = run_with_text(store, FG_SQL_SIGN_IN_REMOVE_OF, who, err);
	}
	if (status != FG_OK)
		return status;
	return remove_names(store, err);
}
