/* SPDX-License-Identifier: Apache-2.0 */
/* Several shards as one run. */
#ifndef FG_CLI_SESSION_SHARDS_MERGE_H
#define FG_CLI_SESSION_SHARDS_MERGE_H

#include "base/strbuf.h"
#include "cli/session/shards.h"
#include "model/plan.h"

/*
 * Merging the same shards always gives the same id. The series are moved: afterwards a shard only
 * records which one it is. `missing` gets one line about shards that did not arrive, or stays
 * empty.
 */
void fg_shards_merge(struct fg_shards *shards, const struct fg_plan *plan,
		     struct fg_stored_run *merged, struct fg_strbuf *missing);

#endif
