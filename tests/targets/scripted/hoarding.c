// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static void *volatile block;

__attribute__((noinline)) void hoard(size_t bytes)
{
	block = malloc(bytes);
	memset(block, 1, bytes);
	__asm__ volatile("");
}

__attribute__((noinline)) void map(size_t bytes)
{
	block = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memset(block, 1, bytes);
}

int main(void)
{
	hoard(HELD);
	map(MAPPED);
	return 0;
}
