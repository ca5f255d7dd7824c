// SPDX-License-Identifier: Apache-2.0
/* Prints COST. FOLDER has a log of executions, and a named pipe to wait at after the first pair. */
#include <stdio.h>

int main(void)
{
	FILE *log = fopen(FOLDER "/executions", "a");

	if (!log || fputc('x', log) < 0)
		return 1;
	const long begun = ftell(log);
	fclose(log);
	if (begun > 6) { /* two to warm up, four of a pair */
		FILE *door = fopen(FOLDER "/door", "r");

		if (door && fgetc(door) == EOF)
			fclose(door);
	}
	printf("cost: %d\n", COST);
	return 0;
}
