/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of a session: shared by runner.c, start.c, record.c and trial.c only. */
#ifndef FG_RUNNER_JOB_H
#define FG_RUNNER_JOB_H

#include "model/coverage.h"
#include "runner/execute.h"
#include "runner/links_beside.h"
#include "runner/runner.h"
#include "runner/sample_price.h"

struct fg_runner {
	struct fg_runner_options options;
	int *cpus;
	size_t cpu_count;
	char *launcher;               /* NULL: not found */
	char *collector;              /* NULL: not found */
	struct fg_error no_collector; /* why */
	char *traces_folder;          /* absolute, below it one folder per repetition */
	bool busy;                    /* a job is under way */
	/* of the job under way, before its pairs */
	struct fg_coverage coverage[FG_ARM_COUNT];
};

enum {
	FG_JOB_NOTES_MAX = 8
};

struct fg_runner_job {
	struct fg_runner *runner;
	const struct fg_benchmark *benchmark;
	struct fg_executor executor;
	struct fg_extractor *extractor;
	struct fg_schedule_rules rules;
	size_t *series; /* indexes into the run */
	size_t series_count;
	bool has_cases; /* of a harness: the first series has got its name */
	bool failed;
	bool interrupted;
	uint32_t next_pair; /* number under which the next block is recorded */
	uint32_t warmups;   /* blocks of each kind so far */
	uint32_t pairs;     /* measured, counting or not */
	uint32_t solos;
	uint32_t costs;
	unsigned counting; /* pairs that count */
	/* A bit for each measured pair, the newest lowest: set aside for too little overlap. */
	uint32_t apart;
	uint32_t given_up; /* measured pairs, in a schedule that was given up */
	uint32_t timed;    /* pairs behind pair_seconds */
	unsigned wanted;
	/*
	 * With `until_sure`, what earlier sessions did: each may use the full budget and number of
	 * pairs.
	 */
	double earlier_seconds;
	unsigned earlier_counting;
	uint32_t earlier_pairs;
	double pair_seconds; /* mean of the measured ones */
	uint16_t last_aside; /* of the last recorded block */
	/* share of its time that the program kept exactly one CPU busy, last run alone */
	double busy[FG_ARM_COUNT];
	double *cost_ratios; /* ln(sampled / unsampled) of the cost blocks */
	size_t cost_count;
	size_t cost_capacity;
	struct fg_sample_costs sample_costs; /* from the traces of the warm-up */
	bool links_are_due;                  /* more layouts are to be made beside the pairs */
	struct fg_links_beside *links;       /* they are being made; NULL: not now */
	struct fg_layouts_options links_options[FG_ARM_COUNT];
	uint32_t first_in_layouts;     /* number of the first block in them */
	char *notes[FG_JOB_NOTES_MAX]; /* said already */
	size_t note_count;
};

/* The first (usually only) series.  Valid until a series is added. */
/*
 * A folder of traces that were taken in; it stays where the user keeps traces, or it cannot be
 * removed.
 */
void fg_runner_remove_traces(const struct fg_runner *runner, const char *folder);
struct fg_series *fg_job_series(const struct fg_runner_job *job);
void fg_job_note(struct fg_runner_job *job, const char *note);
void fg_job_progress(const struct fg_runner_job *job, enum fg_runner_phase phase);

/* The executor's `on_stuck`: hands it to the session's. */
void fg_job_explain_stuck(void *context, pid_t pid, char **summary, char **stacks);
/* And its `on_crash`. */
void fg_job_explain_crash(void *context, const struct fg_process_options *options, int signal,
			  char **summary, char **stacks);

/* The benchmark cannot be measured: its series says why.  Empties the failure. */
void fg_job_fail(struct fg_runner_job *job, struct fg_failure *failure);

/*
 * start.c: the series, the arms as configured and the rules of the schedule; then everything up to
 * the first pair that counts.
 */
void fg_job_init(struct fg_runner_job *job);
/* FG_ECHILD: the benchmark failed. */
int fg_job_prepare(struct fg_runner_job *job, struct fg_error *err) FG_NODISCARD;

/*
 * Execute, record, tell: one block of any kind.  FG_ECHILD: the benchmark failed, which its series
 * says by now.
 */
int fg_job_block(struct fg_runner_job *job, struct fg_block *block, struct fg_error *err)
	FG_NODISCARD;
/*
 * A metric's values in the last recorded block, NaN where there are none: [arm] holds the mean of
 * its repetitions.
 */
void fg_job_last_means(const struct fg_runner_job *job, enum fg_metric_id metric,
		       double means[FG_ARM_COUNT]);

/* A block while it is executed. */
struct fg_pass {
	struct fg_runner_job *job;
	const struct fg_block *block;
	struct fg_execution executions[FG_BLOCK_SLOTS_MAX];
	int64_t seen_ns; /* up to here its time is in the series */
	bool counts;     /* it is whole, and good for the verdict */
};

/*
 * record.c: the slots that have ended into repetitions of the series; a block that is whole by now
 * is settled.
 */
int fg_job_record(struct fg_pass *pass, size_t first, size_t count, struct fg_error *err)
	FG_NODISCARD;

/*
 * job_layouts.c: for a series that is measured in several layouts, make them.  FG_ECHILD and the
 * like: there are none, and the message says why.
 */
int fg_job_make_layouts(struct fg_runner_job *job, struct fg_error *err) FG_NODISCARD;
/* job_layouts.c: before each block, while layouts are being made beside the pairs. */
void fg_job_link_beside(struct fg_runner_job *job, const struct fg_block *block);

/* trial.c: settle FG_SCHEDULE_AUTO. */
int fg_job_choose(struct fg_runner_job *job, struct fg_error *err) FG_NODISCARD;
/*
 * trial.c: `auto` chose the duet, and most of its pairs do not count: go over to ABBA.  After each
 * measured pair.
 */
int fg_job_reconsider(struct fg_runner_job *job, struct fg_error *err) FG_NODISCARD;

#endif
