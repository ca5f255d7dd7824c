// SPDX-License-Identifier: Apache-2.0
#include "store/path_block.h"

enum {
	CONTENT_MAX = (2 + 2 * FG_PATH_BLOCK_MAX) * FG_VARINT_MAX_BYTES
};

int fg_path_block_seal(uint64_t first, const struct fg_call_path *paths, size_t count, int level,
		       struct fg_bytes *packed, struct fg_error *err)
{
	struct fg_bytes content = {0};
	int status = FG_OK;

	FG_ASSERT(count > 0 && count <= FG_PATH_BLOCK_MAX);
	fg_bytes_varint(&content, first);
	fg_bytes_varint(&content, count);
	for (size_t i = 0; i < count; i++)
		fg_bytes_varint(&content, first + i - paths[i].parent);
	fg_bytes_break(&content);
	for (size_t i = 0; i < count; i++)
		fg_bytes_varint(&content, paths[i].function);
	status = fg_pack_bytes(&content, level, packed, err);
	fg_bytes_release(&content);
	return status;
}

/* The parent's place in the block; false: it is not in it. */
static bool place_of_parent(const struct fg_path_block *block, size_t i, size_t *place)
{
	const uint64_t parent = block->paths[i].parent;

	*place = (size_t)(parent - block->first);
	return parent >= block->first;
}

static bool read_paths(struct fg_byte_reader *reader, struct fg_path_block *block)
{
	bool good = true;

	for (size_t i = 0; i < block->count; i++) {
		const uint64_t id = block->first + i;
		const uint64_t distance = fg_read_varint(reader);

		good = good && distance > 0 && distance <= id;
		block->paths[i].parent = id - distance;
	}
	for (size_t i = 0; i < block->count; i++) {
		block->paths[i].function = fg_read_varint(reader);
		good = good && block->paths[i].function > 0 &&
		       block->paths[i].function <= INT64_MAX;
	}
	return good && !reader->failed && reader->at == reader->end;
}

static void link_children(struct fg_path_block *block)
{
	for (size_t i = block->count; i > 0; i--) {
		size_t parent = 0;

		if (!place_of_parent(block, i - 1, &parent))
			continue;
		block->siblings[i - 1] = block->children[parent];
		block->children[parent] = (uint16_t)i;
	}
}

int fg_path_block_read(struct fg_byte_reader *reader, uint64_t first, uint64_t count,
		       struct fg_path_block *block, struct fg_error *err)
{
	struct fg_path_block b = {.first = first, .count = (size_t)count};

	if (first == 0 || count == 0 || count > FG_PATH_BLOCK_MAX || first > INT64_MAX - count)
		return fg_error_set(err, FG_EPARSE, "%llu paths cannot be in a block from %llu on",
				    (unsigned long long)count, (unsigned long long)first);
	if (fg_read_varint(reader) != first || fg_read_varint(reader) != count || reader->failed)
		return fg_error_set(err, FG_EPARSE,
				    "the block does not hold the paths that its row lists");
	b.paths = fg_xcalloc(b.count, sizeof(*b.paths));
	b.children = fg_xcalloc(b.count, sizeof(*b.children));
	b.siblings = fg_xcalloc(b.count, sizeof(*b.siblings));
	if (!read_paths(reader, &b)) {
		fg_path_block_release(&b);
		return fg_error_set(err, FG_EPARSE,
				    "a path lacks its function or an earlier parent");
	}
	link_children(&b);
	*block = b;
	return FG_OK;
}

int fg_path_block_open(const void *packed, size_t size, uint64_t first, uint64_t count,
		       struct fg_path_block *block, struct fg_error *err)
{
	struct fg_bytes content = {0};
	struct fg_byte_reader reader;
	int status = fg_unpack(packed, size, CONTENT_MAX, &content, err);

	if (status != FG_OK)
		return status;
	reader = (struct fg_byte_reader){content.data, content.data + content.size, false};
	status = fg_path_block_read(&reader, first, count, block, err);
	fg_bytes_release(&content);
	return status;
}

uint64_t fg_path_block_find(const struct fg_path_block *block, uint64_t parent, uint64_t function)
{
	size_t next = 0;

	if (!fg_path_block_has(block, parent))
		return 0;
	for (next = block->children[parent - block->first]; next;
	     next = block->siblings[next - 1]) {
		if (block->paths[next - 1].function == function)
			return block->first + next - 1;
	}
	return 0;
}

void fg_path_block_release(struct fg_path_block *block)
{
	free(block->paths);
	free(block->children);
	free(block->siblings);
	*block = (struct fg_path_block){0};
}
