// SPDX-License-Identifier: Apache-2.0
/* Queries of the whole schema: all paths, a key's environment variable. */
#include "config/config.h"
#include "config/schema.h"

#include <ctype.h>

const struct fg_key *fg_schema_top(const struct fg_section *section)
{
	for (const struct fg_key *key = fg_config_schema.keys; section && key->name; key++) {
		if (key->section == section)
			return key;
	}
	return NULL;
}

struct walk {
	void (*visitor)(const struct fg_schema_visit *visit, void *ctx);
	void *ctx;
	struct fg_strbuf path;
};

static void walk_section(struct walk *walk, const struct fg_section *section, unsigned depth)
{
	for (const struct fg_key *key = section->keys; key->name; key++) {
		const size_t length = walk->path.length;
		struct fg_schema_visit visit = {.key = key, .depth = depth};

		fg_strbuf_printf(&walk->path, "%s%s", length > 0 ? "." : "", key->name);
		visit.path = fg_strbuf_text(&walk->path);
		walk->visitor(&visit, walk->ctx);
		/* `measure` and `gate` also exist inside each benchmark. */
		if (key->section && (depth == 0 || !fg_schema_top(key->section))) {
			if (key->any)
				fg_strbuf_printf(&walk->path, ".%s", key->any);
			walk_section(walk, key->section, depth + 1);
		}
		walk->path.length = length;
		walk->path.data[length] = '\0';
	}
}

void fg_schema_walk(void (*visitor)(const struct fg_schema_visit *visit, void *ctx), void *ctx)
{
	struct walk walk = {.visitor = visitor, .ctx = ctx};

	walk_section(&walk, &fg_config_schema, 0);
	fg_strbuf_release(&walk.path);
}

struct keys {
	struct fg_arena *arena;
	const char **items;
	size_t count;
	size_t capacity;
};

static void collect(const struct fg_schema_visit *visit, void *ctx)
{
	struct keys *keys = ctx;

	keys->items = fg_grow(keys->items, &keys->capacity, keys->count + 2, sizeof(const char *));
	keys->items[keys->count++] = fg_arena_strdup(keys->arena, visit->path);
	keys->items[keys->count] = NULL;
}

const char *const *fg_config_keys(struct fg_arena *arena)
{
	struct keys keys = {.arena = arena};
	const char **kept = NULL;

	fg_schema_walk(collect, &keys);
	kept = fg_arena_memdup(arena, keys.items, (keys.count + 1) * sizeof(const char *));
	free(keys.items);
	return kept;
}

bool fg_schema_variable(const char *path, struct fg_strbuf *name)
{
	static const char *const without[] = {"version", "benchmarks.", "gate.accept.",
					      "report.post."};

	for (size_t i = 0; i < FG_ARRAY_SIZE(without); i++) {
		if (strncmp(path, without[i], strlen(without[i])) == 0)
			return false;
	}
	fg_strbuf_add_text(name, "FASTGATE_");
	for (; *path; path++)
		fg_strbuf_printf(name, "%c", *path == '.' ? '_' : toupper((unsigned char)*path));
	return true;
}
