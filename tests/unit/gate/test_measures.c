// SPDX-License-Identifier: Apache-2.0
/*
 * Counts by call path of a synthetic program: main → {parse → grow, load → grow}; grow belongs to a
 * library that did not change.
 */
#include "tests/support/fg_test.h"
#include "tests/unit/gate/made_run.h"

#include <math.h>

enum {
	SITES = 2,
	COUNT = 5000, /* allocations per site */
};

static struct program {
	struct fg_made made;
	struct fg_profile_set set;
	const struct fg_profile_set *sets[1];
	struct fg_metric_policy how;
	uint32_t sites[SITES];
	uint16_t measure;
} p;

static void fill_set(struct fg_profile_set *set, const char *measure, uint32_t sites[SITES],
		     uint16_t *id)
{
	static const char *const names[SITES] = {"parse", "load"};
	const struct fg_measure what = fg_measure_describe(measure, NULL);
	uint32_t top;

	fg_profile_set_init(set, "app");
	top = fg_made_call_path(set, 0, "app", "main");
	*id = fg_profile_set_measure(set, &what);
	for (size_t i = 0; i < SITES; i++)
		sites[i] = fg_made_call_path(set, fg_made_call_path(set, top, "app", names[i]),
					     "libc.so.6", "grow");
}

static void program_release(struct program *program)
{
	fg_profile_set_release(&program->set);
	fg_made_release(&program->made);
}

static void program_init(struct program *program, const char *measure)
{
	struct fg_series *series = NULL;

	program_release(program);
	*program = (struct program){0};
	fg_made_init(&program->made, 7);
	(void)fg_made_benchmark(&program->made, "app", 20, 0.0, 0.002);
	series = fg_made_series(&program->made, "app");
	for (int arm = 0; arm < FG_ARM_COUNT; arm++)
		fg_build_facts_set(&series->build[arm], "build.library.libc.so.6", "4f5e");
	fill_set(&program->set, measure, program->sites, &program->measure);
	program->sets[0] = &program->set;
	program->made.input.profiles = program->sets;
	program->how = (struct fg_metric_policy){
		.name = measure, .gated = true, .min_effect = 0.001, .margin = 0.01};
	program->made.policy.metrics = &program->how;
	program->made.policy.metric_count = 1;
}

static void add_row_of(struct program *program, uint16_t measure, uint8_t arm,
		       const double counts[SITES])
{
	struct fg_profile_set *set = &program->set;
	struct fg_profile_row *row = fg_profile_set_add_row(set, SITES);

	row->arm = arm;
	row->pair = 1000;
	row->measure = measure;
	for (uint32_t i = 0; i < SITES; i++) {
		row->nodes[i] = program->sites[i];
		row->values[i] = counts[i];
		row->samples[i] = (uint32_t)counts[i];
		row->total = fg_measure_join(fg_measure_at(&set->measures, measure)->fold,
					     row->total, counts[i]);
	}
}

static void add_row(struct program *program, uint8_t arm, double parse, double load)
{
	const double counts[SITES] = {parse, load};

	add_row_of(program, program->measure, arm, counts);
}

/* Adds two repetitions per side that agree. */
static void add_steady(const double before[SITES], const double after[SITES])
{
	for (int i = 0; i < 2; i++) {
		add_row(&p, FG_ARM_BASELINE, before[0], before[1]);
		add_row(&p, FG_ARM_CANDIDATE, after[0], after[1]);
	}
}

static const double unchanged[SITES] = {COUNT, COUNT};

static const struct fg_benchmark_verdict *decide(void)
{
	return fg_made_decide(&p.made, "app");
}

/* Starts anew and decides on two agreeing repetitions of each side. */
static const struct fg_benchmark_verdict *decide_steady(double parse, double load)
{
	program_init(&p, "heap.allocations");
	add_steady(unchanged, (const double[SITES]){parse, load});
	return decide();
}

FG_TEST(one_more_allocation_in_ten_thousand_fails_and_names_its_site)
{
	const struct fg_benchmark_verdict *b = decide_steady(COUNT, COUNT + 1);
	const struct fg_metric_verdict *metric = fg_made_metric(b, "heap.allocations");
	const struct fg_blame *blame = &b->measures[0];

	assert_int_equal(b->outcome, FG_OUTCOME_REGRESSION);
	assert_true(metric->exact && metric->gated);
	assert_float_equal(metric->ratio, 1.0001, 1e-9);
	assert_int_equal(b->measure_count, 1);
	assert_string_equal(blame->measure, "heap.allocations");
	assert_true(blame->exact);
	assert_int_equal(blame->function_count, 1);
	/* grow() did not change, so its caller is charged. */
	assert_string_equal(blame->functions[0].name, "load");
	assert_string_equal(blame->functions[0].measure, "heap.allocations");
	assert_int_equal(blame->functions[0].standing, FG_STANDING_GUILTY);
	assert_float_equal(blame->functions[0].delta, 1, 0);
	assert_float_equal(blame->functions[0].self[0], COUNT, 0);
	assert_float_equal(blame->functions[0].inclusive[1], COUNT + 1, 0);
	assert_int_equal(blame->functions[0].path_count, 1);
	assert_int_equal(blame->functions[0].paths[0].frame_count, 2);
	assert_string_equal(blame->functions[0].paths[0].frames[1], "load");
	assert_float_equal(blame->functions[0].paths[0].delta, 1, 0);
	assert_float_equal(blame->total_delta, 1, 0);
	assert_float_equal(blame->everything_else, 0, 0);
}

FG_TEST(tolerated_changes_pass)
{
	static const struct {
		double tolerated;
		double tolerance;
		enum fg_outcome outcome;
	} table[] = {
		{.tolerated = 0.001, .outcome = FG_OUTCOME_PASS},
		{.tolerance = 0.001, .outcome = FG_OUTCOME_PASS},
		{.tolerated = 0.00005, .outcome = FG_OUTCOME_REGRESSION},
	};
	const double after[SITES] = {COUNT, COUNT + 1};

	for (size_t i = 0; i < FG_ARRAY_SIZE(table); i++) {
		program_init(&p, "heap.allocations");
		p.how.tolerated = table[i].tolerated;
		p.how.tolerance = table[i].tolerance;
		add_steady(unchanged, after);
		assert_int_equal(decide()->outcome, table[i].outcome);
	}
}

FG_TEST(fewer_is_an_improvement)
{
	const struct fg_benchmark_verdict *b = decide_steady(COUNT - 1, COUNT);

	assert_int_equal(b->outcome, FG_OUTCOME_IMPROVEMENT);
	assert_int_equal(b->measures[0].functions[0].standing, FG_STANDING_FASTER);
}

FG_TEST(counts_that_only_changed_place_are_moved)
{
	const struct fg_benchmark_verdict *b = decide_steady(COUNT - 100, COUNT + 100);

	assert_int_equal(b->outcome, FG_OUTCOME_PASS);
	assert_int_equal(b->measures[0].moved_count, 1);
	assert_string_equal(b->measures[0].moved[0].from, "parse");
	assert_string_equal(b->measures[0].moved[0].to, "load");
	assert_float_equal(b->measures[0].moved[0].amount, 100, 0);
	for (size_t i = 0; i < b->measures[0].function_count; i++)
		assert_int_equal(b->measures[0].functions[i].standing, FG_STANDING_MOVED);
}

/*
 * A moved count has no error, unlike moved time: if 100 allocations leave one site and 101 arrive
 * at another, one was added.
 */
FG_TEST(a_move_that_leaves_one_behind_is_not_a_move)
{
	const struct fg_benchmark_verdict *b = decide_steady(COUNT - 100, COUNT + 101);
	double sum = 0;

	assert_int_equal(b->outcome, FG_OUTCOME_REGRESSION);
	assert_int_equal(b->measures[0].moved_count, 0);
	for (size_t i = 0; i < b->measures[0].function_count; i++)
		sum += b->measures[0].functions[i].delta;
	assert_float_equal(sum + b->measures[0].everything_else, 1, 1e-9);
}

/* The repetitions of one side differ by up to one per cent. */
static const struct fg_benchmark_verdict *decide_unsteady(int pairs, double more)
{
	for (int i = 0; i < pairs; i++) {
		for (uint8_t arm = 0; arm < FG_ARM_COUNT; arm++)
			add_row(&p, arm, COUNT + floor(100 * fg_random_uniform(&p.made.random)),
				COUNT + (arm ? more : 0));
	}
	return decide();
}

FG_TEST(counts_that_differ_between_repetitions_are_judged_by_pairs)
{
	static const struct {
		int pairs;
		double more;
		enum fg_outcome outcome;
	} table[] = {
		{.pairs = 20, .more = 500, .outcome = FG_OUTCOME_REGRESSION},
		{.pairs = 20, .more = 0, .outcome = FG_OUTCOME_PASS},
		{.pairs = 2, .more = 500, .outcome = FG_OUTCOME_INCONCLUSIVE},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(table); i++) {
		const struct fg_benchmark_verdict *b = NULL;
		const struct fg_metric_verdict *metric = NULL;

		program_init(&p, "heap.allocations");
		b = decide_unsteady(table[i].pairs, table[i].more);
		metric = fg_made_metric(b, "heap.allocations");
		assert_int_equal(b->outcome, table[i].outcome);
		assert_false(metric->exact);
		assert_true(fg_made_has_note(&metric->notes, "judged by pairs"));
		if (table[i].outcome == FG_OUTCOME_REGRESSION) {
			assert_string_equal(b->measures[0].functions[0].name, "load");
			assert_int_equal(b->measures[0].functions[0].standing, FG_STANDING_GUILTY);
			assert_false(b->measures[0].exact);
		}
	}
}

/*
 * Each count has about a hundred possible values, so in one case of ten thousand the two counts of
 * each side agree by chance.
 */
FG_TEST(equal_programs_whose_counts_differ_by_chance_do_not_fail)
{
	for (uint64_t seed = 1; seed <= 100; seed++) {
		program_init(&p, "heap.allocations");
		fg_random_seed(&p.made.random, seed);
		assert_int_not_equal(decide_unsteady(2, 0)->outcome, FG_OUTCOME_REGRESSION);
	}
}

/* A function that shrank significantly is not the answer if other functions grew by more. */
FG_TEST(a_gain_within_a_larger_growth_is_not_the_answer)
{
	const struct fg_benchmark_verdict *b = NULL;

	program_init(&p, "heap.peak");
	for (int i = 0; i < 8; i++) {
		const double small = i % 2;

		add_row(&p, FG_ARM_BASELINE, COUNT + small, COUNT);
		add_row(&p, FG_ARM_CANDIDATE, COUNT - 400 + small,
			i % 4 ? COUNT * (0.9 + 0.3 * i) : COUNT * 0.6);
	}
	b = decide();
	assert_int_equal(b->measure_count, 0);
	assert_int_equal(fg_made_metric(b, "heap.peak")->outcome, FG_OUTCOME_INCONCLUSIVE);
}

FG_TEST(a_function_fails_alone_where_functions_gate)
{
	static const struct {
		double after[SITES];
		double tolerated;
		enum fg_outcome outcome;
	} rows[] = {
		{{COUNT - 100, COUNT + 50}, 0.001, FG_OUTCOME_REGRESSION},
		{{COUNT - 100, COUNT + 50}, 0.00995, FG_OUTCOME_REGRESSION},
		{{COUNT - 100, COUNT + 50}, 0.01, FG_OUTCOME_PASS},
		{{COUNT - 100, COUNT + 50}, 0.01005, FG_OUTCOME_PASS},
		{{COUNT, COUNT + 50}, 0.006, FG_OUTCOME_REGRESSION}, /* 0.005 of the whole */
		{{COUNT + 50, COUNT}, 0.006, FG_OUTCOME_REGRESSION},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		program_init(&p, "heap.allocations");
		p.made.policy.functions = FG_FUNCTIONS_GATE;
		p.how.tolerated = rows[i].tolerated;
		add_steady(unchanged, rows[i].after);
		assert_int_equal(decide()->outcome, rows[i].outcome);
	}
}

/* A function may be worse in either of two measures. */
FG_TEST(a_function_fails_in_whichever_measure_it_is_worse)
{
	static const char *const names[2] = {"heap.allocations", "own.count"};
	static const double worse[SITES] = {COUNT - 100, COUNT + 50};
	static const double better[SITES] = {COUNT - 100, COUNT - 50};

	for (size_t at = 0; at <= 2; at++) {
		const struct fg_measure own = fg_measure_describe(names[1], NULL);
		struct fg_metric_policy rows[2];
		uint16_t second;

		program_init(&p, names[0]);
		second = fg_profile_set_measure(&p.set, &own);
		p.made.policy.functions = FG_FUNCTIONS_GATE;
		for (size_t m = 0; m < 2; m++) {
			rows[m] = p.how;
			rows[m].name = names[m];
		}
		p.made.policy.metrics = rows;
		p.made.policy.metric_count = 2;
		add_steady(unchanged, at == 0 ? worse : better);
		for (uint8_t arm = 0; arm < FG_ARM_COUNT; arm++)
			add_row_of(&p, second, arm, !arm ? unchanged : at == 1 ? worse : better);
		assert_int_equal(decide()->outcome == FG_OUTCOME_REGRESSION, at < 2);
		assert_int_equal(p.made.verdict.benchmarks[0].measure_count, 2);
	}
}

/* The first repetition fills a cache. */
FG_TEST(one_repetition_that_differs_is_enough_to_judge_by_pairs)
{
	for (int odd = 0; odd < 3; odd++) {
		const struct fg_metric_verdict *metric;

		program_init(&p, "heap.allocations");
		for (int i = 0; i < 3; i++) {
			add_row(&p, FG_ARM_BASELINE, COUNT + (i == odd), COUNT);
			add_row(&p, FG_ARM_CANDIDATE, COUNT, COUNT);
		}
		metric = fg_made_metric(decide(), "heap.allocations");
		assert_false(metric->exact);
	}
}

FG_TEST(zero_counts_are_exact)
{
	const struct fg_metric_verdict *metric;

	program_init(&p, "heap.allocations");
	add_steady((double[SITES]){0, 0}, (double[SITES]){0, 0});
	metric = fg_made_metric(decide(), "heap.allocations");
	assert_true(metric->exact);
	assert_int_equal(metric->outcome, FG_OUTCOME_PASS);
}

FG_TEST(a_count_on_one_side_only_is_new)
{
	program_init(&p, "heap.allocations");
	add_row(&p, FG_ARM_CANDIDATE, COUNT, COUNT);
	assert_int_equal(fg_made_metric(decide(), "heap.allocations")->outcome, FG_OUTCOME_NEW);
}

/* The total is the same in both repetitions of the candidate, but its parts differ. */
FG_TEST(a_function_that_differs_between_repetitions_of_one_side_is_not_sure)
{
	const struct fg_benchmark_verdict *b;

	program_init(&p, "heap.allocations");
	for (int i = 0; i < 2; i++) {
		add_row(&p, FG_ARM_BASELINE, COUNT, COUNT);
		add_row(&p, FG_ARM_CANDIDATE, COUNT - 100 * (i + 1), COUNT + 100 * (i + 1) + 1);
	}
	b = decide();
	assert_int_equal(b->outcome, FG_OUTCOME_REGRESSION);
	assert_true(fg_made_metric(b, "heap.allocations")->exact);
	for (size_t i = 0; i < b->measures[0].function_count; i++)
		assert_false(fg_standing_is_sure(b->measures[0].functions[i].standing));
}

/* One repetition per side: its count is exact. */
FG_TEST(a_count_of_one_repetition_has_no_interval)
{
	static const double after[SITES] = {COUNT, COUNT + 50};
	const struct fg_node_verdict *load;

	program_init(&p, "heap.allocations");
	add_row(&p, FG_ARM_BASELINE, COUNT, COUNT);
	add_row(&p, FG_ARM_CANDIDATE, after[0], after[1]);
	load = &decide()->measures[0].functions[0];
	assert_string_equal(load->name, "load");
	assert_float_equal(load->delta, 50, 1e-9);
	assert_true(load->low > 49.9 && load->low < 50.1);
	assert_true(load->high > 49.9 && load->high < 50.1);
}

FG_TEST(parts_of_a_largest_value_are_not_added_up)
{
	const struct fg_measure largest = {.name = "block.largest",
					   .label = "largest block",
					   .unit = "bytes",
					   .fold = FG_FOLD_MAX,
					   .exact = true};
	const double after[SITES] = {COUNT, 3.0 * COUNT};
	const struct fg_benchmark_verdict *b = NULL;

	program_init(&p, largest.name);
	fg_profile_set_release(&p.set);
	fg_profile_set_init(&p.set, "app");
	p.measure = fg_profile_set_measure(&p.set, &largest);
	p.sites[0] = fg_made_call_path(&p.set, 0, "app", "parse");
	p.sites[1] = fg_made_call_path(&p.set, p.sites[0], "app", "load");
	add_steady(unchanged, after);
	b = decide();
	assert_int_equal(b->outcome, FG_OUTCOME_REGRESSION);
	assert_float_equal(fg_made_metric(b, largest.name)->ratio, 3, 1e-9);
	assert_string_equal(b->measures[0].unit, "bytes");
	assert_string_equal(b->measures[0].functions[0].name, "load");
	assert_true(isnan(b->measures[0].total_delta));
	assert_true(isnan(b->measures[0].everything_else));
}

/* Times have no pairs across sessions; counts that agree need no pairs. */
FG_TEST(two_stored_runs_are_compared_by_their_counts)
{
	const double after[SITES] = {COUNT, COUNT + 1};
	struct program before = {0};
	const struct fg_benchmark_verdict *b = NULL;

	program_init(&p, "heap.allocations");
	program_init(&before, "heap.allocations");
	/* The other run numbers the functions differently. */
	(void)fg_made_call_path(&before.set, 0, "app", "other");
	add_row(&before, FG_ARM_CANDIDATE, COUNT, COUNT);
	add_row(&before, FG_ARM_BASELINE, 1, 1);
	add_row(&p, FG_ARM_CANDIDATE, after[0], after[1]);
	add_row(&p, FG_ARM_BASELINE, 9, 9);
	p.made.input.baseline = &before.made.run;
	p.made.input.baseline_profiles = before.sets;
	b = decide();
	assert_int_equal(fg_made_metric(b, "heap.allocations")->outcome, FG_OUTCOME_REGRESSION);
	assert_int_equal(b->measure_count, 1);
	assert_string_equal(b->measures[0].functions[0].name, "load");
	assert_float_equal(b->measures[0].functions[0].delta, 1, 0);
	assert_float_equal(b->measures[0].total_delta, 1, 0);
	/* Without the counts of either run, no comparison is possible. */
	for (size_t side = 0; side < 2; side++) {
		const struct fg_profile_set *nothing[1] = {NULL};

		p.made.input.profiles = side ? p.sets : nothing;
		p.made.input.baseline_profiles = side ? nothing : before.sets;
		b = decide();
		assert_int_equal(b->measure_count, 0);
		assert_true(fg_made_has_note(&fg_made_metric(b, "heap.allocations")->notes,
					     "was not measured"));
	}
	p.made.input.profiles = p.sets;
	p.made.input.baseline_profiles = NULL;
	assert_int_equal(decide()->measure_count, 0);
	program_release(&before);
}

/* One part in ten thousand is not worth reporting for an ungated count. */
FG_TEST(a_measure_that_is_only_shown_has_a_tolerance)
{
	static const struct {
		double after;
		enum fg_outcome outcome;
	} rows[] = {
		{COUNT + 1, FG_OUTCOME_PASS},
		{COUNT - 1, FG_OUTCOME_PASS},
		{2.0 * COUNT, FG_OUTCOME_REGRESSION},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		const struct fg_benchmark_verdict *b = NULL;

		program_init(&p, "heap.allocations");
		p.made.policy.metric_count = 0;
		add_steady(unchanged, (double[SITES]){COUNT, rows[i].after});
		b = decide();
		assert_int_equal(b->outcome, FG_OUTCOME_PASS);
		assert_int_equal(fg_made_metric(b, "heap.allocations")->outcome, rows[i].outcome);
		/* Changes of an ungated measure that passed are not reported. */
		assert_int_equal(b->measure_count, rows[i].outcome == FG_OUTCOME_REGRESSION);
		if (b->measure_count > 0)
			assert_string_equal(b->measures[0].functions[0].name, "load");
	}
}

/* Rows that are set aside, of a third arm or of another measure do not count. */
FG_TEST(only_repetitions_that_count_are_compared)
{
	const struct fg_measure other = fg_measure_describe("alloc_space", "bytes");
	const struct fg_benchmark_verdict *b = NULL;
	uint16_t id;

	program_init(&p, "heap.allocations");
	id = fg_profile_set_measure(&p.set, &other);
	add_row_of(&p, p.measure, 0, (double[SITES]){1, 1});
	p.set.rows[0].aside = FG_ASIDE_WARMUP;
	add_row_of(&p, p.measure, 2, (double[SITES]){1, 1});
	add_row_of(&p, id, 0, (double[SITES]){7, 7});
	add_row_of(&p, id, 1, (double[SITES]){7, 7});
	add_steady(unchanged, unchanged);
	b = decide();
	assert_true(fg_made_metric(b, "heap.allocations")->exact);
	assert_int_equal(fg_made_metric(b, "heap.allocations")->outcome, FG_OUTCOME_PASS);
	assert_int_equal(fg_made_metric(b, "heap.allocations")->pairs, 2);
	assert_float_equal(fg_made_metric(b, "heap.allocations")->baseline, 2.0 * COUNT, 0);
	assert_float_equal(fg_made_metric(b, "alloc_space")->baseline, 14, 0);
	assert_int_equal(b->measure_count, 0); /* nothing changed, so no function is to blame */
	/* Without repetitions that count, nothing was measured. */
	for (size_t i = 0; i < p.set.row_count; i++)
		p.set.rows[i].aside = FG_ASIDE_WARMUP;
	b = decide();
	assert_true(fg_made_has_note(&fg_made_metric(b, "heap.allocations")->notes,
				     "was not measured"));
	assert_null(fg_made_metric(b, "alloc_space"));
}

/* Sums in a different order differ in the last digit. */
FG_TEST(a_last_digit_makes_no_repetitions_differ)
{
	static const struct {
		double one;
		double other;
		bool exact;
	} rows[] = {
		{0.1 + 0.2, 0.3, true},
		{1e6, 1e6 + 1e-7, true},
		{1e6, 1e6 + 1.5e-6, false},
		{1e-6, 1e-6 + 2e-6, false},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		program_init(&p, "heap.allocations");
		for (uint8_t arm = 0; arm < FG_ARM_COUNT; arm++) {
			add_row(&p, arm, rows[i].one, 0);
			add_row(&p, arm, rows[i].other, 0);
		}
		assert_int_equal(fg_made_metric(decide(), "heap.allocations")->exact,
				 rows[i].exact);
	}
}

FG_TEST(unmeasured_metrics_have_only_the_figures_of_their_policy)
{
	const struct fg_metric_verdict *metric = NULL;

	program_init(&p, "heap.allocations");
	p.how.name = "calls";
	add_steady(unchanged, unchanged);
	metric = fg_made_metric(decide(), "calls");
	assert_int_equal(p.made.verdict.outcome, FG_OUTCOME_INCONCLUSIVE);
	assert_true(fg_made_has_note(&metric->notes, "was not measured"));
	assert_true(metric->gated && metric->decided);
	assert_int_equal(metric->better, FG_BETTER_LOWER);
	assert_float_equal(metric->min_effect, 0.001, 0);
	assert_float_equal(metric->margin, 0.01, 0);
	assert_true(isnan(metric->baseline) && isnan(metric->candidate) && isnan(metric->ratio));
	assert_true(isnan(metric->low) && isnan(metric->high) && isnan(metric->alpha));
	assert_true(isnan(metric->smallest_detectable) && isnan(metric->p_value));
	/* Each gated metric without values is reported, wherever it is in the list. */
	{
		struct fg_metric_policy several[] = {
			{.name = "heap.allocations", .gated = true},
			{.name = "cpu_time", .gated = true, .min_effect = 0.01, .margin = 0.02},
			{.name = "calls", .gated = true},
			{.name = "instructions", .gated = true},
			{.name = "heap.peak", .gated = true},
		};
		const struct fg_benchmark_verdict *b = NULL;

		p.made.policy.metrics = several;
		p.made.policy.metric_count = FG_ARRAY_SIZE(several);
		b = decide();
		for (size_t i = 2; i < FG_ARRAY_SIZE(several); i++)
			assert_true(fg_made_has_note(&fg_made_metric(b, several[i].name)->notes,
						     "was not measured"));
		p.made.policy.metrics = &p.how;
		p.made.policy.metric_count = 1;
	}
	/* A metric that is not gated, or is built in, is not reported as missing. */
	p.how.gated = false;
	assert_null(fg_made_metric(decide(), "calls"));
	p.how = (struct fg_metric_policy){.name = "no such measure", .gated = true};
	assert_null(fg_made_metric(decide(), "no such measure"));
}

enum {
	MEGABYTE = 1 << 20,
};

/* Makes the program larger by 8 MB. */
static void grow_program(const char *measure)
{
	struct fg_series *series = NULL;

	program_init(&p, measure);
	p.how = (struct fg_metric_policy){
		.name = "max_rss", .gated = true, .min_effect = 0.01, .margin = 0.02};
	series = fg_made_series(&p.made, "app");
	for (size_t i = 0; i < series->repetition_count; i++)
		series->repetitions[i].values[FG_METRIC_MAX_RSS] =
			(series->repetitions[i].arm ? 24.0 : 16.0) * MEGABYTE;
}

/* Makes the program larger, and the peak of its heap, which was 4 MB. */
static const struct fg_benchmark_verdict *grow(double peak_after)
{
	grow_program("heap.peak");
	add_steady((double[SITES]){4.0 * MEGABYTE, 0}, (double[SITES]){peak_after, 0});
	return fg_made_decide(&p.made, "app");
}

FG_TEST(an_unmeasured_heap_is_not_mentioned)
{
	const struct fg_benchmark_verdict *b;

	grow_program("heap.allocations");
	add_steady(unchanged, unchanged);
	b = decide();
	assert_int_equal(b->outcome, FG_OUTCOME_REGRESSION);
	assert_false(fg_made_has_note(&b->notes, "the rest is mapped memory"));
}

FG_TEST(memory_that_the_heap_does_not_explain_is_reported)
{
	static const struct {
		double after; /* megabytes */
		const char *note;
	} rows[] = {
		{4, "max rss grew by 8.00 MiB, but the peak of the heap grew by 0 B: "},
		{7.9, "max rss grew by 8.00 MiB, but the peak of the heap grew by 3.90 MiB: "},
		{3, "max rss grew by 8.00 MiB, but the peak of the heap grew by 0 B: "},
		{8.01, NULL}, /* half of the growth is enough */
		{12, NULL},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		const struct fg_benchmark_verdict *b = grow(rows[i].after * MEGABYTE);

		assert_int_equal(b->outcome, FG_OUTCOME_REGRESSION);
		if (rows[i].note && !fg_made_has_note(&b->notes, rows[i].note))
			fail_msg("%s: %s", rows[i].note, b->notes.items[b->notes.count - 1]);
		assert_int_equal(fg_made_has_note(&b->notes, "the rest is mapped memory"),
				 rows[i].note != NULL);
	}
}

/*
 * If a program became larger, the functions that hold more are to blame, even though the heap is
 * not gated.
 */
FG_TEST(functions_that_hold_more_of_a_larger_program_are_named)
{
	const struct fg_benchmark_verdict *b = grow(4.01 * MEGABYTE);

	assert_int_equal(b->measure_count, 1);
	assert_string_equal(b->measures[0].measure, "heap.peak");
	assert_string_equal(b->measures[0].functions[0].name, "parse");
}
