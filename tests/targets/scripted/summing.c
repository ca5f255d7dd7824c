// SPDX-License-Identifier: Apache-2.0
/* Sums up its input repeatedly: twice the bytes take twice the time. */
#include <stdio.h>

int main(int argc, char **argv)
{
	static unsigned char data[1 << 16];
	FILE *f = argc > 1 ? fopen(argv[1], "r") : fopen("data/words.txt", "r");
	size_t size = f ? fread(data, 1, sizeof(data), f) : 0;
	volatile unsigned sum = ADDED;

	for (int i = 0; i < 400; i++)
		for (size_t k = 0; k < size; k++)
			sum += data[k];
	return size == 0;
}
