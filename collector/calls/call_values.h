/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The values themselves that functions are called with, where they are asked for: packed by call
 * path into pieces of the trace.  A value is stored as its difference from the one before in the
 * same place: most have the same sign and nearly the same exponent, and where few bits of the
 * mantissa are kept the others are zero.
 */
#ifndef FG_COLLECTOR_CALL_VALUES_H
#define FG_COLLECTOR_CALL_VALUES_H

#include "collector/calls/domains.h"

enum {
	FG_CALL_VALUES_ROOM = 960, /* bytes */
};

struct fg_call_values {
	uint64_t last[FG_DOMAIN_ARGUMENTS_MAX];
	uint32_t rows; /* calls, or values of a vector function, that are in `bytes` */
	uint32_t size;
	uint8_t bytes[FG_CALL_VALUES_ROOM];
};

/* Keeps one of `every` calls, values rounded to `precision` bits of mantissa: texts, or NULL. */
void fg_call_values_choose(const char *every, const char *bits);
bool fg_call_values_wanted(void);
/* Is this call one of those whose values are kept?  `draw` is the thread's own. */
bool fg_call_values_draw(uint64_t *draw);
/* Is there room for a call of this function? */
bool fg_call_values_fit(const struct fg_call_values *values, const struct fg_signature *signature);
/* A call's arguments, one row of the bits of doubles; there is room. */
void fg_call_values_add(struct fg_call_values *values, const uint64_t *arguments, size_t count);
/* Appends them to the record, and begins anew. */
void fg_call_values_take(struct fg_thread *writer, struct fg_call_values *values, unsigned columns);

#endif
