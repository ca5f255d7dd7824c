/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares the time that the sampler covered in the two arms. If programs of one arm escaped it,
 * their unseen time would make the other arm look slower.
 */
#ifndef FG_MODEL_COVERAGE_H
#define FG_MODEL_COVERAGE_H

#include <stdbool.h>
#include <stddef.h>

/* Totals over the repetitions of one arm. */
struct fg_coverage {
	double spent_ns; /* time on the sampler's clock: CPU or wall time */
	double sampled_ns;
	size_t repetitions;
};

/* Returns the share of the time covered by samples; NaN if less than `min_ns` was spent. */
double fg_coverage_share(const struct fg_coverage *arm, double min_ns);
/*
 * True if a much smaller share of one arm was covered, and that arm's unseen time is much longer. A
 * short program fails only the first test: the time until the dynamic linker has loaded the sampler
 * is a large share of its run, but is equal on both sides.
 */
bool fg_coverage_is_one_sided(const struct fg_coverage arms[2], double min_ns);

#endif
