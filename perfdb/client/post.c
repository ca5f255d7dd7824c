// SPDX-License-Identifier: Apache-2.0
#include "perfdb/client/post.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/json_write.h"
#include "base/text.h"
#include "perfdb/client/http.h"

#include <ctype.h>
#include <inttypes.h>

enum {
	DEFAULT_ATTEMPTS = 4,
	DEFAULT_TIMEOUT_S = 20,
	PAGE_SIZE = 100,
	MAX_PAGES = 50,
	/* 100 comments of 65,536 characters, some of which take several bytes. */
	PAGE_MAX_BYTES = 32 << 20,
	EVENT_MAX_BYTES = 32 << 20,
};

/* Where a target leads to from here.  `url` NULL: nowhere. */
struct place {
	char *url;
	char *thread; /* comments are listed and made there */
	char *single; /* "/…/": with a comment's id behind it, that one */
	const char *edit_method;
	const char *token_header;
};

struct post {
	const struct fg_post_message *message;
	struct place place;
	const char *token; /* NULL: none */
	struct fg_http *http;
	int64_t retry_after_ns;
	bool may_pass; /* the last failure */
};

static const char *variable(const char *name)
{
	const char *value = name ? getenv(name) : NULL;

	return value && *value ? value : NULL;
}

/* ---- where ---- */

/* "owner/name" and numbers become part of a path: nothing else may be in them. */
static bool is_made_of(const char *text, const char *signs)
{
	for (; *text; text++) {
		if (!(isascii((unsigned char)*text) && isalnum((unsigned char)*text)) &&
		    !strchr(signs, *text))
			return false;
	}
	return true;
}

static bool is_number(const char *text)
{
	return *text && strspn(text, "0123456789") == strlen(text) && strlen(text) < 19;
}

static int64_t number_of_event(const char *path)
{
	char *data = NULL;
	size_t size = 0;
	cJSON *json = NULL;
	int64_t number = 0;

	if (!path || fg_fs_read(path, EVENT_MAX_BYTES, &data, &size, NULL) != FG_OK)
		return 0;
	if (fg_json_parse(data, size, EVENT_MAX_BYTES, &json, NULL) == FG_OK &&
	    fg_json_get_int64(json, "pull_request/number", &number, NULL) != FG_OK)
		number = 0;
	cJSON_Delete(json);
	free(data);
	return number;
}

/* "refs/pull/7/merge" */
static int64_t number_of_ref(const char *ref)
{
	static const char start[] = "refs/pull/";
	int64_t number = 0;

	if (!ref || !fg_text_starts_with(ref, start))
		return 0;
	for (ref += strlen(start); isdigit((unsigned char)*ref) && number < INT32_MAX; ref++)
		number = number * 10 + (*ref - '0');
	return *ref == '/' ? number : 0;
}

static int find_github(struct place *place, struct fg_error *err)
{
	const char *api = variable("GITHUB_API_URL");
	const char *repository = variable("GITHUB_REPOSITORY");
	int64_t number = number_of_event(variable("GITHUB_EVENT_PATH"));

	if (number <= 0)
		number = number_of_ref(variable("GITHUB_REF"));
	if (!repository || number <= 0)
		return FG_OK;
	if (!strchr(repository, '/') || !is_made_of(repository, "/-_.") || strstr(repository, ".."))
		return fg_error_set(err, FG_EINVAL, "GITHUB_REPOSITORY is no OWNER/NAME");
	place->url = fg_xstrdup(api ? api : "https://api.github.com");
	place->thread = fg_xasprintf("/repos/%s/issues/%" PRId64 "/comments", repository, number);
	place->single = fg_xasprintf("/repos/%s/issues/comments/", repository);
	place->edit_method = "PATCH";
	return FG_OK;
}

static int find_gitlab(struct place *place, struct fg_error *err)
{
	const char *api = variable("CI_API_V4_URL");
	const char *project = variable("CI_PROJECT_ID");
	const char *request = variable("CI_MERGE_REQUEST_IID");

	if (!api || !project || !request)
		return FG_OK;
	if (!is_number(project) || !is_number(request))
		return fg_error_set(err, FG_EINVAL,
				    "CI_PROJECT_ID and CI_MERGE_REQUEST_IID are no numbers");
	place->url = fg_xstrdup(api);
	place->thread = fg_xasprintf("/projects/%s/merge_requests/%s/notes", project, request);
	place->single = fg_xasprintf("%s/", place->thread);
	place->edit_method = "PUT";
	place->token_header = "PRIVATE-TOKEN";
	return FG_OK;
}

static void release_place(struct place *place)
{
	free(place->url);
	free(place->thread);
	free(place->single);
	*place = (struct place){0};
}

/* ---- one request ---- */

static int send_it(struct post *p, const struct fg_http_request *request,
		   struct fg_http_reply *reply, struct fg_error *err)
{
	int rc = FG_OK;

	p->retry_after_ns = -1;
	p->may_pass = true;
	rc = fg__http_send(p->http, request, reply, err);
	if (rc != FG_OK)
		return rc;
	p->retry_after_ns = reply->retry_after_ns;
	if (reply->status >= 200 && reply->status < 300)
		return FG_OK;
	/* A limit that will end says when; GitHub answers 403 for one, too. */
	p->may_pass = fg__http_is_passing(reply->status) ||
		      (reply->status == 403 && reply->retry_after_ns >= 0);
	rc = fg__http_describe(p->http, reply, err);
	if (reply->status == 403 && !p->may_pass)
		fg_error_prefix(
			err,
			"the token may not write there (those of pull requests from forks may not)");
	return rc;
}

/* The id of our comment on one page, 0 for none; and whether it was the last page. */
static int look_at_page(struct post *p, unsigned page, int64_t *id, bool *is_last,
			struct fg_error *err)
{
	static const char *const headers[] = {"Accept: application/json", NULL};
	char *path = fg_xasprintf("%s?per_page=%d&page=%u", p->place.thread, (int)PAGE_SIZE, page);
	const struct fg_http_request request = {.method = "GET", .path = path, .headers = headers};
	struct fg_http_reply reply = {0};
	const cJSON *comment = NULL;
	cJSON *json = NULL;
	int rc = send_it(p, &request, &reply, err);

	if (rc == FG_OK && (reply.body.cut || !reply.body.data ||
			    fg_json_parse(reply.body.data, reply.body.length, PAGE_MAX_BYTES, &json,
					  NULL) != FG_OK ||
			    !cJSON_IsArray(json))) {
		p->may_pass = false;
		rc = fg_error_set(err, FG_EPARSE, "the list of comments is not what was expected");
	}
	if (rc == FG_OK) {
		*is_last = cJSON_GetArraySize(json) < PAGE_SIZE;
		cJSON_ArrayForEach(comment, json)
		{
			if (*id == 0 &&
			    fg_text_starts_with(fg_json_text_or(comment, "body", ""),
						p->message->marker) &&
			    fg_json_get_int64(comment, "id", id, NULL) != FG_OK)
				*id = 0;
		}
	}
	cJSON_Delete(json);
	fg_strbuf_release(&reply.body);
	free(path);
	return rc;
}

static int find_comment(struct post *p, int64_t *id, struct fg_error *err)
{
	bool is_last = false;
	int rc = FG_OK;

	*id = 0;
	for (unsigned page = 1; rc == FG_OK && *id == 0 && !is_last; page++) {
		if (page > MAX_PAGES) {
			p->may_pass = false;
			return fg_error_set(err, FG_ELIMIT,
					    "more than %d comments, none of the first ones ours",
					    PAGE_SIZE * MAX_PAGES);
		}
		rc = look_at_page(p, page, id, &is_last, err);
	}
	return rc;
}

static int write_comment(struct post *p, enum fg_post_result *result, struct fg_error *err)
{
	static const char *const headers[] = {"Content-Type: application/json",
					      "Accept: application/json", NULL};
	struct fg_http_reply reply = {0};
	struct fg_strbuf body = {0};
	struct fg_json_writer w;
	char *path = NULL;
	int64_t id = 0;
	int rc = find_comment(p, &id, err);

	if (rc != FG_OK)
		return rc;
	fg_json_writer_init(&w, &body, 0);
	fg_json_begin_object(&w, NULL);
	fg_json_text(&w, "body", p->message->comment);
	fg_json_end(&w);
	path = id ? fg_xasprintf("%s%" PRId64, p->place.single, id) : fg_xstrdup(p->place.thread);
	rc = send_it(p,
		     &(struct fg_http_request){id ? p->place.edit_method : "POST", path, headers,
					       body.data, body.length},
		     &reply, err);
	if (rc == FG_OK)
		*result = id ? FG_POST_UPDATED : FG_POST_CREATED;
	fg_strbuf_release(&reply.body);
	fg_strbuf_release(&body);
	free(path);
	return rc;
}

static int call_webhook(struct post *p, enum fg_post_result *result, struct fg_error *err)
{
	const size_t size = strlen(p->message->json);
	char *delivery = fg_xasprintf("X-Fastgate-Delivery: %s", p->message->run_id);
	char *signature = NULL;
	struct fg_http_reply reply = {0};
	int rc = FG_OK;

	if (p->token) {
		char hex[FG_SHA256_HEX_SIZE];

		fg_hmac_sha256_hex(p->token, strlen(p->token), p->message->json, size, hex);
		signature = fg_xasprintf("X-Fastgate-Signature-256: sha256=%s", hex);
	}
	{
		const char *headers[] = {"Content-Type: application/json", delivery, signature,
					 NULL};

		rc = send_it(p,
			     &(struct fg_http_request){"POST", "", headers, p->message->json, size},
			     &reply, err);
	}
	if (rc == FG_OK)
		*result = FG_POST_DELIVERED;
	fg_strbuf_release(&reply.body);
	free(signature);
	free(delivery);
	return rc;
}

/* ---- all of it ---- */

static const struct kind {
	const char *name;
	int (*find)(struct place *place, struct fg_error *err); /* NULL: the target says it */
	int (*deliver)(struct post *p, enum fg_post_result *result, struct fg_error *err);
} kinds[] = {
	{"github",  find_github, write_comment},
	{"gitlab",  find_gitlab, write_comment},
	{"webhook", NULL,        call_webhook },
};

static int try_until(struct post *p, const struct kind *kind, const struct fg_post_options *options,
		     enum fg_post_result *result, struct fg_error *err)
{
	const unsigned attempts = options->attempts ? options->attempts : DEFAULT_ATTEMPTS;
	struct fg_http_patience patience = {.first_wait_ns = options->first_wait_ns,
					    .longest_wait_ns = options->longest_wait_ns,
					    .interrupted = options->interrupted};
	int rc = FG_OK;

	fg__http_patience_init(&patience);
	for (unsigned i = 1;; i++) {
		rc = kind->deliver(p, result, err);
		if (rc == FG_OK || rc == FG_EINTERRUPTED || !p->may_pass || i >= attempts)
			return rc;
		fg__http_wait(&patience, i, p->retry_after_ns);
	}
}

static int post_by(const struct kind *kind, struct post *p, const struct fg_post_target *target,
		   const struct fg_post_options *options, enum fg_post_result *result,
		   struct fg_error *err)
{
	const struct fg_http_options server = {
		.url = p->place.url ? p->place.url : target->value,
		.url_is_secret = !kind->find,
		.token = kind->find ? p->token : NULL,
		.token_header = p->place.token_header,
		.timeout_ns =
			options->timeout_ns ? options->timeout_ns : DEFAULT_TIMEOUT_S * FG_NS_PER_S,
		.reply_max_bytes = kind->find ? PAGE_MAX_BYTES : 0,
		.interrupted = options->interrupted,
	};
	int rc = fg__http_open(&server, &p->http, err);

	if (rc == FG_OK)
		rc = try_until(p, kind, options, result, err);
	fg__http_close(p->http);
	return rc;
}

int fg_post(const struct fg_post_target *target, const struct fg_post_message *message,
	    const struct fg_post_options *options, enum fg_post_result *result,
	    struct fg_error *err)
{
	struct post p = {.message = message, .token = variable(target->token_env)};
	const struct kind *kind = NULL;
	int rc = FG_OK;

	for (size_t i = 0; i < FG_ARRAY_SIZE(kinds); i++) {
		if (strcmp(kinds[i].name, target->kind) == 0)
			kind = &kinds[i];
	}
	if (!kind)
		return fg_error_set(err, FG_EINVAL, "nothing is posted to '%s'", target->kind);
	if (kind->find)
		rc = kind->find(&p.place, err);
	if (rc == FG_OK && kind->find && !p.place.url) {
		*result = FG_POST_NOWHERE;
		return FG_OK;
	}
	if (rc == FG_OK && target->token_env && !p.token)
		rc = fg_error_set(err, FG_EINVAL, "$%s is not set: there is no token",
				  target->token_env);
	if (rc == FG_OK)
		rc = post_by(kind, &p, target, options, result, err);
	release_place(&p.place);
	return rc;
}
