// SPDX-License-Identifier: Apache-2.0
/* Uploads runs; the dictionary is left out if the server has it. */
#include "perfdb/client/client.h"

#include "base/fs.h"
#include "base/hash.h"
#include "base/json.h"
#include "perfdb/client/push_private.h"
#include "perfdb/protocol.h"

struct parcel {
	struct fg_wire wire;
	char id[FG_PUSH_ID_LENGTH + 1];
	char *dictionary; /* hash of the dictionary */
};

static enum fg_push_outcome post(struct fg_push *p, const struct parcel *parcel,
				 bool with_dictionary, int64_t *retry_after_ns,
				 struct fg_error *err)
{
	struct fg_wire wire = parcel->wire;
	struct fg_strbuf body = {0};
	struct fg_http_reply reply = {0};
	char hash[FG_SHA256_HEX_SIZE];
	char run_digest[FG_SHA256_HEX_SIZE];
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
	fg_wire_digest(&parcel->wire, run_digest);
	digest = fg_xasprintf(FG_WIRE_HASH_HEADER ": %s", hash);
	headers[2] = digest;
	if (fg_http_send(p->http,
			 &(struct fg_http_request){.method = "POST",
						   .path = FG_WIRE_RUNS,
						   .headers = headers,
						   .body = body.data,
						   .body_size = body.length},
			 &reply, err) == FG_OK) {
		*retry_after_ns = reply.retry_after_ns;
		p->result.bytes += body.length;
		outcome = fg_push_judge(p, parcel->id, run_digest, &reply, err);
	}
	fg_strbuf_release(&reply.body);
	fg_strbuf_release(&body);
	free(digest);
	free(key);
	return outcome;
}

/*
 * Asks whether the server knows the dictionary. No answer means no: sending it is always correct.
 */
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

static enum fg_push_outcome attempt(struct fg_push *p, void *what, int64_t *retry_after_ns,
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

static enum fg_push_outcome send_run(struct fg_push *p, const char *path, const char *name,
				     struct fg_error *err)
{
	char *data = NULL;
	struct parcel parcel = {0};
	enum fg_push_outcome outcome = FG_PUSH_REJECTED;
	const int status = open_parcel(path, name, &data, &parcel, err);

	if (status == FG_OK)
		outcome = fg_push_deliver(p, name, attempt, &parcel, err);
	else
		fg_error_prefix(err, "%s", path);
	/* Another process sent it meanwhile, or the disk failed temporarily. */
	if (status == FG_ENOENT || status == FG_EIO)
		outcome = FG_PUSH_LATER;
	free(parcel.dictionary);
	free(data);
	return outcome;
}

int fg_push_spool(const char *folder, const struct fg_push_options *options,
		  struct fg_push_result *result, struct fg_error *err)
{
	return fg_push_files(send_run, folder, options, result, err);
}
