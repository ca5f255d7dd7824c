// SPDX-License-Identifier: Apache-2.0
static volatile unsigned sink;
__attribute__((noinline)) static void load(unsigned n)
{
	unsigned x = sink;
	for (unsigned i = 0; i < n; i++)
		x = x * 17 + i;
	sink = x;
}
__attribute__((noinline)) static void refine(void)
{
	unsigned x = sink;
	for (unsigned i = 0; i < ROUNDS; i++)
		x = x * 31 + i;
	sink = x;
}
int main(void)
{
	for (int i = 0; i < 20; i++) {
		load(400000);
		refine();
	}
	return 0;
}
