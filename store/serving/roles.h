/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rights of people. A role gives a scope, for one project or for all, to a person or to a group, by
 * the name that a trusted proxy uses. The kind of a name has its own column, so no person's name
 * can be taken for a group's. Roles are read for every request, so a revocation takes effect at
 * once.
 */
#ifndef FG_STORE_SERVING_ROLES_H
#define FG_STORE_SERVING_ROLES_H

#include "store/serving/access.h"

enum {
	FG_ROLE_NAME_MAX = 200 /* maximum length of a name, in bytes */
};

enum fg_role_kind {
	FG_ROLE_PERSON,
	FG_ROLE_GROUP,
};

struct fg_grant {
	char *project; /* NULL: all */
	enum fg_scope scope;
};

struct fg_grant_list {
	struct fg_grant *items;
	size_t count;
	size_t capacity;
};

struct fg_role {
	int64_t id;
	enum fg_role_kind kind;
	const char *who;
	const char *project; /* NULL: all */
	enum fg_scope scope;
	int64_t created_ns;
};

struct fg_role_list {
	struct fg_role *items;
	size_t count;
	size_t capacity;
	struct fg_arena texts;
};

/* Accepts 1 to FG_ROLE_NAME_MAX bytes without control characters; otherwise FG_EINVAL. */
int fg_role_check_name(const char *name, struct fg_error *err) FG_NODISCARD;
/* Stores the role and sets its id and time. */
int fg_store_role_add(struct fg_store *store, struct fg_role *role, struct fg_error *err)
	FG_NODISCARD;
/* Removes a role. *project becomes its project, which the caller frees; NULL: all projects. */
int fg_store_role_remove(struct fg_store *store, int64_t id, char **project, struct fg_error *err)
	FG_NODISCARD;
int fg_store_role_list(struct fg_store *store, struct fg_role_list *list, struct fg_error *err)
	FG_NODISCARD;
void fg_role_list_release(struct fg_role_list *list);

/* Adds the rights of this person, or of members of this group. */
int fg_store_grants(struct fg_store *store, enum fg_role_kind kind, const char *name,
		    struct fg_grant_list *grants, struct fg_error *err) FG_NODISCARD;
void fg_grant_list_add(struct fg_grant_list *grants, const char *project, enum fg_scope scope);
void fg_grant_list_release(struct fg_grant_list *grants);

#endif
