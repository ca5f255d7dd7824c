// SPDX-License-Identifier: Apache-2.0
static volatile unsigned sink;

__attribute__((noinline)) static void refine(unsigned n)
{
	unsigned x = sink;

	for (unsigned i = 0; i < n; i++)
		x = x * 31 + i;
	sink = x;
}

int main(void)
{
	refine(ROUNDS);
	return 0;
}
