/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of a session, shared only by the files of runner/ that implement a job. */
#ifndef FG_RUNNER_JOB_H
#define FG_RUNNER_JOB_H

#include "model/coverage.h"
#include "runner/execute/execute.h"
#include "runner/runner.h"
#include "runner/schedule/choice.h"
#include "runner/schedule/sampling_rate.h"

struct fg_runner {
	struct fg_runner_options options;
	int *cpus;
	size_t cpu_count;
	char *launcher;               /* NULL: not found */
	char *collector;              /* NULL: not found */
	struct fg_error no_collector; /* the reason if `collector` is NULL */
	char *traces_folder;          /* absolute; holds one folder per repetition */
	bool busy;                    /* a job exists */
};

enum {
	FG_JOB_NOTES_MAX = 8
};

/* A block being executed, step by step. */
struct fg_pass {
	struct fg_runner_job *job;
	const struct fg_block *block;
	struct fg_execution executions[FG_BLOCK_SLOTS_MAX];
	struct fg_failure failure;
	struct fg_error error; /* the error that ended the block early */
	int64_t seen_ns;       /* the series' `seconds` include the time up to this moment */
	size_t first;          /* first slot of the last step */
	size_t next;           /* first slot of the next step */
	bool is_open;
	bool is_dirty;     /* the last step's cleanup has not run yet */
	bool counts;       /* the block is complete and counts for the verdict */
	bool to_hand_over; /* repetitions of the last step are still to be handed over */
	size_t series;     /* next series to hand over */
	size_t repetition; /* next repetition to hand over, in the block's part of the series */
};

/* One schedule in the trial of `auto`. */
struct fg_contender {
	struct fg_schedule_rules rules;
	struct fg_trial trial;
	unsigned refused; /* blocks that were not a fair duet (FG_ASIDE_APART) */
};

/* State of the trial of both schedules, in turn, for `auto`. */
struct fg_competition {
	struct fg_contender duet;
	struct fg_contender abba;
	struct fg_choice choice;
	unsigned rounds; /* maximum number of rounds */
	unsigned round;
	bool is_abbas_turn;
	bool is_over;
};

/* The stages of a job, in order. */
enum fg_job_stage {
	FG_JOB_LAYOUTS, /* remake the layouts of a series that was measured in several layouts */
	FG_JOB_WARMUP,
	FG_JOB_LOOK,    /* `auto`: one execution of each arm, if the warm-up was not informative */
	FG_JOB_COMPETE, /* `auto`: both schedules in turn */
	FG_JOB_READY,   /* final settings before the first pair */
	FG_JOB_PAIR,
	FG_JOB_SOLO,
	FG_JOB_COST,
};

struct fg_runner_job {
	struct fg_runner *runner;
	const struct fg_benchmark *benchmark;
	struct fg_executor executor;
	struct fg_extractor *extractor;
	struct fg_schedule_rules rules;
	size_t *series; /* indexes into the run */
	size_t series_count;
	bool has_cases; /* a harness reported cases: the first series is named after a case */
	bool failed;
	bool interrupted;
	enum fg_job_stage stage;
	struct fg_block block; /* planned or being executed */
	bool is_planned;       /* `block` was announced and is next */
	bool has_restarted;    /* the pairs so far were given up, which is still to be reported */
	struct fg_pass pass;
	struct fg_competition competition;
	struct fg_coverage coverage[FG_ARM_COUNT]; /* sampled shares before the first pair */
	bool keeps_rate;                           /* the rate comes from an earlier session */
	double seconds_before;                     /* time spent until the beginning of the block */
	uint32_t next_pair;                        /* pair number of the next block */
	uint32_t warmups;                          /* warm-up blocks so far */
	uint32_t pairs;                            /* measured pairs, whether they count or not */
	uint32_t solos;                            /* solo blocks so far */
	uint32_t costs;                            /* cost blocks so far */
	unsigned counting;                         /* pairs that count */
	/*
	 * One bit for each of the last 32 measured pairs, bit 0 for the newest pair. Set: the pair
	 * was not a fair duet (FG_ASIDE_APART).
	 */
	uint32_t apart;
	uint32_t given_up; /* measured pairs before the schedule or the layouts last changed */
	uint32_t timed;    /* number of pairs averaged in pair_seconds */
	unsigned wanted;
	bool exceeds_budget; /* the budget no longer ends the job */
	/*
	 * Time and pairs before the limits last started over: with `until_sure` at the start of a
	 * session, and when the benchmark is measured again in layouts.
	 */
	double earlier_seconds;
	unsigned earlier_counting;
	uint32_t earlier_pairs;
	double pair_seconds; /* mean over the measured pairs */
	uint16_t last_aside; /* `aside` of the last recorded block */
	/*
	 * share of its time in which the program kept exactly one CPU busy when it last ran alone
	 */
	double busy[FG_ARM_COUNT];
	double *cost_ratios; /* ln(sampled / unsampled) of the cost blocks */
	size_t cost_count;
	size_t cost_capacity;
	struct fg_sample_cost sample_cost; /* from the traces of the warm-up */
	char *notes[FG_JOB_NOTES_MAX];
	size_t note_count;
	size_t notes_passed;
};

/*
 * Removes a folder of traces that were read, unless the user keeps traces. A folder that cannot be
 * removed is not an error.
 */
void fg_runner_remove_traces(const struct fg_runner *runner, const char *folder);
/* Returns the first, usually only, series. Valid until a series is added. */
struct fg_series *fg_job_series(const struct fg_runner_job *job);
void fg_job_note(struct fg_runner_job *job, const char *note);
/* Keeps the pairs so far but no longer counts them, because schedules are never mixed. */
void fg_job_set_aside(struct fg_runner_job *job, enum fg_aside why);

/* Marks the benchmark as not measurable, with the reason in its series. Empties the failure. */
void fg_job_fail(struct fg_runner_job *job, struct fg_failure *failure);

/*
 * start.c: creates the series, and sets the arms and the rules of the schedule as configured.
 * Executes nothing.
 */
void fg_job_init(struct fg_runner_job *job);
/* FG_ECHILD: the benchmark failed. */
int fg_job_prepare(struct fg_runner_job *job, struct fg_error *err) FG_NODISCARD;

/* block.c: starts job->block. */
void fg_job_begin_block(struct fg_runner_job *job);
/*
 * Executes the next step of the block, or ends it (`is_open` is then false). FG_ECHILD: the
 * benchmark failed, and its series has the reason.
 */
int fg_job_step(struct fg_runner_job *job, struct fg_error *err) FG_NODISCARD;
/* Ends the block early, if one is open. */
void fg_job_abandon_block(struct fg_runner_job *job);
/*
 * Sets means[arm] to the mean of a metric over the arm's repetitions in the last recorded block,
 * NaN if the arm has no repetitions.
 */
void fg_job_last_means(const struct fg_runner_job *job, enum fg_metric_id metric,
		       double means[FG_ARM_COUNT]);

/*
 * record.c: records the successful slots of the last step as repetitions of the series, and settles
 * a block that is now complete.
 */
void fg_job_record(struct fg_pass *pass);
bool fg_job_hand_over(struct fg_pass *pass, struct fg_runner_event *event);

/*
 * job_layouts.c: makes the layouts of a series that is measured in several layouts. FG_ELIMIT:
 * fewer layouts can be linked now than before. On failure the message has the reason.
 */
int fg_job_make_layouts(struct fg_runner_job *job, struct fg_error *err) FG_NODISCARD;

/*
 * plan.c: puts the next block into job->block (FG_RUNNER_BEGINS), or returns the state that ends
 * the series.
 */
int fg_job_plan(struct fg_runner_job *job, enum fg_runner_state *state, struct fg_error *err)
	FG_NODISCARD;
/* plan.c: accounts for a block that succeeded. */
void fg_job_take_block(struct fg_runner_job *job);

/* start.c: called before the first execution, after the warm-up, and before the first pair. */
int fg_job_resume_layouts(struct fg_runner_job *job, struct fg_error *err) FG_NODISCARD;
void fg_job_settle_rate(struct fg_runner_job *job);
void fg_job_settle_coverage(struct fg_runner_job *job);

/* trial.c, for FG_SCHEDULE_AUTO: did the warm-up show how each arm uses the CPU? */
bool fg_job_knows_program(const struct fg_runner_job *job);
/* Settles the schedule, or starts a competition in job->competition. */
void fg_job_begin_choice(struct fg_runner_job *job);
/* Puts the next observation into job->block; false: the schedule is settled. */
bool fg_job_plan_trial(struct fg_runner_job *job);
void fg_job_take_trial(struct fg_runner_job *job);
/*
 * trial.c: switches to ABBA if `auto` chose the duet and too many of its pairs are not fair duets
 * (FG_ASIDE_APART). Call after each measured pair; true if the duet's pairs were given up.
 */
bool fg_job_reconsider(struct fg_runner_job *job);

#endif
