// SPDX-License-Identifier: Apache-2.0
/* The client against a real server, and over connections that break. */
#include "base/clock.h"
#include "perfdb/client/client.h"
#include "store/serving/access.h"
#include "tests/integration/perfdb/cutter.h"
#include "tests/support/fg_test.h"

/* `s`: the server whose token is sent; NULL: no token. */
static struct fg_push_options options_for(const struct fg_test_server *s, const char *url)
{
	return (struct fg_push_options){.url = url,
					.token = s ? s->key : NULL,
					.attempts = 3,
					.first_wait_ns = FG_NS_PER_MS,
					.longest_wait_ns = FG_NS_PER_MS};
}

static const char *spool_of(const struct fg_test_server *s)
{
	return fg_scratch_path(&s->scratch, "spool");
}

static void spool(const struct fg_test_server *s, unsigned seed)
{
	struct fg_strbuf parcel = {0};
	struct fg_error err = {0};

	fg_test_parcel(seed, &parcel);
	if (fg_spool_add(spool_of(s), fg_test_run_id(seed), parcel.data, parcel.length, &err) !=
	    FG_OK)
		fail_msg("%s", err.message);
	fg_strbuf_release(&parcel);
}

/* Sends the spool and checks the status. */
static struct fg_push_result push(const struct fg_test_server *s,
				  const struct fg_push_options *options, int expected,
				  struct fg_error *err)
{
	struct fg_push_result result = {0};
	const int status = fg_push_spool(spool_of(s), options, &result, err);

	if (status != expected)
		fail_msg("%d instead of %d: %s", status, expected, err->message);
	return result;
}

static struct fg_spool_status spool_status(const struct fg_test_server *s)
{
	struct fg_spool_status left = {0};

	assert_int_equal(fg_spool_status(spool_of(s), &left, NULL), FG_OK);
	return left;
}

FG_SERVER_TEST(spooled_runs_arrive_and_leave_the_spool)
{
	struct fg_test_server *s = *state;
	const struct fg_push_options options = options_for(s, s->url);
	struct fg_error err = {0};

	for (unsigned seed = 1; seed <= 5; seed++)
		spool(s, seed);
	assert_int_equal(push(s, &options, FG_OK, &err).sent, 5);
	assert_int_equal(spool_status(s).waiting, 0);
	assert_int_equal(fg_test_run_count(s), 5);
	spool(s, 3);
	assert_int_equal(push(s, &options, FG_OK, &err).known, 1);
	assert_int_equal(fg_test_run_count(s), 5);
}

FG_SERVER_TEST(server_that_is_down_leaves_runs_waiting)
{
	struct fg_test_server *s = *state;
	const struct fg_push_options options = options_for(NULL, "http://127.0.0.1:1");
	struct fg_push_result result = {0};
	struct fg_error err = {0};

	spool(s, 1);
	spool(s, 2);
	result = push(s, &options, FG_ENET, &err);
	assert_int_equal(result.waiting, 2);
	assert_int_equal(result.retries, 2);
	assert_non_null(strstr(err.message, "127.0.0.1:1"));
}

FG_SERVER_TEST(damaged_file_is_set_aside_and_does_not_block_the_others)
{
	struct fg_test_server *s = *state;
	const struct fg_push_options options = options_for(s, s->url);
	struct fg_push_result result = {0};
	struct fg_error err = {0};

	spool(s, 1);
	spool(s, 2);
	fg_scratch_write_text(&s->scratch, "spool/0198f000-0000-7000-8000-000000000001.fgrun",
			      "torn");
	result = push(s, &options, FG_ENET, &err);
	assert_int_equal(result.sent, 1);
	assert_int_equal(result.rejected, 1);
	assert_int_equal(spool_status(s).rejected, 1);
}

/* The second URL looks like a loopback address but has a public name. */
FG_SERVER_TEST(token_does_not_travel_in_clear)
{
	static const char *const urls[] = {"http://perfdb.example.org", "http://127.example.org"};
	struct fg_test_server *s = *state;
	struct fg_error err = {0};

	spool(s, 1);
	for (size_t i = 0; i < FG_ARRAY_SIZE(urls); i++) {
		struct fg_push_options options = options_for(NULL, urls[i]);

		options.token = "fgt_secret";
		(void)push(s, &options, FG_EINVAL, &err);
		assert_non_null(strstr(err.message, "https"));
		assert_null(strstr(err.message, "secret"));
	}
}

FG_SERVER_TEST(token_stays_secret_when_it_is_refused)
{
	struct fg_test_server *s = *state;
	struct fg_push_options options = options_for(s, s->url);
	struct fg_error err = {0};
	char token[69];

	spool(s, 1);
	fg_test_token(s, NULL, FG_SCOPE_ADMIN, INT64_MAX, token);
	options.token = "fgt_secret";
	assert_int_equal(push(s, &options, FG_ENET, &err).waiting, 1);
	assert_non_null(strstr(err.message, "401"));
	assert_null(strstr(err.message, "secret"));
	options.token = token;
	assert_int_equal(push(s, &options, FG_OK, &err).sent, 1);
}

FG_SERVER_TEST(cut_lines_lose_nothing_and_double_nothing)
{
	enum {
		RUNS = 60
	};
	struct fg_test_server *s = *state;
	struct fg_cutter cutter;
	struct fg_push_options options;
	struct fg_push_result result = {0};
	struct fg_error err = {0};
	size_t confirmed = 0;

	fg_cutter_start(&cutter, s, 100);
	options = options_for(s, cutter.url);
	options.timeout_ns = 10 * FG_NS_PER_S;
	for (unsigned seed = 1; seed <= RUNS; seed++)
		spool(s, seed);
	for (unsigned round = 0; round == 0 || (result.waiting && round < 200); round++) {
		/* A failed push is expected here. */
		(void)!fg_push_spool(spool_of(s), &options, &result, &err);
		confirmed += result.sent + result.known;
	}
	fg_cutter_stop(&cutter);
	assert_int_equal(result.waiting, 0);
	assert_int_equal(result.rejected, 0);
	assert_int_equal(confirmed, RUNS);
	assert_true(cutter.cuts > 0);
	assert_int_equal(fg_test_run_count(s), RUNS);
}

FG_SERVER_TEST(bad_addresses_are_explained)
{
	static const char *const urls[] = {"", "perfdb", "ftp://x", "file:///etc/passwd",
					   "htps://me:hush@perfdb.example.org"};
	struct fg_test_server *s = *state;
	struct fg_error err = {0};

	spool(s, 1);
	for (size_t i = 0; i < FG_ARRAY_SIZE(urls); i++) {
		const struct fg_push_options options = options_for(NULL, urls[i]);

		(void)push(s, &options, FG_EINVAL, &err);
		assert_null(strstr(err.message, "hush"));
	}
}

FG_SERVER_TEST(empty_spool_needs_no_server)
{
	const struct fg_test_server *s = *state;
	const struct fg_push_options options = {0};
	struct fg_error err = {0};

	assert_int_equal(push(s, &options, FG_OK, &err).waiting, 0);
}
