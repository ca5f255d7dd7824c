// SPDX-License-Identifier: Apache-2.0
/* Works only if it finds a file `data` in its folder. */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int main(void)
{
	char path[4096] = "";

	if (readlink("/proc/self/exe", path, sizeof(path) - 16) < 0)
		return 1;
	strcpy(strrchr(path, '/'), "/data");
	while (access(path, R_OK) == 0 && clock() < CLOCKS_PER_SEC / 20)
		;
	return 0;
}
