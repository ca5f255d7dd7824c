// SPDX-License-Identifier: Apache-2.0
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifndef STRIDE
# define STRIDE 1
#endif
#ifndef APART
# define APART 16
#endif
static volatile unsigned sink;
static unsigned table[1 << 22];
static struct {
	volatile unsigned value;
	unsigned room[31];
} counters[2] __attribute__((aligned(128)));
PADDING;
__attribute__((noinline)) static unsigned fit(unsigned x)
{
	for (int i = 0; i < ROUNDS; i++)
		x = x * 1664525u + 1013904223u + sink;
	return x;
}
__attribute__((noinline)) static unsigned walk(unsigned stride)
{
	unsigned sum = 0, at = 0;
	for (int i = 0; i < WALK; i++) {
		sum += table[at];
		at = (at + stride) & ((1 << 22) - 1);
	}
	return sum;
}
static void *count(void *place)
{
	volatile unsigned *to = place;
	for (int i = 0; i < COUNT; i++)
		(*to)++;
	return NULL;
}
__attribute__((noinline)) static void together(void)
{
	volatile unsigned *base = &counters[0].value;
	pthread_t other;
	if (pthread_create(&other, NULL, count, (void *)(base + APART)) != 0)
		exit(1);
	count((void *)base);
	pthread_join(other, NULL);
}
int main(void)
{
	memset(table, 1, sizeof(table)); /* separate pages instead of the kernel's page of zeros */
	for (unsigned i = 0; i < CALLS; i++)
		sink += fit(i);
	sink += walk(STRIDE);
	if (COUNT > 0)
		together();
	puts(TEXT);
	return 0;
}
