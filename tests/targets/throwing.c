// SPDX-License-Identifier: Apache-2.0
/*
 * A C program that loads C++ at run time, which throws and catches: a collector that affects
 * exception unwinding breaks it.
 */
#include "work.h"

#include <dlfcn.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	const int count = argc > 2 ? atoi(argv[2]) : 100000;

	check(argc > 1, "usage: throwing LIBRARY [COUNT]");
	void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);

	check(library != NULL, "dlopen");
	int (*many)(int) = __extension__(int (*)(int)) dlsym(library, "throw_many");

	check(many != NULL, "dlsym");
	check(many(count) == count, "exceptions were lost");
	return 0;
}
