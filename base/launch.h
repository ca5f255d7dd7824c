/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The protocol between fg_process_start() and the launcher (runner/execute/launch.c, installed next
 * to the collector as fastgate-launch).
 *
 * The launcher exists because the kernel counts the memory that a process has before exec into its
 * peak (ru_maxrss).  A program forked straight from fastgate would start with fastgate's own size,
 * and its memory metric would measure us. The launcher is small, so the programs it forks start
 * small.
 *
 *	fastgate-launch REPORT_FD COUNT VARIABLE... PROGRAM ARGUMENT...
 *
 * COUNT variables make up the program's environment; the launcher's own is empty, so that libraries
 * preloaded into the program are not preloaded into the launcher.  Through REPORT_FD the launcher
 * writes one struct fg_launch_started, and one struct fg_launch_ended unless the first had an
 * error.
 */
#ifndef FG_BASE_LAUNCH_H
#define FG_BASE_LAUNCH_H

#include <stdint.h>
#include <sys/resource.h>

#define FG_LAUNCHER_NAME "fastgate-launch"

struct fg_launch_started {
	int64_t started_ns; /* monotonic */
	int64_t error;      /* errno of a failed exec, or 0 */
};

struct fg_launch_ended {
	int64_t ended_ns;
	int64_t leader_cpu_ns; /* as in struct fg_process_result */
	int64_t leader_wait_ns;
	int64_t status; /* as wait4() reports it */
	struct rusage usage;
};

#endif
