// SPDX-License-Identifier: Apache-2.0
/* Accepts the names of files that begin with the mark 'K' and do not contain it again. */
#include <stdio.h>

int main(int argc, char **argv)
{
	volatile unsigned sum = 0;

	if (argc < 2)
		return 1;
	for (int i = 1; i < argc; i++) {
		FILE *file = fopen(argv[i], "r");
		int size = 0, c;

		if (!file || fgetc(file) != 'K')
			return 1;
		while ((c = fgetc(file)) != EOF) {
			size++;
			if (c == 'K')
				return 1;
		}
		fclose(file);
		for (int k = 0; k < 200000; k++)
			sum = sum * 31 + (unsigned)size;
	}
	return 0;
}
