/* SPDX-License-Identifier: Apache-2.0 */
/* Fields of a stat file under /proc, numbered as in proc(5).  Signal-safe. */
#ifndef FG_COLLECTOR_PROC_STAT_H
#define FG_COLLECTOR_PROC_STAT_H

#include <stdint.h>

enum fg_stat_number {
	FG_STAT_THREADS = 20,
	FG_STAT_START = 22,
};

/* Returns the value of a numeric field; 0 if it cannot be read. */
uint64_t fg_stat_field(const char *path, enum fg_stat_number number);

#endif
