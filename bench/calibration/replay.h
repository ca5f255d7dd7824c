/* SPDX-License-Identifier: Apache-2.0 */
/* Recorded pairs, and decisions replayed on random draws of them. */
#ifndef FG_BENCH_CALIBRATION_REPLAY_H
#define FG_BENCH_CALIBRATION_REPLAY_H

#include "base/random.h"
#include "model/policy.h"
#include "model/verdict.h"

struct execution {
	uint32_t pair;
	int arm;
	double cpu_ns;
	double wall_ns;
};

/* One file of the recorder, in execution order. */
struct recording {
	struct execution *items;
	size_t count;
	uint32_t pairs;
	double load; /* mean load average during the recording */
};

/* Returns false if the file is missing or empty. */
bool recording_load(const char *folder, const char *condition, const char *kind, int permille,
		    const char *schedule, struct recording *recording);
void recording_release(struct recording *recording);

struct recorded_pair {
	double difference; /* ln(candidate / baseline) of CPU time */
	double seconds;    /* duration */
};

/* Returns the pairs or ABBA blocks with both arms. The caller frees them. */
struct recorded_pair *recording_pairs(const struct recording *recording, size_t *count);

/* Returns the halves of ABBA blocks (A and its neighbour B) as pairs. The caller frees them. */
struct recorded_pair *recording_halves(const struct recording *recording, size_t *count);

struct replay {
	const struct recording *recording;
	const struct fg_policy *policy;
	unsigned max_pairs; /* 0: the default */
	bool swap;          /* both arms are the same binary: labels are drawn for each pair */
	double shift;       /* added to ln(candidate / baseline) of every pair */
};

struct decision {
	enum fg_outcome outcome;
	unsigned pairs;
	double ratio;
};

/*
 * Decides by the project's own rule (fg_gate_look) on pairs drawn with replacement, with the looks
 * of a run of up to max_pairs.
 */
struct decision replay_decide(const struct replay *replay, struct fg_random *random);

/* Another tool's rule: is `second` slower than `first`? */
struct rival {
	const char *name;
	const char *rule;
	const char *slower_rule; /* name of the rule for a program that is 5 % slower */
	size_t runs;             /* per side, by default */
	bool wall;               /* compares wall time; false: CPU time */
	bool (*is_slower)(const double *first, const double *second, size_t count);
};

extern const struct rival rivals[];
extern const size_t rival_count;

/*
 * Simulates how the other tool measures: executions of one side, then the same number of the other
 * side, from neighbouring stretches of an ABBA recording; fewer than the tool's default if the
 * recording is short. Returns false if the recording is too short.
 */
bool rival_decide(const struct rival *rival, const struct recording *recording,
		  struct fg_random *random, bool *slower);

#endif
