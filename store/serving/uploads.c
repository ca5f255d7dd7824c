// SPDX-License-Identifier: Apache-2.0
#include "store/serving/uploads.h"

#include "store/db.h"
#include "store/serving/limits.h"
#include "store/session.h"
#include "store/store.h"

int fg_store_upload_state(struct fg_store *store, const char *id, struct fg_upload_state *state,
			  struct fg_error *err)
{
	struct fg_query q;
	int status = FG_OK;

	*state = (struct fg_upload_state){0};
	FG_QUERY_WITH(&q, store->db, FG_SQL_RUN_PROJECT, FG_BIND(id));
	status = fg_query_step(&q, err);
	if (status > 0) {
		state->project = fg_column_copy(&q, 0);
		state->known = state->project;
		state->digest = fg_column_copy(&q, 1);
		state->complete = fg_column_int(&q, 2) != 0;
	}
	fg_query_end(&q);
	return status > 0 ? FG_OK : status;
}

void fg_upload_state_release(struct fg_upload_state *state)
{
	free(state->project);
	free(state->digest);
	*state = (struct fg_upload_state){0};
}

static bool is_taken(const struct fg_upload_state *state, const struct fg_run *run,
		     const char *digest)
{
	return strcmp(state->project, run->project) != 0 ||
	       (state->complete && (!state->digest || strcmp(state->digest, digest) != 0));
}

/* The size of a run is known only once it is stored, so the quota is checked before and after. */
static int save_within_quota(struct fg_store *store, const struct fg_stored_run *stored,
			     const char *digest, bool is_new, enum fg_upload_outcome *outcome,
			     struct fg_error *err)
{
	const struct fg_usage least = {.runs = is_new, .bytes = 1};
	const char *project = stored->run.project;
	int status = fg_store_check_quota(store, project, &least, err);

	*outcome = FG_UPLOAD_OVER_QUOTA;
	if (status != FG_OK)
		return status;
	*outcome = FG_UPLOAD_STORED;
	FG_TRY(fg_store_save_upload(store, stored, digest, err));
	status = fg_store_check_quota(store, project, &(struct fg_usage){0}, err);
	if (status == FG_ELIMIT)
		*outcome = FG_UPLOAD_OVER_QUOTA;
	return status;
}

int fg_store_put_upload(struct fg_store *store, const struct fg_stored_run *stored,
			const char *digest, enum fg_upload_outcome *outcome, struct fg_error *err)
{
	struct fg_upload_state state = {0};
	/*
	 * This transaction is the only writer: no other session can store the same run or use up
	 * the quota.
	 */
	int status = fg_store_upload_state(store, stored->run.id, &state, err);
	if (status != FG_OK)
		return status;
	if (state.known && is_taken(&state, &stored->run, digest))
		*outcome = FG_UPLOAD_TAKEN;
	else if (state.known && state.complete)
		*outcome = FG_UPLOAD_KNOWN;
	else
		status = save_within_quota(store, stored, digest, !state.known, outcome, err);
	fg_upload_state_release(&state);
	return status;
}
