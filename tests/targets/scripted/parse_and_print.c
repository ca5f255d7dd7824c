// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>

static volatile unsigned sink;

__attribute__((noinline)) static void parse(void)
{
	for (int i = 0; i < PARSED; i++)
		sink += (unsigned)i;
}

__attribute__((noinline)) static void print(void)
{
	for (int i = 0; i < PRINTED; i++)
		sink ^= (unsigned)i;
}

int main(int argc, char **argv)
{
	FILE *input = argc > 1 ? fopen(argv[1], "r") : NULL;

	if (!input)
		return 3;
	parse();
	print();
	return fclose(input);
}
