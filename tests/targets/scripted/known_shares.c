// SPDX-License-Identifier: Apache-2.0
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
static char from[1 << 16], to[1 << 16];
static int order(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}
static void once(long n)
{
	for (volatile long i = 0; i < n; i++) {
	}
}
__attribute__((noinline)) static void one(void)
{
	once(100000);
	__asm__ volatile("");
}
__attribute__((noinline)) static void three(void)
{
	once(300000);
	__asm__ volatile("");
}
__attribute__((noinline)) static void copying(void)
{
	for (int i = 0; i < 50; i++) {
		memcpy(to, from, sizeof to);
		__asm__ volatile("" ::"r"(to) : "memory");
	}
}
__attribute__((noinline)) static void sorting(void)
{
	static _Thread_local int values[1000];
	for (int i = 0; i < 1000; i++)
		values[i] = i * 7919 % 1009;
	/* With -O2 this is a jump, and sorting() is not on the stack. */
	qsort(values, 1000, sizeof *values, order);
}
__attribute__((noinline)) static void rounds(void)
{
	struct timespec used = {0, 0};
	while (used.tv_sec == 0 && used.tv_nsec < 500000000) {
		one();
		three();
		copying();
		sorting();
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	}
}
static void *thread(void *nothing)
{
	rounds();
	return nothing;
}
int main(void)
{
	pthread_t other;
	if (pthread_create(&other, 0, thread, 0))
		return 1;
	rounds();
	return pthread_join(other, 0) ? 1 : 3;
}
