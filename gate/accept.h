/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the accepted regression that covers a result, and accepted regressions that have expired or
 * are no longer needed. Private to gate/.
 */
#ifndef FG_GATE_ACCEPT_H
#define FG_GATE_ACCEPT_H

#include "model/policy.h"
#include "model/verdict.h"

/*
 * Returns the accepted regression that covers a worsening of `worse_by`, or NULL. `worse_by` is
 * relative: 0.02 is 2 % worse, whatever the metric's direction. An expired acceptance covers
 * nothing.
 */
const struct fg_accept *fg_accept_find(const struct fg_policy *policy, const char *benchmark,
				       const char *metric, double worse_by, int64_t now_ns);

/*
 * Adds notes about the accepted regressions of one policy that have expired, or that match a result
 * but were not needed.
 */
void fg_accept_note_leftovers(const struct fg_policy *policy, int64_t now_ns,
			      struct fg_verdict *verdict);

#endif
