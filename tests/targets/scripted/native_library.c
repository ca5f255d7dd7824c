// SPDX-License-Identifier: Apache-2.0
#include <pthread.h>
#include <stdlib.h>
static volatile unsigned sink;
__attribute__((noinline)) void gemm(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		sink += i * i;
}
__attribute__((noinline)) void call_back(void (*function)(void))
{
	function();
	sink++;
}
static void *burn(void *n)
{
	gemm(*(unsigned *)n);
	return NULL;
}
void in_a_thread(unsigned n)
{
	pthread_t t;
	if (pthread_create(&t, NULL, burn, &n) == 0)
		pthread_join(t, NULL);
}
