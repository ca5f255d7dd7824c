// SPDX-License-Identifier: Apache-2.0
#include "gate/commit_trailers.h"
#include "tests/support/fg_test.h"
#include "tests/unit/gate/made_run.h"

#include <math.h>

static struct fg_made made;
static struct fg_accept key;

static int begin(void **state)
{
	(void)state;
	fg_made_init(&made, 9);
	(void)fg_made_benchmark(&made, "parse", 40, 0.06, 0.01);
	key = (struct fg_accept){.benchmark = "parse",
				 .metric = "cpu_time",
				 .up_to = 0.10,
				 .until_ns = 2000,
				 .reason = "larger cache",
				 .source = "fastgate.yml:31"};
	made.policy.accepts = &key;
	made.policy.accept_count = 1;
	return 0;
}

static int end(void **state)
{
	(void)state;
	fg_made_release(&made);
	return 0;
}

static void an_accepted_slowdown_does_not_fail_and_is_shown(void **state)
{
	const struct fg_benchmark_verdict *b = fg_made_decide(&made, "parse");
	const struct fg_metric_verdict *cpu = fg_made_metric(b, "cpu_time");

	(void)state;
	assert_int_equal(b->outcome, FG_OUTCOME_PASS);
	assert_int_equal(made.verdict.exit_code, FG_EXIT_PASS);
	assert_int_equal(cpu->outcome, FG_OUTCOME_REGRESSION);
	assert_non_null(cpu->accepted);
	assert_string_equal(cpu->accepted->reason, "larger cache");
	assert_true(fg_made_has_note(&cpu->notes, "accepted (fastgate.yml:31): larger cache"));
}

static void a_larger_slowdown_than_accepted_fails(void **state)
{
	(void)state;
	key.up_to = 0.03;
	assert_int_equal(fg_made_decide(&made, "parse")->outcome, FG_OUTCOME_REGRESSION);
}

static void an_ended_key_no_longer_counts_and_is_said(void **state)
{
	(void)state;
	key.until_ns = 500;
	assert_int_equal(fg_made_decide(&made, "parse")->outcome, FG_OUTCOME_REGRESSION);
	assert_true(fg_made_has_note(&made.verdict.notes, "ended on 1970-01-01"));
}

/* What stands before and behind the one that is slower needs no key. */
static void of_several_metrics_one_is_enough_to_need_a_key(void **state)
{
	(void)state;
	key.metric = "*";
	(void)fg_made_decide(&made, "parse");
	assert_false(fg_made_has_note(&made.verdict.notes, "was not needed"));
}

static void a_key_that_nothing_needed_is_said(void **state)
{
	(void)state;
	key.metric = "max_rss";
	assert_int_equal(fg_made_decide(&made, "parse")->outcome, FG_OUTCOME_REGRESSION);
	assert_true(fg_made_has_note(&made.verdict.notes, "was not needed"));
	key.benchmark = "not in this run";
	(void)fg_made_decide(&made, "parse");
	assert_false(fg_made_has_note(&made.verdict.notes, "was not needed"));
}

static void a_star_accepts_any(void **state)
{
	(void)state;
	key.benchmark = key.metric = "*";
	key.up_to = (double)NAN;
	assert_int_equal(fg_made_decide(&made, "parse")->outcome, FG_OUTCOME_PASS);
}

static void trailers_are_read_from_a_commit_message(void **state)
{
	static const char message[] = "store: keep more\n\nBecause.\n\n"
				      "Fastgate-Accept: parse cpu_time larger cache\n"
				      "Signed-off-by: A\n"
				      "Fastgate-Accepted: lookup cpu_time by nobody\n"
				      "Fastgate-Accept: \"big one/4\" * known price \r\n";
	struct fg_arena arena = {0};
	struct fg_accept *accepts = NULL;
	size_t count = 0;

	(void)state;
	assert_int_equal(
		fg_gate_accepts_of_message(message, "1a2b3c4", &arena, &accepts, &count, NULL),
		FG_OK);
	assert_int_equal(count, 2);
	assert_string_equal(accepts[0].benchmark, "parse");
	assert_string_equal(accepts[0].metric, "cpu_time");
	assert_string_equal(accepts[0].reason, "larger cache");
	assert_string_equal(accepts[0].source, "commit 1a2b3c4");
	assert_true(isnan(accepts[0].up_to));
	assert_true(accepts[0].until_ns == INT64_MAX);
	assert_string_equal(accepts[1].benchmark, "big one/4");
	assert_string_equal(accepts[1].reason, "known price");
	fg_arena_release(&arena);
}

static void trailers_without_name_metric_or_reason_are_refused(void **state)
{
	static const char *const bad[] = {"Fastgate-Accept:", "Fastgate-Accept: parse",
					  "Fastgate-Accept: parse cpu_time",
					  "Fastgate-Accept: \"parse cpu_time why"};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct fg_arena arena = {0};
		struct fg_accept *accepts = NULL;
		struct fg_error err = {0};
		size_t count = 77;

		assert_int_equal(fg_gate_accepts_of_message(bad[i], "1a2b3c4", &arena, &accepts,
							    &count, &err),
				 FG_EPARSE);
		assert_non_null(strstr(err.message, "commit 1a2b3c4"));
		assert_int_equal(count, 77);
		fg_arena_release(&arena);
	}
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_accepted_slowdown_does_not_fail_and_is_shown),
		TEST(a_larger_slowdown_than_accepted_fails),
		TEST(an_ended_key_no_longer_counts_and_is_said),
		TEST(of_several_metrics_one_is_enough_to_need_a_key),
		TEST(a_key_that_nothing_needed_is_said),
		TEST(a_star_accepts_any),
		TEST(trailers_are_read_from_a_commit_message),
		TEST(trailers_without_name_metric_or_reason_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
