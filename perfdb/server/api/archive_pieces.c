// SPDX-License-Identifier: Apache-2.0
/*
 * A trace archive in pieces: an upload that was cut off goes on with the piece at which it stopped,
 * at any server that keeps archives in the same place.  The size of pieces is ours, so nobody fills
 * the place with tiny ones.
 */
#include "base/clock.h"
#include "base/number.h"
#include "perfdb/archives/begun.h"
#include "perfdb/protocol.h"
#include "perfdb/server/api/archive_keep.h"
#include "perfdb/server/api/handlers.h"
#include "store/serving/archives.h"
#include "store/serving/limits.h"

#include <unistd.h>

enum {
	BEGUN_OF_PROJECT = 4, /* as many of the largest archives may be begun in a project */
	BEGUN_IN_ALL = 16,
	ROOM_AFTER_SECONDS = 60,
};

/* Which archive a request is about. */
struct upload {
	struct fg_kept kept;
	struct fg_begun begun;
	struct fg_begun_state state;
	uint64_t offset;    /* of the piece that comes */
	const char *digest; /* of that piece */
};

static int check_size(struct fg_request *rq, uint64_t size, struct fg_error *err)
{
	const size_t limit = rq->server->options.archive_limit_bytes;

	if (size == 0)
		return fg_error_set(err, FG_EINVAL, "an archive has at least one byte");
	if (size > limit || size / FG_WIRE_PIECE_BYTES >= FG_BEGUN_PIECES_MAX)
		return fg_error_set(err, FG_ELIMIT, "the archive is larger than %zu bytes", limit);
	return FG_OK;
}

/* The run, and whose pieces those are.  `*known`: it has this archive, and that is answered. */
static int find(struct fg_request *rq, struct upload *upload, bool *known, struct fg_error *err)
{
	char *owner = NULL;
	int status = fg_archive_find_run(rq, &upload->kept, err);

	if (status != FG_OK)
		return status;
	if (strlen(upload->kept.run) != FG_BEGUN_RUN_LENGTH)
		return fg_error_set(err, FG_EINVAL, "the run's id is no UUID");
	status = fg_archive_check_known(rq, &upload->kept, known, err);
	if (status == FG_OK && *known)
		fg_archive_confirm(rq, &upload->kept, false);
	if (status != FG_OK || *known)
		return status;
	status = fg_store_archive_owner(rq->store, &owner, err);
	if (status != FG_OK)
		return status;
	upload->begun = (struct fg_begun){
		.owner = fg_arena_strdup(&rq->arena, owner ? owner : ""),
		.project = upload->kept.project,
		.run = upload->kept.run,
		.content = upload->kept.content,
		.piece = FG_WIRE_PIECE_BYTES,
	};
	free(owner);
	if (!*upload->begun.owner)
		return fg_error_set(err, FG_ENOENT, "this server only shows runs");
	return FG_OK;
}

/* How far it has come, without a session. */
static int look(struct fg_request *rq, struct upload *upload, struct fg_error *err)
{
	struct fg_error reason = {0};
	int status = fg_archive_check_storage(rq, err);

	if (status != FG_OK)
		return status;
	fg_request_leave_store(rq);
	if (fg_begun_look(rq->server->archives, &upload->begun, &upload->state, &reason) != FG_OK)
		return fg_archive_storage_failed(rq, &reason, err);
	return FG_OK;
}

static void say_offset(struct fg_request *rq, const struct upload *upload)
{
	struct fg_json_writer w;

	fg_request_json(rq, &w);
	fg_json_begin_object(&w, NULL);
	fg_json_text(&w, "run", upload->kept.run);
	fg_json_text(&w, "digest", upload->kept.content.digest);
	fg_json_int(&w, "offset", (int64_t)upload->state.offset);
	fg_json_int(&w, "piece_bytes", FG_WIRE_PIECE_BYTES);
	fg_json_end(&w);
}

static int read_question(struct fg_request *rq, struct upload *upload, struct fg_error *err)
{
	struct fg_archives_content *content = &upload->kept.content;
	const char *bytes = NULL;
	int status = fg_request_need(rq, "digest", &content->digest, err);

	if (status != FG_OK)
		return status;
	if (!fg_archive_is_digest(content->digest))
		return fg_error_set(err, FG_EINVAL,
				    "parameter 'digest': expected 64 hexadecimal digits");
	status = fg_request_need(rq, "bytes", &bytes, err);
	if (status != FG_OK)
		return status;
	status = fg_parse_uint64(bytes, &content->size, err);
	if (status != FG_OK) {
		fg_error_prefix(err, "parameter 'bytes'");
		return status;
	}
	return check_size(rq, content->size, err);
}

int fg_handle_archive_begun(struct fg_request *rq, struct fg_error *err)
{
	struct upload upload = {0};
	bool known = false;
	int status = read_question(rq, &upload, err);

	if (status != FG_OK)
		return status;
	status = find(rq, &upload, &known, err);
	if (status != FG_OK || known)
		return status;
	status = look(rq, &upload, err);
	if (status == FG_OK)
		say_offset(rq, &upload);
	fg_begun_state_release(&upload.state);
	return status;
}

static int read_number(struct fg_request *rq, const char *name, uint64_t *number,
		       struct fg_error *err)
{
	const char *text = fg_request_header(rq, name);

	if (!text || fg_parse_uint64(text, number, NULL) != FG_OK)
		return fg_error_set(err, FG_EINVAL, "expected %s: a number of bytes", name);
	return FG_OK;
}

static int read_headers(struct fg_request *rq, struct upload *upload, struct fg_error *err)
{
	int status = fg_archive_digest(rq, FG_WIRE_WHOLE_HEADER, &upload->kept.content.digest, err);

	if (status != FG_OK)
		return status;
	status = fg_archive_digest(rq, FG_WIRE_HASH_HEADER, &upload->digest, err);
	if (status != FG_OK)
		return status;
	status = read_number(rq, FG_WIRE_LENGTH_HEADER, &upload->kept.content.size, err);
	if (status != FG_OK)
		return status;
	status = read_number(rq, FG_WIRE_OFFSET_HEADER, &upload->offset, err);
	return status == FG_OK ? check_size(rq, upload->kept.content.size, err) : status;
}

/* Is the body the piece that it says it is? */
static int check_piece(struct fg_request *rq, const struct upload *upload, struct fg_error *err)
{
	const char *data = fg_body_data(&rq->body);
	char hex[FG_SHA256_HEX_SIZE];
	uint64_t expected = 0;

	if (upload->offset >= upload->begun.content.size ||
	    upload->offset % FG_WIRE_PIECE_BYTES != 0)
		return fg_error_set(err, FG_EINVAL,
				    "no piece of an archive of %llu bytes begins at %llu",
				    (unsigned long long)upload->begun.content.size,
				    (unsigned long long)upload->offset);
	expected = fg_begun_piece_size(&upload->begun, upload->offset);
	if (rq->body.size != expected)
		return fg_error_set(err, FG_EINVAL, "the piece has %zu bytes: expected %llu",
				    rq->body.size, (unsigned long long)expected);
	fg_sha256_hex(data, rq->body.size, hex);
	if (strcmp(upload->digest, hex) != 0)
		return fg_error_set(err, FG_EPARSE, "the body is not the one that %s announces",
				    FG_WIRE_HASH_HEADER);
	return upload->offset == 0 ? fg_archive_check_beginning(data, rq->body.size, err) : FG_OK;
}

static int refuse_offset(struct fg_request *rq, const struct upload *upload, struct fg_error *err)
{
	return fg_request_refuse(rq, FG_HTTP_OTHER_OFFSET, err,
				 fg_arena_printf(&rq->arena, "the next piece begins at %llu",
						 (unsigned long long)upload->state.offset));
}

/* What is begun and left takes room, too: of the project's quota, and of everybody's. */
static int check_room(struct fg_request *rq, const struct upload *upload, struct fg_error *err)
{
	const uint64_t most = rq->server->options.archive_limit_bytes;
	const struct fg_usage more = {
		.bytes = (int64_t)(upload->begun.content.size + upload->state.other_bytes)};
	int status = fg_request_enter_store(rq, err);

	if (status != FG_OK)
		return status;
	status = fg_request_check_quota(rq, upload->kept.project, &more, err);
	if (status != FG_OK)
		return status;
	if (upload->state.project_bytes + FG_WIRE_PIECE_BYTES <= BEGUN_OF_PROJECT * most &&
	    upload->state.bytes + FG_WIRE_PIECE_BYTES <= BEGUN_IN_ALL * most)
		return FG_OK;
	rq->answer.retry_after_s = ROOM_AFTER_SECONDS;
	return fg_request_refuse(
		rq, 503, err,
		"too many archives are begun here: finish them, or wait until they are a day old");
}

/* What is of no use to anybody any more.  If it stays, the next request or `perfdb gc` sees it. */
static void sweep(struct fg_request *rq, const struct fg_begun_names *names)
{
	struct fg_error reason = {0};

	if (fg_begun_remove(rq->server->archives, names, &reason) != FG_OK)
		atomic_fetch_add(&rq->server->counters.archives_failed, 1);
}

static void sweep_own(struct fg_request *rq, const struct upload *upload)
{
	fg_request_leave_store(rq);
	sweep(rq, &upload->state.pieces);
	sweep(rq, &upload->state.more);
}

static int keep_piece(struct fg_request *rq, struct upload *upload, struct fg_error *err)
{
	struct fg_error reason = {0};
	int status = check_room(rq, upload, err);

	if (status != FG_OK)
		return status;
	fg_request_leave_store(rq);
	if (fg_begun_put(rq->server->archives, &upload->begun, &upload->state, upload->kept.file,
			 upload->digest, &reason) != FG_OK)
		return fg_archive_storage_failed(rq, &reason, err);
	rq->answer.status = FG_HTTP_ACCEPTED;
	say_offset(rq, upload);
	return FG_OK;
}

/* All pieces in one file, which takes room while it is needed. */
static int join(struct fg_request *rq, const struct upload *upload, int *file, struct fg_error *err)
{
	struct fg_error reason = {0};
	const int status = fg_begun_join(rq->server->archives, &upload->begun, &upload->state,
					 upload->kept.file, file, &reason);

	if (status == FG_OK)
		return FG_OK;
	if (status == FG_ECONFLICT)
		sweep_own(rq, upload);
	if (status == FG_ECONFLICT || status == FG_ENOENT)
		return fg_request_refuse(
			rq, FG_HTTP_OTHER_OFFSET, err,
			"what has arrived is not what was announced: it begins anew");
	return fg_archive_storage_failed(rq, &reason, err);
}

/* What was put together becomes the archive. */
static int keep_joined(struct fg_request *rq, const struct upload *upload, int file,
		       struct fg_error *err)
{
	struct fg_kept joined = upload->kept;
	int status = fg_request_enter_store(rq, err);

	if (status != FG_OK)
		return status;
	joined.file = file;
	status = fg_archive_keep(rq, &joined, err);
	if (status != FG_OK)
		return status;
	sweep_own(rq, upload);
	return FG_OK;
}

static int join_and_keep(struct fg_request *rq, const struct upload *upload, struct fg_error *err)
{
	int file = -1;
	int status = FG_OK;

	fg_request_leave_store(rq);
	status = join(rq, upload, &file, err);
	if (status != FG_OK)
		return status;
	status = keep_joined(rq, upload, file, err);
	(void)close(file);
	return status;
}

static int finish(struct fg_request *rq, const struct upload *upload, struct fg_error *err)
{
	const struct fg_usage more = {.bytes = (int64_t)upload->begun.content.size};
	const size_t size = (size_t)upload->begun.content.size;
	const size_t limit = 2 * rq->server->options.archive_limit_bytes;
	atomic_size_t *taken = &rq->server->archive_bytes;
	int status = fg_request_enter_store(rq, err);

	if (status != FG_OK)
		return status;
	status = fg_request_check_quota(rq, upload->kept.project, &more, err);
	if (status != FG_OK)
		return status;
	if (atomic_fetch_add(taken, size) + size > limit)
		status = fg_request_refuse(rq, 503, err, "the server is busy with other archives");
	else
		status = join_and_keep(rq, upload, err);
	atomic_fetch_sub(taken, size);
	return status;
}

static int take_piece(struct fg_request *rq, struct upload *upload, struct fg_error *err)
{
	int status = look(rq, upload, err);

	if (status != FG_OK)
		return status;
	sweep(rq, &upload->state.old);
	if (upload->offset != upload->state.offset)
		return refuse_offset(rq, upload, err);
	upload->kept.file = fg_body_file(&rq->body);
	if (upload->kept.file < 0)
		return fg_error_set(err, FG_EIO,
				    "a body cannot be written to the temporary folder");
	if (upload->offset + rq->body.size == upload->begun.content.size)
		return finish(rq, upload, err);
	return keep_piece(rq, upload, err);
}

int fg_handle_archive_piece(struct fg_request *rq, struct fg_error *err)
{
	struct upload upload = {0};
	bool known = false;
	int status = read_headers(rq, &upload, err);

	if (status != FG_OK)
		return status;
	status = find(rq, &upload, &known, err);
	if (status != FG_OK || known)
		return status;
	status = check_piece(rq, &upload, err);
	if (status != FG_OK)
		return status;
	status = take_piece(rq, &upload, err);
	fg_begun_state_release(&upload.state);
	return status;
}
