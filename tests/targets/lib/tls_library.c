// SPDX-License-Identifier: Apache-2.0
/*
 * A library with thread-local variables: much, that comes from malloc when a thread first looks at
 * it, or (the last one) a little, from what the dynamic loader keeps free for libraries that are
 * loaded late.
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

/* Sum of what was there before: 0 for a thread that comes for the first time. */
__attribute__((visibility("default"))) size_t touch_tls(char value)
{
	size_t sum = 0;

	for (size_t i = 0; i < SIZE; i += 512) {
		sum += (unsigned char)own[i];
		own[i] = value;
	}
	return sum;
}
