/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures and judges the benchmarks of a plan, from the first pair to the last report.
 *
 * fg_session_init() → fill `request` → fg_session_measure() → fg_session_decide() →
 * fg_session_save() → fg_session_report() → fg_session_release()
 *
 * A session connects the modules: the runner executes, each repetition's trace is added to a
 * profile set immediately, the store keeps every finished repetition, and the gate decides after
 * each look whether to continue. An interruption is FG_EINTERRUPTED; everything measured so far is
 * in the run and in the store.
 */
#ifndef FG_CLI_SESSION_SESSION_H
#define FG_CLI_SESSION_SESSION_H

#include "cli/framework/command.h"
#include "gate/gate.h"
#include "model/profile_set.h"
#include "model/run.h"
#include "model/verdict.h"
#include "reporters/reporter.h"
#include "runner/runner.h"
#include "store/store.h"

/*
 * Progress on stderr: on a terminal one line that is redrawn, otherwise a plain line when a
 * benchmark begins and then every half minute. Prints nothing with --quiet.
 */
struct fg_progress {
	const struct fg_cli *cli;
	bool is_part; /* part of a search, which reports its steps: no line per benchmark */
	size_t index; /* number of the current benchmark, from 1 */
	size_t total;
	const struct fg_measuring *measure; /* settings of the current benchmark */
	bool is_paired;                     /* has a baseline: pairs are measured until decided */
	int64_t drawn_ns;                   /* time of the last redraw, monotonic clock */
	bool is_drawn;
};

void fg_progress_begin(struct fg_progress *progress, const char *benchmark);
void fg_progress_show(struct fg_progress *progress, const struct fg_runner_progress *runner,
		      const struct fg_gate_progress *gate);
/* Removes the line so that other output can follow. */
void fg_progress_clear(struct fg_progress *progress);

/* A command's request; filled in after fg_session_init(). */
struct fg_session_request {
	const struct fg_plan *plan;
	const struct fg_benchmark *const *benchmarks; /* benchmarks to measure, borrowed */
	size_t benchmark_count;
	const char *state_folder;
	bool in_place;         /* the candidate is the work tree itself, not a snapshot */
	bool staged;           /* the candidate is the staged changes */
	const char *candidate; /* the candidate's git ref; NULL: the work tree */
	bool apart; /* `candidate` has a separate build, whose files this run may change */
	bool keep_traces;
	unsigned keep_builds; /* builds kept below .fastgate; 0: the usual number */
	/* number of pairs to measure without a decision; 0: measure until decided */
	unsigned fixed_pairs;
	/*
	 * Called when both sides are built. If it returns true, nothing is measured. May be NULL.
	 */
	bool (*is_known)(void *context, const struct fg_series *series);
	void *context; /* passed to is_known */
};

/* Resources of a session, released with it. */
struct fg_session_open {
	struct fg_store *store; /* NULL: nothing is stored */
	char *store_path;
	/* a NULL baseline means that only the candidate is measured */
	const char *roots[FG_ARM_COUNT];
	const char *checkouts[FG_ARM_COUNT]; /* our checkout that has the root, or NULL */
	struct fg_worktree *baseline;        /* the baseline's checkout, or NULL */
	char *cache_folder;                  /* for the symbolizer */
	struct fg_symbolizer *symbolizer;
	struct fg_kernel_naming *kernel; /* created with the first traces */
	struct fg_affected *affected;    /* comparisons of code, or NULL */
};

struct fg_session_outcome {
	struct fg_run run;
	/* one per series of the run; NULL if nothing was sampled */
	struct fg_profile_set **profiles;
	size_t profile_count;
	struct fg_gate_progress look; /* result of the last look at the current benchmark */
	bool has_look;
	bool wants_anchor; /* set by fg_session_add_creep(): the chain is too uncertain */
	bool is_open;      /* `until_sure`, but the budget ended first: --resume adds pairs */
	struct fg_verdict verdict;
};

struct fg_session {
	struct fg_cli *cli;
	struct fg_session_request request;
	struct fg_session_open open;
	struct fg_session_outcome result;
	struct fg_progress progress;
	/* Warnings that are printed once. */
	bool warned_no_samples, warned_no_executed;
};

/* Sets the run's id, seed and facts about the host. */
int fg_session_init(struct fg_session *session, struct fg_cli *cli, const struct fg_plan *plan,
		    struct fg_error *err) FG_NODISCARD;
/* Opens the plan's store, creating it if needed. */
int fg_session_open_store(struct fg_session *session, struct fg_error *err) FG_NODISCARD;
void fg_session_release(struct fg_session *session);

/* Continues a measured run, whose profiles are moved out of `stored`. */
void fg_session_take_run(struct fg_session *session, struct fg_stored_run *stored);

/*
 * Call before anything is opened. Forks into the process that measures (returns true) and its guard
 * (returns false). The guard returns when the measuring process and its children have ended; the
 * command then returns *exit_code.
 */
bool fg_session_guard(const struct fg_cli *cli, int *exit_code);
int fg_session_measure(struct fg_session *session, struct fg_error *err) FG_NODISCARD;
/* `input` may have a stored baseline, history and requirements; the session fills in the rest. */
int fg_session_decide(struct fg_session *session, struct fg_gate_input *input, struct fg_error *err)
	FG_NODISCARD;
/*
 * Stores the run with its report, if there is a store. Afterwards the session has the profiles as
 * the store returns them, so that a report written now equals one written from the store later.
 */
int fg_session_save(struct fg_session *session, struct fg_error *err) FG_NODISCARD;
/*
 * Writes the plan's reports to files, then prints the terminal report, or with --json the JSON
 * report. A report that cannot be written becomes an error after all other reports are written.
 */
int fg_session_report(struct fg_session *session, struct fg_error *err) FG_NODISCARD;
/*
 * Uploads the run and posts the result; without `may_send` the run waits in the spool. Returns the
 * verdict's exit code, or FG_EXIT_UPLOAD if the verdict passes but a required delivery failed.
 */
int fg_session_publish(const struct fg_session *session, bool may_send);

/*
 * Returns the style for standard output, or for a file (no colours, unlimited width, UTF-8).
 * Annotations name files relative to `source_root`, by default $GITHUB_WORKSPACE.
 */
struct fg_report_options fg_cli_report_style(const struct fg_cli *cli, bool to_stdout,
					     const char *source_root);

#endif
