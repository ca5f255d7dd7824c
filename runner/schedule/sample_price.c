// SPDX-License-Identifier: Apache-2.0
#include "runner/schedule/sample_price.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/sort.h"
#include "trace/trace_format.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum {
	SIGNALS_HZ = 4000,
	TICKING_HZ = 1000, /* clock rate of threads that take turns on a CPU */
	ROUNDS = 20,
	GAMES = 12,
	TURN_NS = 50000,
	SLICES = 24,
	SLICE_NS = 1000000,
	LINE_WORDS = 16, /* words per cache line */
	WORDS_LEAST = 64 * 1024,
	WORDS_ASSUMED = 256 * 1024, /* cache size if it is unknown */
	WORDS_MOST = 1024 * 1024,
	SIGNAL_ASSUMED_NS = 10000, /* cost of a signal if it cannot be measured */
	TICK_ASSUMED_NS = 4000000,
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

/* The working set of a program that fills its second-level cache. */
struct data {
	uint32_t *words;
	size_t count;
};

/* Write to all pages: untouched ones would share the zero page. */
static struct data make_data(void)
{
	const long cache_size = sysconf(_SC_LEVEL2_CACHE_SIZE);
	size_t count = cache_size > 0 ? (size_t)cache_size / sizeof(uint32_t) : WORDS_ASSUMED;
	struct data data;

	if (count < WORDS_LEAST)
		count = WORDS_LEAST;
	if (count > WORDS_MOST)
		count = WORDS_MOST;
	data = (struct data){.words = fg_xmalloc(count * sizeof(uint32_t)), .count = count};
	for (size_t i = 0; i < count; i++)
		data.words[i] = (uint32_t)i;
	return data;
}

/* Touch each line: data that a signal evicts from the caches must be fetched again. */
static uint64_t work(const struct data *data, uint64_t steps)
{
	const uint64_t begin_ns = cpu_ns();
	uint32_t at = 1;
	size_t next = 0;

	for (uint64_t i = 0; i < steps; i++) {
		at = at * 1664525 + 1013904223;
		at ^= data->words[next];
		next = next + LINE_WORDS < data->count ? next + LINE_WORDS : 0;
	}
	result = at;
	return cpu_ns() - begin_ns;
}

/*
 * How often a clock of this rate expires before the kernel's tick: both are at a random point of
 * their period when a thread is scheduled.
 */
static double share_first(double rate_hz)
{
	struct timespec tick = {0, 0};
	double tick_ns = TICK_ASSUMED_NS;
	const double period_ns = (double)FG_NS_PER_S / rate_hz;

	if (clock_getres(CLOCK_MONOTONIC_COARSE, &tick) == 0 && tick.tv_nsec > 0)
		tick_ns = (double)tick.tv_nsec;
	return period_ns > tick_ns ? tick_ns / (2 * period_ns) : 1 - period_ns / (2 * tick_ns);
}

/* Opens the same event as the collector: user mode, clocked by this thread's CPU time. */
static int open_event(unsigned rate_hz)
{
	struct perf_event_attr attr;
	struct f_owner_ex owner = {F_OWNER_TID, (pid_t)syscall(SYS_gettid)};
	int fd;

	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_TASK_CLOCK;
	attr.sample_period = (uint64_t)FG_NS_PER_S / rate_hz;
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

/* Alternates the same work with and without signals; returns the median cost of one signal. */
static double measure(int fd, const struct data *data)
{
	double prices[SLICES];
	size_t count = 0;
	uint64_t steps = 1000;

	while (work(data, steps) < SLICE_NS)
		steps += steps / 4;
	for (unsigned i = 0; i < SLICES; i++) {
		const double without_ns = (double)work(data, steps);

		signals_seen = 0;
		(void)ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
		const double with_ns = (double)work(data, steps);

		(void)ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
		if (signals_seen)
			prices[count++] = (with_ns - without_ns) / (double)signals_seen;
	}
	const double middle = count ? fg_middle(prices, count) : 0;

	return middle > 0 ? middle : SIGNAL_ASSUMED_NS;
}

static int count_signals(struct sigaction *before)
{
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_handler = on_signal;
	action.sa_flags = SA_RESTART;
	return sigaction(SIGPROF, &action, before);
}

double fg_sample_signal_ns(void)
{
	static double known;
	struct sigaction before;
	struct data data;
	int fd;

	if (known > 0)
		return known;
	known = SIGNAL_ASSUMED_NS;
	if (count_signals(&before) != 0)
		return known;
	fd = open_event(SIGNALS_HZ);
	if (fd >= 0) {
		data = make_data();
		known = measure(fd, &data);
		free(data.words);
		(void)close(fd);
	}
	(void)sigaction(SIGPROF, &before, NULL);
	return known;
}

/* ---- a context switch ---- */

/* Two threads of this process on one CPU that take turns. */
struct players {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool is_second; /* the second thread's turn */
	bool is_over;
	int events[2];
	uint64_t steps;  /* work per turn */
	double switches; /* context switches in the last game */
};

static uint64_t work_alone(uint64_t steps)
{
	const uint64_t begin_ns = cpu_ns();
	uint32_t at = 1;

	for (uint64_t i = 0; i < steps; i++)
		at = at * 1664525 + 1013904223;
	result = at;
	return cpu_ns() - begin_ns;
}

/* Passes the turn on and waits for its own; false: the game is over. */
static bool take_turns(struct players *players, bool is_second)
{
	bool goes_on = true;

	(void)pthread_mutex_lock(&players->lock);
	players->is_second = !is_second;
	(void)pthread_cond_signal(&players->changed);
	while (players->is_second != is_second && !players->is_over)
		(void)pthread_cond_wait(&players->changed, &players->lock);
	goes_on = !players->is_over;
	(void)pthread_mutex_unlock(&players->lock);
	return goes_on;
}

/*
 * Both threads work: a switch between working threads costs more than one between waiting threads.
 */
static void *second_player(void *argument)
{
	struct players *players = argument;

	players->events[1] = open_event(TICKING_HZ);
	while (take_turns(players, true))
		(void)work_alone(players->steps);
	if (players->events[1] >= 0)
		(void)close(players->events[1]);
	return NULL;
}

/* Number of context switches of this process's threads. */
static double switches_so_far(void)
{
	struct rusage usage;

	return getrusage(RUSAGE_SELF, &usage) == 0
		       ? (double)usage.ru_nvcsw + (double)usage.ru_nivcsw
		       : 0;
}

static uint64_t play(struct players *players)
{
	const double before = switches_so_far();
	const uint64_t begin_ns = (uint64_t)fg_clock_process_cpu_ns();
	uint64_t end_ns = 0;

	for (unsigned i = 0; i < ROUNDS; i++) {
		(void)take_turns(players, false);
		(void)work_alone(players->steps);
	}
	end_ns = (uint64_t)fg_clock_process_cpu_ns();
	/* A woken thread may have to wait for the lock again. */
	players->switches = fmax(switches_so_far() - before, 2 * ROUNDS);
	return end_ns - begin_ns;
}

/* Alternates with and without the clocks; returns the median extra cost of a switch. */
static double measure_switches(struct players *players, double signal_ns)
{
	double prices[GAMES];

	if (players->events[0] < 0 || players->events[1] < 0)
		return 0;
	for (unsigned i = 0; i < GAMES; i++) {
		const double without_ns = (double)play(players);

		signals_seen = 0;
		(void)ioctl(players->events[0], PERF_EVENT_IOC_ENABLE, 0);
		(void)ioctl(players->events[1], PERF_EVENT_IOC_ENABLE, 0);
		const double with_ns = (double)play(players);

		(void)ioctl(players->events[0], PERF_EVENT_IOC_DISABLE, 0);
		(void)ioctl(players->events[1], PERF_EVENT_IOC_DISABLE, 0);
		prices[i] = (with_ns - without_ns - signal_ns * (double)signals_seen) /
			    players->switches;
	}
	return fmax(0, fg_middle(prices, GAMES)) / share_first(TICKING_HZ);
}

static double on_one_cpu(struct players *players, double signal_ns)
{
	double price_ns = 0;
	pthread_t second;

	players->steps = 1000;
	while (work_alone(players->steps) < TURN_NS)
		players->steps += players->steps / 4;
	if (pthread_create(&second, NULL, second_player, players) != 0)
		return 0;
	players->events[0] = open_event(TICKING_HZ);
	/* After its first turn the other thread has opened its clock. */
	(void)play(players);
	price_ns = measure_switches(players, signal_ns);
	if (players->events[0] >= 0)
		(void)close(players->events[0]);
	(void)pthread_mutex_lock(&players->lock);
	players->is_over = true;
	(void)pthread_cond_signal(&players->changed);
	(void)pthread_mutex_unlock(&players->lock);
	(void)pthread_join(second, NULL);
	return price_ns;
}

double fg_sample_switch_ns(void)
{
	static double known = -1;
	const double signal_ns = fg_sample_signal_ns();
	struct players players = {.lock = PTHREAD_MUTEX_INITIALIZER,
				  .changed = PTHREAD_COND_INITIALIZER,
				  .events = {-1, -1}};
	struct sigaction before;
	cpu_set_t allowed;
	cpu_set_t here;

	if (known >= 0)
		return known;
	known = 0;
	CPU_ZERO(&here);
	CPU_SET((size_t)fmax(0, sched_getcpu()), &here);
	if (count_signals(&before) != 0)
		return known;
	if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0 &&
	    sched_setaffinity(0, sizeof(here), &here) == 0) {
		known = on_one_cpu(&players, signal_ns);
		(void)sched_setaffinity(0, sizeof(allowed), &allowed);
	}
	(void)sigaction(SIGPROF, &before, NULL);
	return known;
}

void fg_sampling_price(struct fg_sampling *sampling)
{
	sampling->signal_ns = fg_sample_signal_ns();
	sampling->switch_ns = fg_sample_switch_ns();
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
		costs->samples +=
			header.samples - (header.parts < header.samples ? header.parts : 0);
		costs->handler_ns += header.handler_ns;
		costs->startup_ns += fg_trace_start_ns(&header);
		/*
		 * CPU time without samples counts too; a process that was killed wrote no totals.
		 */
		const uint64_t cpu_ns = header.end == FG_END_UNKNOWN
						? header.user_ns + header.system_ns
						: header.end_user_ns + header.end_system_ns;

		costs->cpu_ns += cpu_ns;
		costs->period_ns = header.period_ns;
		costs->interrupts += fg_trace_kernel_interrupts(&header);
		if (header.end != FG_END_UNKNOWN)
			costs->switches += header.end_switches;
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
	/* The handler's time is elapsed time, so it is too long if the handler lost its CPU. */
	sampling->handler_ns =
		fmin((double)costs->handler_ns / (double)costs->samples, FG_HANDLER_MOST_NS);
	sampling->start_share = fmin(1, (double)costs->startup_ns / (double)costs->cpu_ns);
	sampling->switches_hz =
		(double)costs->switches / (double)costs->cpu_ns * (double)FG_NS_PER_S;
	sampling->interrupts =
		(double)costs->interrupts * (double)costs->period_ns / (double)costs->cpu_ns;
}

/* ---- the rate ---- */

/*
 * The handler is slow because little of its data is in the caches; the program pays again to
 * refetch what the handler evicted.
 */
static double price_ns(const struct fg_sampling *sampling)
{
	return sampling->signal_ns + (sampling->handler_ns > 0
					      ? FG_HANDLER_TIMES * sampling->handler_ns
					      : FG_HANDLER_ASSUMED_NS);
}

void fg_sampling_settle(struct fg_sampling *sampling, double budget)
{
	double low_hz = FG_RATE_AUTO_LEAST_HZ;
	double high_hz = FG_RATE_AUTO_MOST_HZ;

	sampling->budget = budget;
	if (fg_sampling_cost(sampling, high_hz) <= budget)
		low_hz = high_hz;
	/* The cost grows with the rate. */
	while (high_hz - low_hz > 1e-4) {
		const double middle_hz = (low_hz + high_hz) / 2;

		if (fg_sampling_cost(sampling, middle_hz) <= budget)
			low_hz = middle_hz;
		else
			high_hz = middle_hz;
	}
	sampling->rate_hz = floor(low_hz + 1e-3);
	sampling->expected_cost = fg_sampling_cost(sampling, sampling->rate_hz);
}

double fg_sampling_switch_ns(const struct fg_sampling *sampling, double rate_hz)
{
	return sampling->switch_ns > 0 ? sampling->switch_ns * share_first(rate_hz) : 0;
}

double fg_sampling_cost(const struct fg_sampling *sampling, double rate_hz)
{
	if (!(sampling->signal_ns > 0))
		return (double)NAN;
	return sampling->start_share +
	       (rate_hz * (price_ns(sampling) +
			   sampling->interrupts * sampling->signal_ns / FG_INTERRUPT_PART) +
		sampling->switches_hz * fg_sampling_switch_ns(sampling, rate_hz)) /
		       (double)FG_NS_PER_S;
}
