/* SPDX-License-Identifier: Apache-2.0 */
/* One request on its way through the server.  Inside perfdb/server/ only. */
#ifndef FG_PERFDB_SERVER_REQUEST_H
#define FG_PERFDB_SERVER_REQUEST_H

#include "base/arena.h"
#include "base/json.h"
#include "base/json_write.h"
#include "perfdb/server/server.h"
#include "store/serving/access.h"
#include "store/store.h"

#include <pthread.h>
#include <stdatomic.h>

struct MHD_Connection;
struct MHD_Daemon;
struct fg_route;
struct fg_workers;
struct fg_writer;
struct fg_request;
struct fg_incoming;

enum {
	FG_ROUTE_MAX = 32
};

/* Counted since the start; shown by /metrics. */
struct fg_counters {
	atomic_ullong requests[FG_ROUTE_MAX];
	atomic_ullong microseconds[FG_ROUTE_MAX];
	atomic_ullong answers[6]; /* by hundreds of the status */
	atomic_ullong runs_stored;
	atomic_ullong runs_known;
	atomic_ullong bytes_in;
	atomic_ullong batches;
	atomic_ullong tiles;
	atomic_ullong limited;
};

struct fg_limiter;
struct fg_connections;

struct fg_server {
	struct fg_server_options options;
	char *database;
	char *database_shown; /* without a password: for the log */
	bool is_open;         /* to everybody who reaches it, as long as no token was made */
	bool needs_token;     /* nobody is let in: none existed at the start */
	struct MHD_Daemon *daemon;
	uint16_t port;
	char *certificate;
	char *key;
	/* Sessions that nobody uses. */
	pthread_mutex_t lock;
	struct fg_store **idle;
	size_t idle_count;
	size_t idle_capacity;
	struct fg_writer *writer;
	struct fg_workers *workers;
	struct fg_ids *ids; /* of functions and call paths, for all sessions */
	struct fg_dictionaries *dictionaries;
	struct fg_limiter *limiter;
	struct fg_connections *lines;
	pthread_t background;
	pthread_cond_t wake;
	bool stopping;
	bool has_background;
	atomic_size_t body_bytes; /* held by requests in progress */
	atomic_bool draining;
	struct fg_counters counters;
	int64_t started_ns;
};

typedef int fg_handler(struct fg_request *rq, struct fg_error *err);

/*
 * One thing to write, in the writer's thread.  It may be called a second time, after what the first
 * call wrote was undone.
 */
typedef int fg_writer_task(struct fg_store *store, void *context, struct fg_error *err);

/* What a request has the writer do, and what came of it. */
struct fg_write {
	fg_writer_task *task;
	void *context;
	int status;
	struct fg_error err;
};

struct fg_request {
	struct fg_server *server;
	struct MHD_Connection *connection;
	const struct fg_route *route;
	const char *method;
	const char *path;
	const char *tail; /* of the path, behind a route that ends with '/' */
	struct fg_strbuf body;
	size_t counted_bytes; /* of the server's body_bytes */
	int64_t started_ns;
	bool too_large;
	struct fg_store *store;
	enum fg_scope scope;
	char *project; /* NULL: all */
	char *who;     /* for the log and the limiter: "token 3" or the address */
	struct fg_arena arena;
	/* The answer. */
	int status;
	const char *type;
	struct fg_strbuf answer;
	const void *asset; /* instead of answer: lives for ever */
	size_t asset_size;
	const char *asset_tag;
	bool asset_packed; /* gzip */
	bool packed;       /* gzip */
	unsigned retry_after_s;
	/* While a worker or the writer has it. */
	struct fg_request *next;
	bool held;
	/*
	 * Where it goes on after the write, with the write's error in `err`; NULL: nothing is to be
	 * written.
	 */
	fg_handler *then;
	struct fg_write write;
	struct fg_incoming *upload; /* of upload.c, as long as one is in progress */
};

struct fg_route {
	const char *method;
	const char *path; /* ends with '/': and whatever follows */
	enum fg_scope scope;
	fg_handler *handler;
	bool takes_run; /* a large body */
};

extern const struct fg_route fg_routes[];
extern const size_t fg_route_count;

/* Parameters of the query; NULL when absent. */
const char *fg_parameter(struct fg_request *rq, const char *name);
const char *fg_header(struct fg_request *rq, const char *name);
/* A parameter that has to be there. */
int fg_need(struct fg_request *rq, const char *name, const char **value, struct fg_error *err)
	FG_NODISCARD;
int fg_parameter_size(struct fg_request *rq, const char *name, size_t otherwise, size_t max,
		      size_t *value, struct fg_error *err) FG_NODISCARD;
/* FG_ENOENT unless this token may see the project: others' projects do not exist for it. */
int fg_may_see(const struct fg_request *rq, const char *project, struct fg_error *err) FG_NODISCARD;
/*
 * The id of a run by what the user calls it, if it may be seen; the answer lives in the request's
 * arena.
 */
int fg_find_run(struct fg_request *rq, const char *words, const char **id, struct fg_error *err)
	FG_NODISCARD;
/* Start the answer as JSON. */
void fg_json(struct fg_request *rq, struct fg_json_writer *w);

/*
 * Threads that answer requests (workers.c).  stop() answers what waits, here and at the writer, and
 * gives clients some seconds to read it.
 */
int fg_workers_start(unsigned threads, struct fg_workers **workers, struct fg_error *err)
	FG_NODISCARD;
void fg_workers_stop(struct fg_workers *workers); /* NULL is fine */
void fg_workers_free(struct fg_workers *workers);
/*
 * May a request be given?  Not when they are stopping.  If so: suspend its connection, give it, and
 * let go when it is over.
 */
bool fg_workers_hold(struct fg_workers *workers) FG_NODISCARD;
/* Also to go on with one that was written. */
void fg_workers_give(struct fg_workers *workers, struct fg_request *rq);
/* Is there an upload that may have something to write before long? */
bool fg_workers_have_uploads(struct fg_workers *workers);
void fg_workers_let_go(struct fg_workers *workers);
/* Threads that wait for work under this lock: no more will come. */
void fg_tell_to_stop(pthread_mutex_t *lock, pthread_cond_t *waiting, bool *stopping);
/*
 * Make the answer and wake the connection; false: the writer has it now, and gives it to the
 * workers again.
 */
bool fg_http_answer(struct fg_request *rq) FG_NODISCARD;

/* A condition whose waiting does not depend on a clock that somebody sets. */
void fg_init_wake(pthread_cond_t *wake);

struct fg_store *fg_server_session(struct fg_server *server, struct fg_error *err);
void fg_session_back(struct fg_server *server, struct fg_store *store);

/* Have rq->write done; once it is on the disk, the workers get the request. */
void fg_writer_give(struct fg_writer *writer, struct fg_request *rq);
/* How many wait for it now. */
size_t fg_writer_pending(struct fg_writer *writer);
int fg_writer_start(struct fg_server *server, struct fg_writer **writer, struct fg_error *err)
	FG_NODISCARD;
void fg_writer_stop(struct fg_writer *writer);

struct fg_dictionary;

/*
 * Dictionaries that are known to the database, kept in memory for the next run that refers to them.
 * What take() gives is the caller's until give_back(); NULL: not there.  put() keeps a new one, or
 * frees it and takes one that was quicker; newest() takes the one that was put last for a program
 * (a hash of what the caller calls so), with its texts.
 */
struct fg_dictionaries *fg_dictionaries_new(void);
void fg_dictionaries_free(struct fg_dictionaries *dictionaries);
const struct fg_dictionary *fg_dictionaries_take(struct fg_dictionaries *dictionaries,
						 const char *hash);
const struct fg_dictionary *fg_dictionaries_newest(struct fg_dictionaries *dictionaries,
						   uint64_t program);
const struct fg_dictionary *fg_dictionaries_put(struct fg_dictionaries *dictionaries,
						struct fg_dictionary *dictionary, uint64_t program);
void fg_dictionaries_give_back(struct fg_dictionaries *dictionaries,
			       const struct fg_dictionary *dictionary);

/*
 * Too many requests of one kind of caller in a minute?  Then the seconds until the next minute,
 * else 0.
 */
unsigned fg_limiter_ask(struct fg_limiter *limiter, const char *who, int64_t now_ns);
struct fg_limiter *fg_limiter_new(unsigned per_minute);
void fg_limiter_free(struct fg_limiter *limiter);

/* Handlers, by file. */
fg_handler fg_handle_upload, fg_handle_list_runs, fg_handle_get_run, fg_handle_delete_run,
	fg_handle_has_dictionary;
fg_handler fg_handle_compare, fg_handle_verdict, fg_handle_functions, fg_handle_paths,
	fg_handle_profile, fg_handle_environment;
fg_handler fg_handle_trend, fg_handle_function_trend;
fg_handler fg_handle_projects, fg_handle_benchmarks, fg_handle_metric_names, fg_handle_facts,
	fg_handle_capabilities, fg_handle_health, fg_handle_metrics;
fg_handler fg_handle_annotations, fg_handle_annotate, fg_handle_unannotate, fg_handle_triage_list,
	fg_handle_triage_set, fg_handle_baselines;
fg_handler fg_handle_openapi, fg_handle_asset;

#endif
