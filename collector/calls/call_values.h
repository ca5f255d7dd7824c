/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the arguments themselves, if requested: packed by call path into pieces of the trace. A
 * value is stored as its difference from the previous value in the same place: most values have the
 * same sign and nearly the same exponent, and rounding makes the low bits of the mantissa zero.
 */
#ifndef FG_COLLECTOR_CALL_VALUES_H
#define FG_COLLECTOR_CALL_VALUES_H

#include "collector/calls/domains.h"

enum {
	FG_CALL_VALUES_ROOM = 960, /* bytes */
};

struct fg_call_values {
	uint64_t last[FG_DOMAIN_ARGUMENTS_MAX];
	uint32_t rows; /* one per call, or one per lane of a vector function's call */
	uint32_t size;
	uint8_t bytes[FG_CALL_VALUES_ROOM];
};

/*
 * Keeps one call in `every`, with values rounded to `bits` bits of mantissa. Both arguments are
 * numbers as text, or NULL.
 */
void fg_call_values_choose(const char *every, const char *bits);
bool fg_call_values_wanted(void);
/* Should this call's arguments be kept? `draw` is the thread's own random state. */
bool fg_call_values_draw(uint64_t *draw);
/* Is there room for a call of this function? */
bool fg_call_values_fit(const struct fg_call_values *values, const struct fg_signature *signature);
/*
 * Adds a call's arguments as one row of doubles, given as bit patterns. Check fg_call_values_fit()
 * first.
 */
void fg_call_values_add(struct fg_call_values *values, const uint64_t *arguments, size_t count);
/* Appends the values to the record, and clears them. */
void fg_call_values_take(struct fg_thread *writer, struct fg_call_values *values, unsigned columns);

#endif
