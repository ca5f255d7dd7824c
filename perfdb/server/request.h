/* SPDX-License-Identifier: Apache-2.0 */
/* A request that the server is handling. Private to perfdb/server/. */
#ifndef FG_PERFDB_SERVER_REQUEST_H
#define FG_PERFDB_SERVER_REQUEST_H

#include "base/arena.h"
#include "base/json_write.h"
#include "base/strbuf.h"
#include "perfdb/server/server_private.h"
#include "perfdb/server/workers.h"
#include "store/serving/roles.h"

#include <microhttpd.h>
#include <stdatomic.h>

/* ---- body.c ---- */

struct fg_body {
	size_t limit;         /* limit of this body */
	size_t announced;     /* announced size; 0: unknown */
	atomic_size_t *total; /* bytes of all bodies in progress */
	size_t total_limit;
	/* bytes of this sender's bodies; limit: half of total_limit or, if larger, `limit` */
	atomic_size_t *share;
	size_t size;    /* received so far */
	size_t counted; /* bytes included in *total and *share */
	enum fg_body_state {
		FG_BODY_COMPLETE, /* no part was dropped so far */
		FG_BODY_TOO_LARGE,
		FG_BODY_NO_ROOM, /* total_limit or the limit of *share is used up */
		FG_BODY_NO_DISK, /* the file cannot be written */
	} state;
	struct fg_strbuf bytes; /* the data of a small body */
	bool has_file;
	int file;
	void *map; /* mapping of the file */
};

/* A body that does not fit is dropped as a whole; the state has the reason. */
void fg_body_add(struct fg_body *body, const void *data, size_t size);
/* Returns body->size bytes, which live as long as the body; NULL if the file cannot be read. */
const char *fg_body_data(struct fg_body *body);
void fg_body_release(struct fg_body *body);

/* ---- request.c ---- */

struct fg_request;

typedef int fg_handler(struct fg_request *rq, struct fg_error *err);

/* The response. */
struct fg_answer {
	int status;
	const char *type;
	struct fg_strbuf text;
	bool packed; /* `text` is gzip */
	/* Sent instead of `text`; lives as long as the program. */
	const void *asset;
	size_t asset_size;
	const char *asset_tag;
	unsigned retry_after_s;
	const char *refusal; /* error code in the answer; NULL: derived from the status */
	const char *cause;   /* detail for the log only; NULL: the message */
	const char *cookie;
};

struct fg_request {
	struct fg_job job;
	struct fg_server *server;
	struct MHD_Connection *connection;
	const struct fg_route *route;
	const char *method;
	const char *path;
	const char *tail; /* the rest of the path, for a route that ends with '/' */
	const char *line; /* the address as received, in libmicrohttpd's buffer */
	size_t line_length;
	bool has_nul; /* the request line contains a NUL */
	bool is_http_1_0;
	int64_t started_ns;
	struct fg_arena arena;
	struct fg_body body;
	/* The client. */
	const char *peer;   /* the connected peer, which is the client or a proxy */
	char *client;       /* the client's address */
	const char *who;    /* client in the log: "token 3", a person, or the address */
	const char *author; /* author of everything written: a person or a token's note */
	bool authorized;
	struct fg_grant_list grants;
	const char *project; /* the only project that the client may see; NULL: all, or several */
	/* Set while a thread works on the request. */
	struct fg_store *store;
	bool is_of_replica; /* `store` is a session of the replica */
	bool held;          /* announced by fg_workers_hold(), not released yet */
	struct fg_answer answer;
};

/* Borrows a database session, unless the request has one. FG_ENET: no session can be opened. */
int fg_request_enter_store(struct fg_request *rq, struct fg_error *err) FG_NODISCARD;
/* Gives the session back to the primary or to the replica. */
void fg_request_leave_store(struct fg_request *rq);
/* Returns a query parameter; NULL if absent or empty. */
const char *fg_request_parameter(struct fg_request *rq, const char *name);
const char *fg_request_header(struct fg_request *rq, const char *name);
/* Returns all headers of this name, joined to one list in their order; NULL if absent. */
const char *fg_request_header_list(struct fg_request *rq, const char *name);
/* Reads a parameter. FG_EINVAL: the parameter is absent or empty. */
int fg_request_need(struct fg_request *rq, const char *name, const char **value,
		    struct fg_error *err) FG_NODISCARD;
/* Reads a number up to `max`; *value keeps its default if the parameter is absent. */
int fg_request_size(struct fg_request *rq, const char *name, size_t max, size_t *value,
		    struct fg_error *err) FG_NODISCARD;
/*
 * Returns FG_ENOENT unless the client may use this address for the project: a client without rights
 * does not learn that the project exists. `project` NULL: all projects.
 */
int fg_request_may_see(const struct fg_request *rq, const char *project, struct fg_error *err)
	FG_NODISCARD;
/* Does a grant of the client cover this scope for at least one project? */
bool fg_request_is_allowed(const struct fg_request *rq, enum fg_scope needed);
/* Sets *project to the parameter "project", or else to the client's only project; NULL for all. */
int fg_request_which_project(struct fg_request *rq, const char **project, struct fg_error *err)
	FG_NODISCARD;
/* Reads the parameter "project". FG_ENOENT: this client may not see the project. */
int fg_request_project(struct fg_request *rq, const char **project, struct fg_error *err)
	FG_NODISCARD;
/*
 * Sets *id to the id of the run with this name, if the client may see the run. The id lives as long
 * as the request.
 */
int fg_request_find_run(struct fg_request *rq, const char *name, const char **id,
			struct fg_error *err) FG_NODISCARD;
/* Fails with this HTTP status. */
int fg_request_refuse(struct fg_request *rq, int http_status, struct fg_error *err,
		      const char *message);
/* Starts the answer as JSON. */
void fg_request_json(struct fg_request *rq, struct fg_json_writer *w);
/* Starts {"NAME": [ ... ]}; two calls of fg_json_end() end it. */
void fg_request_json_list(struct fg_request *rq, struct fg_json_writer *w, const char *name);

/* Upper bounds of the latency classes. */
extern const int64_t fg_latency_us[FG_LATENCY_STEPS];

/* ---- admission.c ---- */

/*
 * Checks address, method and limits from the headers alone. Finds the route and sets the limits of
 * the body. Uses no database, so libmicrohttpd's threads may call it.
 */
int fg_admission_check(struct fg_request *rq, struct fg_error *err) FG_NODISCARD;
/* Refuses the request because the database is down. */
int fg_admission_database_is_down(struct fg_request *rq, struct fg_error *err);
/* Must the request be authorised before its body is read, because its token is not known yet? */
bool fg_admission_is_unproven(struct fg_request *rq);
/* Checks the client's rights, and opens the request's session. */
int fg_admission_authorize(struct fg_request *rq, struct fg_error *err) FG_NODISCARD;

/* ---- answer.c ---- */

/*
 * Completes the answer without sending it: turns an error into the body, counts and logs the
 * request, and gives the session back.
 */
void fg_answer_settle(struct fg_request *rq, const struct fg_error *err);
enum MHD_Result fg_answer_send(struct fg_request *rq);
void fg_answer_release(struct fg_request *rq);

#endif
