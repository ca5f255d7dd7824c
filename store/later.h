/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows that a batch writes at its end, those of all its runs together: one trip to the database
 * for each table instead of one for each run.
 */
#ifndef FG_STORE_LATER_H
#define FG_STORE_LATER_H

#include "base/arena.h"
#include "base/base.h"
#include "base/error.h"
#include "store/conditions.h"
#include "store/db.h"

struct fg_store;

/* Rows of one query. */
struct fg_later_rows {
	enum fg_sql sql;
	struct fg_rows rows;
	size_t capacity;
};

enum {
	FG_LATER_TABLES = 3
};

struct fg_later {
	bool collects; /* what is added from now on */
	struct fg_arena texts;
	struct fg_later_rows tables[FG_LATER_TABLES]; /* in the order in which they are written */
	size_t table_count;
	struct fg_scoped *scoped; /* of several runs */
	size_t scoped_count;
	size_t scoped_capacity;
};

/*
 * Insert rows, or keep them while `collects` is set; then blobs must live until the batch ends.
 * Everything else is copied.
 */
int fg_store_add_rows(struct fg_store *store, enum fg_sql sql, const struct fg_rows *rows,
		      struct fg_error *err) FG_NODISCARD;
/* Likewise; environments must live until the batch ends. */
int fg_store_add_conditions(struct fg_store *store, const struct fg_scoped *scoped, size_t count,
			    struct fg_error *err) FG_NODISCARD;
/* Write what was kept. */
int fg_store_write_later(struct fg_store *store, struct fg_error *err) FG_NODISCARD;
void fg_later_release(struct fg_later *later);

#endif
