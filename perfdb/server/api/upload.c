// SPDX-License-Identifier: Apache-2.0
/*
 * A run is stored in up to three steps.  A worker opens its dictionary (or finds it in memory),
 * then checks and packs the values.  It goes to the writing thread at most twice: with rows of
 * functions and call paths that are new to the database, and with the run.
 */
#include "base/clock.h"
#include "base/hash.h"
#include "base/map.h"
#include "perfdb/protocol.h"
#include "perfdb/server/alerter.h"
#include "perfdb/server/api/handlers.h"
#include "perfdb/server/dictionaries.h"
#include "perfdb/server/news.h"
#include "perfdb/server/quotas.h"
#include "perfdb/server/remembered.h"
#include "store/bundle.h"
#include "store/bytes.h"
#include "store/serving/dictionary.h"
#include "store/serving/ingest.h"
#include "store/serving/limits.h"
#include "store/serving/uploads.h"
#include "store/store.h"

enum {
	UUID_LENGTH = 36,
	YEAR_2000_SECONDS = 946684800,
	DAY_SECONDS = 86400
};

/* What the writing thread does with the names of a dictionary. */
struct new_dictionary {
	struct fg_dictionary *dictionary;
	struct fg_ids *ids;
	bool tried; /* a rolled back transaction may have taken its ids with it */
};

/* What the writing thread does with a run. */
struct new_run {
	const struct fg_arrival *arrival;
	const struct fg_write *write; /* what is known of the run, and of its project */
	struct fg_news *news;         /* if the project has alert rules */
	const char *public_url;
	const char *hash;              /* of the dictionary */
	const struct fg_bytes *packed; /* to be kept with the run; NULL: no dictionary is */
	bool tried;
	bool stored;
	bool taken; /* the id belongs to another run */
};

/* One upload in progress. */
struct fg_incoming {
	struct fg_wire wire;
	struct fg_stored_run run; /* becomes part of the arrival */
	char id[UUID_LENGTH + 1];
	const char *project;
	char digest[FG_SHA256_HEX_SIZE];
	char hash[FG_SHA256_HEX_SIZE]; /* of the dictionary */
	struct fg_bytes packed;        /* the dictionary, unless it is in memory */
	struct new_dictionary opened;
	struct fg_arrival arrival;
	struct fg_news news;
	struct new_run made;
};

/*
 * A token for one project may refer only to dictionaries that were brought to that project: the
 * names in another project's are not for it, nor whether they exist.
 */
static bool may_refer(struct fg_request *rq, const char *hash)
{
	return !rq->project ||
	       fg_remembered_have(rq->server->dictionary_users,
				  fg_arena_printf(&rq->arena, "%s %s", rq->project, hash));
}

static void note_dictionary(struct fg_request *rq)
{
	const struct fg_incoming *up = rq->upload;

	if (up->wire.dictionary_size)
		fg_remembered_add(
			rq->server->dictionary_users,
			fg_arena_printf(&rq->arena, "%s %s", up->run.run.project, up->hash));
}

static int check_time(int64_t ns, struct fg_error *err)
{
	if (ns >= YEAR_2000_SECONDS * FG_NS_PER_S &&
	    ns <= fg_clock_wall_ns() + DAY_SECONDS * FG_NS_PER_S)
		return FG_OK;
	return fg_error_set(err, FG_EINVAL,
			    "the run's time is before 2000 or in the future: is a clock wrong?");
}

static int check_body_hash(struct fg_request *rq, struct fg_error *err)
{
	const char *announced = fg_request_header(rq, FG_WIRE_HASH_HEADER);
	char hex[FG_SHA256_HEX_SIZE];

	if (!announced)
		return FG_OK;
	fg_sha256_hex(fg_body_data(&rq->body), rq->body.size, hex);
	if (strcmp(announced, hex) != 0)
		return fg_error_set(err, FG_EPARSE, "the body is not the one that %s announces",
				    FG_WIRE_HASH_HEADER);
	return FG_OK;
}

static int check_identity(struct fg_request *rq, const struct fg_run *run, struct fg_error *err)
{
	const char *key = fg_request_header(rq, FG_WIRE_KEY_HEADER);

	if (rq->project && strcmp(rq->project, run->project) != 0) {
		rq->answer.status = 403;
		return fg_error_set(err, FG_EINVAL,
				    "this token is for another project than '%.100s'",
				    run->project);
	}
	if (key && strcmp(key, run->id) != 0)
		return fg_error_set(err, FG_EINVAL, "%s is not the run's id", FG_WIRE_KEY_HEADER);
	return FG_OK;
}

static int id_is_taken(struct fg_request *rq, const char *id, struct fg_error *err)
{
	rq->answer.status = FG_HTTP_DIFFERENT;
	return fg_error_set(err, FG_EINVAL, "the id %s is taken by another run", id);
}

/* Is the run stored already? */
static int check_known(struct fg_request *rq, bool *known, struct fg_error *err)
{
	const struct fg_incoming *up = rq->upload;
	struct fg_upload_state state = {0};
	int status = fg_store_upload_state(rq->store, up->id, &state, err);

	*known = false;
	if (status != FG_OK)
		return status;
	if (state.known && strcmp(state.project, up->project) != 0) {
		status = id_is_taken(rq, up->id, err);
	} else if (state.known && state.complete) {
		*known = state.digest && strcmp(state.digest, up->digest) == 0;
		if (!*known)
			status = id_is_taken(rq, up->id, err);
	}
	fg_upload_state_release(&state);
	return status;
}

/* The packed dictionary: from the body, or from the database. */
static int read_dictionary(struct fg_request *rq, struct fg_error *err)
{
	struct fg_incoming *up = rq->upload;
	int status = FG_OK;

	if (up->wire.dictionary_size) {
		fg_bytes_add(&up->packed, up->wire.dictionary, up->wire.dictionary_size);
		return FG_OK;
	}
	status = may_refer(rq, up->hash)
			 ? fg_store_dictionary_get(rq->store, up->hash, &up->packed, err)
			 : fg_error_set(err, FG_ENOENT, "this dictionary is not known here");
	if (status == FG_ENOENT)
		rq->answer.status = FG_HTTP_NO_DICTIONARY;
	return status;
}

static int intern(struct fg_store *store, void *context, struct fg_error *err)
{
	struct new_dictionary *made = context;
	int status = FG_OK;

	if (made->tried)
		(void)fg_dictionary_look_up(made->dictionary, made->ids);
	made->tried = true;
	if (made->dictionary->ids.missing)
		status = fg_store_dictionary_intern(store, made->dictionary, err);
	return status;
}

static void confirm(struct fg_request *rq, bool stored)
{
	const struct fg_incoming *up = rq->upload;
	struct fg_counters *counters = &rq->server->counters;
	struct fg_json_writer w;

	rq->answer.status = stored ? FG_HTTP_CREATED : FG_HTTP_OK;
	atomic_fetch_add(stored ? &counters->runs_stored : &counters->runs_known, 1);
	fg_request_json(rq, &w);
	fg_json_begin_object(&w, NULL);
	fg_json_text(&w, "run", up->id);
	fg_json_text(&w, "digest", up->digest);
	fg_json_text(&w, "url", fg_arena_printf(&rq->arena, "/?view=run&run=%s", up->id));
	fg_json_bool(&w, "stored", stored);
	fg_json_end(&w);
}

static int put_news(struct fg_store *store, struct new_run *made, struct fg_error *err)
{
	struct fg_news *news = made->news;
	int status = FG_OK;

	fg_news_release(news); /* of an attempt before */
	status = fg_store_alert_rule_list(store, made->arrival->stored.run.project, &news->rules,
					  err);
	if (status != FG_OK)
		return status;
	fg_news_make(news, made->arrival, made->public_url);
	if (!news->told.count && !news->told.search_count)
		return FG_OK;
	return fg_store_alerts_put(store, &news->told, err);
}

static int put(struct fg_store *store, struct new_run *made, bool is_new, struct fg_error *err)
{
	int status = fg_store_put_arrival(store, made->arrival, is_new, err);

	if (status != FG_OK)
		return status;
	if (made->write->known & FG_UPLOAD_HAS_RULES)
		status = put_news(store, made, err);
	if (status != FG_OK)
		return status;
	if (made->packed)
		status = fg_store_dictionary_put(store, made->hash, made->packed, err);
	made->stored = status == FG_OK;
	return status;
}

/* Asks inside of the transaction what is there. */
static int put_unless_known(struct fg_store *store, struct new_run *made, struct fg_error *err)
{
	const struct fg_run *run = &made->arrival->stored.run;
	struct fg_upload_state state = {0};
	int status = fg_store_upload_state(store, run->id, &state, err);

	if (status != FG_OK)
		return status;
	if (state.known)
		made->taken = strcmp(state.project, run->project) != 0 ||
			      (state.complete &&
			       (!state.digest || strcmp(state.digest, made->arrival->digest) != 0));
	if (made->taken)
		status = fg_error_set(err, FG_EINVAL, "the id %s is taken by another run", run->id);
	else if (!state.known || !state.complete)
		status = put(store, made, !state.known, err);
	fg_upload_state_release(&state);
	return status;
}

/*
 * If the run was not there when the batch began, but is by now, as when two copies wait in the same
 * queue, the batch fails, and each of its writes is done again.
 */
static int put_run(struct fg_store *store, void *context, struct fg_error *err)
{
	struct new_run *made = context;
	const bool may_be_there = made->tried || made->write->known & FG_UPLOAD_HAS_RUN;

	made->stored = false;
	made->taken = false;
	made->tried = true;
	return may_be_there ? put_unless_known(store, made, err) : put(store, made, true, err);
}

/* Runs of one project with the same benchmarks usually have nearly the same dictionary. */
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

/* The end of a step: releases the upload unless it goes on after a write. */
static int leave(struct fg_request *rq, int status)
{
	struct fg_incoming *up = rq->upload;

	if (rq->then)
		return status;
	fg_dictionary_abandon(up->opened.dictionary);
	fg_bytes_release(&up->packed);
	fg_news_release(&up->news);
	fg_arrival_release(&up->arrival);
	fg_stored_run_release(&up->run);
	free(up);
	rq->upload = NULL;
	return status;
}

static int run_written(struct fg_request *rq, struct fg_error *err)
{
	const struct fg_incoming *up = rq->upload;

	(void)err; /* is the write's */
	if (up->made.taken)
		rq->answer.status = FG_HTTP_DIFFERENT;
	if (up->made.stored && rq->write.status == FG_OK)
		fg_quotas_add(
			rq->server->quotas, up->arrival.stored.run.project,
			&(struct fg_usage){.runs = 1, .bytes = fg_arrival_bytes(&up->arrival)});
	if (up->made.packed && (rq->write.status != FG_OK || !up->made.stored))
		fg_dictionaries_give_up(rq->server->dictionaries, up->hash);
	if (rq->write.status == FG_OK)
		confirm(rq, up->made.stored);
	if (rq->write.status == FG_OK && (up->news.told.count || up->news.told.search_count))
		fg_alerter_wake(rq->server->alerter);
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
	memcpy(up->arrival.digest, up->digest, sizeof(up->digest));
	up->made.arrival = &up->arrival;
	up->made.write = &rq->write;
	up->made.news = &up->news;
	up->made.public_url = rq->server->options.public_url;
	rq->write.run = up->id;
	rq->write.project = up->project;
	rq->write.adds_names = up->made.packed;
	rq->write.is_between = false;
	fg_request_write(rq, put_run, &up->made, run_written);
	return FG_OK;
}

/* The database knows all of the dictionary. */
static int keep_dictionary(struct fg_request *rq, struct fg_error *err)
{
	struct fg_incoming *up = rq->upload;
	struct fg_dictionary *dictionary = up->opened.dictionary;

	up->opened.dictionary = NULL;
	fg_bytes_release(&up->packed);
	fg_dictionary_finish(dictionary);
	return make_run(rq,
			fg_dictionaries_put(rq->server->dictionaries, dictionary,
					    up->wire.dictionary_size == 0),
			err);
}

static int dictionary_written(struct fg_request *rq, struct fg_error *err)
{
	if (rq->write.status != FG_OK)
		return leave(rq, rq->write.status);
	return leave(rq, keep_dictionary(rq, err));
}

/*
 * A dictionary goes into the database when it is brought for the second time: most code that
 * changes is measured once.
 */
static void keep_if_brought_again(struct fg_request *rq)
{
	struct fg_incoming *up = rq->upload;

	if (up->wire.dictionary_size == 0 ||
	    !fg_dictionaries_claim(rq->server->dictionaries, up->hash))
		return;
	fg_bytes_add(&up->packed, up->wire.dictionary, up->wire.dictionary_size);
	up->made.hash = up->hash;
	up->made.packed = &up->packed;
}

/* Beside the one before of the same program. */
static int open_dictionary(struct fg_request *rq, struct fg_error *err)
{
	struct fg_incoming *up = rq->upload;
	struct fg_dictionary *base = NULL;
	int status = read_dictionary(rq, err);

	if (status != FG_OK)
		return status;
	base = fg_dictionaries_newest(rq->server->dictionaries, program_of(&up->run.run));
	status = fg_dictionary_open(&up->packed, &fg_bundle_limits_default, up->hash, base,
				    &up->opened.dictionary, err);
	fg_dictionary_free(base);
	return status;
}

/* Finds the dictionary that the run refers to, and goes on with it. */
static int store_run(struct fg_request *rq, struct fg_error *err)
{
	struct fg_server *server = rq->server;
	struct fg_incoming *up = rq->upload;
	struct new_dictionary *opened = &up->opened;
	const struct fg_dictionary *known =
		may_refer(rq, up->hash) ? fg_dictionaries_take(server->dictionaries, up->hash)
					: NULL;
	bool is_known = false;
	int status = FG_OK;

	if (known) {
		keep_if_brought_again(rq);
		return make_run(rq, known, err);
	}
	status = open_dictionary(rq, err);
	if (status != FG_OK)
		return status;
	note_dictionary(rq);
	opened->ids = server->ids;
	is_known = fg_dictionary_look_up(opened->dictionary, server->ids);
	fg_dictionaries_opened(server->dictionaries, opened->dictionary, program_of(&up->run.run));
	if (is_known)
		return keep_dictionary(rq, err);
	rq->write.adds_names = true;
	rq->write.is_between = true;
	fg_request_write(rq, intern, opened, dictionary_written);
	return FG_OK;
}

static int write_nothing(struct fg_store *store, void *context, struct fg_error *err)
{
	(void)store;
	(void)context;
	(void)err;
	return FG_OK;
}

static int known_is_kept(struct fg_request *rq, struct fg_error *err)
{
	(void)err; /* is the write's */
	if (rq->write.status == FG_OK)
		confirm(rq, false);
	return leave(rq, rq->write.status);
}

static int read_upload(struct fg_request *rq, struct fg_error *err)
{
	struct fg_incoming *up = rq->upload;
	int status = fg_wire_read(fg_body_data(&rq->body), rq->body.size, &up->wire, err);

	if (status != FG_OK)
		return status;
	fg_wire_digest(&up->wire, up->digest);
	status = fg_bundle_read_envelope(up->wire.envelope, up->wire.envelope_size,
					 &fg_bundle_limits_default, &up->run, up->hash, err);
	if (status != FG_OK)
		return status;
	memcpy(up->id, up->run.run.id, sizeof(up->id));
	up->project = fg_arena_strdup(&rq->arena, up->run.run.project);
	status = check_time(up->run.run.started_ns, err);
	if (status != FG_OK)
		return status;
	return check_identity(rq, &up->run.run, err);
}

static const struct fg_usage one_run = {.runs = 1};

/*
 * Whether a run is there is asked when it is written, for many at once.  If it does not come so
 * far, what is wrong with this copy does not matter if the run is there.
 */
static int refuse_unless_known(struct fg_request *rq, const struct fg_error *reason,
			       struct fg_error *err)
{
	const int http_status = rq->answer.status;
	const char *refusal = rq->answer.refusal;
	bool known = false;
	int status = FG_OK;

	rq->answer.status = 0;
	rq->answer.refusal = NULL;
	status = check_known(rq, &known, err);
	if (rq->answer.status == FG_HTTP_DIFFERENT)
		return status;
	/* It may be on its way to the disk: what waits behind it is confirmed after it. */
	if (known) {
		fg_request_write(rq, write_nothing, NULL, known_is_kept);
		return FG_OK;
	}
	/* If that is what stands in its way, it is counted and called so. */
	status = fg_request_check_quota(rq, rq->upload->project, &one_run, err);
	if (status != FG_OK)
		return status;
	rq->answer.status = http_status;
	rq->answer.refusal = refusal;
	*err = *reason;
	return (int)reason->code;
}

int fg_handle_upload(struct fg_request *rq, struct fg_error *err)
{
	struct fg_error reason = {0};
	int status = FG_OK;

	status = check_body_hash(rq, err);
	if (status != FG_OK)
		return status;
	rq->upload = fg_xcalloc(1, sizeof(*rq->upload));
	status = read_upload(rq, err);
	if (status != FG_OK)
		return leave(rq, status);
	status = fg_quotas_check(rq->server->quotas, rq->store, rq->upload->project, &one_run,
				 &reason);
	if (status == FG_OK)
		status = store_run(rq, &reason);
	if (status != FG_OK)
		status = refuse_unless_known(rq, &reason, err);
	return leave(rq, status);
}

static int find_dictionary(struct fg_request *rq, bool *has, struct fg_error *err)
{
	struct fg_dictionaries *kept = rq->server->dictionaries;
	const struct fg_dictionary *known = NULL;

	*has = false;
	if (!may_refer(rq, rq->tail))
		return FG_OK;
	known = fg_dictionaries_take(kept, rq->tail);
	fg_dictionaries_give_back(kept, known);
	*has = known;
	return known ? FG_OK : fg_store_dictionary_has(rq->store, rq->tail, has, err);
}

int fg_handle_has_dictionary(struct fg_request *rq, struct fg_error *err)
{
	bool has = false;
	int status = find_dictionary(rq, &has, err);

	if (status != FG_OK)
		return status;
	if (!has)
		return fg_error_set(err, FG_ENOENT, "this dictionary is not known here");
	fg_strbuf_add_text(&rq->answer.text, "known\n");
	return FG_OK;
}
