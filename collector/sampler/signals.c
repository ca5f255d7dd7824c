// SPDX-License-Identifier: Apache-2.0
#include "collector/sampler/signals.h"

#include "collector/process/real.h"
#include "collector/sampler/clocks.h"
#include "collector/sampler/signal_state.h"
#include "collector/sampler/writer.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	KERNEL_SIGSET = 8,
};

static void (*our_handler)(int signal, siginfo_t *info, void *context);
/*
 * The program's action for our signal: two copies, so that a handler always finds a complete copy.
 */
static struct sigaction shadow[2];
static _Atomic uint32_t shadow_current;
/* For every other signal: does the program's sa_mask contain our signal? */
static _Atomic uint8_t names_ours[NSIG];
_Thread_local bool fg_signal_blocked __attribute__((tls_model("initial-exec")));
static _Thread_local bool pending __attribute__((tls_model("initial-exec")));
static _Thread_local volatile sig_atomic_t forwarded __attribute__((tls_model("initial-exec")));
static _Thread_local siginfo_t pending_info __attribute__((tls_model("initial-exec")));
/* A signal sent to the process. 0: none; 1: being written or taken; 2: pending. */
static _Atomic uint8_t process_pending;
static siginfo_t process_pending_info;

void fg_signal_set_blocked(bool is_blocked)
{
	fg_signal_blocked = is_blocked;
	if (fg_self)
		atomic_store(&fg_self->takes_signal, !is_blocked);
}

void fg_signal_begin(void)
{
	fg_signal_set_blocked(fg_signal_blocked);
}

static int raw_mask(int how, const sigset_t *set, sigset_t *before)
{
	return (int)syscall(SYS_rt_sigprocmask, how, set, before, KERNEL_SIGSET);
}

/* Unblocks our signal; returns whether it was blocked before. */
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
	return fg_signal_blocked;
}

void fg_signal_release(void)
{
	(void)unblock_signal();
}

void fg_signal_inherit(bool was_blocked)
{
	fg_signal_blocked = was_blocked;
	(void)unblock_signal();
}

struct sigaction fg_signal_shadow(void)
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
	fg_signal_blocked = unblock_signal();
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
 * A process-directed signal may arrive at a thread that blocks it.  It then becomes pending, and a
 * thread that does not block it, or waits for it, is woken by a signal with this mark.
 */
static void *wake_mark(void)
{
	return (void *)(fg_g.cookie ^ (4 * (uintptr_t)FG_THREADS_MAX - 1));
}

bool fg_signal_is_wake(const siginfo_t *info)
{
	return info->si_code == SI_QUEUE && info->si_pid == fg_g.pid &&
	       info->si_value.sival_ptr == wake_mark();
}

/* Returns false if the thread has ended. */
static bool wake(const struct fg_thread *thread)
{
	siginfo_t info;

	memset(&info, 0, sizeof(info));
	info.si_code = SI_QUEUE;
	info.si_pid = fg_g.pid;
	info.si_value.sival_ptr = wake_mark();
	return fg_tid(thread) > 0 &&
	       syscall(SYS_rt_tgsigqueueinfo, fg_g.pid, fg_tid(thread), FG_SIGNAL, &info) == 0;
}

static void wake_taker(void)
{
	for (uint32_t i = 0; i < atomic_load(&fg_g.thread_high); i++) {
		struct fg_thread *thread = atomic_load(&fg_g.threads[i]);

		if (thread && atomic_load(&thread->taken) && atomic_load(&thread->takes_signal) &&
		    wake(thread))
			return;
	}
}

void fg_signals_forked(void)
{
	pending = false;
	atomic_store(&process_pending, 0);
}

bool fg_signal_has_pending(void)
{
	return pending || (fg_self && atomic_load(&fg_self->is_sent_signal)) ||
	       atomic_load(&process_pending) == 2;
}

static siginfo_t from_own_process(void)
{
	siginfo_t info;

	memset(&info, 0, sizeof(info));
	info.si_signo = FG_SIGNAL;
	info.si_code = SI_TKILL;
	info.si_pid = getpid();
	info.si_uid = getuid();
	return info;
}

bool fg_signal_take_pending(siginfo_t *info)
{
	uint8_t there = 2;

	if (pending) {
		pending = false;
		*info = pending_info;
		return true;
	}
	if (fg_self && atomic_load(&fg_self->is_sent_signal)) {
		atomic_store(&fg_self->is_sent_signal, false);
		*info = from_own_process();
		return true;
	}
	if (!atomic_compare_exchange_strong(&process_pending, &there, 1))
		return false;
	*info = process_pending_info;
	atomic_store(&process_pending, 0);
	return true;
}

/*
 * Keeps a signal that the program blocks. A signal from tgkill() is kept for this thread. A
 * process-directed signal may arrive at any thread, whatever the program blocks; it waits for the
 * first thread to unblock it.
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

/*
 * Does the program want to handle the signal now? A blocked signal is kept, and a wake is replaced
 * by the kept signal.
 */
static bool is_wanted(siginfo_t *info)
{
	struct fg_trace_header *header = atomic_load(&fg_g.header);
	const bool woken = fg_signal_is_wake(info);

	if (woken && fg_signal_blocked && !(fg_self && atomic_load(&fg_self->takes_signal)))
		wake_taker();
	if (woken && (fg_signal_blocked || !fg_signal_take_pending(info)))
		return false;
	if (fg_alive() && fg_signal_is_stray(info)) {
		fg_count_loss(FG_LOSS_STRAY, 1);
		return false;
	}
	forwarded = true;
	if (header && fg_alive())
		fg_count(&header->forwarded, 1);
	/* The kernel also keeps a blocked signal that is ignored: the program may wait for it. */
	if (fg_signal_blocked)
		keep(info);
	return !fg_signal_blocked;
}

static bool run_handler(int signal, siginfo_t *info, void *context, int *flags)
{
	const struct sigaction action = fg_signal_shadow();
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
	(void)sigdelset(&mask, FG_SIGNAL); /* we may have blocked our signal during a call */
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

	if (fg_signal_blocked || !fg_signal_take_pending(&info))
		return false;
	forwarded = true;
	return run_handler(signal, &info, context, flags);
}

/*
 * Sends our signal to one thread. While a sample is pending for that thread, the kernel drops the
 * signal, so it is kept here, and the handler of the sample takes it.
 */
static int send_to(struct fg_thread *thread)
{
	atomic_store(&thread->is_sent_signal, true);
	return wake(thread) ? 0 : ESRCH;
}

/* A child of vfork() shares our memory, but the table does not list its threads. */
static bool is_sent_by_us(int number)
{
	return number == FG_SIGNAL && fg_alive() && !fg_g.sandboxed && getpid() == fg_g.pid;
}

FG_EXPORT int pthread_kill(pthread_t handle, int number)
{
	FG_REAL(pthread_kill);
	const bool is_ours = is_sent_by_us(number);

	for (uint32_t i = 0; is_ours && i < atomic_load(&fg_g.thread_high); i++) {
		struct fg_thread *thread = atomic_load(&fg_g.threads[i]);

		if (thread && atomic_load(&thread->taken) && thread->birth.handle == handle)
			return send_to(thread);
	}
	return real_pthread_kill(handle, number);
}

FG_EXPORT int raise(int number)
{
	FG_REAL(raise);
	return is_sent_by_us(number) && fg_self ? send_to(fg_self) : real_raise(number);
}

static int shadow_action(const struct sigaction *action, struct sigaction *before)
{
	struct sigaction seen = fg_signal_shadow();

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

/* libc still exports bsd_signal(), but its headers no longer declare it. */
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

/* sigset() is deprecated, but programs still call it. */
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

/* ---- delivery ---- */

void fg_signal_send_to_self(siginfo_t *info)
{
	(void)syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), FG_SIGNAL, info);
}

void fg_signal_deliver(siginfo_t *info)
{
	forwarded = false;
	do
		fg_signal_send_to_self(info);
	while (!forwarded);
}

void fg_signal_deliver_pending(void)
{
	siginfo_t info;

	if (!fg_signal_blocked && fg_signal_take_pending(&info))
		fg_signal_deliver(&info);
}

/* ---- exec ---- */

void fg_signal_expose(void)
{
	FG_REAL(sigaction);
	struct sigaction action = fg_signal_shadow();
	sigset_t ours;

	/* exec resets handlers to the default; only "ignore" is inherited. */
	if (action.sa_handler == SIG_IGN)
		(void)real_sigaction(FG_SIGNAL, &action, NULL);
	if (fg_signal_blocked) {
		(void)sigemptyset(&ours);
		(void)sigaddset(&ours, FG_SIGNAL);
		(void)raw_mask(SIG_BLOCK, &ours, NULL);
	}
}

void fg_signal_hide(void)
{
	const bool kept = fg_signal_blocked;

	install();
	fg_signal_blocked = kept;
}
