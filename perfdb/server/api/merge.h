/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two stored runs as one with two arms, for what draws a comparison.  Inside perfdb/server/ only.
 */
#ifndef FG_PERFDB_SERVER_API_MERGE_H
#define FG_PERFDB_SERVER_API_MERGE_H

#include "store/store.h"

/*
 * The candidate of `a` becomes the baseline's arm, the candidate of `b` the candidate's.  Its id is
 * b's.
 */
void fg_merge_runs(const struct fg_stored_run *a, const struct fg_stored_run *b,
		   struct fg_stored_run *joined);

#endif
