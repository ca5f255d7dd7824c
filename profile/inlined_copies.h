/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that the compiler has put into others: there is no call to count. */
#ifndef FG_PROFILE_INLINED_COPIES_H
#define FG_PROFILE_INLINED_COPIES_H

#include <stddef.h>

/*
 * Visits every function of the program that has inlined copies: its symbol, or its name where it
 * has none, and how many there are.  None without debug information, or where there is so much of
 * it that reading it would take seconds.
 */
void fg_inlined_copies_visit(const char *program,
			     void (*visit)(void *context, const char *symbol, size_t copies),
			     void *context);

#endif
