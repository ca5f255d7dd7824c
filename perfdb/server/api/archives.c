// SPDX-License-Identifier: Apache-2.0
/* The trace archive of a run: taken as a whole, given back, removed. */
#include "store/serving/archives.h"

#include "perfdb/protocol.h"
#include "perfdb/server/api/archive_keep.h"
#include "perfdb/server/api/decision.h"
#include "perfdb/server/api/handlers.h"
#include "perfdb/server/byte_range.h"
#include "perfdb/server/quotas.h"
#include "store/serving/limits.h"

#include <microhttpd.h>

static int check_content(struct fg_request *rq, const char *digest, struct fg_error *err)
{
	const char *data = fg_body_data(&rq->body);
	char hex[FG_SHA256_HEX_SIZE];
	const int status = fg_archive_check_beginning(data, rq->body.size, err);

	if (status != FG_OK)
		return status;
	fg_sha256_hex(data, rq->body.size, hex);
	if (strcmp(digest, hex) != 0)
		return fg_error_set(err, FG_EPARSE, "the body is not the one that %s announces",
				    FG_WIRE_HASH_HEADER);
	return FG_OK;
}

int fg_handle_archive_upload(struct fg_request *rq, struct fg_error *err)
{
	const struct fg_usage more = {.bytes = (int64_t)rq->body.size};
	struct fg_kept kept = {.content = {.size = rq->body.size}};
	bool known = false;
	int status = fg_archive_digest(rq, FG_WIRE_HASH_HEADER, &kept.content.digest, err);

	if (status != FG_OK)
		return status;
	status = fg_archive_find_run(rq, &kept, err);
	if (status != FG_OK)
		return status;
	status = check_content(rq, kept.content.digest, err);
	if (status != FG_OK)
		return status;
	status = fg_archive_check_known(rq, &kept, &known, err);
	if (status != FG_OK)
		return status;
	if (known) {
		fg_archive_confirm(rq, &kept, false);
		return FG_OK;
	}
	status = fg_request_check_quota(rq, kept.project, &more, err);
	if (status != FG_OK)
		return status;
	status = fg_archive_check_storage(rq, err);
	if (status != FG_OK)
		return status;
	kept.file = fg_body_file(&rq->body);
	return fg_archive_keep(rq, &kept, err);
}

/* Bytes that are fetched into a file take room like those of an upload. */
static int take_room(struct fg_request *rq, struct fg_sent_archive *sent, struct fg_error *err)
{
	struct fg_server *server = rq->server;
	const size_t limit = 2 * server->options.archive_limit_bytes;

	if (fg_archives_folder(server->archives))
		return FG_OK;
	sent->counted = (size_t)sent->length;
	if (atomic_fetch_add(&server->archive_bytes, sent->counted) + sent->counted <= limit)
		return FG_OK;
	return fg_request_refuse(rq, 503, err, "the server is busy with other archives");
}

/* What lies elsewhere is fetched into a file first. */
static int fetch(struct fg_request *rq, const struct fg_kept_archive *row,
		 const struct fg_byte_range *range, struct fg_sent_archive *sent,
		 struct fg_error *err)
{
	const struct fg_archives *archives = rq->server->archives;
	const struct fg_archives_content content = {.size = (uint64_t)row->bytes,
						    .digest = row->digest};
	const struct fg_archives_part part = {
		.size = content.size, .first = range->first, .length = range->length};
	struct fg_error reason = {0};
	int status = fg_archive_check_storage(rq, err);

	if (status != FG_OK)
		return status;
	status = take_room(rq, sent, err);
	if (status != FG_OK)
		return status;
	fg_request_leave_store(rq);
	status = sent->is_whole
			 ? fg_archives_get(archives, row->object, &content, &sent->file, &reason)
			 : fg_archives_get_part(archives, row->object, &part, &sent->file,
						&sent->at, &reason);
	if (status == FG_OK)
		return FG_OK;
	if (status != FG_ENOENT)
		return fg_archive_storage_failed(rq, &reason, err);
	return fg_error_set(err, FG_EDB, "%s", reason.message);
}

/* Which part is asked for, and how the answer says so. */
static int choose_range(struct fg_request *rq, const struct fg_kept_archive *row,
			struct fg_byte_range *range, bool *is_whole, struct fg_error *err)
{
	const char *tag = fg_arena_printf(&rq->arena, "\"%s\"", row->digest);
	const char *header = fg_request_header_list(rq, MHD_HTTP_HEADER_RANGE);
	const uint64_t size = (uint64_t)row->bytes;
	enum fg_byte_range_kind kind = FG_BYTES_ALL;

	if (strcmp(rq->method, MHD_HTTP_METHOD_GET) != 0 ||
	    !fg_byte_range_is_meant(fg_request_header(rq, MHD_HTTP_HEADER_IF_RANGE), tag))
		header = NULL;
	kind = fg_byte_range_read(header, size, range);
	*is_whole = kind == FG_BYTES_ALL;
	if (kind == FG_BYTES_ALL)
		return FG_OK;
	if (kind == FG_BYTES_NONE) {
		rq->answer.range =
			fg_arena_printf(&rq->arena, "bytes */%llu", (unsigned long long)size);
		return fg_request_refuse(rq, 416, err, "the archive has no such bytes");
	}
	rq->answer.status = 206;
	rq->answer.range = fg_arena_printf(
		&rq->arena, "bytes %llu-%llu/%llu", (unsigned long long)range->first,
		(unsigned long long)(range->first + range->length - 1), (unsigned long long)size);
	return FG_OK;
}

static int prepare(struct fg_request *rq, const char *run, const struct fg_kept_archive *row,
		   struct fg_sent_archive *sent, struct fg_error *err)
{
	struct fg_byte_range range = {0};
	bool is_whole = true;
	int status = choose_range(rq, row, &range, &is_whole, err);

	if (status != FG_OK)
		return status;
	*sent = (struct fg_sent_archive){
		.file = -1,
		.length = range.length,
		.is_whole = is_whole,
		.digest = fg_arena_strdup(&rq->arena, row->digest),
		.name = fg_arena_printf(&rq->arena, "%s.tar.zst", run),
	};
	return strcmp(rq->method, MHD_HTTP_METHOD_HEAD) == 0 ? FG_OK
							     : fetch(rq, row, &range, sent, err);
}

int fg_handle_archive(struct fg_request *rq, struct fg_error *err)
{
	struct fg_sent_archive *sent = fg_arena_array(&rq->arena, sizeof(*sent), 1);
	struct fg_kept_archive row = {0};
	const char *run = NULL;
	int status = fg_request_find_run(rq, rq->tail, &run, err);

	*sent = (struct fg_sent_archive){.file = -1};
	if (status != FG_OK)
		return status;
	status = fg_store_archive_of(rq->store, run, &row, err);
	if (status == FG_ENOENT)
		return fg_error_set(err, FG_ENOENT, "the run has no archive");
	if (status != FG_OK)
		return status;
	status = prepare(rq, run, &row, sent, err);
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
	struct fg_kept kept = {0};
	int status = fg_archive_find_run(rq, &kept, err);

	if (status != FG_OK)
		return status;
	status = fg_store_archive_of(rq->store, kept.run, &row, err);
	if (status == FG_ENOENT)
		return fg_error_set(err, FG_ENOENT, "the run has no archive");
	if (status != FG_OK)
		return status;
	status = remove_row(rq, kept.run, kept.project, err);
	if (status != FG_OK)
		goto out;
	fg_quotas_forget(rq->server->quotas);
	fg_archive_drop_object(rq, row.object);
	fg_decision_answer(rq, "removed", kept.run, 0);
out:
	fg_kept_archive_release(&row);
	return status;
}
