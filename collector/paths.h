/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two tables, both process-wide, insert-only and lock-free: frames (code address -> rule, id) and call paths
 * (parent path, frame -> id).  What is new is written to the trace at once by the thread that met it.  Signal-safe.
 */
#ifndef FG_COLLECTOR_PATHS_H
#define FG_COLLECTOR_PATHS_H

#include "collector/modules.h"
#include "collector/state.h"

struct fg_frame_entry {
	_Atomic uintptr_t key; /* the address */
	uint32_t module;
	uint32_t id;
	_Atomic uint64_t rule;
	uint64_t
		unused; /* a power of two finds its place sooner, and lies in one line of the cache */
};

enum {
	FG_LEVELS = 5
};

/* A table, and larger ones that follow when it is full. */
struct fg_level {
	void *entries;
	uint32_t mask;
	_Atomic uint32_t used;
};
extern struct fg_level fg__frame_levels[2][FG_LEVELS]; /* [exact] */
extern _Atomic uint32_t fg__frame_current[2];

struct fg_frame_info {
	uint64_t rule;
	uint32_t id; /* of the frame in the trace; 0 if the table is full */
};

int fg__paths_init(void);
/* Forget everything: a child of fork starts a file of its own. */
void fg__paths_clear(void);
/* What is known of the code at `pc`; `exact`: interrupted there, otherwise a return address. */
struct fg_frame_info fg__frame_find(struct fg_thread *thread, uintptr_t pc, bool exact);

static inline uint32_t fg__spread(uint64_t key)
{
	return (uint32_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 32);
}

/*
 * The same of a return address, if it is where it is looked for first, as nearly all are; else a rule of 0.  As long as no module
 * has gone (`any_gone`) none need be asked whether it lives.
 */
static inline struct fg_frame_info fg__frame_glance(uintptr_t pc, bool any_gone)
{
	const uint32_t newest = atomic_load_explicit(&fg__frame_current[0], memory_order_relaxed);
	const struct fg_level *level = &fg__frame_levels[0][newest];
	struct fg_frame_entry *entries = level->entries;
	struct fg_frame_entry *entry = &entries[fg__spread(pc) & level->mask];
	struct fg_frame_info info = {0, 0};

	if (FG_UNLIKELY(atomic_load_explicit(&entry->key, memory_order_acquire) != pc))
		return info;
	info.rule = atomic_load_explicit(&entry->rule, memory_order_acquire);
	info.id = entry->id;
	if (any_gone && !fg__module_live(entry->module))
		info.rule = 0;
	return info;
}

/* The path `parent` -> `frame`, 0 if the table is full.  frame 0: a cut that leaves out `removed` frames. */
uint32_t fg__path_extend(struct fg_thread *thread, uint32_t parent, uint32_t frame);
uint32_t fg__path_cut(struct fg_thread *thread, uint32_t parent, uint64_t removed);

#endif
