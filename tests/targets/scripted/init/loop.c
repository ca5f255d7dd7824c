// SPDX-License-Identifier: Apache-2.0
/* Works for far less time than it takes to start, on every processor. */
int main(void)
{
	volatile unsigned i = 0;

	while (i < 10000)
		i = i + 1;
	return 0;
}
