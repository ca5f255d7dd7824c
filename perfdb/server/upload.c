// SPDX-License-Identifier: Apache-2.0
/*
 * A run taken in, in up to three steps.  A worker opens the dictionary (or finds it in memory),
 * checks and packs the values.  Twice at most there is something to write before it can go on: rows
 * of functions and call paths that nobody had before, and the run.
 */
#include "base/hash.h"
#include "base/map.h"
#include "perfdb/protocol.h"
#include "perfdb/server/request.h"
#include "store/serving/dictionary.h"
#include "store/serving/ingest.h"
#include "store/serving/uploads.h"
#include "store/store.h"

enum {
	UUID_LENGTH = 36
};

/*
 * The id covers the envelope and the values: whether the dictionary travelled along makes no
 * difference.
 */
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
	const char *announced = fg_header(rq, FG_WIRE_HASH_HEADER);
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
	const char *key = fg_header(rq, FG_WIRE_KEY_HEADER);

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

static void confirm(struct fg_request *rq, const char *id, bool stored)
{
	struct fg_json_writer w;
	char *url = fg_arena_printf(&rq->arena, "/?view=run&run=%s", id);

	rq->status = stored ? FG_HTTP_CREATED : FG_HTTP_OK;
	atomic_fetch_add(
		stored ? &rq->server->counters.runs_stored : &rq->server->counters.runs_known, 1);
	fg_json(rq, &w);
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

/*
 * Whether it is there already is asked again inside the transaction: two copies may wait in the
 * same queue.
 */
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

/* What one request brought, and what became of it so far. */
struct fg_incoming {
	struct fg_wire wire;
	struct fg_stored_run run; /* becomes part of the arrival */
	char id[UUID_LENGTH + 1];
	char hash[FG_SHA256_HEX_SIZE];
	struct fg_bytes sealed; /* a dictionary that is not in memory */
	uint64_t program;
	const struct fg_dictionary *base; /* to be given back */
	struct new_dictionary opened;
	struct fg_arrival arrival;
	struct new_run made;
};

/* Runs of one project with the same benchmarks have, as a rule, nearly the same dictionary. */
static uint64_t program_of(const struct fg_run *run)
{
	struct fg_strbuf key = {0};
	uint64_t hash = 0;

	fg_strbuf_add(&key, run->project, strlen(run->project) + 1);
	for (size_t i = 0; i < run->series_count; i++)
		fg_strbuf_add(&key, run->series[i].name, strlen(run->series[i].name) + 1);
	hash = fg_map_hash(key.data, key.length);
	fg_strbuf_release(&key);
	return hash;
}

static void give_base_back(struct fg_request *rq)
{
	fg_dictionaries_give_back(rq->server->dictionaries, rq->upload->base);
	rq->upload->base = NULL;
}

static void end(struct fg_request *rq)
{
	struct fg_incoming *up = rq->upload;

	fg_dictionary_free(up->opened.dictionary);
	give_base_back(rq);
	fg_bytes_release(&up->sealed);
	fg_arrival_release(&up->arrival);
	fg_stored_run_release(&up->run);
	free(up);
	rq->upload = NULL;
}

/* Done, unless there is something to write. */
static int leave(struct fg_request *rq, int status)
{
	if (!rq->then)
		end(rq);
	return status;
}

static void write_later(struct fg_request *rq, fg_writer_task *task, void *context,
			fg_handler *then)
{
	rq->write = (struct fg_write){.task = task, .context = context};
	rq->then = then;
}

static int run_written(struct fg_request *rq, struct fg_error *err)
{
	const struct fg_incoming *up = rq->upload;

	(void)err; /* is the write's */
	if (up->made.taken)
		rq->status = FG_HTTP_DIFFERENT;
	if (rq->write.status == FG_OK)
		confirm(rq, up->id, up->made.stored);
	return leave(rq, rq->write.status);
}

/* Gives the dictionary back. */
static int make_run(struct fg_request *rq, const struct fg_dictionary *dictionary,
		    struct fg_error *err)
{
	struct fg_incoming *up = rq->upload;
	int status = fg_arrival_make(&up->run, up->wire.values, up->wire.values_size, dictionary,
				     &up->arrival, err);

	fg_dictionaries_give_back(rq->server->dictionaries, dictionary);
	if (status != FG_OK)
		return status;
	content_digest(&up->wire, up->arrival.digest);
	up->made.arrival = &up->arrival;
	write_later(rq, put_run, &up->made, run_written);
	return FG_OK;
}

/* All of it is known to the database. */
static int keep_dictionary(struct fg_request *rq, struct fg_error *err)
{
	struct fg_incoming *up = rq->upload;
	struct fg_dictionary *dictionary = up->opened.dictionary;

	up->opened.dictionary = NULL;
	fg_bytes_release(&up->sealed);
	fg_dictionary_finish(dictionary);
	give_base_back(rq);
	return make_run(rq, fg_dictionaries_put(rq->server->dictionaries, dictionary, up->program),
			err);
}

static int dictionary_written(struct fg_request *rq, struct fg_error *err)
{
	int status = rq->write.status;

	if (status == FG_OK)
		status = keep_dictionary(rq, err);
	return leave(rq, status);
}

/* Find the dictionary that the run refers to, and go on with it. */
static int store_run(struct fg_request *rq, struct fg_error *err)
{
	struct fg_server *server = rq->server;
	struct fg_incoming *up = rq->upload;
	struct new_dictionary *opened = &up->opened;
	const struct fg_dictionary *known = fg_dictionaries_take(server->dictionaries, up->hash);
	int status = FG_OK;

	if (known)
		return make_run(rq, known, err);
	status = dictionary_bytes(rq, &up->wire, up->hash, &up->sealed, err);
	up->program = program_of(&up->run.run);
	up->base = fg_dictionaries_newest(server->dictionaries, up->program);
	if (status == FG_OK)
		status = fg_dictionary_open(&up->sealed, &fg_bundle_limits_default, up->hash,
					    up->base, &opened->dictionary, err);
	if (status != FG_OK)
		return status;
	opened->ids = server->ids;
	opened->sealed = up->wire.dictionary_size ? &up->sealed : NULL;
	if (fg_dictionary_look_up(opened->dictionary, server->ids) && !opened->sealed)
		return keep_dictionary(rq, err);
	write_later(rq, intern, opened, dictionary_written);
	return FG_OK;
}

static int read_upload(struct fg_request *rq, struct fg_incoming *up, struct fg_error *err)
{
	int status =
		fg_wire_read(rq->body.data ? rq->body.data : "", rq->body.length, &up->wire, err);

	if (status == FG_OK)
		status =
			fg_bundle_read_envelope(up->wire.envelope, up->wire.envelope_size,
						&fg_bundle_limits_default, &up->run, up->hash, err);
	if (status == FG_OK)
		status = check_identity(rq, &up->run, err);
	if (status == FG_OK)
		memcpy(up->id, up->run.run.id, sizeof(up->id));
	return status;
}

int fg_handle_upload(struct fg_request *rq, struct fg_error *err)
{
	struct fg_incoming *up = NULL;
	bool known = false;
	int status = FG_OK;

	if (rq->server->options.read_only) {
		rq->status = 403;
		return fg_error_set(err, FG_EINVAL, "this server only shows runs");
	}
	status = check_body_hash(rq, err);
	if (status != FG_OK)
		return status;
	up = fg_xcalloc(1, sizeof(*up));
	rq->upload = up;
	status = read_upload(rq, up, err);
	if (status == FG_OK)
		status = check_known(rq, &up->wire, &up->run, &known, err);
	if (status == FG_OK && known)
		confirm(rq, up->id, false);
	else if (status == FG_OK)
		status = store_run(rq, err);
	return leave(rq, status);
}

int fg_handle_has_dictionary(struct fg_request *rq, struct fg_error *err)
{
	bool has = false;
	int status = fg_store_dictionary_has(rq->store, rq->tail, &has, err);

	if (status == FG_OK && !has)
		status = fg_error_set(err, FG_ENOENT, "this dictionary is not known here");
	if (status == FG_OK)
		fg_strbuf_add_text(&rq->answer, "known\n");
	return status;
}
