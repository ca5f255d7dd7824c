// SPDX-License-Identifier: Apache-2.0
/* Blocks whose sizes are known, and how many allocations each outlives. */
#include <pthread.h>
#include <stdlib.h>

#define FAR_FROM_OPTIMISED __attribute__((noinline))

enum {
	TIMES = 1000,
	LENGTH = 10,
};

static void *volatile block;
static void *volatile queue[LENGTH];
/* A compiler that knows the function may believe that it succeeds. */
static void *(*volatile resize)(void *, size_t) = realloc;

FAR_FROM_OPTIMISED void make_sizes(void)
{
	static const size_t sizes[] = {0, 1, 16, 17, 32, 33, 5000, 5000, 5000, 1 << 20};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		block = malloc(sizes[i]);
		free(block);
	}
	__asm__ volatile("");
}

/* Each block sees ten more of its thread; the last ten see fewer. */
FAR_FROM_OPTIMISED void make_queue(void)
{
	for (int i = 0; i < TIMES; i++) {
		void *oldest = queue[i % LENGTH];

		queue[i % LENGTH] = malloc(8);
		free(oldest);
	}
	for (int i = 0; i < LENGTH; i++)
		free(queue[i]);
	__asm__ volatile("");
}

/* What another thread allocates does not age a block. */
static void *age_others(void *argument)
{
	for (int i = 0; i < TIMES; i++) {
		block = malloc(8);
		free(block);
	}
	free(argument);
	return NULL;
}

FAR_FROM_OPTIMISED void make_handed_over(void)
{
	pthread_t thread;
	void *mine = malloc(8);

	block = malloc(8);
	free(block);
	if (pthread_create(&thread, NULL, age_others, mine) != 0)
		abort();
	(void)pthread_join(thread, NULL);
	__asm__ volatile("");
}

/* A block that could not become larger lives on. */
FAR_FROM_OPTIMISED void make_stubborn(void)
{
	void *mine = malloc(8);
	volatile size_t too_large = (size_t)-1 - 4096;

	for (int i = 0; i < 100; i++) {
		void *moved = resize(mine, too_large);

		if (moved)
			abort();
	}
	for (int i = 0; i < 3; i++) {
		block = malloc(8);
		free(block);
	}
	free(mine);
	__asm__ volatile("");
}

FAR_FROM_OPTIMISED void make_lasting(void)
{
	block = malloc(8);
	__asm__ volatile("");
}

int main(void)
{
	make_sizes();
	make_queue();
	make_handed_over();
	make_stubborn();
	make_lasting();
	return 0;
}
