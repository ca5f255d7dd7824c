// SPDX-License-Identifier: Apache-2.0
/*
 * The conditions of a run.  The identity of a machine or a build is the same in hundreds of runs:
 * it is stored once, as a set known by the digest of its members, and a run has one row for it.
 * What may differ each time (the machine's load) is a row of the run: with a row for each
 * condition, a run of 40 KB would change sixty pages of the index by condition.
 */
#include "store/conditions.h"

#include "base/arena.h"
#include "base/hash.h"
#include "base/map.h"
#include "model/environment.h"
#include "store/db.h"
#include "store/names.h"
#include "store/session.h"

enum {
	DIGEST_SIZE = FG_DIGEST_SIZE
};

/* A condition, and where it belongs. */
struct item {
	uint8_t digest[DIGEST_SIZE];
	const struct fg_fact *fact;
	int64_t run;
	int64_t scope;
	int64_t row;
};

struct items {
	struct item *list;
	size_t count;
};

/* The shared conditions of one scope. */
struct set {
	uint8_t digest[DIGEST_SIZE];
	struct items items;
	int64_t run;
	int64_t scope;
	int64_t row;
};

struct conditions {
	struct fg_arena arena;
	struct items single;
	struct set *sets;
	size_t set_count;
};

/* An environment is sorted by key, so the same conditions give the same digest. */
static void name_set(struct set *set)
{
	uint8_t digest[FG_SHA256_SIZE];
	struct fg_sha256 sha;

	fg_sha256_init(&sha);
	for (size_t i = 0; i < set->items.count; i++)
		fg_sha256_add(&sha, set->items.list[i].digest, DIGEST_SIZE);
	fg_sha256_finish(&sha, digest);
	memcpy(set->digest, digest, DIGEST_SIZE);
}

static void list_scope(struct conditions *c, const struct fg_scoped *scoped)
{
	const struct fg_environment *environment = scoped->environment;
	struct set set = {.run = scoped->run,
			  .scope = scoped->scope,
			  .items = {.list = fg_arena_array(&c->arena, environment->count,
							   sizeof(*set.items.list))}};

	for (size_t i = 0; i < environment->count; i++) {
		const struct fg_fact *fact = &environment->facts[i];
		struct items *to = fact->identity ? &set.items : &c->single;
		struct item *item = &to->list[to->count++];

		*item = (struct item){.fact = fact, .run = scoped->run, .scope = scoped->scope};
		fg_digest(fact->key, fact->value, fact->identity ? "1" : "0", item->digest);
	}
	if (set.items.count == 0)
		return;
	name_set(&set);
	c->sets[c->set_count++] = set;
}

static void list_all(struct conditions *c, const struct fg_scoped *scoped, size_t count)
{
	size_t facts = 0;

	for (size_t i = 0; i < count; i++)
		facts += scoped[i].environment->count;
	c->single.list = fg_arena_array(&c->arena, facts, sizeof(*c->single.list));
	c->sets = fg_arena_array(&c->arena, count, sizeof(*c->sets));
	for (size_t i = 0; i < count; i++)
		list_scope(c, &scoped[i]);
}

/* Rows found by digest: which are known, which to look up. */
struct by_digest {
	struct fg_map *known;  /* digest → row */
	struct fg_blob *blobs; /* unknown ones, each once */
	void **of;             /* the value of each */
	size_t count;
};

static void want(struct by_digest *b, struct fg_map *seen, const uint8_t *digest, void *what)
{
	bool is_new = false;

	if (fg_map_get(b->known, digest, DIGEST_SIZE))
		return;
	(void)fg_map_add(seen, digest, DIGEST_SIZE, 0, &is_new);
	if (!is_new)
		return;
	b->blobs[b->count] = (struct fg_blob){digest, DIGEST_SIZE};
	b->of[b->count++] = what;
}

static void remember(struct by_digest *b, size_t i, int64_t row)
{
	(void)fg_map_add(b->known, b->blobs[i].data, DIGEST_SIZE, (uint64_t)row, NULL);
}

/* Look up in the database; keep those that it does not have. */
static int find(struct fg_store *store, struct conditions *c, struct by_digest *b, enum fg_sql sql,
		struct fg_error *err)
{
	const struct fg_rows rows = {
		.columns = {{.blobs = b->blobs}}, .column_count = 1, .count = b->count};
	int64_t *found = fg_arena_array(&c->arena, b->count, sizeof(*found));
	const int status = fg_query_rows(store->db, sql, &rows, found, err);
	size_t left = 0;

	for (size_t i = 0; i < b->count && status == FG_OK; i++) {
		if (found[i]) {
			remember(b, i, found[i]);
			continue;
		}
		b->blobs[left] = b->blobs[i];
		b->of[left++] = b->of[i];
	}
	b->count = left;
	return status;
}

static int64_t row_of(const struct fg_map *known, const uint8_t *digest)
{
	return (int64_t)*fg_map_get(known, digest, DIGEST_SIZE);
}

static int add_facts(struct fg_store *store, struct conditions *c, struct by_digest *b,
		     struct fg_error *err)
{
	int64_t *ids = fg_arena_array(&c->arena, b->count, sizeof(*ids));
	int64_t *identity = fg_arena_array(&c->arena, b->count, sizeof(*identity));
	const char **keys = fg_arena_array(&c->arena, b->count, sizeof(*keys));
	const char **values = fg_arena_array(&c->arena, b->count, sizeof(*values));
	const struct fg_rows rows = {.columns = {{.numbers = ids},
						 {.blobs = b->blobs},
						 {.texts = keys},
						 {.texts = values},
						 {.numbers = identity}},
				     .column_count = 5,
				     .count = b->count};
	int64_t first = 0;
	int status = fg_db_next_id(store->db, FG_SQL_FACT_LAST, &first, err);

	for (size_t i = 0; i < b->count && status == FG_OK; i++) {
		const struct fg_fact *fact = ((const struct item *)b->of[i])->fact;

		ids[i] = first + (int64_t)i;
		keys[i] = fact->key;
		values[i] = fact->value;
		identity[i] = fact->identity;
		remember(b, i, ids[i]);
	}
	if (status != FG_OK)
		return status;
	return fg_query_rows(store->db, FG_SQL_FACT_ADD, &rows, NULL, err);
}

static size_t count_items(const struct items *const *lists, size_t count)
{
	size_t all = 0;

	for (size_t i = 0; i < count; i++)
		all += lists[i]->count;
	return all;
}

/* Find or add the rows of the conditions of all these lists. */
static int find_facts(struct fg_store *store, struct conditions *c,
		      const struct items *const *lists, size_t count, struct fg_error *err)
{
	const size_t most = count_items(lists, count);
	struct by_digest b = {.known = &store->transaction.facts,
			      .blobs = fg_arena_array(&c->arena, most, sizeof(*b.blobs)),
			      .of = fg_arena_array(&c->arena, most, sizeof(*b.of))};
	struct fg_map seen = {0};
	int status = FG_OK;

	for (size_t l = 0; l < count; l++) {
		for (size_t i = 0; i < lists[l]->count; i++)
			want(&b, &seen, lists[l]->list[i].digest, &lists[l]->list[i]);
	}
	fg_map_release(&seen);
	status = find(store, c, &b, FG_SQL_FACT_FIND, err);
	if (status != FG_OK)
		return status;
	if (b.count)
		status = add_facts(store, c, &b, err);
	if (status != FG_OK)
		return status;
	for (size_t l = 0; l < count && status == FG_OK; l++) {
		for (size_t i = 0; i < lists[l]->count; i++)
			lists[l]->list[i].row =
				row_of(&store->transaction.facts, lists[l]->list[i].digest);
	}
	return status;
}

/* Store the members of the new sets. */
static int add_members(struct fg_store *store, struct conditions *c, const struct by_digest *b,
		       int64_t first, const struct items *const *lists, struct fg_error *err)
{
	const size_t most = count_items(lists, b->count);
	int64_t *sets = fg_arena_array(&c->arena, most, sizeof(*sets));
	int64_t *facts = fg_arena_array(&c->arena, most, sizeof(*facts));
	struct fg_rows rows = {.columns = {{.numbers = sets}, {.numbers = facts}},
			       .column_count = 2};

	for (size_t s = 0; s < b->count; s++) {
		for (size_t i = 0; i < lists[s]->count; i++) {
			sets[rows.count] = first + (int64_t)s;
			facts[rows.count++] = lists[s]->list[i].row;
		}
	}
	return fg_query_rows(store->db, FG_SQL_SET_FACT_ADD, &rows, NULL, err);
}

static int add_sets(struct fg_store *store, struct conditions *c, struct by_digest *b,
		    const struct items *const *lists, struct fg_error *err)
{
	int64_t *ids = fg_arena_array(&c->arena, b->count, sizeof(*ids));
	const struct fg_rows rows = {.columns = {{.numbers = ids}, {.blobs = b->blobs}},
				     .column_count = 2,
				     .count = b->count};
	int64_t first = 0;
	int status = fg_db_next_id(store->db, FG_SQL_FACT_SET_LAST, &first, err);

	for (size_t i = 0; i < b->count && status == FG_OK; i++) {
		ids[i] = first + (int64_t)i;
		remember(b, i, ids[i]);
	}
	if (status != FG_OK)
		return status;
	status = fg_query_rows(store->db, FG_SQL_FACT_SET_ADD, &rows, NULL, err);
	if (status != FG_OK)
		return status;
	return add_members(store, c, b, first, lists, err);
}

/* Find or add the rows of the sets, and of all conditions that have to be known by their row. */
static int find_all(struct fg_store *store, struct conditions *c, struct fg_error *err)
{
	const struct items **lists = fg_arena_array(&c->arena, c->set_count + 1, sizeof(*lists));
	struct by_digest b = {.known = &store->transaction.fact_sets,
			      .blobs = fg_arena_array(&c->arena, c->set_count, sizeof(*b.blobs)),
			      .of = fg_arena_array(&c->arena, c->set_count, sizeof(*b.of))};
	struct fg_map seen = {0};
	int status = FG_OK;

	for (size_t i = 0; i < c->set_count; i++)
		want(&b, &seen, c->sets[i].digest, &c->sets[i]);
	fg_map_release(&seen);
	status = find(store, c, &b, FG_SQL_FACT_SET_FIND, err);
	for (size_t i = 0; i < b.count; i++)
		lists[i] = &((const struct set *)b.of[i])->items;
	lists[b.count] = &c->single;
	if (status != FG_OK)
		return status;
	status = find_facts(store, c, lists, b.count + 1, err);
	if (status != FG_OK)
		return status;
	if (b.count)
		status = add_sets(store, c, &b, lists, err);
	if (status != FG_OK)
		return status;
	for (size_t i = 0; i < c->set_count && status == FG_OK; i++)
		c->sets[i].row = row_of(&store->transaction.fact_sets, c->sets[i].digest);
	return status;
}

/* Columns of the two tables that lead from a run to its conditions. */
struct links {
	int64_t *runs;
	int64_t *scopes;
	int64_t *rows;
	size_t count;
};

static struct links make_links(struct conditions *c, size_t count)
{
	return (struct links){.runs = fg_arena_array(&c->arena, count, sizeof(int64_t)),
			      .scopes = fg_arena_array(&c->arena, count, sizeof(int64_t)),
			      .rows = fg_arena_array(&c->arena, count, sizeof(int64_t))};
}

static void add_link(struct links *links, int64_t run, int64_t scope, int64_t row)
{
	links->runs[links->count] = run;
	links->scopes[links->count] = scope;
	links->rows[links->count++] = row;
}

static int put_links(struct fg_store *store, enum fg_sql sql, const struct links *links,
		     struct fg_error *err)
{
	const struct fg_rows rows = {.columns = {{.numbers = links->runs},
						 {.numbers = links->scopes},
						 {.numbers = links->rows}},
				     .column_count = 3,
				     .count = links->count};

	return fg_query_rows(store->db, sql, &rows, NULL, err);
}

int fg_store_put_conditions(struct fg_store *store, const struct fg_scoped *scoped, size_t count,
			    struct fg_error *err)
{
	struct conditions c = {0};
	struct links sets;
	struct links facts;
	int status = FG_OK;

	list_all(&c, scoped, count);
	status = find_all(store, &c, err);
	sets = make_links(&c, c.set_count);
	facts = make_links(&c, c.single.count);
	for (size_t i = 0; i < c.set_count; i++)
		add_link(&sets, c.sets[i].run, c.sets[i].scope, c.sets[i].row);
	for (size_t i = 0; i < c.single.count; i++)
		add_link(&facts, c.single.list[i].run, c.single.list[i].scope,
			 c.single.list[i].row);
	if (status != FG_OK)
		goto out;
	status = put_links(store, FG_SQL_RUN_SET_PUT, &sets, err);
	if (status != FG_OK)
		goto out;
	status = put_links(store, FG_SQL_RUN_FACT_ADD, &facts, err);
out:
	fg_arena_release(&c.arena);
	return status;
}
