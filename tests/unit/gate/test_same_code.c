// SPDX-License-Identifier: Apache-2.0
/* Functions with the same machine code in both builds, among changed ones. */
#include "tests/support/fg_test.h"
#include "tests/unit/gate/made_program.h"

#include <math.h>

static struct fg_made_program p;

/* There are too few samples to be certain of a function; only the total is certain. */
FG_TEST(without_a_sure_function_the_only_one_that_changed_is_guilty)
{
	static const struct {
		const char
			/* main, work, a_part and c_part differ; all other functions are the same */
			*functions;
		double after;
		double l_part;
		bool is_guilty;
	} rows[] = {
		{"main=0:0:s work=16:16:r c_part=16:48:c a_part=16:48:s", 10.6, 10.6, true},
		{"main=0:0:s work=16:16:s c_part=16:48:c a_part=16:48:c", 10.6, 10.6, false},
		{"main=0:0:s work=16:16:s c_part=16:48:s a_part=16:48:s", 10.6, 10.6, false},
		{"main=0:0:s work=16:16:s c_part=16:48:c", 10.6, 10.6, false},
		{"main=0:0:s work=16:16:r c_part=16:48:c a_part=16:48:s", 10.0, 10.0, false},
		/* a function that surely became faster cannot explain a slowdown */
		{"main=0:0:s work=16:16:r c_part=16:48:c a_part=16:48:s", 10.6, 7, true},
	};

	for (size_t r = 0; r < FG_ARRAY_SIZE(rows); r++) {
		char *functions = fg_xasprintf(
			"%s b_part=0:0:s d_part=0:0:s e_part=0:0:s f_part=0:0:s g_part=0:0:s "
			"h_part=0:0:s i_part=0:0:s j_part=0:0:s k_part=0:0:s l_part=0:0:s",
			rows[r].functions);
		const struct fg_benchmark_verdict *b;
		const uint32_t work = fg_made_work(&p, 23, 5);

		p.functions = functions;
		for (int i = 0; i < 12; i++) {
			char name[32];

			(void)snprintf(name, sizeof(name), "%c_part", 'a' + i);
			(void)fg_made_node(&p, work, name, 10.0,
					   i == 11 ? rows[r].l_part : rows[r].after);
		}
		b = fg_made_measure(&p, 40);
		if (rows[r].is_guilty) {
			assert_int_equal(fg_made_find(b, "c_part")->standing, FG_STANDING_GUILTY);
			assert_true(fg_made_find(b, "c_part")->delta > 0);
			assert_true(isnan(fg_made_find(b, "c_part")->p_adjusted));
			assert_false(fg_made_has_note(&b->notes, "to be sure of a function"));
		}
		assert_int_equal(fg_made_has_note(&b->notes,
						  "c_part is the only hot function whose machine "
						  "code changed"),
				 rows[r].is_guilty);
		free(functions);
	}
}

/* `fit` became slower, `scan` or the caller `work` changed. */
FG_TEST(slower_code_that_did_not_change_is_charged_to_the_changed_code_that_calls_it)
{
	static const struct {
		const char *functions; /* the fact in the build */
		double scan[2];
		const char *name;
		enum fg_standing standing;
		const char *only_changed;
	} rows[] = {
		/* `scan` also became slower */
		{"fit=16:48:s scan=64:96:c", {40, 60}, "fit", FG_STANDING_SAME_CODE, NULL},
		{"fit=16:48:s scan=64:96:c", {40, 60}, "scan", FG_STANDING_GUILTY, NULL},
		{"fit=16:48:s scan=64:96:r", {40, 60}, "fit", FG_STANDING_SAME_CODE, NULL},
		{"fit=16:48:c scan=64:96:c", {40, 60}, "fit", FG_STANDING_GUILTY, NULL},
		{"scan=64:96:c", {40, 60}, "fit", FG_STANDING_GUILTY, NULL},
		/* no code is known to have changed */
		{"fit=16:48:s", {40, 60}, "fit", FG_STANDING_GUILTY, NULL},
		{"fit=16:48 scan=64:96:c", {40, 60}, "fit", FG_STANDING_GUILTY, NULL},
		/* only `fit` became slower */
		{"fit=16:48:s scan=64:96:c work=0:0:r main=0:0:s",
		 {40, 40},
		 "fit",
		 FG_STANDING_SAME_CODE,
		 "scan"},
		{"fit=16:48:s scan=64:96:c work=0:0:c", {40, 40}, "work", FG_STANDING_GUILTY, NULL},
		{"fit=16:48:s scan=64:96:c",
		 {0, 0},
		 "fit",
		 FG_STANDING_GUILTY,
		 NULL}, /* no samples */
		{"fit=16:48:c scan=64:96:c", {40, 40}, "fit", FG_STANDING_GUILTY, NULL},
		{"fit=16:48:r scan=64:96:c", {40, 40}, "fit", FG_STANDING_GUILTY, NULL},
		{"fit=16:48:s scan=64:96:s", {40, 40}, "fit", FG_STANDING_GUILTY, NULL},
	};

	for (size_t r = 0; r < FG_ARRAY_SIZE(rows); r++) {
		const struct fg_benchmark_verdict *b;
		const uint32_t work = fg_made_work(&p, 28, 5);

		p.functions = rows[r].functions;
		(void)fg_made_node(&p, work, "fit", 40, 64);
		(void)fg_made_node(&p, work, "scan", rows[r].scan[0], rows[r].scan[1]);
		b = fg_made_measure(&p, 100);
		assert_int_equal(fg_made_find(b, rows[r].name)->standing, rows[r].standing);
		assert_true((b->only_changed != NULL) == (rows[r].only_changed != NULL));
		if (rows[r].only_changed)
			assert_string_equal(b->only_changed, rows[r].only_changed);
		assert_int_equal(b->outcome, FG_OUTCOME_REGRESSION);
	}
}

/*
 * Templates of the standard library are in the project's own file, but people do not look for them:
 * certain or not, they count towards the changed code that calls them, and only towards that.
 */
FG_TEST(an_untouched_template_is_charged_to_the_changed_code_that_calls_it)
{
	static const struct {
		const char *name;
		const char *functions;
		double before; /* time of work, including charged time */
	} rows[] = {
		{"std::vector<int>::push_back", "std::vector<int>::push_back=16:48:s work=0:0:c",
		 60},
		{"std::vector<int>::push_back", "std::vector<int>::push_back=16:48:c work=0:0:c",
		 40},
		{"void std::sort<int*>", "void=0:0:s work=0:0:c", 40}, /* unknown code */
		{"own::push_back", "own::push_back=16:48:s work=0:0:c", 40},
	};

	for (size_t r = 0; r < FG_ARRAY_SIZE(rows); r++) {
		const struct fg_benchmark_verdict *b = NULL;
		const struct fg_node_verdict *work = NULL;
		uint32_t node;

		fg_made_program_init(&p, 31);
		p.functions = rows[r].functions;
		node = fg_made_node(&p, fg_made_node(&p, 0, "main", 1, 1), "work", 40, 60);
		(void)fg_made_node(&p, node, rows[r].name, 20, 20.2);
		b = fg_made_measure(&p, 100);
		work = fg_made_find(b, "work");
		assert_int_equal(work->standing, FG_STANDING_GUILTY);
		assert_float_equal(work->self[0], rows[r].before, 3);
		assert_null(fg_made_find(b, rows[r].name));
	}
}

FG_TEST(placement_has_no_guilty_function)
{
	static const struct fg_made_fact facts[] = {
		{"build.id", "aa", "bb"},
		{"build.code", "c0de", "c0de"},
		{"build.inputs", "da", "da"},
		{"build.mapped", "e1", "e1"},
		{"build.functions", "", "fit=16:48:s"},
		{0},
	};
	const struct fg_benchmark_verdict *b;

	fg_made_program_init(&p, 25);
	p.facts = facts;
	(void)fg_made_node(&p, fg_made_node(&p, 0, "main", 1, 1), "fit", 40, 64);
	p.made.policy.functions = FG_FUNCTIONS_GATE;
	b = fg_made_measure(&p, 100);
	assert_int_equal(b->outcome, FG_OUTCOME_PLACEMENT);
	assert_int_equal(fg_made_find(b, "fit")->standing, FG_STANDING_SAME_CODE);
	assert_int_equal(fg_made_find(b, "fit")->outcome, FG_OUTCOME_PLACEMENT);
	for (size_t i = 0; i < b->time.library_count; i++)
		assert_int_not_equal(b->time.libraries[i].outcome, FG_OUTCOME_REGRESSION);
}

FG_TEST(a_pass_has_no_row_for_code_that_only_lies_elsewhere)
{
	const struct fg_benchmark_verdict *b;
	uint32_t node;

	fg_made_program_init(&p, 25);
	p.functions = "run=16:48:s scan=64:96:c main=0:0:c";
	p.made.policy.alpha = 0.1;
	node = fg_made_node(&p, 0, "main", 1, 1);
	fg_made_small_ones(&p, node);
	(void)fg_made_node(&p, node, "run", 12, 8);
	(void)fg_made_node(&p, node, "scan", 8, 12);
	b = fg_made_measure(&p, 80);
	assert_int_equal(b->outcome, FG_OUTCOME_PASS);
	assert_int_equal(b->time.function_count, 0);
}

/*
 * The candidate is 3 % slower on average, although no function's code changed. Either the code is
 * slower by the same amount at every place, or by different amounts.
 */
FG_TEST(differences_of_layouts_are_placement_if_no_code_changed)
{
	static const double alike[FG_LINE_PLACES] = {1.03, 1.031, 1.029, 1.03};
	static const double apart[FG_LINE_PLACES] = {1.02, 0.97, 1.10, 1.03};
	static const struct {
		const double *layouts;
		const char *functions;
		const char *inputs;
		enum fg_outcome outcome;
	} rows[] = {
		{apart, "fit=16:48:s main=64:64:c", "da", FG_OUTCOME_PLACEMENT},
		{alike, "fit=16:48:s main=64:64:c", "da", FG_OUTCOME_REGRESSION},
		{apart, "fit=16:48:c main=64:64:s", "da", FG_OUTCOME_REGRESSION},
		{apart, "fit=16:48:r main=64:64:c", "da", FG_OUTCOME_REGRESSION},
		{apart, "fit=16:48:s main=64:64:c", "ta", FG_OUTCOME_REGRESSION},
		{apart, "", "da", FG_OUTCOME_REGRESSION},
	};

	for (size_t r = 0; r < FG_ARRAY_SIZE(rows); r++) {
		const struct fg_made_fact facts[] = {
			{"build.id", "aa", "bb"},
			{"build.code", "c0de", "c0fe"},
			{"build.inputs", "da", rows[r].inputs},
			{"build.mapped", "e1", "e1"},
			{"build.functions", "", rows[r].functions},
			{0},
		};
		const struct fg_benchmark_verdict *b;

		fg_made_program_init(&p, 27);
		p.facts = facts;
		p.layouts = rows[r].layouts;
		(void)fg_made_node(&p, fg_made_node(&p, 0, "main", 0, 0), "fit", 400, 412);
		(void)fg_made_node(&p, 0, "memcpy@plt", 9, 9);
		(void)fg_made_node_of(&p, 0, NULL, "[kernel]", 12, 12);
		b = fg_made_measure(&p, 100);
		assert_int_equal(b->outcome, rows[r].outcome);
		assert_true(fg_made_has_note(&b->notes, "placement: the layouts differ by more") ==
			    (rows[r].outcome == FG_OUTCOME_PLACEMENT));
	}
}

FG_TEST(code_that_did_not_change_is_never_to_blame)
{
	const struct fg_benchmark_verdict *b;
	struct fg_series *series;
	uint32_t find_node;

	fg_made_program_init(&p, 13);
	find_node = fg_made_node(&p, fg_made_node(&p, 0, "main", 20, 20), "find", 5, 6);
	(void)fg_made_node(&p, find_node, "memcmp@plt", 2, 3);
	(void)fg_made_node_of(&p, find_node, "libc.so.6", "memcmp", 20, 30);
	b = fg_made_measure(&p, 30);
	assert_string_equal(b->time.functions[0].name, "memcmp");
	series = fg_made_series(&p.made, "app");
	for (int arm = 0; arm < 2; arm++)
		fg_build_facts_set(&series->build[arm], "build.library.libc.so.6", "abcd");
	b = fg_made_decide(&p.made, "app");
	assert_string_equal(b->time.functions[0].name, "find");
	assert_true(fabs(b->time.functions[0].delta - 12.0) < 1.5);
	assert_null(fg_made_find(b, "memcmp"));
	assert_int_equal(b->time.functions[0].path_count, 1);
	assert_int_equal(b->time.functions[0].paths[0].frame_count, 2);
	assert_true(fg_made_has_note(&b->notes, "is in memcmp"));
}
