// SPDX-License-Identifier: Apache-2.0
#include "perfdb/client/client.h"

#include "base/fs.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/text.h"
#include "perfdb/client/push_private.h"
#include "perfdb/protocol.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	DEFAULT_ATTEMPTS = 5,
};

#define REJECTED_ENDING ".rejected"

int fg_spool_add(const char *folder, const char *id, const void *data, size_t size,
		 struct fg_error *err)
{
	char *name = fg_xasprintf("%s%s", id, FG_WIRE_FILE_ENDING);
	char *path = fg_fs_join(folder, name);
	int status = FG_OK;

	FG_ASSERT(strlen(id) == FG_PUSH_ID_LENGTH && !strchr(id, '/'));
	if (!fg_fs_is_folder(folder))
		status = fg_fs_make_folders(folder, FG_SPOOL_FOLDER_MODE, err);
	if (status == FG_OK)
		status = fg_fs_write_atomic(path, data, size, FG_SPOOL_FILE_MODE, err);
	free(path);
	free(name);
	return status;
}

/* Names in the spool, in order: ids are ordered by time, so the oldest comes first. */
int fg_spool_names(const char *folder, char ***names, size_t *count, struct fg_error *err)
{
	*names = NULL;
	*count = 0;
	if (!fg_fs_is_folder(folder))
		return FG_OK;
	return fg_fs_list(folder, names, count, err);
}

int fg_spool_status(const char *folder, struct fg_spool_status *status, struct fg_error *err)
{
	struct fg_spool_status s = {0};
	char **names = NULL;
	size_t count = 0;
	const int result = fg_spool_names(folder, &names, &count, err);

	if (result != FG_OK)
		return result;
	for (size_t i = 0; i < count; i++) {
		char *path = fg_fs_join(folder, names[i]);
		struct stat file = {0};

		if (fg_text_ends_with(names[i], REJECTED_ENDING)) {
			s.rejected++;
		} else if (fg_text_ends_with(names[i], FG_WIRE_ARCHIVE_ENDING)) {
			s.archives++;
			if (stat(path, &file) == 0)
				s.archive_bytes += (uint64_t)file.st_size;
		} else if (fg_text_ends_with(names[i], FG_WIRE_FILE_ENDING)) {
			s.waiting++;
			if (stat(path, &file) == 0)
				s.waiting_bytes += (uint64_t)file.st_size;
		}
		free(path);
	}
	fg_fs_list_free(names, count);
	*status = s;
	return FG_OK;
}

bool fg_push_is_interrupted(const struct fg_push *p)
{
	return p->options->interrupted && *p->options->interrupted;
}

void fg_push_tell(const struct fg_push *p, const char *file, const char *what)
{
	if (p->options->tell)
		p->options->tell(p->options->context, file, what);
}

void fg_push_keep_reason(struct fg_push *p, const struct fg_error *err)
{
	if (p->reason.code == FG_OK)
		p->reason = *err;
}

enum fg_push_outcome fg_push_classify(long status)
{
	if (status == FG_HTTP_CREATED)
		return FG_PUSH_SENT;
	if (status == FG_HTTP_OK)
		return FG_PUSH_KNOWN;
	if (status == FG_HTTP_NO_DICTIONARY)
		return FG_PUSH_NO_DICTIONARY;
	if (status == 401 || status == 403 || (status >= 300 && status < 400) || status == 404)
		return FG_PUSH_REFUSED;
	return fg_http_is_passing(status) ? FG_PUSH_LATER : FG_PUSH_REJECTED;
}

struct parcel {
	struct fg_wire wire;
	char id[FG_PUSH_ID_LENGTH + 1];
	char *dictionary; /* its hash */
};

/*
 * Anything may stand between us and the server, and answer 200: a login page, a cache.  Only a
 * reply that names the run and its content confirms it.
 */
static bool is_confirmed(const struct parcel *parcel, const struct fg_http_reply *reply)
{
	char digest[FG_SHA256_HEX_SIZE];
	cJSON *json = NULL;
	bool is_ours = false;

	if (!reply->body.length || fg_json_parse(reply->body.data, reply->body.length,
						 reply->body.length, &json, NULL) != FG_OK)
		return false;
	fg_wire_digest(&parcel->wire, digest);
	is_ours = strcmp(fg_json_text_or(json, "run", ""), parcel->id) == 0 &&
		  strcmp(fg_json_text_or(json, "digest", ""), digest) == 0;
	cJSON_Delete(json);
	return is_ours;
}

static enum fg_push_outcome post(struct fg_push *p, const struct parcel *parcel,
				 bool with_dictionary, int64_t *retry_after_ns,
				 struct fg_error *err)
{
	struct fg_wire wire = parcel->wire;
	struct fg_strbuf body = {0};
	struct fg_http_reply reply = {0};
	char hash[FG_SHA256_HEX_SIZE];
	char *key = fg_xasprintf(FG_WIRE_KEY_HEADER ": %s", parcel->id);
	char *digest = NULL;
	const char *headers[] = {"Content-Type: " FG_WIRE_MEDIA_TYPE, key, NULL, NULL};
	enum fg_push_outcome outcome = FG_PUSH_LATER;

	if (!with_dictionary)
		wire.dictionary_size = 0;
	if (fg_wire_write(&wire, &body, err) != FG_OK) {
		free(key);
		return FG_PUSH_REJECTED;
	}
	fg_sha256_hex(body.data, body.length, hash);
	digest = fg_xasprintf(FG_WIRE_HASH_HEADER ": %s", hash);
	headers[2] = digest;
	if (fg_http_send(p->http,
			 &(struct fg_http_request){.method = "POST",
						   .path = FG_WIRE_RUNS,
						   .headers = headers,
						   .body = body.data,
						   .body_size = body.length},
			 &reply, err) == FG_OK) {
		outcome = fg_push_classify(reply.status);
		*retry_after_ns = reply.retry_after_ns;
		p->result.bytes += body.length;
		if (outcome != FG_PUSH_SENT && outcome != FG_PUSH_KNOWN) {
			(void)fg_http_describe(p->http, &reply, err);
		} else if (!is_confirmed(parcel, &reply)) {
			outcome = FG_PUSH_REFUSED;
			(void)fg_error_set(
				err, FG_ENET,
				"%s answered %ld without confirming the run: is this a perfdb server of this version?",
				p->options->url, reply.status);
		}
	}
	fg_strbuf_release(&reply.body);
	fg_strbuf_release(&body);
	free(digest);
	free(key);
	return outcome;
}

/* Does the server know the dictionary?  No answer counts as no: sending it is never wrong. */
static bool is_dictionary_known(struct fg_push *p, const struct parcel *parcel)
{
	char *path = fg_xasprintf("%s%s", FG_WIRE_DICTIONARY, parcel->dictionary);
	struct fg_http_reply reply = {0};
	const bool known =
		fg_http_send(p->http, &(struct fg_http_request){.method = "HEAD", .path = path},
			     &reply, NULL) == FG_OK &&
		reply.status == FG_HTTP_OK;

	fg_strbuf_release(&reply.body);
	free(path);
	return known;
}

static enum fg_push_outcome attempt(struct fg_push *p, const void *what, int64_t *retry_after_ns,
				    struct fg_error *err)
{
	const struct parcel *parcel = what;
	enum fg_push_outcome outcome = FG_PUSH_NO_DICTIONARY;

	if (is_dictionary_known(p, parcel))
		outcome = post(p, parcel, false, retry_after_ns, err);
	if (outcome == FG_PUSH_NO_DICTIONARY)
		outcome = post(p, parcel, true, retry_after_ns, err);
	return outcome == FG_PUSH_NO_DICTIONARY ? FG_PUSH_REJECTED : outcome;
}

enum fg_push_outcome fg_push_deliver(struct fg_push *p, const char *name,
				     fg_push_attempt *attempt_it, const void *what,
				     struct fg_error *err)
{
	const unsigned attempts = p->options->attempts ? p->options->attempts : DEFAULT_ATTEMPTS;
	enum fg_push_outcome outcome = FG_PUSH_LATER;

	for (unsigned i = 1; i <= attempts && !fg_push_is_interrupted(p); i++) {
		int64_t retry_after_ns = -1;

		outcome = attempt_it(p, what, &retry_after_ns, err);
		if (outcome != FG_PUSH_LATER || i == attempts || fg_push_is_interrupted(p))
			break;
		fg_push_tell(p, name, err->message);
		p->result.retries++;
		fg_http_wait(&p->patience, i, retry_after_ns);
	}
	return outcome;
}

static int open_parcel(const char *path, const char *name, char **data, struct parcel *parcel,
		       struct fg_error *err)
{
	size_t size = 0;
	cJSON *json = NULL;
	const char *hash = NULL;
	int status = fg_fs_read(path, FG_WIRE_MAX_BYTES, data, &size, err);

	if (status != FG_OK)
		goto out;
	status = fg_wire_read(*data, size, &parcel->wire, err);
	if (status != FG_OK)
		goto out;
	status = fg_json_parse(parcel->wire.envelope, parcel->wire.envelope_size, FG_WIRE_MAX_BYTES,
			       &json, err);
	if (status != FG_OK)
		goto out;
	hash = fg_json_text_or(json, "dictionary", "");
	if (strlen(hash) != FG_SHA256_HEX_SIZE - 1 ||
	    strspn(hash, "0123456789abcdef") != strlen(hash))
		status = fg_error_set(err, FG_EPARSE, "it names no dictionary");
	else
		parcel->dictionary = fg_xstrdup(hash);
out:
	cJSON_Delete(json);
	(void)snprintf(parcel->id, sizeof(parcel->id), "%s", name);
	return status;
}

void fg_push_reject(struct fg_push *p, const char *path)
{
	char *new_path = fg_xasprintf("%s" REJECTED_ENDING, path);

	(void)rename(path, new_path);
	free(new_path);
	p->result.rejected++;
}

/* false: no use to go on. */
static bool push_file(struct fg_push *p, const char *folder, const char *name)
{
	char *path = fg_fs_join(folder, name);
	char *data = NULL;
	struct parcel parcel = {0};
	struct fg_error err = {0};
	enum fg_push_outcome outcome = FG_PUSH_REJECTED;
	const int status = open_parcel(path, name, &data, &parcel, &err);

	if (status == FG_OK)
		outcome = fg_push_deliver(p, name, attempt, &parcel, &err);
	else if (status == FG_ENOENT || status == FG_EIO)
		outcome =
			FG_PUSH_LATER; /* somebody else sent it just now, or the disk has a bad day */
	free(parcel.dictionary);
	free(data);
	if (outcome == FG_PUSH_SENT || outcome == FG_PUSH_KNOWN) {
		(void)unlink(path);
		p->result.sent += outcome == FG_PUSH_SENT;
		p->result.known += outcome == FG_PUSH_KNOWN;
		fg_push_tell(p, name, outcome == FG_PUSH_SENT ? "sent" : "known there already");
	} else {
		if (status != FG_OK)
			fg_error_prefix(&err, "%s", path);
		fg_push_keep_reason(p, &err);
		fg_push_tell(p, name, err.message);
		if (outcome == FG_PUSH_REJECTED)
			fg_push_reject(p, path);
	}
	free(path);
	return outcome != FG_PUSH_REFUSED && outcome != FG_PUSH_LATER;
}

int fg_push_open_server(const struct fg_push_options *options, struct fg_http **http,
			struct fg_error *err)
{
	const struct fg_http_options server = {.url = options->url,
					       .token = options->token,
					       .ca_file = options->ca_file,
					       .timeout_ns = options->timeout_ns,
					       .silence_ns = options->silence_ns,
					       .interrupted = options->interrupted};

	if (!options->url || !*options->url)
		return fg_error_set(
			err, FG_EINVAL,
			"no perfdb server is configured: set perfdb.url in fastgate.yml, or give --url");
	return fg_http_open(&server, http, err);
}

int fg_push_spool(const char *folder, const struct fg_push_options *options,
		  struct fg_push_result *result, struct fg_error *err)
{
	struct fg_push p = {.options = options,
			    .patience = {.first_wait_ns = options->first_wait_ns,
					 .longest_wait_ns = options->longest_wait_ns,
					 .interrupted = options->interrupted}};
	struct fg_spool_status left = {0};
	char **names = NULL;
	size_t count = 0;
	int status = fg_spool_names(folder, &names, &count, err);

	*result = (struct fg_push_result){0};
	fg_http_patience_init(&p.patience);
	if (status == FG_OK && count > 0)
		status = fg_push_open_server(options, &p.http, err);
	if (status != FG_OK) {
		fg_fs_list_free(names, count);
		return status;
	}
	for (size_t i = 0; i < count && !fg_push_is_interrupted(&p); i++) {
		if (strlen(names[i]) == FG_PUSH_ID_LENGTH + strlen(FG_WIRE_FILE_ENDING) &&
		    fg_text_ends_with(names[i], FG_WIRE_FILE_ENDING) &&
		    !push_file(&p, folder, names[i]))
			break;
	}
	fg_http_close(p.http);
	fg_fs_list_free(names, count);
	status = fg_spool_status(folder, &left, err);
	p.result.waiting = left.waiting;
	*result = p.result;
	if (status == FG_OK && fg_push_is_interrupted(&p))
		status = fg_error_set(err, FG_EINTERRUPTED,
				      "interrupted: %zu runs are still to be sent", left.waiting);
	else if (status == FG_OK && (left.waiting || p.result.rejected))
		status = fg_error_set(err, FG_ENET, "%s",
				      *p.reason.message ? p.reason.message
							: "runs are left in the spool");
	return status;
}
