// SPDX-License-Identifier: Apache-2.0
#include "base/strbuf.h"
#include "gate/accept.h"
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

FG_TEST_IN(an_accepted_slowdown_does_not_fail_and_is_shown, begin, end)
{
	const struct fg_benchmark_verdict *b = fg_made_decide(&made, "parse");
	const struct fg_metric_verdict *cpu = fg_made_metric(b, "cpu_time");

	assert_int_equal(b->outcome, FG_OUTCOME_PASS);
	assert_int_equal(made.verdict.exit_code, FG_EXIT_PASS);
	assert_int_equal(cpu->outcome, FG_OUTCOME_REGRESSION);
	assert_non_null(cpu->accepted);
	assert_string_equal(cpu->accepted->reason, "larger cache");
	assert_true(fg_made_has_note(&cpu->notes, "accepted (fastgate.yml:31): larger cache"));
}

/* The metrics before and after the slower one need no key. */
FG_TEST_IN(one_of_several_metrics_is_enough_to_need_a_key, begin, end)
{
	key.metric = "*";
	(void)fg_made_decide(&made, "parse");
	assert_false(fg_made_has_note(&made.verdict.notes, "was not needed"));
}

FG_TEST_IN(the_last_of_several_benchmarks_is_enough_to_need_a_key, begin, end)
{
	fg_made_series(&made, "parse")->name[0] = 'P'; /* equally slow, under another name */
	(void)fg_made_benchmark(&made, "between", 40, 0, 0.01);
	(void)fg_made_benchmark(&made, "parse", 40, 0.06, 0.01);
	assert_int_equal(fg_made_decide(&made, "parse")->outcome, FG_OUTCOME_PASS);
	assert_false(fg_made_has_note(&made.verdict.notes, "was not needed"));
	assert_int_equal(fg_made_decide(&made, "Parse")->outcome, FG_OUTCOME_REGRESSION);
	key.benchmark = "between";
	(void)fg_made_decide(&made, "parse");
	assert_true(fg_made_has_note(&made.verdict.notes, "was not needed"));
}

FG_TEST_IN(an_unneeded_key_is_reported, begin, end)
{
	key.metric = "max_rss";
	assert_int_equal(fg_made_decide(&made, "parse")->outcome, FG_OUTCOME_REGRESSION);
	assert_true(fg_made_has_note(&made.verdict.notes, "was not needed"));
	key.benchmark = "not in this run";
	(void)fg_made_decide(&made, "parse");
	assert_false(fg_made_has_note(&made.verdict.notes, "was not needed"));
}

FG_TEST_IN(a_key_for_an_unchanged_benchmark_is_reported, begin, end)
{
	for (size_t i = 0; i < fg_made_series(&made, "parse")->repetition_count; i++)
		fg_made_series(&made, "parse")->repetitions[i].values[FG_METRIC_CPU_TIME] = 1e8;
	assert_int_equal(fg_made_decide(&made, "parse")->outcome, FG_OUTCOME_PASS);
	assert_true(fg_made_has_note(&made.verdict.notes,
				     "the accepted regression of parse, cpu_time (fastgate.yml:31) "
				     "was not needed in this run"));
}

FG_TEST_IN(a_key_holds_up_to_its_size_and_up_to_its_end, begin, end)
{
	struct fg_accept several[] = {
		{.benchmark = "a", .metric = "*", .up_to = 1, .until_ns = 1},
		{.benchmark = "*", .metric = "b", .up_to = 1, .until_ns = 1},
		{.benchmark = "*", .metric = "*", .up_to = 1, .until_ns = 1},
	};
	const struct fg_policy *policy = &made.policy;

	assert_ptr_equal(fg_accept_find(policy, "parse", "cpu_time", 0.10, 2000), &key);
	assert_null(fg_accept_find(policy, "parse", "cpu_time", 0.1001, 2000));
	assert_null(fg_accept_find(policy, "parse", "cpu_time", 0.10, 2001));
	assert_null(fg_accept_find(policy, "parse", "wall_time", 0.10, 2000));
	assert_null(fg_accept_find(policy, "parser", "cpu_time", 0.10, 2000));
	made.policy.accepts = several;
	made.policy.accept_count = FG_ARRAY_SIZE(several);
	assert_ptr_equal(fg_accept_find(policy, "parse", "max_rss", 1, 1), &several[2]);
}

/* Tests the last nanosecond of a day, and the first of the next. */
FG_TEST_IN(the_end_of_a_key_is_a_day_of_universal_time, begin, end)
{
	static const struct {
		int64_t until_ns;
		const char *note;
	} rows[] = {
		{1709164799999999999, "expired on 2024-02-28 and no longer counts"},
		{1709164800000000000, "expired on 2024-02-29 and no longer counts"},
	};

	made.input.now_ns = INT64_MAX;
	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		key.until_ns = rows[i].until_ns;
		assert_int_equal(fg_made_decide(&made, "parse")->outcome, FG_OUTCOME_REGRESSION);
		assert_true(fg_made_has_note(&made.verdict.notes, rows[i].note));
	}
}

FG_TEST_IN(a_star_accepts_any, begin, end)
{
	key.benchmark = key.metric = "*";
	key.up_to = (double)NAN;
	assert_int_equal(fg_made_decide(&made, "parse")->outcome, FG_OUTCOME_PASS);
}

static struct fg_arena arena;
static struct fg_accept *accepts;
static size_t count;
static struct fg_error err;

/* Reads the trailers of a commit's message, and drops those of the previous one. */
static int read_trailers(const char *message)
{
	fg_arena_release(&arena);
	count = 77;
	return fg_gate_accepts_of_message(message, "1a2b3c4", &arena, &accepts, &count, &err);
}

FG_TEST(trailers_are_read_from_a_commit_message)
{
	static const char message[] = "store: keep more\n\nBecause.\n\n"
				      "Fastgate-Accept: parse cpu_time larger cache\n"
				      "Signed-off-by: A\n"
				      "Fastgate-Accepted: lookup cpu_time by nobody\n"
				      "Fastgate-Accept: \"big one/4\" * known cost \r\n";

	assert_int_equal(read_trailers(message), FG_OK);
	assert_int_equal(count, 2);
	assert_string_equal(accepts[0].benchmark, "parse");
	assert_string_equal(accepts[0].metric, "cpu_time");
	assert_string_equal(accepts[0].reason, "larger cache");
	assert_string_equal(accepts[0].source, "commit 1a2b3c4");
	assert_true(isnan(accepts[0].up_to));
	assert_true(accepts[0].until_ns == INT64_MAX);
	assert_string_equal(accepts[1].benchmark, "big one/4");
	assert_string_equal(accepts[1].reason, "known cost");
}

FG_TEST(words_of_a_trailer_are_separated_by_blanks_and_tabs)
{
	static const struct {
		const char *message;
		const char *benchmark;
		const char *metric;
		const char *reason;
	} rows[] = {
		{"Fastgate-Accept:parse cpu_time why", "parse", "cpu_time", "why"},
		{"Fastgate-Accept:\t parse\tcpu_time \t a  reason", "parse", "cpu_time",
		 "a  reason"},
		{"Fastgate-Accept: p m r", "p", "m", "r"},
		{"Fastgate-Accept: p m why\t\nnext line", "p", "m", "why"},
		{"Fastgate-Accept: p m why\r\n", "p", "m", "why"},
		{"Fastgate-Accept: p m why  \n", "p", "m", "why"},
		{"Fastgate-Accept: \"a b\"\"c d\"why", "a b", "c d", "why"},
		{"Fastgate-Accept: \"\" m why", "", "m", "why"},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		assert_int_equal(read_trailers(rows[i].message), FG_OK);
		assert_int_equal(count, 1);
		assert_string_equal(accepts[0].benchmark, rows[i].benchmark);
		assert_string_equal(accepts[0].metric, rows[i].metric);
		assert_string_equal(accepts[0].reason, rows[i].reason);
	}
}

FG_TEST(a_thousand_trailers_are_read_and_no_more)
{
	static const char line[] = "Fastgate-Accept: parse cpu_time why\n";
	struct fg_strbuf message = {0};

	for (size_t lines = 0; lines < 1000; lines++)
		fg_strbuf_add_text(&message, line);
	for (size_t lines = 1000; lines < 1002; lines++) {
		assert_int_equal(read_trailers(message.data), lines == 1000 ? FG_OK : FG_ELIMIT);
		assert_int_equal(count, lines == 1000 ? 1000 : 77);
		fg_strbuf_add_text(&message, line);
	}
	fg_strbuf_release(&message);
}

FG_TEST(trailers_without_name_metric_or_reason_are_refused)
{
	static const char *const bad[] = {
		"Fastgate-Accept:",
		"Fastgate-Accept: parse",
		"Fastgate-Accept: parse cpu_time",
		"Fastgate-Accept: parse cpu_time \t\r",
		"Fastgate-Accept: \"parse cpu_time why",
		"Fastgate-Accept: parse\ncpu_time on the next line",
		"Fastgate-Accept: parse cpu_time\nwhy on the next line",
		"Fastgate-Accept: \"parse\non\" the next",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(read_trailers(bad[i]), FG_EPARSE);
		assert_non_null(strstr(err.message, "commit 1a2b3c4"));
		assert_int_equal(count, 77);
	}
}
