// SPDX-License-Identifier: Apache-2.0
#include "store/paths.h"

void fg_stored_paths_write(const struct fg_profile_set *set, size_t first, const int64_t *functions,
			   struct fg_bytes *bytes)
{
	fg_bytes_varint(bytes, first);
	fg_bytes_varint(bytes, set->node_count - first);
	for (size_t i = first; i < set->node_count; i++)
		fg_bytes_varint(bytes, i - set->nodes[i].parent);
	for (size_t i = first; i < set->node_count; i++)
		fg_bytes_varint(bytes, (uint64_t)functions[set->nodes[i].function]);
}

static struct fg_stored_path *make_room(struct fg_stored_paths *paths, size_t count)
{
	const size_t had = paths->count ? paths->count : 1;

	paths->items = fg_grow(paths->items, &paths->capacity, had + count, sizeof(*paths->items));
	if (paths->count == 0)
		paths->items[0] = (struct fg_stored_path){0};
	paths->count = had + count;
	return paths->items + had;
}

int fg_stored_paths_read(struct fg_byte_reader *reader, struct fg_stored_paths *paths,
			 struct fg_error *err)
{
	const uint64_t first = fg_read_varint(reader);
	const size_t count = fg_read_count(reader, 2);
	struct fg_stored_paths own = {0};
	struct fg_stored_path *items = make_room(paths ? paths : &own, count);
	bool good = first > 0 && first < UINT32_MAX - count &&
		    (!paths || first == paths->count - count);

	for (size_t i = 0; i < count; i++) {
		const uint64_t distance = fg_read_varint(reader);

		good = good && distance > 0 && distance <= first + i;
		items[i].parent = (uint32_t)(first + i - distance);
	}
	for (size_t i = 0; i < count; i++) {
		items[i].function = fg_read_varint(reader);
		good = good && items[i].function > 0 && items[i].function <= INT64_MAX;
	}
	good = good && !reader->failed && reader->at == reader->end;
	fg_stored_paths_release(&own);
	return good ? FG_OK : fg_error_set(err, FG_EPARSE, "call paths are damaged or cut short");
}

void fg_stored_paths_release(struct fg_stored_paths *paths)
{
	free(paths->items);
	*paths = (struct fg_stored_paths){0};
}
