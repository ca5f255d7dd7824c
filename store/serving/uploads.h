/* SPDX-License-Identifier: Apache-2.0 */
/* Runs that clients send to a server. */
#ifndef FG_STORE_SERVING_UPLOADS_H
#define FG_STORE_SERVING_UPLOADS_H

#include "base/base.h"
#include "base/error.h"

struct fg_store;
struct fg_stored_run;

/* State of an uploaded run in the store. */
struct fg_upload_state {
	bool known;
	char *project;
	char *digest; /* digest of the uploaded content; NULL: not uploaded */
	bool complete;
};

int fg_store_upload_state(struct fg_store *store, const char *id, struct fg_upload_state *state,
			  struct fg_error *err) FG_NODISCARD;
void fg_upload_state_release(struct fg_upload_state *state);

enum fg_upload_outcome {
	FG_UPLOAD_STORED,
	FG_UPLOAD_KNOWN,      /* the same content was stored before */
	FG_UPLOAD_TAKEN,      /* the id belongs to another run; nothing is stored */
	FG_UPLOAD_OVER_QUOTA, /* returned with FG_ELIMIT; undo the batch */
};

/*
 * Stores a run and the digest of the upload, in a transaction begun with fg_store_batch_begin(). A
 * known run costs one query; an incomplete run is replaced. The quota applies to the project's size
 * after the upload.
 */
int fg_store_put_upload(struct fg_store *store, const struct fg_stored_run *stored,
			const char *digest, enum fg_upload_outcome *outcome, struct fg_error *err)
	FG_NODISCARD;

#endif
