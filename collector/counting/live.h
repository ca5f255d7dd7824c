/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory and descriptors that the program holds: by site (thread, region and call path) the bytes
 * that are live, the most that were, and what was live when the whole process held the most.
 * Signal-safe.
 */
#ifndef FG_COLLECTOR_LIVE_H
#define FG_COLLECTOR_LIVE_H

#include "collector/counting/blocks.h"

#include <stdbool.h>
#include <stddef.h>

struct fg_thread;

/* Kinds of things held; each has its own peak. */
enum fg_held {
	FG_HELD_HEAP, /* bytes */
	FG_HELD_FDS,
	FG_HELD_COUNT,
};

struct fg_live_owner {
	enum fg_held what;
	uint32_t slot; /* of the thread */
	uint32_t thread;
	uint32_t region;
	uint32_t path;
};

/* The site for things without a place; 0: out of memory. */
uint32_t fg_live_nobody(enum fg_held what);
/* A new site, or that of nobody if the table is full. */
uint32_t fg_live_site(const struct fg_live_owner *owner);
/* The site holds more, or less, whichever thread says so. */
void fg_live_grow(uint32_t site, size_t by);
void fg_live_shrink(uint32_t site, size_t by);
/*
 * After the block was allocated.  `thread` is the calling one, under its `busy`; NULL: not known,
 * or inside the collector already.
 */
void fg_live_add(const struct fg_thread *thread, uint32_t site, const void *address, size_t size);
/* Before it is freed.  Returns what it was, for fg_live_restore(). */
struct fg_memory_block fg_live_remove(const struct fg_thread *thread, const void *address);
/* How much of a large block was never touched?  Before it is freed, once. */
void fg_live_look(struct fg_memory_block block, const void *address);
/* It was not freed after all. */
void fg_live_restore(const struct fg_thread *thread, const void *address,
		     struct fg_memory_block block);

/* Names the measures of this kind in the trace. */
void fg_live_introduce(struct fg_thread *writer, enum fg_held what);
/* Write what is live now, as a state that replaces the one before. */
void fg_live_write(struct fg_thread *writer);
/* Write what is live now under measures of its own, "heap.live.1"; it stays as it is. */
void fg_live_dump(struct fg_thread *writer, uint32_t number);
/* For a child of fork: call paths are numbered from the start. */
void fg_live_forget(void);

/* ---- leaks.c ---- */

/*
 * Calls `lost` with each block that nothing in the program's memory points to.  Other threads may
 * run on: what they move meanwhile may be found in neither place.  False: memory cannot be searched
 * here.
 */
bool fg_leaks_find(void (*lost)(const struct fg_memory_block *block));

#endif
