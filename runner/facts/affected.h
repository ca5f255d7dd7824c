/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds out whether a change affects the code that a benchmark executes or the files that it reads.
 * Executed functions are compared one by one. Data, inputs and libraries affect the benchmark if
 * they differ; anything that cannot be compared counts as different.
 */
#ifndef FG_RUNNER_AFFECTED_H
#define FG_RUNNER_AFFECTED_H

#include "model/executed.h"
#include "runner/target.h"

/* Creates a cache of code comparisons, which the benchmarks of a run share. */
struct fg_affected *fg_affected_new(void);
void fg_affected_free(struct fg_affected *affected); /* may be NULL */

struct fg_affected_reason {
	char *text;    /* NULL: not affected */
	char *symbol;  /* linkage name of the function or object; may be NULL */
	bool is_stale; /* the record of the baseline's functions no longer applies */
};

/*
 * Gives the reason if changes to this benchmark can never be tracked. `targets` are both arms,
 * resolved.
 */
void fg_affected_by_kind(const struct fg_target targets[FG_ARM_COUNT],
			 struct fg_affected_reason *reason);
/*
 * Gives the reason if the candidate must be measured because of the benchmark's kind or libraries;
 * the code that the benchmark executes is not considered. `builds` are the build facts that the
 * runner recorded. `reason` must be released.
 */
void fg_affected_by_build(const struct fg_target targets[FG_ARM_COUNT],
			  const struct fg_build_facts builds[FG_ARM_COUNT],
			  struct fg_affected_reason *reason);
/*
 * Gives the reason if the candidate must be measured because of the code that the baseline executes
 * or the files that it reads.
 */
void fg_affected_by_code(struct fg_affected *affected, const struct fg_target targets[FG_ARM_COUNT],
			 const struct fg_executed *executed, struct fg_affected_reason *reason);
void fg_affected_reason_release(struct fg_affected_reason *reason);

#endif
