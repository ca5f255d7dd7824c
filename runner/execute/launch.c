// SPDX-License-Identifier: Apache-2.0
/* Starts one program from a small process and reports how it ended: see base/launch.h. */
#include "base/launch.h"

#include "collector/sampler/collector_env.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	EXIT_CANNOT = 127,
	ARGUMENTS_MIN = 4
};

/*
 * We ignore these signals, to report the program's result even if the whole group gets one of them.
 */
static const int ignored[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGPIPE, SIGALRM};

static void set_signals(void (*action)(int))
{
	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		(void)signal(ignored[i], action);
}

static int64_t now_ns(void)
{
	struct timespec now = {0};

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void report(int fd, const void *message, size_t size)
{
	/* A pipe write of this size is atomic; if it fails, the reader is gone. */
	if (write(fd, message, size) != (ssize_t)size)
		_exit(EXIT_CANNOT);
}

/*
 * The kernel's account of a process's main thread: time on a CPU, and time spent ready to run,
 * waiting for a CPU.
 */
struct account {
	int64_t cpu_ns;
	int64_t wait_ns;
};

static struct account read_account(pid_t pid)
{
	struct account account = {0};
	char text[96] = "";
	char path[48];
	char *rest = NULL;
	ssize_t got = 0;
	int fd = -1;

	(void)snprintf(path, sizeof(path), "/proc/%d/schedstat", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return account;
	got = read(fd, text, sizeof(text) - 1);
	(void)close(fd);
	if (got > 0) {
		account.cpu_ns = strtoll(text, &rest, 10);
		account.wait_ns = strtoll(rest, NULL, 10);
	}
	return account;
}

/*
 * Waits until the process has ended, without reaping it. On a busy machine we wake up late; the
 * time spent in the run queue is subtracted, so that the end time is the program's and not ours.
 */
static void await_end(pid_t pid, int64_t started_ns, struct fg_launch_ended *ended)
{
	const pid_t self = getpid();
	const struct account before = read_account(self);
	struct account of_program = {0};
	int64_t late_ns = 0;
	siginfo_t info;

	while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) != 0 && errno == EINTR)
		;
	ended->ended_ns = now_ns();
	late_ns = read_account(self).wait_ns - before.wait_ns;
	of_program = read_account(pid);
	/* The program cannot have ended before using its CPU time. */
	if (ended->ended_ns - late_ns >= started_ns + of_program.cpu_ns)
		ended->ended_ns -= late_ns;
	ended->leader_cpu_ns = of_program.cpu_ns;
	ended->leader_wait_ns = of_program.wait_ns;
}

/*
 * If only the program and not its children is to be sampled, the collector recognises the program
 * by its parent: this process.
 */
static void be_the_parent(char **environment)
{
	static const char only[] = FG_ENV_ONLY "=";
	static char mine[sizeof(only) + 16];

	for (; *environment; environment++)
		if (strncmp(*environment, only, sizeof(only) - 1) == 0) {
			(void)snprintf(mine, sizeof(mine), "%s%d", only, (int)getpid());
			*environment = mine;
		}
}

/* In the child: execs the program, or reports why that failed. */
static void become(char **argv, char **environment, int error_fd, pid_t parent)
{
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(EXIT_CANNOT);
	set_signals(SIG_DFL);
	environ = environment;
	(void)execvp(argv[0], argv);
	(void)!write(error_fd, &errno, sizeof(errno));
	_exit(EXIT_CANNOT);
}

static int launch(int report_fd, char **argv, char **environment)
{
	struct fg_launch_started started = {0};
	struct fg_launch_ended ended = {0};
	const pid_t self = getpid();
	int errors[2];
	int error = 0;
	int status = 0;
	pid_t pid = -1;

	if (pipe2(errors, O_CLOEXEC) != 0)
		return EXIT_CANNOT;
	started.started_ns = now_ns();
	pid = fork();
	if (pid < 0)
		return EXIT_CANNOT;
	if (pid == 0)
		become(argv, environment, errors[1], self);
	(void)close(errors[1]);
	if (read(errors[0], &error, sizeof(error)) == (ssize_t)sizeof(error))
		started.error = error;
	report(report_fd, &started, sizeof(started));
	await_end(pid, started.started_ns, &ended);
	if (wait4(pid, &status, 0, &ended.usage) != pid)
		return EXIT_CANNOT;
	ended.status = status;
	if (!started.error)
		report(report_fd, &ended, sizeof(ended));
	return 0;
}

int main(int argc, char **argv)
{
	const long report_fd = argc >= ARGUMENTS_MIN ? strtol(argv[1], NULL, 10) : -1;
	const long count = argc >= ARGUMENTS_MIN ? strtol(argv[2], NULL, 10) : -1;
	char **environment = NULL;
	int status = 0;

	if (report_fd < 0 || count < 0 || count > argc - ARGUMENTS_MIN ||
	    fcntl((int)report_fd, F_SETFD, FD_CLOEXEC) != 0) {
		(void)fputs(FG_LAUNCHER_NAME " is started by fastgate and does nothing by "
					     "itself\n",
			    stderr);
		return EXIT_CANNOT;
	}
	environment = calloc((size_t)count + 1, sizeof(char *));
	if (!environment)
		return EXIT_CANNOT;
	memcpy(environment, argv + 3, (size_t)count * sizeof(char *));
	be_the_parent(environment);
	set_signals(SIG_IGN);
	status = launch((int)report_fd, argv + 3 + count, environment);
	free(environment);
	return status;
}
