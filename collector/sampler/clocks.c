// SPDX-License-Identifier: Apache-2.0
/*
 * The process takes the requested rung of this ladder, by default perf, or the next lower rung if
 * the kernel refuses perf events (fg_clocks_choose). A thread for which the rung fails, for example
 * without a free descriptor, takes the next lower rung, but never wall.
 *
 *	perf         task clock: an exact, high-resolution timer of the thread's user time
 *	tick timer   for system time: on the thread's CPU clock.  It expires at kernel ticks, and
 *	             its signal is raised on the way back to the program: no call is cut short
 *	jitter       monotonic timer, re-armed at random around the period; weight = CPU time since
 *	             the last sample
 *	tick         the CPU clock's timer alone; weight = period x (1 + overrun)
 *	wall         monotonic timer; weight = time since the last sample
 *
 * The first period is drawn uniformly from (0, P]: a thread that lives for a fraction of a period
 * is then sampled with just that probability, and short threads are neither favoured nor missed.
 */
#include "collector/sampler/clocks.h"

#include "collector/sampler/kernel.h"
#include "collector/sampler/writer.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

enum {
	FD_FLOOR = 512, /* our lowest descriptor, if possible; smaller numbers are the program's */
};

static const uint64_t second_ns = UINT64_C(1000000000);

static uint64_t next_random(struct fg_thread *thread)
{
	/* splitmix64 */
	uint64_t z = (thread->clocks.random += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/*
 * Returns the phase of a thread's first period, in (0, period].  The golden ratio spreads phases
 * more evenly than chance would, so that short threads are sampled as often as they should be.
 */
static uint64_t first_phase(uint64_t period_ns)
{
	const uint64_t golden = UINT64_C(0x9e3779b97f4a7c15);

	return 1 + (((atomic_fetch_add(&fg_g.phases, golden) >> 32) * period_ns) >> 32);
}

/* Returns a uniform number in (0, period]. */
static uint64_t random_phase(struct fg_thread *thread, uint64_t period_ns)
{
	return 1 + next_random(thread) % period_ns;
}

/* ---- perf ---- */

static int perf_open(pid_t tid, uint64_t period_ns)
{
	struct perf_event_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_TASK_CLOCK;
	attr.sample_period = period_ns;
	attr.disabled = 1;
	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	attr.wakeup_events = 1;
	long fd = syscall(SYS_perf_event_open, &attr, tid, -1, -1,
			  (unsigned long)PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : (int)fd;
}

static int move_high(int fd)
{
	struct rlimit limit = {0, 0};
	int floor = FD_FLOOR;

	(void)getrlimit(RLIMIT_NOFILE, &limit);
	if (limit.rlim_cur <= (rlim_t)floor + 64)
		floor = (int)(limit.rlim_cur / 2);
	int high = (int)syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, floor);

	(void)syscall(SYS_close, fd);
	return high;
}

static uint16_t owner_of(const struct fg_thread *thread)
{
	return (uint16_t)(thread->index + 1);
}

static bool fd_claim(int fd, uint16_t owner)
{
	if (fd < 0 || fd >= FG_FDS_MAX)
		return false;
	atomic_store(&fg_g.thread_of_fd[fd], owner);
	uint32_t lowest = atomic_load(&fg_g.lowest_fd);

	while ((uint32_t)fd < lowest &&
	       !atomic_compare_exchange_weak(&fg_g.lowest_fd, &lowest, (uint32_t)fd))
		;
	return true;
}

static bool signal_to(int fd, pid_t tid)
{
	struct f_owner_ex owner = {F_OWNER_TID, tid};

	return syscall(SYS_fcntl, fd, F_SETOWN_EX, &owner) == 0 &&
	       syscall(SYS_fcntl, fd, F_SETSIG, FG_SIGNAL) == 0 &&
	       syscall(SYS_fcntl, fd, F_SETFL, O_ASYNC | O_NONBLOCK) == 0;
}

static bool perf_start(struct fg_thread *thread)
{
	const uint64_t period_ns = thread->clocks.period_ns;
	const uint64_t first_ns = fg_account_first_period(first_phase(period_ns), period_ns);
	int fd = perf_open(fg_tid(thread), first_ns);

	if (fd < 0)
		return false;
	fd = move_high(fd);
	if (!fd_claim(fd, owner_of(thread)) || !signal_to(fd, fg_tid(thread))) {
		if (fd >= 0)
			(void)syscall(SYS_close, fd);
		return false;
	}
	thread->clocks.perf_fd = fd;
	thread->clocks.unsettled = true;
	thread->clocks.unmeasured = 0;
	/* The first period is too short to measure the delay if it ends in the kernel. */
	thread->clocks.due_cpu_ns = 0;
	(void)ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	return true;
}

/* ---- POSIX timers ---- */

static struct timespec to_timespec(uint64_t ns)
{
	struct timespec time = {(time_t)(ns / second_ns), (long)(ns % second_ns)};

	return time;
}

static int timer_open(const struct fg_thread *thread, clockid_t clock, bool tick)
{
	struct sigevent event;
	int timer = FG_NO_TIMER;

	memset(&event, 0, sizeof(event));
	event.sigev_notify = SIGEV_THREAD_ID;
	event.sigev_signo = FG_SIGNAL;
	/* sigev_notify_thread_id, which older headers lack */
	event._sigev_un._tid = fg_tid(thread);
	event.sigev_value.sival_ptr = (void *)(fg_g.cookie ^ (2 * (uintptr_t)thread->index + tick));
	return syscall(SYS_timer_create, clock, &event, &timer) == 0 ? timer : FG_NO_TIMER;
}

static void timer_set(int timer, uint64_t first_ns, uint64_t period_ns)
{
	struct itimerspec when = {to_timespec(period_ns), to_timespec(first_ns)};

	if (timer != FG_NO_TIMER)
		(void)syscall(SYS_timer_settime, timer, 0, &when, NULL);
}

static void repeat(struct fg_thread *thread, int timer)
{
	const uint64_t period_ns = thread->clocks.period_ns;

	timer_set(timer, random_phase(thread, period_ns), period_ns);
}

void fg_thread_rearm(struct fg_thread *thread, uint64_t in_ns)
{
	if (in_ns) {
		timer_set(thread->clocks.timer, in_ns / 2 + random_phase(thread, in_ns), 0);
	} else {
		/* The thread sleeps: do not wake it again; its CPU clock shows when it runs. */
		timer_set(thread->clocks.tick_timer, FG_TICK_FAST_NS, 0);
	}
}

/* ---- the ladder ---- */

struct rung {
	enum fg_trace_clock clock;
	enum fg_trace_clock system;
	bool (*start)(struct fg_thread *thread);
};

uint64_t fg_tick_period_ns(const struct fg_thread *thread, bool fast)
{
	const uint64_t min_ns = fast ? FG_TICK_FAST_NS : FG_TICK_SLOW_NS;
	const uint64_t period_ns = fast ? thread->clocks.period_ns / FG_TICK_PART
					: thread->clocks.period_ns * FG_TICK_PART;

	return period_ns > min_ns ? period_ns : min_ns;
}

void fg_thread_set_tick(struct fg_thread *thread, bool fast)
{
	const uint64_t period_ns = fg_tick_period_ns(thread, fast);

	thread->clocks.tick_fast = fast;
	timer_set(thread->clocks.tick_timer, period_ns, period_ns);
}

void fg_thread_settle(struct fg_thread *thread)
{
	struct fg_thread_clocks *clocks = &thread->clocks;
	const uint64_t begin_ns = fg_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	uint64_t period_ns = atomic_load(&fg_g.period_ns);

	if (clocks->perf_fd >= 0)
		(void)syscall(SYS_ioctl, clocks->perf_fd, PERF_EVENT_IOC_PERIOD, &period_ns);
	const uint64_t end_ns = fg_clock_ns(CLOCK_THREAD_CPUTIME_ID);

	if (clocks->period_ns != period_ns) {
		clocks->period_ns = period_ns;
		fg_thread_set_tick(thread, clocks->tick_fast);
	}
	clocks->restart_ns = end_ns - begin_ns;
	clocks->due_cpu_ns = end_ns + period_ns;
	clocks->unsettled = false;
	clocks->unmeasured = 0;
}

/* Is a new thread likely to use system time? */
static bool is_system_near(void)
{
	const uint64_t seen_ns = atomic_load(&fg_g.system_seen_ns);

	return seen_ns && fg_clock_ns(CLOCK_MONOTONIC) - seen_ns < second_ns;
}

/*
 * Starts the tick timer. If system time is likely, the timer expires at each tick, including the
 * first.
 */
static void start_ticks(struct fg_thread *thread)
{
	thread->clocks.tick_timer = timer_open(thread, fg_cpu_clock_of(fg_tid(thread)), true);
	thread->clocks.tick_fast = is_system_near();
	const uint64_t period_ns = fg_tick_period_ns(thread, thread->clocks.tick_fast);

	timer_set(thread->clocks.tick_timer,
		  thread->clocks.tick_fast ? 1 : random_phase(thread, period_ns), period_ns);
}

static bool start_perf(struct fg_thread *thread)
{
	if (!perf_start(thread))
		return false;
	start_ticks(thread);
	return true;
}

static bool start_jitter(struct fg_thread *thread)
{
	thread->clocks.timer = timer_open(thread, CLOCK_MONOTONIC, false);
	if (thread->clocks.timer == FG_NO_TIMER)
		return false;
	thread->clocks.tick_timer = timer_open(thread, fg_cpu_clock_of(fg_tid(thread)), true);
	thread->clocks.last_ns = fg_clock_ns(fg_cpu_clock_of(fg_tid(thread)));
	timer_set(thread->clocks.timer, random_phase(thread, thread->clocks.period_ns), 0);
	return true;
}

static bool start_tick(struct fg_thread *thread)
{
	thread->clocks.timer = timer_open(thread, fg_cpu_clock_of(fg_tid(thread)), false);
	repeat(thread, thread->clocks.timer);
	return thread->clocks.timer != FG_NO_TIMER;
}

static bool start_wall(struct fg_thread *thread)
{
	thread->clocks.timer = timer_open(thread, CLOCK_MONOTONIC, false);
	thread->clocks.last_ns = fg_clock_ns(CLOCK_MONOTONIC);
	repeat(thread, thread->clocks.timer);
	return thread->clocks.timer != FG_NO_TIMER;
}

static const struct rung ladder[] = {
	{.clock = FG_CLOCK_PERF_USER, .system = FG_CLOCK_SYSTEM, .start = start_perf},
	{.clock = FG_CLOCK_JITTER, .system = FG_CLOCK_NONE, .start = start_jitter},
	{.clock = FG_CLOCK_TICK, .system = FG_CLOCK_NONE, .start = start_tick},
	{.clock = FG_CLOCK_WALL, .system = FG_CLOCK_NONE, .start = start_wall},
};

static const struct rung *rung_of(uint32_t clock)
{
	for (size_t i = 0; i < FG_ARRAY_SIZE(ladder); i++)
		if (ladder[i].clock == clock)
			return &ladder[i];
	return ladder;
}

static uint64_t kernel_tick_ns(void)
{
	struct timespec tick = {0, 0};

	if (syscall(SYS_clock_getres, CLOCK_MONOTONIC_COARSE, &tick) != 0)
		return 0;
	return (uint64_t)tick.tv_sec * second_ns + (uint64_t)tick.tv_nsec;
}

static void choose(const struct rung *rung)
{
	fg_g.clock_user = rung->clock;
	fg_g.clock_system = rung->system;
	fg_g.tick_ns = fg_g.clock_system ? kernel_tick_ns() : 0;
}

static unsigned number_at(const char **text)
{
	unsigned number = 0;

	for (; **text >= '0' && **text <= '9'; (*text)++)
		number = 10 * number + (unsigned)(**text - '0');
	return number;
}

/*
 * Do ticks interrupt system calls? Since Linux 5.11 their signals are raised only on the way back
 * to the program.
 */
static bool do_ticks_interrupt(void)
{
	struct utsname name;

	if (syscall(SYS_uname, &name) != 0)
		return true;
	const char *text = name.release;
	const unsigned major = number_at(&text);

	if (*text == '.')
		text++;
	return major < 5 || (major == 5 && number_at(&text) < 11);
}

void fg_clocks_choose(void)
{
	const struct rung *rung = rung_of(fg_g.options.clock);

	atomic_store(&fg_g.period_ns, fg_g.options.period_ns);
	fg_g.ticks_interrupt = do_ticks_interrupt();
	if (fg_g.options.clock == FG_CLOCK_NONE)
		return;
	if (rung->clock == FG_CLOCK_PERF_USER) {
		const int fd = perf_open(0, fg_g.options.period_ns);

		if (fd >= 0) {
			(void)syscall(SYS_close, fd);
		} else {
			fg_g.perf_errno = (uint32_t)-fd;
			rung++;
		}
	}
	choose(rung);
}

bool fg_clocks_start(struct fg_thread *thread)
{
	if (fg_g.options.clock == FG_CLOCK_NONE) {
		thread->clock = FG_CLOCK_NONE;
		return false;
	}
	thread->clocks.period_ns = atomic_load(&fg_g.period_ns);
	/* Under a sandbox's filter, each system call that starts a clock might kill the program. */
	if (fg_g.sandboxed) {
		thread->clock = FG_CLOCK_NONE;
		fg_count_loss(FG_LOSS_NO_CLOCK, 1);
		return false;
	}
	for (const struct rung *rung = rung_of(fg_g.clock_user);
	     rung < ladder + FG_ARRAY_SIZE(ladder); rung++) {
		thread->clock = rung->clock;
		if (rung->start(thread))
			return true;
		if (rung->clock == FG_CLOCK_TICK)
			break;
	}
	thread->clock = FG_CLOCK_NONE;
	fg_count_loss(FG_LOSS_NO_CLOCK, 1);
	return false;
}

static void close_timer(int *timer)
{
	if (*timer != FG_NO_TIMER)
		(void)syscall(SYS_timer_delete, *timer);
	*timer = FG_NO_TIMER;
}

void fg_clocks_stop(struct fg_thread *thread)
{
	const int fd = thread->clocks.perf_fd;

	if (fd >= 0) {
		(void)syscall(SYS_ioctl, fd, PERF_EVENT_IOC_DISABLE, 0);
		thread->clocks.perf_fd = -1;
		atomic_store(&fg_g.thread_of_fd[fd], 0);
		(void)syscall(SYS_close, fd);
	}
	close_timer(&thread->clocks.timer);
	close_timer(&thread->clocks.tick_timer);
	fg_kernel_unwatch(thread);
}

/*
 * In a sandbox no timer can be re-armed. So a perf clock gets its full period now, and a jittered
 * timer gives way to the tick, which repeats by itself.
 */
void fg_clocks_enter_sandbox(void)
{
	for (uint32_t i = 0; i < atomic_load(&fg_g.thread_high); i++) {
		struct fg_thread *thread = atomic_load(&fg_g.threads[i]);

		if (!thread || !atomic_load(&thread->taken) || !thread->clocks.attached)
			continue;
		if (thread->clocks.unsettled)
			fg_thread_settle(thread);
		if (thread->clock != FG_CLOCK_JITTER)
			continue;
		thread->clock = FG_CLOCK_TICK;
		close_timer(&thread->clocks.timer);
		repeat(thread, thread->clocks.tick_timer);
	}
}

/* ---- owners of signals ---- */

bool fg_signal_is_stray(const siginfo_t *info)
{
	if (info->si_code == SI_TIMER)
		return ((uintptr_t)info->si_value.sival_ptr ^ fg_g.cookie) <
		       2 * (uintptr_t)FG_THREADS_MAX;
	if (info->si_code >= POLL_IN && info->si_code <= POLL_HUP)
		return info->si_fd >= 0 && (uint32_t)info->si_fd >= atomic_load(&fg_g.lowest_fd);
	return info->si_code == SI_USER && info->si_pid == 0;
}

struct fg_thread *fg_thread_of_signal(const siginfo_t *info, bool *tick)
{
	uintptr_t index;

	*tick = false;
	if (info->si_code == SI_TIMER) {
		index = (uintptr_t)info->si_value.sival_ptr ^ fg_g.cookie;
		*tick = index & 1u;
		index /= 2;
	} else if (info->si_code > 0 && info->si_fd >= 0 && info->si_fd < FG_FDS_MAX) {
		/*
		 * POLL_IN, or POLL_HUP when the kernel throttles; SI_KERNEL and the code of an
		 * interval timer are larger.
		 */
		if (info->si_code > POLL_HUP)
			return NULL;
		index = (uintptr_t)atomic_load(&fg_g.thread_of_fd[info->si_fd]) - 1;
	} else {
		return NULL;
	}
	if (index >= FG_THREADS_MAX)
		return NULL;
	struct fg_thread *thread = atomic_load(&fg_g.threads[index]);

	return thread && atomic_load(&thread->taken) ? thread : NULL;
}

/* ---- descriptors ---- */

bool fg_fd_is_ours(int fd)
{
	return fd >= 0 && fd < FG_FDS_MAX &&
	       (uint32_t)fd >= atomic_load_explicit(&fg_g.lowest_fd, memory_order_relaxed) &&
	       atomic_load_explicit(&fg_g.thread_of_fd[fd], memory_order_acquire) != 0;
}

void fg_fd_move(int fd)
{
	const uint16_t owner = atomic_load(&fg_g.thread_of_fd[fd]);
	struct fg_thread *thread = owner ? atomic_load(&fg_g.threads[owner - 1]) : NULL;
	int other = (int)syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, fd + 1);

	if (other < 0)
		other = (int)syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, 3);
	if (!thread || thread->clocks.perf_fd != fd || !fd_claim(other, owner_of(thread)))
		return;
	/*
	 * A signal carries the descriptor number under which it was requested: request it again
	 * under the new number.
	 */
	(void)syscall(SYS_fcntl, fd, F_SETFL, O_NONBLOCK);
	thread->clocks.perf_fd = other;
	(void)signal_to(other, fg_tid(thread));
	atomic_store(&fg_g.thread_of_fd[fd], 0);
	(void)syscall(SYS_close, fd);
}
