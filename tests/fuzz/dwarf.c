// SPDX-License-Identifier: Apache-2.0
/*
 * Untrusted debug information: every unit of a file is walked and queried for addresses at its
 * borders.
 */
#include "binary/debug_index.h"
#include "tests/fuzz/fuzz.h"

#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fg_debug_frame chain[FG_DEBUG_CHAIN_MAX];
	struct fg_debug_index index;
	struct fg_error err = {0};
	char path[64];
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		return 0;
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (fg_debug_index_open(&index, path, &err) == FG_OK) {
		for (size_t i = 0; i < index.range_count && i < 256; i++) {
			(void)fg_debug_index_find(&index, index.ranges[i].start, chain);
			(void)fg_debug_index_find(&index, index.ranges[i].end - 1, chain);
		}
		fg_debug_index_release(&index);
	}
	(void)close(fd);
	return 0;
}
