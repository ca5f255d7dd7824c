// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>
int main(void)
{
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	puts("ready");
	fflush(stdout);
	pause();
	return 0;
}
