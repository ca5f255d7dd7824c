/* SPDX-License-Identifier: Apache-2.0 */
/* What a stopped thread waits for: its system call, and what stands at the other end. */
#ifndef FG_OUTSIDE_WAITING_H
#define FG_OUTSIDE_WAITING_H

#include "base/strbuf.h"
#include "profile/attach/memory.h"
#include "profile/attach/threads.h"

struct fg_waiter {
	pid_t pid;
	const struct fg_pids *threads; /* of its process */
	const struct user_regs_struct *registers;
	struct fg_memory *memory;
};

struct fg_waiting {
	const char *call;      /* "read", "futex"; NULL: it does not wait */
	struct fg_strbuf what; /* "pipe:[123], which nobody else has open for writing"; may be "" */
	pid_t holder;          /* the thread that it waits for; 0: not known */
};

/* Does it stand in a system call that our stop has interrupted? */
bool fg_waiting_is(const struct user_regs_struct *registers);
/* The waiting is to be released by fg_strbuf_release(&waiting->what). */
void fg_waiting_find(const struct fg_waiter *waiter, struct fg_waiting *waiting);

#endif
