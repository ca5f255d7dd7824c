// SPDX-License-Identifier: Apache-2.0
/*
 * Untrusted blocks of call paths. Random bytes would hardly ever pass the checksum, so the input is
 * the unpacked content, and the row around it matches it. A block that can be read must be written
 * unchanged.
 */
#include "store/path_block.h"

#include "tests/fuzz/fuzz.h"

static void same_again(const struct fg_path_block *block)
{
	struct fg_path_block again = {0};
	struct fg_bytes sealed = {0};
	struct fg_error err = {0};

	FG_ASSERT(fg_path_block_seal(block->first, block->paths, block->count, FG_PACK_LEVEL_QUICK,
				     &sealed, &err) == FG_OK);
	FG_ASSERT(fg_path_block_open(sealed.data, sealed.size, block->first, block->count, &again,
				     &err) == FG_OK);
	FG_ASSERT(memcmp(again.paths, block->paths, block->count * sizeof(*block->paths)) == 0);
	fg_path_block_release(&again);
	fg_bytes_release(&sealed);
}

static void use(const struct fg_path_block *block)
{
	for (size_t i = 0; i < block->count; i++) {
		const struct fg_call_path *path = &block->paths[i];
		const uint64_t found = fg_path_block_find(block, path->parent, path->function);

		FG_ASSERT(path->function && path->parent < block->first + i);
		FG_ASSERT(fg_path_block_has(block, path->parent) == (found != 0));
		FG_ASSERT(!found || block->paths[found - block->first].parent == path->parent);
	}
	same_again(block);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fg_byte_reader head = {data, data + size, false};
	struct fg_byte_reader reader = head;
	struct fg_path_block block = {0};
	struct fg_error err = {0};
	const uint64_t first = fg_read_varint(&head);
	const uint64_t count = fg_read_varint(&head);

	if (fg_path_block_read(&reader, first, count, &block, &err) == FG_OK) {
		use(&block);
		fg_path_block_release(&block);
	}
	return 0;
}
