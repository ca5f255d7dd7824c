// SPDX-License-Identifier: Apache-2.0
/* The peer that cannot be beaten: the collector's timer (BENCH_PERIOD_NS) with a handler that does nothing. */
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static void on_signal(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)info;
	(void)context;
}

__attribute__((constructor)) static void start(void)
{
	const char *period = getenv("BENCH_PERIOD_NS");
	struct f_owner_ex owner = {F_OWNER_TID, (pid_t)syscall(SYS_gettid)};
	struct sigaction action;
	struct perf_event_attr attr;

	if (!period)
		return;
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
