/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much of the CPU time of both arms the sampler saw, and whether programs of one of them escape
 * it: the other arm would look slower by what is seen of it alone.
 */
#ifndef FG_MODEL_COVERAGE_H
#define FG_MODEL_COVERAGE_H

#include <stdbool.h>
#include <stddef.h>

/* What the repetitions of one arm add up to. */
struct fg_coverage {
	double spent_ns; /* of CPU time */
	double sampled_ns;
	size_t repetitions;
};

/* The part of its CPU time that samples stand for; NaN where it spent less than `least_ns`. */
double fg_coverage_share(const struct fg_coverage *arm, double least_ns);
/*
 * A much smaller part of one arm was seen, and that is not for what nobody sees: until the dynamic
 * linker has loaded the sampler a program is on its own, on both sides for as long. Of a short one
 * that is much, and of one that became several times as slow it is not.
 */
bool fg_coverage_is_one_sided(const struct fg_coverage arms[2], double least_ns);

#endif
