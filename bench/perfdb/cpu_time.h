/* SPDX-License-Identifier: Apache-2.0 */
/* CPU time of a local PostgreSQL server, and idle time of the machine. */
#ifndef FG_BENCH_PERFDB_CPU_TIME_H
#define FG_BENCH_PERFDB_CPU_TIME_H

#include "base/base.h"

#include <sys/types.h>

/*
 * Returns the main process of the server behind this URL, found from a connection's process; 0: a
 * file, a pooler, or another machine.
 */
pid_t fg_bench_database_process(const char *database);
/*
 * Returns the CPU time of the server with this main process, or 0. Terminated processes count in
 * ticks of 10 ms.
 */
int64_t fg_bench_database_cpu_ns(pid_t first);
/* Returns the idle time of all CPUs since boot. */
int64_t fg_bench_idle_ns(void);

#endif
