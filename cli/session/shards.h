/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run that several jobs measured: `fastgate run --shard 2/8` in each of them, one verdict at the
 * end.
 *
 * Each shard is a run of its own that records which part it is.  Merged, they are one run:
 * the series side by side, in the order of the plan, each with its own pairs and nothing else.  No
 * series is looked at once more or less for it, so the error that the rule spends on a metric is
 * what it would be if one job had measured everything.
 *
 * What would make one verdict out of things that do not belong together is refused: other commits,
 * another split, the same shard twice.  What is missing is not refused: the benchmarks of a shard
 * that did not arrive are in the merged run as not measured, so that the verdict is an error and
 * the reports say everything else.
 */
#ifndef FG_CLI_SESSION_SHARDS_H
#define FG_CLI_SESSION_SHARDS_H

#include "base/strbuf.h"
#include "model/plan.h"
#include "store/store.h"

struct fg_shard {
	struct fg_stored_run stored;
	char *from; /* for people: the file it came from */
	unsigned index;
	unsigned count;
};

struct fg_shards {
	struct fg_shard *items;
	size_t count;
	size_t capacity;
};

/* Records the shard's number in the facts of the run's candidate. */
void fg_shard_mark(struct fg_run *run, unsigned index, unsigned count);
/* False if the run is not a shard. */
bool fg_shard_of(const struct fg_run *run, unsigned *index, unsigned *count);

/*
 * Takes ownership of the run, even if it is refused because it is not a shard or does not belong to
 * the others.
 */
int fg_shards_add(struct fg_shards *shards, struct fg_stored_run *stored, const char *from,
		  struct fg_error *err) FG_NODISCARD;
/*
 * Merging the same shards always gives the same id. The series are moved: afterwards a shard only
 * records which one it is. `missing` gets one line about shards that did not arrive, or stays
 * empty.
 */
void fg_shards_merge(struct fg_shards *shards, const struct fg_plan *plan,
		     struct fg_stored_run *merged, struct fg_strbuf *missing);

void fg_shards_release(struct fg_shards *shards);

#endif
