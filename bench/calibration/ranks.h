/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of every rank test: mid-ranks, and the tails of the statistic. */
#ifndef FG_BENCH_CALIBRATION_RANKS_H
#define FG_BENCH_CALIBRATION_RANKS_H

#include <stdbool.h>
#include <stddef.h>

struct fg_test {
	double statistic;
	double p_greater; /* against "no larger than zero", or "first not above second" */
	double p_less;
	double p_two_sided;
	bool exact; /* no approximation was needed */
};

struct fg_ranked {
	double value;
	double rank;
	bool first; /* from the first sample, or above the center */
};

/*
 * Sorts `items`; ties share a rank.  Returns the sum of t^3 - t over the groups of t equal values.
 */
double fg_ranks_assign(struct fg_ranked *items, size_t count);
double fg_ranks_sum_first(const struct fg_ranked *items, size_t count);

/* Tests by the normal approximation with continuity correction. */
struct fg_test fg_test_normal(double statistic, double mean, double variance);
/* Computes both tails of a discrete distribution, given as the probabilities of 0 .. size - 1. */
struct fg_test fg_test_exact(const double *probability, size_t size, double statistic);
/* Fills in p_two_sided from the two tails. */
struct fg_test fg_test_two_sided(struct fg_test test);

#endif
