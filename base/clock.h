/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks, and time as text. */
#ifndef FG_BASE_CLOCK_H
#define FG_BASE_CLOCK_H

#include "base/base.h"

#define FG_NS_PER_DAY (86400 * FG_NS_PER_S)
#define FG_NS_PER_S   INT64_C(1000000000)
#define FG_NS_PER_MS  INT64_C(1000000)
#define FG_NS_PER_US  INT64_C(1000)

int64_t fg_clock_monotonic_ns(void);
int64_t fg_clock_wall_ns(void); /* since 1970, UTC */
int64_t fg_clock_process_cpu_ns(void);

enum {
	FG_TIME_TEXT_SIZE = 32
};
/* "2026-08-31T12:34:56Z" */
void fg_time_format_utc(int64_t wall_ns, char text[FG_TIME_TEXT_SIZE]);
/*
 * Reads what fg_time_format_utc() writes, or a plain date ("2027-03-01", midnight UTC). Returns
 * false for invalid text.
 */
bool fg_time_parse_utc(const char *text, int64_t *wall_ns);

#endif
