// SPDX-License-Identifier: Apache-2.0
/*
 * The program's signal masks, and calls that install a mask while they wait.
 *
 * If the mask of a call treats our signal differently from the program's own mask, the signal is
 * blocked on entry: a signal that arrives before the kernel has switched masks is not handled too
 * early, but ends the wait, as the program expects.
 *
 * The call waits for a handler to run, and must then end. A sample taken between the end of that
 * handler and the return of the call would look as if it had interrupted the call itself, and the
 * call would be restarted, forever, because the handler has already run. So the kernel blocks our
 * signal while the call waits; the sample comes late but loses no weight. In two cases the signal
 * must stay unblocked: for the wall clock, whose purpose is to see threads wait, and for a program
 * with its own handler for the signal, unless the call's mask blocks it. Then it is blocked around
 * the call and unblocked during the call, so that a signal that arrives has certainly interrupted
 * the call.
 */
#include "collector/process/real.h"
#include "collector/sampler/clocks.h"
#include "collector/sampler/signal_state.h"
#include "collector/sampler/signals.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/select.h>

/* ---- the mask of a thread ---- */

/* Passes the request on without our signal, which goes into the shadow. */
static int change_mask(int how, const sigset_t *set, sigset_t *before,
		       int (*change)(int, const sigset_t *, sigset_t *))
{
	sigset_t without;
	const bool was_blocked = fg_signal_blocked;
	const bool names = set && sigismember(set, FG_SIGNAL) == 1;

	if (names) {
		without = *set;
		(void)sigdelset(&without, FG_SIGNAL);
	}
	int status = change(how, names ? &without : set, before);

	if (status != 0)
		return status;
	if (set && (how == SIG_SETMASK || names))
		fg_signal_set_blocked(how == SIG_UNBLOCK ? false : names);
	if (before && was_blocked)
		(void)sigaddset(before, FG_SIGNAL);
	fg_signal_deliver_pending();
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
	if (!fg_real_exists(FG_REAL_pthread_sigmask))
		return sigprocmask(how, set, before) == 0 ? 0 : errno;
	if (!fg_alive())
		return real_pthread_sigmask(how, set, before);
	return change_mask(how, set, before, real_pthread_sigmask);
}

/* ---- calls that install a mask ---- */

struct stay {
	sigset_t set;
	bool before;    /* was our signal blocked in the program's view? */
	bool differs;   /* the call's mask changes whether our signal is blocked */
	bool held_back; /* blocked around the call */
	bool ended;     /* a pending signal ended the call before it began */
	bool held;      /* epoll only: blocked during the call */
};

static bool may_block(const sigset_t *set)
{
	const struct sigaction own = fg_signal_shadow();
	const bool has_handler = (own.sa_flags & SA_SIGINFO) != 0 ||
				 (own.sa_handler != SIG_DFL && own.sa_handler != SIG_IGN);

	return fg_g.clock_user != FG_CLOCK_WALL &&
	       (!has_handler || sigismember(set, FG_SIGNAL) == 1);
}

static const sigset_t *enter(struct stay *stay, const sigset_t *set)
{
	siginfo_t info;

	*stay = (struct stay){.before = fg_signal_blocked};
	if (!set || !fg_alive())
		return set;
	stay->differs = (sigismember(set, FG_SIGNAL) == 1) != fg_signal_blocked;
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
	fg_signal_set_blocked(!fg_signal_blocked);
	stay->ended = !fg_signal_blocked && fg_signal_take_pending(&info);
	if (stay->ended) {
		fg_signal_release();
		fg_signal_deliver(&info);
		errno = EINTR;
	}
	return &stay->set;
}

static int leave(const struct stay *stay, int status)
{
	const int saved_errno = errno;

	if (stay->differs)
		fg_signal_set_blocked(stay->before);
	if (stay->held_back)
		fg_signal_release();
	if (stay->differs)
		fg_signal_deliver_pending();
	errno = saved_errno;
	return status;
}

_Thread_local const sigset_t *fg_arch_suspended;

FG_EXPORT int sigsuspend(const sigset_t *set)
{
	FG_REAL(sigsuspend);
	struct stay stay;
	const sigset_t *const mask = enter(&stay, set);
	int status = -1;

	fg_arch_suspended = mask;
	if (!stay.ended)
		status = real_sigsuspend(mask);
	fg_arch_suspended = NULL;
	return leave(&stay, status);
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
 * took first.  A program that blocks the signal must not be woken, so the kernel blocks it here.
 */
static bool must_sleep_undisturbed(void)
{
	return fg_signal_blocked && fg_alive() && !fg_g.sandboxed &&
	       fg_g.clock_user != FG_CLOCK_WALL;
}

static const sigset_t *enter_epoll(struct stay *stay, const sigset_t *set)
{
	const sigset_t *const mask = enter(stay, set);

	stay->held = must_sleep_undisturbed();
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
