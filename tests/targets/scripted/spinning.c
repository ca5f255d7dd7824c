// SPDX-License-Identifier: Apache-2.0
static volatile unsigned long sink;

/* The whole loop is on one line, which is therefore the hottest. */
__attribute__((noinline)) void spin(void)
{
	unsigned long x = sink;

	for (unsigned long i = 0; i < ROUNDS; x = x * 31 + i++)
		;
	sink = x;
}

int main(void)
{
	spin();
	return 0;
}
