// SPDX-License-Identifier: Apache-2.0
/*
 * Each condition is stored once and found by its digest. A run has a row for each of its
 * conditions.
 */
#include "store/conditions.h"

#include "base/arena.h"
#include "store/db.h"
#include "store/names.h"
#include "store/session.h"

static void add_fact(struct fg_rows *rows, int64_t id, const struct fg_interned *all, size_t i)
{
	const struct fg_fact *fact = ((const struct fg_fact *const *)all->items)[i];

	FG_ROWS_ADD(rows, FG_BIND(id), FG_BIND(fg_digest_blob(all->digests[i])), FG_BIND(fact->key),
		    FG_BIND(fact->value), FG_BIND(fact->identity));
}

int fg_store_put_conditions(struct fg_store *store, const struct fg_scoped *scoped, size_t count,
			    struct fg_error *err)
{
	struct fg_interned all = {
		.find = FG_SQL_FACT_FIND,
		.last = FG_SQL_FACT_LAST,
		.add = FG_SQL_FACT_ADD,
		.known = &store->transaction.facts,
		.add_row = add_fact,
	};
	struct fg_arena arena = {0};
	struct fg_rows rows = {0};
	const struct fg_fact **facts = NULL;
	int64_t *ids = NULL;
	size_t most = 0;
	int status = FG_OK;

	for (size_t i = 0; i < count; i++)
		most += scoped[i].environment->count;
	ids = fg_arena_array(&arena, most, sizeof(*ids));
	facts = fg_arena_array(&arena, most, sizeof(*facts));
	all.digests = fg_arena_array(&arena, most, FG_DIGEST_SIZE);
	all.items = facts;
	for (size_t i = 0; i < count; i++) {
		for (size_t k = 0; k < scoped[i].environment->count; k++) {
			const struct fg_fact *fact = &scoped[i].environment->facts[k];

			fg_digest(fact->key, fact->value, fact->identity ? "1" : "0",
				  all.digests[all.count]);
			facts[all.count++] = fact;
		}
	}
	FG_TRY_OUT(fg_store_intern_all(store, &all, ids, err));
	for (size_t i = 0, n = 0; i < count; i++) {
		for (size_t k = 0; k < scoped[i].environment->count; k++, n++)
			FG_ROWS_ADD(&rows, FG_BIND(scoped[i].run), FG_BIND(scoped[i].scope),
				    FG_BIND(ids[n]));
	}
	status = fg_query_rows(store->db, FG_SQL_RUN_FACT_ADD, &rows, NULL, err);
out:
	fg_rows_release(&rows);
	fg_arena_release(&arena);
	return status;
}
