/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much CPU time of each arm the sampler covered, and whether programs of one arm escaped it:
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

/* The share of the CPU time covered by samples; NaN below `min_ns` of CPU time. */
double fg_coverage_share(const struct fg_coverage *arm, double min_ns);
/*
 * True if a much smaller share of one arm was covered. Time before the dynamic linker has loaded
 * the sampler does not count: it is equal on both sides, and only in a short program is it a large
 * share.
 */
bool fg_coverage_is_one_sided(const struct fg_coverage arms[2], double min_ns);

#endif
