// SPDX-License-Identifier: Apache-2.0
#include "base/fs.h"
#include "base/text.h"
#include "cli/session/migrate_parts.h"

#include <stdarg.h>

void fg_migration_note(struct fg_migration *migration, unsigned line, const char *format, ...)
{
	struct fg_strbuf text = {0};
	va_list ap;

	va_start(ap, format);
	fg_strbuf_vprintf(&text, format, ap);
	va_end(ap);
	migration->notes =
		fg_arena_grow(migration->arena, migration->notes, &migration->note_capacity,
			      migration->note_count + 1, sizeof(migration->notes[0]));
	migration->notes[migration->note_count++] = (struct fg_migration_note){
		.text = fg_arena_strdup(migration->arena, fg_strbuf_text(&text)), .line = line};
	fg_strbuf_release(&text);
}

static bool has_name(const struct fg_migration *migration, const char *name)
{
	for (size_t i = 0; i < migration->count; i++) {
		if (strcmp(migration->items[i].name, name) == 0)
			return true;
	}
	return false;
}

const char *fg_migration_name_of(const char *command, struct fg_arena *arena)
{
	const size_t length = strcspn(command, " \t\n");
	const char *word = fg_arena_strndup(arena, command, length);

	return fg_fs_base_name(word);
}

struct fg_migrated *fg_migration_add(struct fg_migration *migration, const char *name,
				     const struct fg_migrated *item)
{
	struct fg_arena *arena = migration->arena;
	struct fg_strbuf clean = {0};
	const char *first = NULL;
	struct fg_migrated *added = NULL;

	if (!name || !*name)
		name = fg_migration_name_of(item->command, arena);
	name += strspn(name, " -");
	fg_text_add_clean(&clean, name, strlen(name), 150);
	first = fg_arena_strdup(arena, clean.length ? fg_strbuf_text(&clean) : "benchmark");
	fg_strbuf_release(&clean);
	name = first;
	for (unsigned i = 2; has_name(migration, name); i++)
		name = fg_arena_printf(arena, "%s %u", first, i);
	migration->items = fg_arena_grow(arena, migration->items, &migration->capacity,
					 migration->count + 1, sizeof(migration->items[0]));
	added = &migration->items[migration->count++];
	*added = *item;
	added->name = name;
	return added;
}
