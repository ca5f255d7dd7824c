/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of a session: shared by the files of runner/ that make up a job only. */
#ifndef FG_RUNNER_JOB_H
#define FG_RUNNER_JOB_H

#include "model/coverage.h"
#include "runner/build/links_beside.h"
#include "runner/execute/execute.h"
#include "runner/runner.h"
#include "runner/schedule/choice.h"
#include "runner/schedule/sample_price.h"

struct fg_runner {
	struct fg_runner_options options;
	int *cpus;
	size_t cpu_count;
	char *launcher;               /* NULL: not found */
	char *collector;              /* NULL: not found */
	struct fg_error no_collector; /* why */
	char *traces_folder;          /* absolute, below it one folder per repetition */
	bool busy;                    /* a job is under way */
};

enum {
	FG_JOB_NOTES_MAX = 8
};

/* A block while it is executed, step by step. */
struct fg_pass {
	struct fg_runner_job *job;
	const struct fg_block *block;
	struct fg_execution executions[FG_BLOCK_SLOTS_MAX];
	struct fg_failure failure;
	struct fg_error error; /* what ended it early */
	int64_t seen_ns;       /* up to here its time is in the series */
	size_t first;          /* slots of the last step: from here */
	size_t next;           /* to before this one */
	bool is_open;
	bool is_dirty;     /* the last step's cleanup is due */
	bool counts;       /* it is whole, and good for the verdict */
	bool to_hand_over; /* repetitions of the last step: from this one on */
	size_t series;
	size_t repetition;
};

/* One schedule in the trial of `auto`. */
struct fg_contender {
	struct fg_schedule_rules rules;
	struct fg_trial trial;
	unsigned refused; /* set aside for too little overlap */
};

/* `auto` tries both schedules in turn. */
struct fg_competition {
	struct fg_contender duet;
	struct fg_contender abba;
	struct fg_choice choice;
	unsigned rounds; /* at most */
	unsigned round;
	bool is_abbas_turn;
	bool is_over;
};

/* What a job does, in this order. */
enum fg_job_stage {
	FG_JOB_LAYOUTS, /* a series that was measured in several layouts gets them again */
	FG_JOB_WARMUP,
	FG_JOB_LOOK,    /* `auto`: one execution of each arm, if the warm-up did not show them */
	FG_JOB_COMPETE, /* `auto`: both schedules in turn */
	FG_JOB_READY,   /* the last settings before the first pair */
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
	bool has_cases; /* of a harness: the first series has got its name */
	bool failed;
	bool interrupted;
	enum fg_job_stage stage;
	struct fg_block block; /* that is planned or executed */
	bool is_planned;       /* it was announced, and is next */
	bool is_anew;          /* its pairs were given up, which was not said yet */
	struct fg_pass pass;
	struct fg_competition competition;
	struct fg_coverage coverage[FG_ARM_COUNT]; /* before the first pair */
	bool keeps_rate;                           /* of an earlier session */
	double seconds_before;                     /* spent on it, at the beginning of the block */
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
	uint32_t first_in_layouts; /* number of the first block in them */
	char *notes[FG_JOB_NOTES_MAX];
	size_t note_count;
	size_t notes_given;
};

/* The first (usually only) series.  Valid until a series is added. */
/*
 * A folder of traces that were taken in; it stays where the user keeps traces, or it cannot be
 * removed.
 */
void fg_runner_remove_traces(const struct fg_runner *runner, const char *folder);
struct fg_series *fg_job_series(const struct fg_runner_job *job);
void fg_job_note(struct fg_runner_job *job, const char *note);

/* The executor's `on_stuck`: hands it to the session's. */
void fg_job_explain_stuck(void *context, pid_t pid, char **summary, char **stacks);
/* And its `on_crash`. */
void fg_job_explain_crash(void *context, const struct fg_process_options *options, int signal,
			  char **summary, char **stacks);

/* The benchmark cannot be measured: its series says why.  Empties the failure. */
void fg_job_fail(struct fg_runner_job *job, struct fg_failure *failure);

/*
 * start.c: the series, the arms as configured and the rules of the schedule; then everything up to
 * the first execution.
 */
void fg_job_init(struct fg_runner_job *job);
/* FG_ECHILD: the benchmark failed. */
int fg_job_prepare(struct fg_runner_job *job, struct fg_error *err) FG_NODISCARD;

/* block.c: job->block, from its first step on. */
void fg_job_begin_block(struct fg_runner_job *job);
/*
 * The next step of the block, or its end (`is_open` is false then).  FG_ECHILD: the benchmark
 * failed, which its series says by now.
 */
int fg_job_step(struct fg_runner_job *job, struct fg_error *err) FG_NODISCARD;
/* Ends a block early, if one is open. */
void fg_job_abandon_block(struct fg_runner_job *job);
/*
 * A metric's values in the last recorded block, NaN where there are none: [arm] holds the mean of
 * its repetitions.
 */
void fg_job_last_means(const struct fg_runner_job *job, enum fg_metric_id metric,
		       double means[FG_ARM_COUNT]);

/*
 * record.c: the slots of the last step that ended well into repetitions of the series; a block that
 * is whole by now is settled.
 */
void fg_job_record(struct fg_pass *pass);
bool fg_job_hand_over(struct fg_pass *pass, struct fg_runner_event *event);

/*
 * job_layouts.c: for a series that is measured in several layouts, make them.  FG_ECHILD and the
 * like: there are none, and the message says why.
 */
int fg_job_make_layouts(struct fg_runner_job *job, struct fg_error *err) FG_NODISCARD;
/* job_layouts.c: before each block, while layouts are being made beside the pairs. */
void fg_job_link_beside(struct fg_runner_job *job, const struct fg_block *block);

/* plan.c: the next block into job->block (FG_RUNNER_BEGINS), or the state that there is none. */
int fg_job_plan(struct fg_runner_job *job, enum fg_runner_state *state, struct fg_error *err)
	FG_NODISCARD;
/* plan.c: the block has ended well. */
void fg_job_take_block(struct fg_runner_job *job);

/* start.c: before the first execution; after the warm-up; before the first pair. */
int fg_job_resume_layouts(struct fg_runner_job *job, struct fg_error *err) FG_NODISCARD;
void fg_job_settle_rate(struct fg_runner_job *job);
void fg_job_settle_coverage(struct fg_runner_job *job);

/* trial.c: for FG_SCHEDULE_AUTO.  Was each arm executed in a way that shows what it is like? */
bool fg_job_knows_program(const struct fg_runner_job *job);
/* The schedule is settled, or both compete: then job->competition is not over. */
void fg_job_begin_choice(struct fg_runner_job *job);
/* The next observation into job->block; false: there is none, and the schedule is settled. */
bool fg_job_plan_trial(struct fg_runner_job *job);
void fg_job_take_trial(struct fg_runner_job *job);
/*
 * trial.c: `auto` chose the duet, and most of its pairs do not count: go over to ABBA.  After each
 * measured pair; true: its pairs are given up.
 */
bool fg_job_reconsider(struct fg_runner_job *job);

#endif
