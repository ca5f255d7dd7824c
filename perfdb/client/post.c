// SPDX-License-Identifier: Apache-2.0
#include "perfdb/client/post.h"

#include "base/clock.h"
#include "base/hash.h"
#include "perfdb/client/post_private.h"

#include <inttypes.h>

enum {
	DEFAULT_ATTEMPTS = 4,
	DEFAULT_TIMEOUT_S = 20,
	DEFAULT_LONGEST_WAIT_S = 60, /* as required by GitHub's secondary rate limit */
};

/* ---- webhook ---- */

static int call_webhook(struct fg_post *p, enum fg_post_result *result, struct fg_error *err)
{
	const size_t size = strlen(p->message->body);
	char *type = fg_xasprintf("Content-Type: %s", p->message->media_type);
	char *delivery = fg_xasprintf("X-Fastgate-Delivery: %s", p->message->run_id);
	char *signature = NULL;
	struct fg_http_reply reply = {0};
	int status = FG_OK;

	if (p->token) {
		char hex[FG_SHA256_HEX_SIZE];

		fg_hmac_sha256_hex(p->token, strlen(p->token), p->message->body, size, hex);
		signature = fg_xasprintf("X-Fastgate-Signature-256: sha256=%s", hex);
	}
	{
		const char *headers[] = {type, delivery, signature, NULL};

		status = fg_post_send(p,
				      &(struct fg_http_request){.method = "POST",
								.path = "",
								.headers = headers,
								.body = p->message->body,
								.body_size = size},
				      &reply, err);
	}
	if (status == FG_OK)
		*result = FG_POST_DELIVERED;
	fg_strbuf_release(&reply.body);
	free(signature);
	free(delivery);
	free(type);
	return status;
}

/* ---- all targets ---- */

enum need {
	NEEDS_NOTHING,
	NEEDS_REQUEST, /* a pull or merge request */
	NEEDS_COMMIT,
};

static const struct kind {
	const char *name;
	const char *value; /* NULL: any, because the value is an address */
	enum need need;
	const char *token_header;                                   /* NULL: "Authorization" */
	int (*find)(struct fg_post_job *job, struct fg_error *err); /* NULL: no CI job is needed */
	int (*deliver)(struct fg_post *p, enum fg_post_result *result, struct fg_error *err);
} kinds[] = {
	{
		.name = "github",
		.value = "pull-request-comment",
		.need = NEEDS_REQUEST,
		.find = fg_post_job_github,
		.deliver = fg_post_github_comment,
	},
	{
		.name = "github",
		.value = "commit-status",
		.need = NEEDS_COMMIT,
		.find = fg_post_job_github,
		.deliver = fg_post_github_status,
	},
	{
		.name = "github",
		.value = "check-run",
		.need = NEEDS_COMMIT,
		.find = fg_post_job_github,
		.deliver = fg_post_check_run,
	},
	{
		.name = "gitlab",
		.value = "merge-request-note",
		.need = NEEDS_REQUEST,
		.token_header = "PRIVATE-TOKEN",
		.find = fg_post_job_gitlab,
		.deliver = fg_post_gitlab_note,
	},
	{
		.name = "gitlab",
		.value = "commit-status",
		.need = NEEDS_COMMIT,
		.token_header = "PRIVATE-TOKEN",
		.find = fg_post_job_gitlab,
		.deliver = fg_post_gitlab_status,
	},
	{
		.name = "webhook",
		.need = NEEDS_NOTHING,
		.deliver = call_webhook,
	},
};

static const struct kind *find_kind(const struct fg_post_target *target)
{
	for (size_t i = 0; i < FG_ARRAY_SIZE(kinds); i++) {
		if (strcmp(kinds[i].name, target->kind) == 0 &&
		    (!kinds[i].value ||
		     (target->value && strcmp(kinds[i].value, target->value) == 0)))
			return &kinds[i];
	}
	return NULL;
}

static bool has_place(const struct fg_post_job *job, enum need need)
{
	switch (need) {
	case NEEDS_REQUEST:
		return job->api && (job->number > 0 || job->head);
	case NEEDS_COMMIT:
		return job->api && job->sha;
	case NEEDS_NOTHING:
		break;
	}
	return true;
}

static int try_until(struct fg_post *p, const struct kind *kind,
		     const struct fg_post_options *options, enum fg_post_result *result,
		     struct fg_error *err)
{
	const unsigned attempts = options->attempts ? options->attempts : DEFAULT_ATTEMPTS;
	struct fg_http_patience patience = {
		.first_wait_ns = options->first_wait_ns,
		.longest_wait_ns = options->longest_wait_ns ? options->longest_wait_ns
							    : DEFAULT_LONGEST_WAIT_S * FG_NS_PER_S,
		.interrupted = options->interrupted};
	int status = FG_OK;

	fg_http_patience_init(&patience);
	for (unsigned i = 1;; i++) {
		status = kind->deliver(p, result, err);
		if (status == FG_OK || status == FG_EINTERRUPTED || !p->may_pass || i >= attempts)
			return status;
		/* A retry before the end of a rate limit prolongs the limit. */
		if (p->retry_after_ns > patience.longest_wait_ns) {
			fg_error_prefix(err,
					"the server's rate limit ends in %" PRId64
					" s, too long to wait",
					p->retry_after_ns / FG_NS_PER_S);
			return status;
		}
		fg_http_wait(&patience, i, p->retry_after_ns);
	}
}

static int post_by(const struct kind *kind, struct fg_post *p, const struct fg_post_target *target,
		   const struct fg_post_options *options, enum fg_post_result *result,
		   struct fg_error *err)
{
	const struct fg_http_options server = {
		.url = kind->find ? p->job.api : target->value,
		.url_is_secret = !kind->find,
		.token = kind->find ? p->token : NULL,
		.token_header = kind->token_header,
		.timeout_ns =
			options->timeout_ns ? options->timeout_ns : DEFAULT_TIMEOUT_S * FG_NS_PER_S,
		.reply_max_bytes = kind->find ? FG_POST_REPLY_MAX_BYTES : 0,
		.interrupted = options->interrupted,
	};
	int status = fg_http_open(&server, &p->http, err);

	if (status == FG_OK)
		status = try_until(p, kind, options, result, err);
	fg_http_close(p->http);
	return status;
}

int fg_post(const struct fg_post_target *target, const struct fg_post_message *message,
	    const struct fg_post_options *options, enum fg_post_result *result,
	    struct fg_error *err)
{
	struct fg_post p = {.message = message, .token = fg_post_variable(target->token_env)};
	const struct kind *kind = find_kind(target);
	int status = FG_OK;

	*result = FG_POST_NOWHERE;
	if (!kind)
		return fg_error_set(err, FG_EINVAL, "cannot post to '%s': unknown target",
				    target->kind);
	if (kind->find)
		status = kind->find(&p.job, err);
	if (status != FG_OK || (kind->find && !has_place(&p.job, kind->need)))
		goto out;
	if (target->token_env && !p.token) {
		status = fg_error_set(err, FG_EINVAL, "$%s is not set: it must hold the token",
				      target->token_env);
		goto out;
	}
	status = post_by(kind, &p, target, options, result, err);
out:
	fg_post_job_release(&p.job);
	return status;
}
