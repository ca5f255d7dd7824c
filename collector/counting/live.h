/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory and descriptors that the program holds: for each site (thread, region and call path), the
 * amount held now, its maximum, and the amount held at the peak of the whole process. Signal-safe.
 */
#ifndef FG_COLLECTOR_LIVE_H
#define FG_COLLECTOR_LIVE_H

#include "collector/counting/blocks.h"
#include "collector/sampler/state.h"

#include <stdbool.h>
#include <stddef.h>

/* Kinds of things held; each has its own peak. */
enum fg_held {
	FG_HELD_HEAP, /* bytes */
	FG_HELD_FDS,
	FG_HELD_COUNT,
};

struct fg_live_owner {
	enum fg_held what;
	uint32_t slot; /* slot of the thread */
	uint32_t thread;
	uint32_t region;
	uint32_t path;
};

/*
 * Returns the site for blocks and descriptors whose owner is unknown or has no room in the table;
 * 0: out of memory.
 */
uint32_t fg_live_unplaced(enum fg_held what);
/* Makes a site; if the table is full, returns fg_live_unplaced(). */
uint32_t fg_live_site(const struct fg_live_owner *owner);
/* Adds to or subtracts from the amount that the site holds. Any thread may call either function. */
void fg_live_grow(uint32_t site, size_t by);
void fg_live_shrink(uint32_t site, size_t by);
/*
 * Call after the allocation. `thread` is the calling thread, which must hold its `busy` flag; NULL:
 * unknown, or already inside the collector.
 */
void fg_live_add(const struct fg_thread *thread, uint32_t site, const void *address, size_t size);
/* Call before the block is freed. Returns its former state, for fg_live_restore(). */
struct fg_memory_block fg_live_remove(const struct fg_thread *thread, const void *address);
/* Checks how much of a large block was never touched. Call once, before it is freed. */
void fg_live_look(struct fg_memory_block block, const void *address);
/* Call if the block was not freed after all. */
void fg_live_restore(const struct fg_thread *thread, const void *address,
		     struct fg_memory_block block);

/* Names the measures of this kind in the trace. */
void fg_live_introduce(struct fg_thread *writer, enum fg_held what);
/* Writes the amounts that the sites hold, as a state that replaces the previous state. */
void fg_live_write(struct fg_thread *writer);
/*
 * Writes the amounts that the sites hold as new measures, "heap.live.1" etc.; the live state does
 * not change.
 */
void fg_live_dump(struct fg_thread *writer, uint32_t number);
/* Forgets all sites in a child of fork, where call paths are numbered from the start. */
void fg_live_forget(void);

/* ---- leaks.c ---- */

/*
 * Calls `lost` with each block that nothing in the program's memory points to. Other threads keep
 * running, so a pointer that one of them moves during the search may be missed. False: memory
 * cannot be searched here.
 */
bool fg_leaks_find(void (*lost)(const struct fg_memory_block *block));

enum {
	FG_PROC_LINES_ROOM = 1 << 14
};

/* Calls `take` with each line of a file below /proc. False: it cannot be read to its end. */
bool fg_proc_lines(const char *path, char room[FG_PROC_LINES_ROOM],
		   void (*take)(void *context, const char *line), void *context);

/* ---- mappings.c ---- */

/* The state of the heap. */
struct fg_held_now {
	size_t bytes;
	size_t most; /* maximum so far */
};

/* Reads the mappings if the heap has grown since the last time and the time spent allows it. */
void fg_mappings_look(struct fg_held_now now);
/* Writes the mappings near the peak and the current mappings, as part of a state. */
void fg_mappings_write(struct fg_thread *writer, struct fg_held_now now, uint32_t state);
/* In a child of fork: forgets the parent's mappings. */
void fg_mappings_forget(void);

#endif
