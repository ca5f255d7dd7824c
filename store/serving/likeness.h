/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a dictionary is the same as another one, its base: found by trying the places where a
 * program that changed a little has it again, never by searching.  What is found is the same for
 * certain, all bytes of a function, or the whole of a path; what is not found may be there all the
 * same.
 */
#ifndef FG_STORE_SERVING_LIKENESS_H
#define FG_STORE_SERVING_LIKENESS_H

#include "base/base.h"
#include "store/serving/dictionary.h"

/* A walk through the base, beside one through the new dictionary. */
struct fg_likeness {
	const struct fg_dictionary *base; /* NULL: none, or given up */
	size_t here;                      /* the last match in the new one */
	size_t there;                     /* and in the base */
	size_t misses;                    /* so often it was tried in vain */
};

/*
 * So many functions, `most` at most, from number `i` on, whose bytes begin at `at`, are the same as
 * those of the base from number *first on.  To be asked with growing `i`.
 */
size_t fg_alike_functions(struct fg_likeness *walk, size_t i, size_t most, const uint8_t *at,
			  const uint8_t *end, size_t *first);
/*
 * The base's node of this parent and this function (the base's numbers), or 0; `i` is the number of
 * ours, growing.
 */
uint32_t fg_alike_node(struct fg_likeness *walk, size_t i, uint32_t parent, uint32_t function);

#endif
