// SPDX-License-Identifier: Apache-2.0
/* Uploads: a worker checks and unpacks a run, then waits for its turn to store it. */
#include "base/clock.h"
#include "base/hash.h"
#include "base/text.h"
#include "perfdb/protocol.h"
#include "perfdb/server/api/handlers.h"
#include "perfdb/server/health.h"
#include "perfdb/server/writer.h"
#include "store/bundle.h"
#include "store/serving/uploads.h"
#include "store/serving/webhook.h"
#include "store/store.h"

enum {
	YEAR_2000_SECONDS = 946684800,
	DAY_SECONDS = 86400
};

struct upload {
	struct fg_stored_run stored;
	char digest[FG_SHA256_HEX_SIZE];
	enum fg_upload_outcome outcome;
};

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
		return fg_error_set(err, FG_EPARSE, "the body does not match %s",
				    FG_WIRE_HASH_HEADER);
	return FG_OK;
}

static int check_identity(struct fg_request *rq, const struct fg_run *run, struct fg_error *err)
{
	const char *key = fg_request_header(rq, FG_WIRE_KEY_HEADER);

	if (rq->project && strcmp(rq->project, run->project) != 0) {
		rq->answer.status = 403;
		return fg_error_set(err, FG_EINVAL, "this token is not valid for project '%.100s'",
				    run->project);
	}
	if (!fg_text_is_clean(run->project, strlen(run->project)))
		return fg_error_set(
			err, FG_EINVAL,
			"the project's name contains control characters, or is not UTF-8");
	if (key && strcmp(key, run->id) != 0)
		return fg_error_set(err, FG_EINVAL, "%s is not the run's id", FG_WIRE_KEY_HEADER);
	return FG_OK;
}

/* Unpacks the run; `wire` borrows its parts from the body. */
static int unpack(const struct fg_wire *wire, struct fg_stored_run *stored, struct fg_error *err)
{
	const struct fg_bundle bundle = {
		.envelope = {.data = (char *)(uintptr_t)wire->envelope,
			     .length = wire->envelope_size},
		.dictionary = {.data = (uint8_t *)(uintptr_t)wire->dictionary,
			       .size = wire->dictionary_size},
		.values = {.data = (uint8_t *)(uintptr_t)wire->values, .size = wire->values_size},
	};

	return fg_bundle_to_run(&bundle, &fg_bundle_limits_default, stored, err);
}

static int read_upload(struct fg_request *rq, struct upload *up, struct fg_error *err)
{
	struct fg_wire wire = {0};

	FG_TRY(check_body_hash(rq, err));
	FG_TRY(fg_wire_read(fg_body_data(&rq->body), rq->body.size, &wire, err));
	fg_wire_digest(&wire, up->digest);
	FG_TRY(unpack(&wire, &up->stored, err));
	FG_TRY(check_time(up->stored.run.started_ns, err));
	return check_identity(rq, &up->stored.run, err);
}

static int put(struct fg_store *store, void *context, struct fg_error *err)
{
	struct upload *up = context;
	const struct fg_run *run = &up->stored.run;
	const int status = fg_store_put_upload(store, &up->stored, up->digest, &up->outcome, err);

	if (status != FG_OK || up->outcome != FG_UPLOAD_STORED || !run->complete)
		return status;
	return fg_store_webhook_call(store, run->project, run->id, err);
}

/* Refuses an upload beyond the quota; clients keep it in their spool. */
static int over_quota(struct fg_request *rq)
{
	atomic_fetch_add(&rq->server->counters.over_quota, 1);
	rq->answer.status = 403;
	rq->answer.refusal = "over_quota";
	return FG_ELIMIT;
}

static int store_upload(struct fg_request *rq, struct upload *up, struct fg_error *err)
{
	int status = FG_OK;

	/* The request does not need its session while it waits for its turn. */
	fg_request_leave_store(rq);
	status = fg_writer_do(rq->server->writer, put, up, err);
	if (status == FG_OK || status == FG_EIO)
		fg_health_wrote(rq->server->health, status == FG_OK);
	if (status == FG_ELIMIT && up->outcome == FG_UPLOAD_OVER_QUOTA)
		return over_quota(rq);
	if (status != FG_OK)
		return status;
	if (up->outcome == FG_UPLOAD_TAKEN)
		return fg_request_refuse(rq, FG_HTTP_DIFFERENT, err,
					 fg_arena_printf(&rq->arena,
							 "the id %s is taken by another run",
							 up->stored.run.id));
	fg_background_wake(&rq->server->webhooks);
	return FG_OK;
}

static void confirm(struct fg_request *rq, const struct upload *up)
{
	const bool is_new = up->outcome == FG_UPLOAD_STORED;
	struct fg_counters *counters = &rq->server->counters;
	const char *id = up->stored.run.id;
	struct fg_json_writer w;

	rq->answer.status = is_new ? FG_HTTP_CREATED : FG_HTTP_OK;
	atomic_fetch_add(is_new ? &counters->runs_stored : &counters->runs_known, 1);
	fg_request_json(rq, &w);
	fg_json_begin_object(&w, NULL);
	fg_json_text(&w, "run", id);
	fg_json_text(&w, "digest", up->digest);
	fg_json_text(&w, "url", fg_arena_printf(&rq->arena, "/?view=run&run=%s", id));
	fg_json_bool(&w, "stored", is_new);
	fg_json_end(&w);
}

int fg_handle_upload(struct fg_request *rq, struct fg_error *err)
{
	struct upload up = {0};
	int status = FG_OK;

	FG_TRY_OUT(read_upload(rq, &up, err));
	status = store_upload(rq, &up, err);
	if (status == FG_OK)
		confirm(rq, &up);
out:
	fg_stored_run_release(&up.stored);
	return status;
}
