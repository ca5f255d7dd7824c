/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of a run and of its series, without values. */
#ifndef FG_STORE_RUN_ROWS_H
#define FG_STORE_RUN_ROWS_H

#include "base/base.h"
#include "base/error.h"
#include "model/run.h"

struct fg_store;

/* Columns that fg_store_put_run() writes in addition to the run itself. */
struct fg_run_head {
	bool complete;
	const char *outcome;
	const char *digest;
};

/* Replaces an earlier version of the run as a whole. */
int fg_store_put_run(struct fg_store *store, const struct fg_run *run,
		     const struct fg_run_head *head, int64_t *id, struct fg_error *err)
	FG_NODISCARD;
int fg_store_put_run_conditions(struct fg_store *store, int64_t id, const struct fg_run *run,
				struct fg_error *err) FG_NODISCARD;
int fg_store_put_series_conditions(struct fg_store *store, int64_t run,
				   const struct fg_series *series, size_t position,
				   struct fg_error *err) FG_NODISCARD;
int fg_store_put_series(struct fg_store *store, int64_t run_id, const struct fg_run *run,
			size_t position, int64_t *id, struct fg_error *err) FG_NODISCARD;
int fg_store_update_series(struct fg_store *store, const struct fg_series *series, int64_t id,
			   struct fg_error *err) FG_NODISCARD;
int fg_store_check_run(const struct fg_run *run, struct fg_error *err) FG_NODISCARD;

#endif
