// SPDX-License-Identifier: Apache-2.0
#include "collector/signals.h"

#include "collector/handler.h"
#include "collector/real.h"
#include "collector/threads.h"
#include "collector/writer.h"

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
	KERNEL_SIGSET = 8
};

/* What the program set for our signal; two copies, so that a handler always finds one whole. */
static struct sigaction shadow[2];
static _Atomic uint32_t shadow_current;
/* For every other signal: does the program's sa_mask name ours? */
static _Atomic uint8_t names_ours[NSIG];
static _Thread_local bool blocked __attribute__((tls_model("initial-exec")));
static _Thread_local bool pending __attribute__((tls_model("initial-exec")));
static _Thread_local siginfo_t pending_info __attribute__((tls_model("initial-exec")));
/* The same for a signal that was sent to the process: 0 none, 1 being written or taken, 2 there. */
static _Atomic uint8_t process_pending;
static siginfo_t process_pending_info;

static int raw_mask(int how, const sigset_t *set, sigset_t *before)
{
	return (int)syscall(SYS_rt_sigprocmask, how, set, before, KERNEL_SIGSET);
}

void fg__mask_block_all(sigset_t *before)
{
	sigset_t all;

	(void)sigfillset(&all);
	(void)raw_mask(SIG_SETMASK, &all, before);
}

void fg__mask_restore(const sigset_t *before)
{
	(void)raw_mask(SIG_SETMASK, before, NULL);
}

bool fg__signal_unblock(void)
{
	sigset_t ours;
	sigset_t before;

	(void)sigemptyset(&ours);
	(void)sigemptyset(&before);
	(void)sigaddset(&ours, FG_SIGNAL);
	(void)raw_mask(SIG_UNBLOCK, &ours, &before);
	return sigismember(&before, FG_SIGNAL) == 1;
}

bool fg__signal_hold(void)
{
	sigset_t ours;

	(void)sigemptyset(&ours);
	(void)sigaddset(&ours, FG_SIGNAL);
	(void)raw_mask(SIG_BLOCK, &ours, NULL);
	return blocked;
}

void fg__signal_release(void)
{
	(void)fg__signal_unblock();
}

void fg__signal_inherit(bool was_blocked)
{
	blocked = was_blocked;
	(void)fg__signal_unblock();
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

void fg__signal_install(void)
{
	FG_REAL(sigaction);
	struct sigaction ours;
	struct sigaction before;

	memset(&ours, 0, sizeof(ours));
	ours.sa_sigaction = fg__on_signal;
	ours.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
	(void)sigfillset(&ours.sa_mask);
	if (real_sigaction(FG_SIGNAL, &ours, &before) == 0 && before.sa_sigaction != fg__on_signal)
		shadow_set(&before);
	blocked = fg__signal_unblock();
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
	(void)fg__signal_unblock();
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
 * The program has blocked the signal.  One that was sent to this thread waits here.  One for the process may have come to any
 * thread, for to us it is never blocked; it waits for whoever unblocks it first.
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
	}
}

void fg__signal_forward(int signal, siginfo_t *info, void *context)
{
	struct sigaction action = shadow_get();
	struct fg_trace_header *header = atomic_load(&fg_g.header);
	sigset_t before;

	if (fg_alive() && fg__signal_is_stray(info)) {
		fg__lose(FG_LOSS_STRAY, 1);
		return;
	}
	if (header && fg_alive())
		fg__count(&header->forwarded, 1);
	if (action.sa_handler == SIG_IGN)
		return;
	if (blocked) {
		keep(info);
		return;
	}
	if (action.sa_handler == SIG_DFL) {
		die_of(signal);
		return;
	}
	if (action.sa_flags & (int)SA_RESETHAND) {
		struct sigaction reset = action;

		reset.sa_handler = SIG_DFL;
		shadow_set(&reset);
	}
	/* We run with everything blocked; the program expects its own mask and what it had before. */
	sigset_t mask = ((const ucontext_t *)context)->uc_sigmask;

	for (int number = 1; number < NSIG; number++)
		if (sigismember(&action.sa_mask, number) == 1 && number != FG_SIGNAL)
			(void)sigaddset(&mask, number);
	(void)raw_mask(SIG_SETMASK, &mask, &before);
	if (action.sa_flags & SA_SIGINFO)
		action.sa_sigaction(signal, info, context);
	else
		action.sa_handler(signal);
	(void)raw_mask(SIG_SETMASK, &before, NULL);
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

static void deliver_pending(void)
{
	siginfo_t info;

	if (!blocked && take_pending(&info))
		(void)syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), FG_SIGNAL,
			      &info);
}

/* Which of set, block, unblock was asked for our signal; and is the request without it. */
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
		blocked = how == SIG_UNBLOCK ? false : names;
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

/* A set for the kernel without our signal; NULL stays NULL. */
static const sigset_t *without_ours(const sigset_t *set, sigset_t *copy)
{
	if (!set || !fg_alive() || sigismember(set, FG_SIGNAL) != 1)
		return set;
	*copy = *set;
	(void)sigdelset(copy, FG_SIGNAL);
	return copy;
}

FG_EXPORT int sigsuspend(const sigset_t *set)
{
	FG_REAL(sigsuspend);
	sigset_t copy;

	return real_sigsuspend(without_ours(set, &copy));
}

FG_EXPORT int sigwait(const sigset_t *restrict set, int *restrict number)
{
	FG_REAL(sigwait);
	sigset_t copy;

	return real_sigwait(without_ours(set, &copy), number);
}

FG_EXPORT int sigwaitinfo(const sigset_t *restrict set, siginfo_t *restrict info)
{
	FG_REAL(sigwaitinfo);
	sigset_t copy;

	return real_sigwaitinfo(without_ours(set, &copy), info);
}

FG_EXPORT int sigtimedwait(const sigset_t *restrict set, siginfo_t *restrict info,
			   const struct timespec *restrict timeout)
{
	FG_REAL(sigtimedwait);
	sigset_t copy;

	return real_sigtimedwait(without_ours(set, &copy), info, timeout);
}

FG_EXPORT int signalfd(int fd, const sigset_t *set, int flags)
{
	FG_REAL(signalfd);
	sigset_t copy;

	return real_signalfd(fd, without_ours(set, &copy), flags);
}

FG_EXPORT int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
		    const sigset_t *set)
{
	FG_REAL(ppoll);
	sigset_t copy;

	return real_ppoll(fds, count, timeout, without_ours(set, &copy));
}

FG_EXPORT int pselect(int count, fd_set *restrict reads, fd_set *restrict writes,
		      fd_set *restrict others, const struct timespec *restrict timeout,
		      const sigset_t *restrict set)
{
	FG_REAL(pselect);
	sigset_t copy;

	return real_pselect(count, reads, writes, others, timeout, without_ours(set, &copy));
}

FG_EXPORT int epoll_pwait(int fd, struct epoll_event *events, int count, int timeout,
			  const sigset_t *set)
{
	FG_REAL(epoll_pwait);
	sigset_t copy;

	return real_epoll_pwait(fd, events, count, timeout, without_ours(set, &copy));
}

FG_EXPORT int epoll_pwait2(int fd, struct epoll_event *events, int count,
			   const struct timespec *timeout, const sigset_t *set)
{
	FG_REAL(epoll_pwait2);
	sigset_t copy;

	return real_epoll_pwait2(fd, events, count, timeout, without_ours(set, &copy));
}

/* ---- exec ---- */

void fg__signal_expose(void)
{
	FG_REAL(sigaction);
	struct sigaction action = shadow_get();
	sigset_t ours;

	/* A handler becomes the default by itself; only "ignore" is inherited. */
	if (action.sa_handler == SIG_IGN)
		(void)real_sigaction(FG_SIGNAL, &action, NULL);
	if (blocked) {
		(void)sigemptyset(&ours);
		(void)sigaddset(&ours, FG_SIGNAL);
		(void)raw_mask(SIG_BLOCK, &ours, NULL);
	}
}

void fg__signal_hide(void)
{
	const bool kept = blocked;

	fg__signal_install();
	blocked = kept;
}
