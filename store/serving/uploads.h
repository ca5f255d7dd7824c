/* SPDX-License-Identifier: Apache-2.0 */
/* What a server remembers about uploads: digests and dictionaries. */
#ifndef FG_STORE_SERVING_UPLOADS_H
#define FG_STORE_SERVING_UPLOADS_H

#include "base/base.h"
#include "base/error.h"

struct fg_store;
struct fg_bytes;

/* What the store knows about an uploaded run. */
struct fg_upload_state {
	bool known;
	char *project;
	char *digest; /* of the uploaded content; NULL: not uploaded */
	bool complete;
};

int fg_store_upload_state(struct fg_store *store, const char *id, struct fg_upload_state *state,
			  struct fg_error *err) FG_NODISCARD;

/* What matters to a run that is about to be stored. */
enum fg_upload_known {
	FG_UPLOAD_HAS_RULES = 1, /* the project that it is uploaded to has alert rules */
	FG_UPLOAD_HAS_RUN = 2    /* a run of this id is there */
};

/* For many uploads at once: known[i] is made of the values above. */
int fg_store_upload_expect(struct fg_store *store, const char *const *runs,
			   const char *const *projects, size_t count, int64_t *known,
			   struct fg_error *err) FG_NODISCARD;

void fg_upload_state_release(struct fg_upload_state *state);

int fg_store_set_digest(struct fg_store *store, const char *id, const char *digest,
			struct fg_error *err) FG_NODISCARD;

/* Dictionaries that the store has seen, by hash, so that clients need not send them again. */
int fg_store_dictionary_has(struct fg_store *store, const char *hash, bool *has,
			    struct fg_error *err) FG_NODISCARD;

int fg_store_dictionary_put(struct fg_store *store, const char *hash, const struct fg_bytes *packed,
			    struct fg_error *err) FG_NODISCARD;

/* FG_ENOENT: unknown.  Appended to `packed`. */
int fg_store_dictionary_get(struct fg_store *store, const char *hash, struct fg_bytes *packed,
			    struct fg_error *err) FG_NODISCARD;

#endif
