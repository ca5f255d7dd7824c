/* SPDX-License-Identifier: Apache-2.0 */
/*
 * killed HOW: allocates memory, opens files and calls functions to be counted, then dies in the way
 * HOW names.
 */
#include "fastgate/region.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	BLOCKS = 100000,
	FILES = 50,
	CALLS = 1000,
};

static char *volatile blocks[BLOCKS];
static volatile double sum;

__attribute__((noinline)) static void make_kept(void)
{
	for (int i = 0; i < BLOCKS; i++)
		blocks[i] = malloc(16);
}

__attribute__((noinline)) static void make_freed(void)
{
	for (int i = 0; i < CALLS; i++) {
		char *volatile block = malloc(100);

		free(block);
	}
}

__attribute__((noinline)) static void open_files(void)
{
	for (int i = 0; i < FILES; i++) {
		const int fd = open("/dev/null", O_WRONLY);

		if (write(fd, "0123456789", 10) != 10)
			exit(1);
	}
}

__attribute__((noinline)) static void call_functions(void)
{
	for (int i = 1; i <= CALLS; i++)
		sum += exp(1.0 / i);
}

/* Recurses deeper than any stack. */
__attribute__((noinline)) static int overflow(const volatile char *above, long depth)
{
	volatile char large[4096];

	large[0] = *above;
	return depth ? overflow(large, depth - 1) + large[0] : 0;
}

static void end(const char *how)
{
	volatile char top = 0;

	if (strcmp(how, "abort") == 0)
		abort();
	if (strcmp(how, "segv") == 0)
		raise(SIGSEGV);
	if (strcmp(how, "term") == 0)
		raise(SIGTERM);
	if (strcmp(how, "kill") == 0)
		raise(SIGKILL);
	if (strcmp(how, "_exit") == 0)
		_exit(0);
	if (strcmp(how, "group") == 0)
		syscall(SYS_exit_group, 0);
	if (strcmp(how, "stack") == 0)
		exit(overflow(&top, 1 << 30));
}

int main(int argc, char **argv)
{
	fg_region_begin("counted");
	make_freed();
	make_kept();
	open_files();
	call_functions();
	fg_region_end();
	if (argc > 1)
		end(argv[1]);
	return 0;
}
