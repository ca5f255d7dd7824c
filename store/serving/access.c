// SPDX-License-Identifier: Apache-2.0
#include "store/serving/access.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/random.h"
#include "base/text.h"
#include "store/db.h"
#include "store/session.h"

enum {
	SECRET_BYTES = 32,
	NOTE_MAX_BYTES = 4096
};

#define TOKEN_START "fgt_"

static const char *const scope_names[] = {
	[FG_SCOPE_NONE] = "none",     [FG_SCOPE_READ] = "read",   [FG_SCOPE_UPLOAD] = "upload",
	[FG_SCOPE_TRIAGE] = "triage", [FG_SCOPE_ADMIN] = "admin",
};

const char *fg_scope_name(enum fg_scope scope)
{
	return scope_names[scope];
}

bool fg_scope_parse(const char *name, enum fg_scope *scope)
{
	for (size_t i = FG_SCOPE_READ; i < FG_ARRAY_SIZE(scope_names); i++) {
		if (strcmp(scope_names[i], name) == 0) {
			*scope = (enum fg_scope)i;
			return true;
		}
	}
	return false;
}

bool fg_scope_covers(enum fg_scope given, enum fg_scope needed)
{
	return given == needed || given == FG_SCOPE_ADMIN || needed == FG_SCOPE_NONE ||
	       (needed == FG_SCOPE_READ && given != FG_SCOPE_NONE);
}

int fg_store_token_create(struct fg_store *store, struct fg_token *token,
			  char text[FG_TOKEN_TEXT_SIZE], struct fg_error *err)
{
	uint8_t secret[SECRET_BYTES];
	char digest[FG_SHA256_HEX_SIZE];

	if (token->note && strlen(token->note) > NOTE_MAX_BYTES)
		return fg_error_set(err, FG_EINVAL, "a note may have at most %d bytes",
				    NOTE_MAX_BYTES);
	FG_TRY(fg_random_bytes(secret, sizeof(secret), err));
	memcpy(text, TOKEN_START, sizeof(TOKEN_START));
	fg_hex(secret, sizeof(secret), text + strlen(TOKEN_START));
	explicit_bzero(secret, sizeof(secret));
	fg_sha256_hex(text, strlen(text), digest);
	token->created_ns = fg_clock_wall_ns();
	return FG_QUERY_FIND(store->db, &token->id, err, FG_SQL_TOKEN_ADD, FG_BIND(digest),
			     FG_BIND(token->project), FG_BIND(fg_scope_name(token->scope)),
			     FG_BIND(token->note), FG_BIND(token->created_ns),
			     FG_BIND(token->expires_ns));
}

int fg_store_token_used(struct fg_store *store, int64_t id, int64_t now_ns, const char *from,
			struct fg_error *err)
{
	return FG_QUERY_DO(store->db, err, FG_SQL_TOKEN_USED, FG_BIND(id), FG_BIND(now_ns),
			   FG_BIND(from));
}

int fg_store_token_check(struct fg_store *store, const char *text, int64_t now_ns,
			 struct fg_token *token, struct fg_error *err)
{
	struct fg_token found = {0};
	char digest[FG_SHA256_HEX_SIZE];
	struct fg_query q;
	int status = FG_OK;

	/*
	 * Looks up the digest instead of comparing the secret, so that the time reveals nothing
	 * about the secret.
	 */
	fg_sha256_hex(text, strlen(text), digest);
	FG_QUERY_WITH(&q, store->db, FG_SQL_TOKEN_FIND, FG_BIND(digest));
	status = fg_query_step(&q, err);
	if (status > 0) {
		found.id = fg_column_int(&q, 0);
		found.project = fg_column_copy(&q, 1);
		found.expires_ns = fg_column_int(&q, 3);
		found.revoked = fg_column_int(&q, 4) != 0;
		found.used_ns = fg_column_int(&q, 5);
		found.note = fg_column_copy(&q, 6);
		status = FG_OK;
		if (!fg_scope_parse(fg_column_text(&q, 2), &found.scope))
			status = fg_error_set(err, FG_ENOENT, "the token has no scope");
		else if (found.revoked)
			status = fg_error_set(err, FG_ENOENT, "the token was revoked");
		else if (found.expires_ns <= now_ns)
			status = fg_error_set(err, FG_ENOENT, "the token has expired");
	} else if (status == FG_OK) {
		status = fg_error_set(err, FG_ENOENT, "the token is unknown");
	}
	fg_query_end(&q);
	if (status == FG_OK)
		*token = found;
	else
		fg_token_release(&found);
	return status;
}

int fg_store_token_project(struct fg_store *store, int64_t id, char **project, struct fg_error *err)
{
	struct fg_query q;
	int status = FG_OK;

	*project = NULL;
	FG_QUERY_WITH(&q, store->db, FG_SQL_TOKEN_PROJECT, FG_BIND(id));
	status = fg_query_step(&q, err);
	if (status > 0)
		*project = fg_column_copy(&q, 0);
	fg_query_end(&q);
	if (status == FG_OK)
		return fg_error_set(err, FG_ENOENT, "there is no token %lld", (long long)id);
	return status > 0 ? FG_OK : status;
}

int fg_store_token_revoke(struct fg_store *store, int64_t id, struct fg_error *err)
{
	int64_t found = 0;
	int status = FG_OK;

	status = FG_QUERY_FIND(store->db, &found, err, FG_SQL_TOKEN_REVOKE, FG_BIND(id));
	if (status == FG_ENOENT)
		status = fg_error_set(err, FG_ENOENT, "there is no token %lld", (long long)id);
	return status;
}

int fg_store_token_list(struct fg_store *store, struct fg_token_list *list, struct fg_error *err)
{
	struct fg_query q;
	int status = FG_OK;

	*list = (struct fg_token_list){0};
	fg_query_begin(&q, store->db, FG_SQL_TOKEN_LIST);
	while ((status = fg_query_step(&q, err)) > 0) {
		struct fg_token *token = &FG_APPEND(list->items, list->count, list->capacity);

		*token = (struct fg_token){
			.id = fg_column_int(&q, 0),
			.project = fg_column_copy(&q, 1),
			.note = fg_column_copy(&q, 3),
			.created_ns = fg_column_int(&q, 4),
			.expires_ns = fg_column_int(&q, 5),
			.revoked = fg_column_int(&q, 6) != 0,
			.used_ns = fg_column_int(&q, 7),
			.used_from = fg_column_copy(&q, 8),
		};
		(void)fg_scope_parse(fg_column_text(&q, 2), &token->scope);
	}
	fg_query_end(&q);
	if (status != FG_OK)
		fg_token_list_release(list);
	return status;
}

int fg_store_token_count(struct fg_store *store, size_t *count, struct fg_error *err)
{
	struct fg_query q;
	int64_t value = 0;
	int status = FG_OK;

	fg_query_begin(&q, store->db, FG_SQL_TOKEN_COUNT);
	status = fg_query_value(&q, &value, err);
	*count = (size_t)value;
	return status;
}

void fg_token_release(struct fg_token *token)
{
	free(token->project);
	free(token->note);
	free(token->used_from);
	*token = (struct fg_token){0};
}

void fg_token_list_release(struct fg_token_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		fg_token_release(&list->items[i]);
	free(list->items);
	*list = (struct fg_token_list){0};
}

static bool kind_is_known(const char *kind)
{
	static const char *const known[] = {"note",     "new",   "investigating",
					    "accepted", "noise", "fixed"};

	return FG_TEXT_IS_AMONG(kind, known);
}

static int existing_project(struct fg_store *store, const char *project, int64_t *id,
			    struct fg_error *err)
{
	int status = FG_OK;

	status = FG_QUERY_FIND(store->db, id, err, FG_SQL_PROJECT_FIND, FG_BIND(project));
	if (status == FG_ENOENT)
		status = fg_error_set(err, FG_ENOENT, "there is no project '%s'", project);
	return status;
}

int fg_store_annotate(struct fg_store *store, const char *project, struct fg_annotation *annotation,
		      struct fg_error *err)
{
	int64_t id = 0;

	if (!kind_is_known(annotation->kind))
		return fg_error_set(
			err, FG_EINVAL,
			"'%.40s' is not a kind of annotation: expected note, new, investigating, "
			"accepted, noise or fixed",
			annotation->kind);
	if ((!*annotation->text && strcmp(annotation->kind, "note") == 0) ||
	    strlen(annotation->text) > NOTE_MAX_BYTES)
		return fg_error_set(err, FG_EINVAL, "a note must have 1 to %d bytes of text",
				    NOTE_MAX_BYTES);
	FG_TRY(existing_project(store, project, &id, err));
	annotation->created_ns = fg_clock_wall_ns();
	return FG_QUERY_FIND(store->db, &annotation->id, err, FG_SQL_ANNOTATION_ADD, FG_BIND(id),
			     FG_BIND(annotation->run), FG_BIND(annotation->benchmark),
			     FG_BIND(annotation->metric), FG_BIND(annotation->kind),
			     FG_BIND(annotation->text), FG_BIND(annotation->author),
			     FG_BIND(annotation->created_ns));
}

int fg_store_annotations(struct fg_store *store, const char *project, const char *benchmark,
			 const char *run, struct fg_annotation_list *list, struct fg_error *err)
{
	struct fg_query q;
	int status = FG_OK;

	*list = (struct fg_annotation_list){0};
	FG_QUERY_WITH(&q, store->db, FG_SQL_ANNOTATION_LIST, FG_BIND(project), FG_BIND(benchmark),
		      FG_BIND(run));
	while ((status = fg_query_step(&q, err)) > 0) {
		FG_APPEND(list->items, list->count, list->capacity) = (struct fg_annotation){
			.id = fg_column_int(&q, 0),
			.run = fg_column_keep(&q, 1, &list->texts),
			.benchmark = fg_column_keep(&q, 2, &list->texts),
			.metric = fg_column_keep(&q, 3, &list->texts),
			.kind = fg_column_keep(&q, 4, &list->texts),
			.text = fg_column_keep(&q, 5, &list->texts),
			.author = fg_column_keep(&q, 6, &list->texts),
			.created_ns = fg_column_int(&q, 7),
		};
	}
	fg_query_end(&q);
	if (status != FG_OK)
		fg_annotation_list_release(list);
	return status;
}

int fg_store_annotation_delete(struct fg_store *store, const char *project, int64_t id,
			       struct fg_error *err)
{
	int64_t found = 0;
	int status = FG_OK;

	status = FG_QUERY_FIND(store->db, &found, err, FG_SQL_ANNOTATION_DELETE, FG_BIND(id),
			       FG_BIND(project));
	if (status == FG_ENOENT)
		status = fg_error_set(err, FG_ENOENT, "project '%s' has no annotation %lld",
				      project, (long long)id);
	return status;
}

void fg_annotation_list_release(struct fg_annotation_list *list)
{
	fg_arena_release(&list->texts);
	free(list->items);
	*list = (struct fg_annotation_list){0};
}
