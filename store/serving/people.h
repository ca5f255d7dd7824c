/* SPDX-License-Identifier: Apache-2.0 */
/*
 * People: what they may do, and who is signed in to the pages.
 *
 * A role gives a scope, for one project or for all, to a name: what an identity server calls a
 * person ("ann@example.org"), or a group ("group:compiler team").  A random text in a cookie says
 * who is signed in; the store keeps only its SHA-256.  Roles are read at every request, so that a
 * role that is taken away is gone at once.
 */
#ifndef FG_STORE_SERVING_PEOPLE_H
#define FG_STORE_SERVING_PEOPLE_H

#include "store/serving/access.h"

enum {
	FG_SIGN_IN_TEXT_SIZE = 65,
	FG_PERSON_NAMES_MAX = 100
};

#define FG_GROUP_START "group:"

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

/* The name of a person and those of the groups, "group:" before each. */
struct fg_person {
	char *names[FG_PERSON_NAMES_MAX]; /* the person's own is the first */
	size_t name_count;
};

/* Adds a copy of the name, as a group's if `is_group`; more than there is room for are left out. */
void fg_person_add(struct fg_person *person, const char *name, bool is_group);
void fg_person_release(struct fg_person *person);

/* Sets its id and time. */
int fg_store_role_add(struct fg_store *store, struct fg_role *role, struct fg_error *err)
	FG_NODISCARD;
/* The project that it is for, to be freed; NULL: all. */
int fg_store_role_project(struct fg_store *store, int64_t id, char **project, struct fg_error *err)
	FG_NODISCARD;
int fg_store_role_remove(struct fg_store *store, int64_t id, struct fg_error *err) FG_NODISCARD;
int fg_store_role_list(struct fg_store *store, struct fg_role_list *list, struct fg_error *err)
	FG_NODISCARD;
void fg_role_list_release(struct fg_role_list *list);

/* What someone with these names may do. */
int fg_store_grants(struct fg_store *store, const struct fg_person *person,
		    struct fg_grant_list *grants, struct fg_error *err) FG_NODISCARD;
void fg_grant_list_add(struct fg_grant_list *grants, const char *project, enum fg_scope scope);
void fg_grant_list_release(struct fg_grant_list *grants);

/*
 * Signs a person in until `expires_ns`, and removes expired sessions.  `text` becomes what
 * the cookie holds: the only time that it is known.
 */
int fg_store_sign_in(struct fg_store *store, const struct fg_person *person, int64_t expires_ns,
		     char text[FG_SIGN_IN_TEXT_SIZE], struct fg_error *err) FG_NODISCARD;
/* FG_ENOENT: not signed in, or no longer.  `*who` is to be freed. */
int fg_store_signed_in(struct fg_store *store, const char *text, int64_t now_ns, char **who,
		       struct fg_grant_list *grants, struct fg_error *err) FG_NODISCARD;
/* Signs out this browser, or (`text` NULL) all of this person's. */
int fg_store_sign_out(struct fg_store *store, const char *text, const char *who,
		      struct fg_error *err) FG_NODISCARD;

#endif
