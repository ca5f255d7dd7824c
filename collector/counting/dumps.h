/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A dump records the memory and descriptors held at a moment that the user chooses, by call path.
 * The program (fg_dump()), a line of the control file or a signal requests a dump. Built only into
 * the counting library.
 */
#ifndef FG_COLLECTOR_DUMPS_H
#define FG_COLLECTOR_DUMPS_H

#include "collector/sampler/state.h"

struct fg_dumps {
	_Atomic uint32_t requested;
	_Atomic uint32_t started;
};

extern struct fg_dumps fg_dumps;

static inline bool fg_control_has_more(void)
{
	return fg_g.control &&
	       __atomic_load_n(&fg_g.control->dumps, __ATOMIC_RELAXED) !=
		       atomic_load_explicit(&fg_g.control_dumps, memory_order_relaxed);
}

static inline bool fg_dump_is_due(void)
{
	return atomic_load_explicit(&fg_dumps.requested, memory_order_relaxed) !=
		       atomic_load_explicit(&fg_dumps.started, memory_order_relaxed) ||
	       fg_control_has_more();
}

/* Installs the handler of the signal that requests dumps, if the user chose a signal. */
void fg_dumps_begin(void);
/* Takes a dump now or, if the thread is inside the collector, with its next event. Signal-safe. */
void fg_dump_request(void);
/* Writes the pending dumps. Call under `busy`. */
void fg_dumps_take(struct fg_thread *thread);
/*
 * In a child of fork: forgets a dump that another thread of the parent was taking. The child's dump
 * numbers continue after the parent's.
 */
void fg_dumps_forked(void);

#endif
