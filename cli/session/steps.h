/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The steps of a benchmark's measurement other than its pairs, for measure.c and session.c. `job`
 * is the running benchmark, `set` the profile of its first series.
 *
 * Failing to count or sample is not an error: the reason is added to the series as a remark.
 * FG_EINTERRUPTED: the user asked to stop.
 */
#ifndef FG_CLI_SESSION_STEPS_H
#define FG_CLI_SESSION_STEPS_H

#include "cli/session/session.h"
#include "profile/attach/opened.h"
#include "profile/ingest.h"
#include "runner/execute/exact.h"
#include "runner/runner.h"

/*
 * Returns the row to which a side's profile is added. The baseline's functions are stored under the
 * candidate's program name, so that functions match even if the two commands run different
 * programs.
 */
struct fg_ingest_row fg_session_row(const struct fg_benchmark *benchmark, enum fg_arm arm,
				    uint32_t pair);

/* Returns the benchmark's first series, which moves when the run gets another series. */
struct fg_series *fg_session_series(const struct fg_session *session,
				    const struct fg_runner_job *job);

/* ---- same_inputs.c: a changed input is not blamed on code ---- */

/* Gives both sides the candidate's state of files that set-up names. Call before set-up. */
void fg_session_give_set_up(struct fg_session *session, const struct fg_benchmark *benchmark);
/*
 * The runner's `on_set_up`: gives the baseline the candidate's version of every tracked input
 * that differs, and names these files in a remark on the series. FG_ECHILD or another status: a
 * file could not be replaced.
 */
int fg_session_give_inputs(void *context, struct fg_runner_job *job, struct fg_error *err);
/* Executes an arm once and notes the files it opens. False: some opened files cannot be seen. */
bool fg_session_find_opened(struct fg_runner_job *job, enum fg_arm arm, int64_t timeout_ns,
			    struct fg_opened *opened);

/* ---- affected.c: `run --affected`; executed functions are kept in .fastgate/executed/ ---- */

/*
 * May the benchmark be left out? Call when both sides are built, before anything is executed. If a
 * change may affect the benchmark, the series has the reason.
 */
bool fg_session_is_unaffected(struct fg_session *session, struct fg_runner_job *job,
			      const struct fg_benchmark *benchmark);
/* Stores the set of functions that a repetition under callgrind executed, and the files it read. */
void fg_session_keep_executed(struct fg_session *session, struct fg_runner_job *job,
			      const struct fg_exact_request *request,
			      const struct fg_exact_reading *reading);
/*
 * Call after the pairs: executes under callgrind each side whose functions are not known, and adds
 * functions that the sampler saw.
 */
int fg_session_find_executed(struct fg_session *session, struct fg_runner_job *job,
			     const struct fg_benchmark *benchmark, struct fg_error *err)
	FG_NODISCARD;

/* ---- outside.c: programs seen from outside ---- */

/* Does every side run a static program whose functions are wanted? */
bool fg_session_samples_outside(const struct fg_runner_job *job,
				const struct fg_benchmark *benchmark);
/*
 * Samples static programs, into which nothing can be preloaded, so that their pairs run without the
 * sampler. Afterwards both sides run a few more times and are sampled from outside; the samples are
 * stored in `set` under the series' own pairs.
 */
int fg_session_sample_outside(struct fg_session *session, struct fg_runner_job *job,
			      const struct fg_benchmark *benchmark, struct fg_profile_set *set,
			      struct fg_error *err) FG_NODISCARD;

/* ---- count.c: one repetition per side, a second one if the sides do not agree ---- */

/* Counts instructions, for the measures `instructions` and `calls`. */
int fg_session_count_exactly(struct fg_session *session, struct fg_runner_job *job,
			     const struct fg_benchmark *benchmark, struct fg_profile_set *set,
			     struct fg_error *err) FG_NODISCARD;
/*
 * Are there events to count for `measure.also`, `measure.calls` or `measure.domains`? If `max_rss`
 * fails, the heap is counted even without a request, to show which call paths hold the memory.
 */
bool fg_session_counts_events(const struct fg_session *session, const struct fg_series *series,
			      const struct fg_benchmark *benchmark);
int fg_session_count_events(struct fg_session *session, struct fg_runner_job *job,
			    const struct fg_benchmark *benchmark, struct fg_profile_set *set,
			    struct fg_error *err) FG_NODISCARD;

/* ---- code.c: a closer look at the code of costly functions ---- */

/* Compares the code of the hottest functions, because a verdict may name them. */
void fg_session_compare_code(const struct fg_session *session, struct fg_runner_job *job);
/*
 * Names source files of functions as in the repository, `src/fit.cpp`, instead of below a side's
 * build folder. Files from elsewhere keep their names.
 */
void fg_session_name_files(const struct fg_session *session, struct fg_profile_set *set);
/*
 * Call after the verdict: adds source and instructions of the functions to blame, with the cost of
 * each line. Source and instructions are read while both trees and programs exist, and every later
 * report has them. Only files of the project are shown, because debug information can name any
 * path. Missing source is not an error.
 */
void fg_session_add_sources(struct fg_session *session);

#endif
