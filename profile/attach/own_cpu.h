/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CPU on which we run. A thread on another CPU continues for some microseconds until a request
 * to stop arrives, and if it makes a system call meanwhile, it stops there: a program that makes
 * one every ten microseconds would never be seen anywhere else. A thread whose CPU we take stops
 * where it happens to be.
 */
#ifndef FG_OUTSIDE_OWN_CPU_H
#define FG_OUTSIDE_OWN_CPU_H

#include <sched.h>
#include <stdbool.h>

struct fg_own_cpu {
	cpu_set_t allowed; /* empty: it is not known */
	cpu_set_t taken;   /* CPUs taken since fg_own_cpu_leave() */
};

void fg_own_cpu_init(struct fg_own_cpu *own);
/* Runs there when it returns; false: this process may not. */
bool fg_own_cpu_take(struct fg_own_cpu *own, int cpu);
/* Goes to a CPU that was not taken, if there is one: threads wait for those. */
void fg_own_cpu_leave(struct fg_own_cpu *own);

#endif
