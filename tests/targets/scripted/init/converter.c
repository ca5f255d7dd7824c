// SPDX-License-Identifier: Apache-2.0
/* Needs two file names: an input and an output. */
#include <stdio.h>

int main(int argc, char **argv)
{
	volatile unsigned sum = 0;
	FILE *in = argc == 3 ? fopen(argv[1], "r") : NULL;
	FILE *out = in ? fopen(argv[2], "w") : NULL;
	int c;

	if (!out)
		return 1;
	while ((c = fgetc(in)) != EOF) {
		fputc(c, out);
		for (int i = 0; i < 20; i++)
			sum = sum * 31 + (unsigned)c;
	}
	return 0;
}
