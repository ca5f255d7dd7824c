// SPDX-License-Identifier: Apache-2.0
/*
 * Functions by their ids, kept while the store is open: rows of `function` are never changed and never go, and whoever
 * shows one profile of a program shows the next one of the same program.
 */
#include "store/store_private.h"

enum {
	NAMES_MAX = 1 << 18, /* functions that a session keeps: some 50 MiB */
};

void fg__store_forget_names(struct fg_store *store)
{
	free(store->names);
	fg_arena_release(&store->names_arena);
	store->names = NULL;
	store->names_end = 0;
	store->names_capacity = 0;
}

static struct fg_profile_function *room(struct fg_store *store, size_t id)
{
	store->names = fg_grow(store->names, &store->names_capacity, id + 1, sizeof(*store->names));
	if (id >= store->names_end) {
		memset(store->names + store->names_end, 0,
		       (id + 1 - store->names_end) * sizeof(*store->names));
		store->names_end = id + 1;
	}
	return &store->names[id];
}

int fg__store_read_names(struct fg_store *store, size_t last, struct fg_error *err)
{
	struct fg_query q;
	int status = FG_OK;

	if (last < store->names_end)
		return FG_OK;
	fg_query_begin(&q, store->db, FG_SQL_FUNCTIONS_BETWEEN);
	fg_query_int(&q, (int64_t)store->names_end);
	fg_query_int(&q, (int64_t)last);
	while ((status = fg_query_step(&q, err)) > 0) {
		struct fg_arena *arena = &store->names_arena;
		struct fg_profile_function *name = room(store, (size_t)fg_column_int(&q, 0));

		*name = (struct fg_profile_function){
			.name = fg_arena_strdup(arena, fg_column_text(&q, 1)),
			.library = fg_arena_strdup(arena, fg_column_text(&q, 2)),
			.linkage = fg_arena_strdup(arena, fg_column_text(&q, 3)),
			.file = fg_arena_strdup(arena, fg_column_text(&q, 4)),
			.line = (unsigned)fg_column_int(&q, 5),
			.inlined = fg_column_int(&q, 6) != 0,
		};
	}
	fg_query_end(&q);
	if (status == FG_OK && last >= store->names_end)
		(void)room(store, last); /* ids without a row are not asked for again */
	return status;
}

bool fg__store_keeps_names(size_t last)
{
	return last < NAMES_MAX;
}

const struct fg_profile_function *fg__store_name(const struct fg_store *store, size_t id)
{
	return id < store->names_end && store->names[id].name ? &store->names[id] : NULL;
}
