// SPDX-License-Identifier: Apache-2.0
int main(void)
{
	volatile unsigned i = 0;

	while (i < 1000000)
		i = i + 1;
	return 0;
}
