// SPDX-License-Identifier: Apache-2.0
/*
 * Works on demand: each line of standard input, "first" or "second", is answered when the work is
 * done.
 */
#include "work.h"

NOINLINE static void work_first(void)
{
	spin_us(50000);
	KEEP_FRAME();
}

NOINLINE static void work_second(void)
{
	spin_us(50000);
	KEEP_FRAME();
}

int main(void)
{
	char line[32];

	while (fgets(line, sizeof(line), stdin)) {
		if (strcmp(line, "first\n") == 0)
			work_first();
		else
			work_second();
		check(printf("done\n") == 5 && fflush(stdout) == 0, "answer");
	}
	return 0;
}
