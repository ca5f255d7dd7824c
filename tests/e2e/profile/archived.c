/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Works in one of its own functions and in generated code that a map names. With an argument it
 * continues with the former until it is ended, or for two minutes.
 */
#include <stdint.h>
#include <unistd.h>

enum {
	TURNS = 60000000
};

static volatile unsigned sink;

static inline unsigned mix(unsigned value)
{
	return value * 2654435761u + (value >> 3);
}

__attribute__((noinline)) static void seldom(unsigned value)
{
	sink = value;
}

__attribute__((noinline)) static void in_the_program(void)
{
	unsigned value = 1;

	for (unsigned i = 0; i < TURNS; i++) {
		value = mix(value);
		if ((i & 0xfffff) == 0)
			seldom(value);
	}
	sink = value;
}

int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 1)
		(void)alarm(120);
	for (unsigned turn = 0; argc > 1 || turn == 0; turn++)
		in_the_program();
	return 0;
}
