// SPDX-License-Identifier: Apache-2.0
#include "collector/sampler/signals.h"

#include "collector/counting/count_hooks.h"
#include "collector/process/real.h"
#include "collector/sampler/clocks.h"
#include "collector/sampler/writer.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	KERNEL_SIGSET = 8,
	SAMPLE_TRIES = 100
};

static void (*our_handler)(int signal, siginfo_t *info, void *context);
/* What the program set for our signal; two copies, so that a handler always finds one whole. */
static struct sigaction shadow[2];
static _Atomic uint32_t shadow_current;
/* For every other signal: does the program's sa_mask name ours? */
static _Atomic uint8_t names_ours[NSIG];
static _Thread_local bool blocked __attribute__((tls_model("initial-exec")));
static _Thread_local bool pending __attribute__((tls_model("initial-exec")));
static _Thread_local volatile sig_atomic_t forwarded __attribute__((tls_model("initial-exec")));
/* Signals that reached the handler, counted per clock of this thread; [1] is its tick. */
static _Thread_local volatile sig_atomic_t arrived[2] __attribute__((tls_model("initial-exec")));
static _Thread_local siginfo_t pending_info __attribute__((tls_model("initial-exec")));
/* As above, for a signal sent to the process. 0: none; 1: being written or taken; 2: pending. */
static _Atomic uint8_t process_pending;
static siginfo_t process_pending_info;

/*
 * Published to the other threads: may this one receive a signal sent to the process, as the program
 * sees it?
 */
static void set_blocked(bool is_blocked)
{
	blocked = is_blocked;
	if (fg_self)
		atomic_store(&fg_self->takes_signal, !is_blocked);
}

void fg_signal_begin(void)
{
	set_blocked(blocked);
}

static int raw_mask(int how, const sigset_t *set, sigset_t *before)
{
	return (int)syscall(SYS_rt_sigprocmask, how, set, before, KERNEL_SIGSET);
}

/* Let our signal through; returns whether it was blocked before. */
static bool unblock_signal(void)
{
	sigset_t ours;
	sigset_t before;

	(void)sigemptyset(&ours);
	(void)sigemptyset(&before);
	(void)sigaddset(&ours, FG_SIGNAL);
	(void)raw_mask(SIG_UNBLOCK, &ours, &before);
	return sigismember(&before, FG_SIGNAL) == 1;
}

bool fg_signal_hold(void)
{
	sigset_t ours;

	(void)sigemptyset(&ours);
	(void)sigaddset(&ours, FG_SIGNAL);
	(void)raw_mask(SIG_BLOCK, &ours, NULL);
	return blocked;
}

void fg_signal_release(void)
{
	(void)unblock_signal();
}

void fg_signal_inherit(bool was_blocked)
{
	blocked = was_blocked;
	(void)unblock_signal();
}

static struct sigaction shadow_get(void)
{
	return shadow[atomic_load_explicit(&shadow_current, memory_order_acquire) & 1u];
}

static void shadow_set(const struct sigaction *action)
{
	uint32_t next = (atomic_load(&shadow_current) + 1) & 1u;

	shadow[next] = *action;
	atomic_store_explicit(&shadow_current, next, memory_order_release);
}

static void install(void)
{
	FG_REAL(sigaction);
	struct sigaction ours;
	struct sigaction before;

	memset(&ours, 0, sizeof(ours));
	ours.sa_sigaction = our_handler;
	ours.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
	(void)sigfillset(&ours.sa_mask);
	if (real_sigaction(FG_SIGNAL, &ours, &before) == 0 && before.sa_sigaction != our_handler)
		shadow_set(&before);
	blocked = unblock_signal();
}

void fg_signal_install(void (*handler)(int signal, siginfo_t *info, void *context))
{
	our_handler = handler;
	install();
}

/* ---- the program's own use of the signal ---- */

static void die_of(int signal)
{
	struct sigaction standard;

	memset(&standard, 0, sizeof(standard));
	standard.sa_handler = SIG_DFL;
	FG_REAL(sigaction);
	(void)real_sigaction(signal, &standard, NULL);
	(void)syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), signal);
	(void)unblock_signal();
}

/*
 * A process-directed signal that arrived at a thread which blocks it goes to a thread that does
 * not, or that waits for it. That thread is woken by a signal of this kind and takes the pending
 * one.
 */
static void *wake_mark(void)
{
	return (void *)(fg_g.cookie ^ (4 * (uintptr_t)FG_THREADS_MAX - 1));
}

static bool is_wake(const siginfo_t *info)
{
	return info->si_code == SI_QUEUE && info->si_pid == fg_g.pid &&
	       info->si_value.sival_ptr == wake_mark();
}

static void wake_taker(void)
{
	siginfo_t info;

	memset(&info, 0, sizeof(info));
	info.si_code = SI_QUEUE;
	info.si_pid = fg_g.pid;
	info.si_value.sival_ptr = wake_mark();
	for (uint32_t i = 0; i < atomic_load(&fg_g.thread_high); i++) {
		struct fg_thread *thread = atomic_load(&fg_g.threads[i]);

		if (thread && atomic_load(&thread->taken) && fg_tid(thread) > 0 &&
		    atomic_load(&thread->takes_signal) &&
		    syscall(SYS_rt_tgsigqueueinfo, fg_g.pid, fg_tid(thread), FG_SIGNAL, &info) == 0)
			return;
	}
}

void fg_signals_forked(void)
{
	pending = false;
	atomic_store(&process_pending, 0);
}

static bool take_pending(siginfo_t *info)
{
	uint8_t there = 2;

	if (pending) {
		pending = false;
		*info = pending_info;
		return true;
	}
	if (!atomic_compare_exchange_strong(&process_pending, &there, 1))
		return false;
	*info = process_pending_info;
	atomic_store(&process_pending, 0);
	return true;
}

/*
 * The program blocks the signal. A thread-directed one waits here. A process-directed one may
 * arrive at any thread, since we never block it; it waits for the first thread to unblock it.
 */
static void keep(const siginfo_t *info)
{
	uint8_t none = 0;

	if (info->si_code == SI_TKILL) {
		pending = true;
		pending_info = *info;
	} else if (atomic_compare_exchange_strong(&process_pending, &none, 1)) {
		process_pending_info = *info;
		atomic_store(&process_pending, 2);
		wake_taker();
	}
}

/* Fills `info` with a signal that the program wants to see now. A blocked one is kept. */
static bool is_wanted(siginfo_t *info)
{
	struct fg_trace_header *header = atomic_load(&fg_g.header);
	const bool woken = is_wake(info);

	if (woken && blocked && !(fg_self && atomic_load(&fg_self->takes_signal)))
		wake_taker();
	if (woken && (blocked || !take_pending(info)))
		return false;
	if (fg_alive() && fg_signal_is_stray(info)) {
		fg_lose(FG_LOSS_STRAY, 1);
		return false;
	}
	forwarded = true;
	if (header && fg_alive())
		fg_count(&header->forwarded, 1);
	/* The kernel also keeps a blocked signal that is ignored: the program may wait for it. */
	if (blocked)
		keep(info);
	return !blocked;
}

static bool run_handler(int signal, siginfo_t *info, void *context, int *flags)
{
	const struct sigaction action = shadow_get();
	sigset_t before;

	*flags = action.sa_flags;
	if (action.sa_handler == SIG_IGN)
		return false;
	if (action.sa_handler == SIG_DFL) {
		die_of(signal);
		return true;
	}
	if (action.sa_flags & (int)SA_RESETHAND) {
		struct sigaction reset = action;

		reset.sa_handler = SIG_DFL;
		shadow_set(&reset);
	}
	/* We run with every signal blocked; the program expects its own mask. */
	sigset_t mask = ((const ucontext_t *)context)->uc_sigmask;

	for (int number = 1; number < NSIG; number++)
		if (sigismember(&action.sa_mask, number) == 1)
			(void)sigaddset(&mask, number);
	(void)sigdelset(&mask, FG_SIGNAL); /* perhaps held for the time of a call */
	(void)raw_mask(SIG_SETMASK, &mask, &before);
	if (action.sa_flags & SA_SIGINFO)
		action.sa_sigaction(signal, info, context);
	else
		action.sa_handler(signal);
	(void)raw_mask(SIG_SETMASK, &before, NULL);
	return true;
}

bool fg_signal_forward(int signal, siginfo_t *info, void *context, int *flags)
{
	return is_wanted(info) && run_handler(signal, info, context, flags);
}

bool fg_signal_forward_kept(int signal, void *context, int *flags)
{
	siginfo_t info;

	if (blocked || !take_pending(&info))
		return false;
	forwarded = true;
	return run_handler(signal, &info, context, flags);
}

static int shadow_action(const struct sigaction *action, struct sigaction *before)
{
	struct sigaction seen = shadow_get();

	if (action)
		shadow_set(action);
	if (before)
		*before = seen;
	return 0;
}

FG_EXPORT int sigaction(int signal, const struct sigaction *restrict action,
			struct sigaction *restrict before)
{
	FG_REAL(sigaction);
	struct sigaction changed;

	if (!fg_alive())
		return real_sigaction(signal, action, before);
	if (signal == FG_SIGNAL)
		return shadow_action(action, before);
	if (signal < 1 || signal >= NSIG)
		return real_sigaction(signal, action, before);
	const uint8_t named_before = atomic_load(&names_ours[signal]);
	const bool names = action && sigismember(&action->sa_mask, FG_SIGNAL) == 1;

	if (names) {
		changed = *action;
		(void)sigdelset(&changed.sa_mask, FG_SIGNAL);
	}
	int status = real_sigaction(signal, names ? &changed : action, before);

	if (status == 0 && action)
		atomic_store(&names_ours[signal], names);
	if (status == 0 && before && named_before)
		(void)sigaddset(&before->sa_mask, FG_SIGNAL);
	return status;
}

static sighandler_t set_simple(int signal, sighandler_t handler, int flags)
{
	struct sigaction action;
	struct sigaction before;

	memset(&action, 0, sizeof(action));
	action.sa_handler = handler;
	action.sa_flags = flags;
	return sigaction(signal, &action, &before) == 0 ? before.sa_handler : SIG_ERR;
}

FG_EXPORT sighandler_t signal(int number, sighandler_t handler)
{
	FG_REAL(signal);
	if (number != FG_SIGNAL || !fg_alive())
		return real_signal(number, handler);
	return set_simple(number, handler, SA_RESTART);
}

/* Still in libc, no longer in its headers. */
sighandler_t bsd_signal(int number, sighandler_t handler);

FG_EXPORT sighandler_t bsd_signal(int number, sighandler_t handler)
{
	return signal(number, handler);
}

FG_EXPORT sighandler_t ssignal(int number, sighandler_t handler)
{
	return signal(number, handler);
}

FG_EXPORT sighandler_t sysv_signal(int number, sighandler_t handler)
{
	FG_REAL(sysv_signal);
	if (number != FG_SIGNAL || !fg_alive())
		return real_sysv_signal(number, handler);
	return set_simple(number, handler, (int)SA_RESETHAND | SA_NODEFER);
}

/* Deprecated, and still called. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
FG_EXPORT sighandler_t sigset(int number, sighandler_t handler)
{
	FG_REAL(sigset);
	if (number != FG_SIGNAL || !fg_alive())
		return real_sigset(number, handler);
	return set_simple(number, handler, 0);
}
#pragma GCC diagnostic pop

/* ---- masks ---- */

static void send_to_self(siginfo_t *info)
{
	(void)syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), FG_SIGNAL, info);
}

/* The kernel drops a second signal of a number that is already pending, such as a sample. */
static void deliver(siginfo_t *info)
{
	forwarded = false;
	do
		send_to_self(info);
	while (!forwarded);
}

static void deliver_pending(void)
{
	siginfo_t info;

	if (!blocked && take_pending(&info))
		deliver(&info);
}

/* What the request asks for our signal (set, block, unblock), and the request without it. */
static int change_mask(int how, const sigset_t *set, sigset_t *before,
		       int (*change)(int, const sigset_t *, sigset_t *))
{
	sigset_t without;
	const bool was_blocked = blocked;
	const bool names = set && sigismember(set, FG_SIGNAL) == 1;

	if (names) {
		without = *set;
		(void)sigdelset(&without, FG_SIGNAL);
	}
	int status = change(how, names ? &without : set, before);

	if (status != 0)
		return status;
	if (set && (how == SIG_SETMASK || names))
		set_blocked(how == SIG_UNBLOCK ? false : names);
	if (before && was_blocked)
		(void)sigaddset(before, FG_SIGNAL);
	deliver_pending();
	return 0;
}

FG_EXPORT int sigprocmask(int how, const sigset_t *restrict set, sigset_t *restrict before)
{
	FG_REAL(sigprocmask);
	if (!fg_alive())
		return real_sigprocmask(how, set, before);
	return change_mask(how, set, before, real_sigprocmask);
}

FG_EXPORT int pthread_sigmask(int how, const sigset_t *restrict set, sigset_t *restrict before)
{
	FG_REAL(pthread_sigmask);
	if (!fg_alive())
		return real_pthread_sigmask(how, set, before);
	return change_mask(how, set, before, real_pthread_sigmask);
}

/*
 * Calls that install a mask while they wait. If it differs from the program's own mask for our
 * signal, the signal is held back on entry. One that arrives before the kernel has switched masks
 * is then not taken too early, but ends the wait, as the program expects.
 *
 * Such a call waits for a handler to run, and must end then.  A sample taken between the end of
 * that handler and the return of the call would look as if it had interrupted the call itself, and
 * the call would be made again: for ever, as the handler has run.  So the kernel blocks our signal
 * while the call waits, too, and whatever interrupts it then is the program's; the sample comes
 * late but loses no weight.  The wall clock exists to see threads wait, and a program with a
 * handler of its own for the signal may wait for it: there the signal is held back around the call,
 * and open in it, so that one which arrives has interrupted the call and nothing else.
 */
struct stay {
	sigset_t set;
	bool before;
	bool differs;
	bool held_back; /* around the call */
	bool ended;     /* before it began */
	bool held;      /* in epoll: the kernel really blocks the signal */
};

static bool may_block(const sigset_t *set)
{
	const struct sigaction own = shadow_get();
	const bool has_handler = (own.sa_flags & SA_SIGINFO) != 0 ||
				 (own.sa_handler != SIG_DFL && own.sa_handler != SIG_IGN);

	return fg_g.clock_user != FG_CLOCK_WALL &&
	       (!has_handler || sigismember(set, FG_SIGNAL) == 1);
}

static const sigset_t *enter(struct stay *stay, const sigset_t *set)
{
	siginfo_t info;

	*stay = (struct stay){.before = blocked};
	if (!set || !fg_alive())
		return set;
	stay->differs = (sigismember(set, FG_SIGNAL) == 1) != blocked;
	stay->set = *set;
	if (!stay->differs && may_block(set)) {
		(void)sigaddset(&stay->set, FG_SIGNAL);
		return &stay->set;
	}
	(void)sigdelset(&stay->set, FG_SIGNAL);
	stay->held_back = stay->differs || !fg_g.sandboxed;
	if (stay->held_back)
		(void)fg_signal_hold();
	if (!stay->differs)
		return &stay->set;
	set_blocked(!blocked);
	stay->ended = !blocked && take_pending(&info);
	if (stay->ended) {
		fg_signal_release();
		deliver(&info);
		errno = EINTR;
	}
	return &stay->set;
}

static int leave(const struct stay *stay, int status)
{
	const int saved_errno = errno;

	if (stay->differs)
		set_blocked(stay->before);
	if (stay->held_back)
		fg_signal_release();
	if (stay->differs)
		deliver_pending();
	errno = saved_errno;
	return status;
}

FG_EXPORT int sigsuspend(const sigset_t *set)
{
	FG_REAL(sigsuspend);
	struct stay stay;
	const sigset_t *const mask = enter(&stay, set);

	return leave(&stay, stay.ended ? -1 : real_sigsuspend(mask));
}

FG_EXPORT int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
		    const sigset_t *set)
{
	FG_REAL(ppoll);
	struct stay stay;
	const sigset_t *const mask = enter(&stay, set);

	return leave(&stay, stay.ended ? -1 : real_ppoll(fds, count, timeout, mask));
}

FG_EXPORT int pselect(int count, fd_set *restrict reads, fd_set *restrict writes,
		      fd_set *restrict others, const struct timespec *restrict timeout,
		      const sigset_t *restrict set)
{
	FG_REAL(pselect);
	struct stay stay;
	const sigset_t *const mask = enter(&stay, set);

	return leave(&stay,
		     stay.ended ? -1 : real_pselect(count, reads, writes, others, timeout, mask));
}

/*
 * Only epoll returns EINTR if the kernel woke it for a process-directed signal that another thread
 * took first. A program that blocks the signal while it waits must not be woken, so here the kernel
 * really blocks it. That delays a sample but loses no weight; the wall clock, which exists to see
 * threads wait, does not do this.
 */
static bool sleeps_in_earnest(void)
{
	return blocked && fg_alive() && !fg_g.sandboxed && fg_g.clock_user != FG_CLOCK_WALL;
}

static const sigset_t *enter_epoll(struct stay *stay, const sigset_t *set)
{
	const sigset_t *const mask = enter(stay, set);

	stay->held = sleeps_in_earnest();
	if (stay->held && set)
		(void)sigaddset(&stay->set, FG_SIGNAL);
	else if (stay->held)
		(void)fg_signal_hold();
	return mask;
}

static int leave_epoll(const struct stay *stay, const sigset_t *set, int status)
{
	const int saved_errno = errno;

	if (stay->held && !set)
		fg_signal_release();
	errno = saved_errno;
	return leave(stay, status);
}

FG_EXPORT int epoll_wait(int fd, struct epoll_event *events, int count, int timeout)
{
	FG_REAL(epoll_wait);
	struct stay stay;

	(void)enter_epoll(&stay, NULL);
	return leave_epoll(&stay, NULL, real_epoll_wait(fd, events, count, timeout));
}

FG_EXPORT int epoll_pwait(int fd, struct epoll_event *events, int count, int timeout,
			  const sigset_t *set)
{
	FG_REAL(epoll_pwait);
	struct stay stay;
	const sigset_t *const mask = enter_epoll(&stay, set);

	return leave_epoll(&stay, set,
			   stay.ended ? -1 : real_epoll_pwait(fd, events, count, timeout, mask));
}

FG_EXPORT int epoll_pwait2(int fd, struct epoll_event *events, int count,
			   const struct timespec *timeout, const sigset_t *set)
{
	FG_REAL(epoll_pwait2);
	struct stay stay;
	const sigset_t *const mask = enter_epoll(&stay, set);

	return leave_epoll(&stay, set,
			   stay.ended ? -1 : real_epoll_pwait2(fd, events, count, timeout, mask));
}

/* ---- waiting for signals ---- */

static int64_t ns_of(const struct timespec *time)
{
	return (int64_t)time->tv_sec * 1000000000 + time->tv_nsec;
}

static struct timespec time_until(int64_t end_ns)
{
	const int64_t ns = end_ns - (int64_t)fg_clock_ns(CLOCK_MONOTONIC);

	return (struct timespec){(time_t)(ns > 0 ? ns / 1000000000 : 0),
				 (long)(ns > 0 ? ns % 1000000000 : 0)};
}

/*
 * One wait in the kernel for a set that contains our signal. A process-directed signal that another
 * thread took first ends it with EINTR; give that thread a moment to forward it.
 */
static int wait_once(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
	FG_REAL(sigtimedwait);
	const struct timespec moment = {0, 10000000};
	int number = real_sigtimedwait(set, info, timeout);

	if (number == -1 && errno == EINTR) {
		number = real_sigtimedwait(set, info, &moment);
		if (number == -1)
			errno = EINTR;
	}
	return number;
}

void fg_signal_arrived(bool tick)
{
	arrived[tick] = (sig_atomic_t)((unsigned)arrived[tick] + 1);
}

/*
 * A sample consumed by a wait is sent to the handler, which shows the thread waiting. The kernel
 * drops it while another signal of that number is pending, so it is sent until it arrives: a timer
 * that its handler re-arms would otherwise stay silent for ever.
 */
static void sample_now(siginfo_t *info, bool tick)
{
	const sig_atomic_t so_far = arrived[tick];

	for (unsigned tries = 0; tries < SAMPLE_TRIES && arrived[tick] == so_far; tries++) {
		send_to_self(info);
		fg_signal_release();
		(void)fg_signal_hold();
	}
}

/* Either the program's signal or a sample arrives. */
static int wait_for_ours(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
	const int64_t end_ns =
		(int64_t)fg_clock_ns(CLOCK_MONOTONIC) + (timeout ? ns_of(timeout) : 0);
	int number = FG_SIGNAL;
	bool tick;

	(void)fg_signal_hold();
	if (fg_self)
		atomic_store(&fg_self->takes_signal, true);
	while (!take_pending(info)) {
		const struct timespec left = time_until(end_ns);

		number = wait_once(set, info, timeout ? &left : NULL);
		if (number != FG_SIGNAL)
			break;
		if (fg_thread_of_signal(info, &tick)) {
			sample_now(info, tick);
		} else if (!is_wake(info) && !fg_signal_is_stray(info)) {
			break;
		}
	}
	const int saved_errno = errno;

	set_blocked(blocked);
	fg_signal_release();
	errno = saved_errno;
	return number;
}

static bool waits_for_ours(const sigset_t *set)
{
	return set && fg_alive() && sigismember(set, FG_SIGNAL) == 1;
}

FG_EXPORT int sigtimedwait(const sigset_t *restrict set, siginfo_t *restrict info,
			   const struct timespec *restrict timeout)
{
	FG_REAL(sigtimedwait);
	siginfo_t unwanted;

	if (!waits_for_ours(set))
		return real_sigtimedwait(set, info, timeout);
	return wait_for_ours(set, info ? info : &unwanted, timeout);
}

FG_EXPORT int sigwaitinfo(const sigset_t *restrict set, siginfo_t *restrict info)
{
	return sigtimedwait(set, info, NULL);
}

FG_EXPORT int sigwait(const sigset_t *restrict set, int *restrict number)
{
	FG_REAL(sigwait);
	siginfo_t info;
	int status;

	if (!waits_for_ours(set))
		return real_sigwait(set, number);
	do
		status = wait_for_ours(set, &info, NULL);
	while (status == -1 && errno == EINTR);
	if (status == -1)
		return errno;
	*number = status;
	return 0;
}

FG_EXPORT int sigpending(sigset_t *set)
{
	FG_REAL(sigpending);
	const int status = real_sigpending(set);

	if (status == 0 && fg_alive() && (pending || atomic_load(&process_pending) == 2))
		(void)sigaddset(set, FG_SIGNAL);
	return status;
}

/*
 * A signalfd would receive samples in whichever thread reads it, so it is created without our
 * signal.
 */
FG_EXPORT int signalfd(int fd, const sigset_t *set, int flags)
{
	FG_REAL(signalfd);
	sigset_t without;

	if (waits_for_ours(set)) {
		without = *set;
		(void)sigdelset(&without, FG_SIGNAL);
		set = &without;
	}
	const int made = real_signalfd(fd, set, flags);

	return FG_UNLIKELY(fg_fd_hooks != NULL) && fd == -1 ? fg_fd_hooks->opened(made) : made;
}

/* ---- exec ---- */

void fg_signal_expose(void)
{
	FG_REAL(sigaction);
	struct sigaction action = shadow_get();
	sigset_t ours;

	/* exec resets handlers to the default; only "ignore" is inherited. */
	if (action.sa_handler == SIG_IGN)
		(void)real_sigaction(FG_SIGNAL, &action, NULL);
	if (blocked) {
		(void)sigemptyset(&ours);
		(void)sigaddset(&ours, FG_SIGNAL);
		(void)raw_mask(SIG_BLOCK, &ours, NULL);
	}
}

void fg_signal_hide(void)
{
	const bool kept = blocked;

	install();
	blocked = kept;
}
