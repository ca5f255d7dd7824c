// SPDX-License-Identifier: Apache-2.0
#include <time.h>
__attribute__((noinline)) static double inner(double x)
{
	for (int i = 0; i < 100000; i++)
		x = x * 0.5 + 1;
	return x;
}
__attribute__((noinline)) static double outer(double x)
{
	return inner(x) + 1;
}
int main(void)
{
	double x = 0;
	for (clock_t end = clock() + CLOCKS_PER_SEC * 2 / 5; clock() < end;)
		x = outer(x);
	return x < 0;
}
