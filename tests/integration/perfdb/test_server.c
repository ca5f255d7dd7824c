// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"
#include "perfdb/server/pages.h"
#include "perfdb/server/request.h"
#include "tests/integration/perfdb/perfdb_samples.h"
#include "tests/support/fg_test.h"

#include <unistd.h>

enum {
	IDLE_CONNECTIONS = 1000
};

/* The program is known: its dictionary stays at home. */
static int upload_without_dictionary(const struct fg_test_server *s, unsigned seed)
{
	struct fg_strbuf parcel = {0};
	int status = 0;

	fg_test_parcel(seed, false, &parcel);
	status = fg_test_send(s, &parcel, NULL, NULL);
	fg_strbuf_release(&parcel);
	return status;
}

static void sent_twice_stored_once(void **state)
{
	struct fg_test_server *s = *state;

	assert_int_equal(fg_test_upload(s, 1, NULL), 201);
	assert_int_equal(fg_test_upload(s, 1, NULL), 200);
	assert_int_equal(upload_without_dictionary(s, 1), 200);
	assert_int_equal(fg_test_run_count(s), 1);
}

static void unknown_dictionary_is_asked_for_and_a_known_one_is_not_needed(void **state)
{
	struct fg_test_server *s = *state;

	assert_int_equal(upload_without_dictionary(s, 1), 424);
	assert_int_equal(fg_test_upload(s, 1, NULL), 201);
	assert_int_equal(upload_without_dictionary(s, 2), 201); /* the same program */
	assert_int_equal(fg_test_run_count(s), 2);
}

static void same_id_with_other_content_is_refused(void **state)
{
	struct fg_test_server *s = *state;
	struct fg_strbuf parcel = {0};

	assert_int_equal(fg_test_upload(s, 1, NULL), 201);
	fg_test_parcel(1, true, &parcel);
	fg_test_parcel_edit(&parcel, "AMD ", "Dupe");
	assert_int_equal(fg_test_send(s, &parcel, NULL, NULL), 422);
	assert_int_equal(fg_test_run_count(s), 1);
	fg_strbuf_release(&parcel);
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
		assert_in_range(fg_test_send(s, &parcel, NULL, NULL), 400, 415);
		parcel.data[at] ^= 0x55;
	}
	parcel.length /= 2;
	assert_int_equal(fg_test_send(s, &parcel, NULL, NULL), 400);
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

static void idle_connections_do_not_stop_uploads(void **state)
{
	struct fg_test_server *s = *state;
	int fds[IDLE_CONNECTIONS];

	for (size_t i = 0; i < IDLE_CONNECTIONS; i++) {
		fds[i] = fg_test_connect(s);
		if (i % 2)
			assert_int_equal(write(fds[i], "POST /api/v1/runs HT", 20), 20);
	}
	assert_int_equal(fg_test_upload(s, 1, NULL), 201);
	for (size_t i = 0; i < IDLE_CONNECTIONS; i++)
		(void)close(fds[i]);
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

	functions = fg_test_get_json(
		s, "/api/v1/functions?a=latest~1&b=latest&benchmark=parse&limit=1");
	first = cJSON_GetArrayItem(fg_json_find(functions, "functions"), 0);
	fg_strbuf_add_text(&path, "/api/v1/function-trend?project=tracker&benchmark=parse&name=");
	add_percents(&path, fg_json_text_or(first, "name", ""));
	fg_strbuf_add_text(&path, "&library=");
	add_percents(&path, fg_json_text_or(first, "library", ""));
	fg_strbuf_add_text(&path, more);
	*json = fg_test_get_json(s, fg_strbuf_text(&path));
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

	json = fg_test_get_json(s, "/api/v1/profile?a=latest&benchmark=parse");
	all = cJSON_GetArraySize(fg_json_find(json, "profile/nodes/function"));
	assert_true(all > 10);
	assert_non_null(fg_json_find(json, "marked/name"));
	cJSON_Delete(json);
	json = fg_test_get_json(s, "/api/v1/profile?a=latest&benchmark=parse&pairs=1-2");
	assert_in_range(cJSON_GetArraySize(fg_json_find(json, "profile/nodes/function")), 2, all);
	cJSON_Delete(json);
	json = fg_test_get_json(s, "/api/v1/profile?a=latest&benchmark=parse&pairs=70000-70001");
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

static void two_runs_are_compared_down_to_the_path(void **state)
{
	struct fg_test_server *s = *state;
	char path[256];
	cJSON *json = NULL;

	assert_int_equal(fg_test_upload(s, 1, NULL), 201);
	assert_int_equal(fg_test_upload(s, 2, NULL), 201);
	json = fg_test_get_json(s, "/api/v1/compare?a=latest~1&b=latest");
	assert_string_equal(fg_json_text_or(json, "a", ""), fg_test_run_id(1));
	assert_int_equal(cJSON_GetArraySize(fg_json_find(json, "benchmarks")), 1);
	assert_string_equal(
		fg_json_text_or(cJSON_GetArrayItem(fg_json_find(json, "environment_difference"), 0),
				"key", ""),
		"host.load");
	cJSON_Delete(json);
	json = fg_test_get_json(s, "/api/v1/functions?a=latest~1&b=latest&benchmark=parse&limit=5");
	assert_int_equal(cJSON_GetArraySize(fg_json_find(json, "functions")), 5);
	(void)snprintf(
		path, sizeof(path),
		"/api/v1/function-trend?project=tracker&benchmark=parse&function=%s",
		fg_json_text_or(cJSON_GetArrayItem(fg_json_find(json, "functions"), 0), "id", ""));
	cJSON_Delete(json);
	json = fg_test_get_json(s, path);
	assert_int_equal(cJSON_GetArraySize(fg_json_find(json, "points")), 2);
	cJSON_Delete(json);
	function_of(s, "&changes=1", &json);
	assert_int_equal(cJSON_GetArraySize(fg_json_find(json, "points")), 2);
	assert_int_equal(cJSON_GetArraySize(fg_json_find(json, "changes")), 0);
	cJSON_Delete(json);
	profile_of_pairs(s);
	json = fg_test_get_json(s, "/api/v1/paths?a=latest&benchmark=parse&limit=30");
	assert_in_range(cJSON_GetArraySize(fg_json_find(json, "nodes")), 30, 60);
	cJSON_Delete(json);
	json = fg_test_get_json(s, "/api/v1/verdict?a=latest~1&b=latest");
	assert_string_equal(fg_json_text_or(cJSON_GetArrayItem(fg_json_find(json, "benchmarks"), 0),
					    "name", ""),
			    "parse");
	cJSON_Delete(json);
	json = fg_test_get_json(s, "/api/v1/trend?project=tracker&benchmark=parse&metric=cpu_time");
	assert_int_equal(cJSON_GetArraySize(fg_json_find(json, "points")), 2);
	cJSON_Delete(json);
	json = fg_test_get_json(s, "/api/v1/environment?a=latest~1&b=latest");
	cJSON_Delete(json);
	json = fg_test_get_json(s, "/api/v1/runs/latest");
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

	assert_int_equal(fg_test_upload(s, 1, NULL), 201);
	assert_int_equal(fg_test_post(s, "/api/v1/annotations", NULL, "application/json", note,
				      sizeof(note) - 1, NULL),
			 201);
	assert_int_equal(
		fg_test_post(s, "/api/v1/annotations", NULL, "application/json", "{}", 2, NULL),
		400);
	json = fg_test_get_json(s, "/api/v1/annotations?project=tracker");
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
	json = fg_test_get_json(s, "/api/v1/triage?project=tracker");
	assert_string_equal(
		fg_json_text_or(cJSON_GetArrayItem(fg_json_find(json, "triage"), 0), "run", ""),
		fg_test_run_id(1));
	cJSON_Delete(json);
}

static void restart_loses_nothing(void **state)
{
	struct fg_test_server *s = *state;

	assert_int_equal(fg_test_upload(s, 1, NULL), 201);
	fg_test_server_restart(s);
	assert_int_equal(fg_test_upload(s, 1, NULL), 200);
	assert_int_equal(upload_without_dictionary(s, 2), 201); /* the dictionary was kept too */
}

static void health_and_metrics_are_told(void **state)
{
	struct fg_test_server *s = *state;
	struct fg_strbuf body = {0};

	assert_int_equal(fg_test_ask(s, "GET", "/healthz", NULL, &body), 200);
	assert_string_equal(fg_strbuf_text(&body), "ok\n");
	assert_int_equal(fg_test_upload(s, 1, NULL), 201);
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
	const struct CMUnitTest tests[] = {
		FG_SERVER_TEST(sent_twice_stored_once),
		FG_SERVER_TEST(unknown_dictionary_is_asked_for_and_a_known_one_is_not_needed),
		FG_SERVER_TEST(same_id_with_other_content_is_refused),
		FG_SERVER_TEST(bad_bodies_are_refused_and_nothing_is_stored),
		FG_SERVER_TEST(oversize_is_refused_before_it_is_sent),
		FG_SERVER_TEST(deeply_nested_json_is_refused),
		FG_SERVER_TEST(idle_connections_do_not_stop_uploads),
		FG_SERVER_TEST(two_runs_are_compared_down_to_the_path),
		FG_SERVER_TEST(notes_and_triage_are_kept),
		FG_SERVER_TEST(restart_loses_nothing),
		FG_SERVER_TEST(health_and_metrics_are_told),
		cmocka_unit_test(api_description_and_server_agree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
