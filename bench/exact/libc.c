// SPDX-License-Identifier: Apache-2.0
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
extern int tolower(int), isalpha(int);
#define N 4000
static char t[N + 1], u[N + 2];
static double d[N];
static int compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}
FUNCTIONS;
int main(int argc, char **argv)
{
	unsigned s = (unsigned)argc;
	int k;
	for (k = 0; k < N; k++) {
		t[k] = u[k] = (char)('A' + k % 50);
		d[k] = k * 7919 % N;
	}
	for (k = 0; k < 5000; k++)
		s = s * 1664525u + 1013904223u + (unsigned char)t[s % N];
	CALLS;
	printf("%u\n", s);
	return 0;
}
