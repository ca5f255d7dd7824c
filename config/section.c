// SPDX-License-Identifier: Apache-2.0
/* Looks keys up in a section of the schema, by name and by path. */
#include "base/strbuf.h"
#include "config/schema.h"

#include <string.h>

const char **fg_section_names(const struct fg_section *section, struct fg_arena *arena)
{
	const char **names = NULL;
	size_t count = 0;

	while (section->keys[count].name)
		count++;
	names = fg_arena_array(arena, count + 1, sizeof(names[0]));
	for (size_t i = 0; i < count; i++)
		names[i] = section->keys[i].name;
	return names;
}

/*
 * Returns the length of the path's first part; *rest points to the next part, after any brackets
 * and the dot.
 */
static size_t part_of(const char *path, const char **rest)
{
	const size_t length = strcspn(path, ".[");

	*rest = path + length;
	if (**rest == '[')
		*rest += strcspn(*rest, ".");
	if (**rest == '.')
		(*rest)++;
	return length;
}

static const struct fg_key *find_part(const struct fg_section *section, const char *part,
				      size_t length)
{
	for (const struct fg_key *key = section->keys; key->name; key++) {
		if (strlen(key->name) == length && strncmp(key->name, part, length) == 0)
			return key;
	}
	return NULL;
}

const struct fg_key *fg_section_find(const struct fg_section *section, const char *name)
{
	return find_part(section, name, strlen(name));
}

const struct fg_key *fg_schema_find(const struct fg_section *section, const char *path,
				    struct fg_strbuf *where)
{
	const struct fg_key *key = NULL;

	while (*path) {
		const char *rest = NULL;
		size_t length = part_of(path, &rest);
		const struct fg_key *found = section ? find_part(section, path, length) : NULL;

		if (!found && key && key->any) {
			/*
			 * A user-defined name may contain dots, so search the rest of the path for
			 * a key of the section.
			 */
			fg_strbuf_printf(where, ".%s", key->any);
			if (!*rest || !section)
				return key;
			do {
				path = rest;
				length = part_of(path, &rest);
				found = find_part(section, path, length);
			} while (!found && *rest);
		} else if (found && key && key->any) {
			fg_strbuf_printf(where, ".%s", key->any);
		}
		if (!found)
			return NULL;
		fg_strbuf_printf(where, "%s%s", where->length > 0 ? "." : "", found->name);
		key = found;
		section = found->section;
		path = rest;
	}
	return key;
}
