/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does a change touch what a benchmark executes or reads?  Functions that it runs through are
 * compared one by one; data, inputs, libraries and what cannot be told count as touched wherever
 * they are not the same.
 */
#ifndef FG_RUNNER_AFFECTED_H
#define FG_RUNNER_AFFECTED_H

#include "model/executed.h"
#include "runner/target.h"

struct fg_affected;

/* Comparisons of code that the benchmarks of a run share. */
struct fg_affected *fg_affected_new(void);
void fg_affected_free(struct fg_affected *affected); /* NULL is fine */

struct fg_affected_reason {
	char *text;    /* NULL: nothing is touched */
	char *symbol;  /* linkage name of the function or object; NULL: it is about none */
	bool is_stale; /* what is known of the baseline no longer applies */
};

/*
 * Why no change to this benchmark can be followed, whatever it executes.  `targets` are both arms,
 * resolved; `builds` how they were built, as the runner records it.
 */
void fg_affected_by_kind(const struct fg_target targets[FG_ARM_COUNT],
			 struct fg_affected_reason *reason);
/*
 * Why the candidate has to be measured, as far as its kind and its libraries tell: before it is
 * known what it executes.  `reason` is to be released.
 */
void fg_affected_by_build(const struct fg_target targets[FG_ARM_COUNT],
			  const struct fg_environment builds[FG_ARM_COUNT],
			  struct fg_affected_reason *reason);
/* As above, for what the baseline executes. */
void fg_affected_by_code(struct fg_affected *affected, const struct fg_target targets[FG_ARM_COUNT],
			 const struct fg_environment builds[FG_ARM_COUNT],
			 const struct fg_executed *executed, struct fg_affected_reason *reason);
void fg_affected_reason_release(struct fg_affected_reason *reason);

#endif
