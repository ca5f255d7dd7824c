/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions compiled with -pg -mfentry call __fentry__ before all else. The C library's __fentry__
 * counts for gprof. Ours counts the call if the function is wanted, then continues with the C
 * library's, so the program notices nothing.
 */
#ifndef FG_COLLECTOR_CALL_FENTRY_H
#define FG_COLLECTOR_CALL_FENTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	FG_FENTRY_SLOTS_MAX = 4
};

/* The places where an object keeps the address of __fentry__. */
struct fg_fentry_slots {
	uintptr_t slots[FG_FENTRY_SLOTS_MAX];
	unsigned count;
	uintptr_t low, high; /* the code that is searched */
};

void fg_fentry_slot_add(struct fg_fentry_slots *slots, uintptr_t slot);
/*
 * Returns the address to which __fentry__ returns in this function; 0: the function does not call
 * it first.
 */
uintptr_t fg_fentry_site(const struct fg_fentry_slots *slots, uintptr_t address, size_t size);
/* Always looks up the C library's hook; `is_ready`: calls can be counted. */
void fg_fentry_init(bool is_ready);
bool fg_fentry_is_ready(void);

#endif
