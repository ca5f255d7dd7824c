// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"
#include "perfdb/server/pages.h"
#include "perfdb/server/routes.h"
#include "store/db.h"
#include "store/store.h"
#include "store/transaction.h"
#include "tests/integration/perfdb/perfdb_samples.h"
#include "tests/support/fg_test.h"
#include "tests/unit/store/samples.h"

#include <ctype.h>
#include <pthread.h>

FG_SERVER_TEST(sent_twice_stored_once)
{
	struct fg_test_server *s = *state;

	assert_int_equal(fg_test_upload(s, 1, NULL), 201);
	assert_int_equal(fg_test_upload(s, 1, NULL), 200);
	assert_int_equal(fg_test_run_count(s), 1);
}

FG_SERVER_TEST(same_id_with_other_content_is_refused)
{
	struct fg_test_server *s = *state;
	struct fg_strbuf parcel = {0};

	assert_int_equal(fg_test_upload(s, 1, NULL), 201);
	fg_test_parcel(1, &parcel);
	fg_test_parcel_edit(&parcel, "AMD ", "Dupe");
	assert_int_equal(fg_test_send(s, &parcel, NULL, NULL), 422);
	assert_int_equal(fg_test_run_count(s), 1);
	fg_strbuf_release(&parcel);
}

/* Requests the profile of all pairs, of some, and of none. */
static void profile_of_pairs(struct fg_test_server *s)
{
	static const char *const wrong[] = {"7", "7-", "x-3", "9-3", "1-99999999999", "1-2x"};
	char path[160];
	cJSON *json = NULL;
	int all = 0;

	json = fg_test_get_json(s, "/api/v1/profile?a=latest&benchmark=parse");
	all = fg_test_count(json, "profile/nodes/function");
	assert_true(all > 10);
	assert_non_null(fg_json_find(json, "marked/name"));
	cJSON_Delete(json);
	json = fg_test_get_json(s, "/api/v1/profile?a=latest&benchmark=parse&pairs=1-2");
	assert_in_range(fg_test_count(json, "profile/nodes/function"), 2, all);
	cJSON_Delete(json);
	json = fg_test_get_json(s, "/api/v1/profile?a=latest&benchmark=parse&pairs=70000-70001");
	assert_int_equal(fg_test_count(json, "profile/nodes/function"), 1);
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
	WAITING = 6, /* more than the server has threads */
	THIRD = 3
};

struct waiting_upload {
	const struct fg_test_server *server;
	pthread_t thread;
	unsigned seed;
	int status;
};

static void *upload_and_wait(void *context)
{
	/* Each run has functions that no other run has. */
	static const struct fg_sample_shape shape = {
		.functions = 12, .paths = 40, .pairs = 2, .samples = 200, .churn = 6};
	struct waiting_upload *u = context;
	struct fg_strbuf parcel = {0};

	fg_test_parcel_of(&shape, u->seed, &parcel);
	u->status = fg_test_send(u->server, &parcel, NULL, NULL);
	fg_strbuf_release(&parcel);
	return NULL;
}

/* Another process locks the database: no upload is confirmed, but all other requests are served. */
static void upload_behind_a_lock(struct fg_test_server *s, struct waiting_upload uploads[WAITING])
{
	struct fg_store *store = NULL;

	assert_int_equal(fg_store_open(s->database, FG_STORE_DURABLE, &store, NULL), FG_OK);
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
	for (unsigned i = 0; i < WAITING; i++)
		(void)pthread_join(uploads[i].thread, NULL);
}

FG_SERVER_TEST(uploads_waiting_for_the_disk_do_not_block_others)
{
	struct fg_test_server *s = *state;
	struct waiting_upload uploads[WAITING];

	upload_behind_a_lock(s, uploads);
	for (unsigned i = 0; i < WAITING; i++)
		assert_int_equal(uploads[i].status, 201);
	assert_int_equal(fg_test_run_count(s), WAITING);
}

/*
 * Writing one of the uploads fails: all other uploads are stored, once and completely. The failed
 * upload is stored when it is sent again.
 */
static void third_one_fails(struct fg_test_server *s, const char *trigger)
{
	struct waiting_upload uploads[WAITING];
	struct fg_db *db = NULL;

	assert_int_equal(fg_db_open(s->database, 0, &db, NULL), FG_OK);
	assert_int_equal(fg_db_script(db, trigger, NULL), FG_OK);
	upload_behind_a_lock(s, uploads);
	for (unsigned i = 0; i < WAITING; i++) {
		if (i == THIRD - 1)
			assert_in_range(uploads[i].status, 500, 599);
		else
			assert_int_equal(uploads[i].status, 201);
	}
	assert_int_equal(fg_test_run_count(s), WAITING - 1);
	assert_int_equal(fg_db_script(db, "DROP TRIGGER refuse", NULL), FG_OK);
	fg_db_close(db);
	(void)upload_and_wait(&uploads[THIRD - 1]);
	assert_int_equal(uploads[THIRD - 1].status, 201);
	for (unsigned i = 0; i < WAITING; i++) {
		char path[96];
		char name[32];
		struct fg_strbuf body = {0};

		(void)snprintf(path, sizeof(path), "/api/v1/profile?a=%s&benchmark=parse",
			       fg_test_run_id(i + 1));
		(void)snprintf(name, sizeof(name), "next_7_%u(", i + 1);
		assert_int_equal(fg_test_ask(s, "GET", path, NULL, &body), 200);
		assert_non_null(strstr(fg_strbuf_text(&body), name));
		fg_strbuf_release(&body);
	}
}

FG_TEST(values_and_names_that_cannot_be_written_spare_other_uploads)
{
	char *triggers[] = {
		fg_xasprintf("CREATE TRIGGER refuse BEFORE INSERT ON chunk WHEN (SELECT r.uuid "
			     "FROM series s JOIN run r ON r.id = s.run WHERE s.id = NEW.series) "
			     "= '%s' BEGIN SELECT RAISE(ABORT, 'no'); END",
			     fg_test_run_id(THIRD)),
		fg_xasprintf("CREATE TRIGGER refuse BEFORE INSERT ON function WHEN NEW.name LIKE "
			     "'%%!_%u(%%' ESCAPE '!' BEGIN SELECT RAISE(ABORT, 'no'); END",
			     THIRD),
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(triggers); i++) {
		struct fg_test_server s;

		fg_test_server_start(&s, NULL);
		third_one_fails(&s, triggers[i]);
		fg_test_server_stop(&s);
		free(triggers[i]);
	}
}

FG_SERVER_TEST(two_runs_are_compared_down_to_the_path)
{
	struct fg_test_server *s = *state;
	char path[256];
	cJSON *json = NULL;

	assert_int_equal(fg_test_upload(s, 1, NULL), 201);
	assert_int_equal(fg_test_upload(s, 2, NULL), 201);
	json = fg_test_get_json(s, "/api/v1/verdict?a=latest~1&b=latest");
	assert_int_equal(fg_test_count(json, "benchmarks"), 1);
	assert_string_equal(fg_test_text(json, "/benchmarks/0/name"), "parse");
	assert_string_equal(fg_test_text(json, "/environment_difference/0/key"), "host.load");
	cJSON_Delete(json);
	json = fg_test_function_trend(s, "&changes=1");
	assert_int_equal(fg_test_count(json, "points"), 2);
	assert_int_equal(fg_test_count(json, "changes"), 0);
	cJSON_Delete(json);
	json = fg_test_function_trend(s, "&limit=1");
	assert_int_equal(fg_test_count(json, "points"), 1);
	assert_string_equal(fg_test_text(json, "/points/0/run"), fg_test_run_id(2));
	cJSON_Delete(json);
	profile_of_pairs(s);
	json = fg_test_get_json(s, "/api/v1/trend?project=tracker&benchmark=parse&metric=cpu_time");
	assert_int_equal(fg_test_count(json, "points"), 2);
	cJSON_Delete(json);
	json = fg_test_get_json(s, "/api/v1/runs/latest");
	assert_string_equal(fg_json_text_or(json, "report/verdict", ""), "pass");
	cJSON_Delete(json);
}

FG_SERVER_TEST(notes_and_decisions_are_kept)
{
	static const char note[] =
		"{\"project\":\"tracker\",\"text\":\"<img src=x onerror=alert(1)>\"}";
	static const char decision[] =
		"{\"project\":\"tracker\",\"benchmark\":\"parse\",\"metric\":\"cpu_time\","
		"\"run\":\"latest\",\"kind\":\"accepted\"}";
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
	assert_string_equal(fg_test_text(json, "/annotations/0/text"),
			    "<img src=x onerror=alert(1)>");
	cJSON_Delete(json);
	assert_int_equal(
		fg_test_ask(s, "DELETE", "/api/v1/annotations/1?project=tracker", NULL, NULL), 200);
	assert_int_equal(fg_test_post(s, "/api/v1/annotations", NULL, "application/json", decision,
				      sizeof(decision) - 1, NULL),
			 201);
	json = fg_test_get_json(s, "/api/v1/annotations?project=tracker");
	assert_string_equal(fg_test_text(json, "/annotations/0/run"), fg_test_run_id(1));
	cJSON_Delete(json);
}

FG_SERVER_TEST(newest_card_of_each_runner_is_kept)
{
	static const char *const cards[] = {
		"{\"project\":\"tracker\",\"card\":{\"schema\":\"fastgate-prove/1\","
		"\"host_fingerprint\":\"0123456789abcdef\",\"smallest_found\":0.05,\"runs\":[{}]}}",
		"{\"project\":\"tracker\",\"card\":{\"schema\":\"fastgate-prove/1\","
		"\"host_fingerprint\":\"0123456789abcdef\",\"smallest_found\":0.02,\"runs\":[]}}",
		"{\"project\":\"tracker\",\"card\":{\"schema\":\"fastgate-prove/1\","
		"\"host_fingerprint\":\"fedcba9876543210\"}}",
	};
	static const struct {
		const char *body;
		int status;
	} bad[] = {
		{"{\"project\":\"tracker\"}", 400},
		{"{\"project\":\"tracker\",\"card\":7}", 400},
		{"{\"project\":\"tracker\",\"card\":{\"schema\":\"fastgate-prove/1\","
		 "\"host_fingerprint\":\"x\"}}",
		 400},
		{"{\"project\":\"nobody\",\"card\":{\"schema\":\"fastgate-prove/1\","
		 "\"host_fingerprint\":\"0123456789abcdef\"}}",
		 404},
	};
	struct fg_test_server *s = *state;
	const cJSON *list = NULL;
	cJSON *json = NULL;

	assert_int_equal(fg_test_upload(s, 1, NULL), 201);
	for (size_t i = 0; i < FG_ARRAY_SIZE(cards); i++)
		assert_int_equal(fg_test_post(s, "/api/v1/cards", NULL, "application/json",
					      cards[i], strlen(cards[i]), NULL),
				 201);
	for (size_t i = 0; i < FG_ARRAY_SIZE(bad); i++)
		assert_int_equal(fg_test_post(s, "/api/v1/cards", NULL, "application/json",
					      bad[i].body, strlen(bad[i].body), NULL),
				 bad[i].status);
	json = fg_test_get_json(s, "/api/v1/cards?project=tracker");
	list = fg_json_find(json, "cards");
	assert_int_equal(cJSON_GetArraySize(list), 2);
	for (int i = 0; i < 2; i++) {
		const cJSON *card = fg_json_find(cJSON_GetArrayItem(list, i), "card");

		assert_null(fg_json_find(card, "runs"));
		if (fg_json_find(card, "smallest_found"))
			assert_true(fg_json_double_or(card, "smallest_found", 0) < 0.03);
	}
	cJSON_Delete(json);
}

FG_SERVER_TEST(health_and_metrics_are_reported)
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
FG_TEST(api_description_and_server_agree)
{
	const struct fg_page *page = fg_page_find("openapi.json");
	cJSON *json = NULL;
	const cJSON *path = NULL;
	size_t described = 0;
	size_t known = 0;

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

			for (size_t i = 0; i < fg_route_count; i++)
				found |= strcmp(fg_routes[i].path, route) == 0 &&
					 strcasecmp(fg_routes[i].method, method->string) == 0;
			if (!found)
				fail_msg("described, but not there: %s %s", method->string,
					 path->string);
			described++;
			free(route);
		}
	}
	for (size_t i = 0; i < fg_route_count; i++)
		known += strncmp(fg_routes[i].path, "/api/", 5) == 0;
	assert_int_equal(described, known);
	cJSON_Delete(json);
}

/*
 * A status below 400 is described by its number, any other at least by `default`; a refusal has a
 * code and a message.
 */
static void ask_as_described(const struct fg_test_server *s, const char *method, const char *path,
			     const cJSON *operation)
{
	const cJSON *responses = cJSON_GetObjectItem(operation, "responses");
	char *address =
		fg_xasprintf("%.*s%s", (int)strcspn(path, "{"), path,
			     strchr(path, '{') ? "0198f000-0000-7000-8000-000000000001" : "");
	char *name = fg_xstrdup(method);
	struct fg_strbuf body = {0};
	char number[12];
	int status = 0;

	for (char *c = name; *c; c++)
		*c = (char)toupper((unsigned char)*c);
	status = fg_test_ask(s, name, address, NULL, &body);
	(void)snprintf(number, sizeof(number), "%d", status);
	if (!cJSON_GetObjectItem(responses, "default") ||
	    (status < 400 && !cJSON_GetObjectItem(responses, number)))
		fail_msg("%s %s: %d is not described", name, path, status);
	if (status >= 400) {
		cJSON *json = NULL;

		assert_int_equal(fg_json_parse(body.data, body.length, body.length, &json, NULL),
				 FG_OK);
		assert_non_null(fg_json_text_or(json, "error/code", NULL));
		assert_non_null(fg_json_text_or(json, "error/message", NULL));
		cJSON_Delete(json);
	}
	fg_strbuf_release(&body);
	free(address);
	free(name);
}

FG_SERVER_TEST(every_operation_answers_as_described)
{
	struct fg_test_server *s = *state;
	cJSON *description = fg_test_get_json(s, "/api/v1/openapi.json");
	const cJSON *path = NULL;

	assert_int_equal(fg_test_upload(s, 1, NULL), 201);
	cJSON_ArrayForEach(path, cJSON_GetObjectItem(description, "paths"))
	{
		const cJSON *operation = NULL;

		cJSON_ArrayForEach(operation, path)
			ask_as_described(s, operation->string, path->string, operation);
	}
	cJSON_Delete(description);
}

FG_SERVER_TEST(a_function_is_followed_by_the_requested_measure)
{
	struct fg_test_server *s = *state;
	cJSON *json = NULL;

	assert_int_equal(fg_test_upload_calls(s, 1), 201);
	assert_int_equal(fg_test_upload_calls(s, 2), 201);
	json = fg_test_function_trend(s, "&measure=calls");
	assert_string_equal(fg_json_text_or(json, "unit", ""), "1");
	assert_int_equal(fg_test_count(json, "points"), 2);
	cJSON_Delete(json);
	json = fg_test_function_trend(s, "");
	assert_string_equal(fg_json_text_or(json, "unit", ""), "ms");
	cJSON_Delete(json);
	assert_int_equal(fg_test_ask(s, "GET",
				     "/api/v1/function-trend?project=tracker&benchmark=parse&"
				     "name=x&measure=heap.none",
				     NULL, NULL),
			 404);
}
