// SPDX-License-Identifier: Apache-2.0
/* Sends runs from the spool, unchanged. */
#include "perfdb/client/client.h"

#include "base/fs.h"
#include "base/hash.h"
#include "perfdb/client/push_private.h"
#include "perfdb/protocol.h"

struct parcel {
	char *body;
	size_t size;
	char id[FG_PUSH_ID_LENGTH + 1];
	char run_digest[FG_SHA256_HEX_SIZE]; /* digest that a server confirms */
};

static enum fg_push_outcome attempt(struct fg_push *p, void *what, int64_t *retry_after_ns,
				    struct fg_error *err)
{
	const struct parcel *parcel = what;
	struct fg_http_reply reply = {0};
	char hash[FG_SHA256_HEX_SIZE];
	char *key = fg_xasprintf(FG_WIRE_KEY_HEADER ": %s", parcel->id);
	char *digest = NULL;
	const char *headers[] = {"Content-Type: " FG_WIRE_MEDIA_TYPE, key, NULL, NULL};
	const struct fg_http_request request = {.method = "POST",
						.path = FG_WIRE_RUNS,
						.headers = headers,
						.body = parcel->body,
						.body_size = parcel->size};
	enum fg_push_outcome outcome = FG_PUSH_LATER;

	fg_sha256_hex(parcel->body, parcel->size, hash);
	digest = fg_xasprintf(FG_WIRE_HASH_HEADER ": %s", hash);
	headers[2] = digest;
	if (fg_http_send(p->http, &request, &reply, err) == FG_OK) {
		*retry_after_ns = reply.retry_after_ns;
		p->result.bytes += parcel->size;
		outcome = fg_push_judge(p, parcel->id, parcel->run_digest, &reply, err);
	}
	fg_strbuf_release(&reply.body);
	free(digest);
	free(key);
	return outcome;
}

static int open_parcel(const char *path, const char *name, struct parcel *parcel,
		       struct fg_error *err)
{
	struct fg_wire wire = {0};

	FG_TRY(fg_fs_read(path, FG_WIRE_MAX_BYTES, &parcel->body, &parcel->size, err));
	FG_TRY(fg_wire_read(parcel->body, parcel->size, &wire, err));
	fg_wire_digest(&wire, parcel->run_digest);
	(void)snprintf(parcel->id, sizeof(parcel->id), "%s", name);
	return FG_OK;
}

static enum fg_push_outcome send_run(struct fg_push *p, const char *path, const char *name,
				     struct fg_error *err)
{
	struct parcel parcel = {0};
	enum fg_push_outcome outcome = FG_PUSH_REJECTED;
	const int status = open_parcel(path, name, &parcel, err);

	if (status == FG_OK)
		outcome = fg_push_deliver(p, name, attempt, &parcel, err);
	else
		fg_error_prefix(err, "%s", path);
	/* Another process sent the file in the meantime, or the disk failed temporarily. */
	if (status == FG_ENOENT || status == FG_EIO)
		outcome = FG_PUSH_LATER;
	free(parcel.body);
	return outcome;
}

int fg_push_spool(const char *folder, const struct fg_push_options *options,
		  struct fg_push_result *result, struct fg_error *err)
{
	return fg_push_files(send_run, folder, options, result, err);
}
