// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <stdio.h>
#include <unistd.h>
int main(int count, char **words)
{
	double sum = 0;
	for (int i = 0; i < 7; i++)
		sum += exp(count + i);
	printf("%g\n", sum);
	fflush(stdout);
	if (count > 1)
		execv(words[1], words + 1);
	return 0;
}
