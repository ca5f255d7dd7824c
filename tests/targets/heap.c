// SPDX-License-Identifier: Apache-2.0
/*
 * Allocations that are known beforehand: who makes them, how many, how large.
 * usage: heap [plain | fork | signal]
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define FAR_FROM_OPTIMISED __attribute__((noinline))

static _Thread_local void *volatile block;

FAR_FROM_OPTIMISED void make_small(int times)
{
	for (int i = 0; i < times; i++) {
		block = malloc(10);
		free(block);
	}
	__asm__ volatile("");
}

FAR_FROM_OPTIMISED void make_large(int times)
{
	for (int i = 0; i < times; i++) {
		block = calloc(100, 100);
		block = realloc(block, 30000);
		free(block);
	}
	__asm__ volatile("");
}

FAR_FROM_OPTIMISED void make_aligned(void)
{
	void *aligned = NULL;

	block = aligned_alloc(64, 640);
	free(block);
	if (posix_memalign(&aligned, 128, 1000) != 0)
		abort();
	free(aligned);
	__asm__ volatile("");
}

FAR_FROM_OPTIMISED void make_early(void)
{
	block = malloc(777);
	free(block);
	__asm__ volatile("");
}

__attribute__((constructor)) static void before_main(void)
{
	make_early();
}

static void on_signal(int number)
{
	(void)number;
	make_small(1);
}

static void *work(void *argument)
{
	make_small(1000);
	return argument;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "plain";
	pthread_t threads[3];

	make_small(1000);
	make_large(10);
	make_aligned();
	for (int i = 0; i < 3; i++)
		if (pthread_create(&threads[i], NULL, work, NULL) != 0)
			return 1;
	for (int i = 0; i < 3; i++)
		(void)pthread_join(threads[i], NULL);
	if (strcmp(mode, "fork") == 0) {
		pid_t child = fork();

		if (child == 0) {
			make_small(500);
			exit(0);
		}
		(void)waitpid(child, NULL, 0);
	}
	if (strcmp(mode, "signal") == 0) {
		(void)signal(SIGUSR1, on_signal);
		for (int i = 0; i < 100; i++)
			(void)raise(SIGUSR1);
	}
	return 0;
}
