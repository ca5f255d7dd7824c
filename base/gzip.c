// SPDX-License-Identifier: Apache-2.0
#include "base/gzip.h"

#define ZLIB_CONST /* input is const */
#include <zlib.h>

enum {
	GZIP_WINDOW = 15 + 16, /* 15: the largest window; 16: with the gzip header and trailer */
	PIECE_SIZE = 64 * 1024,
	MEMORY_LEVEL = 8,
	MAX_PIECE = 1 << 30, /* bytes passed at once: zlib counts input in an unsigned int */
};

bool fg_gzip_is(const void *data, size_t size)
{
	const uint8_t *bytes = data;

	return size >= 3 && bytes[0] == 0x1f && bytes[1] == 0x8b && bytes[2] == 8;
}

/* Passes the next piece of the input to zlib. */
static void feed(z_stream *stream, const uint8_t **at, size_t *left)
{
	const size_t piece = fg_min_size(*left, MAX_PIECE);

	stream->next_in = *at;
	stream->avail_in = (uInt)piece;
	*at += piece;
	*left -= piece;
}

int fg_gzip_pack(const void *data, size_t size, enum fg_gzip_effort effort, struct fg_strbuf *out,
		 struct fg_error *err)
{
	const int level = effort == FG_GZIP_QUICK ? Z_BEST_SPEED : Z_DEFAULT_COMPRESSION;
	const uint8_t *at = data;
	uint8_t piece[PIECE_SIZE];
	z_stream stream = {0};
	int state = Z_OK;

	if (deflateInit2(&stream, level, Z_DEFLATED, GZIP_WINDOW, MEMORY_LEVEL,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		return fg_error_set(err, FG_EUNSUPPORTED, "zlib cannot start compressing");
	while (state == Z_OK) {
		if (stream.avail_in == 0 && size > 0)
			feed(&stream, &at, &size);
		stream.next_out = piece;
		stream.avail_out = sizeof(piece);
		state = deflate(&stream, size == 0 ? Z_FINISH : Z_NO_FLUSH);
		fg_strbuf_add(out, piece, sizeof(piece) - stream.avail_out);
	}
	(void)deflateEnd(&stream);
	if (state != Z_STREAM_END)
		return fg_error_set(err, FG_EUNSUPPORTED, "zlib failed to compress (%d)", state);
	return FG_OK;
}

size_t fg_gzip_peek(const void *data, size_t size, void *to, size_t max)
{
	const uint8_t *at = data;
	z_stream stream = {.next_out = to, .avail_out = (uInt)max};

	if (inflateInit2(&stream, GZIP_WINDOW) != Z_OK)
		return 0;
	feed(&stream, &at, &size);
	(void)inflate(&stream, Z_SYNC_FLUSH);
	(void)inflateEnd(&stream);
	return max - stream.avail_out;
}

int fg_gzip_unpack(const void *data, size_t size, size_t max_bytes, struct fg_strbuf *out,
		   struct fg_error *err)
{
	const uint8_t *at = data;
	uint8_t piece[PIECE_SIZE];
	struct fg_strbuf text = {0};
	z_stream stream = {0};
	size_t total = 0;
	int state = Z_OK;
	int status = FG_OK;

	if (inflateInit2(&stream, GZIP_WINDOW) != Z_OK)
		return fg_error_set(err, FG_EUNSUPPORTED, "zlib cannot start decompressing");
	while (state == Z_OK && total <= max_bytes) {
		if (stream.avail_in == 0 && size > 0)
			feed(&stream, &at, &size);
		stream.next_out = piece;
		stream.avail_out = sizeof(piece);
		state = inflate(&stream, Z_NO_FLUSH);
		total += sizeof(piece) - stream.avail_out;
		if (total <= max_bytes)
			fg_strbuf_add(&text, piece, sizeof(piece) - stream.avail_out);
	}
	(void)inflateEnd(&stream);
	if (total > max_bytes)
		status = fg_error_set(err, FG_ELIMIT, "decompresses to more than %zu bytes",
				      max_bytes);
	else if (state != Z_STREAM_END)
		status = fg_error_set(err, FG_EPARSE, "the gzip data is broken or ends too early");
	else if (stream.avail_in > 0 || size > 0)
		status = fg_error_set(err, FG_EPARSE,
				      "other bytes follow the end of the gzip "
				      "data");
	else
		fg_strbuf_add(out, fg_strbuf_text(&text), text.length);
	fg_strbuf_release(&text);
	return status;
}
