/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rights of people.  A role gives a scope, for one project or for all, to a person or to a group,
 * by the name that a trusted proxy uses.  The kind of a name is a column of its own: no spelling of
 * a person's name is a group's.  Roles are read at every request, so a revoked one is gone at once.
 */
#ifndef FG_STORE_SERVING_ROLES_H
#define FG_STORE_SERVING_ROLES_H

#include "store/serving/access.h"

enum {
	FG_ROLE_NAME_MAX = 200 /* bytes */
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
	char *who;
	char *project; /* NULL: all */
	enum fg_scope scope;
	int64_t created_ns;
};

struct fg_role_list {
	struct fg_role *items;
	size_t count;
	size_t capacity;
};

/* 1 to FG_ROLE_NAME_MAX bytes without control characters; FG_EINVAL otherwise. */
int fg_role_check_name(const char *name, struct fg_error *err) FG_NODISCARD;
/* Sets its id and time. */
int fg_store_role_add(struct fg_store *store, struct fg_role *role, struct fg_error *err)
	FG_NODISCARD;
/* *project: the project that it was for, to be freed; NULL: all. */
int fg_store_role_remove(struct fg_store *store, int64_t id, char **project, struct fg_error *err)
	FG_NODISCARD;
int fg_store_role_list(struct fg_store *store, struct fg_role_list *list, struct fg_error *err)
	FG_NODISCARD;
void fg_role_list_release(struct fg_role_list *list);

/* Adds what this person, or members of this group, may do. */
int fg_store_grants(struct fg_store *store, enum fg_role_kind kind, const char *name,
		    struct fg_grant_list *grants, struct fg_error *err) FG_NODISCARD;
void fg_grant_list_add(struct fg_grant_list *grants, const char *project, enum fg_scope scope);
void fg_grant_list_release(struct fg_grant_list *grants);

#endif
