// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <stdio.h>
int main(void)
{
	volatile double sum = 0, one = 1;
	for (int i = 1; i <= 30; i++)
		sum += exp(i * one) + pow(2 * i * one, 2 * one);
	return printf("%g\n", sum) < 0;
}
