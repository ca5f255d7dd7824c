// SPDX-License-Identifier: Apache-2.0
/* Prints a cost chosen by the address of place(): the first one at FIRST, modulo 64. */
#include <stdint.h>
#include <stdio.h>

int changed(void);

__attribute__((noinline)) int place(int x)
{
	return x * 3;
}

int main(void)
{
	static const int at[] = {100, 100, 100, 120};

	printf("took %d ms\n", at[((uintptr_t)place - FIRST) / 16 % 4] * changed() / 100);
	return 0;
}
