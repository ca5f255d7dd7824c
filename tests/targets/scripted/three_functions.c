// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <stdio.h>
int main(int count, char **words)
{
	double sum = 0;
	(void)words;
	for (int i = 1; i <= 30; i++)
		sum += exp(count * i) + sin(i) + pow(i, 2.5);
	printf("%g\n", sum);
	return 0;
}
