// SPDX-License-Identifier: Apache-2.0
/* Sends the files of a spool; client.c defines how one run is sent. */
#include "base/fs.h"
#include "base/json.h"
#include "base/text.h"
#include "perfdb/client/push_private.h"
#include "perfdb/protocol.h"

#include <unistd.h>

enum {
	DEFAULT_ATTEMPTS = 5,
};

static bool is_interrupted(const struct fg_push *p)
{
	return p->options->interrupted && *p->options->interrupted;
}

static void report_progress(const struct fg_push *p, const char *file, const char *what)
{
	if (p->options->on_progress)
		p->options->on_progress(p->options->context, file, what);
}

/* Judges a reply by its status alone. */
static enum fg_push_outcome classify(long status)
{
	if (status == FG_HTTP_CREATED)
		return FG_PUSH_SENT;
	if (status == FG_HTTP_OK)
		return FG_PUSH_KNOWN;
	if (status == 401 || status == 403 || (status >= 300 && status < 400) || status == 404)
		return FG_PUSH_REFUSED;
	return fg_http_is_passing(status) ? FG_PUSH_LATER : FG_PUSH_REJECTED;
}

static bool confirms(const struct fg_http_reply *reply, const char *id, const char *digest)
{
	cJSON *json = NULL;
	bool is_named = false;

	if (!reply->body.length || fg_json_parse(reply->body.data, reply->body.length,
						 reply->body.length, &json, NULL) != FG_OK)
		return false;
	is_named = strcmp(fg_json_text_or(json, "run", ""), id) == 0 &&
		   strcmp(fg_json_text_or(json, "digest", ""), digest) == 0;
	cJSON_Delete(json);
	return is_named;
}

enum fg_push_outcome fg_push_judge(struct fg_push *p, const char *id, const char *digest,
				   const struct fg_http_reply *reply, struct fg_error *err)
{
	const enum fg_push_outcome outcome = classify(reply->status);

	if (outcome != FG_PUSH_SENT && outcome != FG_PUSH_KNOWN) {
		(void)fg_http_describe(p->http, reply, err);
		return outcome;
	}
	if (confirms(reply, id, digest))
		return outcome;
	(void)fg_error_set(
		err, FG_ENET,
		"%s answered %ld without confirming the run: is this a perfdb server of the "
		"same version?",
		p->options->url, reply->status);
	return FG_PUSH_REFUSED;
}

enum fg_push_outcome fg_push_deliver(struct fg_push *p, const char *name,
				     fg_push_attempt *attempt_it, void *what, struct fg_error *err)
{
	const unsigned attempts = p->options->attempts ? p->options->attempts : DEFAULT_ATTEMPTS;
	enum fg_push_outcome outcome = FG_PUSH_LATER;

	for (unsigned i = 1; i <= attempts && !is_interrupted(p); i++) {
		int64_t retry_after_ns = -1;

		outcome = attempt_it(p, what, &retry_after_ns, err);
		if (outcome != FG_PUSH_LATER || i == attempts || is_interrupted(p))
			break;
		report_progress(p, name, err->message);
		p->result.retries++;
		fg_http_wait(&p->patience, i, retry_after_ns);
	}
	return outcome;
}

static int open_server(const struct fg_push_options *options, struct fg_http **http,
		       struct fg_error *err)
{
	const struct fg_http_options server = {.url = options->url,
					       .token = options->token,
					       .ca_file = options->ca_file,
					       .timeout_ns = options->timeout_ns,
					       .interrupted = options->interrupted};

	if (!options->url || !*options->url)
		return fg_error_set(
			err, FG_EINVAL,
			"no perfdb server is configured: set perfdb.url in fastgate.yml or "
			"PERFDB_URL, or give --url");
	return fg_http_open(&server, http, err);
}

/* The server will never accept this file: keep it under another name. */
static void reject(struct fg_push *p, const char *path)
{
	char *new_path = fg_xasprintf("%s" FG_PUSH_REJECTED_ENDING, path);

	(void)rename(path, new_path);
	free(new_path);
	p->result.rejected++;
}

static enum fg_push_outcome push_file(struct fg_push *p, fg_push_send *send, const char *path,
				      const char *name)
{
	struct fg_error err = {0};
	const enum fg_push_outcome outcome = send(p, path, name, &err);

	if (outcome == FG_PUSH_SENT || outcome == FG_PUSH_KNOWN) {
		(void)unlink(path);
		p->result.sent += outcome == FG_PUSH_SENT;
		p->result.known += outcome == FG_PUSH_KNOWN;
		report_progress(p, name,
				outcome == FG_PUSH_SENT ? "sent" : "already on the server");
		return outcome;
	}
	if (p->reason.code == FG_OK)
		p->reason = err;
	report_progress(p, name, err.message);
	if (outcome == FG_PUSH_REJECTED)
		reject(p, path);
	return outcome;
}

static bool is_run(const char *name)
{
	return strlen(name) == FG_PUSH_ID_LENGTH + strlen(FG_WIRE_FILE_ENDING) &&
	       fg_text_ends_with(name, FG_WIRE_FILE_ENDING);
}

static void push_all(struct fg_push *p, fg_push_send *send, const char *folder, char **names,
		     size_t count)
{
	enum fg_push_outcome outcome = FG_PUSH_SENT;

	for (size_t i = 0; i < count && !is_interrupted(p); i++) {
		char *path = is_run(names[i]) ? fg_fs_join(folder, names[i]) : NULL;

		if (path)
			outcome = push_file(p, send, path, names[i]);
		free(path);
		if (outcome == FG_PUSH_LATER || outcome == FG_PUSH_REFUSED)
			return;
	}
}

static int report_remaining(const struct fg_push *p, struct fg_error *err)
{
	if (is_interrupted(p))
		return fg_error_set(err, FG_EINTERRUPTED, "interrupted: runs not sent yet: %zu",
				    p->result.waiting);
	if (p->result.waiting || p->result.rejected)
		return fg_error_set(err, FG_ENET, "%s",
				    *p->reason.message ? p->reason.message
						       : "runs are left in the spool");
	return FG_OK;
}

static int push_names(struct fg_push *p, fg_push_send *send, const char *folder, char **names,
		      size_t count, struct fg_error *err)
{
	struct fg_spool_status left = {0};

	if (count > 0)
		FG_TRY(open_server(p->options, &p->http, err));
	push_all(p, send, folder, names, count);
	FG_TRY(fg_spool_status(folder, &left, err));
	p->result.waiting = left.waiting;
	return report_remaining(p, err);
}

int fg_push_files(fg_push_send *send, const char *folder, const struct fg_push_options *options,
		  struct fg_push_result *result, struct fg_error *err)
{
	struct fg_push p = {.options = options,
			    .patience = {.first_wait_ns = options->first_wait_ns,
					 .longest_wait_ns = options->longest_wait_ns,
					 .interrupted = options->interrupted}};
	char **names = NULL;
	size_t count = 0;
	int status = fg_spool_names(folder, &names, &count, err);

	*result = (struct fg_push_result){0};
	if (status != FG_OK)
		return status;
	fg_http_patience_init(&p.patience);
	status = push_names(&p, send, folder, names, count, err);
	*result = p.result;
	fg_http_close(p.http);
	fg_fs_list_free(names, count);
	return status;
}
