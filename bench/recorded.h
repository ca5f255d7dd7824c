/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recorded pairs of a program with its own copy, drawn in stretches: neighbouring pairs stay
 * neighbours, so what disturbs several of them does so here, too.  Each recording is centred, since
 * both sides are the same program.
 */
#ifndef FG_BENCH_RECORDED_H
#define FG_BENCH_RECORDED_H

#include "base/random.h"
#include "tests/unit/gate/recorded_pairs.h"

#include <math.h>
#include <string.h>

enum {
	RECORDED_LEAST = 100, /* pairs of a recording that is drawn from */
};

struct stretch {
	const struct recorded *recording;
	double center;
	size_t at;
};

static inline bool is_of(const struct recorded *recording, const char *program)
{
	return recording->count >= RECORDED_LEAST && strcmp(recording->program, program) == 0;
}

static inline double recorded_mean(const struct recorded *recording, double center, double power)
{
	double sum = 0;

	for (size_t i = 0; i < recording->count; i++)
		sum += pow(recorded_pairs[recording->begin + i] / 1e4 - center, power);
	return sum / (double)recording->count;
}

/* Standard deviation of a pair of this program. */
static inline double recorded_spread(const char *program)
{
	double sum = 0;
	size_t count = 0;

	for (size_t i = 0; i < RECORDED_SERIES; i++) {
		if (!is_of(&recorded[i], program))
			continue;
		sum += recorded_mean(&recorded[i], recorded_mean(&recorded[i], 0, 1), 2);
		count++;
	}
	return sqrt(sum / (double)count);
}

/* Begins anywhere in any recording of the program. */
static inline void stretch_begin(struct stretch *stretch, const char *program,
				 struct fg_random *random)
{
	do
		stretch->recording = &recorded[fg_random_below(random, RECORDED_SERIES)];
	while (!is_of(stretch->recording, program));
	stretch->center = recorded_mean(stretch->recording, 0, 1);
	stretch->at = fg_random_below(random, (uint32_t)stretch->recording->count);
}

static inline double stretch_next(struct stretch *stretch)
{
	const struct recorded *recording = stretch->recording;
	const double pair =
		recorded_pairs[recording->begin + stretch->at++ % recording->count] / 1e4;

	return pair - stretch->center;
}

#endif
