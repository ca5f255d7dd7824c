/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks the stack of a stopped thread in another process with libunwind. Memory comes from
 * profile/attach/memory.h, unwind tables from profile/attach/mappings.h. The dangers of
 * docs/decisions/0003 do not apply here: libunwind locks and allocates in fastgate's process, not
 * in the program's.
 */
#ifndef FG_ATTACH_STACKS_H
#define FG_ATTACH_STACKS_H

#include "base/error.h"
#include "profile/attach/mappings.h"
#include "profile/attach/memory.h"

#include <sys/user.h>

enum {
	FG_STACK_MAX = 256
};

struct fg_stack_frame {
	uint64_t address;
	uint64_t stack; /* the stack pointer */
	bool exact;     /* this instruction was interrupted; otherwise it is a return address */
};

struct fg_walked_stack {
	struct fg_stack_frame frames[FG_STACK_MAX]; /* leaf first */
	size_t count;
	bool truncated; /* does not reach the start of the thread */
};

/* Both arguments must outlive the walker. */
struct fg_stack_walker *fg_stack_walker_new(struct fg_memory *memory,
					    const struct fg_mappings *mappings);
void fg_stack_walker_free(struct fg_stack_walker *walker);
void fg_stack_walk(struct fg_stack_walker *walker, const struct user_regs_struct *registers,
		   struct fg_walked_stack *stack);

#endif
