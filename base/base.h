/* SPDX-License-Identifier: Apache-2.0 */
/* Basics that every file may use: attributes, assertions and checked allocation. */
#ifndef FG_BASE_BASE_H
#define FG_BASE_BASE_H

#include "base/attrs.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Reports a violated contract between two pieces of our own code, and aborts. Never use it for
 * anything that a user, a file or a peer can cause; that is an fg_error.
 */
#define FG_ASSERT(condition) \
 ((condition) ? (void)0 : fg_assert_failed(#condition, __FILE__, __LINE__, __func__))

void fg_assert_failed(const char *condition, const char *file, int line,
		      const char *function) FG_NORETURN;

/*
 * Allocation that cannot fail: out of memory ends the process with one line (exit code 6). Bound
 * every size that an outsider controls before you allocate. fg_xcalloc and fg_xreallocarray check
 * the product for overflow. fg_xstrdup(NULL) is NULL.
 */
void *fg_xmalloc(size_t size) __attribute__((malloc, returns_nonnull));
void *fg_xcalloc(size_t count, size_t size) __attribute__((malloc, returns_nonnull));
void *fg_xreallocarray(void *old, size_t count, size_t size) __attribute__((returns_nonnull));
char *fg_xstrdup(const char *text);
char *fg_xstrndup(const char *text, size_t length);
char *fg_xasprintf(const char *format, ...) FG_PRINTF(1, 2) __attribute__((returns_nonnull));
char *fg_xvasprintf(const char *format, va_list ap) FG_PRINTF(1, 0)
	__attribute__((returns_nonnull));

/*
 * Grows an array until it has room for `wanted` elements; *capacity increases by half at each step.
 * Returns the array, which may have moved.
 */
void *fg_grow(void *items, size_t *capacity, size_t wanted, size_t size)
	__attribute__((returns_nonnull));
void *fg_append(void *items, size_t *count, size_t *capacity, size_t size)
	__attribute__((returns_nonnull));
/* Appends a zeroed element to a growing array. The macro evaluates to the new element. */
#define FG_APPEND(items, count, capacity) \
 (*((items) = fg_append(items, &(count), &(capacity), sizeof((items)[0])), &(items)[(count)-1]))
/* Lists of words that end with NULL. The list itself may be NULL. */
void fg_free_words(char **words);
/* The new list borrows the words: the caller frees only the list. */
char **fg_join_words(char *const *first, char *const *then) __attribute__((returns_nonnull));
char **fg_copy_words(char *const *words) __attribute__((returns_nonnull));
/* Takes ownership of `variable`, "NAME=value"; frees the entry of that name, which it replaces. */
void fg_variable_set(char ***variables, char *variable);
/* Returns NULL if the variable is not in the list. */
const char *fg_variable_get(char *const *variables, const char *name);

static inline size_t fg_min_size(size_t a, size_t b)
{
	return a < b ? a : b;
}

static inline size_t fg_max_size(size_t a, size_t b)
{
	return a > b ? a : b;
}

#endif
