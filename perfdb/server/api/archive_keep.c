// SPDX-License-Identifier: Apache-2.0
/*
 * First the object is put, then the row that names it is written, so that what a run has is always
 * there; what was put and never named is removed by `perfdb gc`.  Nothing is unpacked here.  No
 * session is held while the storage works.
 */
#include "perfdb/server/api/archive_keep.h"

#include "base/clock.h"
#include "perfdb/protocol.h"
#include "perfdb/server/api/decision.h"
#include "perfdb/server/quotas.h"
#include "store/serving/archives.h"
#include "store/serving/limits.h"
#include "store/serving/uploads.h"

enum {
	DOWN_SECONDS = 5, /* after the storage did not answer, it is not asked */
	MAGIC_BYTES = 4,
};

static const unsigned char zstd_magic[MAGIC_BYTES] = {0x28, 0xb5, 0x2f, 0xfd};

int fg_archive_storage_failed(struct fg_request *rq, const struct fg_error *reason,
			      struct fg_error *err)
{
	struct fg_server *server = rq->server;

	atomic_fetch_add(&server->counters.archives_failed, 1);
	if (reason->code == FG_ENET)
		atomic_store(&server->archives_down_until_ns,
			     fg_clock_monotonic_ns() + DOWN_SECONDS * FG_NS_PER_S);
	rq->answer.cause = fg_arena_strdup(&rq->arena, reason->message);
	rq->answer.refusal = "unavailable";
	rq->answer.retry_after_s = DOWN_SECONDS;
	return fg_request_refuse(rq, 503, err, "the archive storage is away: try again");
}

int fg_archive_check_storage(struct fg_request *rq, struct fg_error *err)
{
	const struct fg_error reason = {.message = "not asked: it did not answer lately"};

	if (fg_clock_monotonic_ns() >= atomic_load(&rq->server->archives_down_until_ns))
		return FG_OK;
	return fg_archive_storage_failed(rq, &reason, err);
}

int fg_archive_find_run(struct fg_request *rq, struct fg_kept *kept, struct fg_error *err)
{
	struct fg_upload_state state = {0};
	int status = fg_request_find_run(rq, rq->tail, &kept->run, err);

	if (status != FG_OK)
		return status;
	if (strcmp(kept->run, rq->tail) != 0)
		return fg_error_set(err, FG_EINVAL, "give the whole id of the run");
	status = fg_store_upload_state(rq->store, kept->run, &state, err);
	if (status != FG_OK)
		return status;
	kept->project = fg_arena_strdup(&rq->arena, state.project);
	fg_upload_state_release(&state);
	if (!kept->project)
		return fg_error_set(err, FG_ENOENT, "there is no run '%s'", kept->run);
	return FG_OK;
}

bool fg_archive_is_digest(const char *text)
{
	return text && strlen(text) == FG_SHA256_HEX_SIZE - 1 &&
	       strspn(text, "0123456789abcdef") == FG_SHA256_HEX_SIZE - 1;
}

int fg_archive_digest(struct fg_request *rq, const char *header, const char **digest,
		      struct fg_error *err)
{
	const char *text = fg_request_header(rq, header);

	if (!fg_archive_is_digest(text))
		return fg_error_set(err, FG_EINVAL, "expected %s: a SHA-256, 64 hexadecimal digits",
				    header);
	*digest = fg_arena_strdup(&rq->arena, text);
	return FG_OK;
}

int fg_archive_check_beginning(const void *data, size_t size, struct fg_error *err)
{
	if (size < sizeof(zstd_magic) || memcmp(data, zstd_magic, sizeof(zstd_magic)) != 0)
		return fg_error_set(err, FG_EPARSE, "the body is no archive: expected .tar.zst");
	return FG_OK;
}

void fg_archive_confirm(struct fg_request *rq, const struct fg_kept *kept, bool stored)
{
	struct fg_json_writer w;

	rq->answer.status = stored ? FG_HTTP_CREATED : FG_HTTP_OK;
	fg_request_json(rq, &w);
	fg_json_begin_object(&w, NULL);
	fg_json_text(&w, "run", kept->run);
	fg_json_text(&w, "digest", kept->content.digest);
	fg_json_int(&w, "bytes", (int64_t)kept->content.size);
	fg_json_bool(&w, "stored", stored);
	fg_json_end(&w);
}

int fg_archive_check_known(struct fg_request *rq, const struct fg_kept *kept, bool *known,
			   struct fg_error *err)
{
	struct fg_kept_archive there = {0};
	int status = fg_store_archive_of(rq->store, kept->run, &there, err);

	*known = status == FG_OK && strcmp(there.digest, kept->content.digest) == 0;
	if (status == FG_OK && !*known) {
		rq->answer.status = FG_HTTP_DIFFERENT;
		rq->answer.refusal = "has_archive";
		status = fg_error_set(err, FG_EINVAL,
				      "the run has another archive: remove it first");
	}
	fg_kept_archive_release(&there);
	return status == FG_ENOENT ? FG_OK : status;
}

/* Puts the file where archives are kept, without a session. */
static int put_object(struct fg_request *rq, const char *object, const struct fg_kept *kept,
		      struct fg_error *err)
{
	struct fg_error reason = {0};

	if (kept->file < 0)
		return fg_error_set(err, FG_EIO,
				    "a body cannot be written to the temporary folder");
	fg_request_leave_store(rq);
	if (fg_archives_put(rq->server->archives, object, kept->file, &kept->content, &reason) !=
	    FG_OK)
		return fg_archive_storage_failed(rq, &reason, err);
	return fg_request_enter_store(rq, err);
}

static int write_row(struct fg_request *rq, const struct fg_kept_archive *row, const char *project,
		     bool *put, struct fg_error *err)
{
	const struct fg_audit_entry entry = {
		.project = project,
		.action = "archive.add",
		.subject = row->run,
		.detail = fg_arena_printf(&rq->arena, "%lld bytes, SHA-256 %s",
					  (long long)row->bytes, row->digest),
	};
	int status = fg_decision_begin(rq, err);

	if (status != FG_OK)
		return status;
	status = fg_store_archive_put(rq->store, row, put, err);
	if (status == FG_OK && !*put)
		status = fg_error_set(err, FG_ENOENT, "there is no run '%s' any more", row->run);
	return fg_decision_end(rq, status, &entry, err);
}

void fg_archive_drop_object(struct fg_request *rq, const char *object)
{
	struct fg_error reason = {0};

	fg_request_leave_store(rq);
	if (rq->server->archives &&
	    fg_archives_remove(rq->server->archives, object, &reason) != FG_OK)
		atomic_fetch_add(&rq->server->counters.archives_failed, 1);
}

static int name_object(struct fg_request *rq, const char *digest,
		       char object[FG_ARCHIVE_OBJECT_SIZE], struct fg_error *err)
{
	char *owner = NULL;
	int status = fg_store_archive_owner(rq->store, &owner, err);

	if (status != FG_OK)
		return status;
	status = fg_archives_name(owner, digest, object, err);
	free(owner);
	return status;
}

int fg_archive_keep(struct fg_request *rq, const struct fg_kept *kept, struct fg_error *err)
{
	const struct fg_usage more = {.bytes = (int64_t)kept->content.size};
	char object[FG_ARCHIVE_OBJECT_SIZE];
	bool put = false;
	bool known = false;
	int status = name_object(rq, kept->content.digest, object, err);
	struct fg_kept_archive row = {.run = fg_arena_strdup(&rq->arena, kept->run),
				      .digest = fg_arena_strdup(&rq->arena, kept->content.digest),
				      .bytes = (int64_t)kept->content.size,
				      .object = object,
				      .author = fg_arena_strdup(&rq->arena, rq->author)};

	if (status != FG_OK)
		return status;
	status = put_object(rq, object, kept, err);
	if (status != FG_OK)
		return status;
	row.stored_ns = fg_clock_wall_ns();
	status = write_row(rq, &row, kept->project, &put, err);
	if (status == FG_OK) {
		fg_quotas_add(rq->server->quotas, kept->project, &more);
		atomic_fetch_add(&rq->server->counters.archives_stored, 1);
		fg_archive_confirm(rq, kept, true);
		return FG_OK;
	}
	/* Somebody else's upload of the same archive was quicker, or the run is gone. */
	if (status == FG_ENOENT && fg_archive_check_known(rq, kept, &known, err) == FG_OK &&
	    known) {
		*err = (struct fg_error){0};
		fg_archive_confirm(rq, kept, false);
		status = FG_OK;
	}
	fg_archive_drop_object(rq, object);
	return status;
}
