// SPDX-License-Identifier: Apache-2.0
/*
 * Untrusted requests to a perfdb server with three runs: "METHOD TARGET", lines "Name: value", an
 * empty line, a body.
 *
 * The server is the real one on a real database; the functions below replace libmicrohttpd, which
 * parses requests from the network. Answers declared as JSON must be JSON, and no header may
 * contain a line break.
 */
#include "base/fs.h"
#include "base/json.h"
#include "base/text.h"
#include "perfdb/server/server.h"
#include "perfdb/server/server_private.h"
#include "store/serving/access.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/store/samples.h"

#include <limits.h>
#include <netinet/in.h>
#include <pthread.h>

enum {
	RUNS = 3,
	MAX_FIELDS = 64,
	MAX_ANSWER_BYTES = 64 << 20,
	BODY_PIECES = 3
};

struct field {
	char *name;
	char *value;
};

struct MHD_Connection {
	struct field arguments[MAX_FIELDS];
	struct field headers[MAX_FIELDS];
	size_t argument_count;
	size_t header_count;
	int status;        /* 0: not answered yet */
	bool is_suspended; /* protected by `turn`; another thread handles the request */
	bool was_suspended;
};

struct MHD_Response {
	const char *data;
	size_t size;
	bool owned;
	bool is_json;
	bool is_packed;
};

/* ---- libmicrohttpd's part ---- */

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turned = PTHREAD_COND_INITIALIZER;

void MHD_suspend_connection(struct MHD_Connection *connection)
{
	(void)pthread_mutex_lock(&turn);
	connection->is_suspended = true;
	connection->was_suspended = true;
	(void)pthread_mutex_unlock(&turn);
}

void MHD_resume_connection(struct MHD_Connection *connection)
{
	(void)pthread_mutex_lock(&turn);
	connection->is_suspended = false;
	(void)pthread_cond_signal(&turned);
	(void)pthread_mutex_unlock(&turn);
}

static void wait_for_turn(struct MHD_Connection *connection)
{
	(void)pthread_mutex_lock(&turn);
	while (connection->is_suspended)
		(void)pthread_cond_wait(&turned, &turn);
	(void)pthread_mutex_unlock(&turn);
}

struct MHD_Daemon *MHD_start_daemon(unsigned flags, uint16_t port, MHD_AcceptPolicyCallback accept,
				    void *accept_context, MHD_AccessHandlerCallback handler,
				    void *context, ...)
{
	static char stand_in;

	(void)flags;
	(void)port;
	(void)accept;
	(void)accept_context;
	(void)handler;
	(void)context;
	return (struct MHD_Daemon *)(void *)&stand_in;
}

MHD_socket MHD_quiesce_daemon(struct MHD_Daemon *daemon)
{
	(void)daemon;
	return MHD_INVALID_SOCKET;
}

void MHD_stop_daemon(struct MHD_Daemon *daemon)
{
	(void)daemon;
}

const union MHD_DaemonInfo *MHD_get_daemon_info(struct MHD_Daemon *daemon,
						enum MHD_DaemonInfoType type, ...)
{
	(void)daemon;
	(void)type;
	return NULL;
}

const union MHD_ConnectionInfo *MHD_get_connection_info(struct MHD_Connection *connection,
							enum MHD_ConnectionInfoType type, ...)
{
	(void)connection;
	(void)type;
	return NULL;
}

static const char *find(const struct field *fields, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++) {
		if (strcasecmp(fields[i].name, name) == 0)
			return fields[i].value;
	}
	return NULL;
}

const char *MHD_lookup_connection_value(struct MHD_Connection *connection, enum MHD_ValueKind kind,
					const char *name)
{
	if (kind == MHD_COOKIE_KIND)
		return NULL;
	return kind == MHD_HEADER_KIND
		       ? find(connection->headers, connection->header_count, name)
		       : find(connection->arguments, connection->argument_count, name);
}

int MHD_get_connection_values(struct MHD_Connection *connection, enum MHD_ValueKind kind,
			      MHD_KeyValueIterator iterator, void *context)
{
	const bool are_headers = kind == MHD_HEADER_KIND;
	const struct field *fields = are_headers ? connection->headers : connection->arguments;
	const size_t count = are_headers ? connection->header_count : connection->argument_count;

	for (size_t i = 0; i < count; i++)
		(void)iterator(context, kind, fields[i].name, fields[i].value);
	return (int)count;
}

struct MHD_Response *MHD_create_response_from_buffer(size_t size, void *data,
						     enum MHD_ResponseMemoryMode mode)
{
	struct MHD_Response *response = fg_xcalloc(1, sizeof(*response));

	response->data = data;
	response->size = size;
	response->owned = mode == MHD_RESPMEM_MUST_FREE;
	return response;
}

enum MHD_Result MHD_add_response_header(struct MHD_Response *response, const char *name,
					const char *value)
{
	FG_ASSERT(!strpbrk(name, "\r\n") && !strpbrk(value, "\r\n"));
	if (strcmp(name, MHD_HTTP_HEADER_CONTENT_TYPE) == 0)
		response->is_json = strcmp(value, "application/json") == 0;
	if (strcmp(name, MHD_HTTP_HEADER_CONTENT_ENCODING) == 0)
		response->is_packed = true;
	return MHD_YES;
}

enum MHD_Result MHD_queue_response(struct MHD_Connection *connection, unsigned status,
				   struct MHD_Response *response)
{
	FG_ASSERT(connection->status == 0 && status >= 200 && status < 600);
	connection->status = (int)status;
	if (response->is_json && !response->is_packed) {
		struct fg_error err = {0};
		cJSON *json = NULL;

		FG_ASSERT(fg_json_parse(response->data, response->size, MAX_ANSWER_BYTES, &json,
					&err) == FG_OK);
		cJSON_Delete(json);
	}
	return MHD_YES;
}

void MHD_destroy_response(struct MHD_Response *response)
{
	if (response->owned)
		free((void *)(uintptr_t)response->data);
	free(response);
}

/* ---- the request ---- */

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Returns the byte given by two hexadecimal digits. */
static char byte_of(const char *digits)
{
	const unsigned char byte = (unsigned char)((unsigned)hex_digit(digits[0]) << 4 |
						   (unsigned)hex_digit(digits[1]));
	char c = '\0';

	memcpy(&c, &byte, 1);
	return c;
}

/* Decodes in place, as libmicrohttpd does; a %00 ends the text. */
static void unescape(char *text)
{
	char *to = text;

	for (const char *from = text; *from; from++) {
		if (*from == '%' && hex_digit(from[1]) >= 0 && hex_digit(from[2]) >= 0) {
			*to++ = byte_of(from + 1);
			from += 2;
		} else if (*from == '+') {
			*to++ = ' ';
		} else {
			*to++ = *from;
		}
	}
	*to = '\0';
}

static void take_arguments(struct MHD_Connection *connection, char *query)
{
	char *rest = query;

	while (rest && connection->argument_count < MAX_FIELDS) {
		struct field *field = &connection->arguments[connection->argument_count++];

		field->name = strsep(&rest, "&");
		field->value = strchr(field->name, '=');
		if (field->value) {
			*field->value++ = '\0';
			unescape(field->value);
		}
		unescape(field->name);
	}
}

static void take_header(struct MHD_Connection *connection, char *line)
{
	char *colon = strchr(line, ':');
	struct field *field = NULL;

	if (!colon || connection->header_count >= MAX_FIELDS)
		return;
	field = &connection->headers[connection->header_count++];
	*colon = '\0';
	field->name = line;
	field->value = colon + 1 + strspn(colon + 1, " \t");
}

static char authorization[] = "Authorization";
static char administrator[sizeof("Bearer ") + FG_TOKEN_TEXT_SIZE] = "Bearer ";

/* Lets inputs without a token reach the handlers. */
static void add_token(struct MHD_Connection *connection)
{
	for (size_t i = 0; i < connection->header_count; i++) {
		if (strcasecmp(connection->headers[i].name, "Authorization") == 0)
			return;
	}
	if (connection->header_count < MAX_FIELDS)
		connection->headers[connection->header_count++] =
			(struct field){.name = authorization, .value = administrator};
}

struct request {
	char *method;
	char *path;
	char *body;
	size_t body_size;
	struct MHD_Connection connection;
};

/* `text` is NUL-terminated and is cut into pieces. */
static bool take_request(char *text, size_t size, struct request *request)
{
	char *rest = text;
	char *line = strsep(&rest, "\n");
	char *query = NULL;

	request->method = strsep(&line, " ");
	request->path = line;
	if (!line || *line != '/')
		return false;
	query = strchr(line, '?');
	if (query)
		*query++ = '\0';
	take_arguments(&request->connection, query);
	unescape(request->path);
	while ((line = strsep(&rest, "\n")) && *line)
		take_header(&request->connection, line);
	add_token(&request->connection);
	request->body = rest;
	request->body_size = rest ? size - (size_t)(rest - text) : 0;
	return true;
}

/* ---- the server ---- */

static char *folder;
static char *database;
static struct fg_server *server;

static void add_run(struct fg_store *store, uint64_t seed)
{
	struct fg_stored_run run = {0};
	struct fg_error err = {0};
	char *report = fg_sample_report(seed == RUNS ? "regression" : "pass", 1.0);

	fg_sample_run(&run, seed, &fg_sample_small);
	FG_ASSERT(fg_store_save(store, &run.run, run.profiles, report, &err) == FG_OK);
	fg_stored_run_release(&run);
	free(report);
}

static void start(void)
{
	const struct fg_server_options options = {
		.database = database, .requests_per_minute = UINT_MAX, .log_fd = -1};
	struct fg_token token = {.scope = FG_SCOPE_ADMIN, .expires_ns = INT64_MAX};
	struct fg_store *store = NULL;
	struct fg_error err = {0};

	FG_ASSERT(fg_store_open(database, 0, &store, &err) == FG_OK);
	for (uint64_t seed = 1; seed <= RUNS; seed++)
		add_run(store, seed);
	FG_ASSERT(fg_store_token_create(store, &token, administrator + strlen("Bearer "), &err) ==
		  FG_OK);
	fg_store_close(store);
	FG_ASSERT(fg_server_start(&options, &server, &err) == FG_OK);
}

static void stop(void)
{
	static const char *const endings[] = {"", "-wal", "-shm"};

	fg_server_stop(server);
	server = NULL;
	for (size_t i = 0; i < FG_ARRAY_SIZE(endings); i++) {
		char *path = fg_xasprintf("%s%s", database, endings[i]);

		(void)remove(path);
		free(path);
	}
}

static void clean(void)
{
	struct fg_error err = {0};

	stop();
	if (fg_fs_remove_tree(folder, &err) != FG_OK)
		(void)fprintf(stderr, "%s\n", err.message);
	free(folder);
	free(database);
}

static void ask(struct request *request)
{
	struct MHD_Connection *connection = &request->connection;
	const size_t piece = request->body_size / BODY_PIECES + 1;
	void *state = fg_http_line(server, request->path, connection);
	size_t size = 0;
	enum MHD_Result result = fg_http_access(server, connection, request->path, request->method,
						MHD_HTTP_VERSION_1_1, NULL, &size, &state);

	wait_for_turn(connection);
	/*
	 * Another thread has looked up the token: the handler is called again, and then with the
	 * body.
	 */
	if (connection->was_suspended && result == MHD_YES && !connection->status) {
		size = 0;
		result = fg_http_access(server, connection, request->path, request->method,
					MHD_HTTP_VERSION_1_1, NULL, &size, &state);
	}
	for (size_t done = 0; result == MHD_YES && !connection->status && done < request->body_size;
	     done += piece) {
		size = fg_min_size(piece, request->body_size - done);
		result = fg_http_access(server, connection, request->path, request->method,
					MHD_HTTP_VERSION_1_1, request->body + done, &size, &state);
	}
	/*
	 * The first call answers, or starts another thread that does; then a second call sends the
	 * answer.
	 */
	for (int call = 0; call < 2 && result == MHD_YES && !connection->status; call++) {
		size = 0;
		result = fg_http_access(server, connection, request->path, request->method,
					MHD_HTTP_VERSION_1_1, NULL, &size, &state);
		wait_for_turn(connection);
	}
	FG_ASSERT(result == MHD_YES && connection->status != 0 && connection->status != 500);
	fg_http_completed(server, connection, &state, MHD_REQUEST_TERMINATED_COMPLETED_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct request request = {0};
	char *text = fg_fuzz_text(data, size);

	if (!database) {
		/* In memory, because a busy disk would look like a slow input. */
		const char *parent = fg_fs_is_folder("/dev/shm") ? "/dev/shm" : "/tmp";

		FG_ASSERT(fg_fs_temporary_folder(parent, "fastgate-fuzz", &folder, NULL) == FG_OK);
		database = fg_fs_join(folder, "perfdb.db");
		(void)atexit(clean);
		start();
	}
	if (take_request(text, size, &request)) {
		ask(&request);
		/* Undo every change, so that an input does the same every time. */
		if (strcmp(request.method, "GET") != 0 && request.connection.status < 300) {
			stop();
			start();
		}
	}
	free(text);
	return 0;
}
