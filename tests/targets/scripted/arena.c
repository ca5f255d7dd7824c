// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
int main(int argc, char **argv)
{
	size_t size = (size_t)atoi(argv[1]) << 10;
	char *room = argc > 2 ? malloc(size)
			      : mmap(NULL, size, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memset(room, 1, size);
	return room[size / 2] != 1;
}
