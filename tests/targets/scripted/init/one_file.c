// SPDX-License-Identifier: Apache-2.0
/* Accepts a single file with exactly one mark, and runs for 25 ms. */
#include <stdio.h>
#include <time.h>

int main(int argc, char **argv)
{
	const clock_t begin = clock();
	FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;
	int c = 0, marks = 0;

	while (file && (c = fgetc(file)) != EOF)
		marks += c == 'K';
	if (marks != 1)
		return 1;
	while (clock() - begin < CLOCKS_PER_SEC / 40) {
	}
	return 0;
}
