/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Access tokens, and people's notes and decisions.
 *
 * A token is 32 random bytes from the kernel, shown once ("fgt_" and 64 hexadecimal digits); the
 * store keeps only its SHA-256. A token has one scope, for one project or for all. Every scope
 * includes reading; only admin includes everything.
 */
#ifndef FG_STORE_SERVING_ACCESS_H
#define FG_STORE_SERVING_ACCESS_H

#include "base/arena.h"
#include "base/base.h"
#include "base/error.h"

struct fg_store;

enum fg_scope {
	FG_SCOPE_NONE,
	FG_SCOPE_READ,
	FG_SCOPE_UPLOAD, /* upload runs: for a machine */
	FG_SCOPE_TRIAGE, /* write notes, decide on changes: for a person */
	FG_SCOPE_ADMIN,
};

enum {
	FG_TOKEN_TEXT_SIZE = 69
};

/* The default life of a token is a year, its maximum life two years. */
#define FG_TOKEN_LIFE         "365d"
#define FG_TOKEN_LIFE_NS      (365 * FG_NS_PER_DAY)
#define FG_TOKEN_LIFE_MAX_NS  (732 * FG_NS_PER_DAY)
#define FG_TOKEN_LIFE_REFUSED "a token is valid for two years at most: create a new one in time"

struct fg_token {
	int64_t id;
	char *project; /* NULL: all */
	enum fg_scope scope;
	char *note;
	int64_t created_ns;
	int64_t expires_ns; /* INT64_MAX: never */
	bool revoked;
	int64_t used_ns; /* last use, to the minute; 0: never */
	char *used_from; /* address of the last use; NULL: unknown */
};

struct fg_token_list {
	struct fg_token *items;
	size_t count;
	size_t capacity;
};

const char *fg_scope_name(enum fg_scope scope);
bool fg_scope_parse(const char *name, enum fg_scope *scope);
#define FG_SCOPE_NAMES "read, upload, triage or admin"
/* Returns true if the scope `given` includes `needed`. */
bool fg_scope_covers(enum fg_scope given, enum fg_scope needed);

/*
 * Makes a token with the project, scope, expiry and note of `token`, and sets its id and time.
 * `text` gets the secret, which is not stored.
 */
int fg_store_token_create(struct fg_store *store, struct fg_token *token,
			  char text[FG_TOKEN_TEXT_SIZE], struct fg_error *err) FG_NODISCARD;
/*
 * FG_ENOENT: unknown, expired, revoked or without a scope (the message says which). Release with
 * fg_token_release().
 */
int fg_store_token_check(struct fg_store *store, const char *text, int64_t now_ns,
			 struct fg_token *token, struct fg_error *err) FG_NODISCARD;
/* Records the time and address of the token's last use. */
int fg_store_token_used(struct fg_store *store, int64_t id, int64_t now_ns, const char *from,
			struct fg_error *err) FG_NODISCARD;
/* Finds the token's project, which the caller frees; NULL: all projects. */
int fg_store_token_project(struct fg_store *store, int64_t id, char **project, struct fg_error *err)
	FG_NODISCARD;
int fg_store_token_revoke(struct fg_store *store, int64_t id, struct fg_error *err) FG_NODISCARD;
int fg_store_token_list(struct fg_store *store, struct fg_token_list *list, struct fg_error *err)
	FG_NODISCARD;
/* Counts all tokens, even if they are revoked or expired. */
int fg_store_token_count(struct fg_store *store, size_t *count, struct fg_error *err) FG_NODISCARD;
void fg_token_release(struct fg_token *token);
void fg_token_list_release(struct fg_token_list *list);

/*
 * A note about a run, a benchmark or a metric, or a decision about the change point that begins
 * with `run`; the newest decision counts.
 */
struct fg_annotation {
	int64_t id;
	char *run;       /* NULL: not about one run */
	char *benchmark; /* NULL: all */
	char *metric;    /* NULL: all */
	char *kind;      /* "note"; "new", "investigating", "accepted", "noise", "fixed" */
	char *text;      /* may be empty for a decision */
	char *author;
	int64_t created_ns;
};

struct fg_annotation_list {
	struct fg_annotation *items;
	size_t count;
	size_t capacity;
	struct fg_arena texts;
};

int fg_store_annotate(struct fg_store *store, const char *project, struct fg_annotation *annotation,
		      struct fg_error *err) FG_NODISCARD; /* sets the annotation's id and time */
int fg_store_annotations(struct fg_store *store, const char *project, const char *benchmark,
			 const char *run, struct fg_annotation_list *list, struct fg_error *err)
	FG_NODISCARD;
int fg_store_annotation_delete(struct fg_store *store, const char *project, int64_t id,
			       struct fg_error *err) FG_NODISCARD;
void fg_annotation_list_release(struct fg_annotation_list *list);

#endif
