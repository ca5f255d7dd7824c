// SPDX-License-Identifier: Apache-2.0
/*
 * The kernel has put -EINTR into the result register and the pc behind the call.  The arguments are
 * still in their registers, so the call can be made again by stepping back over the instruction,
 * once its number is known.
 *
 * Had another handler run in between, the program would expect EINTR.  A handler that starts on top
 * of ours has the pc, and nothing is done here; one that is yet to run is yielded to.
 *
 * Time-outs: absolute and endless ones need nothing, and some calls write back what remains.  For
 * the others the call is made again with a time-out of ours, in the thread's own memory, and by its
 * address that call is known again when it is interrupted once more; poll and epoll_wait take a
 * number, and are known again by a mark (collector/arch.h).  No register is changed but that of the
 * time-out: in the others the compiler of libc may have left what it needs behind the call. The
 * time before the first interruption cannot be known and is given back to the program: CPU clocks
 * interrupt a call only on its way in, wall clocks at the latest after one period, so a time-out
 * grows by one period at most, and what is counted in milliseconds by one of these.
 */
#include "collector/restart.h"

#include "collector/real.h"
#include "collector/signals.h"
#include "collector/threads.h"

#include <linux/futex.h>
#include <linux/net.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>

enum timeout_kind {
	FG_TIMEOUT_MS,     /* milliseconds; negative: endless */
	FG_TIMEOUT_SLEEP,  /* the kernel writes what remains to the next argument, unless NULL */
	FG_TIMEOUT_CLOCK,  /* as FG_TIMEOUT_SLEEP, unless absolute */
	FG_TIMEOUT_SPEC,   /* an argument points to a relative time */
	FG_TIMEOUT_FUTEX,  /* relative with FUTEX_WAIT, absolute with FUTEX_WAIT_BITSET */
	FG_TIMEOUT_SOCKET, /* endless, but a connect continues by itself: do not make it twice */
};

struct timed {
	long number;
	enum timeout_kind timeout;
	uint8_t argument;
	uint8_t half; /* bytes of the seconds, and of the nanoseconds */
};

enum {
	OLD = sizeof(long), /* calls from when a time was as large as a word */
	WIDE = 8
};

static const struct timed timed_calls[] = {
	{.number = SYS_epoll_pwait, .timeout = FG_TIMEOUT_MS, .argument = 3},
	{.number = SYS_epoll_pwait2, .timeout = FG_TIMEOUT_SPEC, .argument = 3, .half = WIDE},
	{.number = SYS_nanosleep, .timeout = FG_TIMEOUT_SLEEP, .argument = 0, .half = OLD},
	{.number = SYS_clock_nanosleep, .timeout = FG_TIMEOUT_CLOCK, .argument = 2, .half = OLD},
	{.number = SYS_futex, .timeout = FG_TIMEOUT_FUTEX, .argument = 3, .half = OLD},
	{.number = SYS_rt_sigtimedwait, .timeout = FG_TIMEOUT_SPEC, .argument = 2, .half = OLD},
	{.number = SYS_io_getevents, .timeout = FG_TIMEOUT_SPEC, .argument = 4, .half = OLD},
	FG_ARCH_TIMED_CALLS /* each row ends in a comma */
};

/* Endless, until an absolute time, or with a time-out that the kernel brings up to date. */
/* clang-format off */
static const long untimed_calls[] = {
	SYS_ppoll, SYS_pselect6, SYS_rt_sigsuspend, SYS_msgrcv, SYS_msgsnd, SYS_accept4,
	SYS_recvfrom, SYS_recvmsg, SYS_recvmmsg, SYS_sendto, SYS_sendmsg, SYS_read, SYS_readv,
	SYS_write, SYS_writev, SYS_wait4, SYS_waitid, SYS_mq_timedreceive, SYS_mq_timedsend,
	SYS_flock, SYS_fcntl, SYS_openat,
	FG_ARCH_UNTIMED_CALLS
};
/* clang-format on */

/* Those that install a mask while they wait. */
static bool has_mask(long number)
{
	static const long calls[] = {SYS_ppoll,       SYS_pselect6,     SYS_rt_sigsuspend,
				     SYS_epoll_pwait, SYS_epoll_pwait2, FG_ARCH_MASKED_CALLS};

	for (size_t i = 0; i < FG_ARRAY_SIZE(calls); i++)
		if (calls[i] == number)
			return true;
	return false;
}

static const struct timed *find_timed(long number)
{
	for (size_t i = 0; i < FG_ARRAY_SIZE(timed_calls); i++)
		if (timed_calls[i].number == number)
			return &timed_calls[i];
	return NULL;
}

static bool is_untimed(long number)
{
	for (size_t i = 0; i < FG_ARRAY_SIZE(untimed_calls); i++)
		if (untimed_calls[i] == number)
			return true;
	return false;
}

/* ---- times, as the kernel wants them ---- */

static const int64_t billion = 1000000000;

static int64_t get_ns(const void *time, uint8_t half)
{
	const int32_t *narrow = time;
	const int64_t *wide = time;

	return half == WIDE ? wide[0] * billion + wide[1] : narrow[0] * billion + narrow[1];
}

static void put_ns(void *time, uint8_t half, int64_t ns)
{
	int32_t *narrow = time;
	int64_t *wide = time;

	if (half == WIDE) {
		wide[0] = ns / billion;
		wide[1] = ns % billion;
	} else {
		narrow[0] = (int32_t)(ns / billion);
		narrow[1] = (int32_t)(ns % billion);
	}
}

static int64_t time_left(const struct fg_thread *thread, uint64_t now_ns)
{
	return thread->restart.until_ns > now_ns ? (int64_t)(thread->restart.until_ns - now_ns) : 0;
}

/*
 * The time-out behind a pointer, with `given` left: the first time our copy replaces it, later the
 * copy is shortened.
 */
static void shorten(struct fg_thread *thread, ucontext_t *context, const struct timed *call,
		    const void *given, uint64_t now_ns)
{
	fg_arch_word *const argument = fg_arch_argument(context, call->argument);

	if ((uintptr_t)*argument != (uintptr_t)thread->restart.timeout)
		thread->restart.until_ns = now_ns + (uint64_t)get_ns(given, call->half);
	put_ns(thread->restart.timeout, call->half, time_left(thread, now_ns));
	*argument = (fg_arch_word)(uintptr_t)thread->restart.timeout;
}

static void shorten_spec(struct fg_thread *thread, ucontext_t *context, const struct timed *call,
			 uint64_t now_ns)
{
	const void *given = (const void *)(uintptr_t)*fg_arch_argument(context, call->argument);

	if (given)
		shorten(thread, context, call, given, now_ns);
}

/* The time-out that is a number. */
static void shorten_ms(struct fg_thread *thread, ucontext_t *context, const struct timed *call,
		       uint64_t now_ns)
{
	const int ms = (int)*fg_arch_argument(context, call->argument);
	const uint32_t mark = (uint32_t)(uintptr_t)thread | 1u;
	const int64_t million = 1000000;

	if (!fg_arch_is_marked(context, call->argument, mark)) {
		if (ms <= 0)
			return;
		thread->restart.until_ns = now_ns + (uint64_t)(ms * million);
	}
	const int64_t left_ms = (time_left(thread, now_ns) + million - 1) / million;

	fg_arch_set_marked(context, call->argument, (int)left_ms, mark);
}

static void shorten_sleep(struct fg_thread *thread, ucontext_t *context, const struct timed *call,
			  uint64_t now_ns)
{
	const void *rest = (const void *)(uintptr_t)*fg_arch_argument(context, call->argument + 1u);

	if (rest)
		shorten(thread, context, call, rest, now_ns);
	else
		shorten_spec(thread, context, call, now_ns);
}

/* Brings the time-out up to date; false: the call is not to be made again. */
static bool prepare(struct fg_thread *thread, ucontext_t *context, const struct timed *call,
		    uint64_t now_ns)
{
	const int second = (int)*fg_arch_argument(context, 1);

	switch (call->timeout) {
	case FG_TIMEOUT_MS:
		shorten_ms(thread, context, call, now_ns);
		break;
	case FG_TIMEOUT_SLEEP:
		shorten_sleep(thread, context, call, now_ns);
		break;
	case FG_TIMEOUT_CLOCK:
		if (!(second & TIMER_ABSTIME))
			shorten_sleep(thread, context, call, now_ns);
		break;
	case FG_TIMEOUT_SPEC:
		shorten_spec(thread, context, call, now_ns);
		break;
	case FG_TIMEOUT_FUTEX:
		if ((second & FUTEX_CMD_MASK) == FUTEX_WAIT)
			shorten_spec(thread, context, call, now_ns);
		break;
	case FG_TIMEOUT_SOCKET:
		return *fg_arch_argument(context, 0) != SYS_CONNECT;
	}
	return true;
}

bool fg_restart(struct fg_thread *thread, ucontext_t *context, uint64_t now_ns)
{
	if (fg_arch_result(context) != -EINTR)
		return false;
	const long number = fg_arch_syscall_number(context);
	const struct timed *call = find_timed(number);

	if (has_mask(number) && fg_signal_is_blocked_in_wait())
		return false;
	if (call ? !prepare(thread, context, call, now_ns) : !is_untimed(number))
		return false;
	fg_arch_restart(context, number);
	return true;
}

/* ---- beside another signal ---- */

/*
 * Calls that the kernel makes again, or not, as the flags of the first handler have it.  Others
 * that it makes again whatever these say must not be ended here.
 */
/* clang-format off */
static const long by_flag_calls[] = {
	SYS_read, SYS_readv, SYS_write, SYS_writev, SYS_recvfrom, SYS_recvmsg, SYS_sendto, SYS_sendmsg,
	SYS_accept4, SYS_connect, SYS_wait4, SYS_waitid, SYS_flock, SYS_fcntl, SYS_openat,
	SYS_mq_timedreceive, SYS_mq_timedsend, SYS_ioctl, SYS_splice, SYS_vmsplice,
	FG_ARCH_BY_FLAG_CALLS
};
/* clang-format on */

static bool goes_by_flag(ucontext_t *context, long number)
{
	if (number == SYS_futex) {
		const long command = *fg_arch_argument(context, 1) & FUTEX_CMD_MASK;

		return command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET;
	}
	for (size_t i = 0; i < FG_ARRAY_SIZE(by_flag_calls); i++)
		if (by_flag_calls[i] == number)
			return true;
	return false;
}

/* Will the handler of another signal run when ours has ended?  `flags` are those of the first. */
static bool is_other_next(const sigset_t *mask, int *flags)
{
	FG_REAL(sigpending);
	FG_REAL(sigaction);
	sigset_t waiting;

	/* All are blocked in our handler, so the kernel tells all. */
	(void)sigemptyset(&waiting);
	if (fg_g.sandboxed || real_sigpending(&waiting) != 0)
		return false;
	for (int number = 1; number < NSIG; number++) {
		struct sigaction action;

		if (number == FG_SIGNAL || sigismember(&waiting, number) != 1 ||
		    sigismember(mask, number) == 1 || real_sigaction(number, NULL, &action) != 0)
			continue;
		*flags = action.sa_flags;
		if (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN)
			return true;
	}
	return false;
}

bool fg_restart_yield(ucontext_t *context)
{
	const uint8_t *pc = (const uint8_t *)fg_arch_register(context, FG_DWARF_RA);
	const bool again = fg_arch_at_syscall(pc) && goes_by_flag(context, fg_arch_result(context));
	int flags = 0;

	if (!again && (!fg_arch_behind_syscall(pc) || fg_arch_result(context) != -EINTR))
		return false;
	if (!is_other_next(&context->uc_sigmask, &flags))
		return false;
	if (again && !(flags & (int)SA_RESTART))
		fg_arch_interrupt(context);
	return true;
}
