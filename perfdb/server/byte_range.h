/* SPDX-License-Identifier: Apache-2.0 */
/* The part of a content that a request asks for (RFC 9110, 14).  Inside perfdb/server/ only. */
#ifndef FG_PERFDB_SERVER_BYTE_RANGE_H
#define FG_PERFDB_SERVER_BYTE_RANGE_H

#include "base/base.h"

enum fg_byte_range_kind {
	FG_BYTES_ALL,  /* no range, several, or none that is understood */
	FG_BYTES_PART, /* one */
	FG_BYTES_NONE, /* one that lies outside */
};

struct fg_byte_range {
	uint64_t first;
	uint64_t length;
};

/*
 * The header Range, or NULL, for a content of `size` bytes.  `*range` is set in every case; all of
 * it unless it is a part.
 */
enum fg_byte_range_kind fg_byte_range_read(const char *header, uint64_t size,
					   struct fg_byte_range *range);
/* Does the header If-Range, or NULL, let a part through?  `tag`: the content's, with its quotes. */
bool fg_byte_range_is_meant(const char *if_range, const char *tag);

#endif
