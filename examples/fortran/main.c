// SPDX-License-Identifier: Apache-2.0
/* heat SIZE STEPS: spreads heat from one side of a plate; prints the temperature next to it. */
#include <stdio.h>
#include <stdlib.h>

void heat_step(int n, const double *before, double *after);

int main(int argc, char **argv)
{
	const int n = argc == 3 ? (int)strtol(argv[1], NULL, 10) : 0;
	const int steps = argc == 3 ? (int)strtol(argv[2], NULL, 10) : 0;
	double *before = n > 2 ? calloc((size_t)n * (size_t)n, sizeof(*before)) : NULL;
	double *after = n > 2 ? calloc((size_t)n * (size_t)n, sizeof(*after)) : NULL;

	if (!before || !after)
		return 2;
	for (int i = 0; i < n; i++)
		before[i] = after[i] = 100;
	for (int step = 0; step < steps; step++) {
		double *swap = before;

		heat_step(n, before, after);
		before = after;
		after = swap;
	}
	printf("%.6f\n", before[n + n / 2]);
	free(before);
	free(after);
	return 0;
}
