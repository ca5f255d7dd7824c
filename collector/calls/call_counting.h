/* SPDX-License-Identifier: Apache-2.0 */
/* Called by the stubs, on the program's registers: calls.c counts, call_start.c connects them. */
#ifndef FG_COLLECTOR_CALL_COUNTING_H
#define FG_COLLECTOR_CALL_COUNTING_H

#include "collector/calls/call_jumps.h"

/*
 * Through an import. The quick one counts a call from a known place, with integer registers alone;
 * it returns 0 if it cannot. The others return the address to continue at.
 */
uintptr_t fg_call_count_quickly(const struct fg_call_glance *call);
uintptr_t fg_call_count(struct fg_call_state *state);
void fg_call_returned_from(const struct fg_call_state *state);

/* At an entry, likewise; the quick one returns whether it counted. */
uintptr_t fg_call_count_jump_quickly(const struct fg_call_jump_frame *frame);
void fg_call_count_jump(const struct fg_call_state *state);

#endif
