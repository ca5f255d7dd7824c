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
	FG_LATER_TABLES = 7,
	FG_LATER_SMALL_BYTES = 64 /* a blob of up to so many bytes is copied */
};

/*
 * Ids that the database hands out when the batch ends: until then a number below zero stands for
 * each, in any column that is kept.
 */
enum fg_later_id {
	FG_LATER_RUN,
	FG_LATER_SERIES,
	FG_LATER_IDS
};

struct fg_later {
	bool collects;              /* what is added from now on */
	int64_t *ids[FG_LATER_IDS]; /* while the batch is written */
	size_t id_count[FG_LATER_IDS];
	struct fg_arena texts;
	struct fg_later_rows tables[FG_LATER_TABLES]; /* in the order in which they are written */
	size_t table_count;
	struct fg_scoped *scoped; /* of several runs */
	size_t scoped_count;
	size_t scoped_capacity;
};

/*
 * Insert rows, or keep them while `collects` is set; then large blobs must live until the batch
 * ends.  Everything else is copied.
 */
int fg_store_add_rows(struct fg_store *store, enum fg_sql sql, const struct fg_rows *rows,
		      struct fg_error *err) FG_NODISCARD;
/* Likewise, rows that have ids: they are kept whenever a batch is open. */
int fg_store_add_names(struct fg_store *store, enum fg_sql sql, const struct fg_rows *rows,
		       struct fg_error *err) FG_NODISCARD;
/* Likewise, call paths: ids, parents and functions. */
int fg_store_add_paths(struct fg_store *store, const struct fg_rows *rows, struct fg_error *err)
	FG_NODISCARD;
/*
 * Keep one row that gets an id, which is given as a number below zero.  If the row is there already
 * when the batch is written, nothing of the batch is: FG_EBUSY.  Only while `collects` is set.
 */
int64_t fg_store_add_later(struct fg_store *store, enum fg_later_id kind,
			   const struct fg_rows *rows);
/* Likewise; environments must live until the batch ends. */
int fg_store_add_conditions(struct fg_store *store, const struct fg_scoped *scoped, size_t count,
			    struct fg_error *err) FG_NODISCARD;
/* Write what was kept. */
int fg_store_write_later(struct fg_store *store, struct fg_error *err) FG_NODISCARD;
void fg_later_release(struct fg_later *later);

#endif
