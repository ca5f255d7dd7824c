/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recorded pairs of a program and its copy, drawn in stretches: neighbouring pairs stay neighbours,
 * so that a disturbance of several pairs stays whole.  The sign of each pair is drawn again, like
 * the order of start in a run.
 */
#ifndef FG_BENCH_RECORDED_H
#define FG_BENCH_RECORDED_H

#include "base/random.h"
#include "tests/unit/gate/recorded_pairs.h"

#include <math.h>
#include <string.h>

enum {
	RECORDED_PAIRS_MIN = 100, /* pairs; shorter recordings are not used */
};

struct stretch {
	const struct recorded *recording;
	size_t at;
};

static inline bool is_of(const struct recorded *recording, const char *program)
{
	return recording->count >= RECORDED_PAIRS_MIN && strcmp(recording->program, program) == 0;
}

/* Returns the standard deviation of a pair of this program. */
static inline double recorded_spread(const char *program)
{
	double squares = 0;
	size_t count = 0;

	for (size_t i = 0; i < RECORDED_SERIES; i++) {
		const short *pairs = &recorded_pairs[recorded[i].begin];

		for (size_t k = 0; is_of(&recorded[i], program) && k < recorded[i].count; k++) {
			squares += pow(pairs[k] / 1e4, 2);
			count++;
		}
	}
	return sqrt(squares / (double)count);
}

/* Begins anywhere in any recording of the program. */
static inline void stretch_begin(struct stretch *stretch, const char *program,
				 struct fg_random *random)
{
	do
		stretch->recording = &recorded[fg_random_below(random, RECORDED_SERIES)];
	while (!is_of(stretch->recording, program));
	stretch->at = fg_random_below(random, stretch->recording->count);
}

static inline double stretch_next(struct stretch *stretch, struct fg_random *random)
{
	const struct recorded *recording = stretch->recording;
	const double pair =
		recorded_pairs[recording->begin + stretch->at++ % recording->count] / 1e4;

	return fg_random_below(random, 2) ? pair : -pair;
}

#endif
