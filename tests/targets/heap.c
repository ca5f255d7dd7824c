// SPDX-License-Identifier: Apache-2.0
/*
 * Known allocations: their callers, number and sizes.
 *
 * usage: heap [plain | fork | signal | jump | vfork | exec | clone | last]
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
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

FAR_FROM_OPTIMISED void make_late(void)
{
	block = malloc(555);
	free(block);
	__asm__ volatile("");
}

__attribute__((destructor)) static void after_main(void)
{
	make_late();
}

static jmp_buf back;

FAR_FROM_OPTIMISED void descend(int depth)
{
	if (depth > 0)
		descend(depth - 1);
	make_small(10);
	if (depth == 0)
		longjmp(back, 1);
	__asm__ volatile("");
}

/* Frames disappear without returning, and new frames take their place. */
FAR_FROM_OPTIMISED void jump(void)
{
	for (volatile int i = 0; i < 10; i++) {
		if (setjmp(back) == 0)
			descend(i);
		make_small(10);
	}
	__asm__ volatile("");
}

/* Works after the main thread has ended. */
static void *outlive(void *argument)
{
	pthread_join(*(pthread_t *)argument, NULL);
	make_small(700);
	return NULL;
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
	if (strcmp(mode, "jump") == 0)
		jump();
	if (strcmp(mode, "vfork") == 0) {
		const pid_t child = vfork();

		if (child == 0) {
			(void)execl("/bin/true", "true", (char *)NULL);
			_exit(1);
		}
		(void)waitpid(child, NULL, 0);
		make_small(500);
	}
	if (strcmp(mode, "exec") == 0) {
		make_small(100);
		(void)execl(argv[0], argv[0], (char *)NULL);
		return 1;
	}
	if (strcmp(mode, "clone") == 0) {
		/* Bypasses the C library: the collector gets no notice of this child. */
		const pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);

		if (child == 0) {
			make_small(50);
			_exit(0);
		}
		(void)waitpid(child, NULL, 0);
		make_small(600);
	}
	if (strcmp(mode, "last") == 0) {
		static pthread_t self;

		self = pthread_self();
		if (pthread_create(&threads[0], NULL, outlive, &self) != 0)
			return 1;
		pthread_exit(NULL);
	}
	if (strcmp(mode, "signal") == 0) {
		(void)signal(SIGUSR1, on_signal);
		for (int i = 0; i < 100; i++)
			(void)raise(SIGUSR1);
	}
	return 0;
}
