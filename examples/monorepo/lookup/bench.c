// SPDX-License-Identifier: Apache-2.0
#include "lookup.h"

#include <stdio.h>
#include <string.h>

enum {
	KEYS = 4096,
	ROUNDS = 2000000,
};

int main(int argc, char **argv)
{
	static uint32_t keys[KEYS];
	const uint32_t odd = argc > 1 && strcmp(argv[1], "miss") == 0;
	uint32_t random = 1;
	size_t found = 0;

	for (uint32_t i = 0; i < KEYS; i++)
		keys[i] = 2 * i; /* odd keys are missing */
	for (int i = 0; i < ROUNDS; i++) {
		random = random * 1664525 + 1013904223;
		found += lookup(keys, KEYS, 2 * (random >> 20) + odd) < KEYS;
	}
	printf("%zu found\n", found);
	return 0;
}
