/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Accepted slowdowns: which key covers which result, and which keys have expired or are no longer
 * needed. Private to gate/.
 */
#ifndef FG_GATE_ACCEPT_H
#define FG_GATE_ACCEPT_H

#include "model/policy.h"
#include "model/verdict.h"

/*
 * The key that covers this worsening (a ratio above one, whatever the metric's direction), or NULL.
 * `worse_by` is relative. Expired keys cover nothing.
 */
const struct fg_accept *fg_accept_find(const struct fg_policy *policy, const char *benchmark,
				       const char *metric, double worse_by, int64_t now_ns);

/* Adds notes about the keys of one policy that have expired or that no result needed. */
void fg_accept_note_leftovers(const struct fg_policy *policy, int64_t now_ns,
			      struct fg_verdict *verdict);

#endif
