// SPDX-License-Identifier: Apache-2.0
int main(void)
{
	volatile unsigned sink = 1;
	unsigned x = sink;

	for (unsigned i = 0; i < ROUNDS; i++)
		x = x * 31 + i;
	sink = x;
	return 0;
}
