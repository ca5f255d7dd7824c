// SPDX-License-Identifier: Apache-2.0
/* Sends one request of a post, and notes whether its failure is temporary. */
#include "perfdb/client/post_private.h"

int fg_post_send(struct fg_post *p, const struct fg_http_request *request,
		 struct fg_http_reply *reply, struct fg_error *err)
{
	int status = FG_OK;

	p->retry_after_ns = -1;
	p->may_pass = true;
	FG_TRY(fg_http_send(p->http, request, reply, err));
	p->retry_after_ns = reply->retry_after_ns;
	if (reply->status >= 200 && reply->status < 300)
		return FG_OK;
	/* A rate limit that says when it ends is temporary; GitHub answers 403 or 429. */
	p->may_pass = fg_http_is_passing(reply->status) ||
		      (reply->status == 403 && reply->retry_after_ns >= 0);
	status = fg_http_describe(p->http, reply, err);
	if (reply->status == 403 && !p->may_pass)
		fg_error_prefix(
			err,
			"the token may not write there (tokens of pull requests from forks may "
			"not)");
	return status;
}

int fg_post_get(struct fg_post *p, const char *path, const char *what, cJSON **json,
		struct fg_error *err)
{
	static const char *const headers[] = {"Accept: application/json", NULL};
	const struct fg_http_request request = {.method = "GET", .path = path, .headers = headers};
	struct fg_http_reply reply = {0};
	int status = fg_post_send(p, &request, &reply, err);

	if (status == FG_OK && (reply.body.cut || !reply.body.data ||
				fg_json_parse(reply.body.data, reply.body.length,
					      FG_POST_REPLY_MAX_BYTES, json, NULL) != FG_OK ||
				(!cJSON_IsArray(*json) && !cJSON_IsObject(*json)))) {
		p->may_pass = false;
		status = fg_error_set(err, FG_EPARSE, "%s: expected a JSON array or object", what);
	}
	fg_strbuf_release(&reply.body);
	return status;
}

int fg_post_put(struct fg_post *p, const char *method, const char *path,
		const struct fg_strbuf *body, struct fg_error *err)
{
	static const char *const headers[] = {"Content-Type: application/json",
					      "Accept: application/json", NULL};
	const struct fg_http_request request = {.method = method,
						.path = path,
						.headers = headers,
						.body = body->data,
						.body_size = body->length};
	struct fg_http_reply reply = {0};
	const int status = fg_post_send(p, &request, &reply, err);

	fg_strbuf_release(&reply.body);
	return status;
}
