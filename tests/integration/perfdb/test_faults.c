// SPDX-License-Identifier: Apache-2.0
/* A server in trouble: bombs, full disks, clocks that jump. */
#include "base/clock.h"
#include "base/hash.h"
#include "base/json.h"
#include "perfdb/client/client.h"
#include "store/bundle.h"
#include "tests/integration/perfdb/perfdb_samples.h"
#include "tests/integration/perfdb/scripted_server.h"
#include "tests/support/fg_test.h"
#include "tests/unit/store/samples.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

enum {
	MANY = 400,
	ROOM_BYTES = 300 * 1000
};

/* Makes a sealed block of zeros that claims to unpack to `announced` bytes. */
static void make_bomb(uint32_t announced, struct fg_bytes *block)
{
	const size_t size = 1 << 20;
	uint8_t *zeros = fg_xcalloc(size, 1);
	uint32_t crc = 0;

	assert_int_equal(fg_pack(zeros, size, 1, block, NULL), FG_OK);
	for (size_t i = 0; i < 4; i++)
		block->data[5 + i] = (uint8_t)(announced >> (8 * i));
	crc = fg_crc32c(0, block->data + 5, block->size - 5);
	for (size_t i = 0; i < 4; i++)
		block->data[1 + i] = (uint8_t)(crc >> (8 * i));
	free(zeros);
}

/* Sends a run with a bomb in place of its values or of its dictionary. */
static int send_bomb(const struct fg_test_server *s, uint32_t announced, bool as_dictionary)
{
	struct fg_strbuf parcel = {0};
	struct fg_strbuf bad = {0};
	struct fg_bytes bomb = {0};
	struct fg_wire wire;
	int status = 0;

	fg_test_parcel(2, &parcel);
	assert_int_equal(fg_wire_read(parcel.data, parcel.length, &wire, NULL), FG_OK);
	make_bomb(announced, &bomb);
	*(as_dictionary ? &wire.dictionary : &wire.values) = bomb.data;
	*(as_dictionary ? &wire.dictionary_size : &wire.values_size) = bomb.size;
	assert_int_equal(fg_wire_write(&wire, &bad, NULL), FG_OK);
	status = fg_test_send(s, &bad, NULL, NULL);
	fg_bytes_release(&bomb);
	fg_strbuf_release(&bad);
	fg_strbuf_release(&parcel);
	return status;
}

FG_SERVER_TEST(blocks_that_swell_are_refused)
{
	static const struct {
		const char *why;
		uint32_t announced;
		bool as_dictionary;
		int status;
	} cases[] = {
		{"values of 4 GiB", UINT32_MAX, false, 413},
		{"values larger than they say", 100, false, 400},
		{"a dictionary of 4 GiB", UINT32_MAX, true, 413},
		{"a dictionary larger than that", 100, true, 400},
	};
	struct fg_test_server *s = *state;

	assert_int_equal(fg_test_upload(s, 1, NULL), 201); /* makes its dictionary known */
	for (size_t i = 0; i < FG_ARRAY_SIZE(cases); i++) {
		const int status = send_bomb(s, cases[i].announced, cases[i].as_dictionary);

		if (status != cases[i].status)
			fail_msg("%s: %d", cases[i].why, status);
	}
	assert_int_equal(fg_test_run_count(s), 1);
}

/* Uploads a run; the error must not contain a path of the server. */
static int upload_and_look(const struct fg_test_server *s, unsigned seed)
{
	struct fg_strbuf parcel = {0};
	struct fg_strbuf body = {0};
	int status = 0;

	fg_test_parcel(seed, &parcel);
	status = fg_test_send(s, &parcel, NULL, &body);
	assert_null(strstr(fg_strbuf_text(&body), s->scratch.path));
	fg_strbuf_release(&body);
	fg_strbuf_release(&parcel);
	return status;
}

FG_SERVER_TEST(full_disk_is_reported_and_loses_nothing_confirmed)
{
	struct fg_test_server *s = *state;
	struct rlimit before;
	struct rlimit tight;
	struct stat file = {0};
	size_t stored = 0;
	int status = 201;

	assert_int_equal(fg_test_upload(s, 1, NULL), 201);
	assert_int_equal(stat(s->database, &file), 0);
	(void)signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	tight = before;
	tight.rlim_cur = (rlim_t)file.st_size + ROOM_BYTES;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
	for (unsigned seed = 2; status == 201 && seed < MANY; seed++) {
		status = upload_and_look(s, seed);
		stored = seed - 1;
	}
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_in_range(status, 500, 599);
	assert_int_equal(fg_test_ask(s, "GET", "/healthz", NULL, NULL), 200);
	assert_int_equal(fg_test_run_count(s), stored);
	/* Once the disk has room again, uploads continue. */
	assert_int_equal(fg_test_upload(s, MANY, NULL), 201);
	assert_int_equal(fg_test_run_count(s), stored + 1);
}

/* A run from the future would remain the latest for ever. */
FG_SERVER_TEST(runs_of_impossible_times_are_refused)
{
	static const struct {
		const char *time;
		int status;
	} cases[] = {
		{"0000000000000000000", 400}, /* 1970 */
		{"0946684799000000000", 400}, /* the last second of 1999 */
		{"0946684801000000000", 201}, {"1500000000000000000", 201}, /* 2017 */
		{"9000000000000000000", 400},                               /* 2255 */
	};
	struct fg_test_server *s = *state;
	struct fg_strbuf body = {0};

	for (unsigned i = 0; i < FG_ARRAY_SIZE(cases); i++) {
		struct fg_strbuf parcel = {0};

		fg_test_parcel(i + 1, &parcel);
		fg_test_parcel_edit(&parcel, "\"started_ns\":\"", cases[i].time);
		assert_int_equal(fg_test_send(s, &parcel, NULL, NULL), cases[i].status);
		fg_strbuf_release(&parcel);
	}
	assert_int_equal(fg_test_ask(s, "GET", "/api/v1/runs", NULL, &body), 200);
	assert_true(strstr(fg_strbuf_text(&body), fg_test_run_id(4)) <
		    strstr(fg_strbuf_text(&body), fg_test_run_id(3)));
	assert_int_equal(fg_test_run_count(s), 2);
	fg_strbuf_clear(&body);
	assert_int_equal(
		fg_test_ask(s, "GET",
			    "/api/v1/trend?project=tracker&benchmark=parse&metric=cpu_time", NULL,
			    &body),
		200);
	fg_strbuf_release(&body);
}

FG_SERVER_TEST(client_waits_as_long_as_the_server_asks)
{
	struct fg_script_reply replies[] = {
		{503, "Retry-After: 1\r\n", "busy"},
		{201, NULL, NULL},
	};
	const struct fg_test_server *s = *state;
	struct fg_script_server server = {0};
	struct fg_push_options options = {.attempts = 2, .first_wait_ns = 1};
	struct fg_push_result result = {0};
	struct fg_strbuf parcel = {0};
	struct fg_error err = {0};
	char *confirmation = NULL;
	int64_t start = 0;

	fg_test_parcel(1, &parcel);
	assert_int_equal(fg_spool_add(fg_scratch_path(&s->scratch, "spool"), fg_test_run_id(1),
				      parcel.data, parcel.length, &err),
			 FG_OK);
	confirmation = fg_test_confirmation(&parcel, fg_test_run_id(1));
	replies[1].body = confirmation;
	fg_strbuf_release(&parcel);
	fg_script_start(&server, replies, FG_ARRAY_SIZE(replies));
	options.url = server.url;
	start = fg_clock_monotonic_ns();
	if (fg_push_spool(fg_scratch_path(&s->scratch, "spool"), &options, &result, &err) != FG_OK)
		fail_msg("%s", err.message);
	assert_true(fg_clock_monotonic_ns() - start >= FG_NS_PER_S);
	assert_int_equal(result.sent, 1);
	assert_int_equal(result.retries, 1);
	fg_script_stop(&server);
	fg_script_release(&server);
	free(confirmation);
}

/* Stores runs at one level, with the last `jumped` runs far above it. */
static void store_series(const struct fg_test_server *s, unsigned runs, unsigned jumped)
{
	struct fg_store *store = NULL;
	struct fg_error err = {0};

	assert_int_equal(fg_store_open(s->database, 0, &store, &err), FG_OK);
	for (unsigned seed = 1; seed <= runs; seed++) {
		struct fg_stored_run run = {0};

		fg_sample_run(&run, seed, &fg_sample_small);
		for (size_t i = 0; i < run.run.series[0].repetition_count; i++) {
			if (seed > runs - jumped)
				run.run.series[0].repetitions[i].values[FG_METRIC_CPU_TIME] *= 1.5;
		}
		assert_int_equal(fg_store_save(store, &run.run, NULL, NULL, &err), FG_OK);
		fg_stored_run_release(&run);
	}
	fg_store_close(store);
}

FG_TEST(last_run_that_left_the_level_is_reported_but_not_called_a_change)
{
	static const char path[] = "/api/v1/trend?project=tracker&benchmark=parse&metric=cpu_time";
	static const struct {
		unsigned jumped;
		int changes;
		int possible; /* number of runs; 0: no possible change */
	} cases[] = {{0, 0, 0}, {1, 0, 1}, {2, 0, 2}, {6, 1, 0}};

	for (size_t i = 0; i < FG_ARRAY_SIZE(cases); i++) {
		struct fg_test_server s;
		struct fg_strbuf body = {0};
		cJSON *json = NULL;

		fg_test_server_start(&s, NULL);
		store_series(&s, 24, cases[i].jumped);
		assert_int_equal(fg_test_ask(&s, "GET", path, NULL, &body), 200);
		assert_int_equal(fg_json_parse(body.data, body.length, body.length, &json, NULL),
				 FG_OK);
		if (cJSON_GetArraySize(fg_json_find(json, "changes")) != cases[i].changes ||
		    (int)fg_json_double_or(json, "possible_change/runs", 0) != cases[i].possible)
			fail_msg("%u runs of another level: ...%s", cases[i].jumped,
				 strstr(fg_strbuf_text(&body), "\"changes\""));
		cJSON_Delete(json);
		fg_strbuf_release(&body);
		fg_test_server_stop(&s);
	}
}
