/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading what tiles.c wrote: 256 series of a benchmark that were sealed together, what a trend
 * shows of their runs, and the tiles of one function or one metric.
 */
#ifndef FG_STORE_SERVING_SEALS_H
#define FG_STORE_SERVING_SEALS_H

#include "base/arena.h"
#include "base/base.h"
#include "base/error.h"
#include "store/bytes.h"
#include "store/levels.h"
#include "store/serving/tiles.h"

struct fg_store;

struct fg_seal {
	int64_t number;
	int64_t after; /* series: the last one of the seal before */
	int64_t last;
	int64_t newest_ns; /* no run of it started later; INT64_MAX: unknown */
	bool has_metrics;
	/* Once it was read: */
	size_t alive; /* members that still exist */
	struct fg_bytes members;
	struct fg_bytes values; /* empty: the function, or the metric, was in none of them */
};

struct fg_seals {
	struct fg_seal *items; /* by number */
	size_t count;
	size_t capacity;
};

/* Without their members. */
int fg_seals_list(struct fg_store *store, int64_t benchmark, struct fg_seals *seals,
		  struct fg_error *err) FG_NODISCARD;
void fg_seals_release(struct fg_seals *seals);

/* Borrowed from the seal, without a NUL at its end; NULL: none. */
struct fg_member_text {
	const char *at;
	size_t length;
};

struct fg_member {
	int64_t series;
	int64_t started_ns;
	struct fg_member_text run;
	struct fg_member_text commit;
	struct fg_member_text branch;
	struct fg_member_text fingerprint;
	struct fg_member_text tag;
	bool is_profiled;
	bool dirty;
	bool complete;
};

/* How much a seal says of its members' runs. */
enum fg_seal_heads {
	FG_SEAL_NUMBERS, /* nothing: it was written by an old server, or members were missing */
	FG_SEAL_RUNS,    /* all but fingerprint, tag, dirty, complete */
	FG_SEAL_ALL
};

int fg_seal_members(const struct fg_seal *seal, struct fg_member members[FG_TILE_MEMBERS],
		    enum fg_seal_heads *heads, struct fg_error *err) FG_NODISCARD;

/* A copy in the arena, or the last one if it is the same; NULL stays NULL. */
const char *fg_member_copy(struct fg_arena *arena, const struct fg_member_text *text,
			   const char *last);

/* Which seals are read, and what becomes of them. */
struct fg_seal_walk {
	int64_t benchmark;
	int64_t key;  /* of the tiles: a function, or a metric below zero */
	size_t limit; /* runs that are wanted, those that started last; 0: all */
	void *context;
	/* How many are known by now; if enough, *since_ns is when the first of them started. */
	size_t (*count)(void *context, size_t limit, int64_t *since_ns);
	int (*take)(void *context, const struct fg_seal *seal, struct fg_error *err);
};

/*
 * From the newest seal on, as far as is needed: runs are mostly stored in the order in which they
 * started, and a seal knows when its newest run did.
 */
int fg_seals_walk(struct fg_store *store, const struct fg_seal_walk *walk, struct fg_seals *seals,
		  struct fg_error *err) FG_NODISCARD;

/* When the newest `limit` of so many starts began; the starts are left in another order. */
int64_t fg_newest_since(int64_t *starts_ns, size_t count, size_t limit);

/* The first `head` items come last: what was read before the seals started after them. */
void fg_put_head_last(void *items, size_t size, size_t head, size_t count);

/* One metric's levels in the members of a seal, as bytes and back. */
int64_t fg_metric_key(int64_t metric);
void fg_metric_tile_write(const struct fg_level levels[FG_TILE_MEMBERS], struct fg_bytes *content);
/* Outcomes are copied to the arena. */
int fg_metric_tile_read(const struct fg_bytes *content, struct fg_level levels[FG_TILE_MEMBERS],
			struct fg_arena *arena, struct fg_error *err) FG_NODISCARD;

#endif
