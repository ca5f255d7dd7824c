/* SPDX-License-Identifier: Apache-2.0 */
/* The call paths of one or two runs as one tree. */
#ifndef FG_STORE_SERVING_PATHS_H
#define FG_STORE_SERVING_PATHS_H

#include "base/base.h"
#include "base/error.h"
#include "model/profile_set.h"
#include "store/serving/side.h"

struct fg_store;

/*
 * The call paths of one or two sides as columns; node 0 is the root, parents come before their
 * children.
 */
struct fg_path_tree {
	/* functions and nodes; no rows.  Texts are the store's, until its next question */
	struct fg_profile_set set;
	double *self[2]; /* one per node */
	double *inclusive[2];
	uint32_t repetitions[2];
};

/* sides[1].run NULL: one side only. */
int fg_store_paths(struct fg_store *store, const struct fg_run_side sides[2], const char *benchmark,
		   struct fg_path_tree *tree, struct fg_error *err) FG_NODISCARD;

void fg_path_tree_release(struct fg_path_tree *tree);

#endif
