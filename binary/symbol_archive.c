// SPDX-License-Identifier: Apache-2.0
#include "binary/symbol_archive.h"

#include "base/strbuf.h"

static struct fg_strbuf key_of(const char *build_id, const char *path)
{
	struct fg_strbuf key = {0};

	fg_strbuf_add(&key, build_id, strlen(build_id) + 1);
	fg_strbuf_add_text(&key, path);
	return key;
}

void fg_symbol_archive_index(struct fg_symbol_archive *archive)
{
	for (size_t i = 0; i < archive->module_count; i++) {
		const struct fg_symbol_files *module = &archive->modules[i];
		struct fg_strbuf key = key_of(module->build_id, module->path);

		(void)fg_map_add(&archive->index, key.data, key.length, i, NULL);
		if (*module->build_id)
			(void)fg_map_add_text(&archive->index, module->build_id, i, NULL);
		fg_strbuf_release(&key);
	}
}

const struct fg_symbol_files *fg_symbol_archive_find(const struct fg_symbol_archive *archive,
						     const char *path, const char *build_id)
{
	struct fg_strbuf key = key_of(build_id, path);
	const uint64_t *place = fg_map_get(&archive->index, key.data, key.length);

	fg_strbuf_release(&key);
	if (!place && *build_id)
		place = fg_map_get_text(&archive->index, build_id);
	return place ? &archive->modules[*place] : NULL;
}

const char *fg_symbol_archive_map(const struct fg_symbol_archive *archive, uint32_t pid)
{
	for (size_t i = 0; i < archive->map_count; i++) {
		if (archive->maps[i].pid == pid)
			return archive->maps[i].path;
	}
	return NULL;
}

void fg_symbol_archive_release(struct fg_symbol_archive *archive)
{
	free(archive->modules);
	free(archive->maps);
	fg_map_release(&archive->index);
	*archive = (struct fg_symbol_archive){0};
}
