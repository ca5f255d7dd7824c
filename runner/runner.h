/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A measuring session: executes the benchmarks of a plan and fills a run.
 *
 * 	fg_runner_create(&options, &runner, err)
 * 	for each benchmark:
 * 		fg_runner_start(runner, benchmark, &job, err)           set-up; records both builds
 * 		fg_runner_next(job, 10, &state, &event, err)            repeat until the state ends
 * 		                                                        the call, then decide
 * 		... with 16, 24 pairs, while undecided; the first call warms up
 * 		fg_runner_finish(job)                                   the series' state is final
 * 	fg_runner_free(runner)
 *
 * Two kinds of failure are distinguished. A benchmark's own failure (missing, crashing, hanging,
 * printing no metric) goes into its series (`failure`, `failure_tail`) and the session continues
 * with the next benchmark. A failure of fastgate itself is an error. Every finished repetition is
 * in the run when it is handed over, before anything else is executed: nothing is lost when the
 * user interrupts.
 *
 * Resuming: a benchmark whose series is already in the run continues with the next pair of the same
 * random order.
 *
 * A runner has one job at a time and belongs to one thread. The plan, the run and all strings of
 * the options must outlive the runner.
 */
#ifndef FG_RUNNER_RUNNER_H
#define FG_RUNNER_RUNNER_H

#include "base/error.h"
#include "model/plan.h"
#include "model/run.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

struct fg_code_names;
struct fg_runner;
struct fg_runner_job;

enum fg_runner_phase {
	FG_RUNNER_SETUP, /* within fg_runner_start() */
	FG_RUNNER_WARMUP,
	FG_RUNNER_TRIAL, /* finding the schedule */
	FG_RUNNER_MEASURE,
};

struct fg_runner_progress {
	const struct fg_series *series;
	enum fg_runner_phase phase;
	unsigned pairs;      /* pairs that count so far */
	unsigned wanted;     /* `pairs_wanted` of the current call of fg_runner_next() */
	unsigned set_aside;  /* pairs that do not count */
	int64_t spent_ns;    /* wall time spent on this benchmark */
	int64_t per_pair_ns; /* mean wall time of a pair; 0: not known yet */
};

struct fg_runner_options {
	struct fg_run *run; /* has an id and a seed; the runner adds series */
	/* base folder of the commands; a NULL baseline means: measure only the candidate */
	const char *roots[FG_ARM_COUNT];
	/* fastgate's checkout that contains the root; NULL: the root is the user's own folder */
	const char *checkouts[FG_ARM_COUNT];
	const char *state_folder; /* ".fastgate": traces go below it */
	const char *collector;    /* path of the collector library; NULL: the installed library */
	const char *host_root;    /* the host's /proc is observed below it; NULL: this host's */
	bool keep_traces;
	const volatile sig_atomic_t *interrupted; /* may be NULL */
	void *context;                            /* passed to the callbacks, which may be NULL */
	/*
	 * Called after set-up, when the programs are found but their builds are not compared yet.
	 * An error is the benchmark's failure.
	 */
	int (*on_set_up)(void *context, struct fg_runner_job *job, struct fg_error *err);
};

enum fg_runner_state {
	FG_RUNNER_BEGINS,   /* programs are about to run: see fg_runner_progress_of() */
	FG_RUNNER_REPEATED, /* a repetition was added to the run */
	FG_RUNNER_NOTES,    /* a remark for the user is in `note` */
	/* states that end a call: */
	FG_RUNNER_REACHED,   /* `pairs_wanted` pairs are valid */
	FG_RUNNER_EXHAUSTED, /* max_pairs or the budget is used up */
	/* the schedule was given up and its pairs set aside: counting starts over */
	FG_RUNNER_RESTARTED,
	FG_RUNNER_FAILED,      /* the benchmark cannot be measured; its series has the reason */
	FG_RUNNER_INTERRUPTED, /* the user asked to stop */
};

struct fg_runner_event {
	/*
	 * Valid with FG_RUNNER_REPEATED. A repetition is set aside (FG_ASIDE_UNPAIRED) until its
	 * pair is complete; then `aside` is set for the whole pair. `trace_folder` holds the
	 * sampler's output until the next call; NULL if the sampler did not run.
	 */
	size_t series;
	size_t repetition;
	const char *trace_folder;
	const char *note; /* with FG_RUNNER_NOTES; each note is given once */
};

int fg_runner_create(const struct fg_runner_options *options, struct fg_runner **runner,
		     struct fg_error *err) FG_NODISCARD;
void fg_runner_free(struct fg_runner *runner); /* NULL does nothing */

/*
 * Adds the benchmark's series to the run, runs set-up and records both builds. A benchmark that
 * fails here still gets a job: fg_runner_next() returns FG_RUNNER_FAILED. A benchmark that need not
 * be executed can be finished at once.
 */
int fg_runner_start(struct fg_runner *runner, const struct fg_benchmark *benchmark,
		    struct fg_runner_job **job, struct fg_error *err) FG_NODISCARD;
/*
 * Advances until `pairs_wanted` pairs are valid (ABBA: blocks of four executions) or nothing more
 * can be done, and reports the next event. Before the first pair the call warms up and settles the
 * schedule, even for 0 pairs.
 */
int fg_runner_next(struct fg_runner_job *job, unsigned pairs_wanted, enum fg_runner_state *state,
		   struct fg_runner_event *event, struct fg_error *err) FG_NODISCARD;
/* Ignores measure.budget from now on. */
void fg_runner_exceed_budget(struct fg_runner_job *job);
bool fg_runner_is_over(enum fg_runner_state state);
void fg_runner_progress_of(const struct fg_runner_job *job, struct fg_runner_progress *progress);
/*
 * Reports the time that the samples of a repetition cover, and the time spent, both on the
 * sampler's clock. If samples turn out to cover only one arm before any pair has counted, both arms
 * continue without the sampler.
 */
void fg_runner_take_sampled(struct fg_runner_job *job, enum fg_arm arm, double sampled_ns,
			    double spent_ns);
/* If true, the series has the reason. */
bool fg_runner_has_failed(const struct fg_runner_job *job);
/* Returns the targets of both arms. */
const struct fg_target *fg_runner_job_targets(const struct fg_runner_job *job);
/*
 * Gets the indexes of the job's series in the run: one, or one per case of a harness. Returns the
 * number of indexes.
 */
size_t fg_runner_job_series(const struct fg_runner_job *job, const size_t **indexes);
/*
 * Call if the pairs so far look slower: links both sides in several layouts and sets these pairs
 * aside; later pairs take the layouts in turn. `ratio` is the ratio of `metric` so far. On failure
 * nothing changes, and the message has the reason. FG_EINTERRUPTED: the user asked to stop.
 */
int fg_runner_vary_layout(struct fg_runner_job *job, const char *metric, double ratio,
			  struct fg_error *err) FG_NODISCARD;
/*
 * Links both sides in several layouts before the first pair. `only_if_cheap`: only if the links are
 * cheap compared to the measurement (link_cost.h) and no earlier session measured a pair.
 */
int fg_runner_begin_in_layouts(struct fg_runner_job *job, bool only_if_cheap, struct fg_error *err)
	FG_NODISCARD;
/*
 * Call after the last pair: records, as facts of the candidate's build, the code that differs
 * between the programs. `functions` lists the functions that users may ask about.
 */
void fg_runner_compare_code(struct fg_runner_job *job, const struct fg_code_names *functions);
/* Cleans up, settles the state of the series, and frees the job. */
void fg_runner_finish(struct fg_runner_job *job);

/* Parses a shard: "3/8" → 3 of 8. FG_EINVAL unless 1 <= index <= count <= 10000. */
int fg_shard_parse(const char *text, unsigned *index, unsigned *count, struct fg_error *err)
	FG_NODISCARD;
/*
 * Does this benchmark belong to that shard? The hash of a benchmark's name chooses its shard, so an
 * added benchmark does not move other benchmarks.
 */
bool fg_shard_contains(const char *benchmark, unsigned index, unsigned count);

/* ---- guard.c ---- */

struct fg_guard_end {
	bool exited; /* the worker ended by itself */
	int exit_code;
	int signal;         /* signal that ended the worker, if it did not exit */
	bool left_children; /* processes were left behind and have been killed */
};

/*
 * Returns in both processes: in the worker with *is_worker true; in the guard, once the worker has
 * ended, with *is_worker false and *end filled. The guard should then exit with the same code. Not
 * FG_OK: there is only one process, and it may continue without a guard.
 */
int fg_guard_split(bool *is_worker, struct fg_guard_end *end, struct fg_error *err) FG_NODISCARD;

#endif
