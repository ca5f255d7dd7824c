// SPDX-License-Identifier: Apache-2.0
/* Computes nearly all of the time, with a system call about every 10 microseconds. */
#include <time.h>
__attribute__((noinline)) static void between(void)
{
	for (long i = 0; i < 20000; i++)
		__asm__ volatile("" ::: "memory");
	__asm__ volatile("");
}
int main(void)
{
	struct timespec t;
	for (;;) {
		between();
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	}
}
