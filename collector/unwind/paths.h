/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two tables, both process-wide, insert-only and lock-free: frames (code address -> rule, id) and
 * call paths (parent path, frame -> id). The thread that adds an entry writes it to the trace at
 * once. Signal-safe.
 */
#ifndef FG_COLLECTOR_PATHS_H
#define FG_COLLECTOR_PATHS_H

#include "collector/sampler/state.h"
#include "collector/unwind/modules.h"
#include "collector/unwind/tables.h"

struct fg_frame_entry {
	_Atomic uintptr_t key; /* the frame's address */
	uint32_t module;
	uint32_t id;
	_Atomic uint64_t rule;
	struct fg_frame_entry *_Atomic caller; /* for a return address: its most recent caller */
};

extern struct fg_table_level fg_frame_levels[2][FG_LEVELS]; /* first index: `exact` */
extern _Atomic uint32_t fg_frame_current[2];

struct fg_frame_info {
	uint64_t rule;
	uint32_t id; /* number of the frame in the trace; 0: unknown, or the table is full */
	bool is_new; /* computed just now */
};

int fg_paths_init(void);
/* Forgets everything: a child of fork starts its own file. */
void fg_paths_clear(void);
/* Populates a few more pages of the tables. Call at the end of a handler. */
void fg_paths_prepare(void);
/*
 * Returns the frame at `pc`, which is the interrupted instruction if `exact`, and otherwise a
 * return address.
 */
struct fg_frame_info fg_frame_find(struct fg_thread *thread, uintptr_t pc, bool exact);
/* Like fg_frame_find(), for a frame of an earlier stack; no id if its code may be gone. */
struct fg_frame_info fg_frame_find_past(struct fg_thread *thread, uintptr_t pc, bool exact);

/* Returns a number for a non-native frame (collector/python/python_codes.c). */
uint32_t fg_frame_number(void);
/* Like fg_frame_find(), for a kernel address, which has no rules; 0: the table is full. */
uint32_t fg_frame_of_kernel(struct fg_thread *thread, uint64_t address, bool exact);

/* The newest table of return addresses, for the inner loop of a walk. */
struct fg_frame_look {
	struct fg_frame_entry *entries;
	uint32_t mask;
	bool any_gone; /* false while no module has gone: then no module needs to be checked */
};

static inline struct fg_frame_look fg_frame_look(void)
{
	const struct fg_table_level *level =
		&fg_frame_levels[0]
				[atomic_load_explicit(&fg_frame_current[0], memory_order_relaxed)];

	return (struct fg_frame_look){level->entries, level->mask,
				      atomic_load_explicit(&fg_g.any_gone, memory_order_acquire)};
}

/*
 * Returns the entry of a return address if it is near its first place, as nearly all entries are;
 * otherwise NULL. The entry's rule is 0 until it is published, and its module may be gone.
 */
static inline struct fg_frame_entry *fg_frame_glance(const struct fg_frame_look *look, uintptr_t pc)
{
	enum {
		GLANCES = 4
	};
	uint32_t at = fg_spread(pc);

	for (unsigned n = 0; n < GLANCES; n++, at++) {
		struct fg_frame_entry *entry = &look->entries[at & look->mask];

		if (FG_LIKELY(atomic_load_explicit(&entry->key, memory_order_acquire) == pc))
			return entry;
	}
	return NULL;
}

/*
 * Like fg_frame_glance(), for the caller of `entry`. Most functions have the same caller as before.
 * Looking at that caller first takes a third of the time: the processor speculates on it while the
 * return address is still being loaded from the stack.
 */
static inline struct fg_frame_entry *fg_frame_follow(const struct fg_frame_look *look,
						     struct fg_frame_entry *entry, uintptr_t pc)
{
	struct fg_frame_entry *caller = atomic_load_explicit(&entry->caller, memory_order_acquire);

	if (FG_LIKELY(caller && atomic_load_explicit(&caller->key, memory_order_acquire) == pc))
		return caller;
	caller = fg_frame_glance(look, pc);
	if (caller)
		atomic_store_explicit(&entry->caller, caller, memory_order_release);
	return caller;
}

/*
 * The most recently requested child, by path id: frame << 32 | id. Most paths have one child, and
 * the paths of a stack were numbered consecutively when it was first walked, so they are adjacent
 * here.
 */
extern _Atomic uint64_t *fg_path_hints;
extern uint32_t fg_path_hint_count;

uint32_t fg_path_find(struct fg_thread *thread, uint32_t parent, uint32_t frame);

/* Returns the path `parent` -> `frame`; 0: the table is full. */
static inline uint32_t fg_path_extend(struct fg_thread *thread, uint32_t parent, uint32_t frame)
{
	if (FG_LIKELY(parent < fg_path_hint_count)) {
		const uint64_t hint =
			atomic_load_explicit(&fg_path_hints[parent], memory_order_acquire);

		if (FG_LIKELY(hint >> 32 == frame))
			return (uint32_t)hint;
	}
	return fg_path_find(thread, parent, frame);
}
/* Returns the path `parent` -> a cut that leaves out `removed` frames; 0: the table is full. */
uint32_t fg_path_cut(struct fg_thread *thread, uint32_t parent, uint64_t removed);

#endif
