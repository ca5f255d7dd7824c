/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jumps at the entries of functions: what a plan (entry_plan.h) proves to be possible is carried
 * out before a second thread exists.  A stub counts, does what the instructions did that gave way,
 * and goes on behind them; no return address is touched.
 */
#ifndef FG_COLLECTOR_CALL_JUMPS_H
#define FG_COLLECTOR_CALL_JUMPS_H

#include "collector/calls/calls.h"

struct fg_thread;

/* The path of the plan; `counter` is called for each call, the index of its state a symbol's. */
void fg_call_jumps_init(const char *plan, void (*counter)(const struct fg_call_state *state));
/*
 * Carries the plan out, if there is one.  Once, in normal context, when the functions with hooks
 * are known and no slot was led elsewhere.
 */
void fg_call_jumps_begin(void);
/* Writes to the trace how many functions have a jump, and why others have none. */
void fg_call_jumps_write(struct fg_thread *writer);

/* ---- call_jump_entry.c ---- */

/* False: this processor has registers that the code below cannot save. */
bool fg_call_jump_entry_init(void (*counter)(const struct fg_call_state *state));

/* The stack before the state is made: only integer registers have been saved. */
struct fg_call_jump_frame {
	uint64_t rbp, flags;
	uintptr_t stub;
	uint64_t index;
	uint64_t room[16];        /* the function may use it */
	uintptr_t return_address; /* on the stack, where the caller left it */
};

/*
 * Tries `quick` first, which must not use any but integer registers, nor change errno.  0: the call
 * was not counted, and the state is made for the counter.  NULL: it always is.
 */
void fg_call_jump_entry_count_by(uintptr_t (*quick)(const struct fg_call_jump_frame *frame));
/* Called by the stubs, with their number on the stack. */
uintptr_t fg_call_jump_entry(void);

#endif
