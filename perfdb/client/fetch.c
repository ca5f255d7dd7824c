// SPDX-License-Identifier: Apache-2.0
/*
 * Fetches an archive.  What has come lies beside the target as TARGET.DIGEST.part, so that whatever
 * cuts it off, the next try asks for the rest alone.  The name has the beginning of the digest: the
 * rest of another archive never follows.  Only what is as the whole digest says gets the target's
 * name.
 */
#include "base/fs.h"
#include "base/json.h"
#include "base/text.h"
#include "perfdb/client/libcurl.h"
#include "perfdb/client/push_private.h"
#include "perfdb/protocol.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
	FETCHED_MODE = 0644,
	PART_MODE = 0600,
	NAME_DIGITS = 16,  /* of the digest, in the name of a part */
	REOPENED_MAX = 10, /* another process may have finished it just now */
};

#define PART_ENDING ".part"

static const uint64_t fetched_max_bytes = (uint64_t)8 << 30;

struct fetch {
	struct fg_push *p;
	const char *run; /* as the user calls it */
	const char *target;
	/* What the server announces. */
	char id[FG_PUSH_ID_LENGTH + 1];
	char digest[FG_SHA256_HEX_SIZE]; /* "": nothing yet */
	uint64_t size;
	/* What has come. */
	char *part; /* its path; NULL: it is not open */
	int file;
	uint64_t have;
	struct fg_sha256 sha;
	bool is_put_together; /* not all of it came with one reply */
	uint64_t furthest;    /* that any attempt came */
	/* A part of no use any more. */
	bool is_checked;
	bool is_other;           /* it is not what was announced */
	struct fg_error failure; /* of the disk */
};

static void close_part(struct fetch *f)
{
	if (f->part)
		(void)close(f->file);
	free(f->part);
	f->part = NULL;
	f->have = 0;
}

/* The part is of no use any more. */
static void drop_part(struct fetch *f)
{
	if (f->part)
		(void)unlink(f->part);
	close_part(f);
}

static int begin_anew(struct fetch *f, struct fg_error *err)
{
	f->have = 0;
	f->is_put_together = false;
	fg_sha256_init(&f->sha);
	if (ftruncate(f->file, 0) != 0 || lseek(f->file, 0, SEEK_SET) != 0)
		return fg_error_errno(err, FG_EIO, "cannot write %s", f->part);
	return FG_OK;
}

/* What is there already, which another process wrote. */
static int read_part(struct fetch *f, struct fg_error *err)
{
	char buffer[65536];
	ssize_t got = 0;

	fg_sha256_init(&f->sha);
	for (f->have = 0; f->have <= f->size; f->have += got > 0 ? (uint64_t)got : 0) {
		got = read(f->file, buffer, sizeof(buffer));
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return fg_error_errno(err, FG_EIO, "cannot read %s", f->part);
		if (got == 0)
			break;
		fg_sha256_add(&f->sha, buffer, (size_t)got);
	}
	f->is_put_together = f->have > 0;
	return f->have > f->size ? begin_anew(f, err) : FG_OK;
}

/* FG_ENOENT: in the meantime, the name became another file's. */
static int check_part(const struct fetch *f, struct fg_error *err)
{
	struct stat opened = {0};
	struct stat named = {0};

	if (flock(f->file, LOCK_EX | LOCK_NB) != 0)
		return fg_error_set(err, FG_EBUSY, "%s: another process is fetching it", f->part);
	if (fstat(f->file, &opened) != 0)
		return fg_error_errno(err, FG_EIO, "cannot open %s", f->part);
	if (lstat(f->part, &named) != 0 || named.st_ino != opened.st_ino ||
	    named.st_dev != opened.st_dev)
		return fg_error_set(err, FG_ENOENT, "%s: it is replaced all the time", f->part);
	if (!S_ISREG(opened.st_mode) || opened.st_uid != geteuid() || opened.st_nlink != 1)
		return fg_error_set(err, FG_EIO, "%s: expected a file of our own: remove it",
				    f->part);
	return FG_OK;
}

static int open_part(struct fetch *f, struct fg_error *err)
{
	int status = FG_ENOENT;

	for (unsigned i = 0; i < REOPENED_MAX && status == FG_ENOENT; i++) {
		close_part(f);
		f->part =
			fg_xasprintf("%s.%.*s" PART_ENDING, f->target, (int)NAME_DIGITS, f->digest);
		f->file = open(f->part, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
			       PART_MODE);
		if (f->file < 0) {
			status = fg_error_errno(err, FG_EIO, "cannot write %s", f->part);
			free(f->part);
			f->part = NULL;
			return status;
		}
		status = check_part(f, err);
	}
	if (status == FG_OK)
		return read_part(f, err);
	close_part(f);
	return status == FG_ENOENT ? FG_EBUSY : status;
}

/* The run's id, and the digest and size of its archive. */
static int read_announcement(struct fetch *f, const struct fg_http_reply *reply,
			     struct fg_error *err)
{
	char before[FG_SHA256_HEX_SIZE];
	const char *digest = NULL;
	double size = 0;
	cJSON *json = NULL;
	int status = fg_json_parse(fg_strbuf_text(&reply->body), reply->body.length,
				   reply->body.length, &json, err);

	if (status != FG_OK)
		return fg_error_set(err, FG_ENET, "%s answered something else than a run",
				    f->p->options->url);
	memcpy(before, f->digest, sizeof(before));
	digest = fg_json_text_or(json, "archive/digest", "");
	size = fg_json_double_or(json, "archive/bytes", 0);
	(void)snprintf(f->id, sizeof(f->id), "%s", fg_json_text_or(json, "run/id", ""));
	(void)snprintf(f->digest, sizeof(f->digest), "%s", digest);
	if (!*digest)
		status = fg_error_set(err, FG_ENET, "run '%s' has no archive on %s", f->run,
				      f->p->options->url);
	else if (strlen(f->id) != FG_PUSH_ID_LENGTH || strlen(digest) != FG_SHA256_HEX_SIZE - 1 ||
		 strspn(digest, "0123456789abcdef") != strlen(digest) || !(size >= 1))
		status = fg_error_set(err, FG_ENET, "%s announces an archive in an unknown way",
				      f->p->options->url);
	else if (size > (double)fetched_max_bytes)
		status = fg_error_set(err, FG_ELIMIT, "the archive has %.0f bytes: at most %llu",
				      size, (unsigned long long)fetched_max_bytes);
	cJSON_Delete(json);
	if (status != FG_OK)
		return status;
	f->size = (uint64_t)size;
	/* Another archive took its place while we were fetching. */
	if (strcmp(before, f->digest) != 0)
		drop_part(f);
	return FG_OK;
}

/* By any name that the server knows the run by. */
static enum fg_push_outcome ask(struct fetch *f, int64_t *retry_after_ns, struct fg_error *err)
{
	char *word = fg_curl.easy_escape(NULL, f->run, 0);
	char *path = fg_xasprintf(FG_WIRE_AROUND "%s", word ? word : "");
	struct fg_http_reply reply = {0};
	enum fg_push_outcome outcome = FG_PUSH_LATER;
	int status = fg_http_send(
		f->p->http, &(struct fg_http_request){.method = "GET", .path = path}, &reply, err);

	if (status == FG_OK && reply.status == FG_HTTP_OK) {
		outcome = read_announcement(f, &reply, err) == FG_OK ? FG_PUSH_GOES_ON
								     : FG_PUSH_REFUSED;
	} else if (status == FG_OK) {
		*retry_after_ns = reply.retry_after_ns;
		outcome = fg_push_classify(reply.status);
		(void)fg_http_describe(f->p->http, &reply, err);
	}
	fg_strbuf_release(&reply.body);
	free(path);
	fg_curl.free(word);
	return outcome;
}

/* Is this reply the rest of what was announced, or all of it? */
static bool is_meant(struct fetch *f, const struct fg_http_reply *reply)
{
	char *tag = fg_xasprintf("\"%s\"", f->digest);
	char *range = fg_xasprintf("bytes %llu-%llu/%llu", (unsigned long long)f->have,
				   (unsigned long long)(f->size - 1), (unsigned long long)f->size);
	const bool has_tag = strcmp(reply->etag, tag) == 0;
	const bool is_whole = reply->status == FG_HTTP_OK &&
			      (has_tag || strcmp(reply->content_sha256, f->digest) == 0);
	const bool is_rest =
		reply->status == FG_HTTP_PARTIAL && has_tag && strcmp(reply->range, range) == 0;

	free(range);
	free(tag);
	if (is_whole && f->have > 0 && begin_anew(f, &f->failure) != FG_OK)
		return false;
	return is_whole || is_rest;
}

static bool take(void *context, const struct fg_http_reply *reply, const void *data, size_t size)
{
	struct fetch *f = context;

	if (!f->is_checked && !is_meant(f, reply)) {
		f->is_other = f->failure.code == FG_OK;
		return false;
	}
	f->is_checked = true;
	if (size > f->size - f->have) {
		f->is_other = true;
		return false;
	}
	if (fg_fs_write_all(f->file, data, size, &f->failure) != FG_OK)
		return false;
	f->have += size;
	fg_sha256_add(&f->sha, data, size);
	return true;
}

static enum fg_push_outcome judge(struct fetch *f, int status, const struct fg_http_reply *reply,
				  struct fg_error *err)
{
	if (f->failure.code != FG_OK) {
		(void)fg_error_set(err, FG_EIO, "%s: %s", f->part, f->failure.message);
		return FG_PUSH_REFUSED;
	}
	if (f->is_other || (status == FG_OK && reply->status == FG_HTTP_NO_RANGE)) {
		(void)fg_error_set(err, FG_ENET,
				   "what came is not the archive that the server announced");
		drop_part(f);
		return FG_PUSH_LATER;
	}
	if (status != FG_OK)
		return FG_PUSH_LATER;
	if (reply->status == FG_HTTP_OK || reply->status == FG_HTTP_PARTIAL)
		return f->have == f->size ? FG_PUSH_GOES_ON : FG_PUSH_LATER;
	(void)fg_http_describe(f->p->http, reply, err);
	return fg_push_classify(reply->status);
}

/* What is missing. */
static enum fg_push_outcome get_rest(struct fetch *f, int64_t *retry_after_ns, struct fg_error *err)
{
	char *path = fg_xasprintf(FG_WIRE_ARCHIVES "%s", f->id);
	char *range = fg_xasprintf("Range: bytes=%llu-", (unsigned long long)f->have);
	char *condition = fg_xasprintf("If-Range: \"%s\"", f->digest);
	const char *headers[] = {range, condition, NULL};
	const struct fg_http_request request = {
		.method = "GET",
		.path = path,
		.headers = f->have > 0 ? headers : NULL,
		.take = take,
		.context = f,
	};
	struct fg_http_reply reply = {0};
	enum fg_push_outcome outcome = FG_PUSH_LATER;
	int status = FG_OK;

	f->is_checked = f->is_other = false;
	f->failure = (struct fg_error){0};
	f->is_put_together = f->have > 0;
	status = fg_http_send(f->p->http, &request, &reply, err);
	*retry_after_ns = reply.retry_after_ns;
	outcome = judge(f, status, &reply, err);
	if (f->have > f->furthest)
		f->p->has_progressed = true;
	if (f->have > f->furthest)
		f->furthest = f->have;
	fg_strbuf_release(&reply.body);
	free(condition);
	free(range);
	free(path);
	return outcome;
}

/* The whole has come: is it what was announced? */
static enum fg_push_outcome finish(struct fetch *f, struct fg_error *err)
{
	struct fg_sha256 sha = f->sha;
	uint8_t digest[FG_SHA256_SIZE];
	char hex[FG_SHA256_HEX_SIZE];
	const bool may_be_old = f->is_put_together;

	fg_sha256_finish(&sha, digest);
	fg_hex(digest, sizeof(digest), hex);
	if (strcmp(hex, f->digest) == 0)
		return fg_fs_publish(f->file, f->part, f->target, FETCHED_MODE, err) == FG_OK
			       ? FG_PUSH_SENT
			       : FG_PUSH_REFUSED;
	(void)fg_error_set(err, FG_ENET, "what came is not the archive that the server announced");
	drop_part(f);
	/* What lay here may have been damaged; what came at once is as the server has it. */
	return may_be_old ? FG_PUSH_LATER : FG_PUSH_REFUSED;
}

static enum fg_push_outcome attempt(struct fg_push *p, void *what, int64_t *retry_after_ns,
				    struct fg_error *err)
{
	struct fetch *f = what;
	enum fg_push_outcome outcome = ask(f, retry_after_ns, err);

	if (outcome != FG_PUSH_GOES_ON)
		return outcome;
	if (!f->part && open_part(f, err) != FG_OK)
		return FG_PUSH_REFUSED;
	fg_push_tell_where(p, f->part, f->have, f->size);
	if (f->have < f->size)
		outcome = get_rest(f, retry_after_ns, err);
	return outcome == FG_PUSH_GOES_ON ? finish(f, err) : outcome;
}

static bool is_part_of(const char *name, const char *target)
{
	const size_t length = strlen(target);

	return strlen(name) == length + 1 + NAME_DIGITS + strlen(PART_ENDING) &&
	       strncmp(name, target, length) == 0 && name[length] == '.' &&
	       strspn(name + length + 1, "0123456789abcdef") == NAME_DIGITS &&
	       fg_text_ends_with(name, PART_ENDING);
}

/* Parts of other archives that were to have this name, and that nobody is fetching now. */
static void remove_other_parts(const char *target)
{
	char *folder = fg_fs_parent(target);
	char **names = NULL;
	size_t count = 0;

	if (fg_fs_list(folder, &names, &count, NULL) != FG_OK)
		count = 0;
	for (size_t i = 0; i < count; i++) {
		char *path = fg_fs_join(folder, names[i]);
		const int file =
			is_part_of(names[i], fg_fs_base_name(target))
				? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
				: -1;

		if (file >= 0 && flock(file, LOCK_EX | LOCK_NB) == 0)
			(void)unlink(path);
		if (file >= 0)
			(void)close(file);
		free(path);
	}
	fg_fs_list_free(names, count);
	free(folder);
}

/* What to do with what has come, though not all did. */
static void leave_part(struct fetch *f, struct fg_error *err)
{
	const struct fg_error reason = *err;

	if (f->have > 0)
		(void)fg_error_set(err, reason.code,
				   "%s; what came is kept in %s, and the same command goes on",
				   reason.message, f->part);
	if (f->have > 0)
		close_part(f);
	else
		drop_part(f);
}

int fg_pull_archive(const struct fg_push_options *options, const char *run, const char *path,
		    uint64_t *size, struct fg_error *err)
{
	struct fg_push p = {.options = options,
			    .patience = {.first_wait_ns = options->first_wait_ns,
					 .longest_wait_ns = options->longest_wait_ns,
					 .interrupted = options->interrupted}};
	struct fetch f = {.p = &p, .run = run, .target = path, .file = -1};
	int status = fg_push_open_archives(options, fetched_max_bytes, &p.http, err);

	if (status != FG_OK)
		return status;
	fg_http_patience_init(&p.patience);
	if (fg_push_deliver(&p, path, attempt, &f, err) == FG_PUSH_SENT) {
		*size = f.size;
		close_part(&f);
		remove_other_parts(path);
	} else {
		leave_part(&f, err);
		status = err->code;
	}
	fg_http_close(p.http);
	return status;
}
