// SPDX-License-Identifier: Apache-2.0
#ifndef ADDED
# define ADDED 1
#endif
extern int work(int);
__attribute__((noinline)) int work(int n)
{
	volatile int at = n;
	return at + ADDED;
}
extern int inside(int);
int inside(int n)
{
	int sum = 0;
	for (int i = 0; i < n; i++)
		sum += work(i);
	return sum;
}
