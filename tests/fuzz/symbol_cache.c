// SPDX-License-Identifier: Apache-2.0
/*
 * Untrusted symbol caches, as archives carry them. Header and checksum are repaired, so that a
 * changed byte reaches the tables. A loaded cache is queried for addresses at the borders of its
 * ranges.
 */
#include "base/fs.h"
#include "base/hash.h"
#include "binary/debug_cache.h"
#include "binary/debug_index.h"
#include "tests/fuzz/fuzz.h"

#include <sys/mman.h>
#include <unistd.h>

#define BUILD_ID "00112233445566778899aabbccddeeff00112233"

static void ask(struct fg_debug_index *index)
{
	struct fg_debug_frame chain[FG_DEBUG_CHAIN_MAX];

	for (size_t i = 0; i < index->range_count && i < 256; i++) {
		(void)fg_debug_index_find(index, index->ranges[i].start, chain);
		(void)fg_debug_index_find(index, index->ranges[i].end - 1, chain);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const int fd = memfd_create("symbols", MFD_CLOEXEC);
	struct fg_debug_cache_header header;
	struct fg_debug_index index;
	struct fg_error err = {0};
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (fd >= 0 && size >= sizeof(header)) {
		memcpy(&header, data, sizeof(header));
		memcpy(header.magic, FG_DEBUG_CACHE_MAGIC, sizeof(header.magic));
		header.byte_order = FG_DEBUG_CACHE_BYTE_ORDER;
		header.crc = fg_crc32c(0, data + sizeof(header), size - sizeof(header));
		memset(header.build_id, 0, sizeof(header.build_id));
		memcpy(header.build_id, BUILD_ID, sizeof(BUILD_ID));
		if (fg_fs_write_all(fd, &header, sizeof(header), NULL) == FG_OK &&
		    fg_fs_write_all(fd, data + sizeof(header), size - sizeof(header), NULL) ==
			    FG_OK) {
			if (fg_debug_index_load(&index, path, BUILD_ID, "/nowhere", &err) ==
			    FG_OK) {
				ask(&index);
				fg_debug_index_release(&index);
			} else {
				FG_ASSERT(err.message[0] != '\0');
			}
		}
	}
	(void)close(fd);
	return 0;
}
