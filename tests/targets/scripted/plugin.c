// SPDX-License-Identifier: Apache-2.0
int work(void)
{
	volatile int i = 0;

	while (i < 20000000)
		i = i + 1;
	return i;
}
