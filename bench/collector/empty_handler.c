// SPDX-License-Identifier: Apache-2.0
/*
 * The lower bound: the collector's timer (BENCH_PERIOD_NS) with an empty handler. With
 * BENCH_SPIN_NS the handler spins for that long and writes its measured durations to BENCH_LATE, in
 * the collector's buckets: any excess is caused by the machine.
 */
#include "trace/trace_format.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static uint64_t spin_ns;
static uint64_t start_ns;
static uint64_t late[FG_HANDLER_BUCKETS];

static uint64_t now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void spin(void)
{
	const uint64_t begin = now_ns();
	uint64_t end;

	do
		end = now_ns();
	while (end - begin < spin_ns);
	if (begin - start_ns > 1000000000u)
		late[fg_handler_bucket(end - begin)]++;
}

__attribute__((destructor)) static void stop(void)
{
	const char *path = getenv("BENCH_LATE");
	FILE *file = path && spin_ns ? fopen(path, "w") : NULL;

	for (unsigned i = 0; file && i < FG_HANDLER_BUCKETS; i++)
		(void)fprintf(file, "%llu\n", (unsigned long long)late[i]);
	if (file)
		(void)fclose(file);
}

static void on_signal(int number, siginfo_t *info, void *context)
{
	if (spin_ns)
		spin();
	(void)number;
	(void)info;
	(void)context;
}

__attribute__((constructor)) static void start(void)
{
	const char *period = getenv("BENCH_PERIOD_NS");
	const char *spin_for = getenv("BENCH_SPIN_NS");
	struct f_owner_ex owner = {F_OWNER_TID, (pid_t)syscall(SYS_gettid)};
	struct sigaction action;
	struct perf_event_attr attr;

	if (!period)
		return;
	start_ns = now_ns();
	if (spin_for)
		spin_ns = strtoull(spin_for, NULL, 10);
	memset(&action, 0, sizeof(action));
	action.sa_sigaction = on_signal;
	action.sa_flags = SA_SIGINFO | SA_RESTART;
	(void)sigaction(SIGPROF, &action, NULL);
	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_TASK_CLOCK;
	attr.sample_period = strtoull(period, NULL, 10);
	attr.disabled = 1;
	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	attr.wakeup_events = 1;
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1,
			      (unsigned long)PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return;
	(void)fcntl(fd, F_SETFL, O_ASYNC);
	(void)fcntl(fd, F_SETSIG, SIGPROF);
	(void)fcntl(fd, F_SETOWN_EX, &owner);
	(void)ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
}
