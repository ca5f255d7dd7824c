// SPDX-License-Identifier: Apache-2.0
/*
 * Functions are cached per session by id, because rows of `function` are never changed or deleted.
 * A table of up to ALL_MAX rows is read as a whole once, and later reads fetch only its new rows. A
 * larger table is read row by row.
 */
#include "store/functions.h"

#include "base/arena.h"
#include "model/profile_set.h"
#include "store/db.h"
#include "store/session.h"

enum {
	ALL_MAX = 200 * 1000 /* maximum number of rows read at once, and of rows kept */
};

static void take_row(struct fg_store *store, const struct fg_query *q)
{
	struct fg_functions *f = &store->functions;
	const size_t id = (size_t)fg_column_int(q, 0);
	struct fg_function_row *row = fg_arena_alloc(&f->arena, sizeof(*row));

	row->id = (uint64_t)id;
	row->function = (struct fg_profile_function){
		.name = fg_arena_strdup(&f->arena, fg_column_text(q, 1)),
		.library = fg_arena_strdup(&f->arena, fg_column_text(q, 2)),
		.linkage = fg_arena_strdup(&f->arena, fg_column_text(q, 3)),
		.file = fg_arena_strdup(&f->arena, fg_column_text(q, 4)),
		.line = (unsigned)fg_column_int(q, 5),
		.inlined = fg_column_int(q, 6) != 0,
	};
	(void)fg_map_add(&f->by_id, &row->id, sizeof(row->id), (uint64_t)(uintptr_t)row, NULL);
}

void fg_store_forget_functions(struct fg_store *store)
{
	fg_map_release(&store->functions.by_id);
	fg_arena_release(&store->functions.arena);
	store->functions = (struct fg_functions){0};
}

/* Reads the rows added since the last read. */
static int read_more(struct fg_store *store, struct fg_error *err)
{
	struct fg_query q;
	int64_t last = 0;
	int status = FG_OK;

	fg_query_begin(&q, store->db, FG_SQL_FUNCTION_LAST);
	status = fg_query_value(&q, &last, err);
	if (status != FG_OK || last - store->functions.last > ALL_MAX)
		return status;
	FG_QUERY_WITH(&q, store->db, FG_SQL_FUNCTIONS_AFTER, FG_BIND(store->functions.last));
	while ((status = fg_query_step(&q, err)) > 0)
		take_row(store, &q);
	fg_query_end(&q);
	if (status != FG_OK)
		return status;
	store->functions.last = last;
	return FG_OK;
}

static int read_one(struct fg_store *store, uint64_t id, struct fg_error *err)
{
	struct fg_query q;
	int status = FG_OK;

	FG_QUERY_WITH(&q, store->db, FG_SQL_FUNCTION_GET, FG_BIND((int64_t)id));
	status = fg_query_step(&q, err);
	if (status > 0)
		take_row(store, &q);
	else if (status == FG_OK)
		status = fg_error_set(err, FG_EDB, "%s is damaged: function %llu is missing",
				      store->db->name, (unsigned long long)id);
	fg_query_end(&q);
	return status < 0 ? status : FG_OK;
}

static const struct fg_function_row *known_row(const struct fg_store *store, uint64_t id)
{
	const uint64_t *at = fg_map_get(&store->functions.by_id, &id, sizeof(id));

	return at ? (const struct fg_function_row *)(uintptr_t)*at : NULL;
}

int fg_store_function(struct fg_store *store, uint64_t id, struct fg_function_row *row,
		      struct fg_error *err)
{
	const struct fg_function_row *known = known_row(store, id);
	int status = FG_OK;

	if (!known && (int64_t)id > store->functions.last) {
		status = read_more(store, err);
		known = known_row(store, id);
	}
	if (!known && status == FG_OK) {
		status = read_one(store, id, err);
		known = known_row(store, id);
	}
	if (status != FG_OK)
		return status;
	*row = *known;
	return FG_OK;
}

void fg_store_limit_functions(struct fg_store *store)
{
	if (store->functions.by_id.count > ALL_MAX)
		fg_store_forget_functions(store);
}
