// SPDX-License-Identifier: Apache-2.0
#include "runner/sample_price.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/sort.h"
#include "collector/trace_format.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <math.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	SIGNALS_HZ = 10000,
	SLICES = 24,
	SLICE_NS = 800000,
	WORDS = 64 * 1024, /* what a signal drives out of the caches has to be fetched again */
	SIGNAL_ASSUMED_NS = 10000, /* where it cannot be measured */
};

static volatile uint64_t signals_seen;
static volatile uint32_t result;

static void on_signal(int signal)
{
	(void)signal;
	signals_seen++;
}

static uint64_t cpu_ns(void)
{
	struct timespec now = {0, 0};

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * (uint64_t)FG_NS_PER_S + (uint64_t)now.tv_nsec;
}

static uint64_t work(const uint32_t *words, uint64_t steps)
{
	const uint64_t begin_ns = cpu_ns();
	uint32_t at = 1;

	for (uint64_t i = 0; i < steps; i++) {
		at = at * 1664525 + 1013904223;
		at ^= words[(at >> 8) % WORDS];
	}
	result = at;
	return cpu_ns() - begin_ns;
}

/* As the collector's: in user mode, by the time of this thread on a CPU. */
static int open_event(void)
{
	struct perf_event_attr attr;
	struct f_owner_ex owner = {F_OWNER_TID, (pid_t)syscall(SYS_gettid)};
	int fd;

	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_TASK_CLOCK;
	attr.sample_period = (uint64_t)FG_NS_PER_S / SIGNALS_HZ;
	attr.disabled = 1;
	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	attr.wakeup_events = 1;
	fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1,
			  (unsigned long)PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return fd;
	if (fcntl(fd, F_SETOWN_EX, &owner) == 0 && fcntl(fd, F_SETSIG, SIGPROF) == 0 &&
	    fcntl(fd, F_SETFL, O_ASYNC | O_NONBLOCK) == 0)
		return fd;
	(void)close(fd);
	return -1;
}

/* The same work in turns with and without signals; what one adds, in the middle of all turns. */
static double measure(int fd, const uint32_t *words)
{
	double prices[SLICES];
	size_t count = 0;
	uint64_t steps = 1000;

	while (work(words, steps) < SLICE_NS)
		steps += steps / 4;
	for (unsigned i = 0; i < SLICES; i++) {
		const double without_ns = (double)work(words, steps);

		signals_seen = 0;
		(void)ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
		const double with_ns = (double)work(words, steps);

		(void)ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
		if (signals_seen)
			prices[count++] = (with_ns - without_ns) / (double)signals_seen;
	}
	const double middle = count ? fg_middle(prices, count) : 0;

	return middle > 0 ? middle : SIGNAL_ASSUMED_NS;
}

double fg_sample_signal_ns(void)
{
	static double known;
	struct sigaction action;
	struct sigaction before;
	uint32_t *words = NULL;
	int fd;

	if (known > 0)
		return known;
	known = SIGNAL_ASSUMED_NS;
	memset(&action, 0, sizeof(action));
	action.sa_handler = on_signal;
	action.sa_flags = SA_RESTART;
	if (sigaction(SIGPROF, &action, &before) != 0)
		return known;
	fd = open_event();
	if (fd >= 0) {
		words = fg_xcalloc(WORDS, sizeof(words[0]));
		known = measure(fd, words);
		free(words);
		(void)close(fd);
	}
	(void)sigaction(SIGPROF, &before, NULL);
	return known;
}

/* ---- what traces tell ---- */

static void add_trace(const char *path, struct fg_sample_costs *costs)
{
	struct fg_trace_header header;
	struct stat status;
	/* The program may have put links, pipes or devices there. */
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);

	if (fd < 0)
		return;
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
	    read(fd, &header, sizeof(header)) == (ssize_t)sizeof(header) &&
	    memcmp(header.magic, FG_TRACE_MAGIC, sizeof(header.magic)) == 0) {
		costs->samples += header.samples;
		costs->handler_ns += header.handler_ns;
		costs->startup_ns += header.startup_ns;
		/* What no sample met counts, too; a process that was killed wrote no totals. */
		costs->cpu_ns += header.end == FG_END_UNKNOWN
					 ? header.user_ns + header.system_ns
					 : header.end_user_ns + header.end_system_ns;
	}
	(void)close(fd);
}

void fg_sample_costs_add(const char *trace_folder, struct fg_sample_costs *costs)
{
	struct fg_error err = {0};
	char **names = NULL;
	size_t count = 0;

	if (fg_fs_list(trace_folder, &names, &count, &err) != FG_OK)
		return;
	for (size_t i = 0; i < count; i++) {
		char *path = fg_fs_join(trace_folder, names[i]);

		add_trace(path, costs);
		free(path);
	}
	fg_fs_list_free(names, count);
}

void fg_sample_costs_learn(const struct fg_sample_costs *costs, struct fg_sampling *sampling)
{
	if (costs->samples == 0 || costs->cpu_ns == 0)
		return;
	/* It is elapsed time: a handler that lost its CPU took longer than it cost. */
	sampling->handler_ns =
		fmin((double)costs->handler_ns / (double)costs->samples, FG_HANDLER_MOST_NS);
	sampling->start_share = fmin(1, (double)costs->startup_ns / (double)costs->cpu_ns);
}

/* ---- the rate ---- */

static double price_ns(const struct fg_sampling *sampling)
{
	return sampling->signal_ns +
	       (sampling->handler_ns > 0 ? sampling->handler_ns : FG_HANDLER_ASSUMED_NS);
}

void fg_sampling_settle(struct fg_sampling *sampling, double budget)
{
	const double left = budget - sampling->start_share;
	const double most_hz = left / price_ns(sampling) * (double)FG_NS_PER_S;

	sampling->budget = budget;
	sampling->rate_hz =
		floor(fmin(fmax(most_hz, FG_RATE_AUTO_LEAST_HZ), FG_RATE_AUTO_MOST_HZ) + 1e-6);
	sampling->expected_cost = fg_sampling_cost(sampling, sampling->rate_hz);
}

double fg_sampling_cost(const struct fg_sampling *sampling, double rate_hz)
{
	if (!(sampling->signal_ns > 0))
		return (double)NAN;
	return sampling->start_share + rate_hz * price_ns(sampling) / (double)FG_NS_PER_S;
}
