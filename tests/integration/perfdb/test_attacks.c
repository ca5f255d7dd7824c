// SPDX-License-Identifier: Apache-2.0
/* Malicious bodies, headers and connections. */
#include "tests/integration/perfdb/perfdb_samples.h"
#include "tests/support/fg_test.h"
#include "tests/support/loopback.h"

#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	IDLE_CONNECTIONS = 1000,
	GREEDY_CONNECTIONS = 4500,
	IDLE_OF_TWO = 4200,
	PATIENCE_MS = 200, /* the server's initial time limit in the tests with slow clients */
	PATIENCE_MAX_MS = 60000,
	PAUSE_MS = 20
};

#define UPLOAD                                       \
 "POST /api/v1/runs HTTP/1.1\r\nHost: localhost\r\n" \
 "Content-Type: " FG_WIRE_MEDIA_TYPE "\r\nContent-Length: 50000\r\n"

struct bad {
	const char *why;
	const char *bytes;
	int status;
};

FG_SERVER_TEST(bad_bodies_are_refused_and_nothing_is_stored)
{
	static const struct bad cases[] = {
		{"nothing", "", 400},
		{"not ours", "{\"hello\": 1, \"and\": \"some more text to be long enough\"}", 400},
		{"wrong version", "FGRUN/9\n................", 415},
		{"cut short", "FGRUN/1\n\x01\x00", 400},
	};
	struct fg_test_server *s = *state;
	struct fg_strbuf parcel = {0};

	for (size_t i = 0; i < FG_ARRAY_SIZE(cases); i++) {
		const int status = fg_test_post(s, FG_WIRE_RUNS, NULL, FG_WIRE_MEDIA_TYPE,
						cases[i].bytes, strlen(cases[i].bytes), NULL);

		if (status != cases[i].status)
			fail_msg("%s: %d", cases[i].why, status);
	}
	fg_test_parcel(1, &parcel);
	for (size_t at = 0; at < parcel.length; at += parcel.length / 40) {
		parcel.data[at] ^= 0x55;
		assert_in_range(fg_test_send(s, &parcel, NULL, NULL), 400, 415);
		parcel.data[at] ^= 0x55;
	}
	parcel.length /= 2;
	assert_int_equal(fg_test_send(s, &parcel, NULL, NULL), 400);
	assert_int_equal(fg_test_run_count(s), 0);
	fg_strbuf_release(&parcel);
}

/* The headers suffice: the server does not wait for the body. */
FG_SERVER_TEST(oversize_is_refused_before_it_is_sent)
{
	static const char request[] =
		"POST /api/v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n";
	struct fg_test_server *s = *state;
	struct fg_strbuf body = {0};

	assert_int_equal(fg_test_exchange(s, request, sizeof(request) - 1, &body), 413);
	assert_non_null(strstr(fg_strbuf_text(&body), "too_large"));
	fg_strbuf_release(&body);
}

/* The body comes in chunks, so its total is not announced. */
FG_SERVER_TEST(oversize_in_pieces_is_refused)
{
	struct fg_test_server *s = *state;
	struct fg_strbuf request = {0};
	struct fg_strbuf body = {0};

	fg_strbuf_printf(&request,
			 "POST /api/v1/annotations HTTP/1.1\r\nHost: localhost\r\n"
			 "Authorization: Bearer %s\r\nContent-Type: application/json\r\n"
			 "Transfer-Encoding: chunked\r\n\r\n",
			 s->key);
	for (int i = 0; i < 40; i++) {
		fg_strbuf_add_text(&request, "1000\r\n");
		fg_strbuf_add_repeated(&request, ' ', 0x1000);
		fg_strbuf_add_text(&request, "\r\n");
	}
	fg_strbuf_add_text(&request, "0\r\n\r\n");
	assert_int_equal(fg_test_exchange(s, request.data, request.length, &body), 413);
	assert_non_null(strstr(fg_strbuf_text(&body), "too large"));
	fg_strbuf_release(&request);
	fg_strbuf_release(&body);
}

FG_SERVER_TEST(oversize_headers_and_addresses_are_refused)
{
	static const char *const starts[] = {
		"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Much: ",
		"GET /api/v1/runs?branch=",
	};
	struct fg_test_server *s = *state;

	for (size_t i = 0; i < FG_ARRAY_SIZE(starts); i++) {
		struct fg_strbuf request = {0};

		fg_strbuf_add_text(&request, starts[i]);
		fg_strbuf_add_repeated(&request, 'x', 200000);
		fg_strbuf_add_text(&request,
				   i ? " HTTP/1.1\r\nHost: localhost\r\n\r\n" : "\r\n\r\n");
		assert_in_range(fg_test_exchange(s, request.data, request.length, NULL), 413, 431);
		fg_strbuf_release(&request);
	}
	assert_int_equal(fg_test_upload(s, 1, NULL), 201);
}

/* Brackets in place of an annotation, and in place of an envelope. */
FG_SERVER_TEST(deeply_nested_json_is_refused)
{
	struct fg_test_server *s = *state;
	struct fg_strbuf body = {0};
	struct fg_strbuf parcel = {0};

	fg_strbuf_add_repeated(&body, '[', 60000);
	assert_int_equal(fg_test_post(s, "/api/v1/annotations", NULL, "application/json", body.data,
				      body.length, NULL),
			 413);
	assert_int_equal(fg_wire_write(&(struct fg_wire){.envelope = body.data,
							 .envelope_size = body.length},
				       &parcel, NULL),
			 FG_OK);
	assert_int_equal(fg_test_send(s, &parcel, NULL, NULL), 413);
	fg_strbuf_release(&parcel);
	fg_strbuf_release(&body);
}

/* Clients that say nothing, half a request, or do not read their answer. */
FG_SERVER_TEST(idle_connections_do_not_stop_uploads)
{
	static const char *const starts[] = {
		"",
		"POST /api/v1/runs HT",
		"POST /api/v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5000\r\n\r\nFG",
		"GET /assets/openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n",
	};
	struct fg_test_server *s = *state;
	int fds[IDLE_CONNECTIONS];

	for (size_t i = 0; i < IDLE_CONNECTIONS; i++) {
		const char *start = starts[i % FG_ARRAY_SIZE(starts)];

		fds[i] = fg_test_connect(s);
		assert_int_equal(write(fds[i], start, strlen(start)), strlen(start));
	}
	assert_int_equal(fg_test_upload(s, 1, NULL), 201);
	for (size_t i = 0; i < IDLE_CONNECTIONS; i++)
		(void)close(fds[i]);
	assert_int_equal(fg_test_upload(s, 2, NULL), 201);
	assert_int_equal(fg_test_run_count(s), 2);
}

/* These addresses open connections in turn; a client of another address is still served. */
static void leave_room(const struct fg_test_server *s, const char *const addresses[2],
		       size_t connections)
{
	static const char request[] = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
	int *fds = NULL;
	struct rlimit files = {0};
	char answer[12] = "";
	int neighbour = -1;

	/*
	 * Both ends of each connection are in this process; the server has raised the limit as far
	 * as possible.
	 */
	if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur < 2 * connections + 100) {
		print_message("not tried: only %lu files may be open\n",
			      (unsigned long)files.rlim_cur);
		skip();
	}
	fds = fg_xcalloc(connections, sizeof(*fds));
	for (size_t i = 0; i < connections; i++)
		fds[i] = fg_loopback_connect_from(addresses[i % 2], fg_server_port(s->server));
	neighbour = fg_loopback_connect_from("127.0.0.2", fg_server_port(s->server));
	assert_int_equal(send(neighbour, request, sizeof(request) - 1, MSG_NOSIGNAL),
			 sizeof(request) - 1);
	assert_int_equal(recv(neighbour, answer, sizeof(answer), MSG_WAITALL), sizeof(answer));
	assert_memory_equal(answer, "HTTP/1.1 200", sizeof(answer));
	(void)close(neighbour);
	for (size_t i = 0; i < connections; i++)
		(void)close(fds[i]);
	free(fds);
}

FG_SERVER_TEST(one_address_does_not_get_all_connections)
{
	static const char *const addresses[] = {"127.0.0.1", "127.0.0.1"};

	leave_room(*state, addresses, GREEDY_CONNECTIONS);
}

/* Each address stays below its limit; together they would take every connection. */
FG_SERVER_TEST(idle_connections_of_two_addresses_make_room)
{
	static const char *const addresses[] = {"127.0.0.1", "127.0.0.3"};

	leave_room(*state, addresses, IDLE_OF_TWO);
}

/*
 * Sends `start`, then a byte now and then until the server closes; stores the server's words in
 * `answer`. Each byte shows that the client is alive: only a limit on the whole request ends this.
 */
static void dribble(const struct fg_test_server *s, const char *start, struct fg_strbuf *answer)
{
	const int fd = fg_test_connect(s);
	char bytes[512];
	ssize_t got = 1;

	assert_int_equal(send(fd, start, strlen(start), MSG_NOSIGNAL), strlen(start));
	while (got > 0) {
		struct pollfd readable = {.fd = fd, .events = POLLIN};

		(void)send(fd, "x", 1, MSG_NOSIGNAL);
		if (poll(&readable, 1, PAUSE_MS) == 0)
			continue;
		got = recv(fd, bytes, sizeof(bytes), 0);
		if (got > 0)
			fg_strbuf_add(answer, bytes, (size_t)got);
	}
	(void)close(fd);
}

struct slow {
	const char *why;
	const char *start;
	bool begins_well; /* the connection begins with a complete request */
	bool has_token;   /* the headers end with a valid token; the body takes too long */
};

/*
 * Stores the server's answer to a slow client, and returns whether the server then still answers
 * another client. On a busy machine, the other client may get too little time as well.
 */
static bool try_slowly(const struct fg_test_server *s, const struct slow *slow, int64_t patience_ms,
		       struct fg_strbuf *answer)
{
	static const char request[] = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
	const int64_t patience_ns = patience_ms * INT64_C(1000000);
	const struct fg_server_options options = {
		.database = s->database,
		.log_fd = -1,
		.headers_ns = slow->has_token ? 0 : patience_ns,
		.request_ns = slow->has_token ? patience_ns : 0,
	};
	struct fg_test_server strict = {.database = s->database};
	struct fg_strbuf start = {0};
	struct fg_error err = {0};
	char status[12] = "";
	int other = -1;

	if (fg_server_start(&options, &strict.server, &err) != FG_OK)
		fail_msg("%s", err.message);
	fg_strbuf_add_text(&start, slow->start);
	if (slow->has_token)
		fg_strbuf_printf(&start, "Authorization: Bearer %s\r\n\r\n", s->key);
	dribble(&strict, fg_strbuf_text(&start), answer);
	fg_strbuf_release(&start);
	other = fg_test_connect(&strict);
	(void)send(other, request, sizeof(request) - 1, MSG_NOSIGNAL);
	(void)recv(other, status, sizeof(status), MSG_WAITALL);
	(void)close(other);
	fg_server_stop(strict.server);
	return memcmp(status, "HTTP/1.1 200", sizeof(status)) == 0;
}

/* The time limit for headers also limits a body that comes without a valid token. */
FG_SERVER_TEST(slow_request_is_cut_off)
{
	static const struct slow cases[] = {
		{"headers", "GET /healthz HTTP/1.1\r\nX-A: ", false, false},
		{"headers of a second one", "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\nGET /",
		 true, false},
		{"the first line", "G", false, false},
		{"a stranger's body", UPLOAD "\r\n", false, false},
		{"a body", UPLOAD, false, true},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(cases); i++) {
		struct fg_strbuf answer = {0};
		int64_t patience_ms = PATIENCE_MS;
		bool serves = false;
		bool is_answered = false;

		do {
			fg_strbuf_release(&answer);
			serves = try_slowly(*state, &cases[i], patience_ms, &answer);
			is_answered = strstr(fg_strbuf_text(&answer), "HTTP/1.1 200") != NULL;
			patience_ms *= 4;
		} while ((!serves || is_answered < cases[i].begins_well) &&
			 patience_ms <= PATIENCE_MAX_MS);
		/* Only the preceding complete request was answered. */
		if (!serves || is_answered != cases[i].begins_well ||
		    strstr(fg_strbuf_text(&answer), "HTTP/1.1 4"))
			fail_msg("%s: %s", cases[i].why, fg_strbuf_text(&answer));
		fg_strbuf_release(&answer);
	}
}
