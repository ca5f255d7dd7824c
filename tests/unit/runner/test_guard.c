// SPDX-License-Identifier: Apache-2.0
/*
 * A stand-in for fastgate is split into guard and worker; the worker runs a program that leaves a
 * daemon running. Each process holds the writing end of a pipe, so end of file shows, without a
 * clock, that all of them are gone.
 */
#include "base/base.h"
#include "base/process.h"
#include "runner/runner.h"
#include "tests/support/fg_test.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
	(void)number;
	interrupted = 1;
}

struct stand_in {
	pid_t guard;
	pid_t worker;
	int alive_fd; /* at end of file once all processes have ended */
	int words_fd; /* output of the worker */
};

/* The worker: starts a daemon that outlives its parent, and runs a program that never ends. */
static int work(int words_fd)
{
	char *argv[] = {"/bin/sh", "-c", "setsid -f sleep 1000; echo ready >&3; sleep 1000", NULL};
	const struct fg_process_options options = {.argv = argv,
						   .stdout_to = FG_STREAM_INHERIT,
						   .interrupted = &interrupted,
						   .grace_ms = 100};
	struct fg_process_result result = {0};
	struct fg_error err = {0};
	const pid_t pid = getpid();
	int status = FG_OK;

	(void)signal(SIGTERM, on_signal);
	(void)signal(SIGINT, on_signal);
	if (write(words_fd, &pid, sizeof(pid)) != sizeof(pid) || dup2(words_fd, 3) < 0)
		return 99;
	status = fg_process_run(&options, &result, &err);
	(void)!write(words_fd, "kept", 4);
	return status == FG_EINTERRUPTED ? 13 : 98;
}

static void start(struct stand_in *s, bool endless)
{
	char ready[6];
	int alive[2];
	int words[2];

	assert_int_equal(pipe(alive), 0);
	assert_int_equal(pipe(words), 0);
	s->guard = fork();
	assert_true(s->guard >= 0);
	if (s->guard == 0) {
		struct fg_guard_end end = {0};
		bool is_worker = false;

		(void)close(alive[0]);
		(void)close(words[0]);
		if (fg_guard_split(&is_worker, &end, NULL) != FG_OK)
			_exit(97);
		if (is_worker)
			_exit(endless ? work(words[1]) : 7);
		_exit(end.exited ? end.exit_code
				 : 100 + end.signal + (end.left_children ? 100 : 0));
	}
	(void)close(alive[1]);
	(void)close(words[1]);
	s->alive_fd = alive[0];
	s->words_fd = words[0];
	if (endless) {
		assert_int_equal(read(words[0], &s->worker, sizeof(s->worker)), sizeof(s->worker));
		assert_int_equal(read(words[0], ready, sizeof(ready)), sizeof(ready));
	}
}

static void wait_until_all_are_gone(struct stand_in *s)
{
	char byte = 0;

	assert_int_equal(read(s->alive_fd, &byte, 1), 0);
	(void)close(s->alive_fd);
}

static void worker_has_kept_its_data(struct stand_in *s)
{
	char words[5] = {0};

	assert_int_equal(read(s->words_fd, words, 4), 4);
	assert_string_equal(words, "kept");
	(void)close(s->words_fd);
}

static int exit_code_of(pid_t pid)
{
	int status = 0;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

FG_TEST(exit_code_of_the_worker_is_passed_on)
{
	struct stand_in s;

	start(&s, false);
	wait_until_all_are_gone(&s);
	assert_int_equal(exit_code_of(s.guard), 7);
	(void)close(s.words_fd);
}

FG_TEST(killed_worker_leaves_nothing_behind)
{
	struct stand_in s;

	start(&s, true);
	assert_int_equal(kill(s.worker, SIGKILL), 0);
	wait_until_all_are_gone(&s);
	assert_int_equal(exit_code_of(s.guard), 100 + SIGKILL + 100);
	(void)close(s.words_fd);
}

FG_TEST(killed_guard_lets_the_worker_stop_cleanly)
{
	struct stand_in s;

	start(&s, true);
	assert_int_equal(kill(s.guard, SIGKILL), 0);
	wait_until_all_are_gone(&s);
	worker_has_kept_its_data(&s);
	assert_int_equal(waitpid(s.guard, NULL, 0), s.guard);
}

FG_TEST(interrupt_reaches_the_worker)
{
	struct stand_in s;

	start(&s, true);
	assert_int_equal(kill(s.guard, SIGINT), 0);
	wait_until_all_are_gone(&s);
	worker_has_kept_its_data(&s);
	assert_int_equal(exit_code_of(s.guard), 13);
}
