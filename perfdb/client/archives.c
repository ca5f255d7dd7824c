// SPDX-License-Identifier: Apache-2.0
/*
 * Trace archives: sent for a run that the server has, and fetched again.  The server knows them by
 * run and digest, so one that is sent twice is there once.  Before it is sent, the server is asked
 * for it: a large body goes nowhere in vain.
 */
#include "base/clock.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/text.h"
#include "perfdb/client/push_private.h"
#include "perfdb/protocol.h"

#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	FETCHED_MODE = 0644,
	LEAST_BYTES_PER_S = 64 << 10, /* a slower line is given up on */
	SILENCE_SECONDS = 300,        /* while the server hands it on */
};

static const uint64_t fetched_max_bytes = (uint64_t)8 << 30;

/* What is sent. */
struct archive {
	char id[FG_PUSH_ID_LENGTH + 1];
	int file;
	uint64_t size;
	char digest[FG_SHA256_HEX_SIZE];
};

int fg_spool_add_archive(const char *folder, const char *id, int file, uint64_t size,
			 struct fg_error *err)
{
	char *name = fg_xasprintf("%s%s", id, FG_WIRE_ARCHIVE_ENDING);
	char *path = fg_fs_join(folder, name);
	int status = FG_OK;

	FG_ASSERT(strlen(id) == FG_PUSH_ID_LENGTH && !strchr(id, '/'));
	if (!fg_fs_is_folder(folder))
		status = fg_fs_make_folders(folder, FG_SPOOL_FOLDER_MODE, err);
	if (status == FG_OK)
		status = fg_fs_copy_atomic(file, size, path, FG_SPOOL_FILE_MODE, err);
	free(path);
	free(name);
	return status;
}

static int find_digest(struct archive *archive, struct fg_error *err)
{
	struct fg_sha256 sha;
	uint8_t digest[FG_SHA256_SIZE];
	char buffer[65536];
	uint64_t done = 0;

	fg_sha256_init(&sha);
	while (done < archive->size) {
		const ssize_t got = pread(archive->file, buffer, sizeof(buffer), (off_t)done);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return fg_error_errno(err, FG_EIO, "it cannot be read");
		fg_sha256_add(&sha, buffer, (size_t)got);
		done += (uint64_t)got;
	}
	fg_sha256_finish(&sha, digest);
	fg_hex(digest, sizeof(digest), archive->digest);
	return FG_OK;
}

static int open_archive(const char *path, const char *name, struct archive *archive,
			struct fg_error *err)
{
	struct stat found = {0};

	archive->file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (archive->file < 0 || fstat(archive->file, &found) != 0)
		return fg_error_errno(err, errno == ENOENT ? FG_ENOENT : FG_EIO, "cannot open it");
	if (!S_ISREG(found.st_mode))
		return fg_error_set(err, FG_EINVAL, "it is no regular file");
	archive->size = (uint64_t)found.st_size;
	(void)snprintf(archive->id, sizeof(archive->id), "%s", name);
	return find_digest(archive, err);
}

/* Only a reply that names the run and the content confirms it. */
static bool is_confirmed(const struct archive *archive, const struct fg_http_reply *reply)
{
	cJSON *json = NULL;
	bool is_ours = false;

	if (!reply->body.length || fg_json_parse(reply->body.data, reply->body.length,
						 reply->body.length, &json, NULL) != FG_OK)
		return false;
	is_ours = strcmp(fg_json_text_or(json, "run", ""), archive->id) == 0 &&
		  strcmp(fg_json_text_or(json, "digest", ""), archive->digest) == 0;
	cJSON_Delete(json);
	return is_ours;
}

static enum fg_push_outcome judge(struct fg_push *p, const struct archive *archive,
				  const struct fg_http_reply *reply, struct fg_error *err)
{
	const enum fg_push_outcome outcome = fg_push_classify(reply->status);

	if (outcome != FG_PUSH_SENT && outcome != FG_PUSH_KNOWN) {
		(void)fg_http_describe(p->http, reply, err);
		return outcome;
	}
	if (is_confirmed(archive, reply))
		return outcome;
	(void)fg_error_set(
		err, FG_ENET,
		"%s answered %ld without confirming the archive: is this a perfdb server of this version?",
		p->options->url, reply->status);
	return FG_PUSH_REFUSED;
}

/* Does the server say that it has this archive? */
static bool is_there(const struct archive *archive, const struct fg_http_reply *reply)
{
	cJSON *json = NULL;
	bool is_ours = false;

	if (!reply->body.length || fg_json_parse(reply->body.data, reply->body.length,
						 reply->body.length, &json, NULL) != FG_OK)
		return false;
	is_ours = strcmp(fg_json_text_or(json, "run/id", ""), archive->id) == 0 &&
		  strcmp(fg_json_text_or(json, "archive/digest", ""), archive->digest) == 0;
	cJSON_Delete(json);
	return is_ours;
}

/*
 * Asks for the run before the body goes anywhere: there may be no such run, or the archive may be
 * there already.  It also shows the server that the token is good, before a large body comes.
 */
static enum fg_push_outcome ask_first(struct fg_push *p, const struct archive *archive,
				      int64_t *retry_after_ns, struct fg_error *err)
{
	char *path = fg_xasprintf(FG_WIRE_AROUND "%s", archive->id);
	struct fg_http_reply reply = {0};
	enum fg_push_outcome outcome = FG_PUSH_LATER;

	if (fg_http_send(p->http, &(struct fg_http_request){.method = "GET", .path = path}, &reply,
			 err) == FG_OK) {
		outcome = fg_push_classify(reply.status);
		*retry_after_ns = reply.retry_after_ns;
		if (reply.status != FG_HTTP_OK)
			(void)fg_http_describe(p->http, &reply, err);
		else if (!is_there(archive, &reply))
			outcome = FG_PUSH_SENT; /* may be */
	}
	fg_strbuf_release(&reply.body);
	free(path);
	return outcome;
}

static enum fg_push_outcome post(struct fg_push *p, const void *what, int64_t *retry_after_ns,
				 struct fg_error *err)
{
	const struct archive *archive = what;
	char *path = fg_xasprintf(FG_WIRE_ARCHIVES "%s", archive->id);
	char *digest = fg_xasprintf(FG_WIRE_HASH_HEADER ": %s", archive->digest);
	const char *headers[] = {"Content-Type: " FG_WIRE_ARCHIVE_TYPE, digest, NULL};
	const struct fg_http_request request = {
		.method = "POST",
		.path = path,
		.headers = headers,
		.has_file = true,
		.file = archive->file,
		.file_size = archive->size,
	};
	struct fg_http_reply reply = {0};
	enum fg_push_outcome outcome = ask_first(p, archive, retry_after_ns, err);

	if (outcome != FG_PUSH_SENT)
		goto out;
	outcome = FG_PUSH_LATER;
	if (fg_http_send(p->http, &request, &reply, err) != FG_OK)
		goto out;
	*retry_after_ns = reply.retry_after_ns;
	p->result.bytes += archive->size;
	outcome = judge(p, archive, &reply, err);
out:
	fg_strbuf_release(&reply.body);
	free(digest);
	free(path);
	return outcome;
}

/* Opened for each: how long a request may take depends on its size. */
static int open_server(const struct fg_push_options *options, uint64_t size, struct fg_http **http,
		       struct fg_error *err)
{
	struct fg_push_options patient = *options;

	if (!patient.timeout_ns)
		patient.timeout_ns = 60 * FG_NS_PER_S;
	patient.timeout_ns += (int64_t)(size / LEAST_BYTES_PER_S) * FG_NS_PER_S;
	patient.silence_ns = SILENCE_SECONDS * FG_NS_PER_S;
	return fg_push_open_server(&patient, http, err);
}

static enum fg_push_outcome send_file(struct fg_push *p, const char *path, const char *name,
				      struct fg_error *err)
{
	struct archive archive = {.file = -1};
	enum fg_push_outcome outcome = FG_PUSH_LATER;

	if (open_archive(path, name, &archive, err) != FG_OK ||
	    open_server(p->options, archive.size, &p->http, err) != FG_OK)
		goto out;
	outcome = fg_push_deliver(p, name, post, &archive, err);
	fg_http_close(p->http);
	p->http = NULL;
out:
	if (archive.file >= 0)
		(void)close(archive.file);
	return outcome;
}

/* false: no use to go on. */
static bool push_file(struct fg_push *p, const char *path, const char *name)
{
	struct fg_error err = {0};
	const enum fg_push_outcome outcome = send_file(p, path, name, &err);

	if (outcome == FG_PUSH_SENT || outcome == FG_PUSH_KNOWN) {
		(void)unlink(path);
		p->result.sent += outcome == FG_PUSH_SENT;
		p->result.known += outcome == FG_PUSH_KNOWN;
		fg_push_tell(p, name, outcome == FG_PUSH_SENT ? "sent" : "known there already");
		return true;
	}
	fg_push_keep_reason(p, &err);
	fg_push_tell(p, name, err.message);
	if (outcome == FG_PUSH_REJECTED)
		fg_push_reject(p, path);
	return outcome == FG_PUSH_REJECTED || outcome == FG_PUSH_REFUSED;
}

int fg_push_archives(const char *folder, const struct fg_push_options *options,
		     struct fg_push_result *result, struct fg_error *err)
{
	struct fg_push p = {.options = options,
			    .patience = {.first_wait_ns = options->first_wait_ns,
					 .longest_wait_ns = options->longest_wait_ns,
					 .interrupted = options->interrupted}};
	struct fg_spool_status left = {0};
	char **names = NULL;
	size_t count = 0;
	bool goes_on = true;
	int status = fg_spool_names(folder, &names, &count, err);

	*result = (struct fg_push_result){0};
	if (status != FG_OK)
		return status;
	fg_http_patience_init(&p.patience);
	for (size_t i = 0; i < count && goes_on && !fg_push_is_interrupted(&p); i++) {
		char *path = fg_fs_join(folder, names[i]);

		if (strlen(names[i]) == FG_PUSH_ID_LENGTH + strlen(FG_WIRE_ARCHIVE_ENDING) &&
		    fg_text_ends_with(names[i], FG_WIRE_ARCHIVE_ENDING))
			goes_on = push_file(&p, path, names[i]);
		free(path);
	}
	fg_fs_list_free(names, count);
	status = fg_spool_status(folder, &left, err);
	p.result.waiting = left.archives;
	*result = p.result;
	if (status == FG_OK && fg_push_is_interrupted(&p))
		status = fg_error_set(err, FG_EINTERRUPTED,
				      "interrupted: %zu archives are still to be sent",
				      left.archives);
	else if (status == FG_OK && (left.archives || p.result.rejected))
		status = fg_error_set(err, FG_ENET, "%s",
				      *p.reason.message ? p.reason.message
							: "archives are left in the spool");
	return status;
}

/* An archive on its way here. */
struct fetched {
	int file;
	uint64_t size;
	struct fg_sha256 sha;
};

static bool take(void *context, const void *data, size_t size)
{
	struct fetched *fetched = context;

	if (size > fetched_max_bytes - fetched->size ||
	    fg_fs_write_all(fetched->file, data, size, NULL) != FG_OK)
		return false;
	fetched->size += size;
	fg_sha256_add(&fetched->sha, data, size);
	return true;
}

static int fetch(struct fg_http *http, const char *run, struct fetched *fetched,
		 struct fg_error *err)
{
	char *word = curl_easy_escape(NULL, run, 0);
	char *path = fg_xasprintf(FG_WIRE_ARCHIVES "%s", word ? word : "");
	const struct fg_http_request request = {
		.method = "GET", .path = path, .take = take, .context = fetched};
	struct fg_http_reply reply = {0};
	uint8_t digest[FG_SHA256_SIZE];
	char hex[FG_SHA256_HEX_SIZE];
	int status = fg_http_send(http, &request, &reply, err);

	fg_sha256_finish(&fetched->sha, digest);
	fg_hex(digest, sizeof(digest), hex);
	if (status == FG_OK && reply.status != 200)
		status = fg_http_describe(http, &reply, err);
	else if (status == FG_OK && strcmp(reply.content_sha256, hex) != 0)
		status = fg_error_set(err, FG_ENET,
				      "what came is not the archive that the server announced");
	fg_strbuf_release(&reply.body);
	free(path);
	curl_free(word);
	return status;
}

int fg_pull_archive(const struct fg_push_options *options, const char *run, const char *path,
		    uint64_t *size, struct fg_error *err)
{
	struct fetched fetched = {.file = -1};
	struct fg_http *http = NULL;
	int status = open_server(options, fetched_max_bytes, &http, err);

	if (status != FG_OK)
		return status;
	fg_sha256_init(&fetched.sha);
	status = fg_fs_unnamed(NULL, &fetched.file, err);
	if (status != FG_OK)
		goto out;
	status = fetch(http, run, &fetched, err);
	if (status != FG_OK)
		goto out;
	status = fg_fs_copy_atomic(fetched.file, fetched.size, path, FETCHED_MODE, err);
	if (status != FG_OK)
		goto out;
	*size = fetched.size;
out:
	if (fetched.file >= 0)
		(void)close(fetched.file);
	fg_http_close(http);
	return status;
}
