// SPDX-License-Identifier: Apache-2.0
/*
 * Loads and unloads two libraries in turn. They have the same size and so occupy the same
 * addresses, but their frames differ: a collector that remembers how to unwind one of them walks
 * off the stack in the other.
 */
#include "work.h"

#include <dlfcn.h>

static uint64_t work_us;

__attribute__((visibility("default"))) void chain_next(unsigned depth);

NOINLINE static void innermost(void)
{
	spin_us(work_us);
}

void chain_next(unsigned depth)
{
	(void)depth;
	innermost();
	KEEP_FRAME();
}

int main(int argc, char **argv)
{
	unsigned same = 0;
	void *before = NULL;

	check(argc > 2, "usage: storm_dlopen FOLDER ROUNDS");
	work_us = 1000;
	for (int i = 0; i < atoi(argv[2]); i++) {
		char path[4096];

		(void)snprintf(path, sizeof(path), "%s/libchain%d.so", argv[1], i % 2);
		void *handle = dlopen(path, RTLD_NOW);

		check(handle != NULL, path);
		void *symbol = dlsym(handle, "chain_0");

		same += symbol == before;
		before = symbol;
		(__extension__(void (*)(unsigned)) symbol)(1);
		(void)dlclose(handle);
	}
	print_value("same_address", same);
	return 0;
}
