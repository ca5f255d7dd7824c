// SPDX-License-Identifier: Apache-2.0
/*
 * A thread is stopped in a system call that Linux does not restart, and then released; or it ends
 * while it is stopped.
 */
#include "base/clock.h"
#include "base/fs.h"
#include "profile/attach/threads.h"
#include "profile/attach/waiting_place.h"
#include "tests/support/fg_test.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	SAW_EVENT = 7,
	SAW_EINTR = 9,
	FAILED = 1,
	STOP_WITHIN_S = 60,
};

struct waiter {
	pid_t pid;
	int event_fd;
};

/* Waits for an event without a time limit; its exit code shows how the wait ended. */
static void wait_for_event(int event_fd, bool with_pending_signal)
{
	struct epoll_event event = {.events = EPOLLIN};
	const int epoll_fd = epoll_create1(0);
	sigset_t blocked;
	int got = 0;

	(void)sigemptyset(&blocked);
	(void)sigaddset(&blocked, SIGUSR2);
	if (epoll_fd < 0 || epoll_ctl(epoll_fd, EPOLL_CTL_ADD, event_fd, &event) != 0 ||
	    sigprocmask(SIG_BLOCK, &blocked, NULL) != 0 ||
	    (with_pending_signal && raise(SIGUSR2) != 0))
		_exit(FAILED);
	got = epoll_wait(epoll_fd, &event, 1, -1);
	if (got == 1)
		_exit(SAW_EVENT);
	_exit(got < 0 && errno == EINTR ? SAW_EINTR : FAILED);
}

static bool is_in_epoll(pid_t pid)
{
	char path[64];
	char *text = NULL;
	struct fg_blocked blocked = {.number = -1};

	(void)snprintf(path, sizeof(path), "/proc/%d/syscall", (int)pid);
	assert_int_equal(fg_fs_read(path, 4096, &text, NULL, NULL), FG_OK);
	(void)fg_blocked_parse(text, &blocked);
	free(text);
	return blocked.waits && blocked.number == SYS_epoll_wait;
}

static struct waiter start_waiter(bool with_pending_signal)
{
	struct waiter waiter = {.event_fd = eventfd(0, EFD_CLOEXEC)};

	assert_true(waiter.event_fd >= 0);
	waiter.pid = fork();
	assert_true(waiter.pid >= 0);
	if (waiter.pid == 0)
		wait_for_event(waiter.event_fd, with_pending_signal);
	while (!is_in_epoll(waiter.pid)) {
	}
	return waiter;
}

static int stop(pid_t tid)
{
	const int64_t until_ns = fg_clock_monotonic_ns() + STOP_WITHIN_S * FG_NS_PER_S;
	struct fg_thread_stop stop;

	assert_true(fg_thread_seize(tid));
	fg_thread_interrupt(tid);
	while (!fg_thread_poll(tid, false, &stop)) {
		assert_false(stop.gone);
		assert_true(stop.seen_ns < until_ns);
	}
	return stop.signal;
}

static void stop_and_release(const struct waiter *waiter)
{
	struct user_regs_struct registers;
	const int signal = stop(waiter->pid);

	assert_true(fg_thread_registers(waiter->pid, &registers));
	assert_true(fg_call_is_cut_by_stop(&registers));
	fg_thread_make_call_again(waiter->pid, &registers);
	assert_true(fg_thread_release(waiter->pid, signal));
}

static int what_ended_the_wait(const struct waiter *waiter)
{
	const uint64_t one = 1;
	int status = 0;

	assert_int_equal(write(waiter->event_fd, &one, sizeof(one)), sizeof(one));
	assert_int_equal(waitpid(waiter->pid, &status, 0), waiter->pid);
	assert_true(WIFEXITED(status));
	(void)close(waiter->event_fd);
	return WEXITSTATUS(status);
}

static void *wait_forever(void *unused)
{
	for (;;)
		(void)pause();
	return unused;
}

/* Starts a process with a second thread, and returns that thread's id. */
static pid_t start_threads(pid_t *pid)
{
	struct fg_pids found = {0};
	pid_t second = 0;

	*pid = fork();
	assert_true(*pid >= 0);
	if (*pid == 0) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, wait_forever, NULL) == 0)
			(void)wait_forever(NULL);
		_exit(FAILED);
	}
	while (found.count < 2) {
		found.count = 0;
		fg_threads_of(*pid, &found);
	}
	second = found.items[0] == *pid ? found.items[1] : found.items[0];
	fg_pids_release(&found);
	return second;
}

FG_TEST(a_thread_that_ends_while_it_is_stopped_does_not_keep_its_process)
{
	struct fg_thread_state found = {.state = 0};
	struct fg_thread_stop end = {.gone = false};
	pid_t pid = 0;
	const pid_t second = start_threads(&pid);
	const int signal = stop(second);

	assert_int_equal(kill(pid, SIGKILL), 0);
	while (found.state != 'Z')
		fg_thread_read_state(pid, second, &found);
	assert_false(fg_thread_release(second, signal));
	assert_int_equal(waitpid(pid, NULL, WNOHANG), 0);
	assert_false(fg_thread_poll(second, false, &end));
	assert_true(end.gone);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

FG_TEST(the_program_does_not_notice_the_stop)
{
	const struct waiter waiter = start_waiter(false);

	stop_and_release(&waiter);
	assert_int_equal(what_ended_the_wait(&waiter), SAW_EVENT);
}

FG_TEST(a_call_is_not_made_again_where_a_signal_is_pending)
{
	const struct waiter waiter = start_waiter(true);

	stop_and_release(&waiter);
	assert_int_equal(what_ended_the_wait(&waiter), SAW_EINTR);
}

static bool is_cut(long number, long result)
{
	return fg_call_is_cut_by_stop(&(struct user_regs_struct){
		.orig_rax = (unsigned long long)number, .rax = (unsigned long long)result});
}

FG_TEST(only_calls_that_can_be_made_twice_are)
{
	assert_true(is_cut(SYS_epoll_wait, -EINTR));
	assert_true(is_cut(SYS_read, -EINTR));
	assert_false(is_cut(SYS_epoll_wait, 1));
	assert_false(is_cut(SYS_connect, -EINTR));
	assert_false(is_cut(SYS_close, -EINTR));
	assert_false(is_cut(-1, -EINTR));
}
