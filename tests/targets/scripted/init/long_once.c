// SPDX-License-Identifier: Apache-2.0
/* Runs for a fifth of a second in its first execution, whatever its input. */
#include <stdio.h>
#include <time.h>

int main(void)
{
	volatile unsigned sum = 0;
	int c;
	FILE *file = fopen("once", "r");

	if (!file && (file = fopen("once", "wx")))
		while (clock() < CLOCKS_PER_SEC / 5) {
		}
	while ((c = getchar()) != EOF)
		for (int i = 0; i < 20; i++)
			sum = sum * 31 + (unsigned)c;
	return 0;
}
