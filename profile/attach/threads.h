/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processes and threads of a program, and stopping and releasing one of them. The thread that
 * calls fg_thread_seize() is the tracer: whenever and however it ends, the kernel releases
 * everything that it holds. PTRACE_SEIZE sends no signal and leaves job control alone.
 */
#ifndef FG_OUTSIDE_THREADS_H
#define FG_OUTSIDE_THREADS_H

#include "base/base.h"
#include "base/error.h"

#include <sys/types.h>
#include <sys/user.h>

struct fg_pids {
	pid_t *items;
	size_t count, capacity;
};

void fg_pids_add(struct fg_pids *pids, pid_t pid);
bool fg_pids_contain(const struct fg_pids *pids, pid_t pid);
void fg_pids_release(struct fg_pids *pids);

void fg_threads_of(pid_t pid, struct fg_pids *found);

/* From /proc/PID/task/TID/stat. */
struct fg_thread_state {
	char name[32];
	char state; /* R, S, D, T, t, Z, ...; 0: gone */
};

void fg_thread_read_state(pid_t pid, pid_t tid, struct fg_thread_state *state);

/* False: refused; errno holds the reason. */
bool fg_thread_seize(pid_t tid);
struct fg_thread_stop {
	int signal;      /* signal that it stopped for, forwarded by fg_thread_release(); 0: none */
	int64_t seen_ns; /* when that was seen, on the monotonic clock */
	bool gone;       /* it has ended and will not stop */
};

/* Asks it to stop.  A thread that sleeps uninterruptibly in the kernel does not. */
void fg_thread_interrupt(pid_t tid);
/* Has it stopped by now? `keep_exit`: leaves its end for another process to wait for. */
bool fg_thread_poll(pid_t tid, bool keep_exit, struct fg_thread_stop *stop);
/* For a stopped thread; false: it is not a 64-bit one. */
bool fg_thread_registers(pid_t tid, struct user_regs_struct *registers);
/*
 * Did the stop end a system call with EINTR that Linux does not restart? Then the thread makes it
 * again when it continues. Not if a signal is pending: that may have ended the call, and a program
 * may rely on it.
 */
void fg_thread_make_call_again(pid_t tid, const struct user_regs_struct *registers);
/* A stopped thread continues as if nothing had happened. */
void fg_thread_release(pid_t tid, int signal);
/* The part of kernel.yama.ptrace_scope in a refusal, to be freed; NULL: none. */
char *fg_thread_reason_of_scope(long scope);

/* May we look at this process? Does not touch it. */
int fg_thread_check_rights(pid_t pid, struct fg_error *err) FG_NODISCARD;

#endif
