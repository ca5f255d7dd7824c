// SPDX-License-Identifier: Apache-2.0
/* The state machine that decides the next step, through all of its states. */
#include "gate/next_step.h"
#include "tests/support/fg_test.h"
#include "tests/unit/gate/made_run.h"

static struct walk {
	struct fg_made made;
	struct fg_next_step machine;
	struct fg_situation now;
	struct fg_step step;
	size_t series[2];
} w;

/* Sets up a benchmark whose code changed, before its first pair. */
static int set_up(void **state)
{
	(void)state;
	w = (struct walk){0};
	fg_made_init(&w.made, 3);
	w.made.measure.budget_ns = 0;
	w.series[0] = fg_made_benchmark(&w.made, "parse", 0, 0, 0);
	w.now = (struct fg_situation){.run = &w.made.run,
				      .series = w.series,
				      .series_count = 1,
				      .policy = &w.made.policy,
				      .measure = &w.made.measure,
				      .has_baseline = true};
	fg_made_build_fact(fg_made_series(&w.made, "parse"), "build.code", "aa", "bb");
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	fg_made_release(&w.made);
	return 0;
}

/* Adds pairs in which the candidate is slower by `change`, with `noise`. */
static void measured(size_t pairs, double change, double noise)
{
	struct fg_series *series = &w.made.run.series[0];
	const uint32_t begin = fg_series_pair_end(series);

	for (size_t i = 0; i < 2 * pairs; i++) {
		struct fg_repetition *r = fg_series_add_repetition(series);
		const double own = noise * fg_random_normal(&w.made.random);

		r->pair = begin + (uint32_t)(i / 2);
		r->arm = i % 2;
		r->values[FG_METRIC_CPU_TIME] = 1e8 * (1 + own + (r->arm ? change : 0));
		r->values[FG_METRIC_WALL_TIME] = 2e8;
		r->values[FG_METRIC_MAX_RSS] = 4194304.0;
	}
}

static void set_aside(enum fg_aside why)
{
	struct fg_series *series = &w.made.run.series[0];

	for (size_t i = 0; i < series->repetition_count; i++)
		series->repetitions[i].aside |= (uint16_t)why;
}

static void linked(const char *metric)
{
	w.made.run.series[0].as_linked_metric = fg_xstrdup(metric);
	w.made.run.series[0].as_linked = 1.05;
	w.made.run.series[0].layouts = 4;
}

static enum fg_step_action next(enum fg_step_result result)
{
	fg_next_step(&w.machine, &w.now, result, &w.step);
	return w.step.action;
}

#define assert_step(result, wanted, state_after)  \
 do {                                             \
  assert_int_equal(next(result), wanted);         \
  assert_int_equal(w.machine.state, state_after); \
 } while (0)

FG_TEST_IN(without_a_baseline_a_fixed_number_is_measured, set_up, tear_down)
{
	w.now.has_baseline = false;
	assert_step(FG_STEP_DONE, FG_STEP_PAIRS, FG_STATE_ALONE);
	assert_int_equal(w.step.pairs, 20);
	assert_step(FG_STEP_DONE, FG_STEP_STOP, FG_STATE_OVER);
	assert_step(FG_STEP_DONE, FG_STEP_STOP, FG_STATE_OVER);
}

FG_TEST_IN(counted_benchmarks_are_not_timed, set_up, tear_down)
{
	w.made.measure.exact_only = true;
	assert_step(FG_STEP_DONE, FG_STEP_STOP, FG_STATE_OVER);
}

/* Advances to the first look, measured in the default layout. */
static void reach_the_first_look(void)
{
	assert_step(FG_STEP_DONE, FG_STEP_BEGIN_IN_LAYOUTS, FG_STATE_BEGINNING);
	assert_true(w.step.only_if_cheap);
	w.now.why = "too slow to link";
	assert_step(FG_STEP_REFUSED, FG_STEP_PAIRS, FG_STATE_DECIDING);
	assert_true(w.step.is_detail);
	assert_string_equal(w.step.text, "measured in the default layout only: too slow to link");
	assert_int_equal(w.step.pairs, 10);
}

FG_TEST_IN(a_pass_stops_at_the_first_look, set_up, tear_down)
{
	reach_the_first_look();
	measured(10, 0, 0.001);
	assert_step(FG_STEP_DONE, FG_STEP_STOP, FG_STATE_OVER);
	assert_int_equal(w.machine.look.outcome, FG_OUTCOME_PASS);
}

FG_TEST_IN(an_undecided_run_looks_again_until_nothing_is_left, set_up, tear_down)
{
	reach_the_first_look();
	measured(10, 0.01, 0.05);
	assert_step(FG_STEP_DONE, FG_STEP_PAIRS, FG_STATE_DECIDING);
	assert_int_equal(w.step.pairs, 15);
	assert_step(FG_STEP_EXHAUSTED, FG_STEP_STOP, FG_STATE_OVER);
	assert_false(w.machine.is_open);
}

/* Measures the first pair of a benchmark of a second per pair, with a budget of `budget_s`. */
static void reach_the_second_pair(int64_t budget_s)
{
	w.made.measure.layouts = FG_LAYOUTS_NEVER;
	w.made.measure.budget_ns = budget_s * 1000000000;
	assert_step(FG_STEP_DONE, FG_STEP_PAIRS, FG_STATE_DECIDING);
	assert_int_equal(w.step.pairs, 1);
	measured(1, 0.1, 0.001);
	w.now.pairs = 1;
	w.now.pair_ns = 1000000000;
}

/* At alpha 1 % seven pairs can decide, and fewer than five say nothing. */
FG_TEST_IN(a_budget_that_is_too_short_for_any_statement_is_not_spent, set_up, tear_down)
{
	reach_the_second_pair(4);
	assert_step(FG_STEP_DONE, FG_STEP_SAY, FG_STATE_OVER);
	assert_string_equal(
		w.step.text,
		"not measured further: a pair takes 1.00 s, and a budget of 4.00 s is too short "
		"for any decision; a `--budget` of 8.40 s is enough for the 7 pairs that can "
		"decide");
	assert_step(FG_STEP_DONE, FG_STEP_STOP, FG_STATE_OVER);
}

FG_TEST_IN(a_budget_that_ends_just_before_a_verdict_is_exceeded, set_up, tear_down)
{
	static const struct {
		size_t pairs;
		bool until_sure;
		bool exceeds;
	} rows[] = {
		{4, false, false}, {5, false, true}, {6, false, true},
		{7, false, false}, {5, true, false},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		reach_the_second_pair(5);
		assert_step(FG_STEP_DONE, FG_STEP_PAIRS, FG_STATE_DECIDING);
		assert_int_equal(w.step.pairs, 10);
		assert_false(w.step.exceeds_budget);
		measured(rows[i].pairs - 1, 0.1, 0.001);
		w.now.pairs = (unsigned)rows[i].pairs;
		w.made.measure.until_sure = rows[i].until_sure;
		assert_step(FG_STEP_EXHAUSTED, rows[i].exceeds ? FG_STEP_PAIRS : FG_STEP_STOP,
			    rows[i].exceeds ? FG_STATE_FINISHING : FG_STATE_OVER);
		assert_int_equal(w.step.exceeds_budget, rows[i].exceeds);
		if (rows[i].exceeds) {
			assert_int_equal(w.step.pairs, 7);
			assert_step(FG_STEP_DONE, FG_STEP_STOP, FG_STATE_OVER);
		}
		(void)tear_down(state);
		(void)set_up(state);
	}
}

FG_TEST_IN(a_limit_of_pairs_that_decides_nothing_is_kept, set_up, tear_down)
{
	w.made.measure.layouts = FG_LAYOUTS_NEVER;
	w.made.measure.budget_ns = 1;
	w.made.measure.min_pairs = w.made.measure.max_pairs = 6;
	assert_step(FG_STEP_DONE, FG_STEP_PAIRS, FG_STATE_DECIDING);
	assert_int_equal(w.step.pairs, 6);
}

FG_TEST_IN(a_schedule_that_was_given_up_begins_its_looks_anew, set_up, tear_down)
{
	reach_the_first_look();
	measured(4, 0, 0.01);
	set_aside(FG_ASIDE_GIVEN_UP);
	assert_step(FG_STEP_GIVEN_UP, FG_STEP_PAIRS, FG_STATE_DECIDING);
	assert_int_equal(w.step.pairs, 10);
}

FG_TEST_IN(until_sure_stays_open_when_the_budget_ends, set_up, tear_down)
{
	w.made.measure.until_sure = true;
	w.made.measure.layouts = FG_LAYOUTS_NEVER;
	assert_step(FG_STEP_DONE, FG_STEP_PAIRS, FG_STATE_DECIDING);
	measured(10, 0.01, 0.05);
	assert_step(FG_STEP_EXHAUSTED, FG_STEP_STOP, FG_STATE_OVER);
	assert_true(w.machine.is_open);
}

FG_TEST_IN(a_failure_as_linked_is_measured_again_in_other_places, set_up, tear_down)
{
	reach_the_first_look();
	measured(10, 0.05, 0.001);
	assert_step(FG_STEP_DONE, FG_STEP_LAYOUTS, FG_STATE_VARYING);
	set_aside(FG_ASIDE_ONE_LAYOUT);
	linked("cpu_time");
	assert_step(FG_STEP_DONE, FG_STEP_PAIRS, FG_STATE_IN_LAYOUTS);
	assert_non_null(strstr(w.step.text, "measuring again in 4 layouts"));
	measured(10, 0.0, 0.001);
	/*
	 * The program was also measured in the default layout, so nothing is in doubt; no function
	 * is named.
	 */
	assert_step(FG_STEP_DONE, FG_STEP_STOP, FG_STATE_OVER);
}

FG_TEST_IN(a_failure_whose_places_cannot_be_linked_stands, set_up, tear_down)
{
	reach_the_first_look();
	measured(10, 0.05, 0.001);
	assert_step(FG_STEP_DONE, FG_STEP_LAYOUTS, FG_STATE_VARYING);
	w.now.why = "not linked by ld";
	assert_step(FG_STEP_REFUSED, FG_STEP_SAY, FG_STATE_EXPLAINING);
	assert_non_null(strstr(w.step.text, "not linked by ld"));
	assert_step(FG_STEP_DONE, FG_STEP_STOP, FG_STATE_OVER);
	assert_int_equal(w.machine.look.outcome, FG_OUTCOME_REGRESSION);
}

FG_TEST_IN(a_slowdown_beyond_placement_needs_no_other_places, set_up, tear_down)
{
	reach_the_first_look();
	measured(10, 0.6, 0.001);
	assert_step(FG_STEP_DONE, FG_STEP_STOP, FG_STATE_OVER);
}

/*
 * Adds eighty samples of one function per repetition: a change of 5 % is not significant in ten
 * pairs.
 */
static void sample(struct fg_profile_set *set)
{
	uint32_t node = 0;

	fg_profile_set_init(set, "parse");
	node = fg_made_call_path(set, 0, "parse", "find");
	for (uint32_t i = 0; i < 20; i++) {
		struct fg_profile_row *row = fg_profile_set_add_row(set, 1);

		row->arm = i % 2;
		row->pair = i / 2;
		row->nodes[0] = node;
		row->samples[0] = 80;
	}
}

FG_TEST_IN(a_failure_is_measured_until_its_function_can_be_named, set_up, tear_down)
{
	struct fg_profile_set set;
	sample(&set);
	w.now.profile = &set;
	w.made.measure.layouts = FG_LAYOUTS_NEVER;
	assert_step(FG_STEP_DONE, FG_STEP_PAIRS, FG_STATE_DECIDING);
	measured(10, 0.05, 0.001);
	assert_step(FG_STEP_DONE, FG_STEP_PAIRS, FG_STATE_NAMING);
	assert_int_equal(w.step.pairs, 40);
	assert_string_equal(w.step.text,
			    "slower; measuring up to 30 more pairs to find the slower function");
	/* The schedule is given up meanwhile, so the verdict must be computed again. */
	set_aside(FG_ASIDE_GIVEN_UP);
	assert_step(FG_STEP_GIVEN_UP, FG_STEP_PAIRS, FG_STATE_LAST);
	measured(10, 0.05, 0.001);
	assert_step(FG_STEP_DONE, FG_STEP_STOP, FG_STATE_OVER);
	fg_profile_set_release(&set);
}

FG_TEST_IN(naming_ends_with_its_pairs, set_up, tear_down)
{
	struct fg_profile_set set;
	sample(&set);
	w.now.profile = &set;
	w.made.measure.layouts = FG_LAYOUTS_NEVER;
	assert_step(FG_STEP_DONE, FG_STEP_PAIRS, FG_STATE_DECIDING);
	measured(10, 0.05, 0.001);
	assert_step(FG_STEP_DONE, FG_STEP_PAIRS, FG_STATE_NAMING);
	assert_step(FG_STEP_DONE, FG_STEP_STOP, FG_STATE_OVER);
	fg_profile_set_release(&set);
}

FG_TEST_IN(nothing_follows_a_benchmark_that_failed_or_was_interrupted, set_up, tear_down)
{
	static const enum fg_step_state states[] = {FG_STATE_ALONE, FG_STATE_DECIDING,
						    FG_STATE_IN_LAYOUTS, FG_STATE_NAMING,
						    FG_STATE_LAST};

	for (size_t i = 0; i < FG_ARRAY_SIZE(states); i++) {
		w.machine.state = states[i];
		assert_step(FG_STEP_ENDED, FG_STEP_STOP, FG_STATE_OVER);
	}
}

FG_TEST_IN(cases_of_a_harness_are_decided_together_and_not_varied, set_up, tear_down)
{
	w.made.measure.layouts = FG_LAYOUTS_AUTO;
	w.series[1] = fg_made_benchmark(&w.made, "print", 10, 0.01, 0.05);
	w.now.series_count = 2;
	measured(10, 0.05, 0.001);
	w.machine.state = FG_STATE_DECIDING;
	assert_step(FG_STEP_DONE, FG_STEP_PAIRS, FG_STATE_DECIDING);
	assert_int_equal(w.step.pairs, 15);
	w.made.run.series[1].identical = true;
	assert_step(FG_STEP_DONE, FG_STEP_STOP, FG_STATE_OVER);
}
