/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The decision and its reasons: made by gate/, kept by store/, printed by reporters/. Everything
 * lives in the verdict's arena. Ratios are candidate / baseline. Values of functions and call paths
 * are per repetition, in the unit of their measure; times are in milliseconds.
 */
#ifndef FG_MODEL_VERDICT_H
#define FG_MODEL_VERDICT_H

#include "base/arena.h"
#include "model/environment.h"
#include "model/metric.h"
#include "model/plan.h"
#include "model/run.h"
#include "model/source_listing.h"

/* In order of severity: the most severe outcome of any benchmark is the run's outcome. */
enum fg_outcome {
	FG_OUTCOME_PASS,
	FG_OUTCOME_NEW,
	FG_OUTCOME_MISSING,
	FG_OUTCOME_IMPROVEMENT,
	/* the same code at other addresses: slower or faster, but not because of the change */
	FG_OUTCOME_PLACEMENT,
	FG_OUTCOME_INCONCLUSIVE,
	/* no single change is to blame, but many small changes together */
	FG_OUTCOME_CREEP,
	FG_OUTCOME_REGRESSION,
	FG_OUTCOME_ERROR,
};

/* Exit codes are an interface (docs/exit-codes.md). */
enum fg_exit {
	FG_EXIT_PASS = 0,
	FG_EXIT_REGRESSION = 1,
	FG_EXIT_USAGE = 2,
	FG_EXIT_INCONCLUSIVE = 3,
	FG_EXIT_NOT_MEASURED = 4,
	FG_EXIT_UPLOAD = 5,
	FG_EXIT_INTERNAL = 6,
	FG_EXIT_INTERRUPTED = 130,
};

/* Remarks on a result, in order of importance. */
struct fg_notes {
	const char **items;
	size_t count;
	size_t capacity;
};

struct fg_metric_verdict {
	const char *name;
	const char *label;
	const char *unit;
	enum fg_better better;
	enum fg_outcome outcome;
	bool gated; /* counted towards the benchmark's outcome */
	/* false: not judged in this schedule (wall time in a duet); `outcome` is then pass */
	bool decided;
	bool exact;
	double baseline;  /* median of the repetitions that count; NaN: none */
	double candidate; /* baseline times ratio, or the median without a ratio */
	double ratio;     /* estimate; NaN: none */
	double low;       /* confidence interval at `alpha` */
	double high;
	double alpha;
	double min_effect;
	double margin;
	double smallest_detectable; /* relative; NaN: unknown */
	double p_value;             /* p-value of the decisive test; NaN: none */
	/* probabilities from the test that gave the interval */
	struct {
		bool is_known;
		double slower; /* probability that the change is above zero */
		double beyond; /* probability that the change is above min_effect */
	} probability;
	/*
	 * Standard error of log(`ratio`), from the trimmed means of the places within a cache line.
	 * 0: not measured in layouts, or a place has no pairs.
	 */
	double layout_error;
	/* log(candidate / baseline) from the pairs that every run measures; NaN: unknown */
	double step;
	double step_error; /* standard error of `step`; 0: exact */
	unsigned pairs;
	unsigned looks;
	/* the accepted regression that covers the change; does not affect the outcome */
	const struct fg_accept *accepted;
	struct fg_notes notes;
};

/*
 * The finding about a function. `guilty` and `faster` are certain: the test or exact counts show
 * the change, or no other hot code changed.
 */
enum fg_standing {
	FG_STANDING_UNCHANGED, /* the interval of its change is within the margin */
	FG_STANDING_NOT_SURE,
	FG_STANDING_MOVED, /* exchanged time with another function; the total did not grow */
	/* its time changed significantly, but its machine code and everything it calls did not */
	FG_STANDING_SAME_CODE,
	FG_STANDING_FASTER,
	FG_STANDING_GUILTY,
};

struct fg_path_verdict {
	const char **frames; /* from the root to the function */
	size_t frame_count;
	double delta;
	double low;
	double high;
	double p_adjusted;
	enum fg_outcome outcome;
};

/* The cause of a function's change. */
enum fg_mechanism_kind {
	FG_MECHANISM_UNKNOWN,
	FG_MECHANISM_CALLS,        /* called more (or less) often */
	FG_MECHANISM_INSTRUCTIONS, /* more (or fewer) instructions per call */
	FG_MECHANISM_CACHE,        /* more (or fewer) cache misses */
	FG_MECHANISM_BRANCHES,     /* more (or fewer) mispredicted branches */
	FG_MECHANISM_NOT_INLINED,  /* a callee is no longer inlined */
	FG_MECHANISM_NOT_VECTORISED,
	FG_MECHANISM_NOT_TAIL_CALLED,
	FG_MECHANISM_ALLOCATIONS, /* more (or fewer) allocations per call */
	FG_MECHANISM_WAITS,       /* waits for the kernel or a lock */
	FG_MECHANISM_PLACEMENT,
};

/* Decided by gate/mechanism.c. */
struct fg_mechanism {
	enum fg_mechanism_kind kind;
	const char *words; /* for people: "called 2.0 times as often (400 → 800)" */
	double counts[2];  /* the kind's events in baseline and candidate; NaN: none */
	double explains;   /* share of the function's measured change; NaN: unknown */
};

/* A function, library, region or call path. */
struct fg_node_verdict {
	const char *measure; /* measure of all its values: "cpu_time", "heap.allocations" */
	const char *unit;    /* unit of all its values: "ms" for times */
	const char *name;
	const char *library;
	const char *file; /* NULL: unknown */
	unsigned line;
	enum fg_outcome outcome;
	enum fg_standing standing;
	/* baseline, candidate; the time of a function includes its time in unchanged libraries */
	double self[2];
	double inclusive[2];
	/*
	 * candidate minus baseline, per repetition: self time of a function, self time of all
	 * functions of a library, inclusive time of a region
	 */
	double delta;
	double low;
	double high;
	/* share of the total difference, at most 1; NaN: unsure, or a part exceeds the total */
	double share_of_change;
	double p_adjusted;             /* family-wise; NaN: not tested */
	uint64_t samples;              /* pooled */
	struct fg_path_verdict *paths; /* largest first */
	size_t path_count;
	/* its lines on both sides and their costs per repetition; NULL: unknown */
	const struct fg_source_listing *source;
	/* its instructions on both sides; the file is the binary, a line is one instruction */
	const struct fg_source_listing *assembly;
	const struct fg_mechanism *mechanism; /* NULL: nothing was counted */
};

/* Combinations of changed work and changed time. */
enum fg_work {
	FG_WORK_SAME,
	FG_WORK_MORE,
	FG_WORK_SAME_SLOWER,
	FG_WORK_MORE_NOT_FELT,
	FG_WORK_LESS,
	FG_WORK_SAME_FASTER,
	FG_WORK_LESS_NOT_FELT,
};

/* Counts of the exact repetitions: baseline, candidate; per execution. */
struct fg_work_verdict {
	enum fg_work kind;
	double instructions[2]; /* outside the dynamic linker */
	double calls[2];        /* 0: not counted */
	double linker[2];       /* instructions in the dynamic linker */
	/* the function with the largest part of the difference; NULL: none */
	const char *function;
	/* the library function with more than half of the difference of `function`; NULL: none */
	const char *leaf;
	double function_instructions[2];
	double function_calls[2];
	struct fg_mechanism mechanism; /* valid if `function` is set */
};

/* Cost that moved from one place to another without a change of the total. */
struct fg_moved {
	const char *measure;
	const char *unit;
	const char *from;
	const char *to;
	const char *from_library; /* NULL: unknown */
	const char *to_library;
	const char *ancestor; /* the lowest unchanged caller */
	double amount;
	const char *kind; /* "extracted", "renamed", "inlined", "relinked", "moved" */
};

/* One measure's change, split over functions; the parts add up to the total. */
struct fg_blame {
	const char *measure; /* "heap.allocations" */
	const char *label;   /* "allocations" */
	const char *unit;
	bool exact;          /* repetitions of one side agree: the difference is exact */
	bool is_unexplained; /* the total changed significantly, but no single function's change is */
	/*
	 * sure changes, then unsure changes, then moved cost; each group by size, largest first
	 */
	struct fg_node_verdict *functions;
	size_t function_count;
	struct fg_node_verdict *libraries;
	size_t library_count;
	struct fg_node_verdict *regions;
	size_t region_count;
	struct fg_moved *moved;
	size_t moved_count;
	size_t functions_tested;
	double total_delta;  /* the total change; NaN: unknown, or parts do not add up (a peak) */
	double unattributed; /* the total minus all named functions */
	double everything_else; /* the total minus the sure functions: the last row of a list */
};

/* A commit that contributes to the creep. */
struct fg_creep_commit {
	const char *id;
	double change;      /* relative */
	double probability; /* probability that the commit made the metric worse */
};

struct fg_creep_function {
	const char *name;
	const char *library;
	double change;       /* growth of its share of the program's time */
	unsigned benchmarks; /* number of benchmarks in which it was tested */
};

/* The sum of the small steps of many commits; positive is worse. */
struct fg_creep_verdict {
	const char *metric;
	const char *label;
	const char *sentence; /* the whole finding as text for people */
	bool is_creep;
	double change; /* relative */
	double low;    /* 99.5 % interval */
	double high;
	double largest; /* largest single step */
	unsigned commits;
	const char *since;          /* tag or commit before the first step */
	struct fg_creep_commit *by; /* commits with the largest parts */
	size_t by_count;
	struct fg_creep_function *functions; /* functions that grew, largest first */
	size_t function_count;
};

struct fg_benchmark_verdict {
	const char *name;
	enum fg_outcome outcome;
	enum fg_exit exit_code; /* the run's exit code for this outcome, by the policy */
	enum fg_schedule schedule;
	unsigned pairs;
	unsigned set_aside;
	double seconds;
	bool identical;
	bool unaffected;        /* not measured: everything it executes and reads is unchanged */
	const char *error;      /* why it could not be measured, one line */
	const char *error_tail; /* the program's last lines of output */
	struct fg_metric_verdict *metrics;
	size_t metric_count;
	const char *only_changed;  /* the only hot function whose code changed, if none is guilty */
	struct fg_blame time;      /* CPU time, or wall time if the sampler's clock measured that */
	struct fg_blame *measures; /* other measures of the profile that changed */
	size_t measure_count;
	double sampler_cost; /* NaN: unknown */
	struct fg_sampling sampling;
	const struct fg_work_verdict *work;        /* NULL: not counted */
	const struct fg_creep_verdict *creep;      /* NULL: neither benchmark nor function crept */
	const struct fg_argument_table *arguments; /* NULL: arguments were not recorded */
	struct fg_notes notes;
};

struct fg_verdict {
	struct fg_arena arena;
	enum fg_outcome outcome;
	enum fg_exit exit_code;
	struct fg_benchmark_verdict *benchmarks;
	size_t benchmark_count;
	struct fg_fact_difference *environment_difference; /* copied text */
	size_t environment_difference_count;
	struct fg_notes notes;
};

const char *fg_outcome_name(enum fg_outcome value); /* "pass", "regression", ... */
const char *fg_work_name(enum fg_work value);       /* "more_work", ... */
bool fg_work_parse(const char *word, enum fg_work *value);
const char *fg_mechanism_name(enum fg_mechanism_kind value); /* "calls", "cache_misses", ... */
bool fg_mechanism_parse(const char *word, enum fg_mechanism_kind *value);
/* Writes the members as JSON, or reads them. */
bool fg_mechanism_exchange(const struct fg_exchange *with, void *at);
const char *fg_standing_name(enum fg_standing value); /* "guilty", "not sure", ... */
bool fg_standing_parse(const char *word, enum fg_standing *value);
/* True if the function's change is significant, whether or not its code changed. */
bool fg_standing_is_sure(enum fg_standing standing);
bool fg_outcome_parse(const char *word, enum fg_outcome *value);
enum fg_outcome fg_outcome_worse(enum fg_outcome a, enum fg_outcome b);
void fg_notes_add(struct fg_notes *notes, struct fg_arena *arena, const char *format, ...)
	FG_PRINTF(3, 4);
/* Returns NULL if the benchmark has no such metric. */
const struct fg_metric_verdict *fg_verdict_metric(const struct fg_benchmark_verdict *verdict,
						  const char *name);
void fg_verdict_release(struct fg_verdict *verdict);

#endif
