// SPDX-License-Identifier: Apache-2.0
#include "binary/debug_cache.h"

#include "base/byte_source.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/text.h"
#include "binary/debug_index.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

struct array {
	/* address of a pointer whose type depends on the array: access it with memcpy() */
	void *place;
	size_t *count, *capacity;
	size_t size;
};

#define ARRAY(index, what)                                              \
 {                                                                      \
  &(index)->what##s, &(index)->what##_count, &(index)->what##_capacity, \
	  sizeof((index)->what##s[0])                                   \
 }

static void list_arrays(struct fg_debug_index *index, struct array arrays[FG_DEBUG_CACHE_ARRAYS])
{
	const struct array all[FG_DEBUG_CACHE_ARRAYS] = {
		ARRAY(index, range),
		ARRAY(index, unit),
		ARRAY(index, segment),
		ARRAY(index, scope),
		ARRAY(index, line),
		ARRAY(index, function),
		{&index->texts, &index->texts_size, &index->texts_capacity, 1},
	};

	memcpy(arrays, all, sizeof(all));
}

static size_t padded(size_t size)
{
	return (size + 7) & ~(size_t)7;
}

int fg_debug_index_save(const struct fg_debug_index *index, const char *cache_file,
			const char *build_id, struct fg_error *err)
{
	struct fg_debug_cache_header header = {.magic = FG_DEBUG_CACHE_MAGIC,
					       .byte_order = FG_DEBUG_CACHE_BYTE_ORDER};
	struct fg_debug_index copy = *index; /* the list takes non-const pointers */
	struct array arrays[FG_DEBUG_CACHE_ARRAYS];
	size_t at = sizeof(header);
	char *folder;
	char *bytes;
	int status;

	list_arrays(&copy, arrays);
	for (size_t i = 0; i < FG_DEBUG_CACHE_ARRAYS; i++) {
		header.counts[i] = *arrays[i].count;
		header.size += padded(*arrays[i].count * arrays[i].size);
	}
	if (header.size > FG_DEBUG_CACHE_MAX_BYTES)
		return fg_error_set(err, FG_ELIMIT, "%s would be larger than %d bytes", cache_file,
				    FG_DEBUG_CACHE_MAX_BYTES);
	(void)snprintf(header.build_id, sizeof(header.build_id), "%s", build_id);
	bytes = fg_xcalloc(1, sizeof(header) + (size_t)header.size);
	for (size_t i = 0; i < FG_DEBUG_CACHE_ARRAYS; i++) {
		size_t size = *arrays[i].count * arrays[i].size;
		const void *items;

		memcpy(&items, arrays[i].place, sizeof(items));
		if (size > 0)
			memcpy(bytes + at, items, size);
		at += padded(size);
	}
	header.crc = fg_crc32c(0, bytes + sizeof(header), (size_t)header.size);
	memcpy(bytes, &header, sizeof(header));
	folder = fg_fs_parent(cache_file);
	status = fg_fs_make_folders(folder, 0700, err);
	if (status == FG_OK)
		status = fg_fs_write_atomic(cache_file, bytes, sizeof(header) + (size_t)header.size,
					    0600, err);
	free(folder);
	free(bytes);
	return status;
}

static bool texts_are_sound(const struct fg_debug_index *index)
{
	return index->texts_size > 0 && index->texts[0] == '\0' &&
	       index->texts[index->texts_size - 1] == '\0';
}

static bool units_are_sound(const struct fg_debug_index *x)
{
	bool good = true;

	for (size_t i = 0; i < x->range_count; i++)
		good = good && x->ranges[i].unit < x->unit_count;
	for (size_t i = 0; i < x->unit_count; i++) {
		const struct fg_debug_unit *unit = &x->units[i];

		good = good && unit->first_segment <= x->segment_count &&
		       unit->segment_count <= x->segment_count - unit->first_segment &&
		       unit->first_line <= x->line_count &&
		       unit->line_count <= x->line_count - unit->first_line;
	}
	return good;
}

/* A scope's parent comes before it, so chains end. */
static bool tables_are_sound(const struct fg_debug_index *x)
{
	bool good = true;

	for (size_t i = 0; i < x->segment_count; i++)
		good = good && x->segments[i].scope <= x->scope_count;
	for (size_t i = 0; i < x->scope_count; i++)
		good = good && x->scopes[i].parent <= i &&
		       x->scopes[i].function < x->function_count &&
		       x->scopes[i].call_file < x->texts_size;
	for (size_t i = 0; i < x->line_count; i++)
		good = good && x->lines[i].file < x->texts_size;
	for (size_t i = 0; i < x->function_count; i++)
		good = good && x->functions[i].name < x->texts_size &&
		       x->functions[i].linkage < x->texts_size &&
		       x->functions[i].readable < x->texts_size &&
		       x->functions[i].file < x->texts_size;
	return good;
}

/* Reads the arrays. Returns false if the counts do not match the size, or the checksum is wrong. */
static bool take_arrays(struct fg_debug_index *index, const struct fg_debug_cache_header *header,
			const struct fg_source *source)
{
	struct array arrays[FG_DEBUG_CACHE_ARRAYS];
	uint64_t at = sizeof(*header);
	uint32_t crc = 0;

	list_arrays(index, arrays);
	for (size_t i = 0; i < FG_DEBUG_CACHE_ARRAYS; i++) {
		size_t size;
		void *items;

		if (header->counts[i] > FG_DEBUG_CACHE_MAX_BYTES / arrays[i].size)
			return false;
		size = padded((size_t)header->counts[i] * arrays[i].size);
		if (size > source->size - at)
			return false;
		items = fg_xmalloc(size ? size : 8);
		memcpy(arrays[i].place, &items, sizeof(items));
		*arrays[i].count = (size_t)header->counts[i];
		*arrays[i].capacity = (size_t)header->counts[i];
		if (!fg_source_read(source, at, items, size))
			return false;
		crc = fg_crc32c(crc, items, size);
		at += size;
	}
	return at == source->size && crc == header->crc;
}

int fg_debug_index_load(struct fg_debug_index *index, const char *cache_file, const char *build_id,
			const char *path, struct fg_error *err)
{
	struct fg_debug_index loaded = {0};
	struct fg_debug_cache_header header;
	struct fg_source source;
	bool good;
	int status =
		fg_source_open(cache_file, (uint64_t)FG_DEBUG_CACHE_MAX_BYTES * 2, &source, err);

	if (status != FG_OK)
		return status;
	good = fg_source_read(&source, 0, &header, sizeof(header)) &&
	       memcmp(header.magic, FG_DEBUG_CACHE_MAGIC, sizeof(header.magic)) == 0 &&
	       header.byte_order == FG_DEBUG_CACHE_BYTE_ORDER &&
	       header.build_id[sizeof(header.build_id) - 1] == '\0' &&
	       strcmp(header.build_id, build_id) == 0;
	good = good && take_arrays(&loaded, &header, &source) && texts_are_sound(&loaded) &&
	       units_are_sound(&loaded) && tables_are_sound(&loaded);
	fg_source_close(&source);
	if (!good) {
		fg_debug_index_release(&loaded);
		return fg_error_set(err, FG_EPARSE, "%s is not the symbol cache of build-id %s",
				    cache_file, build_id);
	}
	loaded.path = fg_xstrdup(path);
	loaded.loaded_texts = loaded.texts;
	loaded.loaded_texts_size = loaded.texts_size;
	*index = loaded;
	/* marks the file as recently used: see fg_debug_cache_prune() */
	(void)utimensat(AT_FDCWD, cache_file, NULL, 0);
	return FG_OK;
}

static void prune_file(void *context, const char *path)
{
	struct stat status;

	(void)context;
	if (fg_text_ends_with(path, ".fgsym") && lstat(path, &status) == 0 &&
	    S_ISREG(status.st_mode) &&
	    status.st_mtim.tv_sec < fg_clock_wall_ns() / FG_NS_PER_S - FG_DEBUG_CACHE_DAYS * 86400L)
		(void)unlink(path);
}

/* Prunes a folder of the cache, FOLDER/xx; other folders do not belong to the cache. */
static void prune_folder(void *context, const char *path)
{
	if (strlen(fg_fs_base_name(path)) == 2)
		(void)fg_fs_each(path, prune_file, context, NULL);
}

void fg_debug_cache_prune(const char *folder)
{
	(void)fg_fs_each(folder, prune_folder, NULL, NULL);
}

char *fg_debug_cache_file(const char *cache_folder, const char *build_id)
{
	return fg_xasprintf("%s/symbols/%.2s/%s.fgsym", cache_folder, build_id, build_id + 2);
}
