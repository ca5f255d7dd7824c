// SPDX-License-Identifier: Apache-2.0
#include "tests/integration/perfdb/perfdb_samples.h"

#include "base/fs.h"
#include "base/json.h"
#include "store/bundle.h"
#include "store/serving/access.h"
#include "store/store.h"
#include "tests/support/fg_test.h"
#include "tests/support/loopback.h"
#include "tests/unit/store/samples.h"

#include <fcntl.h>
#include <math.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	PIECE_BYTES = 16384
};

static void start(struct fg_test_server *s)
{
	const struct fg_server_options options = {.database = s->database,
						  .log_fd = s->log_fd,
						  .threads = 4,
						  .requests_per_minute = 1000000};
	struct fg_error err = {0};

	if (fg_server_start(&options, &s->server, &err) != FG_OK)
		fail_msg("%s", err.message);
	(void)snprintf(s->url, sizeof(s->url), "http://127.0.0.1:%u", fg_server_port(s->server));
}

void fg_test_server_start(struct fg_test_server *s, const char *database)
{
	*s = (struct fg_test_server){0};
	fg_scratch_init(&s->scratch);
	s->log_fd = open(fg_scratch_path(&s->scratch, FG_TEST_SERVER_LOG),
			 O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	assert_return_code(s->log_fd, 0);
	s->database = fg_xstrdup(database ? database : fg_scratch_path(&s->scratch, "perfdb.db"));
	start(s);
	fg_test_token(s, NULL, FG_SCOPE_ADMIN, INT64_MAX, s->key);
	/* Records the token's first use now, and not while a test keeps the database busy. */
	assert_int_equal(fg_test_ask(s, "GET", "/api/v1/capabilities", NULL, NULL), 200);
}

void fg_test_server_restart(struct fg_test_server *s)
{
	fg_server_stop(s->server);
	s->server = NULL;
	start(s);
}

void fg_test_server_stop(struct fg_test_server *s)
{
	fg_server_stop(s->server);
	(void)close(s->log_fd);
	fg_scratch_release(&s->scratch);
	free(s->database);
	*s = (struct fg_test_server){0};
}

int fg_test_server_setup(void **state)
{
	struct fg_test_server *s = fg_xcalloc(1, sizeof(*s));

	fg_test_server_start(s, NULL);
	*state = s;
	return 0;
}

int fg_test_server_teardown(void **state)
{
	fg_test_server_stop(*state);
	free(*state);
	return 0;
}

int fg_test_connect(const struct fg_test_server *s)
{
	return fg_loopback_connect(fg_server_port(s->server));
}

/* Has a body of the announced length arrived? */
static bool is_complete(const struct fg_strbuf *text)
{
	const char *end = text->data ? strstr(text->data, "\r\n\r\n") : NULL;
	const char *length = end ? strcasestr(text->data, "content-length:") : NULL;

	if (!end)
		return false;
	return length && length < end &&
	       text->length - (size_t)(end + 4 - text->data) >= strtoull(length + 15, NULL, 10);
}

int fg_test_exchange(const struct fg_test_server *s, const void *bytes, size_t size,
		     struct fg_strbuf *body)
{
	struct fg_strbuf text = {0};
	const char *end = NULL;
	const int fd = fg_test_connect(s);
	size_t sent = 0;
	int status = 0;

	/*
	 * A server that rejects early closes the connection while the client still sends; its
	 * answer is still readable.
	 */
	while (sent < size) {
		const ssize_t n = send(fd, (const char *)bytes + sent, size - sent, MSG_NOSIGNAL);

		if (n <= 0)
			break;
		sent += (size_t)n;
	}
	while (!is_complete(&text)) {
		char piece[PIECE_BYTES];
		const ssize_t n = recv(fd, piece, sizeof(piece), 0);

		if (n <= 0)
			break;
		fg_strbuf_add(&text, piece, (size_t)n);
	}
	(void)close(fd);
	if (text.length > 12)
		status = (int)strtol(text.data + 9, NULL, 10);
	end = text.data ? strstr(text.data, "\r\n\r\n") : NULL;
	if (body)
		fg_strbuf_clear(body);
	if (body && end)
		fg_strbuf_add(body, end + 4, text.length - (size_t)(end + 4 - text.data));
	fg_strbuf_release(&text);
	return status;
}

static void add_token(const struct fg_test_server *s, struct fg_strbuf *request, const char *token)
{
	token = token ? token : s->key;
	if (*token)
		fg_strbuf_printf(request, "Authorization: Bearer %s\r\n", token);
}

int fg_test_ask(const struct fg_test_server *s, const char *method, const char *path,
		const char *token, struct fg_strbuf *body)
{
	struct fg_strbuf request = {0};
	int status = 0;

	fg_strbuf_printf(&request, "%s %s HTTP/1.1\r\nHost: 127.0.0.1\r\n", method, path);
	add_token(s, &request, token);
	fg_strbuf_add_text(&request, "\r\n");
	status = fg_test_exchange(s, request.data, request.length, body);
	fg_strbuf_release(&request);
	return status;
}

int fg_test_post(const struct fg_test_server *s, const char *path, const char *token,
		 const char *type, const void *data, size_t size, struct fg_strbuf *body)
{
	struct fg_strbuf request = {0};
	int status = 0;

	fg_strbuf_printf(
		&request,
		"POST %s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: %s\r\nContent-Length: %zu\r\n",
		path, type, size);
	add_token(s, &request, token);
	fg_strbuf_add_text(&request, "\r\n");
	fg_strbuf_add(&request, data, size);
	status = fg_test_exchange(s, request.data, request.length, body);
	fg_strbuf_release(&request);
	return status;
}

int fg_test_post_json(const struct fg_test_server *s, const char *path, const char *token,
		      const char *json, struct fg_strbuf *body)
{
	return fg_test_post(s, path, token, "application/json", json, strlen(json), body);
}

cJSON *fg_test_get_json(const struct fg_test_server *s, const char *path)
{
	struct fg_strbuf body = {0};
	struct fg_error err = {0};
	cJSON *json = NULL;
	const int status = fg_test_ask(s, "GET", path, NULL, &body);

	if (status != 200)
		fail_msg("%s: %d %s", path, status, fg_strbuf_text(&body));
	if (fg_json_parse(body.data, body.length, body.length, &json, &err) != FG_OK)
		fail_msg("%s: %s", path, err.message);
	fg_strbuf_release(&body);
	return json;
}

const char *fg_test_text(const cJSON *json, const char *pointer)
{
	const cJSON *item = fg_json_pointer(json, pointer);

	return cJSON_IsString(item) ? item->valuestring : "";
}

int fg_test_count(const cJSON *json, const char *path)
{
	return cJSON_GetArraySize(fg_json_find(json, path));
}

void fg_test_parcel(unsigned seed, struct fg_strbuf *text)
{
	fg_test_parcel_of(&fg_sample_small, seed, text);
}

/* Adds one call per millisecond. */
static void add_calls(struct fg_profile_set *set)
{
	const struct fg_measure calls = fg_measure_describe("calls", NULL);
	const uint16_t id = fg_profile_set_measure(set, &calls);
	const size_t rows = set->row_count;

	for (size_t r = 0; r < rows; r++) {
		struct fg_profile_row *row = fg_profile_set_add_row(set, set->rows[r].count);
		const struct fg_profile_row *time = &set->rows[r];

		row->arm = time->arm;
		row->pair = time->pair;
		row->aside = time->aside;
		row->measure = id;
		for (uint32_t i = 0; i < time->count; i++) {
			row->nodes[i] = time->nodes[i];
			row->samples[i] = time->samples[i];
			row->values[i] = ceil(time->values[i] / 1e6);
			row->total += row->values[i];
		}
	}
}

static void make_parcel(const struct fg_sample_shape *shape, unsigned seed, bool with_calls,
			struct fg_strbuf *text)
{
	struct fg_stored_run run = {0};
	struct fg_bundle bundle = {0};
	struct fg_error err = {0};
	struct fg_wire wire;

	fg_sample_run(&run, seed, shape);
	run.report = fg_sample_report("pass", 1.0);
	for (size_t i = 0; with_calls && i < run.run.series_count; i++) {
		if (run.profiles[i])
			add_calls(run.profiles[i]);
	}
	if (fg_bundle_from_run(&run, &bundle, &err) != FG_OK)
		fail_msg("%s", err.message);
	wire = (struct fg_wire){bundle.envelope.data,   bundle.envelope.length,
				bundle.dictionary.data, bundle.dictionary.size,
				bundle.values.data,     bundle.values.size};
	if (fg_wire_write(&wire, text, &err) != FG_OK)
		fail_msg("%s", err.message);
	fg_bundle_release(&bundle);
	fg_stored_run_release(&run);
}

void fg_test_parcel_of(const struct fg_sample_shape *shape, unsigned seed, struct fg_strbuf *text)
{
	make_parcel(shape, seed, false, text);
}

void fg_test_parcel_edit(struct fg_strbuf *parcel, const char *mark, const char *text)
{
	struct fg_strbuf edited = {0};
	struct fg_error err = {0};
	struct fg_wire wire;
	char *envelope = NULL;
	char *at = NULL;

	if (fg_wire_read(parcel->data, parcel->length, &wire, &err) != FG_OK)
		fail_msg("%s", err.message);
	envelope = fg_xstrndup(wire.envelope, wire.envelope_size);
	at = strstr(envelope, mark);
	if (!at || strlen(at) < strlen(mark) + strlen(text))
		fail_msg("the envelope has no %s with room behind it", mark);
	else
		memcpy(at + strlen(mark), text, strlen(text));
	wire.envelope = envelope;
	if (fg_wire_write(&wire, &edited, &err) != FG_OK)
		fail_msg("%s", err.message);
	free(envelope);
	fg_strbuf_release(parcel);
	*parcel = edited;
}

char *fg_test_confirmation(const struct fg_strbuf *parcel, const char *id)
{
	struct fg_error err = {0};
	struct fg_wire wire;
	char digest[FG_SHA256_HEX_SIZE];

	if (fg_wire_read(parcel->data, parcel->length, &wire, &err) != FG_OK)
		fail_msg("%s", err.message);
	fg_wire_digest(&wire, digest);
	return fg_xasprintf("{\"run\":\"%s\",\"digest\":\"%s\",\"stored\":true}", id, digest);
}

int fg_test_send(const struct fg_test_server *s, const struct fg_strbuf *parcel, const char *token,
		 struct fg_strbuf *body)
{
	return fg_test_post(s, FG_WIRE_RUNS, token, FG_WIRE_MEDIA_TYPE, parcel->data,
			    parcel->length, body);
}

int fg_test_upload(const struct fg_test_server *s, unsigned seed, const char *token)
{
	struct fg_strbuf parcel = {0};
	int status = 0;

	fg_test_parcel(seed, &parcel);
	status = fg_test_send(s, &parcel, token, NULL);
	fg_strbuf_release(&parcel);
	return status;
}

int fg_test_upload_calls(const struct fg_test_server *s, unsigned seed)
{
	struct fg_strbuf parcel = {0};
	int status = 0;

	make_parcel(&fg_sample_small, seed, true, &parcel);
	status = fg_test_send(s, &parcel, NULL, NULL);
	fg_strbuf_release(&parcel);
	return status;
}

static void add_percents(struct fg_strbuf *path, const char *words)
{
	for (; *words; words++)
		fg_strbuf_printf(path, "%%%02X", (unsigned char)*words);
}

cJSON *fg_test_function_trend(const struct fg_test_server *s, const char *more)
{
	struct fg_stored_run run = {0};
	const struct fg_profile_function *function = NULL;
	struct fg_strbuf path = {0};
	cJSON *json = NULL;

	fg_sample_run(&run, 1, &fg_sample_small);
	function = fg_sample_busiest(run.profiles[0]);
	fg_strbuf_add_text(&path, "/api/v1/function-trend?project=tracker&benchmark=parse&name=");
	add_percents(&path, function->name);
	fg_strbuf_add_text(&path, "&library=");
	add_percents(&path, function->library);
	fg_strbuf_add_text(&path, more);
	json = fg_test_get_json(s, fg_strbuf_text(&path));
	assert_string_equal(fg_json_text_or(json, "name", ""), function->name);
	fg_strbuf_release(&path);
	fg_stored_run_release(&run);
	return json;
}

const char *fg_test_run_id(unsigned seed)
{
	static char ring[4][37];
	static unsigned next;
	char *text = ring[next++ % 4];

	(void)snprintf(text, sizeof(ring[0]), "0198f000-0000-7000-8000-%012x", seed);
	return text;
}

static struct fg_store *open_store(const struct fg_test_server *s)
{
	struct fg_store *store = NULL;
	struct fg_error err = {0};

	if (fg_store_open(s->database, FG_STORE_DURABLE, &store, &err) != FG_OK)
		fail_msg("%s", err.message);
	return store;
}

void fg_test_token(const struct fg_test_server *s, const char *project, int scope,
		   int64_t expires_ns, char text[69])
{
	struct fg_store *store = open_store(s);
	struct fg_token token = {.scope = (enum fg_scope)scope, .expires_ns = expires_ns};
	struct fg_error err = {0};

	token.project = project ? fg_xstrdup(project) : NULL;
	if (fg_store_token_create(store, &token, text, &err) != FG_OK)
		fail_msg("%s", err.message);
	fg_token_release(&token);
	fg_store_close(store);
}

size_t fg_test_run_count(const struct fg_test_server *s)
{
	struct fg_store *store = open_store(s);
	struct fg_run_list list = {0};
	struct fg_error err = {0};
	size_t count = 0;

	if (fg_store_list(store, &(struct fg_run_filter){.limit = 1000}, &list, &err) != FG_OK)
		fail_msg("%s", err.message);
	count = list.count;
	fg_run_list_release(&list);
	fg_store_close(store);
	return count;
}
