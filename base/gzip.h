/* SPDX-License-Identifier: Apache-2.0 */
/* Whole buffers in and out of the gzip format (RFC 1952), through zlib. */
#ifndef FG_BASE_GZIP_H
#define FG_BASE_GZIP_H

#include "base/error.h"
#include "base/strbuf.h"

bool fg_gzip_is(const void *data, size_t size);
enum fg_gzip_effort {
	FG_GZIP_QUICK, /* for data packed once per reader */
	FG_GZIP_TIGHT, /* for files */
};

/* The header has no name and no time: equal input gives equal bytes. */
int fg_gzip_pack(const void *data, size_t size, enum fg_gzip_effort effort, struct fg_strbuf *out,
		 struct fg_error *err) FG_NODISCARD;
/* Unpacks at most `max` bytes from the beginning; returns their number. */
size_t fg_gzip_peek(const void *data, size_t size, void *to, size_t max);
/*
 * FG_ELIMIT if the result would exceed `max_bytes`; FG_EPARSE if the data is damaged, truncated, or
 * followed by other bytes.
 */
int fg_gzip_unpack(const void *data, size_t size, size_t max_bytes, struct fg_strbuf *out,
		   struct fg_error *err) FG_NODISCARD;

#endif
