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

/* Path of the plan's file, or NULL if the user requested no jumps. */
extern const char *fg_call_jumps_plan;
/*
 * Carries out the plan, if there is one. Call it once, in normal context, after the functions with
 * hooks are known and before any slot is redirected.
 */
void fg_call_jumps_begin(void);
/* Writes to the trace how many functions have a jump, and how many were refused for each reason. */
void fg_call_jumps_write(struct fg_thread *writer);

/* Stubs call this code, each with its number on the stack. (call_jump_entry.c) */
extern const uint8_t fg_call_jump_code[] __attribute__((visibility("hidden")));

#endif
