/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A measuring session: executes the benchmarks of a plan and fills a run.
 *
 *	fg_runner_create(&options, &runner, err)
 *	for each benchmark:
 *		fg_runner_start(runner, benchmark, &job, err)           set-up; how both were built
 *		fg_runner_next(job, 10, &state, &event, err) until it is over, then look
 *		... and again with 16, 24 pairs, as decided; the first one warms up before them
 *		fg_runner_finish(job)                                   the series' state is final
 *	fg_runner_free(runner)
 *
 * Two kinds of failing are kept apart.  What a benchmark does wrong (missing, crashing, hanging,
 * printing no metric) goes into its series (`failure`, `failure_tail`) and the session goes on with
 * the next.  What fastgate itself cannot do is an error.  Every finished repetition is in the run
 * when it is handed over, before anything else is executed: nothing is lost when the user
 * interrupts.
 *
 * Resuming: a benchmark whose series is already in the run goes on with the next pair of the same
 * random order.
 *
 * One job at a time, one thread.  The plan, the run and all texts of the options must outlive the
 * runner.
 */
#ifndef FG_RUNNER_RUNNER_H
#define FG_RUNNER_RUNNER_H

#include "base/error.h"
#include "model/plan.h"
#include "model/run.h"

#include <signal.h>
#include <sys/types.h>

struct fg_code_names;
struct fg_process_options;
struct fg_runner;
struct fg_runner_job;
struct fg_target;

enum fg_runner_phase {
	FG_RUNNER_SETUP, /* within fg_runner_start() */
	FG_RUNNER_WARMUP,
	FG_RUNNER_TRIAL, /* finding the schedule */
	FG_RUNNER_MEASURE,
};

struct fg_runner_progress {
	const struct fg_series *series;
	enum fg_runner_phase phase;
	unsigned pairs;      /* that count, so far */
	unsigned wanted;     /* by the present call of fg_runner_next() */
	unsigned set_aside;  /* pairs that do not count */
	int64_t spent_ns;    /* wall time on this benchmark */
	int64_t per_pair_ns; /* mean wall time of a pair; 0: not known yet */
};

/* A program that is about to be ended. */
struct fg_runner_stuck {
	const struct fg_series *series;
	pid_t pid;
	bool is_launcher; /* the program is its child */
};

/* A program that was ended by a signal. */
struct fg_runner_crash {
	const struct fg_series *series;
	const struct fg_process_options *options;
	int signal;
};

struct fg_runner_options {
	struct fg_run *run; /* series are added; id and seed are set */
	const char *roots
		/* folder that commands are seen from; baseline NULL: candidate alone */
		[FG_ARM_COUNT];
	/* the checkout of ours that a root lies in; NULL: the root is the user's own */
	const char *checkouts[FG_ARM_COUNT];
	const char *state_folder; /* ".fastgate": traces go below it */
	const char *collector;    /* path of the collector library; NULL: where it is installed */
	bool keep_traces;
	const volatile sig_atomic_t *interrupted; /* may be NULL */
	void *context;                            /* of both callbacks, which may be NULL */
	/*
	 * A program reached its time limit, or the user asked to stop: it still runs and is about
	 * to be ended. Describes where it is, in one line and in many, to be freed; left NULL if
	 * unknown.
	 */
	void (*on_stuck)(void *context, const struct fg_runner_stuck *stuck, char **summary,
			 char **stacks);
	/*
	 * A program was ended by this signal, perhaps one of a crash: says where that happens when
	 * it is run once more with these options, as above.
	 */
	void (*on_crash)(void *context, const struct fg_runner_crash *crash, char **summary,
			 char **stacks);
	const struct fg_build *build; /* how both sides were built; may be NULL */
};

enum fg_runner_state {
	FG_RUNNER_BEGINS,   /* programs are about to run: see fg_runner_progress_of() */
	FG_RUNNER_REPEATED, /* a repetition is in the run */
	FG_RUNNER_NOTES,    /* there is a remark for the user */
	/* over, as far as the wanted pairs go: */
	FG_RUNNER_REACHED,   /* as many pairs as wanted count */
	FG_RUNNER_EXHAUSTED, /* max_pairs or the budget is used up */
	/* the schedule was given up and its pairs are set aside: counting starts over */
	FG_RUNNER_ANEW,
	FG_RUNNER_FAILED,      /* the benchmark cannot be measured; its series says why */
	FG_RUNNER_INTERRUPTED, /* the user asked to stop */
};

struct fg_runner_event {
	/*
	 * With FG_RUNNER_REPEATED.  A repetition is set aside (FG_ASIDE_UNPAIRED) while others of
	 * its pair are still to come; the last one settles the `aside` of the whole pair.
	 * `trace_folder` holds what the sampler wrote and lasts until the next call; NULL if the
	 * sampler did not run.
	 */
	size_t series;
	size_t repetition;
	const char *trace_folder;
	const char *note; /* with FG_RUNNER_NOTES: each is given once */
};

int fg_runner_create(const struct fg_runner_options *options, struct fg_runner **runner,
		     struct fg_error *err) FG_NODISCARD;
void fg_runner_free(struct fg_runner *runner); /* NULL is fine */

/*
 * Adds the benchmark's series to the run, runs set-up and records both builds.  A benchmark that
 * failed in there is a job, too: fg_runner_next() says FG_RUNNER_FAILED.  One that is not to be
 * executed can be finished at once.
 */
int fg_runner_start(struct fg_runner *runner, const struct fg_benchmark *benchmark,
		    struct fg_runner_job **job, struct fg_error *err) FG_NODISCARD;
/*
 * The next thing that happens until `pairs_wanted` pairs count (ABBA: blocks of four) or nothing
 * more can be done.  Before the first pair it warms up and settles the schedule, for 0 pairs, too.
 */
int fg_runner_next(struct fg_runner_job *job, unsigned pairs_wanted, enum fg_runner_state *state,
		   struct fg_runner_event *event, struct fg_error *err) FG_NODISCARD;
bool fg_runner_is_over(enum fg_runner_state state);
void fg_runner_progress_of(const struct fg_runner_job *job, struct fg_runner_progress *progress);
/*
 * The samples of a repetition stand for this much of its CPU time.  If they turn out to show one
 * arm only, before a pair has counted, both go on without the sampler.
 */
void fg_runner_take_sampled(struct fg_runner_job *job, enum fg_arm arm, double sampled_ns,
			    double cpu_ns);
/* Its series says why. */
bool fg_runner_has_failed(const struct fg_runner_job *job);
/* Both arms, as they are executed. */
const struct fg_target *fg_runner_job_targets(const struct fg_runner_job *job);
/* Indexes into the run's series: one, or one per case of a harness. */
size_t fg_runner_job_series(const struct fg_runner_job *job, const size_t **indexes);
/*
 * What was measured so far looks slower: link both sides in several layouts, set the pairs so far
 * aside, and measure anew, each pair in the next layout.  `ratio` is what `metric` was.  Anything
 * but FG_OK: it stays as it is, and the message says why (FG_EINTERRUPTED: the user stopped it).
 */
int fg_runner_vary_layout(struct fg_runner_job *job, const char *metric, double ratio,
			  struct fg_error *err) FG_NODISCARD;
/*
 * Before the first pair: the same, with all pairs.  `only_if_cheap`: where the links are cheap
 * beside the measurement (link_price.h), and no pair was measured by an earlier session.
 */
int fg_runner_begin_in_layouts(struct fg_runner_job *job, bool only_if_cheap, struct fg_error *err)
	FG_NODISCARD;
/*
 * What would fail is to be found once more: set the pairs so far aside (FG_ASIDE_UNCONFIRMED).  The
 * budget begins anew.
 */
void fg_runner_measure_anew(struct fg_runner_job *job);
/*
 * After the last pair: which code is not the same in both programs, as facts of the candidate's
 * build.  `functions` are those that people may want to know more of.
 */
void fg_runner_compare_code(struct fg_runner_job *job, const struct fg_code_names *functions);
/* Clean-up; settles the state of the series; frees the job. */
void fg_runner_finish(struct fg_runner_job *job);

/* "3/8" → 3 of 8.  FG_EINVAL unless 1 <= index <= count <= 10000. */
int fg_shard_parse(const char *text, unsigned *index, unsigned *count, struct fg_error *err)
	FG_NODISCARD;
/*
 * Does this benchmark belong to that shard?  By hash of its name, so that adding one moves no
 * other.  Every benchmark belongs to exactly one.
 */
bool fg_shard_contains(const char *benchmark, unsigned index, unsigned count);

#endif
