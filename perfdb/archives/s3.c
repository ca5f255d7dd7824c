// SPDX-License-Identifier: Apache-2.0
/*
 * S3-compatible storage, by path ("https://HOST/BUCKET/PREFIX/OBJECT").  Each request is signed
 * with the digest of its body, so the storage refuses a body that was damaged on its way; what it
 * gives back is compared with the digest before anybody sees it, unless it is a part.
 */
#include "base/clock.h"
#include "base/fs.h"
#include "base/text.h"
#include "perfdb/archives/keepers.h"

#include <unistd.h>

enum {
	TIMEOUT_SECONDS = 600, /* of one object */
	PAGE_BYTES = 4 << 20,  /* a list of 1,000 names, each of at most 1,024 bytes */
	PAGE_OBJECTS = 1000,
	PAGES_MAX = 100000,
};

#define DEFAULT_REGION "us-east-1"
#define NO_BODY        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
#define HASH_HEADER    "x-amz-content-sha256: "
#define PLAIN          "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_."

/* Nothing in it needs to be written in another way in a URL, or leads elsewhere. */
static bool is_plain(const char *text, const char *more)
{
	char *allowed = fg_xasprintf("%s%s", PLAIN, more);
	const bool is_ok = strspn(text, allowed) == strlen(text) && !strstr(text, "..") &&
			   !strstr(text, "//") && *text != '.' && *text != '/';

	free(allowed);
	return is_ok;
}

static int check_options(const struct fg_archives_options *options, struct fg_error *err)
{
	int status = FG_OK;

	if (!options->url)
		return fg_error_set(err, FG_EINVAL,
				    "--archives %s needs --archives-url https://HOST",
				    options->place);
	status = fg_http_start(err);
	if (status != FG_OK)
		return status;
	if (!fg_http_is_private(options->url) || strchr(options->url, '@'))
		return fg_error_set(
			err, FG_EINVAL,
			"--archives-url: expected https://HOST; http:// only to this machine");
	if (!options->key_id || !*options->key_id || !options->key || !*options->key)
		return fg_error_set(
			err, FG_EINVAL,
			"--archives %s needs a key: --archives-key-file, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
			options->place);
	if (options->region && !is_plain(options->region, ""))
		return fg_error_set(err, FG_EINVAL, "--archives-region: '%.40s' is no region",
				    options->region);
	return FG_OK;
}

static int open_s3(struct fg_archives *archives, struct fg_error *err)
{
	const struct fg_archives_options *options = &archives->options;
	const char *bucket = options->place + strlen(FG_S3_SCHEME);
	const size_t length = strcspn(bucket, "/");
	const char *prefix = bucket[length] ? bucket + length + 1 : "";
	const size_t prefix_length = strlen(prefix);
	const int status = check_options(options, err);

	if (status != FG_OK)
		return status;
	archives->bucket = fg_xasprintf("/%.*s", (int)length, bucket);
	archives->prefix = fg_xasprintf(
		"%s%s", prefix, prefix_length && prefix[prefix_length - 1] != '/' ? "/" : "");
	if (length == 0 || !is_plain(archives->bucket + 1, "") || !is_plain(archives->prefix, "/"))
		return fg_error_set(
			err, FG_EINVAL,
			"--archives %s: expected s3://BUCKET/PREFIX of letters, digits, '-', '_' and '.'",
			options->place);
	archives->signing = (struct fg_http_signing){
		.region = options->region ? options->region : DEFAULT_REGION,
		.key_id = options->key_id,
		.key = options->key,
	};
	return FG_OK;
}

/* What the storage says is for the log of the server alone: it may name its key's id. */
static int refuse(const char *what, const struct fg_http_reply *reply, struct fg_error *err)
{
	const char *code = strstr(fg_strbuf_text(&reply->body), "<Code>");
	const size_t length = code ? strspn(code + 6, PLAIN) : 0;

	return fg_error_set(err, fg_http_is_passing(reply->status) ? FG_ENET : FG_EIO,
			    "the archive storage answered %ld %.*s (%s)", reply->status,
			    (int)(length < 60 ? length : 60), code ? code + 6 : "", what);
}

static int ask(const struct fg_archives *archives, const struct fg_http_request *request,
	       struct fg_http_reply *reply, struct fg_error *err)
{
	const struct fg_http_options options = {
		.url = archives->options.url,
		.ca_file = archives->options.ca_file,
		.timeout_ns = TIMEOUT_SECONDS * FG_NS_PER_S,
		.reply_max_bytes = PAGE_BYTES,
		.signing = &archives->signing,
	};
	struct fg_http *http = NULL;
	int status = fg_http_open(&options, &http, err);

	if (status != FG_OK)
		return status;
	status = fg_http_send(http, request, reply, err);
	fg_http_close(http);
	return status;
}

static char *path_of(const struct fg_archives *archives, const char *object)
{
	return fg_xasprintf("%s/%s%s", archives->bucket, archives->prefix, object);
}

static int put(const struct fg_archives *archives, const char *object, int file,
	       const struct fg_archives_content *content, struct fg_error *err)
{
	char *path = path_of(archives, object);
	char *hash = fg_xasprintf(HASH_HEADER "%s", content->digest);
	const char *headers[] = {hash, NULL};
	const struct fg_http_request request = {
		.method = "PUT",
		.path = path,
		.headers = headers,
		.has_file = true,
		.file = file,
		.file_size = content->size,
	};
	struct fg_http_reply reply = {0};
	int status = ask(archives, &request, &reply, err);

	if (status == FG_OK && reply.status / 100 != 2)
		status = refuse("put", &reply, err);
	fg_strbuf_release(&reply.body);
	free(hash);
	free(path);
	return status;
}

/* An object on its way into a file. */
struct arrival {
	int file;
	uint64_t left;
	struct fg_sha256 sha;
};

static bool take(void *context, const struct fg_http_reply *reply, const void *data, size_t size)
{
	struct arrival *arrival = context;

	(void)reply;
	if (size > arrival->left || fg_fs_write_all(arrival->file, data, size, NULL) != FG_OK)
		return false;
	arrival->left -= size;
	fg_sha256_add(&arrival->sha, data, size);
	return true;
}

static bool is_whole(struct arrival *arrival, const struct fg_archives_content *content)
{
	uint8_t digest[FG_SHA256_SIZE];
	char hex[FG_SHA256_HEX_SIZE];

	fg_sha256_finish(&arrival->sha, digest);
	fg_hex(digest, sizeof(digest), hex);
	return arrival->left == 0 && strcmp(hex, content->digest) == 0;
}

/* `range`: the header that asks for a part; NULL: all of it. */
static int receive(const struct fg_archives *archives, const char *path, const char *range,
		   struct arrival *arrival, struct fg_error *err)
{
	/* In the order in which headers are signed. */
	const char *headers[] = {range ? range : HASH_HEADER NO_BODY,
				 range ? HASH_HEADER NO_BODY : NULL, NULL};
	const struct fg_http_request request = {
		.method = "GET",
		.path = path,
		.headers = headers,
		.take = take,
		.context = arrival,
	};
	struct fg_http_reply reply = {0};
	int status = ask(archives, &request, &reply, err);

	if (status == FG_OK && reply.status == 404)
		status = fg_error_set(err, FG_ENOENT, "the archive storage has no '%s'", path);
	else if (status == FG_OK && reply.status != (range ? 206 : 200))
		status = refuse("get", &reply, err);
	fg_strbuf_release(&reply.body);
	return status;
}

/* All of an object, or a part of it, in a file of its own. */
static int fetch(const struct fg_archives *archives, const char *object, const char *range,
		 struct arrival *arrival, struct fg_error *err)
{
	char *path = NULL;
	int status = fg_fs_unnamed(NULL, &arrival->file, err);

	if (status != FG_OK)
		return status;
	fg_sha256_init(&arrival->sha);
	path = path_of(archives, object);
	status = receive(archives, path, range, arrival, err);
	if (status != FG_OK)
		(void)close(arrival->file);
	free(path);
	return status;
}

static int get(const struct fg_archives *archives, const char *object,
	       const struct fg_archives_content *content, int *file, struct fg_error *err)
{
	struct arrival arrival = {.left = content->size};
	const int status = fetch(archives, object, NULL, &arrival, err);

	if (status != FG_OK)
		return status;
	if (!is_whole(&arrival, content)) {
		(void)close(arrival.file);
		return fg_error_set(err, FG_EIO, "'%s' is not what was put there", object);
	}
	*file = arrival.file;
	return FG_OK;
}

static int get_part(const struct fg_archives *archives, const char *object,
		    const struct fg_archives_part *part, int *file, uint64_t *at,
		    struct fg_error *err)
{
	struct arrival arrival = {.left = part->length};
	char *range = fg_xasprintf("range: bytes=%llu-%llu", (unsigned long long)part->first,
				   (unsigned long long)(part->first + part->length - 1));
	const int status = fetch(archives, object, range, &arrival, err);

	free(range);
	if (status != FG_OK)
		return status;
	if (arrival.left > 0) {
		(void)close(arrival.file);
		return fg_error_set(err, FG_EIO, "'%s' is shorter than what was put there", object);
	}
	*file = arrival.file;
	*at = 0;
	return FG_OK;
}

static int remove_object(const struct fg_archives *archives, const char *object,
			 struct fg_error *err)
{
	static const char *const headers[] = {HASH_HEADER NO_BODY, NULL};
	char *path = path_of(archives, object);
	const struct fg_http_request request = {
		.method = "DELETE", .path = path, .headers = headers};
	struct fg_http_reply reply = {0};
	int status = ask(archives, &request, &reply, err);

	if (status == FG_OK && reply.status / 100 != 2 && reply.status != 404)
		status = refuse("delete", &reply, err);
	fg_strbuf_release(&reply.body);
	free(path);
	return status;
}

/* Slashes have another spelling in a query; other letters that need one do not occur. */
static char *in_query(const char *prefix, const char *rest)
{
	struct fg_strbuf text = {0};

	for (const char *at = prefix; *at; at++)
		fg_strbuf_add_text(&text, *at == '/' ? "%2F" : (char[]){*at, '\0'});
	for (const char *at = rest; *at; at++)
		fg_strbuf_add_text(&text, *at == '/' ? "%2F" : (char[]){*at, '\0'});
	return fg_strbuf_detach(&text);
}

static int ask_page(const struct fg_archives *archives, const char *folder, const char *after,
		    struct fg_http_reply *reply, struct fg_error *err)
{
	static const char *const headers[] = {HASH_HEADER NO_BODY, NULL};
	char *prefix = in_query(archives->prefix, folder);
	char *start = in_query(archives->prefix, after);
	/* In the order in which parameters are signed. */
	char *path = fg_xasprintf("%s?list-type=2&max-keys=%d&prefix=%s%%2F&start-after=%s",
				  archives->bucket, (int)PAGE_OBJECTS, prefix, start);
	const struct fg_http_request request = {.method = "GET", .path = path, .headers = headers};
	int status = ask(archives, &request, reply, err);

	if (status == FG_OK && reply->status != 200)
		status = refuse("list", reply, err);
	free(path);
	free(start);
	free(prefix);
	return status;
}

/* A page of names; `*last` becomes the last of them.  Others than ours are passed over. */
static size_t read_page(const struct fg_archives *archives, const char *page, char **last,
			fg_archives_visit *visit, void *context)
{
	static const char opening[] = "<Key>";
	const size_t prefix_length = strlen(archives->prefix);
	size_t count = 0;

	for (const char *at = strstr(page, opening); at; at = strstr(at, opening)) {
		const size_t length = strcspn(at += sizeof(opening) - 1, "<");
		char *key = fg_xstrndup(at, length);

		if (is_plain(key, "/") && fg_text_starts_with(key, archives->prefix)) {
			free(*last);
			*last = fg_xstrdup(key + prefix_length);
			visit(context, *last);
			count++;
		}
		free(key);
	}
	return count;
}

static int list(const struct fg_archives *archives, const char *folder, fg_archives_visit *visit,
		void *context, struct fg_error *err)
{
	char *last = fg_xasprintf("%s/", folder);
	size_t count = 1;
	int status = FG_OK;

	for (size_t page = 0; page < PAGES_MAX && count > 0 && status == FG_OK; page++) {
		struct fg_http_reply reply = {0};

		status = ask_page(archives, folder, last, &reply, err);
		if (status == FG_OK)
			count = read_page(archives, fg_strbuf_text(&reply.body), &last, visit,
					  context);
		fg_strbuf_release(&reply.body);
	}
	free(last);
	return status;
}

const struct fg_keeper fg_keeper_s3 = {
	.open = open_s3,
	.put = put,
	.get = get,
	.get_part = get_part,
	.remove = remove_object,
	.list = list,
};
