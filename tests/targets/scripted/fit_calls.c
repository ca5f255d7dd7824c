// SPDX-License-Identifier: Apache-2.0
static volatile unsigned sink;
__attribute__((noinline)) static void fit(void)
{
	for (int i = 0; i < 50; i++)
		sink++;
}
int main(void)
{
	for (int i = 0; i < CALLS; i++)
		fit();
	return 0;
}
