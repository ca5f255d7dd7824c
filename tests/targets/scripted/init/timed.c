// SPDX-License-Identifier: Apache-2.0
/*
 * Two at once compute as long as one together, like a program that looks at a clock, but at any
 * load.
 */
#include <fcntl.h>
#include <sys/file.h>
#include <time.h>

int main(int argc, char **argv)
{
	if (argc != 1 || flock(open(argv[0], O_RDONLY), LOCK_EX | LOCK_NB) != 0)
		return 0;
	while (clock() < CLOCKS_PER_SEC / 3) {
	}
	return 0;
}
