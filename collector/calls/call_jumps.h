/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jumps at the entries of functions: carries out a plan (entry_plan.h) of jumps that are proved
 * possible, before a second thread exists. A stub counts, executes the instructions that the jump
 * replaced, and continues after them; no return address is touched.
 */
#ifndef FG_COLLECTOR_CALL_JUMPS_H
#define FG_COLLECTOR_CALL_JUMPS_H

#include "collector/calls/calls.h"

struct fg_thread;

/*
 * `plan` is the path of the plan. `counter` is called for each call, with the symbol's index in its
 * state.
 */
void fg_call_jumps_init(const char *plan, void (*counter)(const struct fg_call_state *state));
/*
 * Carries out the plan, if there is one. Call it once, in normal context, after the functions with
 * hooks are known and before any slot is redirected.
 */
void fg_call_jumps_begin(void);
/* Writes to the trace how many functions have a jump, and why others have none. */
void fg_call_jumps_write(struct fg_thread *writer);

/* ---- call_jump_entry.c ---- */

/* False: this processor has registers that the code below cannot save. */
bool fg_call_jump_entry_init(void (*counter)(const struct fg_call_state *state));

/* The stack before the state is made; only integer registers are saved. */
struct fg_call_jump_frame {
	uint64_t rbp, flags;
	uintptr_t stub;
	uint64_t index;
	uint64_t room[16];        /* the function's red zone */
	uintptr_t return_address; /* on the stack, as the caller left it */
};

/*
 * Tries `quick` first, which may use only integer registers and must keep errno. If it returns 0,
 * it has not counted the call, and the state is made for the counter. If it is NULL, the state is
 * always made.
 */
void fg_call_jump_entry_count_by(uintptr_t (*quick)(const struct fg_call_jump_frame *frame));
/* Called by the stubs, with their number on the stack. */
uintptr_t fg_call_jump_entry(void);

#endif
