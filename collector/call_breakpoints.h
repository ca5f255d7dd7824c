/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Up to four functions that nothing else reaches are counted by hardware breakpoints, which the
 * kernel counts by itself (perf_event_open(2), PERF_TYPE_BREAKPOINT): an event for each thread and
 * address.  Nothing of ours runs when one is hit, and no signal is raised.  A hit takes as long as
 * a fault, so an event that has counted FG_BREAKPOINT_CALLS_MAX stops by itself: it is opened as
 * if it took samples, of which the first is the last (PERF_EVENT_IOC_REFRESH), and nobody listens.
 */
#ifndef FG_COLLECTOR_CALL_BREAKPOINTS_H
#define FG_COLLECTOR_CALL_BREAKPOINTS_H

#include <stdbool.h>
#include <stdint.h>

struct fg_thread;

struct fg_breakpoint_place {
	const char *path;  /* of the object; "": the program */
	uintptr_t address; /* in its file */
};

/* What is asked of those who know the loaded objects. */
struct fg_breakpoint_host {
	/* Adds the function that lies at this address; false: there is no room. */
	bool (*add)(const char *name, uintptr_t address, uint32_t *function);
	bool (*place_of)(uintptr_t address, struct fg_breakpoint_place *place);
	/* Does the collector itself call what lies at this address? */
	bool (*is_used_by_us)(uintptr_t address);
};

void fg_breakpoints_init(void);
bool fg_breakpoints_wanted(void);
/* A function that nothing else reaches, and an address of it; the least `order` comes first. */
void fg_breakpoint_propose(const char *name, uint32_t order, uintptr_t address);
/* Sets what was proposed since the last time, in all threads.  While objects cannot come and go. */
void fg_breakpoints_set(const struct fg_breakpoint_host *host);
bool fg_breakpoint_is_at(uintptr_t address);
/* Takes those away whose object is gone. */
void fg_breakpoints_sweep(bool (*is_loaded)(uintptr_t address));
/* Objects have gone.  In normal context. */
void fg_breakpoints_unloaded(void);

void fg_breakpoints_thread_begin(struct fg_thread *thread);
void fg_breakpoints_thread_end(const struct fg_thread *thread);
/* In a child of fork: what was counted, and what counts, is the parent's. */
void fg_breakpoints_forked(void);
void fg_breakpoints_fd_moved(int from, int to);

/* Adds up what all threads have; true: there is something to tell. */
bool fg_breakpoints_collect(void);
/* Each function into the trace; `count` is called for those whose number is whole. */
void fg_breakpoints_write(struct fg_thread *writer,
			  void (*count)(struct fg_thread *writer, uint32_t function,
					uint64_t calls));

#endif
