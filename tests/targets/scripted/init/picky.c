// SPDX-License-Identifier: Apache-2.0
/* Works only with an option and a file that its tests use. */
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
	volatile unsigned sum = 0;
	int c;
	FILE *file = argc == 3 && !strcmp(argv[1], "--parse") ? fopen(argv[2], "r") : NULL;

	if (!file || fgetc(file) != '<')
		return fputs("usage\n", stderr), 1;
	while ((c = fgetc(file)) != EOF)
		for (int i = 0; i < 20; i++)
			sum = sum * 31 + (unsigned)c;
	return 0;
}
