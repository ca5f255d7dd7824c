// SPDX-License-Identifier: Apache-2.0
/*
 * Untrusted call paths of a profile.  Random bytes would hardly ever pass a block's checksum, so
 * the input is the unpacked content.
 */
#include "store/paths.h"

#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fg_byte_reader reader = {data, data + size, false};
	struct fg_byte_reader again = reader;
	struct fg_stored_paths paths = {0};
	struct fg_error err = {0};

	if (fg_stored_paths_read(&reader, &paths, &err) == FG_OK) {
		FG_ASSERT(fg_stored_paths_read(&again, NULL, &err) == FG_OK);
		for (size_t i = 1; i < paths.count; i++)
			FG_ASSERT(paths.items[i].parent < i && paths.items[i].function);
	}
	fg_stored_paths_release(&paths);
	return 0;
}
