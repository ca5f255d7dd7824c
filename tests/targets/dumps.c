// SPDX-License-Identifier: Apache-2.0
/*
 * Holds memory on demand: prints its process id, then executes the command in each line of standard
 * input, and answers when it is done.
 */
#include <fastgate/region.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOT_INLINE __attribute__((noinline))

enum {
	MOST = 16
};

static void *volatile cached[MOST];
static void *volatile big;
static int cached_count;

/* Grows by 1,000 bytes each time. */
NOT_INLINE void cache(void)
{
	if (cached_count < MOST)
		cached[cached_count++] = malloc(1000);
	__asm__ volatile("");
}

/* Holds 50,000 bytes until they are freed. */
NOT_INLINE void hold(void)
{
	big = malloc(50000);
	__asm__ volatile("");
}

static void dump_in_child(void)
{
	const pid_t child = fork();

	if (child == 0) {
		cache();
		fg_dump();
		exit(0);
	}
	(void)waitpid(child, NULL, 0);
}

static void obey(const char *command)
{
	if (strcmp(command, "cache\n") == 0)
		cache();
	else if (strcmp(command, "hold\n") == 0)
		hold();
	else if (strcmp(command, "let-go\n") == 0)
		free(big);
	else if (strcmp(command, "dump\n") == 0)
		fg_dump();
	else if (strcmp(command, "fork\n") == 0)
		dump_in_child();
	else
		abort();
}

int main(void)
{
	char line[32];

	(void)printf("%d\n", (int)getpid());
	(void)fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		obey(line);
		(void)puts("done");
		(void)fflush(stdout);
	}
	return 0;
}
