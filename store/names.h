/* SPDX-License-Identifier: Apache-2.0 */
/* Finds or adds rows that are identified by a name, a string or a digest. */
#ifndef FG_STORE_NAMES_H
#define FG_STORE_NAMES_H

#include "base/map.h"
#include "store/db.h"

struct fg_store;

/* Each function finds or adds one row. */
int fg_store_project(struct fg_store *store, const char *name, int64_t *id, struct fg_error *err)
	FG_NODISCARD;

int fg_store_benchmark_id(struct fg_store *store, const char *project, const char *name,
			  int64_t *id, struct fg_error *err) FG_NODISCARD;
int fg_store_text_id(struct fg_store *store, const char *text, int64_t *id, struct fg_error *err)
	FG_NODISCARD;
/*
 * Looks up several strings at once, so that fg_store_text_id() needs no query for a known string.
 * Skips NULLs.
 */
int fg_store_find_texts(struct fg_store *store, const char *const *texts, size_t count,
			struct fg_error *err) FG_NODISCARD;

enum {
	FG_DIGEST_SIZE = 16
};

void fg_digest(const char *a, const char *b, const char *c, uint8_t digest[FG_DIGEST_SIZE]);

static inline struct fg_blob fg_digest_blob(const uint8_t digest[FG_DIGEST_SIZE])
{
	return (struct fg_blob){digest, FG_DIGEST_SIZE};
}

/* Items that are rows of a table, each stored once and found by its digest. */
struct fg_interned {
	enum fg_sql find, last, add;
	struct fg_map *known; /* digest → id; 0: not in the database when looked up */
	uint8_t (*digests)[FG_DIGEST_SIZE];
	const void *items;
	size_t count;
	/* Adds the row of an item that is new. */
	void (*add_row)(struct fg_rows *rows, int64_t id, const struct fg_interned *all, size_t i);
};

/* Finds or adds all items; ids[i] becomes the id of item i. */
int fg_store_intern_all(struct fg_store *store, const struct fg_interned *all, int64_t *ids,
			struct fg_error *err) FG_NODISCARD;

/* Finds the row with this digest. FG_ENOENT (without a message): no such row. */
int fg_store_look_up(struct fg_store *store, enum fg_sql sql, const uint8_t digest[FG_DIGEST_SIZE],
		     int64_t *id, struct fg_error *err) FG_NODISCARD;

#endif
