/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps out of a libc that has no unwind tables: musl.  Internal to collector/unwind/.
 */
#ifndef FG_COLLECTOR_WALK_BARE_H
#define FG_COLLECTOR_WALK_BARE_H

#include "collector/unwind/walk_state.h"

enum fg_bare_step {
	FG_BARE_NOT,    /* the walk is not in such a libc */
	FG_BARE_CALL,   /* `at` is where the return address lies; bp is the caller's */
	FG_BARE_SIGNAL, /* a signal handler returns here */
	FG_BARE_END,    /* the thread begins here */
	FG_BARE_LOST,
};

/* Signal-safe. */
enum fg_bare_step fg_walk_bare(struct fg_walk *walk, uintptr_t *at);

#endif
