// SPDX-License-Identifier: Apache-2.0
/*
 * Mappings that are known beforehand: who makes them, how large, and what is left of them.
 * usage: mapped [plain | fork]
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define FAR_FROM_OPTIMISED __attribute__((noinline))

enum {
	PAGE = 4096,
};

static char *volatile kept;

static char *map(size_t pages)
{
	char *at = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			0);

	if (at == MAP_FAILED)
		abort();
	return at;
}

static void unmap(char *at, size_t pages)
{
	if (munmap(at, pages * PAGE) != 0)
		abort();
}

FAR_FROM_OPTIMISED void map_and_unmap(int times)
{
	for (int i = 0; i < times; i++)
		unmap(map(10), 10);
	__asm__ volatile("");
}

FAR_FROM_OPTIMISED void keep(void)
{
	kept = map(100);
	__asm__ volatile("");
}

/* A hole in the middle, and the end. */
FAR_FROM_OPTIMISED void keep_parts(void)
{
	char *at = map(20);

	unmap(at + 5 * PAGE, 5);
	unmap(at + 15 * PAGE, 5);
	__asm__ volatile("");
}

/* What lies over another mapping takes its place. */
FAR_FROM_OPTIMISED void map_over(char *at)
{
	if (mmap(at, 7 * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != at)
		abort();
	__asm__ volatile("");
}

FAR_FROM_OPTIMISED void keep_grown(void)
{
	char *at = map(2);

	at = mremap(at, 2 * PAGE, 30 * PAGE, MREMAP_MAYMOVE);
	if (at == MAP_FAILED)
		abort();
	__asm__ volatile("");
}

/* The file of this page is not a whole number of pages. */
FAR_FROM_OPTIMISED void map_file(void)
{
	FILE *file = fopen("mapped.data", "w+");
	void *at = NULL;

	if (!file || fputs("a few bytes", file) < 0 || fflush(file) != 0)
		abort();
	at = mmap(NULL, 11, PROT_READ, MAP_PRIVATE, fileno(file), 0);
	if (at == MAP_FAILED || memcmp(at, "a few", 5) != 0)
		abort();
	(void)munmap(at, 11);
	(void)fclose(file);
	__asm__ volatile("");
}

FAR_FROM_OPTIMISED void fail(void)
{
	if (mmap(NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED ||
	    munmap((char *)kept + 1, PAGE) == 0)
		abort();
	__asm__ volatile("");
}

FAR_FROM_OPTIMISED void move_break(void)
{
	if (sbrk(3 * PAGE) == (void *)-1 || sbrk(-PAGE) == (void *)-1)
		abort();
	__asm__ volatile("");
}

static void *work(void *argument)
{
	map_and_unmap(100);
	return argument;
}

FAR_FROM_OPTIMISED void make_threads(void)
{
	pthread_t threads[3];
	pthread_attr_t attr;

	if (pthread_attr_init(&attr) != 0 || pthread_attr_setstacksize(&attr, 1 << 20) != 0)
		abort();
	for (int i = 0; i < 3; i++)
		if (pthread_create(&threads[i], &attr, work, NULL) != 0)
			abort();
	for (int i = 0; i < 3; i++)
		(void)pthread_join(threads[i], NULL);
	(void)pthread_attr_destroy(&attr);
	__asm__ volatile("");
}

int main(int argc, char **argv)
{
	map_and_unmap(100);
	keep();
	keep_parts();
	map_over(kept + 10 * PAGE);
	keep_grown();
	map_file();
	fail();
	make_threads();
	if (argc > 1 && strcmp(argv[1], "fork") == 0) {
		const pid_t child = fork();

		if (child == 0) {
			map_and_unmap(50);
			unmap(kept, 100);
			exit(0);
		}
		(void)waitpid(child, NULL, 0);
	}
	move_break();
	return 0;
}
