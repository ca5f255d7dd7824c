// SPDX-License-Identifier: Apache-2.0
#include "cli/record/recorded_command.h"

#include "base/clock.h"
#include "base/process.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	SIGNALLED = 128,
	NOT_FOUND = 127,
	NOT_STARTED = 126
};

static void become(char *const *argv, char *const *variables)
{
	for (; variables && *variables; variables++)
		(void)putenv(*variables);
	(void)execvp(argv[0], argv);
	_exit(errno == ENOENT ? NOT_FOUND : NOT_STARTED);
}

static const int handed_on[FG_RECORDED_SIGNALS] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
static pid_t command_pid;
static volatile sig_atomic_t end_signal;

/*
 * An interrupt key reaches the command by itself, so only a signal that a process sent to us alone
 * is forwarded.
 */
static void forward_signal(int signal, siginfo_t *info, void *context)
{
	const int saved_errno = errno;

	(void)context;
	if (info->si_code <= 0) {
		/* Processes that the command leaves running become our children from now on. */
		(void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
		end_signal = signal;
		(void)kill(command_pid, signal);
	}
	errno = saved_errno;
}

static void watch_signals(struct sigaction *before)
{
	struct sigaction action = {.sa_sigaction = forward_signal,
				   .sa_flags = SA_SIGINFO | SA_RESTART};

	for (size_t i = 0; i < FG_ARRAY_SIZE(handed_on); i++)
		(void)sigaction(handed_on[i], &action, &before[i]);
}

static void unwatch_signals(const struct sigaction *before)
{
	for (size_t i = 0; i < FG_ARRAY_SIZE(handed_on); i++)
		(void)sigaction(handed_on[i], &before[i], NULL);
}

/*
 * Blocks the signals until the handlers know the command's pid, because the handlers need the pid
 * and must not run inside the command.
 */
pid_t fg_recorded_start(char *const *argv, char *const *variables, struct fg_recorded *recorded)
{
	sigset_t signals;
	sigset_t mask;
	pid_t pid;

	(void)sigemptyset(&signals);
	for (size_t i = 0; i < FG_ARRAY_SIZE(handed_on); i++)
		(void)sigaddset(&signals, handed_on[i]);
	(void)sigprocmask(SIG_BLOCK, &signals, &mask);
	watch_signals(recorded->before);
	pid = fork();
	if (pid == 0) {
		unwatch_signals(recorded->before);
		(void)sigprocmask(SIG_SETMASK, &mask, NULL);
		become(argv, variables);
	}
	command_pid = pid;
	if (pid < 0)
		unwatch_signals(recorded->before);
	(void)sigprocmask(SIG_SETMASK, &mask, NULL);
	return pid;
}

/*
 * Forwards the signal to processes that the command left running, and kills any process that still
 * runs two seconds later.
 */
static void end_the_rest(int signal)
{
	const struct timespec moment = {.tv_nsec = 10000000};
	const int64_t end_ns = fg_clock_monotonic_ns() + 2 * FG_NS_PER_S;

	while (fg_process_signal_strays(signal) > 0 && fg_clock_monotonic_ns() < end_ns) {
		(void)nanosleep(&moment, NULL);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		signal = 0; /* forward the signal only once; then check which processes remain */
	}
	(void)fg_process_end_strays();
}

int fg_recorded_await(pid_t pid, const struct fg_recorded *recorded)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (end_signal)
		end_the_rest(end_signal);
	unwatch_signals(recorded->before);
	return WIFEXITED(status) ? WEXITSTATUS(status) : SIGNALLED + WTERMSIG(status);
}
