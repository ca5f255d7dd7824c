// SPDX-License-Identifier: Apache-2.0
/*
 * Holds known amounts of heap memory, in known functions, over time and at the end.
 *
 * usage: held [plain | fork]
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOT_INLINE __attribute__((noinline))

enum {
	BLOCKS = 10
};

static volatile int times = BLOCKS; /* one call in a loop, not ten calls */
static void *volatile kept[BLOCKS + 1];
static void *volatile at_hand;

/* The classic three loops of a memory profiler's tutorial. */
NOT_INLINE void ones(void)
{
	for (int n = 1; n <= times; n++)
		kept[n] = malloc(1);
	__asm__ volatile("");
}

NOT_INLINE void growing(void)
{
	for (int n = 1; n <= times; n++)
		kept[n] = malloc((size_t)n);
	__asm__ volatile("");
}

NOT_INLINE void freed_at_once(void)
{
	for (int n = 1; n <= times; n++) {
		at_hand = malloc((size_t)n);
		free(at_hand);
	}
	__asm__ volatile("");
}

/* This function's own peak, 500,000, is not at the program's peak. */
NOT_INLINE void *first_peak(void)
{
	void *block = malloc(500000);

	__asm__ volatile("");
	return block;
}

NOT_INLINE void *base(void)
{
	void *block = malloc(200000);

	__asm__ volatile("");
	return block;
}

/* Allocates in three steps; the last one is the program's peak: 900,000 here, 200,000 in base(). */
NOT_INLINE void highest(void)
{
	void *volatile parts[3];
	volatile int steps = 3;

	for (int i = 0; i < steps; i++)
		parts[i] = malloc(300000);
	for (int i = 0; i < steps; i++)
		free(parts[i]);
	__asm__ volatile("");
}

/* The block grows in place or moves, up to 70,000. The last realloc fails and changes nothing. */
NOT_INLINE void resized(void)
{
	at_hand = malloc(10);
	for (size_t size = 10000; size <= 70000; size += 10000)
		at_hand = realloc(at_hand, size);
	if (realloc(at_hand, PTRDIFF_MAX))
		abort();
	__asm__ volatile("");
}

NOT_INLINE void *handed_over(void *argument)
{
	void **blocks = argument;

	for (int i = 0; i < 100; i++)
		blocks[i] = malloc(1000);
	__asm__ volatile("");
	return argument;
}

/* Takes blocks that another thread allocated, and frees all but ten. */
static void take_over(void)
{
	static void *blocks[100];
	pthread_t thread;

	if (pthread_create(&thread, NULL, handed_over, blocks) != 0)
		abort();
	(void)pthread_join(thread, NULL);
	for (int i = 0; i < 90; i++)
		free(blocks[i]);
}

struct node {
	struct node *next;
	char more[56];
};

static struct node *list;

/* A list: the program holds its head, and each block holds the next. */
NOT_INLINE void chained(void)
{
	for (int i = 0; i < BLOCKS; i++) {
		struct node *node = malloc(sizeof(*node));

		node->next = list;
		list = node;
	}
	__asm__ volatile("");
}

/* A list to which no pointer leads. */
NOT_INLINE void lost_chain(void)
{
	struct node *first = NULL;

	for (int i = 0; i < BLOCKS; i++) {
		struct node *node = malloc(sizeof(*node));

		node->next = first;
		first = node;
	}
	at_hand = first;
	__asm__ volatile("");
}

static char *volatile middle;

/* Held by a pointer into its middle. */
NOT_INLINE void inside(void)
{
	middle = malloc(3000);
	middle += 1500;
	__asm__ volatile("");
}

/* Touches one page of 128, then frees the block. */
NOT_INLINE void reserve(void)
{
	volatile char *block = malloc(1 << 19);

	*block = 1;
	free((void *)block);
	__asm__ volatile("");
}

/* Overwrites old pointers on the stack, which would seem to hold blocks. */
NOT_INLINE void wipe_stack(int depth)
{
	volatile char room[1000];

	memset((void *)room, 0, sizeof(room));
	if (depth > 0)
		wipe_stack(depth - 1);
	__asm__ volatile("");
}

NOT_INLINE void of_child(void)
{
	at_hand = malloc(4444);
	__asm__ volatile("");
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "plain";
	void *early = NULL;
	void *below = NULL;

	(void)prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0); /* one page at a time */
	early = first_peak();
	free(early);
	below = base();
	highest();
	free(below);
	ones();
	growing();
	freed_at_once();
	chained();
	lost_chain();
	resized();
	inside();
	take_over();
	reserve();
	wipe_stack(20);
	if (strcmp(mode, "fork") == 0) {
		const pid_t child = fork();

		if (child == 0) {
			free(kept[BLOCKS]);
			of_child();
			exit(0);
		}
		(void)waitpid(child, NULL, 0);
	}
	return 0;
}
