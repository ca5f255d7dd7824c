// SPDX-License-Identifier: Apache-2.0
/* The pages' requests, except those for runs. */
#include "base/json.h"
#include "store/serving/access.h"
#include "tests/integration/perfdb/perfdb_samples.h"
#include "tests/support/fg_test.h"

#include <math.h>
#include <sched.h>

FG_SERVER_TEST(a_run_lists_the_runs_before_and_after_it)
{
	struct fg_test_server *s = *state;
	cJSON *json = NULL;

	for (unsigned seed = 1; seed <= 3; seed++)
		assert_int_equal(fg_test_upload(s, seed, NULL), 201);
	json = fg_test_get_json(s, "/api/v1/around?run=latest~1");
	assert_string_equal(fg_test_text(json, "/run/id"), fg_test_run_id(2));
	assert_string_equal(fg_test_text(json, "/previous/id"), fg_test_run_id(1));
	assert_string_equal(fg_test_text(json, "/next/id"), fg_test_run_id(3));
	cJSON_Delete(json);
	json = fg_test_get_json(s, "/api/v1/around?run=latest");
	assert_null(fg_json_find(json, "next"));
	cJSON_Delete(json);
	assert_int_equal(fg_test_ask(s, "GET", "/api/v1/around?run=nobody", NULL, NULL), 404);
}

FG_SERVER_TEST(a_search_finds_projects_benchmarks_and_runs)
{
	struct fg_test_server *s = *state;
	cJSON *json = NULL;
	char path[128];

	assert_int_equal(fg_test_upload(s, 1, NULL), 201);
	assert_int_equal(fg_test_upload(s, 2, NULL), 201);
	json = fg_test_get_json(s, "/api/v1/search?q=RACK");
	assert_int_equal(fg_test_count(json, "projects"), 1);
	assert_int_equal(fg_test_count(json, "benchmarks"), 0);
	cJSON_Delete(json);
	json = fg_test_get_json(s, "/api/v1/search?q=pars");
	assert_string_equal(fg_test_text(json, "/benchmarks/0/name"), "parse");
	cJSON_Delete(json);
	json = fg_test_get_json(s, "/api/v1/search?q=READER%3Ctoken1%3E");
	assert_string_equal(fg_test_text(json, "/functions/0/benchmark"), "parse");
	cJSON_Delete(json);
	(void)snprintf(path, sizeof(path), "/api/v1/search?q=%s", fg_test_run_id(2));
	json = fg_test_get_json(s, path);
	assert_int_equal(fg_test_count(json, "runs"), 1);
	assert_string_equal(fg_test_text(json, "/runs/0/id"), fg_test_run_id(2));
	cJSON_Delete(json);
}

FG_SERVER_TEST(a_search_stays_in_the_project_of_its_token)
{
	struct fg_test_server *s = *state;
	struct fg_strbuf body = {0};
	char token[69];

	assert_int_equal(fg_test_upload(s, 1, NULL), 201);
	fg_test_token(s, "another", FG_SCOPE_READ, INT64_MAX, token);
	assert_int_equal(fg_test_ask(s, "GET", "/api/v1/search?q=a", token, &body), 200);
	assert_string_equal(fg_strbuf_text(&body),
			    "{\"projects\":[],\"benchmarks\":[],\"functions\":[],\"runs\":[]}");
	assert_int_equal(fg_test_ask(s, "GET", "/api/v1/search?q=a&project=tracker", token, NULL),
			 404);
	fg_strbuf_release(&body);
}

/* A browser gets a page for an unknown address; a program gets JSON. */
FG_SERVER_TEST(unknown_addresses_are_pages_for_people)
{
	static const char request[] =
		"GET %s HTTP/1.1\r\nHost: localhost\r\nAccept: %s\r\nConnection: close\r\n\r\n";
	static const struct {
		const char *path;
		const char *accept;
		const char *begins;
	} cases[] = {
		{"/nothing/here", "text/html,*/*", "<!doctype html>"},
		{"/nothing/here", "*/*", "{"},
		{"/api/v1/nothing", "text/html,*/*", "{"},
	};
	struct fg_test_server *s = *state;

	for (size_t i = 0; i < FG_ARRAY_SIZE(cases); i++) {
		struct fg_strbuf body = {0};
		char text[256];
		const int length =
			snprintf(text, sizeof(text), request, cases[i].path, cases[i].accept);

		assert_int_equal(fg_test_exchange(s, text, (size_t)length, &body), 404);
		assert_memory_equal(fg_strbuf_text(&body), cases[i].begins,
				    strlen(cases[i].begins));
		fg_strbuf_release(&body);
	}
}

FG_SERVER_TEST(a_function_is_followed_by_its_own_time_or_with_callees)
{
	struct fg_test_server *s = *state;
	cJSON *json = NULL;
	const cJSON *point = NULL;

	assert_int_equal(fg_test_upload(s, 1, NULL), 201);
	json = fg_test_function_trend(s, "&of=callees");
	point = cJSON_GetArrayItem(fg_json_find(json, "points"), 0);
	assert_non_null(point);
	assert_true(fabs(fg_json_find(point, "value")->valuedouble -
			 fg_json_find(point, "inclusive")->valuedouble) <= 0);
	cJSON_Delete(json);
	assert_int_equal(
		fg_test_ask(s, "GET",
			    "/api/v1/function-trend?project=tracker&benchmark=parse&name=x&of=both",
			    NULL, NULL),
		400);
}

/* Change points are computed in the background: the answer says when it is complete. */
static cJSON *whole_dashboard(const struct fg_test_server *s)
{
	for (;;) {
		cJSON *json = fg_test_get_json(s, "/api/v1/dashboard?project=tracker&runs=5");

		if (!cJSON_IsTrue(fg_json_find(json, "pending")))
			return json;
		cJSON_Delete(json);
		(void)sched_yield();
	}
}

FG_SERVER_TEST(a_dashboard_has_each_benchmark_and_its_open_changes)
{
	struct fg_test_server *s = *state;
	const cJSON *benchmark = NULL;
	cJSON *json = NULL;

	for (unsigned seed = 1; seed <= 8; seed++)
		assert_int_equal(fg_test_upload(s, seed, NULL), 201);
	json = whole_dashboard(s);
	assert_int_equal(fg_test_count(json, "benchmarks"), 1);
	benchmark = cJSON_GetArrayItem(fg_json_find(json, "benchmarks"), 0);
	assert_string_equal(fg_json_text_or(benchmark, "name", ""), "parse");
	assert_string_equal(fg_json_text_or(benchmark, "metric", ""), "cpu_time");
	assert_string_equal(fg_json_text_or(benchmark, "run", ""), fg_test_run_id(8));
	assert_int_equal(fg_test_count(benchmark, "levels"), 5);
	assert_non_null(fg_json_find(benchmark, "changes"));
	cJSON_Delete(json);
	assert_int_equal(fg_test_ask(s, "GET", "/api/v1/dashboard", NULL, NULL), 400);
}

FG_SERVER_TEST(a_feed_keeps_to_the_project_of_a_token)
{
	struct fg_test_server *s = *state;
	struct fg_strbuf body = {0};
	char token[69];

	assert_int_equal(fg_test_upload(s, 1, NULL), 201);
	assert_int_equal(fg_test_ask(s, "GET", "/api/v1/feed?project=tracker", NULL, &body), 200);
	assert_non_null(strstr(fg_strbuf_text(&body), "<title>tracker: changes</title>"));
	fg_test_token(s, "another", FG_SCOPE_READ, INT64_MAX, token);
	assert_int_equal(fg_test_ask(s, "GET", "/api/v1/feed?project=tracker", token, NULL), 404);
	assert_int_equal(
		fg_test_ask(s, "GET", "/api/v1/feed?project=tracker", FG_TEST_NO_TOKEN, NULL), 401);
	fg_strbuf_release(&body);
}

FG_SERVER_TEST(a_measure_is_drawn_judged_and_compared)
{
	struct fg_test_server *s = *state;
	const cJSON *nodes = NULL;
	const cJSON *weight = NULL;
	cJSON *json = NULL;
	double sum = 0;

	assert_int_equal(fg_test_upload_calls(s, 1), 201);
	assert_int_equal(fg_test_upload_calls(s, 2), 201);
	json = fg_test_get_json(s, "/api/v1/profile?a=latest~1&b=latest&benchmark=parse&pairs=0-0");
	nodes = fg_json_find(json, "measures");
	assert_int_equal(cJSON_GetArraySize(nodes), 2);
	assert_string_equal(fg_json_text_or(cJSON_GetArrayItem(nodes, 1), "name", ""), "calls");
	assert_string_equal(fg_json_text_or(cJSON_GetArrayItem(nodes, 1), "unit", ""), "1");
	cJSON_Delete(json);
	json = fg_test_get_json(
		s, "/api/v1/profile?a=latest~1&b=latest&benchmark=parse&measure=calls");
	nodes = fg_json_find(json, "profile/nodes/self");
	cJSON_ArrayForEach(weight, cJSON_GetArrayItem(nodes, 1)) sum += weight->valuedouble * 1e3;
	cJSON_Delete(json);
	assert_true(sum > 0);
	json = fg_test_get_json(s, "/api/v1/verdict?a=latest~1&b=latest&measure=calls");
	assert_int_equal(fg_test_count(json, "benchmarks"), 1);
	cJSON_Delete(json);
	assert_int_equal(fg_test_ask(s, "GET",
				     "/api/v1/profile?a=latest&benchmark=parse&measure=heap.peak",
				     NULL, NULL),
			 404);
}
