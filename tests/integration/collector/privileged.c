// SPDX-License-Identifier: Apache-2.0
/*
 * Prints whether it runs with privileges that its caller lacks, and works for a moment. It is
 * linked with the collector.
 */
#include <stdio.h>
#include <sys/auxv.h>
#include <time.h>

int main(void)
{
	(void)printf("%lu\n", getauxval(AT_SECURE));
	while (clock() < CLOCKS_PER_SEC / 20) {
	}
	return 0;
}
