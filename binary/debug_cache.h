/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The debug index on disk, one file per build-id:
 *
 *	struct fg_debug_cache_header, then the seven arrays of the index in their order, each
 *	aligned to 8 bytes
 *
 * The arrays are written as they lie in memory, in the machine's byte order. The file lies in the
 * user's cache folder, where a power cut, a full disk or another version may leave any content, and
 * in archives, which may come from anyone. A checksum covers all bytes after the header. After
 * loading, every index in the file is checked once against the size of its array, so lookups need
 * no checks. Private to binary/.
 */
#ifndef FG_BINARY_DEBUG_CACHE_H
#define FG_BINARY_DEBUG_CACHE_H

#include "binary/elf_file.h"

#define FG_DEBUG_CACHE_MAGIC      "FGSYMC4\n"
#define FG_DEBUG_CACHE_BYTE_ORDER 0x01020304u /* written in the machine's byte order */

enum {
	FG_DEBUG_CACHE_ARRAYS = 7,
	FG_DEBUG_CACHE_MAX_BYTES = 1 << 30
};

struct fg_debug_cache_header {
	char magic[8];
	uint32_t byte_order;
	uint32_t crc;  /* crc32c of everything after the header */
	uint64_t size; /* bytes after the header */
	uint64_t counts[FG_DEBUG_CACHE_ARRAYS];
	char build_id[FG_BUILD_ID_TEXT + 7];
};

#endif
