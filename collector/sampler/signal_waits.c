// SPDX-License-Identifier: Apache-2.0
/* sigwait() and its relatives: samples that they consume still reach the handler. */
#include "collector/counting/count_hooks.h"
#include "collector/process/real.h"
#include "collector/sampler/clocks.h"
#include "collector/sampler/signal_state.h"
#include "collector/sampler/signals.h"
#include "collector/sampler/writer.h"

#include <errno.h>
#include <sys/signalfd.h>

enum {
	SAMPLE_TRIES = 100
};

/*
 * Counts of signals of this thread's clocks that reached the handler: [1] of the tick timer, [0] of
 * the other clock.
 */
static _Thread_local volatile sig_atomic_t arrived[2] __attribute__((tls_model("initial-exec")));

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
 * Waits once in the kernel for a set that contains our signal. If the wait ends with EINTR, another
 * thread may have taken a process-directed signal first: waits 10 ms more for that thread to
 * forward it.
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
 * Sends a sample that a wait has consumed to the handler, so that it shows the thread waiting. The
 * kernel drops the signal while another signal of that number is pending, so it is sent until it
 * arrives. Otherwise a timer that the handler re-arms would stay silent forever.
 */
static void sample_now(siginfo_t *info, bool tick)
{
	const sig_atomic_t so_far = arrived[tick];

	for (unsigned tries = 0; tries < SAMPLE_TRIES && arrived[tick] == so_far; tries++) {
		fg_signal_send_to_self(info);
		fg_signal_release();
		(void)fg_signal_hold();
	}
}

/*
 * Waits for a signal of the program. Samples that arrive meanwhile are taken, and the wait
 * continues.
 */
static int wait_for_ours(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
	const int64_t end_ns =
		(int64_t)fg_clock_ns(CLOCK_MONOTONIC) + (timeout ? ns_of(timeout) : 0);
	int number = FG_SIGNAL;
	bool tick;

	(void)fg_signal_hold();
	if (fg_self)
		atomic_store(&fg_self->takes_signal, true);
	while (!fg_signal_take_pending(info)) {
		const struct timespec left = time_until(end_ns);

		number = wait_once(set, info, timeout ? &left : NULL);
		if (number != FG_SIGNAL)
			break;
		if (fg_thread_of_signal(info, &tick)) {
			sample_now(info, tick);
		} else if (!fg_signal_is_wake(info) && !fg_signal_is_stray(info)) {
			break;
		}
	}
	const int saved_errno = errno;

	fg_signal_set_blocked(fg_signal_blocked);
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

	if (status == 0 && fg_alive() && fg_signal_has_pending())
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
