/* SPDX-License-Identifier: Apache-2.0 */
/* Sorts numbers, and structs by their members. */
#ifndef FG_BASE_SORT_H
#define FG_BASE_SORT_H

#include <stddef.h>

/* In place, ascending.  The values must not be NaN. */
void fg_sort(double *values, size_t count);
/* The median of the values, which it sorts; NaN if none. */
double fg_middle(double *values, size_t count);

/* Defines a comparison function for qsort() that compares structs by one or two members. */
/* NOLINTBEGIN(bugprone-macro-parentheses): types and members cannot be put into parentheses. */
#define FG_ASCENDING(name, type, member)                    \
 static int name(const void *left, const void *right)       \
 {                                                          \
  const type *a = left;                                     \
  const type *b = right;                                    \
                                                            \
  return (a->member > b->member) - (a->member < b->member); \
 }
#define FG_DESCENDING(name, type, member)                   \
 static int name(const void *left, const void *right)       \
 {                                                          \
  const type *a = left;                                     \
  const type *b = right;                                    \
                                                            \
  return (a->member < b->member) - (a->member > b->member); \
 }
#define FG_ASCENDING_2(name, type, member, then)      \
 static int name(const void *left, const void *right) \
 {                                                    \
  const type *a = left;                               \
  const type *b = right;                              \
                                                      \
  if (a->member != b->member)                         \
   return a->member < b->member ? -1 : 1;             \
  return (a->then > b->then) - (a->then < b->then);   \
 }
/* NOLINTEND(bugprone-macro-parentheses) */

#endif
