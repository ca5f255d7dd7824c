// SPDX-License-Identifier: Apache-2.0
/* Comments, notes and webhooks against a scripted server, which also misbehaves. */
#include "base/clock.h"
#include "base/hash.h"
#include "base/strbuf.h"
#include "perfdb/client/post.h"
#include "tests/integration/perfdb/scripted_server.h"
#include "tests/support/fg_test.h"
#include "tests/support/scratch.h"

#define MARKER "<!-- fastgate:demo -->"
#define SECRET "sesame-4711"

static const struct fg_post_target github = {"github", "pull-request-comment", "TEST_TOKEN", false};
static const struct fg_post_target gitlab = {"gitlab", "merge-request-note", "TEST_TOKEN", false};
#define SHA "0123456789abcdef0123456789abcdef01234567"
static const struct fg_post_message message = {
	.marker = MARKER,
	.comment = MARKER "\n## regression \"x\"\n",
	.body = "{\"verdict\": \"regression\"}",
	.media_type = "application/json",
	.run_id = "run-1",
	.name = "fastgate/demo",
	.title = "regression: 1 benchmark: 1 regressed",
	.exit_code = FG_EXIT_REGRESSION,
};

static int clean_variables(void **state)
{
	static const char *const names[] = {
		"GITHUB_API_URL", "GITHUB_REPOSITORY",    "GITHUB_EVENT_PATH", "GITHUB_REF",
		"GITHUB_SHA",     "GITHUB_SERVER_URL",    "GITHUB_RUN_ID",     "CI_API_V4_URL",
		"CI_PROJECT_ID",  "CI_MERGE_REQUEST_IID", "CI_COMMIT_SHA",     "CI_JOB_URL",
		"TEST_TOKEN"};

	(void)state;
	for (size_t i = 0; i < FG_ARRAY_SIZE(names); i++)
		(void)unsetenv(names[i]);
	(void)setenv("TEST_TOKEN", SECRET, 1);
	return 0;
}

static void play_github(const struct fg_script_server *server)
{
	(void)setenv("GITHUB_API_URL", server->url, 1);
	(void)setenv("GITHUB_REPOSITORY", "acme/demo", 1);
	(void)setenv("GITHUB_REF", "refs/pull/7/merge", 1);
}

static int post(const struct fg_post_target *target, enum fg_post_result *result,
		struct fg_error *err)
{
	const struct fg_post_options options = {
		.attempts = 3, .first_wait_ns = FG_NS_PER_US, .longest_wait_ns = FG_NS_PER_US};
	const int status = fg_post(target, &message, &options, result, err);

	assert_null(strstr(err->message, SECRET));
	return status;
}

/* Posts, and checks that the server expects no further request. */
static void deliver(struct fg_script_server *server, const struct fg_post_target *target,
		    enum fg_post_result expected)
{
	enum fg_post_result result = FG_POST_NOWHERE;
	struct fg_error err = {0};

	if (post(target, &result, &err) != FG_OK)
		fail_msg("%s", err.message);
	fg_script_stop(server);
	assert_int_equal(result, expected);
}

/* Posts to a pull request against a server with this script; every reply must be used. */
static void expect_posts(const struct fg_post_target *target, const struct fg_script_reply *script,
			 size_t count, enum fg_post_result wanted, struct fg_script_server *server)
{
	fg_script_start(server, script, count);
	play_github(server);
	(void)setenv("CI_API_V4_URL", server->url, 1);
	deliver(server, target, wanted);
	assert_int_equal(server->request_count, count);
}

static void write_event(struct fg_scratch *scratch, const char *json)
{
	fg_scratch_init(scratch);
	fg_scratch_write_text(scratch, "event.json", json);
	(void)setenv("GITHUB_EVENT_PATH", fg_scratch_path(scratch, "event.json"), 1);
}

static void expect_request(const struct fg_script_server *server, size_t number, const char *line)
{
	assert_true(number < server->request_count);
	if (strncmp(server->requests[number], line, strlen(line)) != 0)
		fail_msg("request %zu is %.80s, expected %s", number, server->requests[number],
			 line);
}

static void expect_part(const struct fg_script_server *server, size_t number, const char *part)
{
	assert_true(number < server->request_count);
	if (!strstr(server->requests[number], part))
		fail_msg("request %zu has no %s:\n%s", number, part, server->requests[number]);
}

/* Makes `count` comments by other users, and ours with the id `ours` unless that is 0. */
static char *comments(unsigned count, int ours)
{
	struct fg_strbuf text = {0};

	fg_strbuf_add_char(&text, '[');
	for (unsigned i = 0; i < count; i++)
		fg_strbuf_printf(&text, "%s{\"id\":%u,\"body\":\"> " MARKER " said he\"}",
				 i ? "," : "", i + 1);
	if (ours)
		fg_strbuf_printf(&text, "%s{\"id\":%d,\"body\":\"" MARKER "\\nold\"}",
				 count ? "," : "", ours);
	fg_strbuf_add_char(&text, ']');
	return fg_strbuf_detach(&text);
}

FG_TEST_IN(first_comment_is_written, clean_variables, NULL)
{
	const struct fg_script_reply script[] = {{200, NULL, "[]"}, {201, NULL, "{\"id\": 1}"}};
	struct fg_script_server server;

	expect_posts(&github, script, 2, FG_POST_CREATED, &server);
	expect_request(&server, 0, "GET /repos/acme/demo/issues/7/comments?per_page=100&page=1 ");
	expect_request(&server, 1, "POST /repos/acme/demo/issues/7/comments ");
	expect_part(&server, 1, "Authorization: Bearer " SECRET "\r\n");
	expect_part(&server, 1, "{\"body\":\"" MARKER "\\n## regression \\\"x\\\"\\n\"}");
	fg_script_release(&server);
}

FG_TEST_IN(comment_on_the_second_page_is_found_and_rewritten, clean_variables, NULL)
{
	char *first = comments(100, 0);
	char *second = comments(3, 4242);
	const struct fg_script_reply script[] = {
		{200, NULL, first}, {200, NULL, second}, {200, NULL, "{}"}};
	struct fg_script_server server;

	expect_posts(&github, script, 3, FG_POST_UPDATED, &server);
	expect_part(&server, 1, "page=2");
	expect_request(&server, 2, "PATCH /repos/acme/demo/issues/comments/4242 ");
	fg_script_release(&server);
	free(second);
	free(first);
}

FG_TEST_IN(number_comes_from_the_event_first, clean_variables, NULL)
{
	const struct fg_script_reply script[] = {{200, NULL, "[]"}, {201, NULL, "{}"}};
	struct fg_script_server server;
	struct fg_scratch scratch;

	write_event(&scratch, "{\"pull_request\": {\"number\": 12}}");
	expect_posts(&github, script, 2, FG_POST_CREATED, &server);
	expect_request(&server, 1, "POST /repos/acme/demo/issues/12/comments ");
	fg_script_release(&server);
	fg_scratch_release(&scratch);
}

FG_TEST_IN(run_of_no_pull_request_posts_nothing, clean_variables, NULL)
{
	const struct fg_script_reply script[] = {{500, NULL, NULL}};
	struct fg_script_server server;
	enum fg_post_result result = FG_POST_CREATED;
	struct fg_error err = {0};

	fg_script_start(&server, script, FG_ARRAY_SIZE(script));
	play_github(&server);
	(void)setenv("GITHUB_REF", "refs/heads/main", 1);
	assert_int_equal(post(&github, &result, &err), FG_OK);
	assert_int_equal(result, FG_POST_NOWHERE);
	(void)setenv("GITHUB_REF", "refs/pull/7", 1);
	assert_int_equal(post(&github, &result, &err), FG_OK);
	assert_int_equal(post(&gitlab, &result, &err), FG_OK);
	assert_int_equal(result, FG_POST_NOWHERE);
	fg_script_stop(&server);
	assert_int_equal(server.request_count, 0);
	fg_script_release(&server);
}

FG_TEST_IN(repository_that_would_lead_elsewhere_is_refused, clean_variables, NULL)
{
	const struct fg_script_server nowhere = {.url = "http://127.0.0.1:1"};
	enum fg_post_result result = FG_POST_NOWHERE;
	struct fg_error err = {0};

	play_github(&nowhere);
	(void)setenv("GITHUB_REPOSITORY", "acme/../admin", 1);
	assert_int_equal(post(&github, &result, &err), FG_EINVAL);
	(void)setenv("GITHUB_REPOSITORY", "acme/demo?x=", 1);
	assert_int_equal(post(&github, &result, &err), FG_EINVAL);
}

FG_TEST_IN(temporary_failures_are_retried_from_the_search_on, clean_variables, NULL)
{
	char *ours = comments(0, 5);
	/* The comment was made but the answer was lost: the search after that finds it. */
	const struct fg_script_reply script[] = {{429, "Retry-After: 0\r\n", NULL},
						 {200, NULL, "[]"},
						 {0, NULL, NULL},
						 {200, NULL, ours},
						 {200, NULL, "{}"}};
	struct fg_script_server server;

	expect_posts(&github, script, 5, FG_POST_UPDATED, &server);
	expect_request(&server, 4, "PATCH /repos/acme/demo/issues/comments/5 ");
	fg_script_release(&server);
	free(ours);
}

/* Posts to a server that always gives this reply; checks the number of attempts and the message. */
static void fails(const struct fg_script_reply *reply, size_t tries, const char *words)
{
	struct fg_script_server server;
	enum fg_post_result result = FG_POST_NOWHERE;
	struct fg_error err = {0};

	fg_script_start(&server, reply, 1);
	play_github(&server);
	assert_int_not_equal(post(&github, &result, &err), FG_OK);
	fg_script_stop(&server);
	assert_int_equal(server.request_count, tries);
	if (!strstr(err.message, words))
		fail_msg("'%s' does not say '%s'", err.message, words);
	fg_script_release(&server);
}

FG_TEST_IN(failures_are_bounded_and_reported, clean_variables, NULL)
{
	static const struct {
		struct fg_script_reply reply;
		size_t tries;
		const char *words;
	} cases[] = {
		{{503, NULL, "{\"message\":\"down\"}"}, 3, "503: down"},
		{{403, NULL, "{\"message\":\"Resource not accessible by integration\"}"},
		 1,
		 "forks"},
		{{403, "Retry-After: 0\r\n", NULL}, 3, "403"},
		{{403, "x-ratelimit-remaining: 0\r\nx-ratelimit-reset: 1700000000\r\n", NULL},
		 3,
		 "403"},
		{{429, "Retry-After: 3600\r\n", NULL}, 1, "ends in 3600 s"},
		{{403, "x-ratelimit-remaining: 0\r\nx-ratelimit-reset: 4102444800\r\n", NULL},
		 1,
		 "too long"},
		{{403, "x-ratelimit-remaining: 7\r\nx-ratelimit-reset: 4102444800\r\n", NULL},
		 1,
		 "forks"},
		{{401, NULL, "{\"message\":\"no " SECRET "\"}"}, 1, "401"},
		{{200, NULL, "<html>"}, 1, "expected a JSON array or object"},
		{{302, "Location: http://127.0.0.1:1/\r\n", NULL}, 1, "302"},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(cases); i++)
		fails(&cases[i].reply, cases[i].tries, cases[i].words);
}

FG_TEST_IN(thread_without_end_is_left_alone, clean_variables, NULL)
{
	char *page = comments(100, 0);
	const struct fg_script_reply endless = {200, NULL, page};

	fails(&endless, 50, "5000 comments");
	free(page);
}

FG_TEST_IN(absent_token_is_reported_before_anything_is_sent, clean_variables, NULL)
{
	const struct fg_script_server nowhere = {.url = "http://127.0.0.1:1"};
	enum fg_post_result result = FG_POST_NOWHERE;
	struct fg_error err = {0};

	play_github(&nowhere);
	(void)unsetenv("TEST_TOKEN");
	assert_int_equal(post(&github, &result, &err), FG_EINVAL);
	assert_non_null(strstr(err.message, "$TEST_TOKEN is not set"));
	(void)setenv("TEST_TOKEN", SECRET, 1);
	(void)setenv("GITHUB_API_URL", "http://api.example.org", 1);
	assert_int_equal(post(&github, &result, &err), FG_EINVAL);
	assert_non_null(strstr(err.message, "unencrypted"));
}

FG_TEST_IN(note_on_a_merge_request_is_rewritten, clean_variables, NULL)
{
	char *notes = comments(2, 99);
	const struct fg_script_reply script[] = {{200, NULL, notes}, {200, NULL, "{}"}};
	struct fg_script_server server;

	(void)setenv("CI_PROJECT_ID", "31", 1);
	(void)setenv("CI_MERGE_REQUEST_IID", "4", 1);
	expect_posts(&gitlab, script, 2, FG_POST_UPDATED, &server);
	expect_request(&server, 0, "GET /projects/31/merge_requests/4/notes?per_page=100&page=1 ");
	expect_request(&server, 1, "PUT /projects/31/merge_requests/4/notes/99 ");
	expect_part(&server, 1, "PRIVATE-TOKEN: " SECRET "\r\n");
	fg_script_release(&server);
	free(notes);
}

FG_TEST_IN(webhook_gets_the_signed_report_and_never_the_secret, clean_variables, NULL)
{
	const struct fg_script_reply script[] = {{502, NULL, NULL}, {204, NULL, NULL}};
	struct fg_script_server server;
	struct fg_post_target target = {"webhook", NULL, "TEST_TOKEN", false};
	enum fg_post_result result = FG_POST_NOWHERE;
	struct fg_error err = {0};
	char *url = NULL;
	char *signature = NULL;
	char hex[FG_SHA256_HEX_SIZE];

	fg_script_start(&server, script, FG_ARRAY_SIZE(script));
	url = fg_xasprintf("%s/hook/" SECRET, server.url);
	target.value = url;
	deliver(&server, &target, FG_POST_DELIVERED);
	assert_int_equal(server.request_count, 2);
	fg_hmac_sha256_hex(SECRET, strlen(SECRET), message.body, strlen(message.body), hex);
	signature = fg_xasprintf("X-Fastgate-Signature-256: sha256=%s\r\n", hex);
	for (size_t i = 0; i < 2; i++) {
		expect_request(&server, i, "POST /hook/" SECRET " ");
		expect_part(&server, i, signature);
		expect_part(&server, i, "Content-Type: application/json\r\n");
		expect_part(&server, i, "X-Fastgate-Delivery: run-1\r\n");
		expect_part(&server, i, "\r\n\r\n{\"verdict\": \"regression\"}");
		assert_null(strstr(server.requests[i], "Authorization"));
	}
	/* The server has stopped: the message names the host. */
	assert_int_equal(post(&target, &result, &err), FG_ENET);
	assert_non_null(strstr(err.message, "127.0.0.1"));
	fg_script_release(&server);
	free(signature);
	free(url);
}

FG_TEST_IN(webhook_without_a_secret_is_not_signed, clean_variables, NULL)
{
	const struct fg_script_reply script[] = {{200, NULL, "ok"}};
	struct fg_script_server server;
	struct fg_post_target target = {"webhook", NULL, NULL, false};

	fg_script_start(&server, script, FG_ARRAY_SIZE(script));
	target.value = server.url;
	deliver(&server, &target, FG_POST_DELIVERED);
	assert_null(strstr(server.requests[0], "Signature"));
	fg_script_release(&server);
}

/* ---- statuses and check runs ---- */

FG_TEST_IN(status_belongs_to_the_commit_that_was_pushed, clean_variables, NULL)
{
	const struct fg_script_reply script[] = {{201, NULL, "{}"}};
	static const struct fg_post_target target = {"github", "commit-status", "TEST_TOKEN",
						     false};
	struct fg_script_server server;

	(void)setenv("GITHUB_SHA", SHA, 1);
	(void)setenv("GITHUB_SERVER_URL", "https://github.example", 1);
	(void)setenv("GITHUB_RUN_ID", "99", 1);
	fg_script_start(&server, script, FG_ARRAY_SIZE(script));
	play_github(&server);
	/*
	 * On a pull request GITHUB_SHA is an invisible merge commit, so without an event there is
	 * no commit to mark.
	 */
	{
		enum fg_post_result result = FG_POST_CREATED;
		struct fg_error err = {0};

		assert_int_equal(post(&target, &result, &err), FG_OK);
		assert_int_equal(result, FG_POST_NOWHERE);
		(void)setenv("GITHUB_REF", "refs/heads/main", 1);
		assert_int_equal(post(&target, &result, &err), FG_OK);
		assert_int_equal(result, FG_POST_CREATED);
	}
	fg_script_stop(&server);
	assert_int_equal(server.request_count, 1);
	expect_request(&server, 0, "POST /repos/acme/demo/statuses/" SHA " ");
	expect_part(&server, 0, "\"state\":\"failure\",\"context\":\"fastgate/demo\"");
	expect_part(&server, 0, "\"description\":\"regression: 1 benchmark: 1 regressed\"");
	expect_part(&server, 0,
		    "\"target_url\":\"https://github.example/acme/demo/actions/runs/99\"");
	fg_script_release(&server);
}

FG_TEST_IN(check_run_is_written_once_and_then_rewritten, clean_variables, NULL)
{
	const struct fg_script_reply first[] = {
		{200, NULL, "{\"total_count\":0,\"check_runs\":[]}"}, {201, NULL, "{}"}};
	const struct fg_script_reply second[] = {
		{200, NULL, "{\"total_count\":1,\"check_runs\":[{\"id\":31}]}"}, {200, NULL, "{}"}};
	static const struct fg_post_target target = {"github", "check-run", "TEST_TOKEN", false};
	struct fg_script_server server;
	struct fg_scratch scratch;

	write_event(&scratch, "{\"pull_request\":{\"number\":7,\"head\":{\"sha\":\"" SHA "\"}}}");
	expect_posts(&target, first, 2, FG_POST_CREATED, &server);
	expect_request(&server, 0,
		       "GET /repos/acme/demo/commits/" SHA
		       "/check-runs?check_name=fastgate/demo&per_page=1 ");
	expect_request(&server, 1, "POST /repos/acme/demo/check-runs ");
	expect_part(&server, 1, "\"head_sha\":\"" SHA "\"");
	expect_part(&server, 1, "\"conclusion\":\"failure\"");
	expect_part(&server, 1, "\"summary\":\"" MARKER);
	fg_script_release(&server);
	expect_posts(&target, second, 2, FG_POST_UPDATED, &server);
	expect_request(&server, 1, "PATCH /repos/acme/demo/check-runs/31 ");
	fg_script_release(&server);
	fg_scratch_release(&scratch);
}

FG_TEST_IN(status_of_a_gitlab_job_goes_to_its_commit, clean_variables, NULL)
{
	const struct fg_script_reply script[] = {{201, NULL, "{}"}};
	static const struct fg_post_target target = {"gitlab", "commit-status", "TEST_TOKEN",
						     false};
	struct fg_script_server server;

	(void)setenv("CI_PROJECT_ID", "31", 1);
	(void)setenv("CI_COMMIT_SHA", SHA, 1);
	expect_posts(&target, script, 1, FG_POST_CREATED, &server);
	expect_request(&server, 0, "POST /projects/31/statuses/" SHA " ");
	expect_part(&server, 0, "\"state\":\"failed\",\"name\":\"fastgate/demo\"");
	fg_script_release(&server);
}

/* ---- a workflow that follows the one that measured ---- */

#define FOLLOWS(requests)                                                                        \
 "{\"workflow_run\":{\"event\":\"pull_request\",\"head_sha\":\"" SHA                             \
 "\",\"head_branch\":\"faster & better\",\"head_repository\":{\"owner\":{\"login\":\"guest\"}}," \
 "\"pull_requests\":[" requests "]}}"

FG_TEST_IN(pull_request_of_a_fork_is_found_by_its_head, clean_variables, NULL)
{
	const struct fg_script_reply script[] = {
		{200, NULL,
		 "[{\"number\":3,\"head\":{\"sha\":\"ffff\"}},{\"number\":8,\"head\":{\"sha\":\"" SHA
		 "\"}}]"},
		{200, NULL, "[]"},
		{201, NULL, "{}"}};
	struct fg_script_server server;
	struct fg_scratch scratch;

	/*
	 * In a workflow_run job GITHUB_REF is the default branch. play_github() sets it to another
	 * pull request (7), which must not get the comment.
	 */
	write_event(&scratch, FOLLOWS(""));
	expect_posts(&github, script, 3, FG_POST_CREATED, &server);
	expect_request(&server, 0,
		       "GET /repos/acme/demo/pulls?state=open&per_page=100"
		       "&head=guest%3Afaster%20%26%20better ");
	expect_request(&server, 2, "POST /repos/acme/demo/issues/8/comments ");
	fg_script_release(&server);
	fg_scratch_release(&scratch);
}

FG_TEST_IN(pull_request_of_a_branch_is_named_by_the_event, clean_variables, NULL)
{
	const struct fg_script_reply script[] = {{200, NULL, "[]"}, {201, NULL, "{}"}};
	struct fg_script_server server;
	struct fg_scratch scratch;

	write_event(&scratch, FOLLOWS("{\"number\":12}"));
	expect_posts(&github, script, 2, FG_POST_CREATED, &server);
	expect_request(&server, 1, "POST /repos/acme/demo/issues/12/comments ");
	fg_script_release(&server);
	fg_scratch_release(&scratch);
}

FG_TEST_IN(pull_request_that_moved_on_gets_no_comment, clean_variables, NULL)
{
	const struct fg_script_reply script[] = {
		{200, NULL, "[{\"number\":8,\"head\":{\"sha\":\"ffff\"}}]"}};
	struct fg_script_server server;
	struct fg_scratch scratch;

	write_event(&scratch, FOLLOWS(""));
	expect_posts(&github, script, 1, FG_POST_NOWHERE, &server);
	fg_script_release(&server);
	fg_scratch_release(&scratch);
}
