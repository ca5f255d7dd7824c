/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The place where a thread waits, for samples of elapsed time.
 *
 * The kernel reports the system call of a waiting thread, its stack pointer and its next
 * instruction. While these values and the stack stay the same, the call path is also unchanged, and
 * the thread is not stopped. When the thread waits at another place, it is stopped once so that its
 * other registers can be read, unless the system call would end with EINTR: then the thread's stack
 * is walked without the other registers.
 */
#ifndef FG_ATTACH_WAITING_PLACE_H
#define FG_ATTACH_WAITING_PLACE_H

#include "profile/attach/memory.h"

#include <sys/user.h>

/* /proc/PID/task/TID/syscall, parsed. */
struct fg_blocked {
	bool waits; /* false: the thread runs, and the other members are unknown */
	/* number of the system call; -1: waits elsewhere in the kernel, for example for a page */
	long number;
	uint64_t argument; /* first argument of the call */
	uint64_t stack;
	uint64_t code;
};

bool fg_blocked_parse(const char *text, struct fg_blocked *blocked);
/*
 * Returns true if the kernel restarts this call after a stop, so that the program does not notice.
 */
bool fg_blocked_survives_stop(pid_t pid, const struct fg_blocked *blocked);
/* Returns true if a stop has just interrupted a system call, restarted or not. */
bool fg_call_was_interrupted(const struct user_regs_struct *registers);
/* Returns true if a stop has just ended, with EINTR, a system call that can be repeated. */
bool fg_call_is_cut_by_stop(const struct user_regs_struct *registers);
/* Returns the registers known without stopping the thread; the other registers are 0. */
struct user_regs_struct fg_blocked_registers(const struct fg_blocked *blocked);

/* A call path that was found while a thread waited. */
struct fg_waiting_place {
	struct fg_blocked blocked;
	uint64_t node; /* 0: none */
	uint64_t hash; /* hash of the stack */
	bool truncated;
};

/* Hashes the current top of the stack, which is already in `memory`. */
uint64_t fg_waiting_place_hash(struct fg_memory *memory, uint64_t stack, size_t pages);
bool fg_waiting_place_is(const struct fg_waiting_place *known, const struct fg_blocked *blocked,
			 uint64_t hash);

#endif
