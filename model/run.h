/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The raw data of a measurement. A run has benchmarks; a benchmark has repetitions; a repetition is
 * one execution of one arm with one value per metric. Repetitions with the same pair number belong
 * together (two of them in a duet, four in an ABBA block, one if only the candidate ran). Raw
 * values are kept, so every verdict can be recomputed.
 *
 * Each object owns its text and arrays; its release function frees them.
 */
#ifndef FG_MODEL_RUN_H
#define FG_MODEL_RUN_H

#include "model/build_facts.h"
#include "model/metric.h"
#include "model/plan.h"

enum fg_arm {
	FG_ARM_BASELINE,
	FG_ARM_CANDIDATE,
	FG_ARM_COUNT,
};

/*
 * Reasons to set a repetition aside. The rules are fixed in advance and never depend on its value.
 */
enum fg_aside {
	FG_ASIDE_WARMUP = 1 << 0,
	/* the sides of a duet overlapped for less than 80 % of the shorter side */
	FG_ASIDE_OVERLAP = 1 << 1,
	FG_ASIDE_STEAL = 1 << 2,     /* the host stole more than half of the CPU time */
	FG_ASIDE_SOLO = 1 << 3,      /* run alone, for the absolute level in a duet session */
	FG_ASIDE_TRIAL = 1 << 4,     /* measured while the schedule was chosen */
	FG_ASIDE_UNPAIRED = 1 << 5,  /* its partner could not be measured */
	FG_ASIDE_UNSAMPLED = 1 << 6, /* ran without the sampler, to measure its cost */
	FG_ASIDE_GIVEN_UP = 1 << 7,  /* measured in a schedule that `auto` abandoned */
	/* in the linker's own layout; measured again in several layouts */
	FG_ASIDE_ONE_LAYOUT = 1 << 8,
	FG_ASIDE_STRAY = 1 << 9, /* one side of a duet left processes running */
	FG_ASIDE_APART = FG_ASIDE_OVERLAP | FG_ASIDE_STRAY, /* not a fair duet */
};

/*
 * A build measured in several layouts has its code at 4, 8 or 16 offsets, and pair p runs at offset
 * p modulo their number. So p modulo FG_LINE_PLACES is the number of its offset within a cache
 * line.
 */
enum {
	FG_LINE_PLACES = 4, /* the build's own offset, and shifted by 16, 32 and 48 bytes */
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
	uint8_t position; /* start order within the pair or block */
	uint16_t aside;   /* enum fg_aside, or'ed; 0: the repetition counts */
	int16_t cpu;      /* CPU that the repetition was pinned to, or -1 */
	uint16_t padding; /* bytes of environment padding */
	bool sampled;
	int64_t started_ns; /* wall clock */
	uint64_t period_ns; /* the sampler's period; 0: not sampled */
	float load;         /* one-minute load average at the start */
	float steal;        /* share of time stolen by the host */
	float pressure;     /* share of time with CPU pressure (PSI some); NaN: unknown */
	double *values;     /* one per metric of the benchmark; NaN: not measured */
};

enum fg_measure_state {
	FG_MEASURED,     /* complete */
	FG_INTERRUPTED,  /* incomplete; can be resumed */
	FG_NOT_MEASURED, /* see `failure` */
};

/* The sampling rate of a series and its expected cost. All zero: not sampled. */
struct fg_sampling {
	double rate_hz;       /* samples per second of CPU time */
	double budget;        /* budget that the rate was chosen for; 0: the rate was given */
	double signal_ns;     /* cost of a signal on this host; 0: not measured */
	double handler_ns;    /* cost of the collector's handler per sample; 0: unknown */
	double switch_ns;     /* extra cost of a context switch due to the clock; 0: not measured */
	double switches_hz;   /* context switches per second of CPU time; 0: unknown */
	double start_share;   /* share of CPU time for the collector's start and end */
	double expected_cost; /* share of CPU time computed from the costs; NaN: unknown */
	char clock[80];       /* clock of the sampler; empty: unknown */
	char unseen[160];     /* time that the sampler's clock misses; empty: none, or unknown */
};

struct fg_exchange;

/* Writes or reads all members except `start_share`, which only a store keeps. */
bool fg_sampling_exchange(const struct fg_exchange *with, void *at);

/*
 * Notes on how a benchmark was measured, apart from its pairs. A verdict shows them in this order.
 */
enum fg_remark {
	FG_REMARK_INPUTS,    /* files that both sides read in the candidate's state */
	FG_REMARK_UNSAMPLED, /* why both sides were measured without the requested sampler */
	FG_REMARK_OUTSIDE,   /* how functions of a static program were sampled, or why not */
	FG_REMARK_COUNTS,    /* why requested events are not counted */
	FG_REMARK_CALLS,     /* why requested calls are not counted */
	FG_REMARK_DOMAINS,   /* arguments that only the candidate's functions get */
	FG_REMARK_ARGUMENTS, /* the candidate's arguments */
	FG_REMARK_HINTS,     /* advice about the arguments */
	FG_REMARK_EXACT,     /* the tool that counted instructions, or why no tool did */
	FG_REMARK_COUNT
};

/* One benchmark of a run. */
struct fg_series {
	char *name;
	char *command; /* as configured */
	enum fg_measure_state state;
	char *failure;      /* one line; NULL: measured */
	char *failure_tail; /* the program's last lines of output */
	enum fg_schedule schedule;
	bool only_in[FG_ARM_COUNT]; /* exists on one side only */
	bool identical;             /* both arms have the same binaries (all build-ids equal) */
	/* not measured: nothing that it executes or reads has changed */
	bool unaffected;
	/* why it was measured despite a request to skip unaffected benchmarks; may be NULL */
	char *affected;
	struct fg_metric *metrics; /* name, label and unit are owned here */
	size_t metric_count;
	struct fg_repetition *repetitions;
	size_t repetition_count;
	size_t repetition_capacity;
	double seconds; /* wall time spent on the series */
	struct fg_build_facts build[FG_ARM_COUNT];
	/* relative CPU cost, measured against unsampled repetitions; NaN: unknown */
	double sampler_cost;
	/*
	 * A benchmark that looked slower as linked is measured again in several layouts.
	 * as_linked_metric and as_linked keep the metric that looked slower, and its ratio as
	 * linked.
	 */
	char *as_linked_metric; /* NULL: one layout only; "": several layouts from the beginning */
	double as_linked;
	unsigned layouts;
	struct fg_sampling sampling;
	/* gate.creep at the time of the verdict; both 0: unknown */
	unsigned creep_window;
	double creep_tolerated;
	char *schedule_reason;          /* why `auto` chose the schedule, for people; may be NULL */
	char *remarks[FG_REMARK_COUNT]; /* NULL: no remark */
};

/* Takes ownership of the text; it replaces an earlier remark. */
void fg_series_remark(struct fg_series *series, enum fg_remark remark, char *text);

struct fg_side {
	char *commit; /* NULL: not in a repository */
	char *branch;
	char *describe; /* as named by the user: "merge-base", a ref, a run id, a command */
	bool dirty;
	/* facts shared by all benchmarks of this side, user-defined facts included */
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
	uint64_t seed; /* seed of all random choices in the run */
	char *tool_version;
	struct fg_series *series;
	size_t series_count;
};

/*
 * Initialises a new series with the built-in metrics, in the order of enum fg_metric_id. The caller
 * adds the user's metrics.
 */
void fg_series_init(struct fg_series *series, const char *name);
size_t fg_series_add_metric(struct fg_series *series,
			    const struct fg_metric *metric); /* copied; returns its index */
/* Returns the index by name, or SIZE_MAX. */
size_t fg_series_find_metric(const struct fg_series *series, const char *name);
/* True if the unit is a unit of time. A time of zero is not valid; a count may be zero. */
bool fg_metric_is_time(const struct fg_metric *metric);
/* True for a time that varies between repetitions, false for an exact time or a count. */
bool fg_metric_is_measured_time(const struct fg_metric *metric);
/* Adds a repetition with all values NaN; valid until the next repetition is added. */
struct fg_repetition *fg_series_add_repetition(struct fg_series *series);
/* Returns one more than the largest pair number in use. */
uint32_t fg_series_pair_end(const struct fg_series *series);
/* Returns the values of one arm that count (not set aside, finite). The caller frees them. */
double *fg_series_values(const struct fg_series *series, size_t metric, enum fg_arm arm,
			 size_t *count);
/* Returns the median of fg_series_values(); NaN if there are no values. `count` may be NULL. */
double fg_series_median(const struct fg_series *series, size_t metric, enum fg_arm arm,
			size_t *count);
void fg_series_release(struct fg_series *series);

void fg_side_copy(struct fg_side *to, const struct fg_side *from); /* `to` must be empty */
void fg_side_release(struct fg_side *side);

void fg_run_init(struct fg_run *run); /* empty, without an id */
struct fg_series *fg_run_add_series(struct fg_run *run, const char *name);
/* Adds a series without metrics for an imported profile, which was not measured. */
struct fg_series *fg_run_add_profile(struct fg_run *run, const char *name);
bool fg_series_is_profile(const struct fg_series *series);
struct fg_series *fg_run_find(const struct fg_run *run, const char *name); /* or NULL */
void fg_run_release(struct fg_run *run);

#endif
