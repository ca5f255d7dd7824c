// SPDX-License-Identifier: Apache-2.0
/*
 * A library with thread-local variables: large ones, which malloc provides on a thread's first
 * access, or (the last library) a small one, from space that the dynamic loader reserves for
 * libraries loaded late.
 */
#include <stddef.h>

enum {
	MUCH = 1 << 18,
	LITTLE = 1024
};

#if NUMBER == 3
# define MODEL "initial-exec"
enum {
	SIZE = LITTLE
};
#else
# define MODEL "global-dynamic"
enum {
	SIZE = MUCH
};
#endif

static _Thread_local char own[SIZE] __attribute__((tls_model(MODEL)));

size_t touch_tls(char value);

/* Returns the sum of the previous values: 0 on a thread's first call. */
__attribute__((visibility("default"))) size_t touch_tls(char value)
{
	size_t sum = 0;

	for (size_t i = 0; i < SIZE; i += 512) {
		sum += (unsigned char)own[i];
		own[i] = value;
	}
	return sum;
}
