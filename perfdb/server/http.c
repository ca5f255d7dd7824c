// SPDX-License-Identifier: Apache-2.0
/*
 * Handles requests. libmicrohttpd calls fg_http_access() with the headers, then with pieces of the
 * body, then once more for the answer; its threads never wait for a database. A worker authorises a
 * complete request and runs its handler; if the token was not used recently, a worker authorises
 * the request before its body is read. Meanwhile the connection is suspended.
 */
#include "base/clock.h"
#include "perfdb/server/connections.h"
#include "perfdb/server/replica.h"
#include "perfdb/server/request.h"
#include "perfdb/server/routes.h"
#include "perfdb/server/server_private.h"

enum {
	LINE_MAX_BYTES = 32 << 10 /* size of libmicrohttpd's buffer */
};

static int check_body(struct fg_request *rq, struct fg_error *err)
{
	switch (rq->body.state) {
	case FG_BODY_TOO_LARGE:
		return fg_error_set(err, FG_ELIMIT, "the body is too large");
	case FG_BODY_NO_ROOM:
		return fg_request_refuse(rq, 503, err, "the server is busy with other uploads");
	case FG_BODY_NO_DISK:
		return fg_error_set(err, FG_EIO,
				    "a body cannot be written to the temporary folder");
	case FG_BODY_COMPLETE:
		break;
	}
	if (!fg_body_data(&rq->body))
		return fg_error_set(err, FG_EIO, "a body cannot be read from its file");
	return FG_OK;
}

/* Is the request a query, which a replica may answer? */
static bool is_question(const struct fg_request *rq)
{
	return rq->route->scope == FG_SCOPE_READ && !fg_route_writes(rq->route);
}

/* Returns false if the replica cannot answer; the primary then answers. */
static bool ask_replica(struct fg_request *rq)
{
	struct fg_store *store = fg_replica_borrow(rq->server->replica, rq->who);
	struct fg_error err = {0};

	if (!store)
		return false;
	fg_request_leave_store(rq);
	rq->store = store;
	rq->is_of_replica = true;
	if (rq->route->handler(rq, &err) == FG_OK)
		return true;
	fg_request_leave_store(rq);
	fg_strbuf_clear(&rq->answer.text);
	rq->answer = (struct fg_answer){.text = rq->answer.text, .cookie = rq->answer.cookie};
	return false;
}

static int handle(struct fg_request *rq, struct fg_error *err)
{
	int status = FG_OK;

	FG_TRY(check_body(rq, err));
	if (rq->route->scope != FG_SCOPE_NONE)
		FG_TRY(fg_admission_authorize(rq, err));
	if (fg_route_writes(rq->route))
		fg_replica_wrote(rq->server->replica, rq->who);
	if (!is_question(rq))
		return rq->route->handler(rq, err);
	if (ask_replica(rq))
		return FG_OK;
	status = fg_request_enter_store(rq, err);
	return status == FG_OK ? rq->route->handler(rq, err) : status;
}

static void answer(struct fg_request *rq)
{
	struct fg_error err = {0};

	if (handle(rq, &err) != FG_OK && err.code == FG_OK)
		(void)fg_error_set(&err, FG_EDB, "a handler failed without giving a reason");
	fg_answer_settle(rq, &err);
}

static void run_job(struct fg_job *job)
{
	struct fg_request *rq = (struct fg_request *)job;

	answer(rq);
	MHD_resume_connection(rq->connection);
}

static void refuse_when_stopping(struct fg_request *rq)
{
	struct fg_error err = {0};

	(void)fg_request_refuse(rq, 503, &err, "the server is stopping");
	fg_answer_settle(rq, &err);
}

static void refuse_job(struct fg_job *job)
{
	struct fg_request *rq = (struct fg_request *)job;
	struct fg_error err = {0};

	if (atomic_load(&rq->server->draining)) {
		refuse_when_stopping(rq);
	} else {
		(void)fg_admission_database_is_down(rq, &err);
		fg_answer_settle(rq, &err);
	}
	MHD_resume_connection(rq->connection);
}

/* If authorisation fails, the answer is made now but sent after the body, which is dropped. */
static void prove_job(struct fg_job *job)
{
	struct fg_request *rq = (struct fg_request *)job;
	struct fg_error err = {0};

	if (fg_admission_authorize(rq, &err) != FG_OK) {
		fg_answer_settle(rq, &err);
		fg_connections_request(rq->server->connections, rq->connection, false);
	}
	fg_request_leave_store(rq);
	MHD_resume_connection(rq->connection);
}

/* Suspends the connection until a worker has done the job. */
static enum MHD_Result give(struct fg_request *rq, enum fg_job_kind kind,
			    void (*run)(struct fg_job *job))
{
	if (!fg_workers_hold(rq->server->workers)) {
		refuse_when_stopping(rq);
		return fg_answer_send(rq);
	}
	rq->held = true;
	rq->job.kind = kind;
	rq->job.run = run;
	rq->job.refuse = refuse_job;
	MHD_suspend_connection(rq->connection);
	fg_workers_give(rq->server->workers, &rq->job);
	return MHD_YES;
}

void *fg_http_line(void *context, const char *line, struct MHD_Connection *connection)
{
	struct fg_request *rq = fg_xcalloc(1, sizeof(*rq));

	rq->server = context;
	rq->connection = connection;
	rq->line = line;
	rq->line_length = strlen(line);
	return rq;
}

/* libmicrohttpd ends the address at a NUL; the version follows in the same buffer. */
static bool line_has_nul(const struct fg_request *rq, const char *version)
{
	const uintptr_t distance = (uintptr_t)version - (uintptr_t)rq->line;

	return distance < LINE_MAX_BYTES && distance != rq->line_length + 1;
}

static enum MHD_Result begin(struct fg_request *rq, const char *method, const char *path,
			     const char *version)
{
	struct fg_error err = {0};

	rq->has_nul = line_has_nul(rq, version);
	rq->method = fg_arena_strdup(&rq->arena, method);
	rq->path = fg_arena_strdup(&rq->arena, path);
	rq->is_http_1_0 = strcmp(version, MHD_HTTP_VERSION_1_0) == 0;
	rq->started_ns = fg_clock_monotonic_ns();
	fg_connections_request(rq->server->connections, rq->connection, true);
	if (fg_admission_check(rq, &err) != FG_OK) {
		fg_answer_settle(rq, &err);
		return fg_answer_send(rq);
	}
	if (fg_admission_is_unproven(rq))
		return give(rq, FG_JOB_PROOF, prove_job);
	return MHD_YES;
}

static bool is_answered(const struct fg_request *rq)
{
	return rq->answer.status;
}

static enum MHD_Result take(struct fg_request *rq, const char *data, size_t *size)
{
	if (!is_answered(rq))
		fg_body_add(&rq->body, data, *size);
	atomic_fetch_add(&rq->server->counters.bytes_in, *size);
	*size = 0;
	return MHD_YES;
}

/* Called when the whole request has arrived, and again when a worker has made the answer. */
static enum MHD_Result finish(struct fg_request *rq)
{
	if (rq->route->scope == FG_SCOPE_NONE)
		answer(rq);
	if (is_answered(rq))
		return fg_answer_send(rq);
	return give(rq, rq->route->takes_run ? FG_JOB_UPLOAD : FG_JOB_QUESTION, run_job);
}

/* Continues with the body after the token was looked up. */
static enum MHD_Result resume(struct fg_request *rq)
{
	rq->held = false;
	fg_workers_release(rq->server->workers);
	return MHD_YES;
}

/* NOLINTNEXTLINE(readability-function-size): the parameters are libmicrohttpd's */
enum MHD_Result fg_http_access(void *context, struct MHD_Connection *connection, const char *url,
			       const char *method, const char *version, const char *data,
			       size_t *size, void **request)
{
	struct fg_request *rq = *request;

	(void)context;
	(void)connection;
	if (!rq->method)
		return begin(rq, method, url, version);
	if (*size)
		return take(rq, data, size);
	return rq->held && rq->job.kind == FG_JOB_PROOF ? resume(rq) : finish(rq);
}

void fg_http_completed(void *context, struct MHD_Connection *connection, void **request,
		       enum MHD_RequestTerminationCode code)
{
	struct fg_server *server = context;
	struct fg_request *rq = *request;

	(void)code;
	if (!rq)
		return;
	fg_connections_request(server->connections, connection, false);
	if (rq->held)
		fg_workers_release(server->workers);
	fg_request_leave_store(rq);
	fg_body_release(&rq->body);
	fg_answer_release(rq);
	fg_grant_list_release(&rq->grants);
	fg_arena_release(&rq->arena);
	free(rq);
	*request = NULL;
}
