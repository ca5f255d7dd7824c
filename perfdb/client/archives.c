// SPDX-License-Identifier: Apache-2.0
/*
 * Trace archives, sent for runs that the server has.  The server knows them by run and digest, so
 * one that is sent twice is there once.  Before it is sent, the server is asked for it: a large
 * body goes nowhere in vain.  A large archive goes in pieces, and what was cut off goes on with the
 * piece that the server asks for.
 */
#include "base/clock.h"
#include "base/json.h"
#include "perfdb/client/push_private.h"
#include "perfdb/protocol.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	LEAST_BYTES_PER_S = 64 << 10, /* a slower line is given up on */
	SILENCE_SECONDS = 300,        /* while the server hands it on */
	DETOURS_MAX = 3,              /* of one attempt: the server wants another piece */
};

static const char type_line[] = "Content-Type: " FG_WIRE_ARCHIVE_TYPE;

/* What is sent. */
struct archive {
	const char *name; /* of its file */
	char id[FG_PUSH_ID_LENGTH + 1];
	int file;
	uint64_t size;
	char digest[FG_SHA256_HEX_SIZE];
	uint64_t furthest; /* that any attempt came */
};

struct piece {
	uint64_t offset;
	uint64_t size;
};

static int find_digest(const struct archive *archive, const struct piece *piece,
		       char hex[FG_SHA256_HEX_SIZE], struct fg_error *err)
{
	struct fg_sha256 sha;
	uint8_t digest[FG_SHA256_SIZE];
	char buffer[65536];
	uint64_t done = 0;

	fg_sha256_init(&sha);
	while (done < piece->size) {
		const uint64_t left = piece->size - done;
		const ssize_t got = pread(archive->file, buffer,
					  left < sizeof(buffer) ? (size_t)left : sizeof(buffer),
					  (off_t)(piece->offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return fg_error_errno(err, FG_EIO, "it cannot be read");
		fg_sha256_add(&sha, buffer, (size_t)got);
		done += (uint64_t)got;
	}
	fg_sha256_finish(&sha, digest);
	fg_hex(digest, sizeof(digest), hex);
	return FG_OK;
}

static int open_archive(const char *path, const char *name, struct archive *archive,
			struct fg_error *err)
{
	struct stat found = {0};

	archive->name = name;
	archive->file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (archive->file < 0 || fstat(archive->file, &found) != 0)
		return fg_error_errno(err, errno == ENOENT ? FG_ENOENT : FG_EIO, "cannot open it");
	if (!S_ISREG(found.st_mode))
		return fg_error_set(err, FG_EINVAL, "it is no regular file");
	archive->size = (uint64_t)found.st_size;
	(void)snprintf(archive->id, sizeof(archive->id), "%s", name);
	return find_digest(archive, &(struct piece){.size = archive->size}, archive->digest, err);
}

/*
 * Asks for the run before the body goes anywhere: there may be no such run, or the archive may be
 * there already.  It also shows the server that the token is good, before a large body comes.
 */
static enum fg_push_outcome ask_first(struct fg_push *p, const struct archive *archive,
				      int64_t *retry_after_ns, struct fg_error *err)
{
	char *path = fg_xasprintf(FG_WIRE_AROUND "%s", archive->id);
	const struct fg_push_names names = {.id_at = "run/id",
					    .id = archive->id,
					    .digest_at = "archive/digest",
					    .digest = archive->digest};
	struct fg_http_reply reply = {0};
	enum fg_push_outcome outcome = FG_PUSH_LATER;

	if (fg_http_send(p->http, &(struct fg_http_request){.method = "GET", .path = path}, &reply,
			 err) == FG_OK) {
		outcome = fg_push_classify(reply.status);
		*retry_after_ns = reply.retry_after_ns;
		if (reply.status != FG_HTTP_OK)
			(void)fg_http_describe(p->http, &reply, err);
		else if (!fg_push_is_named(&reply, &names))
			outcome = FG_PUSH_GOES_ON;
	}
	fg_strbuf_release(&reply.body);
	free(path);
	return outcome;
}

static enum fg_push_outcome send_whole(struct fg_push *p, const struct archive *archive,
				       int64_t *retry_after_ns, struct fg_error *err)
{
	char *path = fg_xasprintf(FG_WIRE_ARCHIVES "%s", archive->id);
	char *digest = fg_xasprintf(FG_WIRE_HASH_HEADER ": %s", archive->digest);
	const char *headers[] = {type_line, digest, NULL};
	const struct fg_http_request request = {
		.method = "POST",
		.path = path,
		.headers = headers,
		.has_file = true,
		.file = archive->file,
		.file_size = archive->size,
	};
	struct fg_http_reply reply = {0};
	enum fg_push_outcome outcome = FG_PUSH_LATER;

	if (fg_http_send(p->http, &request, &reply, err) == FG_OK) {
		*retry_after_ns = reply.retry_after_ns;
		p->result.bytes += archive->size;
		outcome = fg_push_judge(p, archive->id, archive->digest, &reply, err);
	}
	fg_strbuf_release(&reply.body);
	free(digest);
	free(path);
	return outcome;
}

/* Where the server wants to go on; false if the reply does not say so about this archive. */
static bool read_piece(const struct archive *archive, const struct fg_http_reply *reply,
		       struct piece *piece)
{
	const struct fg_push_names names = {.id_at = "run",
					    .id = archive->id,
					    .digest_at = "digest",
					    .digest = archive->digest};
	cJSON *json = NULL;
	double offset = -1;
	double size = -1;

	if (!fg_push_is_named(reply, &names) ||
	    fg_json_parse(reply->body.data, reply->body.length, reply->body.length, &json, NULL) !=
		    FG_OK)
		return false;
	offset = fg_json_double_or(json, "offset", -1);
	size = fg_json_double_or(json, "piece_bytes", -1);
	cJSON_Delete(json);
	if (!(offset >= 0 && offset < (double)archive->size && size >= 1))
		return false;
	piece->offset = (uint64_t)offset;
	piece->size = archive->size - piece->offset;
	if ((double)piece->size > size)
		piece->size = (uint64_t)size;
	return true;
}

static enum fg_push_outcome ask_piece(struct fg_push *p, const struct archive *archive,
				      struct piece *piece, int64_t *retry_after_ns,
				      struct fg_error *err)
{
	char *path = fg_xasprintf(FG_WIRE_PIECES "%s?digest=%s&bytes=%llu", archive->id,
				  archive->digest, (unsigned long long)archive->size);
	struct fg_http_reply reply = {0};
	enum fg_push_outcome outcome = FG_PUSH_LATER;

	if (fg_http_send(p->http, &(struct fg_http_request){.method = "GET", .path = path}, &reply,
			 err) != FG_OK)
		goto out;
	*retry_after_ns = reply.retry_after_ns;
	/* If it names no piece it may be the confirmation: somebody else was quicker. */
	outcome = reply.status == FG_HTTP_OK && read_piece(archive, &reply, piece)
			  ? FG_PUSH_GOES_ON
			  : fg_push_judge(p, archive->id, archive->digest, &reply, err);
out:
	fg_strbuf_release(&reply.body);
	free(path);
	return outcome;
}

/* `*is_next`: the server kept it, and `*piece` is the one that follows. */
static enum fg_push_outcome judge_piece(struct fg_push *p, const struct archive *archive,
					const struct fg_http_reply *reply, struct piece *piece,
					bool *is_next, struct fg_error *err)
{
	const uint64_t end = piece->offset + piece->size;

	*is_next = reply->status == FG_HTTP_ACCEPTED && read_piece(archive, reply, piece) &&
		   piece->offset == end;
	if (*is_next)
		return FG_PUSH_GOES_ON;
	if (reply->status != FG_HTTP_ACCEPTED && reply->status != FG_HTTP_OTHER_OFFSET)
		return fg_push_judge(p, archive->id, archive->digest, reply, err);
	(void)fg_http_describe(p->http, reply, err);
	return FG_PUSH_GOES_ON;
}

static enum fg_push_outcome send_piece(struct fg_push *p, const struct archive *archive,
				       const struct piece *piece, struct fg_http_reply *reply,
				       struct fg_error *err)
{
	char digest[FG_SHA256_HEX_SIZE];
	char *path = fg_xasprintf(FG_WIRE_PIECES "%s", archive->id);
	char *lines[] = {
		fg_xasprintf(FG_WIRE_WHOLE_HEADER ": %s", archive->digest),
		fg_xasprintf(FG_WIRE_LENGTH_HEADER ": %llu", (unsigned long long)archive->size),
		fg_xasprintf(FG_WIRE_OFFSET_HEADER ": %llu", (unsigned long long)piece->offset),
		NULL,
	};
	int status = find_digest(archive, piece, digest, err);

	if (status == FG_OK) {
		const char *headers[] = {type_line, lines[0], lines[1], lines[2], NULL, NULL};
		const struct fg_http_request request = {
			.method = "PATCH",
			.path = path,
			.headers = headers,
			.has_file = true,
			.file = archive->file,
			.file_at = piece->offset,
			.file_size = piece->size,
		};

		headers[4] = lines[3] = fg_xasprintf(FG_WIRE_HASH_HEADER ": %s", digest);
		status = fg_http_send(p->http, &request, reply, err);
	}
	for (size_t i = 0; i < FG_ARRAY_SIZE(lines); i++)
		free(lines[i]);
	free(path);
	return status == FG_OK ? FG_PUSH_GOES_ON : FG_PUSH_LATER;
}

static void note_progress(struct fg_push *p, struct archive *archive, uint64_t offset)
{
	if (offset <= archive->furthest)
		return;
	archive->furthest = offset;
	p->has_progressed = true;
}

static enum fg_push_outcome send_pieces(struct fg_push *p, struct archive *archive,
					int64_t *retry_after_ns, struct fg_error *err)
{
	struct piece piece = {0};
	enum fg_push_outcome outcome = ask_piece(p, archive, &piece, retry_after_ns, err);
	unsigned detours = 0;

	if (outcome == FG_PUSH_GOES_ON)
		fg_push_tell_where(p, archive->name, piece.offset, archive->size);
	while (outcome == FG_PUSH_GOES_ON) {
		struct fg_http_reply reply = {0};
		const uint64_t size = piece.size;
		bool is_next = false;

		outcome = send_piece(p, archive, &piece, &reply, err);
		if (outcome == FG_PUSH_GOES_ON) {
			*retry_after_ns = reply.retry_after_ns;
			p->result.bytes += size;
			outcome = judge_piece(p, archive, &reply, &piece, &is_next, err);
		}
		fg_strbuf_release(&reply.body);
		if (outcome == FG_PUSH_GOES_ON && is_next)
			note_progress(p, archive, piece.offset);
		else if (outcome == FG_PUSH_GOES_ON && ++detours > DETOURS_MAX)
			outcome = FG_PUSH_LATER;
		else if (outcome == FG_PUSH_GOES_ON)
			outcome = ask_piece(p, archive, &piece, retry_after_ns, err);
	}
	return outcome;
}

static enum fg_push_outcome attempt(struct fg_push *p, void *what, int64_t *retry_after_ns,
				    struct fg_error *err)
{
	struct archive *archive = what;
	const enum fg_push_outcome outcome = ask_first(p, archive, retry_after_ns, err);

	if (outcome != FG_PUSH_GOES_ON)
		return outcome;
	if (archive->size > FG_WIRE_PIECE_BYTES)
		return send_pieces(p, archive, retry_after_ns, err);
	return send_whole(p, archive, retry_after_ns, err);
}

int fg_push_open_archives(const struct fg_push_options *options, uint64_t size,
			  struct fg_http **http, struct fg_error *err)
{
	struct fg_push_options patient = *options;

	if (!patient.timeout_ns)
		patient.timeout_ns = 60 * FG_NS_PER_S;
	patient.timeout_ns += (int64_t)(size / LEAST_BYTES_PER_S) * FG_NS_PER_S;
	patient.silence_ns = SILENCE_SECONDS * FG_NS_PER_S;
	return fg_push_open_server(&patient, http, err);
}

static enum fg_push_outcome send_archive(struct fg_push *p, const char *path, const char *name,
					 struct fg_error *err)
{
	struct archive archive = {.file = -1};
	enum fg_push_outcome outcome = FG_PUSH_LATER;

	/* The last piece is answered when all are put together. */
	if (open_archive(path, name, &archive, err) != FG_OK ||
	    fg_push_open_archives(p->options, archive.size, &p->http, err) != FG_OK)
		goto out;
	outcome = fg_push_deliver(p, name, attempt, &archive, err);
	fg_http_close(p->http);
	p->http = NULL;
out:
	if (archive.file >= 0)
		(void)close(archive.file);
	return outcome;
}

int fg_push_archives(const char *folder, const struct fg_push_options *options,
		     struct fg_push_result *result, struct fg_error *err)
{
	static const struct fg_push_kind archives = {.ending = FG_WIRE_ARCHIVE_ENDING,
						     .plural = "archives",
						     .is_apart = true,
						     .send = send_archive};

	return fg_push_kind(&archives, folder, options, result, err);
}
