// SPDX-License-Identifier: Apache-2.0
/*
 * The trace archive of a run: taken, given back, removed.  First the object is put, then the row
 * that names it is written, so that what a run has is always there; what was put and never named is
 * removed by `perfdb gc`.  Nothing is unpacked here.  No session is held while the storage works.
 */
#include "perfdb/archives/archives.h"

#include "base/clock.h"
#include "perfdb/protocol.h"
#include "perfdb/server/api/decision.h"
#include "perfdb/server/api/handlers.h"
#include "perfdb/server/quotas.h"
#include "store/serving/archives.h"
#include "store/serving/limits.h"
#include "store/serving/uploads.h"

enum {
	DOWN_SECONDS = 5, /* after the storage did not answer, it is not asked */
	MAGIC_BYTES = 4,
};

static const unsigned char zstd_magic[MAGIC_BYTES] = {0x28, 0xb5, 0x2f, 0xfd};

/* The client learns that it may try again, the log why. */
static int storage_failed(struct fg_request *rq, const struct fg_error *reason,
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

/* Nobody waits for a storage that was away a moment ago. */
static int check_storage(struct fg_request *rq, struct fg_error *err)
{
	const struct fg_error reason = {.message = "not asked: it did not answer lately"};

	if (fg_clock_monotonic_ns() >= atomic_load(&rq->server->archives_down_until_ns))
		return FG_OK;
	return storage_failed(rq, &reason, err);
}

/* The run of the address, by its whole id, and its project. */
static int find_run(struct fg_request *rq, const char **id, const char **project,
		    struct fg_error *err)
{
	struct fg_upload_state state = {0};
	int status = fg_request_find_run(rq, rq->tail, id, err);

	if (status != FG_OK)
		return status;
	if (strcmp(*id, rq->tail) != 0)
		return fg_error_set(err, FG_EINVAL, "give the whole id of the run");
	status = fg_store_upload_state(rq->store, *id, &state, err);
	if (status != FG_OK)
		return status;
	*project = fg_arena_strdup(&rq->arena, state.project);
	fg_upload_state_release(&state);
	if (!*project)
		return fg_error_set(err, FG_ENOENT, "there is no run '%s'", *id);
	return FG_OK;
}

static bool is_digest(const char *text)
{
	return text && strlen(text) == FG_SHA256_HEX_SIZE - 1 &&
	       strspn(text, "0123456789abcdef") == FG_SHA256_HEX_SIZE - 1;
}

static int check_content(struct fg_request *rq, const char *digest, struct fg_error *err)
{
	const char *data = fg_body_data(&rq->body);
	char hex[FG_SHA256_HEX_SIZE];

	if (rq->body.size < sizeof(zstd_magic) || memcmp(data, zstd_magic, sizeof(zstd_magic)) != 0)
		return fg_error_set(err, FG_EPARSE, "the body is no archive: expected .tar.zst");
	fg_sha256_hex(data, rq->body.size, hex);
	if (strcmp(digest, hex) != 0)
		return fg_error_set(err, FG_EPARSE, "the body is not the one that %s announces",
				    FG_WIRE_HASH_HEADER);
	return FG_OK;
}

static void confirm(struct fg_request *rq, const char *run, const char *digest, bool stored)
{
	struct fg_json_writer w;

	rq->answer.status = stored ? FG_HTTP_CREATED : FG_HTTP_OK;
	fg_request_json(rq, &w);
	fg_json_begin_object(&w, NULL);
	fg_json_text(&w, "run", run);
	fg_json_text(&w, "digest", digest);
	fg_json_int(&w, "bytes", (int64_t)rq->body.size);
	fg_json_bool(&w, "stored", stored);
	fg_json_end(&w);
}

/* Is an archive of this run there already?  `*known`: this one. */
static int check_known(struct fg_request *rq, const char *run, const char *digest, bool *known,
		       struct fg_error *err)
{
	struct fg_kept_archive there = {0};
	int status = fg_store_archive_of(rq->store, run, &there, err);

	*known = status == FG_OK && strcmp(there.digest, digest) == 0;
	if (status == FG_OK && !*known) {
		rq->answer.status = FG_HTTP_DIFFERENT;
		rq->answer.refusal = "has_archive";
		status = fg_error_set(err, FG_EINVAL,
				      "the run has another archive: remove it first");
	}
	fg_kept_archive_release(&there);
	return status == FG_ENOENT ? FG_OK : status;
}

/* Puts the body where archives are kept, without a session. */
static int put_object(struct fg_request *rq, const char *object, const char *digest,
		      struct fg_error *err)
{
	const struct fg_archives_content content = {.size = rq->body.size, .digest = digest};
	const int file = fg_body_file(&rq->body);
	struct fg_error reason = {0};

	if (file < 0)
		return fg_error_set(err, FG_EIO,
				    "a body cannot be written to the temporary folder");
	fg_request_leave_store(rq);
	if (fg_archives_put(rq->server->archives, object, file, &content, &reason) != FG_OK)
		return storage_failed(rq, &reason, err);
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

/* The object has no row: it goes, at once if it can. */
static void drop_object(struct fg_request *rq, const char *object)
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

static int store_archive(struct fg_request *rq, const char *run, const char *project,
			 const char *digest, struct fg_error *err)
{
	const struct fg_usage more = {.bytes = (int64_t)rq->body.size};
	char object[FG_ARCHIVE_OBJECT_SIZE];
	bool put = false;
	bool known = false;
	int status = name_object(rq, digest, object, err);
	struct fg_kept_archive row = {.run = fg_arena_strdup(&rq->arena, run),
				      .digest = fg_arena_strdup(&rq->arena, digest),
				      .bytes = (int64_t)rq->body.size,
				      .object = object,
				      .author = fg_arena_strdup(&rq->arena, rq->author)};

	if (status != FG_OK)
		return status;
	status = put_object(rq, object, digest, err);
	if (status != FG_OK)
		return status;
	row.stored_ns = fg_clock_wall_ns();
	status = write_row(rq, &row, project, &put, err);
	if (status == FG_OK) {
		fg_quotas_add(rq->server->quotas, project, &more);
		atomic_fetch_add(&rq->server->counters.archives_stored, 1);
		confirm(rq, run, digest, true);
		return FG_OK;
	}
	/* Somebody else's upload of the same archive was quicker, or the run is gone. */
	if (status == FG_ENOENT && check_known(rq, run, digest, &known, err) == FG_OK && known) {
		*err = (struct fg_error){0};
		confirm(rq, run, digest, false);
		status = FG_OK;
	}
	drop_object(rq, object);
	return status;
}

int fg_handle_archive_upload(struct fg_request *rq, struct fg_error *err)
{
	const struct fg_usage more = {.bytes = (int64_t)rq->body.size};
	const char *digest = fg_request_header(rq, FG_WIRE_HASH_HEADER);
	const char *project = NULL;
	const char *run = NULL;
	bool known = false;
	int status = FG_OK;

	if (!is_digest(digest))
		return fg_error_set(err, FG_EINVAL,
				    "expected " FG_WIRE_HASH_HEADER
				    ": the SHA-256 of the body, 64 hexadecimal digits");
	status = find_run(rq, &run, &project, err);
	if (status != FG_OK)
		return status;
	status = check_content(rq, digest, err);
	if (status != FG_OK)
		return status;
	status = check_known(rq, run, digest, &known, err);
	if (status != FG_OK)
		return status;
	if (known) {
		confirm(rq, run, digest, false);
		return FG_OK;
	}
	status = fg_request_check_quota(rq, project, &more, err);
	if (status != FG_OK)
		return status;
	status = check_storage(rq, err);
	if (status != FG_OK)
		return status;
	return store_archive(rq, run, project, digest, err);
}

/* What lies elsewhere is fetched into a file first, which takes room like an upload. */
static int fetch(struct fg_request *rq, const struct fg_kept_archive *row,
		 struct fg_sent_archive *sent, struct fg_error *err)
{
	struct fg_server *server = rq->server;
	const struct fg_archives_content content = {.size = (uint64_t)row->bytes,
						    .digest = row->digest};
	const size_t limit = 2 * server->options.archive_limit_bytes;
	struct fg_error reason = {0};
	int status = check_storage(rq, err);

	if (status != FG_OK)
		return status;
	if (!fg_archives_folder(server->archives)) {
		sent->counted = (size_t)row->bytes;
		if (atomic_fetch_add(&server->archive_bytes, sent->counted) + sent->counted > limit)
			return fg_request_refuse(rq, 503, err,
						 "the server is busy with other archives");
	}
	fg_request_leave_store(rq);
	status = fg_archives_get(server->archives, row->object, &content, &sent->file, &reason);
	if (status == FG_OK)
		return FG_OK;
	if (status != FG_ENOENT)
		return storage_failed(rq, &reason, err);
	return fg_error_set(err, FG_EDB, "%s", reason.message);
}

int fg_handle_archive(struct fg_request *rq, struct fg_error *err)
{
	struct fg_sent_archive *sent = fg_arena_array(&rq->arena, sizeof(*sent), 1);
	struct fg_kept_archive row = {0};
	const char *run = NULL;
	int status = fg_request_find_run(rq, rq->tail, &run, err);

	if (status != FG_OK)
		return status;
	status = fg_store_archive_of(rq->store, run, &row, err);
	if (status == FG_ENOENT)
		return fg_error_set(err, FG_ENOENT, "the run has no archive");
	if (status != FG_OK)
		return status;
	*sent = (struct fg_sent_archive){
		.file = -1,
		.size = (uint64_t)row.bytes,
		.digest = fg_arena_strdup(&rq->arena, row.digest),
		.name = fg_arena_printf(&rq->arena, "%s.tar.zst", run),
	};
	if (strcmp(rq->method, "HEAD") != 0)
		status = fetch(rq, &row, sent, err);
	fg_kept_archive_release(&row);
	if (status != FG_OK) {
		atomic_fetch_sub(&rq->server->archive_bytes, sent->counted);
		return status;
	}
	rq->answer.archive = sent;
	rq->answer.type = "application/zstd";
	return FG_OK;
}

static int remove_row(struct fg_request *rq, const char *run, const char *project,
		      struct fg_error *err)
{
	const struct fg_audit_entry entry = {
		.project = project,
		.action = "archive.remove",
		.subject = run,
	};
	int status = fg_decision_begin(rq, err);

	if (status != FG_OK)
		return status;
	status = fg_store_archive_remove(rq->store, run, err);
	if (status == FG_ENOENT)
		status = fg_error_set(err, FG_ENOENT, "the run has no archive");
	return fg_decision_end(rq, status, &entry, err);
}

int fg_handle_archive_remove(struct fg_request *rq, struct fg_error *err)
{
	struct fg_kept_archive row = {0};
	const char *project = NULL;
	const char *run = NULL;
	int status = find_run(rq, &run, &project, err);

	if (status != FG_OK)
		return status;
	status = fg_store_archive_of(rq->store, run, &row, err);
	if (status == FG_ENOENT)
		return fg_error_set(err, FG_ENOENT, "the run has no archive");
	if (status != FG_OK)
		return status;
	status = remove_row(rq, run, project, err);
	if (status != FG_OK)
		goto out;
	fg_quotas_forget(rq->server->quotas);
	drop_object(rq, row.object);
	fg_decision_answer(rq, "removed", run, 0);
out:
	fg_kept_archive_release(&row);
	return status;
}
