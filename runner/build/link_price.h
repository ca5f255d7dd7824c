/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Is linking a program in several layouts (layouts.h) cheap beside measuring it?  What a link took
 * is kept in a file, for the next build of the same program.
 */
#ifndef FG_RUNNER_LINK_PRICE_H
#define FG_RUNNER_LINK_PRICE_H

#include "model/plan.h"

/*
 * So long may the links of both sides take together where nothing has asked for them yet: a tenth
 * of what twice the pairs of the first look take, at least 2 s, at most a tenth of the budget.
 * `pair_ns` 0: it is not known.
 */
int64_t fg_links_allowance_ns(const struct fg_measuring *measure, int64_t pair_ns);

/* What a link of one side took, libraries with it; 0: unknown, or known for too long. */
int64_t fg_link_price_read(const char *path);
/* Where it cannot be written, it is found out again, and that is all. */
void fg_link_price_write(const char *path, int64_t price_ns);

#endif
