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

double fg_select_largest(double *values, size_t count, size_t place)
{
	size_t first = 0;
	size_t last = count - 1;

	while (first < last) {
		const double pivot = values[first + (last - first) / 2];
		size_t i = first;
		size_t j = last;

		while (i <= j) {
			while (values[i] > pivot)
				i++;
			while (values[j] < pivot)
				j--;
			if (i <= j) {
				const double t = values[i];

				values[i++] = values[j];
				values[j] = t;
				if (j == 0)
					break;
				j--;
			}
		}
		if (place <= j)
			last = j;
		else if (place >= i)
			first = i;
		else
			break;
	}
	return values[place];
}
