// SPDX-License-Identifier: Apache-2.0
/*
 * Profiles of a synthetic program: main → work → {parse → scan, fit, many small functions}, with
 * one sample per millisecond.
 */
#include "tests/support/fg_test.h"
#include "tests/unit/gate/made_program.h"

#include <math.h>

#define PAIRS 60

static struct fg_made_program p;

FG_TEST(identical_programs_flag_hardly_any_function)
{
	int flagged = 0;

	for (uint64_t seed = 0; seed < 25; seed++) {
		const struct fg_benchmark_verdict *b;
		bool any = false;

		fg_made_program_init(&p, 200 + seed);
		fg_made_small_ones(&p, fg_made_node(&p, 0, "main", 30, 30));
		b = fg_made_measure(&p, 30);
		for (size_t i = 0; i < b->time.function_count; i++)
			any = any || b->time.functions[i].standing != FG_STANDING_UNCHANGED;
		flagged += any;
	}
	/* Both directions at 1 %: 0.5 of 25 are expected. */
	assert_in_range(flagged, 0, 3);
}

/*
 * A few large functions: no floor hides anything, and the test is as strict as promised, but not
 * stricter.
 */
FG_TEST(a_second_function_is_named_no_more_often_than_allowed)
{
	const unsigned decisions = 1000;
	unsigned named = 0;

	for (unsigned seed = 1; seed <= decisions; seed++) {
		const struct fg_benchmark_verdict *b = NULL;
		bool another = false;

		fg_made_program_init(&p, seed);
		(void)fg_made_node(&p, 0, "scan", 32.0, 32.0);
		(void)fg_made_node(&p, 0, "digest", 32.0, 41.6);
		(void)fg_made_node(&p, 0, "convert", 32.0, 32.0);
		b = fg_made_measure(&p, 16);
		for (size_t i = 0; i < b->time.function_count; i++)
			another |= b->time.functions[i].outcome == FG_OUTCOME_REGRESSION &&
				   strcmp(b->time.functions[i].name, "digest") != 0;
		named += another;
	}
	/* 10 are expected on average; the chance of 20 or more is 0.3 %. */
	if (named >= 20)
		fail_msg("another function named in %u of %u decisions", named, decisions);
}

FG_TEST(a_move_is_found_on_each_of_two_paths)
{
	static const struct {
		const char *name;
		double before;
		double moved;
	} callers[] = {{"size", 36, 14}, {"write", 24, 10}};
	const struct fg_benchmark_verdict *b;
	const uint32_t work = fg_made_work(&p, 5, 20);

	for (size_t i = 0; i < 2; i++) {
		const uint32_t caller = fg_made_node(&p, work, callers[i].name, 2, 2);
		const uint32_t value = fg_made_node(&p, caller, "put_value", callers[i].before,
						    callers[i].before - callers[i].moved);

		(void)fg_made_node(&p, value, "print", 0, callers[i].moved);
	}
	fg_made_small_ones(&p, work);
	b = fg_made_measure(&p, PAIRS);
	assert_int_equal(b->time.moved_count, 1);
	assert_string_equal(b->time.moved[0].from, "put_value");
	assert_string_equal(b->time.moved[0].to, "print");
	assert_true(fabs(b->time.moved[0].amount - 24.0) < 3.0);
	assert_int_equal(fg_made_find(b, "print")->outcome, FG_OUTCOME_PASS);
}

FG_TEST(a_move_may_cost_a_tenth_of_what_moved_and_no_more)
{
	static const struct {
		const char *why;
		double scan_ms; /* scan took 48 ms from parse */
		size_t moved;
		enum fg_outcome outcome;
	} table[] = {
		{"a call that was not there before", 52.5, 1, FG_OUTCOME_PASS},
		{"slower, too", 62.0, 1, FG_OUTCOME_REGRESSION},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(table); i++) {
		const struct fg_benchmark_verdict *b;
		const uint32_t work = fg_made_work(&p, 5, 20);
		const uint32_t parse = fg_made_node(&p, work, "parse", 120, 72);

		(void)fg_made_node(&p, parse, "scan", 0, table[i].scan_ms);
		fg_made_small_ones(&p, work);
		b = fg_made_measure(&p, 15 * PAIRS); /* the additional cost is significant */
		if (b->time.moved_count != table[i].moved ||
		    fg_made_find(b, "scan")->outcome != table[i].outcome)
			fail_msg("%s: %zu moved", table[i].why, b->time.moved_count);
	}
}

FG_TEST(a_renamed_and_an_inlined_function_are_recognised)
{
	const struct fg_benchmark_verdict *b;
	const uint32_t work = fg_made_work(&p, 6, 20);
	uint32_t parse;

	(void)fg_made_node(&p, work, "old_name", 15, 0);
	(void)fg_made_node(&p, work, "new_name", 0, 15);
	parse = fg_made_node(&p, work, "parse", 10, 18);
	(void)fg_made_node(&p, parse, "tiny", 8, 0);
	fg_made_small_ones(&p, work);
	b = fg_made_measure(&p, PAIRS);
	assert_int_equal(b->time.moved_count, 2);
	assert_string_equal(b->time.moved[0].kind, "renamed");
	assert_string_equal(b->time.moved[0].to, "new_name");
	assert_string_equal(b->time.moved[1].kind, "inlined");
	assert_string_equal(b->time.moved[1].from, "tiny");
	assert_string_equal(b->time.moved[1].to, "parse");
}

/* No two variants cancel out: only the total of all variants of the name is unchanged. */
FG_TEST(variants_of_one_name_are_recognised_as_moved_together)
{
	const struct fg_benchmark_verdict *b;
	uint32_t loop;

	fg_made_program_init(&p, 21);
	loop = fg_made_node(&p, fg_made_node(&p, 0, "main", 1, 1), "execute", 60, 75);
	(void)fg_made_node(&p, loop, "f<int>", 14, 0);
	(void)fg_made_node(&p, loop, "f<a_rather_long_type>", 16, 0);
	(void)fg_made_node(&p, fg_made_node(&p, loop, "call", 5, 5), "f(any)", 0, 30);
	b = fg_made_measure(&p, PAIRS);
	assert_true(b->time.moved_count > 0);
	assert_string_equal(b->time.moved[0].to, "f(any)");
	assert_int_equal(fg_made_find(b, "execute")->standing, FG_STANDING_GUILTY);
	for (size_t k = 0; k < b->time.function_count; k++) {
		const struct fg_node_verdict *f = &b->time.functions[k];

		if (strncmp(f->name, "f", 1) == 0)
			assert_int_equal(f->standing, FG_STANDING_MOVED);
	}
}

/* The program is slightly slower everywhere: no function is significant. */
FG_TEST(without_a_sure_function_suspects_are_reported_as_unsure)
{
	const struct fg_benchmark_verdict *b;
	const uint32_t work = fg_made_work(&p, 23, 5);

	for (int i = 0; i < 12; i++) {
		char name[32];

		(void)snprintf(name, sizeof(name), "%c_part", 'a' + i);
		(void)fg_made_node(&p, work, name, 10.0, 10.6);
	}
	b = fg_made_measure(&p, 40);
	assert_true(b->time.total_delta > 2.0);
	for (size_t i = 0; i < b->time.function_count; i++) {
		assert_int_equal(b->time.functions[i].standing, FG_STANDING_NOT_SURE);
		assert_int_equal(b->time.functions[i].outcome, FG_OUTCOME_INCONCLUSIVE);
		assert_true(b->time.functions[i].delta > 0.0);
		assert_true(isnan(b->time.functions[i].share_of_change));
	}
	assert_in_range(b->time.function_count, 1, 5);
	/* More pairs would help; repeating the run would not. */
	assert_string_equal(b->notes.items[b->notes.count - 1],
			    "to be sure of a function, use more pairs (`--pairs`) or a higher rate "
			    "(`measure.sampler.rate`)");
	assert_true(fabs(b->time.everything_else - b->time.total_delta) < 1e-9);
}

FG_TEST(suspects_are_never_blamed_next_to_a_sure_function)
{
	const struct fg_benchmark_verdict *b;
	double sum;
	const uint32_t work = fg_made_work(&p, 24, 5);

	(void)fg_made_node(&p, work, "fit", 30, 40);
	(void)fg_made_node(&p, work, "scan", 30, 30.6);
	fg_made_small_ones(&p, work);
	b = fg_made_measure(&p, 40);
	sum = b->time.everything_else;
	for (size_t i = 0; i < b->time.function_count; i++) {
		const bool sure = fg_standing_is_sure(b->time.functions[i].standing);

		sum += sure ? b->time.functions[i].delta : 0.0;
		assert_true(sure == (strcmp(b->time.functions[i].name, "fit") == 0));
		assert_true(sure == !isnan(b->time.functions[i].share_of_change));
		assert_int_not_equal(b->time.functions[i].outcome, FG_OUTCOME_PASS);
	}
	assert_true(fabs(sum - b->time.total_delta) < 1e-9);
	assert_false(fg_made_has_note(&b->notes, "to be sure of a function"));
}

FG_TEST(a_move_is_recognised_although_another_function_got_slower)
{
	const struct fg_benchmark_verdict *b;
	const uint32_t work = fg_made_work(&p, 16, 20);

	(void)fg_made_node(&p, work, "old_name", 25, 0);
	(void)fg_made_node(&p, work, "new_name", 0, 25);
	(void)fg_made_node(&p, work, "fit", 20, 24);
	fg_made_small_ones(&p, work);
	b = fg_made_measure(&p, PAIRS);
	assert_int_equal(b->time.moved_count, 1);
	assert_string_equal(b->time.moved[0].to, "new_name");
	assert_int_equal(fg_made_find(b, "new_name")->outcome, FG_OUTCOME_PASS);
	assert_int_equal(fg_made_find(b, "fit")->outcome, FG_OUTCOME_REGRESSION);
}

FG_TEST(a_slower_function_and_a_smaller_gain_are_not_a_move)
{
	const struct fg_benchmark_verdict *b;
	const uint32_t work = fg_made_work(&p, 7, 20);

	p.made.policy.functions = FG_FUNCTIONS_GATE;
	(void)fg_made_node(&p, work, "fit", 20, 32);
	(void)fg_made_node(&p, work, "parse", 20, 15);
	fg_made_small_ones(&p, work);
	b = fg_made_measure(&p, PAIRS);
	assert_int_equal(b->time.moved_count, 0);
	assert_int_equal(fg_made_find(b, "fit")->outcome, FG_OUTCOME_REGRESSION);
	assert_int_equal(fg_made_find(b, "parse")->outcome, FG_OUTCOME_IMPROVEMENT);
	assert_int_equal(b->outcome, FG_OUTCOME_REGRESSION);
}

FG_TEST(functions_explain_but_fail_only_if_configured)
{
	const struct fg_benchmark_verdict *b;
	const uint32_t work = fg_made_work(&p, 8, 400);

	(void)fg_made_node(&p, work, "fit", 20, 24);
	b = fg_made_measure(&p, PAIRS);
	assert_int_equal(fg_made_find(b, "fit")->outcome, FG_OUTCOME_REGRESSION);
	assert_true(b->outcome != FG_OUTCOME_REGRESSION);
	p.made.policy.functions = FG_FUNCTIONS_GATE;
	assert_int_equal(fg_made_decide(&p.made, "app")->outcome, FG_OUTCOME_REGRESSION);
	p.made.policy.functions = FG_FUNCTIONS_OFF;
	b = fg_made_decide(&p.made, "app");
	assert_int_equal(b->time.function_count, 0);
}

FG_TEST(regions_are_judged_by_their_cpu_time)
{
	const struct fg_benchmark_verdict *b;
	uint32_t region;

	fg_made_program_init(&p, 11);
	(void)fg_made_node(&p, 0, "main", 50, 50);
	region = fg_profile_set_region(&p.set, "event/fit");
	for (uint32_t pair = 0; pair < 30; pair++) {
		for (uint8_t arm = 0; arm < 2; arm++) {
			struct fg_profile_region_row *row = fg_profile_set_add_region_row(&p.set);

			row->arm = arm;
			row->pair = pair;
			row->region = region;
			row->cpu_ns = (arm ? 12e6 : 10e6) *
				      (1.0 + 0.02 * fg_random_normal(&p.made.random));
		}
	}
	b = fg_made_measure(&p, 30);
	assert_int_equal(b->time.region_count, 1);
	assert_string_equal(b->time.regions[0].name, "event/fit");
	assert_int_equal(b->time.regions[0].outcome, FG_OUTCOME_REGRESSION);
	assert_true(fabs(b->time.regions[0].delta - 2.0) < 0.3);
	assert_true(fabs(b->time.regions[0].inclusive[0] - 10.0) < 0.3);
	assert_true(fabs(b->time.regions[0].inclusive[1] - 12.0) < 0.3);
	assert_true(isnan(b->time.regions[0].self[0]) && isnan(b->time.regions[0].self[1]));
}

FG_TEST(a_profile_without_pairs_says_nothing)
{
	const struct fg_benchmark_verdict *b;

	fg_made_program_init(&p, 12);
	(void)fg_made_node(&p, 0, "main", 50, 50);
	b = fg_made_measure(&p, 0);
	assert_int_equal(b->time.function_count, 0);
	assert_int_equal(b->outcome, FG_OUTCOME_ERROR);
	assert_non_null(b->error);
}
