// SPDX-License-Identifier: Apache-2.0
static volatile unsigned sink;

__attribute__((noinline)) static void work(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		sink += i;
}

int main(void)
{
	for (int i = 0; i < 200; i++)
		work(25000);
	return 0;
}
