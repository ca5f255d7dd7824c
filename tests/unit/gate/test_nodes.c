// SPDX-License-Identifier: Apache-2.0
/*
 * Profiles of a synthetic program: main → work → {parse → scan, fit, many small functions}, with
 * one sample per millisecond.
 */
#include "tests/support/fg_test.h"
#include "tests/unit/gate/made_program.h"

#include <math.h>

#define PAIRS 60

FG_TEST(the_slower_function_is_named_first_with_its_path)
{
	const struct fg_benchmark_verdict *b;
	const struct fg_node_verdict *fit;
	struct fg_made_program p;
	uint32_t work;
	uint32_t parse;

	fg_made_program_init(&p, 3);
	work = fg_made_node(&p, fg_made_node(&p, 0, "main", 1, 1), "work", 5, 5);
	parse = fg_made_node(&p, work, "parse", 20, 20);
	(void)fg_made_node(&p, parse, "fit", 15, 15);
	(void)fg_made_node(&p, work, "fit", 15, 19);
	fg_made_small_ones(&p, work);
	b = fg_made_measure(&p, PAIRS);
	assert_true(b->time.function_count >= 1);
	fit = &b->time.functions[0];
	assert_string_equal(fit->name, "fit");
	assert_int_equal(fit->outcome, FG_OUTCOME_REGRESSION);
	assert_true(fit->delta > 2.5 && fit->delta < 5.5);
	assert_true(fit->low > 0.0 && fit->high > fit->delta);
	assert_true(fit->p_adjusted <= 0.01);
	assert_string_equal(fit->file, "app.cpp");
	assert_true(fit->path_count >= 1);
	assert_int_equal(fit->paths[0].frame_count, 3);
	assert_string_equal(fit->paths[0].frames[0], "main");
	assert_string_equal(fit->paths[0].frames[1], "work");
	assert_string_equal(fit->paths[0].frames[2], "fit");
	assert_int_equal(fit->paths[0].outcome, FG_OUTCOME_REGRESSION);
	assert_true(b->time.functions_tested >= FG_MADE_SMALL);
	assert_int_equal(b->time.library_count, 1);
	assert_string_equal(b->time.libraries[0].name, "app");
	fg_made_program_release(&p);
}

FG_TEST(rows_of_another_measure_change_no_verdict_of_time)
{
	struct fg_made_program programs[2];
	const struct fg_benchmark_verdict *verdicts[2];

	for (size_t i = 0; i < 2; i++) {
		struct fg_made_program *p = &programs[i];

		fg_made_program_init(p, 2);
		p->with_bytes = i == 1;
		fg_made_small_ones(p, fg_made_node(p, 0, "main", 20.0, 20.0));
		(void)fg_made_node(p, p->nodes[0], "fit(Track&)", 30.0, 36.0);
		verdicts[i] = fg_made_measure(p, 20);
	}
	assert_int_equal(verdicts[0]->outcome, verdicts[1]->outcome);
	assert_true(verdicts[0]->time.function_count > 0);
	assert_int_equal(verdicts[0]->time.function_count, verdicts[1]->time.function_count);
	assert_string_equal(verdicts[1]->time.functions[0].name, "fit(Track&)");
	for (size_t i = 0; i < verdicts[0]->time.function_count; i++)
		assert_true(verdicts[0]->time.functions[i].delta ==
			    verdicts[1]->time.functions[i].delta);
	for (size_t i = 0; i < 2; i++)
		fg_made_program_release(&programs[i]);
}

FG_TEST(blame_adds_up_to_the_measured_whole)
{
	const struct fg_benchmark_verdict *b;
	struct fg_made_program p;
	double sum;
	uint32_t work;

	fg_made_program_init(&p, 4);
	work = fg_made_node(&p, fg_made_node(&p, 0, "main", 1, 1), "work", 30, 30);
	(void)fg_made_node(&p, work, "fit", 30, 40);
	fg_made_small_ones(&p, work);
	b = fg_made_measure(&p, PAIRS);
	sum = b->time.unattributed;
	for (size_t i = 0; i < b->time.function_count; i++)
		sum += b->time.functions[i].delta;
	assert_true(fabs(sum - b->time.total_delta) < 1e-9);
	assert_true(b->time.total_delta > 7.0 && b->time.total_delta < 13.0);
	assert_true(b->time.functions[0].share_of_change > 0.7);
	fg_made_program_release(&p);
}

FG_TEST(identical_programs_flag_hardly_any_function)
{
	int flagged = 0;

	for (uint64_t seed = 0; seed < 25; seed++) {
		const struct fg_benchmark_verdict *b;
		struct fg_made_program p;
		bool any = false;

		fg_made_program_init(&p, 200 + seed);
		fg_made_small_ones(&p, fg_made_node(&p, 0, "main", 30, 30));
		b = fg_made_measure(&p, 30);
		for (size_t i = 0; i < b->time.function_count; i++)
			any = any || b->time.functions[i].standing != FG_STANDING_UNCHANGED;
		flagged += any;
		fg_made_program_release(&p);
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
		struct fg_made_program p;
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
		fg_made_program_release(&p);
	}
	/* 10 are expected on average; the chance of 20 or more is 0.3 %. */
	if (named >= 20)
		fail_msg("another function named in %u of %u decisions", named, decisions);
}

FG_TEST(an_extracted_function_is_moved_not_slower)
{
	const struct fg_benchmark_verdict *b;
	struct fg_made_program p;
	uint32_t work;
	uint32_t parse;

	fg_made_program_init(&p, 5);
	p.made.policy.functions = FG_FUNCTIONS_GATE;
	work = fg_made_node(&p, fg_made_node(&p, 0, "main", 1, 1), "work", 20, 20);
	parse = fg_made_node(&p, work, "parse", 30, 18);
	(void)fg_made_node(&p, parse, "scan", 0, 12);
	fg_made_small_ones(&p, work);
	b = fg_made_measure(&p, PAIRS);
	assert_int_equal(b->time.moved_count, 1);
	assert_string_equal(b->time.moved[0].from, "parse");
	assert_string_equal(b->time.moved[0].to, "scan");
	assert_string_equal(b->time.moved[0].ancestor, "parse");
	assert_string_equal(b->time.moved[0].kind, "extracted");
	assert_true(fabs(b->time.moved[0].amount - 12.0) < 1.5);
	assert_int_equal(fg_made_find(b, "scan")->outcome, FG_OUTCOME_PASS);
	assert_true(b->outcome != FG_OUTCOME_REGRESSION);
	fg_made_program_release(&p);
}

FG_TEST(a_move_is_found_on_each_of_two_paths)
{
	static const struct {
		const char *name;
		double before;
		double moved;
	} callers[] = {{"size", 36, 14}, {"write", 24, 10}};
	const struct fg_benchmark_verdict *b;
	struct fg_made_program p;
	uint32_t work;

	fg_made_program_init(&p, 5);
	work = fg_made_node(&p, fg_made_node(&p, 0, "main", 1, 1), "work", 20, 20);
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
	fg_made_program_release(&p);
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
		struct fg_made_program p;
		uint32_t work;
		uint32_t parse;

		fg_made_program_init(&p, 5);
		work = fg_made_node(&p, fg_made_node(&p, 0, "main", 1, 1), "work", 20, 20);
		parse = fg_made_node(&p, work, "parse", 120, 72);
		(void)fg_made_node(&p, parse, "scan", 0, table[i].scan_ms);
		fg_made_small_ones(&p, work);
		b = fg_made_measure(&p, 15 * PAIRS); /* the additional cost is significant */
		if (b->time.moved_count != table[i].moved ||
		    fg_made_find(b, "scan")->outcome != table[i].outcome)
			fail_msg("%s: %zu moved", table[i].why, b->time.moved_count);
		fg_made_program_release(&p);
	}
}

FG_TEST(a_renamed_and_an_inlined_function_are_recognised)
{
	const struct fg_benchmark_verdict *b;
	struct fg_made_program p;
	uint32_t work;
	uint32_t parse;

	fg_made_program_init(&p, 6);
	work = fg_made_node(&p, fg_made_node(&p, 0, "main", 1, 1), "work", 20, 20);
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
	fg_made_program_release(&p);
}

/* No two variants cancel out: only the total of all variants of the name is unchanged. */
FG_TEST(variants_of_one_name_are_recognised_as_moved_together)
{
	const struct fg_benchmark_verdict *b;
	struct fg_made_program p;
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
	fg_made_program_release(&p);
}

/*
 * The interpreter loop, which calls all variants, becomes slower as well.
 */
FG_TEST(moves_between_variants_are_recognised_whatever_calls_them)
{
	static const struct {
		const char *from;
		const char *from_library;
		const char *to;
		const char *to_library;
		size_t moved;
		const char *kind;
	} table[] = {
		{"luaD_pretailcall", "app", "luaD_precall", "app", 1, "moved"},
		{"void fmt::v10::write<char>(int)", "app", "fmt::v11::write(char, int)", "app", 1,
		 "moved"},
		{"f<int>", "app", "f(int)", "app", 1, "moved"},
		{"inflate", "libz.so.1", "inflate", "app", 1, "relinked"},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(table); i++) {
		const struct fg_benchmark_verdict *b;
		struct fg_made_program p;
		uint32_t loop;

		fg_made_program_init(&p, 21);
		loop = fg_made_node(&p, fg_made_node(&p, 0, "main", 1, 1), "execute", 60, 75);
		(void)fg_made_node_of(&p, loop, table[i].from_library, table[i].from, 14, 0);
		(void)fg_made_node_of(&p, fg_made_node(&p, loop, "call", 5, 5), table[i].to_library,
				      table[i].to, 9, 23);
		b = fg_made_measure(&p, PAIRS);
		if (b->time.moved_count != table[i].moved)
			fail_msg("%s to %s: %zu moved", table[i].from, table[i].to,
				 b->time.moved_count);
		assert_string_equal(b->time.functions[0].name, "execute");
		assert_int_equal(b->time.functions[0].standing, FG_STANDING_GUILTY);
		for (size_t k = 1; k < b->time.function_count; k++)
			assert_true((b->time.functions[k].standing == FG_STANDING_MOVED) ==
				    (table[i].moved == 1));
		if (table[i].moved) {
			assert_string_equal(b->time.moved[0].to, table[i].to);
			assert_string_equal(b->time.moved[0].kind, table[i].kind);
			assert_string_equal(b->time.moved[0].to_library, table[i].to_library);
		}
		fg_made_program_release(&p);
	}
}

FG_TEST(cost_beyond_a_move_is_a_slowdown)
{
	const struct fg_benchmark_verdict *b;
	struct fg_made_program p;
	uint32_t work;

	fg_made_program_init(&p, 22);
	work = fg_made_node(&p, fg_made_node(&p, 0, "main", 1, 1), "work", 20, 20);
	(void)fg_made_node(&p, work, "f<int>", 14, 0);
	(void)fg_made_node(&p, work, "f(int)", 0, 30);
	b = fg_made_measure(&p, PAIRS);
	assert_int_equal(b->time.moved_count, 1);
	assert_int_equal(fg_made_find(b, "f(int)")->standing, FG_STANDING_GUILTY);
	assert_true(fabs(fg_made_find(b, "f(int)")->delta - 16.0) < 2.0);
	fg_made_program_release(&p);
}

/* The program is slightly slower everywhere: no function is significant. */
FG_TEST(without_a_sure_function_suspects_are_reported_as_unsure)
{
	const struct fg_benchmark_verdict *b;
	struct fg_made_program p;
	uint32_t work;

	fg_made_program_init(&p, 23);
	work = fg_made_node(&p, fg_made_node(&p, 0, "main", 1, 1), "work", 5, 5);
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
	fg_made_program_release(&p);
}

FG_TEST(suspects_are_never_blamed_next_to_a_sure_function)
{
	const struct fg_benchmark_verdict *b;
	struct fg_made_program p;
	double sum;
	uint32_t work;

	fg_made_program_init(&p, 24);
	work = fg_made_node(&p, fg_made_node(&p, 0, "main", 1, 1), "work", 5, 5);
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
	fg_made_program_release(&p);
}

/* 24 ms more and 16 ms less are 8 ms in total, not 300 % and -200 %. */
FG_TEST(shares_of_a_whole_that_nearly_cancels_are_not_shown)
{
	const struct fg_benchmark_verdict *b;
	struct fg_made_program p;
	uint32_t work;

	fg_made_program_init(&p, 25);
	work = fg_made_node(&p, fg_made_node(&p, 0, "main", 1, 1), "work", 5, 5);
	(void)fg_made_node(&p, work, "fit", 40, 64);
	(void)fg_made_node(&p, work, "scan", 40, 29);
	(void)fg_made_node(&p, work, "sort", 40, 35);
	b = fg_made_measure(&p, 400);
	assert_true(fg_made_metric(b, "cpu_time")->low > 1.0);
	assert_int_equal(fg_made_find(b, "fit")->standing, FG_STANDING_GUILTY);
	assert_int_equal(fg_made_find(b, "scan")->standing, FG_STANDING_FASTER);
	assert_true(isnan(fg_made_find(b, "fit")->share_of_change));
	assert_true(isnan(fg_made_find(b, "scan")->share_of_change));
	fg_made_program_release(&p);
}

FG_TEST(one_unsampled_arm_blames_no_function_and_reports_the_reason)
{
	static const double seen[] = {0.0, 0.03, 0.9};

	for (size_t i = 0; i < FG_ARRAY_SIZE(seen); i++) {
		const struct fg_benchmark_verdict *b;
		struct fg_made_program p;
		bool blamed;

		fg_made_program_init(&p, 26);
		(void)fg_made_node(&p, fg_made_node(&p, 0, "main", 1, 1), "fit", 60, 72);
		p.seen[0] = seen[i];
		b = fg_made_measure(&p, 20);
		blamed = b->time.function_count > 0;
		assert_true(blamed == (seen[i] > 0.5));
		assert_true(fg_made_has_note(&b->notes, "no function is blamed: the sampler saw") ==
			    !blamed);
		fg_made_program_release(&p);
	}
}

/* A library whose interval crosses the margin has not passed: it is undecided. */
FG_TEST(a_wide_interval_is_not_a_pass)
{
	const struct fg_benchmark_verdict *b;
	struct fg_made_program p;
	uint32_t work;

	fg_made_program_init(&p, 27);
	work = fg_made_node(&p, fg_made_node(&p, 0, "main", 1, 1), "work", 100, 100);
	(void)fg_made_node_of(&p, work, "libz.so.1", "inflate", 40, 40);
	(void)fg_made_node_of(&p, work, "libm.so.6", "exp", 0.3, 0.3);
	b = fg_made_measure(&p, 16);
	assert_int_equal(b->time.library_count, 3);
	for (size_t i = 0; i < b->time.library_count; i++) {
		const struct fg_node_verdict *library = &b->time.libraries[i];
		const bool is_small = strcmp(library->name, "libm.so.6") == 0;

		assert_int_equal(library->outcome,
				 is_small ? FG_OUTCOME_PASS : FG_OUTCOME_INCONCLUSIVE);
	}
	fg_made_program_release(&p);
}

FG_TEST(a_move_is_recognised_although_another_function_got_slower)
{
	const struct fg_benchmark_verdict *b;
	struct fg_made_program p;
	uint32_t work;

	fg_made_program_init(&p, 16);
	work = fg_made_node(&p, fg_made_node(&p, 0, "main", 1, 1), "work", 20, 20);
	(void)fg_made_node(&p, work, "old_name", 25, 0);
	(void)fg_made_node(&p, work, "new_name", 0, 25);
	(void)fg_made_node(&p, work, "fit", 20, 24);
	fg_made_small_ones(&p, work);
	b = fg_made_measure(&p, PAIRS);
	assert_int_equal(b->time.moved_count, 1);
	assert_string_equal(b->time.moved[0].to, "new_name");
	assert_int_equal(fg_made_find(b, "new_name")->outcome, FG_OUTCOME_PASS);
	assert_int_equal(fg_made_find(b, "fit")->outcome, FG_OUTCOME_REGRESSION);
	fg_made_program_release(&p);
}

FG_TEST(a_slower_function_and_a_smaller_gain_are_not_a_move)
{
	const struct fg_benchmark_verdict *b;
	struct fg_made_program p;
	uint32_t work;

	fg_made_program_init(&p, 7);
	p.made.policy.functions = FG_FUNCTIONS_GATE;
	work = fg_made_node(&p, fg_made_node(&p, 0, "main", 1, 1), "work", 20, 20);
	(void)fg_made_node(&p, work, "fit", 20, 32);
	(void)fg_made_node(&p, work, "parse", 20, 15);
	fg_made_small_ones(&p, work);
	b = fg_made_measure(&p, PAIRS);
	assert_int_equal(b->time.moved_count, 0);
	assert_int_equal(fg_made_find(b, "fit")->outcome, FG_OUTCOME_REGRESSION);
	assert_int_equal(fg_made_find(b, "parse")->outcome, FG_OUTCOME_IMPROVEMENT);
	assert_int_equal(b->outcome, FG_OUTCOME_REGRESSION);
	fg_made_program_release(&p);
}

FG_TEST(functions_explain_but_fail_only_if_configured)
{
	const struct fg_benchmark_verdict *b;
	struct fg_made_program p;
	uint32_t work;

	fg_made_program_init(&p, 8);
	work = fg_made_node(&p, fg_made_node(&p, 0, "main", 1, 1), "work", 400, 400);
	(void)fg_made_node(&p, work, "fit", 20, 24);
	b = fg_made_measure(&p, PAIRS);
	assert_int_equal(fg_made_find(b, "fit")->outcome, FG_OUTCOME_REGRESSION);
	assert_true(b->outcome != FG_OUTCOME_REGRESSION);
	p.made.policy.functions = FG_FUNCTIONS_GATE;
	assert_int_equal(fg_made_decide(&p.made, "app")->outcome, FG_OUTCOME_REGRESSION);
	p.made.policy.functions = FG_FUNCTIONS_OFF;
	b = fg_made_decide(&p.made, "app");
	assert_int_equal(b->time.function_count, 0);
	fg_made_program_release(&p);
}

FG_TEST(rare_functions_and_few_pairs_are_not_tested)
{
	const struct fg_benchmark_verdict *b;
	struct fg_made_program p;
	uint32_t work;

	fg_made_program_init(&p, 9);
	work = fg_made_node(&p, fg_made_node(&p, 0, "main", 1, 1), "work", 30, 30);
	(void)fg_made_node(&p, work, "rare", 0, 0.2);
	b = fg_made_measure(&p, 30);
	assert_null(fg_made_find(b, "rare"));
	assert_int_equal(b->time.functions_tested, 2);
	fg_made_program_release(&p);
	fg_made_program_init(&p, 10);
	(void)fg_made_node(&p, 0, "main", 100, 200);
	b = fg_made_measure(&p, 5);
	assert_int_equal(b->time.functions_tested, 0);
	assert_null(fg_made_find(b, "main"));
	assert_true(isnan(b->time.libraries[0].p_adjusted));
	fg_made_program_release(&p);
}

FG_TEST(regions_are_judged_by_their_cpu_time)
{
	const struct fg_benchmark_verdict *b;
	struct fg_made_program p;
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
	fg_made_program_release(&p);
}

FG_TEST(a_profile_without_pairs_says_nothing)
{
	const struct fg_benchmark_verdict *b;
	struct fg_made_program p;

	fg_made_program_init(&p, 12);
	(void)fg_made_node(&p, 0, "main", 50, 50);
	b = fg_made_measure(&p, 0);
	assert_int_equal(b->time.function_count, 0);
	assert_int_equal(b->outcome, FG_OUTCOME_ERROR);
	assert_non_null(b->error);
	fg_made_program_release(&p);
}
