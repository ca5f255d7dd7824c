// SPDX-License-Identifier: Apache-2.0
#include <spawn.h>
#include <sys/wait.h>
int main(int argc, char **argv)
{
	char *nothing[] = {"LANG=C", 0};
	pid_t child;
	int status = 1;
	if (argc < 3 || (argv[1][0] == 'p' ? posix_spawnp : posix_spawn)(&child, argv[2], 0, 0,
									 argv + 2, nothing) != 0)
		return 2;
	return waitpid(child, &status, 0) == child ? status : 3;
}
