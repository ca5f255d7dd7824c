// SPDX-License-Identifier: Apache-2.0
/*
 * Restarts a system call that our signal interrupted, so that the program does not see EINTR.
 *
 * The kernel has put -EINTR into the result register, and the pc is after the call's instruction.
 * The arguments are still in their registers (if the result has replaced the first argument, it is
 * read from where libc took it). If the call's number can be found, the pc is set back to the
 * instruction, and the program makes the call again.
 *
 * If another handler had run in between, the program would expect EINTR. If a handler starts on top
 * of ours, the pc is in that handler, and nothing is done here. Our handler blocks all signals, so
 * pending signals have not been handled yet. If a call installs a mask while it waits, the kernel
 * has restored the program's mask when our handler runs, so there are four kinds of pending
 * signals:
 *
 *	program's mask  call's mask
 *	unblocked       unblocked    its handler runs when ours returns: the call has ended, or
 *	                             is restarted, depending on that handler's flags
 *	blocked         unblocked    the call is restarted, and this signal ends it at once
 *	unblocked       blocked      the call is restarted; the handler runs before it, a bit early
 *	blocked         blocked      the call is restarted
 *
 * A further signal with our number is a sample or the program's own, and may become pending after
 * we looked. The call is then restarted, but our handler runs before it begins, and ends the call
 * if the signal turns out to be the program's.
 *
 * While the program's own handler for SIGPROF runs, a sample waits, and comes after the call has
 * ended: a mark shows that (collector/arch/arch.h).
 *
 * A tick, our signal from the timer for system time (clocks.c), is raised on the return to the
 * program and interrupts nothing: if a call has ended, another handler ended it, and it stays
 * ended. But a tick that was pending before the call, because our signal was blocked, ends a call
 * whose mask admits our signal. Such a call returns to a mask that blocks our signal, and the
 * context shows that mask.
 *
 * Absolute and endless timeouts need no change, and some calls write back the remaining time. Other
 * calls are restarted with a timeout of ours in the thread's own memory; its address identifies the
 * call if it is interrupted once more. poll and epoll_wait take a number, and a mark identifies
 * these two calls (collector/arch/arch.h). Only the register of the timeout is changed, because
 * libc's code after the call may need the other registers. The time before the first interruption
 * cannot be known and is given back to the program. CPU clocks interrupt a call only as it begins,
 * wall clocks after one period at the latest, so a timeout grows by at most one period, and by up
 * to 1 ms more if it is in milliseconds.
 */
#include "collector/process/real.h"
#include "collector/sampler/clocks.h"
#include "collector/sampler/handler.h"
#include "collector/unwind/readable.h"

#include <linux/futex.h>
#include <linux/net.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>

enum timeout_kind {
	FG_TIMEOUT_MS, /* milliseconds; negative: endless */
	/* the kernel writes the remaining time to the next argument, unless NULL */
	FG_TIMEOUT_SLEEP,
	FG_TIMEOUT_CLOCK,  /* as FG_TIMEOUT_SLEEP, unless absolute */
	FG_TIMEOUT_SPEC,   /* an argument points to a relative time */
	FG_TIMEOUT_FUTEX,  /* relative with FUTEX_WAIT, absolute with FUTEX_WAIT_BITSET */
	FG_TIMEOUT_SOCKET, /* endless, but a connect continues by itself: do not make it twice */
};

struct timed {
	long number;
	enum timeout_kind timeout;
	uint8_t argument;
	uint8_t half; /* size of the seconds, and of the nanoseconds */
};

enum {
	OLD = sizeof(long), /* marks old calls, whose times are words */
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

/*
 * Calls without a timeout, or whose timeout is absolute or updated by the kernel. A socket's own
 * time limit (SO_RCVTIMEO, SO_SNDTIMEO) starts over.
 */
/* clang-format off */
static const long untimed_calls[] = {
	SYS_ppoll, SYS_pselect6, SYS_rt_sigsuspend, SYS_msgrcv, SYS_msgsnd, SYS_accept4,
	SYS_recvfrom, SYS_recvmsg, SYS_recvmmsg, SYS_sendto, SYS_sendmsg, SYS_read, SYS_readv,
	SYS_write, SYS_writev, SYS_wait4, SYS_waitid, SYS_mq_timedreceive, SYS_mq_timedsend,
	SYS_flock, SYS_fcntl, SYS_openat,
	FG_ARCH_UNTIMED_CALLS
};
/* clang-format on */

/* Calls that install a signal mask while they wait, with the index of the mask's argument. */
struct masked {
	long number;
	uint8_t argument;
	bool behind; /* the argument points to a pointer to the mask */
};

static const struct masked masked_calls[] = {
	{.number = SYS_rt_sigsuspend, .argument = 0},
	{.number = SYS_ppoll, .argument = 3},
	{.number = SYS_pselect6, .argument = 5, .behind = true},
	{.number = SYS_epoll_pwait, .argument = 4},
	{.number = SYS_epoll_pwait2, .argument = 4},
	FG_ARCH_MASKED_CALLS /* each row ends in a comma */
};

/* Returns the mask that an interrupted call had installed; NULL: none. */
static const sigset_t *mask_of(ucontext_t *context, long number)
{
	for (size_t i = 0; i < FG_ARRAY_SIZE(masked_calls); i++) {
		const struct masked *const call = &masked_calls[i];

		if (call->number != number)
			continue;
		const void *const at =
			(const void *)(uintptr_t)(call->argument ? *fg_arch_argument(context,
										     call->argument)
								 : fg_arch_first(context));

		return call->behind && at ? *(const sigset_t *const *)at : at;
	}
	return NULL;
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

/* ---- the kernel's times ---- */

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
 * Shortens a timeout that is passed by pointer. At the first restart, `given` holds the remaining
 * time, and our copy replaces the argument; later the copy is shortened.
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

/* Shortens a timeout that is a number. */
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

/* Updates the timeout; false: the call must not be restarted. */
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

/* ---- other pending signals ---- */

/*
 * Calls that the kernel restarts only if the first handler has SA_RESTART. Calls that it always
 * restarts are left out, because they must not be ended here.
 */
/* clang-format off */
static const long by_flag_calls[] = {
	SYS_read, SYS_readv, SYS_write, SYS_writev, SYS_recvfrom, SYS_recvmsg, SYS_sendto, SYS_sendmsg,
	SYS_accept4, SYS_connect, SYS_wait4, SYS_waitid, SYS_flock, SYS_fcntl, SYS_openat,
	SYS_mq_timedreceive, SYS_mq_timedsend, SYS_ioctl, SYS_splice, SYS_vmsplice,
	FG_ARCH_BY_FLAG_CALLS
};
/* clang-format on */

static bool restarts_by_flag(ucontext_t *context, long number)
{
	if (number == SYS_futex) {
		const int command = (int)*fg_arch_argument(context, 1) & FUTEX_CMD_MASK;

		return command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET;
	}
	for (size_t i = 0; i < FG_ARRAY_SIZE(by_flag_calls); i++)
		if (by_flag_calls[i] == number)
			return true;
	return false;
}

static bool is_at_syscall(const ucontext_t *context)
{
	return fg_arch_at_syscall((const uint8_t *)fg_arch_register(context, FG_DWARF_RA));
}

/* The system call that our handler interrupted. */
struct call {
	long number;
	bool again;           /* the kernel restarts the call because of our handler's flags */
	const sigset_t *mask; /* mask of the call, while it waits; NULL: none */
};

/*
 * musl, and glibc since 2.41, make cancellable calls in one function, which gets the number as an
 * argument and keeps it in no register that survives the call. The number is read from the
 * instruction with which the caller of that function passes it.
 */
static long number_passed(const ucontext_t *context)
{
#ifdef FG_ARCH_DECODES_CALLS
	enum {
		FRAMES = 24, /* words of the stack to search: a few small functions */
		LIBC_SIZE = 1 << 21,
	};
	const uintptr_t pc = fg_arch_register(context, FG_DWARF_RA);
	const uintptr_t *stack = (const uintptr_t *)fg_arch_register(context, FG_DWARF_SP);

	if (fg_g.sandboxed || !fg_arch_behind_syscall((const uint8_t *)pc))
		return -1;
	for (unsigned i = 0; i < FRAMES; i++) {
		const uintptr_t near = stack[i] > pc ? stack[i] - pc : pc - stack[i];
		long number = -1;

		if (near < LIBC_SIZE && fg_is_readable(stack[i] - 64) && fg_is_readable(stack[i])) {
			const uint8_t *const back = (const uint8_t *)stack[i];

			number = fg_is_musl() ? fg_arch_number_passed(back)
					      : fg_arch_number_pushed(back, stack[i + 1]);
		}
		if (number >= 0)
			return number;
	}
#else
	(void)context;
#endif
	return -1;
}

static long number_of(const ucontext_t *context)
{
	const long number = fg_arch_syscall_number(context);

	return number >= 0 ? number : number_passed(context);
}

static uintptr_t ended_mark(const struct fg_thread *thread)
{
	return (uintptr_t)thread | 1u;
}

/*
 * Call if a handler of the program has run, or will run before anything else: no sample taken
 * before the program continues may restart the call.
 */
static void mark_ended(const struct fg_thread *thread, ucontext_t *context)
{
	if (fg_arch_result(context) == -EINTR && number_of(context) >= 0)
		fg_arch_mark_ended(context, ended_mark(thread));
}

static bool find_call(const struct fg_thread *thread, ucontext_t *context, struct call *call)
{
	*call = (struct call){.number = fg_arch_next_number(context)};
	call->again = is_at_syscall(context) && restarts_by_flag(context, call->number);
	if (call->again)
		return true;
	if (fg_arch_result(context) != -EINTR || fg_arch_is_ended(context, ended_mark(thread)))
		return false;
	call->number = number_of(context);
	call->mask = mask_of(context, call->number);
	return call->number >= 0;
}

/* Pending signals, by the table at the start of this file. */
struct pending {
	bool yields;
	int flags; /* flags of the first handler that runs before the call */
	/* a signal that the program's mask blocks is pending, and the call's mask admits it */
	bool in_call;
};

static bool has_handler(int number, int *flags)
{
	FG_REAL(sigaction);
	struct sigaction action;

	if (real_sigaction(number, NULL, &action) != 0)
		return false;
	*flags = action.sa_flags;
	return action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN;
}

static struct pending look_for_pending(const sigset_t *outer, const struct call *call)
{
	FG_REAL(sigpending);
	struct pending found = {0};
	sigset_t waiting;

	/* Our handler blocks all signals, so the kernel lists every pending signal. */
	(void)sigemptyset(&waiting);
	if (fg_g.sandboxed || real_sigpending(&waiting) != 0)
		return found;
	for (int number = 1; number < NSIG && !found.yields; number++) {
		const bool open = sigismember(outer, number) != 1;
		const bool open_in_call = call->mask ? sigismember(call->mask, number) != 1 : open;

		if (sigismember(&waiting, number) != 1 || !open_in_call)
			continue;
		if (number == FG_SIGNAL) {
			found.in_call |= !open;
		} else if (has_handler(number, &found.flags)) {
			found.yields = open;
			found.in_call |= !open;
		}
	}
	return found;
}

/* Did a signal that our handler has received, or is yet to receive, end the call? */
static bool is_ours(const ucontext_t *context, const struct call *call,
		    const struct pending *pending, bool late)
{
	if (call->mask && sigismember(call->mask, FG_SIGNAL) == 1)
		return false;
	return !late || pending->in_call || sigismember(&context->uc_sigmask, FG_SIGNAL) == 1;
}

/*
 * Has a handler just had this call restarted? Then the thread is at the call's instruction, so
 * another signal of ours came before the call could begin: while that handler ran, or on the way
 * back from it.
 */
static bool is_undecided(const struct fg_thread *thread, const ucontext_t *context)
{
	const long number = fg_arch_next_number(context);

	return thread->restart.undecided_sp == fg_arch_register(context, FG_DWARF_SP) &&
	       is_at_syscall(context) && (find_timed(number) || is_untimed(number));
}

bool fg_restart(struct fg_thread *thread, ucontext_t *context, bool late, uint64_t now_ns)
{
	struct call call;

	if (!is_undecided(thread, context))
		thread->restart.undecided_sp = 0;
	if (!find_call(thread, context, &call))
		return false;
	const struct pending pending = look_for_pending(&context->uc_sigmask, &call);

	if (pending.yields) {
		if (call.again && !(pending.flags & (int)SA_RESTART))
			fg_arch_interrupt(context);
		mark_ended(thread, context);
		return false;
	}
	if (call.again || !is_ours(context, &call, &pending, late))
		return false;
	const struct timed *timed = find_timed(call.number);

	if (!timed && !is_untimed(call.number))
		return false;
	*fg_arch_argument(context, 0) = fg_arch_first(context);
	if (timed && !prepare(thread, context, timed, now_ns))
		return false;
	fg_arch_restart(context, call.number);
	thread->restart.undecided_sp = fg_arch_register(context, FG_DWARF_SP);
	return true;
}

void fg_restart_prevent(struct fg_thread *thread, ucontext_t *context, int flags)
{
	const bool by_flag =
		is_at_syscall(context) && restarts_by_flag(context, fg_arch_next_number(context));
	const bool ends = by_flag ? !(flags & (int)SA_RESTART) : is_undecided(thread, context);

	thread->restart.undecided_sp = 0;
	if (ends)
		fg_arch_interrupt(context);
	mark_ended(thread, context);
}
