/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was measured.  A run has benchmarks; a benchmark has repetitions; a repetition is one
 * execution of one arm with one value per metric.  Repetitions with the same pair number belong
 * together (two of them in a duet, four in an ABBA block, one where only the candidate ran).  Raw
 * values are kept, so every verdict can be recomputed.
 *
 * Text and arrays are owned by the object they hang from and freed by its release function.
 */
#ifndef FG_MODEL_RUN_H
#define FG_MODEL_RUN_H

#include "model/environment.h"
#include "model/metric.h"
#include "model/plan.h"

enum fg_arm {
	FG_ARM_BASELINE,
	FG_ARM_CANDIDATE,
	FG_ARM_COUNT,
};

/*
 * Why a repetition does not count. These rules are fixed in advance and never depend on its value.
 */
enum fg_aside {
	FG_ASIDE_WARMUP = 1 << 0,
	FG_ASIDE_OVERLAP =
		1 << 1, /* a duet that ran side by side for less than 80 % of the shorter life */
	FG_ASIDE_STEAL = 1 << 2,     /* the host took more than half of the CPU away */
	FG_ASIDE_SOLO = 1 << 3,      /* run alone, for the absolute level, in a duet session */
	FG_ASIDE_TRIAL = 1 << 4,     /* schedule finding */
	FG_ASIDE_UNPAIRED = 1 << 5,  /* its partner could not be measured */
	FG_ASIDE_UNSAMPLED = 1 << 6, /* ran without the sampler, to know its cost */
	FG_ASIDE_GIVEN_UP = 1 << 7,  /* of a schedule that `auto` gave up in mid-run */
	/* in the one layout that the linker chose; it was measured again in several */
	FG_ASIDE_ONE_LAYOUT = 1 << 8,
	FG_ASIDE_UNCONFIRMED = 1 << 9, /* it failed, not surely enough, and was measured again */
};

/*
 * A build that is measured in several layouts has its code in 4, 8 or 16 places, and pair p runs in
 * place p modulo their number: so p modulo 4 is its place within a cache line.
 */
enum {
	FG_LINE_PLACES = 4, /* the build's own, and shifted by 16, 32 and 48 bytes */
	FG_LAYOUTS_MAX = 16,
};

/*
 * False for warm-ups, trials, solo runs and runs that measure the sampler's cost; true for every
 * other reason.
 */
bool fg_aside_was_meant_to_count(uint16_t aside);

struct fg_repetition {
	uint32_t pair;
	uint8_t arm;      /* enum fg_arm */
	uint8_t position; /* order of start within the pair or block */
	uint16_t aside;   /* enum fg_aside, or'ed; 0: counts */
	int16_t cpu;      /* pinned to, or -1 */
	uint16_t padding; /* bytes of environment padding */
	bool sampled;
	int64_t started_ns; /* wall clock */
	uint64_t period_ns; /* of the sampler; 0: not sampled */
	float load;         /* one-minute load average at its start */
	float steal;        /* share of the time stolen by the host while it ran */
	float pressure;     /* share of time with CPU pressure (PSI some), NaN: unknown */
	double *values;     /* one per metric of the benchmark; NaN: not measured */
};

enum fg_measure_state {
	FG_MEASURED,     /* complete */
	FG_INTERRUPTED,  /* some repetitions are there; can be resumed */
	FG_NOT_MEASURED, /* `failure` says why */
};

/* How often a series was sampled, and what that should cost.  Zeros: not sampled. */
struct fg_sampling {
	double rate_hz;       /* samples a second of CPU time */
	double budget;        /* that the rate was chosen for; 0: the rate was asked for */
	double signal_ns;     /* the price of a signal on this host; 0: not measured */
	double handler_ns;    /* of the collector's work for a sample; 0: not known */
	double switch_ns;     /* what its clock adds to a context switch here; 0: not measured */
	double switches_hz;   /* context switches a second of CPU time; 0: not known */
	double start_share;   /* of the CPU time, for the start of the collector, and its end */
	double interrupts;    /* a sample that raise no signal; learned, not kept with the run */
	double expected_cost; /* share of the CPU time, by these prices; NaN: not known */
	char clock[80];       /* what drove the sampler; empty: not known */
	char unseen[160];     /* what this clock cannot see; empty: nothing, or not known */
};

/* One benchmark of a run. */
/*
 * Sentences for people about how a benchmark was measured apart from its pairs, in the order in
 * which a verdict shows them.
 */
enum fg_remark {
	FG_REMARK_UNSAMPLED, /* why both sides were measured without the requested sampler */
	FG_REMARK_OUTSIDE,   /* where the functions of a static program come from, or why none */
	FG_REMARK_COUNTS,    /* why requested events are not counted */
	FG_REMARK_CALLS,     /* why requested calls are not counted */
	FG_REMARK_DOMAINS,   /* arguments that only the candidate's functions get */
	FG_REMARK_ARGUMENTS, /* the candidate's arguments */
	FG_REMARK_HINTS,     /* advice about them */
	FG_REMARK_EXACT,     /* what counted instructions, or why nothing did */
	FG_REMARK_COUNT
};

struct fg_series {
	char *name;
	char *command; /* as configured */
	enum fg_measure_state state;
	char *failure;        /* one line; NULL unless not measured */
	char *failure_tail;   /* the program's last lines of output */
	char *failure_stacks; /* where its threads stood, line by line; NULL: not known */
	enum fg_schedule schedule;
	bool only_in[FG_ARM_COUNT]; /* exists on one side only */
	bool identical;             /* the same binaries (build-ids throughout) in both arms */
	/* not measured: nothing that it executes or reads is another in the candidate */
	bool unaffected;
	char *affected; /* why it was measured all the same, where that was asked; may be NULL */
	struct fg_metric *metrics; /* name, label and unit are owned here */
	size_t metric_count;
	struct fg_repetition *repetitions;
	size_t repetition_count;
	size_t repetition_capacity;
	double seconds; /* wall time spent on it */
	/* of its binaries: compiler, flags, build-id, libraries */
	struct fg_environment build[FG_ARM_COUNT];
	/* relative CPU cost measured against unsampled repetitions; NaN: unknown */
	double sampler_cost;
	/*
	 * Measured in several layouts in turn: from the beginning, or anew because it looked slower
	 * as it was linked.  Then: which metric, and candidate / baseline as linked.
	 */
	char *as_linked_metric; /* NULL: it was measured as it was linked, and no more; "": never */
	double as_linked;
	unsigned layouts; /* how many */
	struct fg_sampling sampling;
	char *schedule_reason;          /* why `auto` chose it, for people; may be NULL */
	char *remarks[FG_REMARK_COUNT]; /* NULL: nothing to say */
};

/* Takes ownership of the text; it replaces an earlier one. */
void fg_series_remark(struct fg_series *series, enum fg_remark remark, char *text);

struct fg_side {
	char *commit; /* NULL: not in a repository */
	char *branch;
	char *describe; /* what the user named: "merge-base", a ref, a run id, a command */
	bool dirty;
	/* what is common to all benchmarks of this side, the user's facts among them */
	struct fg_environment build;
};

struct fg_run {
	char id[37]; /* time-ordered UUID */
	char *project;
	int64_t started_ns; /* wall clock */
	int64_t ended_ns;
	bool complete;
	bool has_baseline; /* both arms were measured in this run */
	struct fg_side sides[FG_ARM_COUNT];
	struct fg_environment host;
	uint64_t seed; /* of everything random in it */
	char *tool_version;
	struct fg_series *series;
	size_t series_count;
};

/*
 * Metrics of a new series: the built-in ones (in the order of enum fg_metric_id), then the user's.
 */
void fg_series_init(struct fg_series *series, const char *name);
size_t fg_series_add_metric(struct fg_series *series,
			    const struct fg_metric *metric); /* copied; returns its index */
/* Index by name, or SIZE_MAX. */
size_t fg_series_find_metric(const struct fg_series *series, const char *name);
/* A time that was measured, not counted. */
bool fg_metric_is_measured_time(const struct fg_metric *metric);
/* A new repetition with all values NaN; valid until the next one is added. */
struct fg_repetition *fg_series_add_repetition(struct fg_series *series);
/* Are pairs of it FG_ASIDE_UNCONFIRMED? */
bool fg_series_is_measured_anew(const struct fg_series *series);
/* One past the largest pair number in use. */
uint32_t fg_series_pair_end(const struct fg_series *series);
/* The values of one arm that count: not set aside, finite.  To be freed. */
double *fg_series_values(const struct fg_series *series, size_t metric, enum fg_arm arm,
			 size_t *count);
/* Their median; NaN if there are none. `count` may be NULL. */
double fg_series_median(const struct fg_series *series, size_t metric, enum fg_arm arm,
			size_t *count);
void fg_series_release(struct fg_series *series);

void fg_side_copy(struct fg_side *to, const struct fg_side *from); /* into an empty one */
void fg_side_release(struct fg_side *side);

void fg_run_init(struct fg_run *run); /* empty, no id */
struct fg_series *fg_run_add_series(struct fg_run *run, const char *name);
struct fg_series *fg_run_find(const struct fg_run *run, const char *name); /* or NULL */
void fg_run_release(struct fg_run *run);

#endif
