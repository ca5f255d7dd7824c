// SPDX-License-Identifier: Apache-2.0
/* Functions that a test can slow down for different reasons; CALL chooses one. */
#include <stdint.h>

static unsigned table[1 << 22];
static unsigned char guesses[1 << 16];
static volatile unsigned sink;

__attribute__((noinline)) static unsigned walk(void)
{
	unsigned sum = 0, at = 0;

	for (int i = 0; i < 2000000; i++) {
		sum += table[at];
		at = (at + STRIDE) & ((1 << 22) - 1);
	}
	return sum;
}

__attribute__((noinline)) static unsigned guess(void)
{
	for (unsigned i = 0; i < 4000000; i++)
		if (guesses[i >> SHIFT & 65535]) {
			sink = i;
			__asm__ volatile("nop");
		}
	return sink;
}

static LANE lanes[1024];

__attribute__((noinline, optimize("O3"))) static unsigned add(void)
{
	for (unsigned k = 0; k < 12000; k++)
		for (unsigned i = 0; i < 1024; i++)
			lanes[i] += k ^ i;
	return lanes[0];
}

/* If LAST is 0, nothing follows the call. */
__attribute__((noipa, optimize("O2"))) static unsigned descend(unsigned n, unsigned x)
{
	return n ? descend(n - 1, x * 3 + n) ^ LAST : x;
}

__attribute__((noinline)) static unsigned step(void)
{
	unsigned x = 0;

	for (int i = 0; i < 150000; i++)
		x += descend(48, x);
	return x;
}

int main(void)
{
	unsigned random = 1;

	for (unsigned i = 0; i < 1u << 22; i += 16)
		table[i] = i;
	for (unsigned i = 0; i < sizeof(guesses); i++) {
		random = random * 1103515245u + 12345u;
		guesses[i] = random >> 16 & 1;
	}
	for (int i = 0; i < 4; i++)
		sink = CALL();
	return 0;
}
