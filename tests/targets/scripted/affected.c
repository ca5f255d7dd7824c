// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int alpha(int n), beta(int n);
int main(int argc, char **argv)
{
	int n = 0;
	FILE *f = argc > 2 ? fopen(argv[2], "r") : NULL;
	if (strcmp(argv[1], "beta") == 0 && !fopen("made.txt", "r"))
		return 2;
	if (!f || fscanf(f, "%d", &n) != 1)
		return 1;
	printf("%d\n", strcmp(argv[1], "alpha") == 0 ? alpha(n) : beta(n));
	return 0;
}
