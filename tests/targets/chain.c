// SPDX-License-Identifier: Apache-2.0
/*
 * A call chain of a given depth across many generated libraries (chain_library.c), as in a
 * reconstruction job.
 */
#include "work.h"

#include <dlfcn.h>

typedef void (*link_function)(unsigned depth);

static link_function *links;
static unsigned depth_wanted;
static uint64_t work_us;

NOINLINE static void at_the_end(void)
{
	spin_us(work_us);
}

__attribute__((visibility("default"))) void chain_next(unsigned depth);

void chain_next(unsigned depth)
{
	if (depth >= depth_wanted)
		at_the_end();
	else
		links[depth](depth + 1);
	KEEP_FRAME();
}

int main(int argc, char **argv)
{
	const unsigned libraries = argc > 2 ? (unsigned)atoi(argv[2]) : 1;

	check(argc > 4, "usage: chain DEPTH LIBRARIES FOLDER MILLISECONDS");
	depth_wanted = (unsigned)atoi(argv[1]);
	links = calloc(depth_wanted, sizeof(*links));
	void **handles = calloc(libraries, sizeof(*handles));

	for (unsigned i = 0; i < libraries; i++) {
		char path[4096];

		(void)snprintf(path, sizeof(path), "%s/libchain%u.so", argv[3], i);
		handles[i] = dlopen(path, RTLD_NOW);
		check(handles[i] != NULL, path);
	}
	for (unsigned i = 0; i < depth_wanted; i++) {
		char name[64];

		(void)snprintf(name, sizeof(name), "chain_%u", (i / libraries) % 4);
		links[i] = __extension__(link_function) dlsym(handles[i * 7 % libraries], name);
		check(links[i] != NULL, name);
	}
	work_us = (uint64_t)atoi(argv[4]) * 1000;
	chain_next(0);
	free(handles);
	free(links);
	return 0;
}
