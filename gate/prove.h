/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The card of a gate shows how far its verdicts can be trusted on one runner. It is made from whole
 * runs whose correct outcome is known: a build compared with itself, with a neutral relink, with a
 * copy that is slower by a known share, or with its earlier runs. Does no I/O, reads no clock and
 * keeps no state.
 */
#ifndef FG_GATE_PROVE_H
#define FG_GATE_PROVE_H

#include "model/run.h"
#include "model/verdict.h"

enum fg_proof_arm {
	FG_PROOF_SAME,    /* the build against itself */
	FG_PROOF_NEUTRAL, /* the build against itself relinked with code that is never called */
	FG_PROOF_PLANTED, /* the build against itself with a planted slowdown */
	FG_PROOF_STORED,  /* the build alone, against its earlier runs */
	FG_PROOF_ARMS,
};

/* Scatter of the pairs; NaN: unknown. */
struct fg_proof_noise {
	double middle; /* median of the pairs' logarithmic ratios */
	double pair;   /* standard deviation of a pair's logarithmic ratio */
	double quiet;  /* standard deviation in the quietest quarter of the pairs */
	/* the mean of m successive pairs has m^-exponent times the variance of a pair */
	double exponent;
};

/* One whole run. */
struct fg_proof {
	const char *benchmark;
	/* the planted function; NULL: no plant, or a delay of the whole program */
	const char *function;
	const char *symbol;
	const char *library;
	double per_iteration; /* relative slowdown per iteration of the loop */
	const char *blamed;   /* function that the run names first; NULL: no function was certain */
	enum fg_proof_arm arm;
	bool is_hidden; /* measured after a user's run, within a share of its budget */
	double size;    /* relative slowdown that was planted */
	enum fg_schedule schedule;
	enum fg_outcome outcome;
	double seconds;
	double pairs;
	double level_ns; /* mean time of a repetition */
	double estimate; /* logarithmic; NaN: unknown */
	double half;     /* distance from `estimate` to the lower end of the interval */
	double alpha;    /* probability that a correct gate fails equal code in this run */
	double min_effect;
	double layouts; /* number of layouts that pairs took in turn */
	int64_t at_ns;  /* wall clock */
	struct fg_proof_noise noise;
};

const char *fg_proof_arm_name(enum fg_proof_arm value);
bool fg_proof_arm_parse(const char *word, enum fg_proof_arm *value);
/* Returns false if the run has no pairs: a run without pairs proves nothing. */
bool fg_proof_counts(const struct fg_proof *proof);
/*
 * Is the outcome right? A run with a plant must end as a regression, and a run without a plant must
 * not. A delay leaves the code unchanged, so the outcome "placement" also counts as found.
 */
bool fg_proof_is_right(const struct fg_proof *proof);
/* Computes the noise of the pairs of a metric. */
void fg_proof_noise(const struct fg_series *series, const char *metric,
		    struct fg_proof_noise *noise);

enum {
	FG_PROOF_CARD_SIZES_MAX = 8,
};

/* A share of runs with its exact one-sided bounds, 95 % each. */
struct fg_proof_card_share {
	size_t hits;
	size_t runs;
	double at_least;
	double at_most;
};

struct fg_proof_card_size {
	double size;
	struct fg_proof_card_share found;
};

/* Causes that hide smaller slowdowns. */
enum fg_proof_card_limit {
	FG_LIMIT_LENGTH,
	FG_LIMIT_PAIRS,
	FG_LIMIT_NOISE,
	FG_LIMIT_LAYOUTS,
	FG_LIMIT_MIN_EFFECT,
	FG_LIMIT_COUNT,
};

/* A remedy, estimated from the measured parts of the variance. */
struct fg_proof_card_help {
	enum fg_proof_card_limit limit;
	double was;  /* current length in ns, pairs, pair or placement noise, or minimum effect */
	double by;   /* expected value with the remedy */
	double from; /* smallest slowdown that 95 % of the runs find, now and with the remedy */
	double to;
};

struct fg_proof_card {
	struct fg_proof_card_share alarms; /* false alarms among runs without a plant */
	struct fg_proof_card_size sizes[FG_PROOF_CARD_SIZES_MAX]; /* ascending */
	size_t size_count;
	double smallest; /* 95 % of the runs find this size and every larger one; NaN: none */
	double smallest_at_least;         /* lower bound of the share found at `smallest` */
	struct fg_proof_card_share named; /* plants that were named, among the plants found */
	double minutes;                   /* time per verdict */
	size_t runs;
	/*
	 * Evidence that the gate fails equal code more often than the runs' alphas allow: an
	 * e-value, which may be checked after every run. A correct gate reaches 20 with a
	 * probability of at most 5 %.
	 */
	double alarm_evidence;
	/*
	 * Evidence that the gate now finds half as many slowdowns of a size as before; at least 1.
	 * A slowdown that is found halves it. A missed slowdown raises it, and more if a larger
	 * share was found before.
	 */
	double blind_evidence;
	bool is_broken;       /* the evidence of either kind is conclusive */
	const char *limiting; /* benchmark that the remedies are for; NULL: unknown */
	struct fg_proof_card_help helps[FG_LIMIT_COUNT]; /* largest gain first */
	size_t help_count;
};

/* A benchmark's plan, which limits the possible remedies. */
struct fg_proof_card_plan {
	const char *benchmark;
	double max_pairs;
	double budget_s;
};

/* `card` borrows the name of the limiting benchmark from `plans`. */
void fg_proof_card_make(const struct fg_proof *proofs, size_t count,
			const struct fg_proof_card_plan *plans, size_t plan_count,
			struct fg_proof_card *card);

#endif
