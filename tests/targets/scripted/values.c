// SPDX-License-Identifier: Apache-2.0
#include <math.h>
#include <pthread.h>
#include <stdio.h>
static volatile double sink;
static void *work(void *argument)
{
	for (int i = 0; i < 1000; i++)
		sink += exp(-i * 1e-3);
	return argument;
}
int main(void)
{
	pthread_t thread;
	for (int i = 0; i < 20000; i++)
		sink += pow(i / 7.0, 0.5 + i);
	for (int i = 0; i < 20000; i++)
		sink += exp(i * 1e-4);
	sink += exp(NAN) + exp(INFINITY) + exp(-0.0) + exp(0x1p-1060) +
		exp(0x1.fffffffffffffp1023) + (double)sinf(0.1f) + (double)tanhl(0.25L);
	if (pthread_create(&thread, 0, work, 0) == 0)
		pthread_join(thread, 0);
	printf("%d\n", sink > 0);
	return 0;
}
