// SPDX-License-Identifier: Apache-2.0
#include <math.h>

static volatile double sink;

__attribute__((noinline)) void fit(int n)
{
	for (int i = 0; i < n; i++)
		sink = exp(-1.0 / (i + 1));
	__asm__ volatile("");
}

__attribute__((noinline)) void draw(int n)
{
	for (int i = 0; i < n; i++)
		sink = cos(FACTOR * i);
	__asm__ volatile("");
}

int main(void)
{
	fit(FITS);
	draw(100);
	sink = log(OF);
	return 0;
}
