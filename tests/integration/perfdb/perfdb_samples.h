/* SPDX-License-Identifier: Apache-2.0 */
/* A server in this process, and a client that sends exactly the bytes of a test. */
#ifndef FG_TESTS_PERFDB_SAMPLES_H
#define FG_TESTS_PERFDB_SAMPLES_H

#include "base/strbuf.h"
#include "perfdb/protocol.h"
#include "perfdb/server/server.h"
#include "tests/support/fg_test.h"
#include "tests/support/scratch.h"

struct cJSON;
struct fg_sample_shape;

struct fg_test_server {
	struct fg_scratch scratch;
	struct fg_server *server;
	char url[64];
	char *database;
	int log_fd;
	char key[69]; /* an administrator's token */
};

/* As a token, makes a request without a token. NULL uses the administrator's token. */
#define FG_TEST_NO_TOKEN   ""
#define FG_TEST_SERVER_LOG "log" /* in the scratch folder */

/* Starts a server on loopback and a free port, on `database` or a new one. */
void fg_test_server_start(struct fg_test_server *s, const char *database);
void fg_test_server_restart(struct fg_test_server *s);
void fg_test_server_stop(struct fg_test_server *s);
/* cmocka's set-up and tear-down: the state of a test is its own fresh server. */
int fg_test_server_setup(void **state);
int fg_test_server_teardown(void **state);
#define FG_SERVER_TEST(name) FG_TEST_IN(name, fg_test_server_setup, fg_test_server_teardown)

/* Connects to the server; failure fails the test. */
int fg_test_connect(const struct fg_test_server *s);
/*
 * Sends bytes, and reads until the server closes or the announced length has arrived. Returns the
 * status, and stores the body in `body`.
 */
int fg_test_exchange(const struct fg_test_server *s, const void *bytes, size_t size,
		     struct fg_strbuf *body);
/* Sends a GET, or another method; stores the answer's body in `body` unless that is NULL. */
int fg_test_ask(const struct fg_test_server *s, const char *method, const char *path,
		const char *token, struct fg_strbuf *body);
int fg_test_post(const struct fg_test_server *s, const char *path, const char *token,
		 const char *type, const void *data, size_t size, struct fg_strbuf *body);
int fg_test_post_json(const struct fg_test_server *s, const char *path, const char *token,
		      const char *json, struct fg_strbuf *body);
/* Sends an administrator's GET; the answer must be 200 and JSON. The caller deletes the JSON. */
struct cJSON *fg_test_get_json(const struct fg_test_server *s, const char *path);
/* Returns the text at an RFC 6901 pointer; "" if nothing is there. */
const char *fg_test_text(const struct cJSON *json, const char *pointer);
/* Returns the number of items of a list. */
int fg_test_count(const struct cJSON *json, const char *path);

/* Makes an upload of run number `seed`. */
void fg_test_parcel(unsigned seed, struct fg_strbuf *text);
void fg_test_parcel_of(const struct fg_sample_shape *shape, unsigned seed, struct fg_strbuf *text);
/* Overwrites the bytes after `mark` in the parcel's envelope; a missing mark fails the test. */
void fg_test_parcel_edit(struct fg_strbuf *parcel, const char *mark, const char *text);
/* Returns the server's answer after it has stored the parcel. The caller frees it. */
char *fg_test_confirmation(const struct fg_strbuf *parcel, const char *id);
/* Sends the parcel and returns the status; `body` gets the answer's body unless it is NULL. */
int fg_test_send(const struct fg_test_server *s, const struct fg_strbuf *parcel, const char *token,
		 struct fg_strbuf *body);
/* Sends run number `seed` with its dictionary, using this token. */
int fg_test_upload(const struct fg_test_server *s, unsigned seed, const char *token);
/* Uploads a run whose profiles have the measures time and `calls`. */
int fg_test_upload_calls(const struct fg_test_server *s, unsigned seed);
const char *fg_test_run_id(unsigned seed);
/* Gets the trend of a function that is in every sample; `more` is appended to the address. */
struct cJSON *fg_test_function_trend(const struct fg_test_server *s, const char *more);
/* Inserts a token directly into the database. */
void fg_test_token(const struct fg_test_server *s, const char *project, int scope,
		   int64_t expires_ns, char text[69]);
size_t fg_test_run_count(const struct fg_test_server *s);

#endif
