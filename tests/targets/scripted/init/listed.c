// SPDX-License-Identifier: Apache-2.0
/* Works only with its argument and in its folder. */
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
	volatile unsigned sum = 0;
	const int listed = argc == 2 && !strcmp(argv[1], "all cases");
	FILE *file = listed ? fopen("cases.txt", "r") : NULL;

	for (unsigned i = 0; file && i < 100000000; i++)
		sum = sum * 31 + i;
	return file ? 0 : 1;
}
