/* SPDX-License-Identifier: Apache-2.0 */
/* Sorts numbers, and structs by their members. */
#ifndef FG_BASE_SORT_H
#define FG_BASE_SORT_H

#include <stddef.h>
#include <string.h>

/* Sorts in place, ascending. The values must not be NaN. */
void fg_sort(double *values, size_t count);
/* Sorts the values and returns their median; NaN if there are no values. */
double fg_middle(double *values, size_t count);

/*
 * Defines a comparison function for qsort() over structs `a` and `b`: the first key that differs
 * decides.
 *
 *	FG_ORDER_BY(largest_first, struct place, FG_DOWN(size), FG_TEXT_UP(name))
 */
/* NOLINTBEGIN(bugprone-macro-parentheses): types and members cannot be put into parentheses. */
#define FG_ORDER_BY(name, type, ...)                                   \
 static int name(const void *left, const void *right)                  \
 {                                                                     \
  const type *a = left;                                                \
  const type *b = right;                                               \
  const int orders[] = {__VA_ARGS__};                                  \
  size_t i = 0;                                                        \
                                                                       \
  while (orders[i] == 0 && i + 1 < sizeof(orders) / sizeof(orders[0])) \
   i++;                                                                \
  return orders[i];                                                    \
 }
#define FG_ORDER(x, y)     (((x) > (y)) - ((x) < (y)))
#define FG_UP(member)      FG_ORDER(a->member, b->member)
#define FG_DOWN(member)    FG_ORDER(b->member, a->member)
#define FG_TEXT_UP(member) strcmp(a->member, b->member)
/* NOLINTEND(bugprone-macro-parentheses) */

#endif
