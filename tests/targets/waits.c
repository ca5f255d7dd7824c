// SPDX-License-Identifier: Apache-2.0
/*
 * A program that waits for SIGPROF, or for other events with its own signal mask, in every possible
 * way.  It must receive each signal that was sent to it once, and no other, whether or not
 * a collector uses the same signal.  With `wall`, no signal arrives while a thread that blocks it
 * sleeps in epoll.
 */
#include "work.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

static volatile sig_atomic_t handled;
static sigset_t ours;
static sigset_t none;
static int nothing; /* a descriptor that is never ready */
static int epoll;

static void on_signal(int number)
{
	(void)number;
	handled++;
}

static void block(int how)
{
	check(pthread_sigmask(how, &ours, NULL) == 0, "pthread_sigmask");
}

NOINLINE static void be_sampled(void)
{
	spin_us(3000);
	KEEP_FRAME();
}

static void *send_later(void *unused)
{
	be_sampled();
	check(kill(getpid(), SIGPROF) == 0, "kill");
	return unused;
}

static void *raise_in(void *thread)
{
	be_sampled();
	check(pthread_kill(*(pthread_t *)thread, SIGPROF) == 0, "pthread_kill");
	return NULL;
}

static int nothing_waits(void)
{
	const struct timespec at_once = {0, 0};
	sigset_t set;

	check(sigpending(&set) == 0, "sigpending");
	return sigismember(&set, SIGPROF) == 0 && sigtimedwait(&ours, NULL, &at_once) == -1 &&
	       errno == EAGAIN;
}

/* Takes all pending signals. */
static void take_the_rest(void)
{
	const struct timespec at_once = {0, 0};

	while (sigtimedwait(&ours, NULL, &at_once) == SIGPROF)
		;
	check(nothing_waits(), "a signal is left");
}

/*
 * Blocks the signal by a raw system call, so that a sample becomes pending; the kernel then drops
 * any other SIGPROF for this thread.
 */
static void arrive_next_to_a_sample(int (*send)(void))
{
	const uint64_t mask = UINT64_C(1) << (SIGPROF - 1);
	const int so_far = handled;

	check(syscall(SYS_rt_sigprocmask, SIG_BLOCK, &mask, NULL, sizeof(mask)) == 0, "block");
	be_sampled();
	check(send() == 0, "send");
	check(handled == so_far, "a blocked signal arrived");
	check(syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &mask, NULL, sizeof(mask)) == 0, "unblock");
	check(handled == so_far + 1, "a signal next to a sample was lost");
	check(nothing_waits(), "it came twice");
}

static int send_to_self(void)
{
	return pthread_kill(pthread_self(), SIGPROF);
}

static int raise_it(void)
{
	return raise(SIGPROF);
}

/* ---- sigwait and the like; the signal is blocked ---- */

static void wait_in_vain(void)
{
	const struct timespec time = {0, 4000000};
	siginfo_t info;

	for (unsigned i = 0; i < 20; i++) {
		const uint64_t begin = now_ns(CLOCK_MONOTONIC);

		be_sampled();
		check(sigtimedwait(&ours, &info, &time) == -1 && errno == EAGAIN,
		      "sigtimedwait saw what nobody had sent");
		check(now_ns(CLOCK_MONOTONIC) - begin >= 7000000, "sigtimedwait ended early");
	}
}

static void wait_for_what_is_there(void)
{
	sigset_t set;
	int number = 0;

	check(kill(getpid(), SIGPROF) == 0, "kill");
	be_sampled();
	check(sigpending(&set) == 0 && sigismember(&set, SIGPROF) == 1, "sigpending");
	check(sigwait(&ours, &number) == 0 && number == SIGPROF, "sigwait, already sent");
	check(nothing_waits(), "it came twice");
}

static void wait_for_another_thread(void *(*sender)(void *))
{
	for (unsigned i = 0; i < 20; i++) {
		pthread_t self = pthread_self();
		pthread_t thread;
		siginfo_t info;

		check(pthread_create(&thread, NULL, sender, &self) == 0, "pthread_create");
		check(sigwaitinfo(&ours, &info) == SIGPROF, "sigwaitinfo");
		check(info.si_pid == getpid() &&
			      (info.si_code == SI_USER || info.si_code == SI_TKILL),
		      "sigwaitinfo: who sent it");
		(void)pthread_join(thread, NULL);
		check(nothing_waits(), "it came twice");
	}
}

static void *work_on(void *stop)
{
	while (!*(volatile int *)stop)
		spin(20000);
	return NULL;
}

static void wait_for_a_timer(void)
{
	const struct itimerval every = {{0, 10000}, {0, 10000}};
	const struct itimerval never = {{0, 0}, {0, 0}};
	const struct timespec long_enough = {60, 0};
	volatile int stop = 0;
	pthread_t thread;
	siginfo_t info;

	check(pthread_create(&thread, NULL, work_on, (void *)&stop) == 0, "pthread_create");
	check(setitimer(ITIMER_PROF, &every, NULL) == 0, "setitimer");
	for (unsigned i = 0; i < 5; i++) {
		check(sigtimedwait(&ours, &info, &long_enough) == SIGPROF, "a timer's signal");
		check(info.si_code == SI_KERNEL, "a timer's signal comes from the kernel");
	}
	check(setitimer(ITIMER_PROF, &never, NULL) == 0, "setitimer");
	stop = 1;
	(void)pthread_join(thread, NULL);
	take_the_rest();
}

static void read_none_from_a_descriptor(void)
{
	struct signalfd_siginfo info;
	const int fd = signalfd(-1, &ours, SFD_NONBLOCK | SFD_CLOEXEC);

	check(fd >= 0, "signalfd");
	for (unsigned i = 0; i < 20; i++) {
		be_sampled();
		check(read(fd, &info, sizeof(info)) == -1 && errno == EAGAIN,
		      "a descriptor gave what nobody had sent");
	}
	(void)close(fd);
}

/* ---- calls that install a mask ---- */

static int by_suspend(const sigset_t *set, long ns)
{
	(void)ns;
	return sigsuspend(set);
}

static int by_ppoll(const sigset_t *set, long ns)
{
	struct pollfd what = {nothing, POLLIN, 0};
	const struct timespec time = {ns / 1000000000, ns % 1000000000};

	return ppoll(&what, 1, &time, set);
}

static int by_pselect(const sigset_t *set, long ns)
{
	const struct timespec time = {ns / 1000000000, ns % 1000000000};
	fd_set reads;

	FD_ZERO(&reads);
	FD_SET(nothing, &reads);
	return pselect(nothing + 1, &reads, NULL, NULL, &time, set);
}

static int by_epoll(const sigset_t *set, long ns)
{
	struct epoll_event event;

	return epoll_pwait(epoll, &event, 1, (int)(ns / 1000000), set);
}

struct way {
	const char *name;
	int (*wait)(const sigset_t *set, long ns);
	int ends; /* can time out without a signal */
};

static const struct way ways[] = {
	{"sigsuspend", by_suspend, 0},
	{"ppoll", by_ppoll, 1},
	{"pselect", by_pselect, 1},
	{"epoll_pwait", by_epoll, 1},
};

static void expect(const struct way *way, const sigset_t *set, long ns, int error)
{
	const int status = way->wait(set, ns);
	const int seen = status == -1 ? errno : 0;

	if (status > 0 || seen != error)
		(void)printf("%s: %d, errno %d where %d was expected; %d handled\n", way->name,
			     status, seen, error, (int)handled);
	check(status <= 0 && seen == error, "a call ended as it should not");
}

/* The signal is blocked except during the wait: a signal sent before or during the wait ends it. */
static void let_through(const struct way *way)
{
	const long long_ns = 2000000000;
	pthread_t thread;
	int so_far = handled;

	block(SIG_BLOCK);
	check(kill(getpid(), SIGPROF) == 0, "kill");
	be_sampled();
	check(handled == so_far, "a blocked signal arrived");
	expect(way, &none, long_ns, EINTR);
	check(handled == ++so_far, "a signal sent before the wait did not end it");
	if (way->ends) {
		expect(way, &none, 4000000, 0);
		expect(way, &ours, 4000000, 0);
	}
	check(pthread_create(&thread, NULL, send_later, NULL) == 0, "pthread_create");
	while (handled == so_far)
		expect(way, &none, long_ns, EINTR);
	check(handled == ++so_far, "a signal sent during the wait came twice");
	(void)pthread_join(thread, NULL);
	check(nothing_waits(), "a signal is left");
	block(SIG_UNBLOCK);
	check(handled == so_far, "a signal was left");
}

/* The signal is blocked only during the wait: a signal sent meanwhile arrives afterwards. */
static void keep_out(const struct way *way)
{
	pthread_t thread;
	const int so_far = handled;

	block(SIG_BLOCK); /* the new thread inherits the mask, so this thread gets the signal */
	check(pthread_create(&thread, NULL, send_later, NULL) == 0, "pthread_create");
	expect(way, &ours, 20000000, 0);
	(void)pthread_join(thread, NULL);
	check(handled == so_far, "a blocked signal arrived");
	block(SIG_UNBLOCK);
	check(handled == so_far + 1, "a signal was lost");
	expect(way, &ours, 4000000, 0);
	check(kill(getpid(), SIGPROF) == 0 && handled == so_far + 2, "the signal is still blocked");
}

/* Every thread blocks the signal, so it must not wake any of them. */
static volatile int all_sent;

static void *send_many(void *unused)
{
	for (unsigned i = 0; i < 3000; i++) {
		check(kill(getpid(), SIGPROF) == 0, "kill");
		spin(2000);
	}
	all_sent = 1;
	return unused;
}

static void sleep_through(void)
{
	struct epoll_event event;
	pthread_t thread;

	check(pthread_create(&thread, NULL, send_many, NULL) == 0, "pthread_create");
	while (!all_sent) {
		check(epoll_wait(epoll, &event, 1, 2) == 0, "epoll_wait was cut short");
		check(epoll_pwait(epoll, &event, 1, 2, &ours) == 0, "epoll_pwait was cut short");
	}
	(void)pthread_join(thread, NULL);
	take_the_rest();
}

/*
 * Does a fixed amount of work, not work for a fixed CPU time: after the host stops this machine, CPU
 * time jumps, and a timed loop could end with hardly any samples.
 */
NOINLINE static void afterwards(void)
{
	for (unsigned i = 0; i < 10000; i++)
		spin(20000);
	KEEP_FRAME();
}

int main(int argc, char **argv)
{
	const int by_wall = argc > 1 && strcmp(argv[1], "wall") == 0;
	struct sigaction action;
	int pipes[2];

	memset(&action, 0, sizeof(action));
	action.sa_handler = on_signal;
	(void)sigemptyset(&none);
	(void)sigemptyset(&ours);
	(void)sigaddset(&ours, SIGPROF);
	epoll = epoll_create1(EPOLL_CLOEXEC);
	check(pipe(pipes) == 0 && epoll >= 0 && sigaction(SIGPROF, &action, NULL) == 0, "set-up");
	nothing = pipes[0];

	block(SIG_BLOCK);
	wait_in_vain();
	wait_for_what_is_there();
	wait_for_another_thread(send_later);
	wait_for_another_thread(raise_in);
	wait_for_a_timer();
	read_none_from_a_descriptor();
	if (!by_wall)
		sleep_through();
	check(handled == 0, "a signal that was waited for was handled, too");
	block(SIG_UNBLOCK);
	arrive_next_to_a_sample(send_to_self);
	arrive_next_to_a_sample(raise_it);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		let_through(&ways[i]);
		if (ways[i].ends && !(by_wall && ways[i].wait == by_epoll))
			keep_out(&ways[i]);
	}
	afterwards();
	return 0;
}
