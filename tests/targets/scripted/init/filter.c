// SPDX-License-Identifier: Apache-2.0
/* Does ROUNDS rounds of work per byte of its input, and fails if the input is empty. */
#include <stdio.h>

int main(void)
{
	volatile unsigned sum = 0;
	int c, n = 0;

	while ((c = getchar()) != EOF)
		for (int i = 0; i < ROUNDS; i++, n++)
			sum = sum * 31 + (unsigned)c;
	return n ? 0 : 1;
}
