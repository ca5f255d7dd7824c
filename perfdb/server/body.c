// SPDX-License-Identifier: Apache-2.0
#include "base/fs.h"
#include "perfdb/server/request.h"

#include <sys/mman.h>

enum {
	FILE_FROM_BYTES = 1 << 20,
	RESERVED_BYTES = 256 << 10 /* maximum memory reserved for an announced size */
};

static void forget(struct fg_body *body)
{
	if (body->total) {
		atomic_fetch_sub(body->total, body->counted);
		atomic_fetch_sub(body->share, body->counted);
	}
	if (body->map)
		(void)munmap(body->map, body->size);
	if (body->has_file)
		(void)close(body->file);
	fg_strbuf_release(&body->bytes);
	body->map = NULL;
	body->has_file = false;
	body->counted = 0;
	body->size = 0;
}

static bool move_to_file(struct fg_body *body)
{
	if (fg_fs_unnamed(NULL, &body->file, NULL) != FG_OK)
		return false;
	body->has_file = true;
	if (fg_fs_write_all(body->file, body->bytes.data, body->bytes.length, NULL) != FG_OK)
		return false;
	fg_strbuf_release(&body->bytes);
	return true;
}

static bool keep(struct fg_body *body, const void *data, size_t size)
{
	if (!body->has_file && body->bytes.length + size > FILE_FROM_BYTES && !move_to_file(body))
		return false;
	if (body->has_file)
		return fg_fs_write_all(body->file, data, size, NULL) == FG_OK;
	/* Growing piece by piece would copy the data repeatedly. */
	if (!body->bytes.data)
		body->bytes.data =
			fg_grow(NULL, &body->bytes.capacity,
				1 + fg_min_size(body->announced, (size_t)RESERVED_BYTES), 1);
	fg_strbuf_add(&body->bytes, data, size);
	return true;
}

static bool count(struct fg_body *body, size_t size)
{
	const size_t total = atomic_fetch_add(body->total, size) + size;
	const size_t share = atomic_fetch_add(body->share, size) + size;

	body->counted += size;
	return total <= body->total_limit &&
	       share <= (body->limit > body->total_limit / 2 ? body->limit : body->total_limit / 2);
}

void fg_body_add(struct fg_body *body, const void *data, size_t size)
{
	if (body->state != FG_BODY_COMPLETE)
		return;
	if (!count(body, size))
		body->state = FG_BODY_NO_ROOM;
	else if (body->size + size > body->limit)
		body->state = FG_BODY_TOO_LARGE;
	else if (!keep(body, data, size))
		body->state = FG_BODY_NO_DISK;
	if (body->state == FG_BODY_COMPLETE)
		body->size += size;
	else
		forget(body);
}

const char *fg_body_data(struct fg_body *body)
{
	void *map = NULL;

	if (!body->has_file)
		return fg_strbuf_text(&body->bytes);
	if (!body->map) {
		map = mmap(NULL, body->size, PROT_READ, MAP_PRIVATE, body->file, 0);
		body->map = map == MAP_FAILED ? NULL : map;
	}
	return body->map;
}

void fg_body_release(struct fg_body *body)
{
	forget(body);
}
