/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The steps of measuring one benchmark besides its pairs. Only files of this folder call them, in
 * this order; `job` is the running benchmark, `set` the profile of its first series.
 *
 * Something that cannot be counted or sampled is not an error: a remark of the series says why.
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
 * Where a profile of one side is filed. The two commands may run different programs: the baseline's
 * functions are filed under the candidate's program name, otherwise they would never match.
 */
struct fg_ingest_row fg_session_row(const struct fg_benchmark *benchmark, enum fg_arm arm,
				    uint32_t pair);

/* ---- same_inputs.c: a changed input is not blamed on code ---- */

/* Files that set-up names, in the candidate's state on both sides. Call before set-up. */
void fg_session_give_set_up(struct fg_session *session, const struct fg_benchmark *benchmark);
/*
 * The runner's `on_set_up`: the baseline reads the candidate's state of every tracked file that
 * differs and that the benchmark opens; a remark of the series names them. FG_ECHILD or another
 * failure: it cannot.
 */
int fg_session_give_inputs(void *context, struct fg_runner_job *job, struct fg_error *err);
/* Executes an arm once and notes what it opens. False: that cannot be seen as a whole. */
bool fg_session_find_opened(struct fg_runner_job *job, enum fg_arm arm, int64_t timeout_ns,
			    struct fg_opened *opened);

/* ---- affected.c: `run --affected`; executed functions are kept in .fastgate/executed/ ---- */

/*
 * Called with both sides built, before anything is executed: may the benchmark be left out? If not,
 * its series says why.
 */
bool fg_session_is_unaffected(struct fg_session *session, struct fg_runner_job *job,
			      const struct fg_benchmark *benchmark);
/* Keeps the set executed by a repetition under callgrind, and the files that it reads. */
void fg_session_keep_executed(struct fg_session *session, struct fg_runner_job *job,
			      const struct fg_exact_request *request,
			      const struct fg_exact_reading *reading);
/*
 * After the pairs of a measured benchmark: executes under callgrind each side whose functions are
 * not known, and adds those that the sampler saw.
 */
int fg_session_find_executed(struct fg_session *session, struct fg_runner_job *job,
			     const struct fg_benchmark *benchmark, struct fg_error *err)
	FG_NODISCARD;

/* ---- outside.c: programs seen from outside ---- */

/* Does every side run a static program, and are functions wanted? */
bool fg_session_samples_outside(const struct fg_runner_job *job,
				const struct fg_benchmark *benchmark);
/*
 * Nothing can be preloaded into a static program, so its pairs run without the sampler. Afterwards
 * both sides run a few more times and are sampled from outside; the samples are filed in `set`
 * under the series' own pairs.
 */
int fg_session_sample_outside(struct fg_session *session, struct fg_runner_job *job,
			      const struct fg_benchmark *benchmark, struct fg_profile_set *set,
			      struct fg_error *err) FG_NODISCARD;

/* ---- count.c: one repetition per side, a second one if the sides do not agree ---- */

/* Instructions: the measures `instructions` and `calls`. */
int fg_session_count_exactly(struct fg_session *session, struct fg_runner_job *job,
			     const struct fg_benchmark *benchmark, struct fg_profile_set *set,
			     struct fg_error *err) FG_NODISCARD;
/*
 * Is anything of `measure.also`, `measure.calls` and `measure.domains` to be counted? If `max_rss`
 * fails, the heap is counted unasked, to show what holds the memory.
 */
bool fg_session_counts_events(const struct fg_session *session, const struct fg_series *series,
			      const struct fg_benchmark *benchmark);
int fg_session_count_events(struct fg_session *session, struct fg_runner_job *job,
			    const struct fg_benchmark *benchmark, struct fg_profile_set *set,
			    struct fg_error *err) FG_NODISCARD;

/* ---- code.c: a closer look at the code of costly functions ---- */

/* Compares the code of the functions that use most of the time, because a verdict may name them. */
void fg_session_compare_code(const struct fg_session *session, struct fg_runner_job *job);
/*
 * Names the files of functions as the repository does, `src/fit.cpp`: not below the folder that a
 * side was built in. Files from elsewhere keep their names.
 */
void fg_session_name_files(const struct fg_session *session, struct fg_profile_set *set);
/*
 * After the verdict: the source and the instructions of the functions to blame, with the cost of
 * each line, read from both trees and programs while they still exist, so that every later report
 * has them. Only files of the project are shown, because debug information can name any path.
 * Missing source is not an error.
 */
void fg_session_add_sources(struct fg_session *session);

#endif
