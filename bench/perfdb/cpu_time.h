/* SPDX-License-Identifier: Apache-2.0 */
/* Who had the processors: a PostgreSQL server on this machine, or nobody. */
#ifndef FG_BENCH_PERFDB_CPU_TIME_H
#define FG_BENCH_PERFDB_CPU_TIME_H

#include "base/base.h"

#include <sys/types.h>

/*
 * The first process of the server behind this URL, found from the one that serves a connection; 0:
 * a file, a pooler, or another machine.
 */
pid_t fg_bench_database_process(const char *database);
/* All of its CPU time so far; 0 for process 0.  What has ended counts in steps of 10 ms. */
int64_t fg_bench_database_cpu_ns(pid_t first);
/* The idle time of all processors together, since the machine was started. */
int64_t fg_bench_idle_ns(void);

#endif
