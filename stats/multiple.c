// SPDX-License-Identifier: Apache-2.0
#include "stats/multiple.h"

#include "base/base.h"

#include <math.h>

struct slot {
	double p;
	size_t at;
};

static int compare_slots(const void *left, const void *right)
{
	double a = ((const struct slot *)left)->p;
	double b = ((const struct slot *)right)->p;

	return (a > b) - (a < b);
}

static struct slot *ascending(const double *p, size_t count)
{
	struct slot *slots = fg_xcalloc(count + 1, sizeof(slots[0]));

	for (size_t i = 0; i < count; i++)
		slots[i] = (struct slot){.p = p[i], .at = i};
	if (count > 1)
		qsort(slots, count, sizeof(slots[0]), compare_slots);
	return slots;
}

void fg_benjamini_hochberg(const double *p, size_t count, double *adjusted)
{
	struct slot *slots = ascending(p, count);
	double least = 1.0;

	for (size_t i = count; i-- > 0;) {
		least = fmin(least, slots[i].p * (double)count / (double)(i + 1));
		adjusted[slots[i].at] = least;
	}
	free(slots);
}

void fg_holm(const double *p, size_t count, double *adjusted)
{
	struct slot *slots = ascending(p, count);
	double most = 0.0;

	for (size_t i = 0; i < count; i++) {
		most = fmax(most, fmin(1.0, slots[i].p * (double)(count - i)));
		adjusted[slots[i].at] = most;
	}
	free(slots);
}
