// SPDX-License-Identifier: Apache-2.0
#include "base/sort.h"

#include <math.h>
#include <stdlib.h>

static int compare_doubles(const void *left, const void *right)
{
	const double a = *(const double *)left;
	const double b = *(const double *)right;

	return (a > b) - (a < b);
}

void fg_sort(double *values, size_t count)
{
	if (count > 1)
		qsort(values, count, sizeof(values[0]), compare_doubles);
}

double fg_middle(double *values, size_t count)
{
	if (count == 0)
		return (double)NAN;
	fg_sort(values, count);
	return (values[(count - 1) / 2] + values[count / 2]) / 2;
}
