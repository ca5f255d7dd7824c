/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions that stubs call on the program's registers: calls.c has them, call_start.c connects
 * them.
 */
#ifndef FG_COLLECTOR_CALL_COUNTING_H
#define FG_COLLECTOR_CALL_COUNTING_H

#include "collector/calls/call_jumps.h"

/*
 * For calls through an import. The quick one counts calls from known places, using only integer
 * registers; it returns 0 if it cannot. fg_call_count() returns the address to continue at.
 */
uintptr_t fg_call_count_quickly(const struct fg_call_glance *call);
uintptr_t fg_call_count(struct fg_call_state *state);
void fg_call_returned_from(const struct fg_call_state *state);

/* For calls at a function's entry. The quick one returns whether it counted the call. */
uintptr_t fg_call_count_jump_quickly(const struct fg_call_jump_frame *frame);
void fg_call_count_jump(const struct fg_call_state *state);

#endif
