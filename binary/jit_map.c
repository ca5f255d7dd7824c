// SPDX-License-Identifier: Apache-2.0
#include "binary/jit_map.h"

#include "base/fs.h"
#include "base/sort.h"
#include "base/sorted.h"

#include <sys/stat.h>
#include <unistd.h>

enum {
	MAX_BYTES = 256 << 20,
};

FG_ORDER_BY(by_start, struct fg_jit_entry, FG_UP(start), FG_UP(order))

static void add(struct fg_jit_map *map, uint64_t start, uint64_t size, const char *name)
{
	if (!*name || size == 0 || start > UINT64_MAX - size)
		return;
	map->entries =
		fg_grow(map->entries, &map->capacity, map->count + 1, sizeof(map->entries[0]));
	map->entries[map->count] = (struct fg_jit_entry){
		.start = start, .end = start + size, .name = name, .order = (uint32_t)map->count};
	map->count++;
}

/*
 * Lines other than "START SIZE NAME" are skipped: a JIT compiler may be killed while writing.
 */
static void take_line(char *line, struct fg_jit_map *map)
{
	char *behind;
	uint64_t start = strtoull(line, &behind, 16);
	uint64_t size;
	char *name;

	if (behind == line || *behind != ' ')
		return;
	size = strtoull(behind + 1, &name, 16);
	if (name == behind + 1 || *name != ' ')
		return;
	add(map, start, size, name + 1);
}

void fg_jit_map_parse(char *text, struct fg_jit_map *map)
{
	char *rest = text;

	map->text = text;
	for (char *line = strsep(&rest, "\n"); line; line = strsep(&rest, "\n"))
		take_line(line, map);
	if (map->count > 0)
		qsort(map->entries, map->count, sizeof(map->entries[0]), by_start);
}

int fg_jit_map_read(const char *path, struct fg_jit_map *map, struct fg_error *err)
{
	struct stat facts;
	char *text;

	if (lstat(path, &facts) != 0)
		return fg_error_errno(err, FG_ENOENT, "%s", path);
	if (!S_ISREG(facts.st_mode) || (facts.st_uid != geteuid() && facts.st_uid != 0))
		return fg_error_set(err, FG_EINVAL,
				    "%s is not a regular file owned by this user or root", path);
	FG_TRY(fg_fs_read_regular(path, MAX_BYTES, &text, NULL, err));
	fg_jit_map_parse(text, map);
	return FG_OK;
}

const char *fg_jit_map_find(const struct fg_jit_map *map, uint64_t address)
{
	enum {
		/* entries tried: shorter code may have replaced a part of a longer entry */
		LOOK_BACK = 16
	};
	const size_t low = fg_sorted_up_to(
		FG_SORTED(map->entries, map->count, struct fg_jit_entry, start), address);

	for (size_t back = 0; back < LOOK_BACK && back < low; back++)
		if (address < map->entries[low - back - 1].end)
			return map->entries[low - back - 1].name;
	return NULL;
}

/*
 * Returns the start of the file in "JS:*hot /a/b.js:1:13" or "JS:*hot file:///a/b.mjs:1:13", or
 * NULL.
 */
static const char *find_file(const char *name, size_t *before)
{
	static const char *const beginnings[] = {" file:///", " /"};

	for (size_t i = 0; i < FG_ARRAY_SIZE(beginnings); i++) {
		const char *at = strstr(name, beginnings[i]);

		if (!at)
			continue;
		*before = (size_t)(at - name);
		return at + strlen(beginnings[i]) - 1;
	}
	return NULL;
}

/* Returns the last colon before `end` if only digits lie between the two, or NULL. */
static const char *number_before(const char *begin, const char *end)
{
	const char *at = end;

	while (at > begin && at[-1] >= '0' && at[-1] <= '9')
		at--;
	return at < end && at > begin && at[-1] == ':' ? at - 1 : NULL;
}

bool fg_jit_place_read(const char *name, struct fg_jit_place *place)
{
	size_t head = 0;
	const char *file = find_file(name, &head);
	const char *column = file ? number_before(file, file + strlen(file)) : NULL;
	const char *line = column ? number_before(file, column) : NULL;
	const char *base = line;
	bool is_named = false;

	if (!line)
		return false;
	while (base > file && base[-1] != '/')
		base--;
	/* In "JS:*" the compiler's mark comes last, and no name follows. */
	is_named = head > 0 && !strchr(":*~^+", name[head - 1]);
	*place = (struct fg_jit_place){
		.file = fg_xstrndup(file, (size_t)(line - file)),
		.line = (unsigned)strtoul(line + 1, NULL, 10),
		.name = fg_xasprintf("%.*s %.*s", (int)head, name,
				     (int)(is_named ? (size_t)(line - base) : strlen(base)), base),
	};
	return true;
}

void fg_jit_map_release(struct fg_jit_map *map)
{
	free(map->entries);
	free(map->text);
	*map = (struct fg_jit_map){0};
}
