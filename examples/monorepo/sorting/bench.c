// SPDX-License-Identifier: Apache-2.0
#include "sorting.h"

#include <stdio.h>
#include <string.h>

enum {
	VALUES = 20000,
	ROUNDS = 30,
};

int main(int argc, char **argv)
{
	static uint32_t values[VALUES];
	const int sorted = argc > 1 && strcmp(argv[1], "sorted") == 0;
	uint32_t random = 1;

	for (int round = 0; round < ROUNDS; round++) {
		for (uint32_t i = 0; i < VALUES; i++) {
			random = random * 1664525 + 1013904223;
			values[i] = sorted ? i : random;
		}
		sort(values, VALUES);
	}
	for (size_t i = 1; i < VALUES; i++) {
		if (values[i - 1] > values[i])
			return 1;
	}
	printf("%u is the largest\n", values[VALUES - 1]);
	return 0;
}
