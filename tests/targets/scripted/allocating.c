// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

static void *volatile block;

__attribute__((noinline)) void parse(int n)
{
	for (int i = 0; i < n; i++) {
		block = malloc(40);
		free(block);
	}
	__asm__ volatile("");
}

__attribute__((noinline)) void load(int n)
{
	for (int i = 0; i < n; i++) {
		block = malloc(80);
		free(block);
	}
	__asm__ volatile("");
}

__attribute__((noinline)) void keep(int bytes)
{
	block = malloc(bytes);
	__asm__ volatile("");
}

int main(void)
{
	parse(5000);
	load(LOADS);
	keep(HELD);
	return 0;
}
