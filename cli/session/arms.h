/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two sides of a run. The candidate is a snapshot of the work tree (against a commit), the work
 * tree itself, or a commit (also one made of staged changes) built in its own worktree; the
 * baseline is a commit, a stored or exported run, or nothing. The configuration and the command
 * line choose both.
 *
 * The list of benchmarks changes like any other source. If the program of a benchmark does not
 * exist in the baseline's commit, but the fastgate.yml there has the benchmark (by its name or by
 * `was`), the benchmark runs as that file says; the series of a stored run are renamed according to
 * `was`.
 */
#ifndef FG_CLI_SESSION_ARMS_H
#define FG_CLI_SESSION_ARMS_H

#include "base/strbuf.h"
#include "cli/session/session.h"
#include "model/plan.h"
#include "runner/build/worktree.h"
#include "store/store.h"

struct fg_arms {
	struct fg_worktree worktrees[FG_ARM_COUNT];
	bool has_worktree[FG_ARM_COUNT];
	char *candidate_commit; /* the commit to build; NULL: the work tree in place */
	/* plan of the baseline commit's fastgate.yml; the current plan's commands may point here */
	struct fg_plan baseline_plan;
	const char **gone; /* benchmarks that only `baseline_plan` has */
	size_t gone_count;
	struct fg_stored_run baseline; /* stored run to compare with */
	bool has_baseline;
	struct fg_stored_history history; /* earlier runs of the baseline's branch */
	struct fg_store *store;           /* the store of `history` */
};

/*
 * Finds the baseline that `plan` names, builds both sides if a build is configured, and fills the
 * session's roots and the sides of its run. `plan` is the session's; it also gets the commands that
 * its benchmarks run in the baseline. FG_ENOENT: a commit, or a file taken from it, does not exist.
 * A missing stored baseline is not an error: a message names it.
 */
int fg_arms_open(struct fg_arms *arms, struct fg_session *session, struct fg_plan *plan,
		 struct fg_error *err) FG_NODISCARD;
/*
 * Like fg_arms_open(), for a run that was already measured. A run without a measured baseline gets
 * the stored baseline that the session's plan names.
 */
int fg_arms_open_stored(struct fg_arms *arms, struct fg_session *session, struct fg_error *err)
	FG_NODISCARD;
/* Fills in the gate's input about the arms. */
void fg_arms_describe(struct fg_arms *arms, struct fg_gate_input *input);
/*
 * Adds to every policy of the plan the slowdowns accepted by commits between the two sides
 * ("Fastgate-Accept: ..."). A malformed line is reported and skipped.
 */
void fg_arms_add_accepts(struct fg_session *session, struct fg_plan *plan);
void fg_arms_close(struct fg_arms *arms);

/* ---- shards.c ---- */

struct fg_shard {
	struct fg_stored_run stored;
	char *from; /* the shard's file, for display */
	unsigned index;
	unsigned count;
};

struct fg_shards {
	struct fg_shard *items;
	size_t count;
	size_t capacity;
};

/* Records the shard's number as a fact about the run's candidate. */
void fg_shard_mark(struct fg_run *run, unsigned index, unsigned count);
/* Returns false if the run is not a shard. */
bool fg_shard_of(const struct fg_run *run, unsigned *index, unsigned *count);

/*
 * Takes ownership of the run, even if it is refused because it is not a shard or does not match the
 * other shards.
 */
int fg_shards_add(struct fg_shards *shards, struct fg_stored_run *stored, const char *from,
		  struct fg_error *err) FG_NODISCARD;
/*
 * Merges the shards; the same shards always give the same id. The series are moved, so that
 * afterwards a shard has only its number. `missing` gets one line about absent shards, or stays
 * empty.
 */
void fg_shards_merge(struct fg_shards *shards, const struct fg_plan *plan,
		     struct fg_stored_run *merged, struct fg_strbuf *missing);

void fg_shards_release(struct fg_shards *shards);

#endif
