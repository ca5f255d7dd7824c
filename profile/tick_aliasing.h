/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Did a program run in step with the kernel's ticks, at which its system time was sampled?
 *
 * Ticks every 4 ms meet a program that wakes every 10 ms at the same few places, run after run: the
 * shares of its system calls are then those of these places.  The times of the samples show it.  Of
 * a program that wakes at any time, each multiple of the tick is as likely as another; of
 * one in step, ticks meet it at some places of a cycle and never at the others.
 *
 * A stretch of ticks in a row that all meet the thread counts once, where it begins: a program that
 * computes for long is met everywhere.  Cycles of 100 and of 48 ms are looked at; they hold a whole
 * number of 1, 2, 4, 5, 8, 10, 12, 16, 20, 25 and 50 ms, and of the frames of 30 and 60 Hz.  A
 * program whose own cycle is one tick or a part of it is met at one place at most, which cannot be
 * seen here: then a few samples stand for all of its system time, and their error says so.
 */
#ifndef FG_PROFILE_TICK_ALIASING_H
#define FG_PROFILE_TICK_ALIASING_H

#include "trace/trace_read.h"

/*
 * Was system time met independently of ticks: `kernel_ns` of it, by perf events of the kernel?
 * What little ticks have met then says nothing.
 */
bool fg_tick_aliasing_is_free(double kernel_ns, double system_ns);
/* A thread counts if a twentieth of the time that was sampled is its system time. */
bool fg_tick_aliasing_found(const struct fg_trace *trace);

#endif
