/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks the stack of a stopped thread of another process with libunwind, which gets everything from
 * here: memory through profile/attach/memory.h, unwind tables through profile/attach/mappings.h.
 * The dangers of docs/decisions/0003 do not exist on this side: libunwind may lock and allocate,
 * because it does so in our process.
 */
#ifndef FG_OUTSIDE_STACKS_H
#define FG_OUTSIDE_STACKS_H

#include "base/error.h"
#include "profile/attach/mappings.h"
#include "profile/attach/memory.h"

#include <sys/user.h>

enum {
	FG_STACK_MAX = 256
};

struct fg_stack_frame {
	uint64_t address;
	uint64_t stack; /* start of its stack: the stack pointer */
	bool exact;     /* this instruction was interrupted; otherwise it is a return address */
};

struct fg_walked_stack {
	struct fg_stack_frame frames[FG_STACK_MAX]; /* the leaf first */
	size_t count;
	bool truncated; /* does not reach the start of its thread */
};

struct fg_stack_walker;

/* Both must outlive the walker. */
struct fg_stack_walker *fg_stack_walker_new(struct fg_memory *memory,
					    const struct fg_mappings *mappings);
void fg_stack_walker_free(struct fg_stack_walker *walker);
void fg_stack_walk(struct fg_stack_walker *walker, const struct user_regs_struct *registers,
		   struct fg_walked_stack *stack);

#endif
