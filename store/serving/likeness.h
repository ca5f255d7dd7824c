/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds which parts of a dictionary equal those of another one, its base, by trying the places
 * where a slightly changed program would have them, never by searching.  A match is certain (all
 * bytes of a function, or a whole path); a miss is not.
 */
#ifndef FG_STORE_SERVING_LIKENESS_H
#define FG_STORE_SERVING_LIKENESS_H

#include "base/base.h"
#include "store/serving/dictionary.h"

/* A walk through the base in step with one through the new dictionary. */
struct fg_likeness {
	const struct fg_dictionary *base; /* NULL: none, or given up */
	size_t here;                      /* the last match in the new one */
	size_t there;                     /* and in the base */
	size_t misses;                    /* failed attempts */
};

/*
 * How many functions from number `i` on (at most `most`), whose bytes begin at `at`, equal those of
 * the base from number *first on.  Call with growing `i`.
 */
size_t fg_alike_functions(struct fg_likeness *walk, size_t i, size_t most, const uint8_t *at,
			  const uint8_t *end, size_t *first);
/*
 * The base's node with this parent and function (in the base's numbers), or 0; `i` is our node's
 * number and must grow.
 */
uint32_t fg_alike_node(struct fg_likeness *walk, size_t i, uint32_t parent, uint32_t function);

#endif
