// SPDX-License-Identifier: Apache-2.0
/* Runs: taken in, listed, shown, removed. */
#include "base/clock.h"
#include "base/hash.h"
#include "base/text.h"
#include "perfdb/protocol.h"
#include "perfdb/server/request.h"
#include "store/bundle.h"
#include "store/query.h"

enum {
	UUID_LENGTH = 36,
	LIST_MAX = 1000
};

int fg__find_run(struct fg_request *rq, const char *words, const char **id, struct fg_error *err)
{
	struct fg_upload_state state = {0};
	char found[UUID_LENGTH + 1] = "";
	int status = fg_store_find(rq->store, rq->project, words, found, err);

	if (status == FG_OK)
		status = fg_store_upload_state(rq->store, found, &state, err);
	if (status == FG_OK)
		status = fg__may_see(rq, state.project, err);
	fg_upload_state_release(&state);
	*id = fg_arena_strdup(&rq->arena, found);
	return status;
}

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
static int check_known(struct fg_request *rq, const struct fg_stored_run *run, const char *digest,
		       bool *known, struct fg_error *err)
{
	struct fg_upload_state state = {0};
	int status = fg_store_upload_state(rq->store, run->run.id, &state, err);

	*known = false;
	if (status == FG_OK && state.known && strcmp(state.project, run->run.project) != 0) {
		rq->status = FG_HTTP_DIFFERENT;
		status = fg_error_set(err, FG_EINVAL, "the id %s is taken by another run",
				      run->run.id);
	} else if (status == FG_OK && state.known && state.complete) {
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

/* The parts as a bundle; the dictionary from the database when it did not travel. */
static int gather(struct fg_request *rq, const struct fg_wire *wire, const char *hash,
		  struct fg_bundle *bundle, struct fg_error *err)
{
	int status = FG_OK;

	fg_strbuf_add(&bundle->envelope, wire->envelope, wire->envelope_size);
	fg_bytes_add(&bundle->values, wire->values, wire->values_size);
	if (wire->dictionary_size) {
		fg_bytes_add(&bundle->dictionary, wire->dictionary, wire->dictionary_size);
		return FG_OK;
	}
	status = fg_store_dictionary_get(rq->store, hash, &bundle->dictionary, err);
	if (status == FG_ENOENT)
		rq->status = FG_HTTP_NO_DICTIONARY;
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

static int store_upload(struct fg_request *rq, const struct fg_wire *wire, const char *hash,
			const char *digest, bool *stored, struct fg_error *err)
{
	struct fg_bundle bundle = {0};
	struct fg_stored_run run = {0};
	int status = gather(rq, wire, hash, &bundle, err);

	if (status == FG_OK)
		status = fg_bundle_to_run(&bundle, &fg_bundle_limits_default, &run, err);
	if (status == FG_OK) {
		const struct fg__arrival upload = {
			.run = &run,
			.digest = digest,
			.dictionary_hash = hash,
			.dictionary = wire->dictionary_size ? &bundle.dictionary : NULL};

		status = fg__writer_store(rq->server->writer, &upload, stored, err);
	}
	if (status == FG_EINVAL)
		rq->status = FG_HTTP_DIFFERENT;
	fg_stored_run_release(&run);
	fg_bundle_release(&bundle);
	return status;
}

int fg__upload(struct fg_request *rq, struct fg_error *err)
{
	struct fg_wire wire = {0};
	struct fg_stored_run run = {0};
	char hash[FG_SHA256_HEX_SIZE] = "";
	char digest[FG_SHA256_HEX_SIZE] = "";
	bool known = false;
	bool stored = false;
	int status = check_body_hash(rq, err);

	if (rq->server->options.read_only) {
		rq->status = 403;
		return fg_error_set(err, FG_EINVAL, "this server only shows runs");
	}
	if (status == FG_OK)
		status = fg_wire_read(rq->body.data ? rq->body.data : "", rq->body.length, &wire,
				      err);
	if (status == FG_OK)
		status = fg_bundle_read_envelope(wire.envelope, wire.envelope_size,
						 &fg_bundle_limits_default, &run, hash, err);
	if (status == FG_OK)
		status = check_identity(rq, &run, err);
	if (status == FG_OK) {
		content_digest(&wire, digest);
		status = check_known(rq, &run, digest, &known, err);
	}
	if (status == FG_OK && !known) {
		/* The writer has a session of its own; this one need not wait with it. */
		status = store_upload(rq, &wire, hash, digest, &stored, err);
	}
	if (status == FG_OK)
		confirm(rq, run.run.id, stored);
	fg_stored_run_release(&run);
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

static void write_summary(struct fg_json_writer *w, const struct fg_run_summary *run)
{
	char time[FG_TIME_TEXT_SIZE];

	fg_time_format_utc(run->started_ns, time);
	fg_json_begin_object(w, NULL);
	fg_json_text(w, "id", run->id);
	fg_json_text(w, "project", run->project);
	fg_json_text(w, "started_at", time);
	fg_json_double(w, "seconds", (double)(run->ended_ns - run->started_ns) / 1e9);
	fg_json_bool(w, "complete", run->complete);
	fg_json_bool(w, "has_baseline", run->has_baseline);
	fg_json_text(w, "outcome", run->outcome);
	fg_json_text(w, "commit", run->commit);
	fg_json_bool(w, "dirty", run->dirty);
	fg_json_text(w, "branch", run->branch);
	fg_json_text(w, "tag", run->tag);
	fg_json_text(w, "baseline_commit", run->base_commit);
	fg_json_text(w, "host_fingerprint", run->fingerprint);
	fg_json_int(w, "benchmarks", (int64_t)run->benchmark_count);
	fg_json_end(w);
}

/* Where the next page begins: opaque to clients. */
static int read_cursor(struct fg_request *rq, struct fg_run_filter *filter, struct fg_error *err)
{
	const char *cursor = fg__parameter(rq, "after");
	char *end = NULL;

	if (!cursor)
		return FG_OK;
	filter->before_ns = strtoll(cursor, &end, 10);
	if (end == cursor || *end != '.' || strlen(end + 1) != UUID_LENGTH)
		return fg_error_set(err, FG_EINVAL,
				    "parameter 'after' is none that this server gave");
	filter->before_id = end + 1;
	return FG_OK;
}

int fg__list_runs(struct fg_request *rq, struct fg_error *err)
{
	struct fg_run_filter filter = {
		.project = fg__parameter(rq, "project"),
		.branch = fg__parameter(rq, "branch"),
		.commit = fg__parameter(rq, "commit"),
		.tag = fg__parameter(rq, "tag"),
		.benchmark = fg__parameter(rq, "benchmark"),
		.fact_key = fg__parameter(rq, "fact"),
		.fact_value = fg__parameter(rq, "value"),
		.outcome = fg__parameter(rq, "outcome"),
	};
	struct fg_run_list list = {0};
	struct fg_json_writer w;
	int status = fg__parameter_size(rq, "limit", 50, LIST_MAX, &filter.limit, err);

	if (status == FG_OK)
		status = read_cursor(rq, &filter, err);
	if (status == FG_OK && filter.project)
		status = fg__may_see(rq, filter.project, err);
	if (rq->project)
		filter.project = rq->project;
	if (status == FG_OK)
		status = fg_store_list(rq->store, &filter, &list, err);
	if (status != FG_OK)
		return status;
	fg__json(rq, &w);
	fg_json_begin_object(&w, NULL);
	fg_json_begin_array(&w, "runs");
	for (size_t i = 0; i < list.count; i++)
		write_summary(&w, &list.items[i]);
	fg_json_end(&w);
	if (list.more) {
		const struct fg_run_summary *last = &list.items[list.count - 1];

		fg_json_text(&w, "next",
			     fg_arena_printf(&rq->arena, "%lld.%s", (long long)last->started_ns,
					     last->id));
	}
	fg_json_end(&w);
	fg_run_list_release(&list);
	return FG_OK;
}

int fg__get_run(struct fg_request *rq, struct fg_error *err)
{
	struct fg_stored_run run = {0};
	struct fg_bundle bundle = {0};
	const char *id = NULL;
	int status = fg__find_run(rq, rq->tail, &id, err);

	if (status == FG_OK)
		status = fg_store_load_run(rq->store, id, &run, err);
	if (status == FG_OK)
		status = fg_bundle_from_run(&run, &bundle, err);
	if (status == FG_OK) {
		rq->type = "application/json";
		fg_strbuf_add(&rq->answer, bundle.envelope.data, bundle.envelope.length);
	}
	fg_bundle_release(&bundle);
	fg_stored_run_release(&run);
	return status;
}

int fg__delete_run(struct fg_request *rq, struct fg_error *err)
{
	const char *id = NULL;
	struct fg_json_writer w;
	int status = fg__find_run(rq, rq->tail, &id, err);

	if (status == FG_OK && strcmp(id, rq->tail) != 0)
		status = fg_error_set(err, FG_EINVAL, "to remove a run, give its whole id");
	if (status == FG_OK)
		status = fg_store_delete(rq->store, id, err);
	if (status == FG_OK) {
		fg__json(rq, &w);
		fg_json_begin_object(&w, NULL);
		fg_json_text(&w, "removed", id);
		fg_json_end(&w);
	}
	return status;
}
