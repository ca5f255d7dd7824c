/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Limits the time for linking a program in several layouts (layouts.h) to a share of the measuring
 * time. A file stores the cost of a link for the next build of the same program.
 */
#ifndef FG_RUNNER_LINK_COST_H
#define FG_RUNNER_LINK_COST_H

#include "model/plan.h"

/*
 * Returns the time allowed for the links of both sides together if the user did not ask for
 * layouts: a tenth of the expected measuring time (of twice `min_pairs`) or 2 s, whichever is more,
 * but at most a tenth of the budget. `pair_ns` 0: unknown.
 */
int64_t fg_links_allowance_ns(const struct fg_measuring *measure, int64_t pair_ns);

/* Returns the time to link one layout of one side, libraries included; 0: unknown or stale. */
int64_t fg_link_cost_read(const char *path);
/* Ignores failures: the next build then measures the cost again. */
void fg_link_cost_write(const char *path, int64_t cost_ns);

#endif
