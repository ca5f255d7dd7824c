// SPDX-License-Identifier: Apache-2.0
/* Access rules: the clients that are admitted, and the answers to refused clients. */
#include "perfdb/client/client.h"
#include "store/serving/access.h"
#include "store/store.h"
#include "tests/integration/perfdb/perfdb_samples.h"
#include "tests/support/fg_test.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

FG_SERVER_TEST(tokens_open_only_what_they_are_for)
{
	struct fg_test_server *s = *state;
	char admin[69];
	char reader[69];
	char uploader[69];
	char other[69];
	char expired[69];
	struct fg_strbuf body = {0};

	fg_test_token(s, NULL, FG_SCOPE_ADMIN, INT64_MAX, admin);
	fg_test_token(s, "tracker", FG_SCOPE_READ, INT64_MAX, reader);
	fg_test_token(s, "tracker", FG_SCOPE_UPLOAD, INT64_MAX, uploader);
	fg_test_token(s, "other", FG_SCOPE_UPLOAD, INT64_MAX, other);
	fg_test_token(s, NULL, FG_SCOPE_ADMIN, 1, expired);
	assert_int_equal(fg_test_upload(s, 1, FG_TEST_NO_TOKEN), 401);
	assert_int_equal(fg_test_upload(s, 1, "fgt_0000"), 401);
	assert_int_equal(fg_test_upload(s, 1, expired), 401);
	assert_int_equal(fg_test_upload(s, 1, reader), 403);
	assert_int_equal(fg_test_upload(s, 1, other), 403);
	assert_int_equal(fg_test_upload(s, 1, uploader), 201);
	assert_int_equal(fg_test_ask(s, "GET", "/api/v1/runs/0198f000-0000-7000-8000-000000000001",
				     reader, NULL),
			 200);
	/* To another project's token the run does not exist. */
	assert_int_equal(fg_test_ask(s, "GET", "/api/v1/runs/0198f000-0000-7000-8000-000000000001",
				     other, NULL),
			 404);
	assert_int_equal(fg_test_ask(s, "GET", "/api/v1/benchmarks?project=tracker", other, NULL),
			 404);
	assert_int_equal(fg_test_ask(s, "GET", "/api/v1/runs?project=tracker", other, NULL), 404);
	assert_int_equal(fg_test_ask(s, "GET", "/api/v1/facts?project=tracker", other, NULL), 404);
	assert_int_equal(fg_test_ask(s, "GET", "/api/v1/facts", other, &body), 200);
	assert_string_equal(fg_strbuf_text(&body), "{\"facts\":[]}");
	assert_int_equal(fg_test_ask(s, "GET", "/api/v1/facts", reader, &body), 200);
	assert_non_null(strstr(fg_strbuf_text(&body), "host.load"));
	fg_strbuf_release(&body);
	assert_int_equal(fg_test_ask(s, "DELETE",
				     "/api/v1/runs/0198f000-0000-7000-8000-000000000001", uploader,
				     NULL),
			 403);
	assert_int_equal(fg_test_ask(s, "DELETE",
				     "/api/v1/runs/0198f000-0000-7000-8000-000000000001", admin,
				     NULL),
			 200);
	assert_int_equal(fg_test_run_count(s), 0);
}

FG_SERVER_TEST(strange_addresses_lead_nowhere)
{
	static const char *const paths[] = {"/../../etc/passwd",
					    "/assets/../../../etc/passwd",
					    "/assets/..%2f..%2fetc%2fpasswd",
					    "/assets/",
					    "/api/v1/runs/../../x",
					    "/api/v2/runs",
					    "//"};
	struct fg_test_server *s = *state;

	for (size_t i = 0; i < FG_ARRAY_SIZE(paths); i++) {
		if (fg_test_ask(s, "GET", paths[i], NULL, NULL) != 404)
			fail_msg("%s", paths[i]);
	}
}

/* Returns the headers of the answer to `method path`. The caller frees them. */
static char *headers_of(const struct fg_test_server *s, const char *method, const char *path)
{
	char *request = fg_xasprintf(
		"%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", method, path);
	const int fd = fg_test_connect(s);
	struct fg_strbuf answer = {0};
	char bytes[512];
	ssize_t got = 0;
	char *text = NULL;

	assert_int_equal(send(fd, request, strlen(request), MSG_NOSIGNAL), strlen(request));
	while ((got = recv(fd, bytes, sizeof(bytes), 0)) > 0)
		fg_strbuf_add(&answer, bytes, (size_t)got);
	(void)close(fd);
	free(request);
	text = fg_strbuf_detach(&answer);
	assert_non_null(strstr(text, "\r\n\r\n"));
	*strstr(text, "\r\n\r\n") = '\0';
	return text;
}

FG_SERVER_TEST(a_wrong_method_is_answered_with_the_allowed_ones)
{
	static const struct {
		const char *method;
		const char *path;
		const char *allowed;
	} cases[] = {
		{"PUT", "/api/v1/runs", "\r\nAllow: POST, GET, HEAD"},
		{"PATCH", "/api/v1/runs/latest", "\r\nAllow: GET, HEAD, DELETE"},
		{"POST", "/healthz", "\r\nAllow: GET, HEAD"},
		{"GET", "/api/v1/annotations/7", "\r\nAllow: DELETE"},
		{"DELETE", "/api/v1/annotations", "\r\nAllow: GET, HEAD, POST"},
	};
	const struct fg_test_server *s = *state;

	for (size_t i = 0; i < FG_ARRAY_SIZE(cases); i++) {
		char *headers = headers_of(s, cases[i].method, cases[i].path);
		const char *allow = strstr(headers, "\r\nAllow: ");
		const size_t length = strlen(cases[i].allowed);

		if (strncmp(headers, "HTTP/1.1 405", 12) != 0 || !allow ||
		    strncmp(allow, cases[i].allowed, length) != 0 || !strchr("\r", allow[length]))
			fail_msg("%s %s: %s", cases[i].method, cases[i].path, headers);
		free(headers);
	}
}

FG_SERVER_TEST(wider_than_loopback_needs_tls)
{
	const struct fg_test_server *s = *state;
	struct fg_server_options options = {
		.database = s->database, .address = "0.0.0.0", .log_fd = -1};
	struct fg_server *server = NULL;
	struct fg_error err = {0};

	assert_int_equal(fg_server_start(&options, &server, &err), FG_EINVAL);
	assert_non_null(strstr(err.message, "TLS"));
	options.behind_proxy = true;
	assert_int_equal(fg_server_start(&options, &server, &err), FG_OK);
	fg_server_stop(server);
}

enum {
	FAILED = 500,   /* or another 5xx */
	BUSY_MS = 60000 /* longer than any writer of a test takes, on any machine */
};

static void shows_no_path(const struct fg_test_server *s, const char *path, int expected)
{
	struct fg_strbuf body = {0};
	const int status = fg_test_ask(s, "GET", path, NULL, &body);

	if (status != expected && !(expected == FAILED && status >= 500))
		fail_msg("%s: %d", path, status);
	if (strstr(fg_strbuf_text(&body), s->scratch.path) ||
	    strstr(fg_strbuf_text(&body), "perfdb.db") ||
	    (strncmp(path, "/api/", 5) == 0 && !strstr(fg_strbuf_text(&body), "\"error\"")))
		fail_msg("%s: %d %s", path, status, fg_strbuf_text(&body));
	fg_strbuf_release(&body);
}

FG_SERVER_TEST(refusals_name_no_path_of_the_server)
{
	static const struct {
		const char *path;
		int status;
	} cases[] = {
		{"/api/v1/runs/latest", 404},
		{"/api/v1/runs/nothing", 404},
		{"/api/v1/runs/0198f000-0000-7000-8000-000000000099", 404},
		{"/api/v1/verdict?a=latest~9&b=latest", 404},
		{"/api/v1/profile?a=latest&benchmark=none", 404},
		{"/api/v1/trend?project=none&benchmark=none&metric=cpu_time", 404},
		{"/api/v1/function-trend?project=none&benchmark=x&name=7", 404},
		{"/api/v1/runs?limit=many", 400},
		{"/api/v1/runs?after=7.x", 400},
	};
	struct fg_test_server *s = *state;

	shows_no_path(s, cases[0].path, cases[0].status); /* the database is empty */
	assert_int_equal(fg_test_upload(s, 1, NULL), 201);
	for (size_t i = 1; i < FG_ARRAY_SIZE(cases); i++)
		shows_no_path(s, cases[i].path, cases[i].status);
}

/*
 * Another process writes, which invalidates what the server's connections have cached. It stays
 * connected, since the last connection to close removes the log.
 */
static sqlite3 *write_from_elsewhere(const struct fg_test_server *s)
{
	sqlite3 *db = NULL;

	assert_int_equal(sqlite3_open(s->database, &db), SQLITE_OK);
	/* The server may be writing. */
	assert_int_equal(sqlite3_busy_timeout(db, BUSY_MS), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "CREATE TABLE elsewhere(x)", NULL, NULL, NULL),
			 SQLITE_OK);
	return db;
}

/* Open sessions read an empty file, and new ones cannot be opened. */
FG_SERVER_TEST(broken_database_is_named_in_the_log_alone)
{
	static const char *const paths[] = {"/api/v1/projects", "/api/v1/runs"};
	struct fg_test_server *s = *state;
	char *wal = fg_xasprintf("%s-wal", s->database);
	sqlite3 *elsewhere = NULL;
	char *log = NULL;
	size_t size = 0;

	elsewhere = write_from_elsewhere(s);
	assert_return_code(truncate(s->database, 0), 0);
	/* A checkpoint may have removed the log: then everything is in the file. */
	assert_true(truncate(wal, 0) == 0 || errno == ENOENT);
	for (size_t i = 0; i < FG_ARRAY_SIZE(paths); i++)
		shows_no_path(s, paths[i], FAILED);
	log = fg_scratch_read(&s->scratch, FG_TEST_SERVER_LOG, &size);
	assert_non_null(strstr(log, s->database));
	(void)sqlite3_close(elsewhere);
	free(log);
	free(wal);
}

FG_SERVER_TEST(log_holds_no_token)
{
	struct fg_test_server *s = *state;
	char *log = NULL;
	size_t size = 0;
	char token[69];

	fg_test_token(s, NULL, FG_SCOPE_UPLOAD, INT64_MAX, token);
	assert_int_equal(fg_test_upload(s, 1, token), 201);
	assert_int_equal(fg_test_upload(s, 2, "fgt_mistaken"), 401);
	log = fg_scratch_read(&s->scratch, FG_TEST_SERVER_LOG, &size);
	assert_non_null(strstr(log, "\"who\":\"token 2\""));
	assert_null(strstr(log, token + 4));
	assert_null(strstr(log, "mistaken"));
	free(log);
}

FG_TEST(password_of_a_database_is_not_shown)
{
	static const char *const urls[] = {
		"postgresql://user:hush@127.0.0.1:1/x?connect_timeout=2",
		"postgresql://user@127.0.0.1:1/x?password=hush&connect_timeout=2",
		"postgresql://127.0.0.1:1/x?user=user&password=hu@sh&connect_timeout=2",
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(urls); i++) {
		struct fg_store *store = NULL;
		struct fg_error err = {0};
		const int status = fg_store_open(urls[i], 0, &store, &err);

		if ((status != FG_ENET && status != FG_EUNSUPPORTED) ||
		    strstr(err.message, "hush") || strstr(err.message, "sh&"))
			fail_msg("%d: %s", status, err.message);
	}
}
