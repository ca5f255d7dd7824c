/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stored runs as a chain of ratios, and the creep in it: gate/chain.h and gate/creep.h with the
 * store's runs.
 */
#ifndef FG_CLI_SESSION_CREEP_H
#define FG_CLI_SESSION_CREEP_H

#include "cli/session/session.h"
#include "gate/chain.h"
#include "gate/creep_functions.h"
#include "store/serving/chain.h"

/* A metric of a benchmark. */
struct fg_chained_metric {
	const char *project;
	const char *benchmark;
	const char *name;
	const char *label;
	enum fg_better better;
};

struct fg_chained {
	struct fg_chain_edges edges;
	struct fg_chain chain;          /* up to the newest commit */
	struct fg_creep_verdict *creep; /* NULL: too few steps */
	struct fg_arena *arena;         /* holds the creep; NULL: the edges' texts do */
	struct fg_creep_pool *pool;     /* also gets the functions of this benchmark; may be NULL */
};

/*
 * `own` is a run that is not stored yet, or NULL; its texts must outlive the result.  Without a
 * `policy`, that of the newest run counts.  An empty chain is not an error.
 */
int fg_chained_load(struct fg_store *store, const struct fg_chained_metric *metric,
		    const struct fg_policy *policy, const struct fg_chain_edge *own,
		    struct fg_chained *chained, struct fg_error *err) FG_NODISCARD;
void fg_chained_release(struct fg_chained *chained);

/* The first ones of a pool by name; returns how many. */
size_t fg_creep_name(struct fg_store *store, const struct fg_creep_rise *rises, size_t count,
		     struct fg_arena *arena, struct fg_creep_function **named);

/*
 * After fg_gate_decide(): adds to the verdict the creep that ends with this run, and notes whether
 * an anchor is wanted.  A store that cannot be read is a warning.
 */
void fg_session_add_creep(struct fg_session *session, const struct fg_gate_input *input);

#endif
