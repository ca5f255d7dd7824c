// SPDX-License-Identifier: Apache-2.0
/* Ends at once, with success, if its input does not begin with 'k'. */
#include <stdio.h>

int main(void)
{
	volatile unsigned sum = 0;
	int c = getchar();

	if (c != 'k')
		return 0;
	while ((c = getchar()) != EOF)
		for (int i = 0; i < 20; i++)
			sum = sum * 31 + (unsigned)c;
	return 0;
}
