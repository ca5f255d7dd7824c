// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
__attribute__((noinline)) static long one(long n)
{
	long s = 0;
	for (volatile long i = 0; i < n; i++)
		s += i;
	return s;
}
__attribute__((noinline)) static long three(long n)
{
	long s = 0;
	for (volatile long i = 0; i < 3 * n; i++)
		s += i;
	return s;
}
int main(int argc, char **argv)
{
	long sum = 0;
	for (long rounds = argc > 1 ? atol(argv[1]) : -1; rounds != 0; rounds--)
		sum += one(1000000) + three(1000000);
	return sum == 42 ? 1 : 7;
}
