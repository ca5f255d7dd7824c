/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An extra repetition is one execution of one arm under another instrument, after all pairs. Its
 * times are not used, and its output becomes further measures of the profile. A failure is not a
 * failure of the benchmark: `why` holds the reason, and the verdict of the pairs stands.
 */
#ifndef FG_RUNNER_EXTRA_H
#define FG_RUNNER_EXTRA_H

#include "base/process.h"
#include "runner/runner.h"

struct fg_extra {
	enum fg_arm arm;
	/* a tool that runs the command: its words, NULL at the end; may be NULL */
	char *const *before;
	int64_t timeout_ns;
	/* runs the program under observation in place of fg_process_run(); may be NULL */
	int (*observe)(void *context, const struct fg_process_options *options,
		       struct fg_process_result *result, struct fg_error *err);
	void *context;
};

/*
 * Creates a folder for the output of an extra repetition; remove it with fg_runner_extra_remove().
 */
int fg_runner_extra_folder(struct fg_runner_job *job, char **folder, struct fg_error *err)
	FG_NODISCARD;
void fg_runner_extra_remove(const struct fg_runner_job *job, char *folder);
/*
 * Executes one arm. Both arms get environments of the same size, and no address randomisation if
 * the system allows that. FG_ECHILD: the program failed; `*why` has the reason, which the caller
 * frees. FG_EINTERRUPTED: the user asked to stop.
 */
int fg_runner_extra(struct fg_runner_job *job, const struct fg_extra *extra, char **why,
		    struct fg_error *err) FG_NODISCARD;
/* Writes the entry plans (runner/execute/entry_plan.h) of the arms with a path. */
int fg_runner_extra_entry_plans(const struct fg_runner_job *job, char *const paths[FG_ARM_COUNT],
				struct fg_error *err) FG_NODISCARD;

#endif
