// SPDX-License-Identifier: Apache-2.0
/*
 * Signing in and out.  The browser keeps the attempt in a cookie while it is at the identity
 * server's page, and the sign-in in another afterwards: any server on the database knows both.
 */
#include "base/clock.h"
#include "perfdb/identity/oidc.h"
#include "perfdb/protocol.h"
#include "perfdb/server/api/decision.h"
#include "perfdb/server/api/handlers.h"
#include "perfdb/server/limiter.h"
#include "perfdb/server/people.h"

enum {
	ATTEMPT_SECONDS = 600,
	SIGNING_IN_MAX = 4, /* requests that wait for the identity server */
	RANDOM_LENGTH = FG_OIDC_RANDOM_SIZE - 1,
	PATH_MAX_BYTES = 1000
};

#define ATTEMPT "_attempt"

int fg_handle_me(struct fg_request *rq, struct fg_error *err)
{
	struct fg_json_writer w;

	(void)err;
	fg_request_json(rq, &w);
	fg_json_begin_object(&w, NULL);
	fg_json_text(&w, "name", rq->author);
	fg_json_bool(&w, "is_person", rq->is_person);
	fg_json_bool(&w, "is_admitted", rq->grants.count > 0);
	fg_json_begin_array(&w, "grants");
	for (size_t i = 0; i < rq->grants.count; i++) {
		fg_json_begin_object(&w, NULL);
		fg_json_text(&w, "project", rq->grants.items[i].project);
		fg_json_text(&w, "scope", fg_scope_name(rq->grants.items[i].scope));
		fg_json_end(&w);
	}
	fg_json_end(&w);
	if (rq->server->oidc)
		fg_json_text(&w, "sign_in", FG_SIGN_IN_PATH);
	fg_json_end(&w);
	return FG_OK;
}

static int check_can_sign_in(struct fg_request *rq, struct fg_error *err)
{
	if (rq->server->oidc)
		return FG_OK;
	return fg_error_set(err, FG_ENOENT, "nobody signs in to this server: it takes tokens");
}

static int redirect(struct fg_request *rq, const char *where)
{
	rq->answer.status = 302;
	rq->answer.location = where;
	return FG_OK;
}

/* A page of this server, in characters that a cookie may hold; anything else: the front page. */
static const char *own_page(const char *path)
{
	static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				      "0123456789/?&=._~%#:+@-";

	if (!path || path[0] != '/' || path[1] == '/' || strlen(path) > PATH_MAX_BYTES ||
	    path[strspn(path, allowed)])
		return "/";
	return path;
}

static void add_html(struct fg_strbuf *text, const char *words)
{
	for (; *words; words++) {
		if (strchr("<>&\"'", *words))
			fg_strbuf_printf(text, "&#%d;", *words);
		else
			fg_strbuf_add_char(text, *words);
	}
}

/* A person reads this, not a program: a page of its own, without a script. */
static int show(struct fg_request *rq, int http_status, const char *title, const char *why)
{
	struct fg_strbuf *text = &rq->answer.text;

	rq->answer.status = http_status;
	rq->answer.type = "text/html; charset=utf-8";
	fg_strbuf_printf(text,
			 "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
			 "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
			 "<title>%s</title><link rel=\"icon\" href=\"/assets/icon.svg\">"
			 "<link rel=\"stylesheet\" href=\"/assets/style.css\">"
			 "<link rel=\"stylesheet\" href=\"/assets/pages.css\"></head>"
			 "<body><main><h1>%s</h1><p>",
			 title, title);
	add_html(text, why);
	fg_strbuf_add_text(text,
			   "</p><p><a href=\"/\">Back to perfdb</a></p></main></body></html>\n");
	return FG_OK;
}

/* Errors of the identity server, or of someone who pretends to be it. */
static int refuse(struct fg_request *rq, const struct fg_error *reason)
{
	if (reason->code == FG_ENET)
		return show(rq, 502, "Nobody can sign in now", reason->message);
	(void)fg_limiter_count(rq->server->failures, rq->client, fg_clock_monotonic_ns());
	return show(rq, 401, "Not signed in", reason->message);
}

/* A few requests at once may wait for the identity server; the others come again. */
static int take_turn(struct fg_request *rq, struct fg_error *err)
{
	const unsigned wait_s =
		fg_limiter_look(rq->server->failures, rq->client, fg_clock_monotonic_ns());

	if (wait_s) {
		rq->answer.retry_after_s = wait_s;
		return fg_request_refuse(rq, 429, err, "too many failed attempts in one minute");
	}
	if (atomic_fetch_add(&rq->server->signing_in, 1) < SIGNING_IN_MAX)
		return FG_OK;
	atomic_fetch_sub(&rq->server->signing_in, 1);
	return fg_request_refuse(rq, 503, err, "others are signing in: try again");
}

static void give_turn_back(struct fg_request *rq)
{
	atomic_fetch_sub(&rq->server->signing_in, 1);
}

int fg_handle_sign_in(struct fg_request *rq, struct fg_error *err)
{
	const char *page = own_page(fg_request_parameter(rq, "to"));
	struct fg_oidc_attempt attempt = {0};
	struct fg_error reason = {0};
	char *url = NULL;
	int status = check_can_sign_in(rq, err);

	if (status != FG_OK)
		return status;
	status = take_turn(rq, err);
	if (status != FG_OK)
		return status;
	status = fg_oidc_begin(rq->server->oidc, &attempt, &url, &reason);
	give_turn_back(rq);
	if (status != FG_OK) {
		reason.code = FG_ENET; /* not the visitor's fault, whatever it is */
		return refuse(rq, &reason);
	}
	rq->answer.cookies[0] =
		fg_people_cookie(rq, ATTEMPT,
				 fg_arena_printf(&rq->arena, "%s.%s.%s.%s", attempt.state,
						 attempt.nonce, attempt.verifier, page),
				 ATTEMPT_SECONDS);
	status = redirect(rq, fg_arena_strdup(&rq->arena, url));
	free(url);
	return status;
}

/* False: the browser sent no sign-in attempt, or something else. */
static bool read_attempt(struct fg_request *rq, struct fg_oidc_attempt *attempt, const char **page)
{
	char *const parts[] = {attempt->state, attempt->nonce, attempt->verifier};
	const char *text = fg_people_kept(rq, ATTEMPT);

	for (size_t i = 0; text && i < FG_ARRAY_SIZE(parts); i++) {
		if (strspn(text, "0123456789abcdef") != RANDOM_LENGTH || text[RANDOM_LENGTH] != '.')
			return false;
		memcpy(parts[i], text, RANDOM_LENGTH);
		text += RANDOM_LENGTH + 1;
	}
	*page = own_page(text);
	return text != NULL;
}

static void add_name(void *context, const char *name, bool is_group)
{
	fg_person_add(context, name, is_group);
}

static int keep_sign_in(struct fg_request *rq, const struct fg_person *person,
			char text[FG_SIGN_IN_TEXT_SIZE], struct fg_error *err)
{
	const int64_t expires_ns = fg_clock_wall_ns() + rq->server->options.sign_in_ns;
	const struct fg_audit_entry entry = {.action = "sign-in", .subject = person->names[0]};
	int status = FG_OK;

	rq->author = fg_arena_strdup(&rq->arena, person->names[0]);
	rq->who = rq->author;
	status = fg_decision_begin(rq, err);
	if (status != FG_OK)
		return status;
	status = fg_store_sign_in(rq->store, person, expires_ns, text, err);
	return fg_decision_end(rq, status, &entry, err);
}

/* Asks the identity server whom this code stands for. */
static int identify(struct fg_request *rq, const struct fg_oidc_attempt *attempt,
		    struct fg_person *person, struct fg_error *err)
{
	const char *code = fg_request_parameter(rq, "code");
	const char *failure = fg_request_parameter(rq, "error");
	int status = FG_OK;

	if (!code)
		return fg_error_set(err, FG_EPARSE, "the identity server says '%.100s'",
				    failure ? failure : "");
	status = fg_oidc_finish(rq->server->oidc, attempt, code, add_name, person, err);
	if (status != FG_OK)
		return status;
	if (person->name_count == 0)
		return fg_error_set(err, FG_EPARSE, "the person's name is too long");
	return FG_OK;
}

static int finish(struct fg_request *rq, const struct fg_person *person, const char *page,
		  struct fg_error *err)
{
	char text[FG_SIGN_IN_TEXT_SIZE] = "";
	const int status = keep_sign_in(rq, person, text, err);

	if (status != FG_OK)
		return status;
	rq->answer.cookies[0] =
		fg_people_cookie(rq, "", text, rq->server->options.sign_in_ns / FG_NS_PER_S);
	rq->answer.cookies[1] = fg_people_cookie(rq, ATTEMPT, "", 0);
	explicit_bzero(text, sizeof(text));
	return redirect(rq, fg_arena_strdup(&rq->arena, page));
}

int fg_handle_sign_in_done(struct fg_request *rq, struct fg_error *err)
{
	const char *state = fg_request_parameter(rq, "state");
	struct fg_oidc_attempt attempt = {0};
	struct fg_person person = {0};
	struct fg_error reason = {0};
	const char *page = "/";
	int status = check_can_sign_in(rq, err);

	if (status != FG_OK)
		return status;
	if (!read_attempt(rq, &attempt, &page) || !state || strcmp(state, attempt.state) != 0) {
		(void)fg_error_set(
			&reason, FG_EPARSE,
			"this browser began no such sign-in, or more than ten minutes ago");
		return refuse(rq, &reason);
	}
	status = take_turn(rq, err);
	if (status != FG_OK)
		return status;
	status = identify(rq, &attempt, &person, &reason);
	give_turn_back(rq);
	status = status == FG_OK ? finish(rq, &person, page, err) : refuse(rq, &reason);
	fg_person_release(&person);
	return status;
}

int fg_handle_sign_out(struct fg_request *rq, struct fg_error *err)
{
	const char *cookie = fg_people_kept(rq, "");
	int status = check_can_sign_in(rq, err);

	if (status != FG_OK)
		return status;
	if (cookie) {
		status = fg_store_sign_out(rq->store, cookie, NULL, err);
		if (status != FG_OK)
			return status;
	}
	rq->answer.cookies[0] = fg_people_cookie(rq, "", "", 0);
	fg_decision_answer(rq, "signed", "out", 0);
	return FG_OK;
}
