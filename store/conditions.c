// SPDX-License-Identifier: Apache-2.0
/*
 * Each condition is stored once and found by its digest. A run has a row for each of its
 * conditions.
 */
#include "store/conditions.h"

#include "base/arena.h"
#include "base/hash.h"
#include "base/map.h"
#include "store/db.h"
#include "store/names.h"
#include "store/session.h"

enum {
	DIGEST_SIZE = FG_DIGEST_SIZE
};

/* A condition with its run and scope. */
struct item {
	uint8_t digest[DIGEST_SIZE];
	const struct fg_fact *fact;
	int64_t run;
	int64_t scope;
};

struct conditions {
	struct fg_arena arena;
	struct item *items;
	size_t count;
	/* items that the transaction does not know yet, each once */
	const struct item **unknown;
	struct fg_blob *digests;
	size_t unknown_count;
};

static void list_all(struct conditions *c, const struct fg_scoped *scoped, size_t count)
{
	size_t facts = 0;

	for (size_t i = 0; i < count; i++)
		facts += scoped[i].environment->count;
	c->items = fg_arena_array(&c->arena, facts, sizeof(*c->items));
	for (size_t i = 0; i < count; i++) {
		const struct fg_environment *environment = scoped[i].environment;

		for (size_t k = 0; k < environment->count; k++) {
			const struct fg_fact *fact = &environment->facts[k];
			struct item *item = &c->items[c->count++];

			*item = (struct item){
				.fact = fact, .run = scoped[i].run, .scope = scoped[i].scope};
			fg_digest(fact->key, fact->value, fact->identity ? "1" : "0", item->digest);
		}
	}
}

static void list_unknown(struct conditions *c, const struct fg_map *known)
{
	struct fg_map seen = {0};

	c->unknown = fg_arena_array(&c->arena, c->count, sizeof(*c->unknown));
	c->digests = fg_arena_array(&c->arena, c->count, sizeof(*c->digests));
	for (size_t i = 0; i < c->count; i++) {
		const uint8_t *digest = c->items[i].digest;
		bool is_new = false;

		if (fg_map_get(known, digest, DIGEST_SIZE))
			continue;
		(void)fg_map_add(&seen, digest, DIGEST_SIZE, 0, &is_new);
		if (!is_new)
			continue;
		c->digests[c->unknown_count] = (struct fg_blob){digest, DIGEST_SIZE};
		c->unknown[c->unknown_count++] = &c->items[i];
	}
	fg_map_release(&seen);
}

static void remember(struct fg_map *known, const struct item *item, int64_t row)
{
	(void)fg_map_add(known, item->digest, DIGEST_SIZE, (uint64_t)row, NULL);
}

/* Looks up the unknown conditions in the database; those that it lacks stay unknown. */
static int find_facts(struct fg_store *store, struct conditions *c, struct fg_error *err)
{
	const struct fg_rows rows = {
		.columns = {{.blobs = c->digests}}, .column_count = 1, .count = c->unknown_count};
	int64_t *found = fg_arena_array(&c->arena, c->unknown_count, sizeof(*found));
	const int status = fg_query_rows(store->db, FG_SQL_FACT_FIND, &rows, found, err);
	size_t left = 0;

	for (size_t i = 0; i < c->unknown_count && status == FG_OK; i++) {
		if (found[i]) {
			remember(&store->transaction.facts, c->unknown[i], found[i]);
			continue;
		}
		c->digests[left] = c->digests[i];
		c->unknown[left++] = c->unknown[i];
	}
	c->unknown_count = left;
	return status;
}

static int add_facts(struct fg_store *store, struct conditions *c, struct fg_error *err)
{
	const size_t count = c->unknown_count;
	int64_t *ids = fg_arena_array(&c->arena, count, sizeof(*ids));
	int64_t *identity = fg_arena_array(&c->arena, count, sizeof(*identity));
	const char **keys = fg_arena_array(&c->arena, count, sizeof(*keys));
	const char **values = fg_arena_array(&c->arena, count, sizeof(*values));
	const struct fg_rows rows = {.columns = {{.numbers = ids},
						 {.blobs = c->digests},
						 {.texts = keys},
						 {.texts = values},
						 {.numbers = identity}},
				     .column_count = 5,
				     .count = count};
	int64_t first = 0;

	if (count == 0)
		return FG_OK;
	FG_TRY(fg_db_next_id(store->db, FG_SQL_FACT_LAST, &first, err));
	for (size_t i = 0; i < count; i++) {
		const struct fg_fact *fact = c->unknown[i]->fact;

		ids[i] = first + (int64_t)i;
		keys[i] = fact->key;
		values[i] = fact->value;
		identity[i] = fact->identity;
		remember(&store->transaction.facts, c->unknown[i], ids[i]);
	}
	return fg_query_rows(store->db, FG_SQL_FACT_ADD, &rows, NULL, err);
}

static int put_rows(struct fg_store *store, struct conditions *c, struct fg_error *err)
{
	int64_t *runs = fg_arena_array(&c->arena, c->count, sizeof(*runs));
	int64_t *scopes = fg_arena_array(&c->arena, c->count, sizeof(*scopes));
	int64_t *facts = fg_arena_array(&c->arena, c->count, sizeof(*facts));
	const struct fg_rows rows = {
		.columns = {{.numbers = runs}, {.numbers = scopes}, {.numbers = facts}},
		.column_count = 3,
		.count = c->count};

	for (size_t i = 0; i < c->count; i++) {
		const struct item *item = &c->items[i];

		runs[i] = item->run;
		scopes[i] = item->scope;
		facts[i] =
			(int64_t)*fg_map_get(&store->transaction.facts, item->digest, DIGEST_SIZE);
	}
	return fg_query_rows(store->db, FG_SQL_RUN_FACT_ADD, &rows, NULL, err);
}

int fg_store_put_conditions(struct fg_store *store, const struct fg_scoped *scoped, size_t count,
			    struct fg_error *err)
{
	struct conditions c = {0};
	int status = FG_OK;

	list_all(&c, scoped, count);
	list_unknown(&c, &store->transaction.facts);
	status = find_facts(store, &c, err);
	if (status != FG_OK)
		goto out;
	status = add_facts(store, &c, err);
	if (status != FG_OK)
		goto out;
	status = put_rows(store, &c, err);
out:
	fg_arena_release(&c.arena);
	return status;
}
