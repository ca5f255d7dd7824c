// SPDX-License-Identifier: Apache-2.0
#include "base/arena.h"
#include "base/map.h"
#include "base/strbuf.h"
#include "store/db.h"
#include "store/names.h"
#include "store/series_values.h"
#include "store/session.h"

/*
 * Reserves ids. The database is queried once per transaction, during which nobody else adds rows.
 */
static int give_ids(struct fg_store *store, size_t count, int64_t *first, struct fg_error *err)
{
	int64_t *next = &store->ids.next_function;
	int status = FG_OK;

	if (*next == 0)
		status = fg_db_next_id(store->db, FG_SQL_FUNCTION_LAST, next, err);
	*first = *next;
	*next += (int64_t)count;
	return status;
}

static void function_key(const struct fg_profile_function *function, struct fg_strbuf *key)
{
	fg_strbuf_add_text(key, function->name);
	fg_strbuf_add_char(key, '\0');
	fg_strbuf_add_text(key, function->library ? function->library : "");
}

static int64_t known_function(struct fg_store *store, const struct fg_strbuf *key)
{
	const uint64_t *known = fg_map_get(&store->ids.functions, key->data, key->length);

	return known ? (int64_t)*known : 0;
}

static void remember_function(struct fg_store *store, const struct fg_profile_function *function,
			      int64_t id)
{
	struct fg_strbuf key = {0};

	function_key(function, &key);
	(void)fg_map_add(&store->ids.functions, key.data, key.length, (uint64_t)id, NULL);
	fg_strbuf_release(&key);
}

/* Functions without a known id. */
struct unknown {
	const struct fg_profile_function *functions;
	int64_t *ids;   /* ids of all functions */
	size_t *places; /* indexes of the unknown ones */
	uint8_t *digests;
	size_t count;
};

enum {
	DIGEST_SIZE = 16
};

static void list_unknown(struct fg_store *store, size_t count, struct unknown *u)
{
	struct fg_strbuf key = {0};

	for (size_t i = 0; i < count; i++) {
		const struct fg_profile_function *f = &u->functions[i];

		if (u->ids[i] == 0) {
			fg_strbuf_clear(&key);
			function_key(f, &key);
			u->ids[i] = known_function(store, &key);
		}
		if (u->ids[i] == 0) {
			fg_digest(f->name, f->library ? f->library : "", NULL,
				  u->digests + u->count * DIGEST_SIZE);
			u->places[u->count++] = i;
		}
	}
	fg_strbuf_release(&key);
}

static struct fg_blob *digest_column(struct fg_arena *arena, const struct unknown *u)
{
	struct fg_blob *blobs = fg_arena_array(arena, u->count, sizeof(*blobs));

	for (size_t i = 0; i < u->count; i++)
		blobs[i] = (struct fg_blob){u->digests + i * DIGEST_SIZE, DIGEST_SIZE};
	return blobs;
}

/* Looks functions up in the database; those that it has are no longer unknown. */
static int find_functions(struct fg_store *store, struct fg_arena *arena, struct unknown *u,
			  struct fg_error *err)
{
	const struct fg_rows rows = {.columns = {{.blobs = digest_column(arena, u)}},
				     .column_count = 1,
				     .count = u->count};
	int64_t *found = fg_arena_array(arena, u->count, sizeof(*found));
	const int status = fg_query_rows(store->db, FG_SQL_FUNCTION_FIND, &rows, found, err);
	size_t kept = 0;

	for (size_t i = 0; i < u->count && status == FG_OK; i++) {
		const size_t place = u->places[i];

		if (found[i]) {
			u->ids[place] = found[i];
			remember_function(store, &u->functions[place], found[i]);
			continue;
		}
		memmove(u->digests + kept * DIGEST_SIZE, u->digests + i * DIGEST_SIZE, DIGEST_SIZE);
		u->places[kept++] = place;
	}
	u->count = kept;
	return status;
}

static int add_functions(struct fg_store *store, struct fg_arena *arena, const struct unknown *u,
			 struct fg_error *err)
{
	int64_t *ids = fg_arena_array(arena, u->count, sizeof(*ids));
	int64_t *lines = fg_arena_array(arena, u->count, sizeof(*lines));
	int64_t *inlined = fg_arena_array(arena, u->count, sizeof(*inlined));
	const char **names = fg_arena_array(arena, u->count, sizeof(*names));
	const char **libraries = fg_arena_array(arena, u->count, sizeof(*libraries));
	const char **linkages = fg_arena_array(arena, u->count, sizeof(*linkages));
	const char **files = fg_arena_array(arena, u->count, sizeof(*files));
	const struct fg_rows rows = {.columns = {{.numbers = ids},
						 {.blobs = digest_column(arena, u)},
						 {.texts = names},
						 {.texts = libraries},
						 {.texts = linkages},
						 {.texts = files},
						 {.numbers = lines},
						 {.numbers = inlined}},
				     .column_count = 8,
				     .count = u->count};
	int64_t first = 0;
	int status = give_ids(store, u->count, &first, err);

	for (size_t i = 0; i < u->count; i++) {
		const struct fg_profile_function *f = &u->functions[u->places[i]];

		ids[i] = first + (int64_t)i;
		names[i] = f->name;
		libraries[i] = f->library ? f->library : "";
		linkages[i] = f->linkage;
		files[i] = f->file;
		lines[i] = f->line;
		inlined[i] = f->inlined;
	}
	if (status != FG_OK)
		return status;
	FG_TRY(fg_query_rows(store->db, FG_SQL_FUNCTION_ADD, &rows, NULL, err));
	for (size_t i = 0; i < u->count; i++) {
		u->ids[u->places[i]] = ids[i];
		remember_function(store, &u->functions[u->places[i]], ids[i]);
	}
	return FG_OK;
}

int fg_store_intern(struct fg_store *store, const struct fg_profile_function *functions,
		    size_t count, int64_t *ids, struct fg_error *err)
{
	struct fg_arena arena = {0};
	struct unknown u = {.functions = functions,
			    .places = fg_arena_array(&arena, count, sizeof(*u.places)),
			    .digests = fg_arena_array(&arena, count, DIGEST_SIZE)};
	int status = FG_OK;

	u.ids = ids;
	list_unknown(store, count, &u);
	if (u.count)
		status = find_functions(store, &arena, &u, err);
	if (u.count && status == FG_OK)
		status = add_functions(store, &arena, &u, err);
	fg_arena_release(&arena);
	return status;
}
