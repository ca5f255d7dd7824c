/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the commit that made a program slower: computes a posterior over the commits from pairs
 * that compare commits with the good end.
 *
 * The level of the program (ln of its cost relative to the good end) is a step function over the
 * commits: it starts at 0 and jumps at a few commits, to any level. A hidden Markov model over a
 * grid of levels gives the probability of every history of levels; noise is Student's t, so
 * outliers count little. In each history, the step that counts for a level is the last commit that
 * raised the program above it for good, so a slowdown that was reverted within the range explains
 * nothing. A commit's probability is the expected share of the whole change that it explains; the
 * probabilities of all commits add up to 1.
 *
 * The next commit to measure is the one that gives the most information per second about the
 * positions of the steps; the time of builds counts. docs/finding-a-commit.md gives the figures.
 *
 * 	fill commits, the last one with the pairs of the ends
 * 	do {
 * 		fg_bisect_look(&bisect, &look, err)
 * 		build and measure commit look.next, add its pairs, or set is_unmeasured
 * 	} while (look.state == FG_BISECT_MEASURE)
 *
 * Does no I/O, reads no clock, and keeps no state except in the caller's structs.
 */
#ifndef FG_GATE_BISECT_H
#define FG_GATE_BISECT_H

#include "base/error.h"
#include "model/profile_set.h"
#include "model/run.h"

enum {
	FG_BISECT_COMMITS_MAX = 5000,
	FG_BISECT_STEPS_MAX = 8,
	FG_BISECT_VISIT_MAX = 64, /* maximum number of pairs measured in one visit of a commit */
};

struct fg_bisect_commit {
	double weight; /* prior weight relative to the other commits; above 0 */
	/* cannot be built or run, so it counts with the next commit that can be measured */
	bool is_unmeasured;
	/* has the same code as the nearest earlier commit that can be measured */
	bool is_same;
	bool is_built;       /* measuring it costs no build */
	double *differences; /* per pair: ln(commit / good end), positive is worse */
	size_t pair_count;
	size_t pair_capacity;
};

struct fg_bisect {
	/* oldest first, without the good end; the last commit is the bad end, which has pairs */
	struct fg_bisect_commit *commits;
	size_t count;
	bool is_exact;        /* one value per commit, without noise */
	double build_seconds; /* time to build one commit */
	double visit_seconds; /* time before a visit's first pair: warm-up */
	double pair_seconds;
};

enum fg_bisect_state {
	FG_BISECT_MEASURE, /* measure `pairs` more pairs of `next` */
	FG_BISECT_FOUND,   /* the steps explain enough of the whole change */
	FG_BISECT_OPEN,    /* no measurement would add much information */
};

/* A step that one of the commits from `first` to `last` made; only `last` can be measured. */
struct fg_bisect_step {
	size_t first;
	size_t last;
	double probability;
	double size; /* expected size, as a logarithm */
};

struct fg_bisect_look {
	enum fg_bisect_state state;
	size_t next;
	unsigned pairs;
	double *probability; /* per commit; owned */
	/* number of the most probable commits that together hold 95 % of the probability */
	size_t left;
	double whole;     /* change from good to bad end, as a logarithm */
	double explained; /* share of `whole` that `steps` explain */
	struct fg_bisect_step steps[FG_BISECT_STEPS_MAX]; /* oldest first */
	size_t step_count;
};

/* FG_EINVAL: no commits, too many, or the bad end has no pairs or is not worse. */
int fg_bisect_look(const struct fg_bisect *bisect, struct fg_bisect_look *look,
		   struct fg_error *err) FG_NODISCARD;
void fg_bisect_look_release(struct fg_bisect_look *look);

void fg_bisect_add(struct fg_bisect_commit *commit, double difference);
/* Adds a metric's valid pairs, from a series whose baseline is the good end. */
void fg_bisect_take_metric(struct fg_bisect_commit *commit, const struct fg_series *series,
			   const char *metric);

/* A cost in the profile of a series whose baseline is the good end. */
struct fg_bisect_cost {
	const struct fg_profile_set *profile; /* may be NULL: no pairs */
	const char *measure;  /* exact measure, giving a single difference; NULL: time */
	const char *function; /* cost including callees; NULL: the whole program */
};

void fg_bisect_take_costs(struct fg_bisect_commit *commit, const struct fg_bisect_cost *cost);
/* Do the commit's pairs show that it is worse? Used for costs, which have no verdict. */
bool fg_bisect_is_worse(const struct fg_bisect_commit *commit);
void fg_bisect_release(struct fg_bisect *bisect);

#endif
