// SPDX-License-Identifier: Apache-2.0
/*
 * The kernel has put -EINTR into the result register and the pc behind the call.  The arguments are still in their
 * registers, so the call can be made again by stepping back over the instruction, once its number is known.
 *
 * Had another handler run in between, the program would expect EINTR.  Handlers of signals with lower numbers
 * (all the usual ones) start on top of ours, so that the pc is theirs then and nothing is done here.
 *
 * Time-outs: absolute and endless ones need nothing, and some calls write back what remains.  For the others the call is
 * made again with a time-out of ours, in the thread's own memory, and by its address that call is known again when it is
 * interrupted once more; poll and epoll_wait, which take a number, become the ppoll and epoll_pwait2 that they are short
 * for.  The time before the first interruption cannot be known and is given back to the program: CPU clocks interrupt a
 * call only on its way in, wall clocks at the latest after one period, so a time-out grows by one period at most.
 */
#include "collector/restart.h"

#include "collector/threads.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>

#if FG_ARCH_RESTARTS

enum timeout_kind {
	TIME_NONE,  /* endless, absolute, or brought up to date by the kernel */
	TIME_POLL,  /* poll: milliseconds, negative: endless */
	TIME_EPOLL, /* epoll_wait and epoll_pwait: the same */
	TIME_SLEEP, /* nanosleep: what remains was written to the next argument, if it is not NULL */
	TIME_CLOCK, /* clock_nanosleep: the same, unless absolute */
	TIME_SPEC,  /* an argument points to a relative struct timespec */
	TIME_FUTEX, /* relative with FUTEX_WAIT, absolute with FUTEX_WAIT_BITSET */
};

enum {
	KERNEL_SIGSET = 8
};

struct restartable {
	long number;
	enum timeout_kind timeout;
	unsigned argument;
};

static const struct restartable table[] = {
	{SYS_poll,            TIME_POLL,  2},
	{SYS_ppoll,           TIME_NONE,  0},
	{SYS_select,          TIME_NONE,  0},
	{SYS_pselect6,        TIME_NONE,  0},
	{SYS_epoll_wait,      TIME_EPOLL, 3},
	{SYS_epoll_pwait,     TIME_EPOLL, 3},
	{SYS_epoll_pwait2,    TIME_SPEC,  3},
	{SYS_nanosleep,       TIME_SLEEP, 0},
	{SYS_clock_nanosleep, TIME_CLOCK, 2},
	{SYS_futex,           TIME_FUTEX, 3},
	{SYS_pause,           TIME_NONE,  0},
	{SYS_rt_sigsuspend,   TIME_NONE,  0},
	{SYS_rt_sigtimedwait, TIME_SPEC,  2},
	{SYS_semop,           TIME_NONE,  0},
	{SYS_semtimedop,      TIME_SPEC,  3},
	{SYS_msgrcv,          TIME_NONE,  0},
	{SYS_msgsnd,          TIME_NONE,  0},
	{SYS_io_getevents,    TIME_SPEC,  4},
	{SYS_accept,          TIME_NONE,  0},
	{SYS_accept4,         TIME_NONE,  0},
	{SYS_recvfrom,        TIME_NONE,  0},
	{SYS_recvmsg,         TIME_NONE,  0},
	{SYS_recvmmsg,        TIME_NONE,  0},
	{SYS_sendto,          TIME_NONE,  0},
	{SYS_sendmsg,         TIME_NONE,  0},
	{SYS_read,            TIME_NONE,  0},
	{SYS_readv,           TIME_NONE,  0},
	{SYS_write,           TIME_NONE,  0},
	{SYS_writev,          TIME_NONE,  0},
	{SYS_wait4,           TIME_NONE,  0},
	{SYS_waitid,          TIME_NONE,  0},
	{SYS_mq_timedreceive, TIME_NONE,  0},
	{SYS_mq_timedsend,    TIME_NONE,  0},
	{SYS_flock,           TIME_NONE,  0},
	{SYS_fcntl,           TIME_NONE,  0},
	{SYS_openat,          TIME_NONE,  0},
};

static const struct restartable *find(long number)
{
	for (size_t i = 0; i < FG_ARRAY_SIZE(table); i++)
		if (table[i].number == number)
			return &table[i];
	return NULL;
}

static void shorten_spec(struct timespec *time, uint64_t by_ns)
{
	const int64_t billion = 1000000000;
	int64_t left = (int64_t)time->tv_sec * billion + time->tv_nsec - (int64_t)by_ns;

	if (left < 0)
		left = 0;
	time->tv_sec = (time_t)(left / billion);
	time->tv_nsec = (long)(left % billion);
}

static bool is_ours(const struct fg_thread *thread, const ucontext_t *context, unsigned argument)
{
	return fg_arch_argument(context, argument) == (uintptr_t)&thread->timeout;
}

/* The time-out behind a pointer: the first time a copy of ours replaces it, later the copy is shortened. */
static void shorten(struct fg_thread *thread, ucontext_t *context, unsigned argument,
		    uint64_t now_ns)
{
	const struct timespec *given = (const struct timespec *)fg_arch_argument(context, argument);

	if (!given)
		return;
	if (is_ours(thread, context, argument)) {
		shorten_spec(&thread->timeout, now_ns - thread->blocked_since_ns);
	} else {
		thread->timeout = *given;
		fg_arch_set_argument(context, argument, (uintptr_t)&thread->timeout);
	}
	thread->blocked_since_ns = now_ns;
}

static void set_milliseconds(struct fg_thread *thread, int ms)
{
	thread->timeout.tv_sec = ms / 1000;
	thread->timeout.tv_nsec = (ms % 1000) * 1000000L;
}

static long as_ppoll(struct fg_thread *thread, ucontext_t *context)
{
	if (!is_ours(thread, context, 2)) {
		const int ms = (int)fg_arch_argument(context, 2);

		if (ms <= 0)
			return SYS_poll;
		set_milliseconds(thread, ms);
		fg_arch_set_argument(context, 2, (uintptr_t)&thread->timeout);
		fg_arch_set_argument(context, 3, 0);
		fg_arch_set_argument(context, 4, KERNEL_SIGSET);
	}
	return SYS_ppoll; /* which keeps the time-out up to date by itself */
}

static long as_epoll_pwait2(struct fg_thread *thread, ucontext_t *context, long number,
			    uint64_t now_ns)
{
	if (is_ours(thread, context, 3)) {
		shorten(thread, context, 3, now_ns);
		return SYS_epoll_pwait2;
	}
	const int ms = (int)fg_arch_argument(context, 3);

	if (ms <= 0 || !fg_g.has_epoll_pwait2)
		return number;
	set_milliseconds(thread, ms);
	thread->blocked_since_ns = now_ns;
	fg_arch_set_argument(context, 3, (uintptr_t)&thread->timeout);
	if (number == SYS_epoll_wait)
		fg_arch_set_argument(context, 4, 0);
	fg_arch_set_argument(context, 5, KERNEL_SIGSET);
	return SYS_epoll_pwait2;
}

static void as_sleep(struct fg_thread *thread, ucontext_t *context, unsigned argument,
		     uint64_t now_ns)
{
	const struct timespec *rest =
		(const struct timespec *)fg_arch_argument(context, argument + 1);

	if (!rest) {
		shorten(thread, context, argument, now_ns);
		return;
	}
	thread->timeout = *rest;
	fg_arch_set_argument(context, argument, (uintptr_t)&thread->timeout);
}

/* Brings the time-out up to date; returns the number of the call to make. */
static long prepare(struct fg_thread *thread, ucontext_t *context, const struct restartable *call,
		    uint64_t now_ns)
{
	switch (call->timeout) {
	case TIME_POLL:
		return as_ppoll(thread, context);
	case TIME_EPOLL:
		return as_epoll_pwait2(thread, context, call->number, now_ns);
	case TIME_SLEEP:
		as_sleep(thread, context, call->argument, now_ns);
		break;
	case TIME_CLOCK:
		if (!(fg_arch_argument(context, 1) & TIMER_ABSTIME))
			as_sleep(thread, context, call->argument, now_ns);
		break;
	case TIME_SPEC:
		shorten(thread, context, call->argument, now_ns);
		break;
	case TIME_FUTEX:
		if (((int)fg_arch_argument(context, 1) & FUTEX_CMD_MASK) == FUTEX_WAIT)
			shorten(thread, context, call->argument, now_ns);
		break;
	case TIME_NONE:
		break;
	}
	return call->number;
}

bool fg__restart(struct fg_thread *thread, ucontext_t *context, uint64_t now_ns)
{
	const uintptr_t pc = fg_arch_register(context, FG_DWARF_RA);

	if (fg_arch_result(context) != -EINTR || (pc & (FG_TRACE_ALIGN - 1)) < 24 ||
	    !fg_arch_behind_syscall((const uint8_t *)pc))
		return false;
	const struct restartable *call = find(fg_arch_syscall_number((const uint8_t *)pc));

	if (!call)
		return false;
	fg_arch_restart(context, prepare(thread, context, call, now_ns));
	return true;
}

#else

bool fg__restart(struct fg_thread *thread, ucontext_t *context, uint64_t now_ns)
{
	(void)thread;
	(void)context;
	(void)now_ns;
	return false;
}

#endif
