/* SPDX-License-Identifier: Apache-2.0 */
/* The clocks that interrupt threads: perf events, timers, and their descriptors. */
#ifndef FG_COLLECTOR_CLOCKS_H
#define FG_COLLECTOR_CLOCKS_H

#include "collector/sampler/state.h"

#define FG_SIGNAL SIGPROF

enum {
	FG_NO_TIMER = -1,
	/* the shortest periods of the timer on a thread's CPU clock */
	FG_TICK_SLOW_NS = 10000000,
	FG_TICK_FAST_NS = 1000,
	/*
	 * a sampling period has this many fast ticks, and a slow tick lasts this many sampling
	 * periods
	 */
	FG_TICK_PART = 4,
};

/* Tries the clocks and decides the rung of the ladder for the process. */
void fg_clocks_choose(void);
/* Starts the thread's own clocks, from the process's rung down; false: the thread has none. */
bool fg_clocks_start(struct fg_thread *thread);
void fg_clocks_stop(struct fg_thread *thread);
/* From now on all clocks must run without a system call. */
void fg_clocks_enter_sandbox(void);

static inline clockid_t fg_cpu_clock_of(pid_t tid)
{
	return (clockid_t)((~(unsigned)tid << 3) | 6u);
}

/* Returns the thread that a signal of ours was sent for; NULL if the signal is not ours. */
struct fg_thread *fg_thread_of_signal(const siginfo_t *info, bool *tick);
/* Was the signal sent by a clock of ours that has since been removed, or by an unknown sender? */
bool fg_signal_is_stray(const siginfo_t *info);

/* Re-arms a jittered timer, at random around `in_ns`; 0: the thread stays asleep. */
void fg_thread_rearm(struct fg_thread *thread, uint64_t in_ns);
/* Sets how often the tick timer expires. `fast`: at every tick that the sampling rate allows. */
void fg_thread_set_tick(struct fg_thread *thread, bool fast);
uint64_t fg_tick_period_ns(const struct fg_thread *thread, bool fast);
/*
 * Restarts the thread's perf clock with the process's period.  No sample covers the elapsed part of
 * the last period, so it is owed to system time: it was spent in the kernel, for our own signal.
 */
void fg_thread_settle(struct fg_thread *thread);

bool fg_fd_is_ours(int fd);
/* Frees this descriptor number for the program. */
void fg_fd_move(int fd);

#endif
