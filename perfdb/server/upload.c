// SPDX-License-Identifier: Apache-2.0
/*
 * A run taken in.  The thread that received it does all the work: it opens the dictionary (or finds it in memory),
 * checks and packs the values.  The writer is asked twice at most: for rows of functions and call paths that nobody had
 * before, and for the run.
 */
#include "base/hash.h"
#include "perfdb/protocol.h"
#include "perfdb/server/request.h"
#include "store/ingest.h"
#include "store/query.h"

enum {
	UUID_LENGTH = 36
};

/* The id covers the envelope and the values: whether the dictionary travelled along makes no difference. */
static void content_digest(const struct fg_wire *wire, char hex[FG_SHA256_HEX_SIZE])
{
	uint8_t digest[FG_SHA256_SIZE];
	struct fg_sha256 sha;

	fg_sha256_init(&sha);
	fg_sha256_add(&sha, wire->envelope, wire->envelope_size);
	fg_sha256_add(&sha, wire->values, wire->values_size);
	fg_sha256_finish(&sha, digest);
	fg_hex(digest, sizeof(digest), hex);
}

static int check_body_hash(struct fg_request *rq, struct fg_error *err)
{
	const char *announced = fg__header(rq, FG_WIRE_HASH_HEADER);
	char hex[FG_SHA256_HEX_SIZE];

	if (!announced)
		return FG_OK;
	fg_sha256_hex(rq->body.data ? rq->body.data : "", rq->body.length, hex);
	if (strcmp(announced, hex) != 0)
		return fg_error_set(err, FG_EPARSE, "the body is not the one that %s announces",
				    FG_WIRE_HASH_HEADER);
	return FG_OK;
}

static int check_identity(struct fg_request *rq, const struct fg_stored_run *run,
			  struct fg_error *err)
{
	const char *key = fg__header(rq, FG_WIRE_KEY_HEADER);

	if (rq->project && strcmp(rq->project, run->run.project) != 0) {
		rq->status = 403;
		return fg_error_set(err, FG_EINVAL,
				    "this token is for another project than '%.100s'",
				    run->run.project);
	}
	if (key && strcmp(key, run->run.id) != 0)
		return fg_error_set(err, FG_EINVAL, "%s is not the run's id", FG_WIRE_KEY_HEADER);
	return FG_OK;
}

/* Known already?  Then the answer is clear without unpacking anything. */
static int check_known(struct fg_request *rq, const struct fg_wire *wire,
		       const struct fg_stored_run *run, bool *known, struct fg_error *err)
{
	struct fg_upload_state state = {0};
	int status = fg_store_upload_state(rq->store, run->run.id, &state, err);

	*known = false;
	if (status == FG_OK && state.known && strcmp(state.project, run->run.project) != 0) {
		rq->status = FG_HTTP_DIFFERENT;
		status = fg_error_set(err, FG_EINVAL, "the id %s is taken by another run",
				      run->run.id);
	} else if (status == FG_OK && state.known && state.complete) {
		char digest[FG_SHA256_HEX_SIZE];

		content_digest(wire, digest);
		*known = state.digest && strcmp(state.digest, digest) == 0;
		if (!*known) {
			rq->status = FG_HTTP_DIFFERENT;
			status = fg_error_set(err, FG_EINVAL,
					      "the id %s is taken by a run with other content",
					      run->run.id);
		}
	}
	fg_upload_state_release(&state);
	return status;
}

/* Sealed, as it travelled or as the database has it. */
static int dictionary_bytes(struct fg_request *rq, const struct fg_wire *wire, const char *hash,
			    struct fg_bytes *sealed, struct fg_error *err)
{
	int status = FG_OK;

	if (wire->dictionary_size) {
		fg_bytes_add(sealed, wire->dictionary, wire->dictionary_size);
		return FG_OK;
	}
	status = fg_store_dictionary_get(rq->store, hash, sealed, err);
	if (status == FG_ENOENT)
		rq->status = FG_HTTP_NO_DICTIONARY;
	return status;
}

/* What the writer does with a dictionary. */
struct new_dictionary {
	struct fg_dictionary *dictionary;
	const struct fg_bytes *sealed; /* NULL: the database has it */
	struct fg_ids *ids;
	bool tried; /* what the ids were then filled in with may not be there any more */
};

static int intern(struct fg_store *store, void *context, struct fg_error *err)
{
	struct new_dictionary *made = context;
	int status = FG_OK;

	if (made->tried)
		(void)fg_dictionary_look_up(made->dictionary, made->ids);
	made->tried = true;
	if (made->dictionary->missing)
		status = fg_store_dictionary_intern(store, made->dictionary, err);
	if (status == FG_OK && made->sealed)
		status = fg_store_dictionary_put(store, made->dictionary->hash, made->sealed, err);
	return status;
}

/* The dictionary that the run refers to, known to the database; to be given back. */
static int find_dictionary(struct fg_request *rq, const struct fg_wire *wire, const char *hash,
			   const struct fg_dictionary **dictionary, struct fg_error *err)
{
	struct fg_server *server = rq->server;
	struct fg_bytes sealed = {0};
	struct new_dictionary made = {.ids = server->ids};
	int status = FG_OK;

	*dictionary = fg__dictionaries_take(server->dictionaries, hash);
	if (*dictionary)
		return FG_OK;
	status = dictionary_bytes(rq, wire, hash, &sealed, err);
	if (status == FG_OK)
		status = fg_dictionary_open(&sealed, &fg_bundle_limits_default, hash,
					    &made.dictionary, err);
	if (status == FG_OK) {
		made.sealed = wire->dictionary_size ? &sealed : NULL;
		if (!fg_dictionary_look_up(made.dictionary, server->ids) || made.sealed)
			status = fg__writer_do(server->writer, intern, &made, err);
	}
	if (status == FG_OK) {
		fg_dictionary_finish(made.dictionary);
		*dictionary = fg__dictionaries_put(server->dictionaries, made.dictionary);
	} else {
		fg_dictionary_free(made.dictionary);
	}
	fg_bytes_release(&sealed);
	return status;
}

static void confirm(struct fg_request *rq, const char *id, bool stored)
{
	struct fg_json_writer w;
	char *url = fg_arena_printf(&rq->arena, "/?view=run&run=%s", id);

	rq->status = stored ? FG_HTTP_CREATED : FG_HTTP_OK;
	atomic_fetch_add(
		stored ? &rq->server->counters.runs_stored : &rq->server->counters.runs_known, 1);
	fg__json(rq, &w);
	fg_json_begin_object(&w, NULL);
	fg_json_text(&w, "run", id);
	fg_json_text(&w, "url", url);
	fg_json_bool(&w, "stored", stored);
	fg_json_end(&w);
}

/* What the writer does with a run. */
struct new_run {
	const struct fg_arrival *arrival;
	bool stored;
	bool taken; /* the id belongs to another run */
};

/* Whether it is there already is asked again inside the transaction: two copies may wait in the same queue. */
static int put_run(struct fg_store *store, void *context, struct fg_error *err)
{
	struct new_run *made = context;
	const struct fg_run *run = &made->arrival->stored.run;
	struct fg_upload_state state = {0};
	int status = fg_store_upload_state(store, run->id, &state, err);

	made->stored = false;
	if (status == FG_OK && state.known)
		made->taken = strcmp(state.project, run->project) != 0 ||
			      (state.complete &&
			       (!state.digest || strcmp(state.digest, made->arrival->digest) != 0));
	if (status == FG_OK && made->taken)
		status = fg_error_set(err, FG_EINVAL, "the id %s is taken by another run", run->id);
	if (status == FG_OK && !(state.known && state.complete)) {
		status = fg_store_put_arrival(store, made->arrival, !state.known, err);
		made->stored = status == FG_OK;
	}
	fg_upload_state_release(&state);
	return status;
}

/* What one request brought. */
struct incoming {
	struct fg_wire wire;
	struct fg_stored_run run; /* becomes part of the arrival */
	char hash[FG_SHA256_HEX_SIZE];
};

static int store_upload(struct fg_request *rq, struct incoming *in, struct fg_arrival *arrival,
			bool *stored, struct fg_error *err)
{
	const struct fg_dictionary *dictionary = NULL;
	struct new_run made = {.arrival = arrival};
	int status = find_dictionary(rq, &in->wire, in->hash, &dictionary, err);

	if (status == FG_OK)
		status = fg_arrival_make(&in->run, in->wire.values, in->wire.values_size,
					 dictionary, arrival, err);
	fg__dictionaries_give_back(rq->server->dictionaries, dictionary);
	if (status == FG_OK) {
		content_digest(&in->wire, arrival->digest);
		status = fg__writer_do(rq->server->writer, put_run, &made, err);
	}
	if (made.taken)
		rq->status = FG_HTTP_DIFFERENT;
	*stored = made.stored;
	return status;
}

int fg__upload(struct fg_request *rq, struct fg_error *err)
{
	struct incoming in = {0};
	struct fg_arrival arrival = {0};
	char id[UUID_LENGTH + 1] = "";
	bool known = false;
	bool stored = false;
	int status = FG_OK;

	if (rq->server->options.read_only) {
		rq->status = 403;
		return fg_error_set(err, FG_EINVAL, "this server only shows runs");
	}
	status = check_body_hash(rq, err);
	if (status == FG_OK)
		status = fg_wire_read(rq->body.data ? rq->body.data : "", rq->body.length, &in.wire,
				      err);
	if (status == FG_OK)
		status = fg_bundle_read_envelope(in.wire.envelope, in.wire.envelope_size,
						 &fg_bundle_limits_default, &in.run, in.hash, err);
	if (status == FG_OK)
		status = check_identity(rq, &in.run, err);
	if (status == FG_OK) {
		memcpy(id, in.run.run.id, sizeof(id));
		status = check_known(rq, &in.wire, &in.run, &known, err);
	}
	if (status == FG_OK && !known)
		status = store_upload(rq, &in, &arrival, &stored, err);
	if (status == FG_OK)
		confirm(rq, id, stored);
	fg_arrival_release(&arrival);
	fg_stored_run_release(&in.run);
	return status;
}

int fg__has_dictionary(struct fg_request *rq, struct fg_error *err)
{
	bool has = false;
	int status = fg_store_dictionary_has(rq->store, rq->tail, &has, err);

	if (status == FG_OK && !has)
		status = fg_error_set(err, FG_ENOENT, "this dictionary is not known here");
	if (status == FG_OK)
		fg_strbuf_add_text(&rq->answer, "known\n");
	return status;
}
