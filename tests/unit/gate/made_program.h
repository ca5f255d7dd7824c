/* SPDX-License-Identifier: Apache-2.0 */
/* A synthetic program with call paths, sampled once a millisecond, for tests of blame. */
#ifndef FG_TESTS_GATE_MADE_PROGRAM_H
#define FG_TESTS_GATE_MADE_PROGRAM_H

#include "tests/unit/gate/made_run.h"

enum {
	FG_MADE_SMALL = 40,
	FG_MADE_NODES = 8 + FG_MADE_SMALL,
};

/* A fact of both builds; the array ends with a key of NULL. */
struct fg_made_fact {
	const char *key;
	const char *baseline;
	const char *candidate;
};

struct fg_made_program {
	const struct fg_made_fact *facts;
	const char *functions; /* the candidate's fact build.functions, or NULL */
	struct fg_made made;
	struct fg_profile_set set;
	const struct fg_profile_set *sets[1];
	uint32_t nodes[FG_MADE_NODES]; /* call paths with their own time */
	double ms[2][FG_MADE_NODES];   /* per arm */
	size_t count;
	double spent_ns;       /* CPU time of the last repetition */
	const double *layouts; /* candidate's factor at each line offset; NULL: one layout */
};

/* Empties a program, which must be zeroed before its first use. */
void fg_made_program_init(struct fg_made_program *p, uint64_t seed);
/* Starts anew with main → work, which takes `ms` itself; returns work's call path. */
uint32_t fg_made_work(struct fg_made_program *p, uint64_t seed, double ms);
/* Adds a call path in the program itself, with its milliseconds in each build. */
uint32_t fg_made_node(struct fg_made_program *p, uint32_t parent, const char *name, double before,
		      double after);
/* Adds a call path in this library, with its milliseconds in each build. */
uint32_t fg_made_node_of(struct fg_made_program *p, uint32_t parent, const char *library,
			 const char *name, double before, double after);
/* Adds many call paths of two milliseconds each. */
void fg_made_small_ones(struct fg_made_program *p, uint32_t parent);
/* Measures the pairs; CPU time is the sum of the rows. */
const struct fg_benchmark_verdict *fg_made_measure(struct fg_made_program *p, uint32_t pairs);
const struct fg_node_verdict *fg_made_find(const struct fg_benchmark_verdict *b, const char *name);

#endif
