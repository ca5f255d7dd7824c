/* SPDX-License-Identifier: Apache-2.0 */
/* A server in this process and a client that says exactly what a test wants it to say. */
#ifndef FG_TESTS_PERFDB_SAMPLES_H
#define FG_TESTS_PERFDB_SAMPLES_H

#include "base/strbuf.h"
#include "perfdb/protocol.h"
#include "perfdb/server/server.h"
#include "tests/support/scratch.h"

struct fg_test_server {
	struct fg_scratch scratch;
	struct fg_server *server;
	char url[64];
	char *database;
};

/* A fresh database (or `database`), loopback, any free port. */
void fg_test_server_start(struct fg_test_server *s, const char *database);
void fg_test_server_restart(struct fg_test_server *s);
void fg_test_server_stop(struct fg_test_server *s);

/* A connection; -1 is a failed test. */
int fg_test_connect(const struct fg_test_server *s);
/* Send bytes, read until the server closes or the announced length has come. Returns the status; body to `body`. */
int fg_test_exchange(const struct fg_test_server *s, const void *bytes, size_t size,
		     struct fg_strbuf *body);
/* GET (or another method) with an optional token; body of the answer to `body` (may be NULL). */
int fg_test_ask(const struct fg_test_server *s, const char *method, const char *path,
		const char *token, struct fg_strbuf *body);
int fg_test_post(const struct fg_test_server *s, const char *path, const char *token,
		 const char *type, const void *data, size_t size, struct fg_strbuf *body);

/* Run number `seed` as an upload. */
void fg_test_parcel(unsigned seed, bool with_dictionary, struct fg_strbuf *text);
const char *fg_test_run_id(unsigned seed);
/* A token straight into the database. */
void fg_test_token(const struct fg_test_server *s, const char *project, int scope,
		   int64_t expires_ns, char text[69]);
size_t fg_test_run_count(const struct fg_test_server *s);

#endif
