/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CPU that we run on.  A thread on another CPU goes on for the microseconds that a request to
 * stop takes to get there, and if it makes a system call meanwhile, it stops at that: of a program
 * that makes one every ten microseconds, nothing else would ever be seen.  A thread whose CPU we
 * take stands where it happened to be.
 */
#ifndef FG_OUTSIDE_OWN_CPU_H
#define FG_OUTSIDE_OWN_CPU_H

#include <sched.h>
#include <stdbool.h>

struct fg_own_cpu {
	cpu_set_t allowed; /* empty: it is not known */
	cpu_set_t taken;   /* since fg_own_cpu_leave() */
};

void fg_own_cpu_init(struct fg_own_cpu *own);
/* Runs there when it returns; false: this process may not. */
bool fg_own_cpu_take(struct fg_own_cpu *own, int cpu);
/* Goes to a CPU that was not taken, if there is one: threads wait for those. */
void fg_own_cpu_leave(struct fg_own_cpu *own);

#endif
