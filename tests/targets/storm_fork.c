// SPDX-License-Identifier: Apache-2.0
/*
 * Starts children by fork, vfork, posix_spawn, exec and failing exec, and ends them by _exit: every
 * child must end with the exit code that it was given.
 */
#include "work.h"

#include <errno.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static uint64_t work_us;

NOINLINE static void in_child(void)
{
	spin_us(work_us);
}

NOINLINE static void in_parent(void)
{
	spin_us(work_us);
}

static void reap(pid_t pid, int code)
{
	int status = 0;

	check(pid > 0, "no child");
	check(waitpid(pid, &status, 0) == pid, "waitpid");
	check(WIFEXITED(status) && WEXITSTATUS(status) == code, "exit code");
}

static void one_round(char *self, unsigned round)
{
	char code[16];
	char *again[] = {self, "child", code, NULL};
	pid_t pid = fork();

	(void)snprintf(code, sizeof(code), "%u", round % 100);
	if (pid == 0) {
		in_child();
		_exit((int)(round % 100));
	}
	reap(pid, (int)(round % 100));
	pid = fork();
	if (pid == 0) {
		(void)execl(self, self, "child", code, (char *)NULL);
		_exit(125);
	}
	reap(pid, (int)(round % 100));
	pid = vfork();
	if (pid == 0) {
		(void)execv(self, again);
		_exit(125);
	}
	reap(pid, (int)(round % 100));
	check(posix_spawn(&pid, self, NULL, NULL, again, environ) == 0, "posix_spawn");
	reap(pid, (int)(round % 100));
	check(execl("/nonexistent/program", "program", (char *)NULL) == -1 && errno == ENOENT,
	      "exec did not fail");
	in_parent();
}

int main(int argc, char **argv)
{
	work_us = 3000;
	if (argc > 2 && strcmp(argv[1], "child") == 0) {
		in_child();
		return atoi(argv[2]);
	}
	for (int i = 0; i < (argc > 1 ? atoi(argv[1]) : 20); i++)
		one_round(argv[0], (unsigned)i);
	return 0;
}
