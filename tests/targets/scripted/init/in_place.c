// SPDX-License-Identifier: Apache-2.0
/* Rewrites a single file, and fails without it. */
#include <stdio.h>

int main(int argc, char **argv)
{
	volatile unsigned sum = 0;
	FILE *file = argc == 2 ? fopen(argv[1], "r+") : NULL;
	int c;

	if (argc == 3)
		return (file = fopen(argv[2], "w")) ? fputs("x", file), fclose(file) : 1;
	if (!file)
		return 1;
	while ((c = fgetc(file)) != EOF)
		sum += (unsigned)c;
	for (int i = 0; i < 50000000; i++)
		sum = sum * 31 + 1;
	return fputs("more", file), fclose(file);
}
