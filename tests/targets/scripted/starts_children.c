// SPDX-License-Identifier: Apache-2.0
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
extern char **environ;
int main(int count, char **words)
{
	pid_t child;
	int status = 1;
	if (fork() == 0) {
		execv(words[1], words + 1);
		_exit(98);
	}
	if (wait(&status) < 0 || posix_spawnp(&child, words[1], 0, 0, words + 1, environ) != 0)
		return 99;
	return waitpid(child, &status, 0) == child && count > 1 ? WEXITSTATUS(status) : 99;
}
