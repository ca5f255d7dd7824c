/* SPDX-License-Identifier: Apache-2.0 */
/* Sorting numbers. */
#ifndef FG_BASE_SORT_H
#define FG_BASE_SORT_H

#include <stddef.h>

/* In place, ascending.  The values must not be NaN. */
void fg_sort(double *values, size_t count);
/* The median of the values, which it sorts; NaN if none. */
double fg_middle(double *values, size_t count);

#endif
