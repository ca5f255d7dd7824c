/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hooks of the counting library. The plain library has none, so timed programs execute no code that
 * counts.
 */
#ifndef FG_COLLECTOR_COUNT_HOOKS_H
#define FG_COLLECTOR_COUNT_HOOKS_H

#include <stdbool.h>

struct fg_thread;

struct fg_count_hooks {
	/* Called after a new trace file was started. */
	void (*introduce)(struct fg_thread *thread);
	/* Writes the counts when the thread or (`is_last`) the process ends. */
	void (*thread_end)(struct fg_thread *thread, bool is_last);
	/* In a child of fork: forgets the parent's counts. */
	void (*forked)(void);
	/* Requests a dump (dumps.h). NULL: the library takes no dumps. */
	void (*dump)(void);
};

/* Called by the collector's own wrappers. */
struct fg_fd_hooks {
	int (*opened)(int fd); /* called after opening; returns its argument */
	void (*closing)(unsigned first, unsigned last);
};

/* NULL in the plain library. */
extern const struct fg_fd_hooks *fg_fd_hooks;
extern const struct fg_count_hooks *fg_count_hooks;

#endif
