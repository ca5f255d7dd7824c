// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"
#include "perfdb/server/pages.h"
#include "perfdb/server/request.h"
#include "store/query.h"
#include "tests/integration/perfdb/perfdb_samples.h"
#include "tests/support/fg_test.h"

#include <unistd.h>

enum {
	IDLE_CONNECTIONS = 1000
};

static int setup(void **state)
{
	struct fg_test_server *s = fg_xcalloc(1, sizeof(*s));

	fg_test_server_start(s, NULL);
	*state = s;
	return 0;
}

static int teardown(void **state)
{
	fg_test_server_stop(*state);
	free(*state);
	return 0;
}

static int upload(const struct fg_test_server *s, unsigned seed, bool with_dictionary,
		  const char *token)
{
	struct fg_strbuf parcel = {0};
	int status = 0;

	fg_test_parcel(seed, with_dictionary, &parcel);
	status = fg_test_post(s, FG_WIRE_RUNS, token, FG_WIRE_MEDIA_TYPE, parcel.data,
			      parcel.length, NULL);
	fg_strbuf_release(&parcel);
	return status;
}

static void sent_twice_stored_once(void **state)
{
	struct fg_test_server *s = *state;

	assert_int_equal(upload(s, 1, true, NULL), 201);
	assert_int_equal(upload(s, 1, true, NULL), 200);
	assert_int_equal(upload(s, 1, false, NULL), 200);
	assert_int_equal(fg_test_run_count(s), 1);
}

static void unknown_dictionary_is_asked_for_and_a_known_one_is_not_needed(void **state)
{
	struct fg_test_server *s = *state;

	assert_int_equal(upload(s, 1, false, NULL), 424);
	assert_int_equal(upload(s, 1, true, NULL), 201);
	assert_int_equal(upload(s, 2, false, NULL), 201); /* the same program */
	assert_int_equal(fg_test_run_count(s), 2);
}

/* The project's name is changed: same id, other content. */
static void same_id_with_other_content_is_refused(void **state)
{
	struct fg_test_server *s = *state;
	struct fg_strbuf parcel = {0};
	struct fg_strbuf changed = {0};
	struct fg_wire wire = {0};
	char *envelope = NULL;

	assert_int_equal(upload(s, 1, true, NULL), 201);
	fg_test_parcel(1, true, &parcel);
	assert_int_equal(fg_wire_read(parcel.data, parcel.length, &wire, NULL), FG_OK);
	envelope = fg_xstrndup(wire.envelope, wire.envelope_size);
	memcpy(strstr(envelope, "AMD EPYC"), "Another1", 8);
	wire.envelope = envelope;
	assert_int_equal(fg_wire_write(&wire, &changed, NULL), FG_OK);
	assert_int_equal(fg_test_post(s, FG_WIRE_RUNS, NULL, FG_WIRE_MEDIA_TYPE, changed.data,
				      changed.length, NULL),
			 422);
	assert_int_equal(fg_test_run_count(s), 1);
	free(envelope);
	fg_strbuf_release(&parcel);
	fg_strbuf_release(&changed);
}

struct bad {
	const char *why;
	const char *bytes;
	int status;
};

static void bad_bodies_are_refused_and_nothing_is_stored(void **state)
{
	static const struct bad cases[] = {
		{"nothing",       "",							      400},
		{"not ours",      "{\"hello\": 1, \"and\": \"some more text to be long enough\"}", 400},
		{"wrong version", "FGRUN/9\n................",                                     415},
		{"cut short",     "FGRUN/1\n\x01\x00",                                             400},
	};
	struct fg_test_server *s = *state;
	struct fg_strbuf parcel = {0};

	for (size_t i = 0; i < FG_ARRAY_SIZE(cases); i++) {
		const int status = fg_test_post(s, FG_WIRE_RUNS, NULL, FG_WIRE_MEDIA_TYPE,
						cases[i].bytes, strlen(cases[i].bytes), NULL);

		if (status != cases[i].status)
			fail_msg("%s: %d", cases[i].why, status);
	}
	fg_test_parcel(1, true, &parcel);
	for (size_t at = 0; at < parcel.length; at += parcel.length / 40) {
		parcel.data[at] ^= 0x55;
		assert_in_range(fg_test_post(s, FG_WIRE_RUNS, NULL, FG_WIRE_MEDIA_TYPE, parcel.data,
					     parcel.length, NULL),
				400, 415);
		parcel.data[at] ^= 0x55;
	}
	assert_int_equal(fg_test_post(s, FG_WIRE_RUNS, NULL, FG_WIRE_MEDIA_TYPE, parcel.data,
				      parcel.length / 2, NULL),
			 400);
	assert_int_equal(fg_test_run_count(s), 0);
	fg_strbuf_release(&parcel);
}

static void oversize_is_refused_before_it_is_sent(void **state)
{
	static const char request[] =
		"POST /api/v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n";
	struct fg_test_server *s = *state;
	struct fg_strbuf body = {0};

	assert_int_equal(fg_test_exchange(s, request, sizeof(request) - 1, &body), 413);
	assert_non_null(strstr(fg_strbuf_text(&body), "too_large"));
	fg_strbuf_release(&body);
}

/* A megabyte of brackets where an annotation is expected. */
static void deeply_nested_json_is_refused(void **state)
{
	struct fg_test_server *s = *state;
	struct fg_strbuf body = {0};

	fg_strbuf_add_repeated(&body, '[', 60000);
	assert_int_equal(fg_test_post(s, "/api/v1/annotations", NULL, "application/json", body.data,
				      body.length, NULL),
			 413);
	fg_strbuf_release(&body);
}

static void tokens_open_only_what_they_are_for(void **state)
{
	struct fg_test_server *s = *state;
	char admin[69];
	char reader[69];
	char uploader[69];
	char other[69];
	char expired[69];

	fg_test_token(s, NULL, FG_SCOPE_ADMIN, INT64_MAX, admin);
	fg_test_token(s, "tracker", FG_SCOPE_READ, INT64_MAX, reader);
	fg_test_token(s, "tracker", FG_SCOPE_UPLOAD, INT64_MAX, uploader);
	fg_test_token(s, "other", FG_SCOPE_UPLOAD, INT64_MAX, other);
	fg_test_token(s, NULL, FG_SCOPE_ADMIN, 1, expired);
	assert_int_equal(upload(s, 1, true, NULL), 401);
	assert_int_equal(upload(s, 1, true, "fgt_0000"), 401);
	assert_int_equal(upload(s, 1, true, expired), 401);
	assert_int_equal(upload(s, 1, true, reader), 403);
	assert_int_equal(upload(s, 1, true, other), 403);
	assert_int_equal(upload(s, 1, true, uploader), 201);
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

static void strange_addresses_lead_nowhere(void **state)
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
	assert_int_equal(fg_test_ask(s, "PUT", "/api/v1/runs", NULL, NULL), 405);
}

static void metacharacters_of_sql_find_nothing_and_break_nothing(void **state)
{
	struct fg_test_server *s = *state;
	struct fg_strbuf body = {0};

	assert_int_equal(upload(s, 1, true, NULL), 201);
	assert_int_equal(
		fg_test_ask(s, "GET",
			    "/api/v1/runs?project=%27%3BDROP%20TABLE%20run%3B--&branch=%25", NULL,
			    &body),
		200);
	assert_string_equal(fg_strbuf_text(&body), "{\"runs\":[]}");
	assert_int_equal(fg_test_run_count(s), 1);
	fg_strbuf_release(&body);
}

static void asked_by_a_foreign_name_an_open_server_is_silent(void **state)
{
	static const struct {
		const char *host;
		int answer;
	} cases[] = {
		{"evil.example",           403},
                {"localhost.evil.example", 403},
		{"127.0.0.1.evil.example", 403},
                {"127.0.0.10",             403},
		{"LocalHost:8642",         200},
                {"[::1]:8642",             200},
	};
	struct fg_test_server *s = *state;

	for (size_t i = 0; i < FG_ARRAY_SIZE(cases); i++) {
		char *request = fg_xasprintf("GET /api/v1/projects HTTP/1.1\r\nHost: %s\r\n\r\n",
					     cases[i].host);

		assert_int_equal(fg_test_exchange(s, request, strlen(request), NULL),
				 cases[i].answer);
		free(request);
	}
}

static void wider_than_loopback_needs_tokens_and_tls(void **state)
{
	struct fg_test_server *s = *state;
	struct fg_server_options options = {
		.database = s->database, .address = "0.0.0.0", .log_fd = -1};
	struct fg_server *server = NULL;
	struct fg_error err = {0};
	char token[69];

	assert_int_equal(fg_server_start(&options, &server, &err), FG_EINVAL);
	assert_non_null(strstr(err.message, "token"));
	fg_test_token(s, NULL, FG_SCOPE_ADMIN, INT64_MAX, token);
	assert_int_equal(fg_server_start(&options, &server, &err), FG_EINVAL);
	assert_non_null(strstr(err.message, "TLS"));
	options.behind_proxy = true;
	assert_int_equal(fg_server_start(&options, &server, &err), FG_OK);
	fg_server_stop(server);
}

static void idle_connections_do_not_stop_uploads(void **state)
{
	struct fg_test_server *s = *state;
	int fds[IDLE_CONNECTIONS];

	for (size_t i = 0; i < IDLE_CONNECTIONS; i++) {
		fds[i] = fg_test_connect(s);
		if (i % 2)
			assert_int_equal(write(fds[i], "POST /api/v1/runs HT", 20), 20);
	}
	assert_int_equal(upload(s, 1, true, NULL), 201);
	for (size_t i = 0; i < IDLE_CONNECTIONS; i++)
		(void)close(fds[i]);
}

static void get(struct fg_test_server *s, const char *path, cJSON **json)
{
	struct fg_strbuf body = {0};
	struct fg_error err = {0};
	const int status = fg_test_ask(s, "GET", path, NULL, &body);

	if (status != 200)
		fail_msg("%s: %d %s", path, status, fg_strbuf_text(&body));
	if (fg_json_parse(body.data, body.length, body.length, json, &err) != FG_OK)
		fail_msg("%s: %s", path, err.message);
	fg_strbuf_release(&body);
}

static void add_percents(struct fg_strbuf *path, const char *words)
{
	for (; *words; words++)
		fg_strbuf_printf(path, "%%%02X", (unsigned char)*words);
}

/* A function's history by its name, as a link holds it, instead of by its id. */
static void function_of(struct fg_test_server *s, const char *more, cJSON **json)
{
	cJSON *functions = NULL;
	const cJSON *first = NULL;
	struct fg_strbuf path = {0};

	get(s, "/api/v1/functions?a=latest~1&b=latest&benchmark=parse&limit=1", &functions);
	first = cJSON_GetArrayItem(fg_json_find(functions, "functions"), 0);
	fg_strbuf_add_text(&path, "/api/v1/function-trend?project=tracker&benchmark=parse&name=");
	add_percents(&path, fg_json_text_or(first, "name", ""));
	fg_strbuf_add_text(&path, "&library=");
	add_percents(&path, fg_json_text_or(first, "library", ""));
	fg_strbuf_add_text(&path, more);
	get(s, fg_strbuf_text(&path), json);
	assert_string_equal(fg_json_text_or(*json, "name", ""), fg_json_text_or(first, "name", ""));
	fg_strbuf_release(&path);
	cJSON_Delete(functions);
}

/* The profile of all pairs, of some, and of none. */
static void profile_of_pairs(struct fg_test_server *s)
{
	static const char *const wrong[] = {"7", "7-", "x-3", "9-3", "1-99999999999", "1-2x"};
	char path[160];
	cJSON *json = NULL;
	int all = 0;

	get(s, "/api/v1/profile?a=latest&benchmark=parse", &json);
	all = cJSON_GetArraySize(fg_json_find(json, "profile/nodes/function"));
	assert_true(all > 10);
	assert_non_null(fg_json_find(json, "marked/name"));
	cJSON_Delete(json);
	get(s, "/api/v1/profile?a=latest&benchmark=parse&pairs=1-2", &json);
	assert_in_range(cJSON_GetArraySize(fg_json_find(json, "profile/nodes/function")), 2, all);
	cJSON_Delete(json);
	get(s, "/api/v1/profile?a=latest&benchmark=parse&pairs=70000-70001", &json);
	assert_int_equal(cJSON_GetArraySize(fg_json_find(json, "profile/nodes/function")), 1);
	cJSON_Delete(json);
	for (size_t i = 0; i < FG_ARRAY_SIZE(wrong); i++) {
		(void)snprintf(path, sizeof(path),
			       "/api/v1/profile?a=latest&benchmark=parse&pairs=%s", wrong[i]);
		assert_int_equal(fg_test_ask(s, "GET", path, NULL, NULL), 400);
	}
	assert_int_equal(
		fg_test_ask(s, "GET", "/api/v1/profile?a=latest&benchmark=none", NULL, NULL), 404);
}

enum {
	WAITING = 6
};

struct waiting_upload {
	const struct fg_test_server *server;
	pthread_t thread;
	unsigned seed;
	int status;
};

static void *upload_and_wait(void *context)
{
	struct waiting_upload *u = context;

	u->status = upload(u->server, u->seed, true, NULL);
	return NULL;
}

/* Another process holds the database: no upload can be confirmed, and everything else is answered. */
static void uploads_that_wait_for_the_disk_hold_up_nobody(void **state)
{
	struct fg_test_server *s = *state;
	struct waiting_upload uploads[WAITING];
	struct fg_store *store = NULL;

	assert_int_equal(fg_store_open(s->database, 0, &store, NULL), FG_OK);
	assert_int_equal(fg_store_batch_begin(store, NULL), FG_OK);
	for (unsigned i = 0; i < WAITING; i++) {
		uploads[i] = (struct waiting_upload){.server = s, .seed = i + 1};
		assert_int_equal(
			pthread_create(&uploads[i].thread, NULL, upload_and_wait, &uploads[i]), 0);
	}
	for (unsigned i = 0; i < 4 * WAITING; i++)
		assert_int_equal(fg_test_ask(s, "GET", "/api/v1/projects", NULL, NULL), 200);
	assert_int_equal(fg_test_run_count(s), 0);
	assert_int_equal(fg_store_batch_end(store, NULL), FG_OK);
	fg_store_close(store);
	for (unsigned i = 0; i < WAITING; i++) {
		(void)pthread_join(uploads[i].thread, NULL);
		assert_int_equal(uploads[i].status, 201);
	}
	assert_int_equal(fg_test_run_count(s), WAITING);
}

static void two_runs_are_compared_down_to_the_path(void **state)
{
	struct fg_test_server *s = *state;
	char path[256];
	cJSON *json = NULL;

	assert_int_equal(upload(s, 1, true, NULL), 201);
	assert_int_equal(upload(s, 2, true, NULL), 201);
	get(s, "/api/v1/compare?a=latest~1&b=latest", &json);
	assert_string_equal(fg_json_text_or(json, "a", ""), fg_test_run_id(1));
	assert_int_equal(cJSON_GetArraySize(fg_json_find(json, "benchmarks")), 1);
	assert_string_equal(
		fg_json_text_or(cJSON_GetArrayItem(fg_json_find(json, "environment_difference"), 0),
				"key", ""),
		"host.load");
	cJSON_Delete(json);
	get(s, "/api/v1/functions?a=latest~1&b=latest&benchmark=parse&limit=5", &json);
	assert_int_equal(cJSON_GetArraySize(fg_json_find(json, "functions")), 5);
	(void)snprintf(
		path, sizeof(path),
		"/api/v1/function-trend?project=tracker&benchmark=parse&function=%s",
		fg_json_text_or(cJSON_GetArrayItem(fg_json_find(json, "functions"), 0), "id", ""));
	cJSON_Delete(json);
	get(s, path, &json);
	assert_int_equal(cJSON_GetArraySize(fg_json_find(json, "points")), 2);
	cJSON_Delete(json);
	function_of(s, "&changes=1", &json);
	assert_int_equal(cJSON_GetArraySize(fg_json_find(json, "points")), 2);
	assert_int_equal(cJSON_GetArraySize(fg_json_find(json, "changes")), 0);
	cJSON_Delete(json);
	profile_of_pairs(s);
	get(s, "/api/v1/paths?a=latest&benchmark=parse&limit=30", &json);
	assert_in_range(cJSON_GetArraySize(fg_json_find(json, "nodes")), 30, 60);
	cJSON_Delete(json);
	get(s, "/api/v1/verdict?a=latest~1&b=latest", &json);
	assert_string_equal(fg_json_text_or(cJSON_GetArrayItem(fg_json_find(json, "benchmarks"), 0),
					    "name", ""),
			    "parse");
	cJSON_Delete(json);
	get(s, "/api/v1/trend?project=tracker&benchmark=parse&metric=cpu_time", &json);
	assert_int_equal(cJSON_GetArraySize(fg_json_find(json, "points")), 2);
	cJSON_Delete(json);
	get(s, "/api/v1/environment?a=latest~1&b=latest", &json);
	cJSON_Delete(json);
	get(s, "/api/v1/runs/latest", &json);
	assert_string_equal(fg_json_text_or(json, "report/verdict", ""), "pass");
	cJSON_Delete(json);
}

static void notes_and_triage_are_kept(void **state)
{
	static const char note[] =
		"{\"project\":\"tracker\",\"kind\":\"known-noise\",\"text\":\"<img src=x onerror=alert(1)>\"}";
	static const char decision[] =
		"{\"project\":\"tracker\",\"benchmark\":\"parse\",\"metric\":\"cpu_time\",\"run\":\"latest\",\"state\":\"accepted\"}";
	struct fg_test_server *s = *state;
	cJSON *json = NULL;

	assert_int_equal(upload(s, 1, true, NULL), 201);
	assert_int_equal(fg_test_post(s, "/api/v1/annotations", NULL, "application/json", note,
				      sizeof(note) - 1, NULL),
			 201);
	assert_int_equal(
		fg_test_post(s, "/api/v1/annotations", NULL, "application/json", "{}", 2, NULL),
		400);
	get(s, "/api/v1/annotations?project=tracker", &json);
	assert_string_equal(
		fg_json_text_or(cJSON_GetArrayItem(fg_json_find(json, "annotations"), 0), "text",
				""),
		"<img src=x onerror=alert(1)>");
	cJSON_Delete(json);
	assert_int_equal(
		fg_test_ask(s, "DELETE", "/api/v1/annotations/1?project=tracker", NULL, NULL), 200);
	assert_int_equal(fg_test_post(s, "/api/v1/triage", NULL, "application/json", decision,
				      sizeof(decision) - 1, NULL),
			 200);
	get(s, "/api/v1/triage?project=tracker", &json);
	assert_string_equal(
		fg_json_text_or(cJSON_GetArrayItem(fg_json_find(json, "triage"), 0), "run", ""),
		fg_test_run_id(1));
	cJSON_Delete(json);
}

static void restart_loses_nothing(void **state)
{
	struct fg_test_server *s = *state;

	assert_int_equal(upload(s, 1, true, NULL), 201);
	fg_test_server_restart(s);
	assert_int_equal(upload(s, 1, true, NULL), 200);
	assert_int_equal(upload(s, 2, false, NULL), 201); /* the dictionary was kept too */
}

static void health_and_metrics_are_told(void **state)
{
	struct fg_test_server *s = *state;
	struct fg_strbuf body = {0};

	assert_int_equal(fg_test_ask(s, "GET", "/healthz", NULL, &body), 200);
	assert_string_equal(fg_strbuf_text(&body), "ok\n");
	assert_int_equal(upload(s, 1, true, NULL), 201);
	assert_int_equal(fg_test_ask(s, "GET", "/metrics", NULL, &body), 200);
	assert_non_null(strstr(fg_strbuf_text(&body), "perfdb_runs_stored_total 1\n"));
	fg_strbuf_release(&body);
}

/* Each route below /api is described, and nothing else is. */
static void api_description_and_server_agree(void **state)
{
	const struct fg_page *page = fg__page_find("openapi.json");
	cJSON *json = NULL;
	const cJSON *path = NULL;
	size_t described = 0;
	size_t known = 0;

	(void)state;
	assert_non_null(page);
	assert_int_equal(
		fg_json_parse((const char *)page->data, page->size, page->size, &json, NULL),
		FG_OK);
	cJSON_ArrayForEach(path, cJSON_GetObjectItem(json, "paths"))
	{
		const cJSON *method = NULL;

		cJSON_ArrayForEach(method, path)
		{
			char *route = fg_xstrndup(path->string, strcspn(path->string, "{"));
			bool found = false;

			for (size_t i = 0; i < fg__route_count; i++)
				found |= strcmp(fg__routes[i].path, route) == 0 &&
					 strcasecmp(fg__routes[i].method, method->string) == 0;
			if (!found)
				fail_msg("described, but not there: %s %s", method->string,
					 path->string);
			described++;
			free(route);
		}
	}
	for (size_t i = 0; i < fg__route_count; i++)
		known += strncmp(fg__routes[i].path, "/api/", 5) == 0;
	assert_int_equal(described, known);
	cJSON_Delete(json);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(sent_twice_stored_once),
		CASE(unknown_dictionary_is_asked_for_and_a_known_one_is_not_needed),
		CASE(same_id_with_other_content_is_refused),
		CASE(bad_bodies_are_refused_and_nothing_is_stored),
		CASE(oversize_is_refused_before_it_is_sent),
		CASE(deeply_nested_json_is_refused),
		CASE(tokens_open_only_what_they_are_for),
		CASE(strange_addresses_lead_nowhere),
		CASE(metacharacters_of_sql_find_nothing_and_break_nothing),
		CASE(asked_by_a_foreign_name_an_open_server_is_silent),
		CASE(wider_than_loopback_needs_tokens_and_tls),
		CASE(idle_connections_do_not_stop_uploads),
		CASE(uploads_that_wait_for_the_disk_hold_up_nobody),
		CASE(two_runs_are_compared_down_to_the_path),
		CASE(notes_and_triage_are_kept),
		CASE(restart_loses_nothing),
		CASE(health_and_metrics_are_told),
		cmocka_unit_test(api_description_and_server_agree),
	};
#undef CASE

	return cmocka_run_group_tests(tests, NULL, NULL);
}
