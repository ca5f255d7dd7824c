/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists the processes and threads of a program; stops and releases a thread. The thread that calls
 * fg_thread_seize() is the tracer: when it ends, for any reason, the kernel releases all threads
 * that the tracer holds. PTRACE_SEIZE sends no signal and leaves job control alone.
 */
#ifndef FG_ATTACH_THREADS_H
#define FG_ATTACH_THREADS_H

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

/* A thread as /proc/PID/task/TID/stat describes it. */
struct fg_thread_state {
	char name[32];
	char state; /* R, S, D, T, t, Z, ...; 0: gone */
};

void fg_thread_read_state(pid_t pid, pid_t tid, struct fg_thread_state *state);

/* Returns false if the kernel refuses; errno holds the reason. */
bool fg_thread_seize(pid_t tid);
struct fg_thread_stop {
	/* signal that stopped the thread, for fg_thread_release() to forward; 0: none */
	int signal;
	int64_t seen_ns; /* time when the stop was seen, on the monotonic clock */
	bool gone;       /* the thread has ended and will not stop */
};

/* Asks a thread to stop. A thread in an uninterruptible sleep does not stop. */
void fg_thread_interrupt(pid_t tid);
/* Returns true if the thread has stopped. `keep_exit`: leaves its exit status for another wait. */
bool fg_thread_poll(pid_t tid, bool keep_exit, struct fg_thread_stop *stop);
/* Reads the registers of a stopped thread. Returns false if it is not a 64-bit thread. */
bool fg_thread_registers(pid_t tid, struct user_regs_struct *registers);
/*
 * Makes the thread repeat its system call when it continues, if the stop ended the call with EINTR
 * and Linux does not restart the call. Does nothing if a signal is pending: the signal may have
 * ended the call, and a program may rely on that.
 */
void fg_thread_make_call_again(pid_t tid, const struct user_regs_struct *registers);
/*
 * Lets a stopped thread continue as if nothing had happened. Returns false if the thread is ending:
 * its process cannot end before fg_thread_poll() has reported that it is gone.
 */
bool fg_thread_release(pid_t tid, int signal);
/*
 * Explains a refusal by kernel.yama.ptrace_scope; NULL: the setting is not the reason. The caller
 * frees it.
 */
char *fg_thread_reason_of_scope(long scope);

/* Checks that fastgate may sample this process, without touching it. */
int fg_thread_check_rights(pid_t pid, struct fg_error *err) FG_NODISCARD;

#endif
