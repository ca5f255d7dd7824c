// SPDX-License-Identifier: Apache-2.0
#include "base/random.h"
#include "gate/bisect.h"
#include "tests/support/fg_test.h"

#include <math.h>

#define COMMITS 64
#define NOISE   0.01

/* A simulated history: the level of each commit, and the noise of its measurements. */
struct history {
	double level[COMMITS];
	bool is_broken[COMMITS];
	double wild; /* share of pairs that are disturbed */
	struct fg_random random;
	struct fg_bisect bisect;
	unsigned visits;
};

static void begin(struct history *history, uint64_t seed)
{
	*history = (struct history){
		.bisect = {.commits = fg_xcalloc(COMMITS, sizeof(struct fg_bisect_commit)),
			   .count = COMMITS,
			   .build_seconds = 10,
			   .visit_seconds = 1,
			   .pair_seconds = 1}};
	fg_random_seed(&history->random, seed);
	for (size_t i = 0; i < COMMITS; i++)
		history->bisect.commits[i].weight = 1;
}

static void rise(struct history *history, size_t first, double by)
{
	for (size_t i = first; i < COMMITS; i++)
		history->level[i] += by;
}

static double pair_of(struct history *history, size_t commit)
{
	const bool is_wild = fg_random_uniform(&history->random) < history->wild;

	return history->level[commit] +
	       NOISE * (is_wild ? 20 : 1) * fg_random_normal(&history->random);
}

static void add_pairs(struct history *history, size_t commit, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		fg_bisect_add(&history->bisect.commits[commit], pair_of(history, commit));
}

static void take(struct history *history, const struct fg_bisect_look *look)
{
	struct fg_bisect_commit *next = &history->bisect.commits[look->next];

	history->visits++;
	next->is_built = true;
	if (history->is_broken[look->next])
		next->is_unmeasured = true;
	else
		add_pairs(history, look->next, look->pairs);
}

/* Searches to the end. The caller releases the search and the look. */
static struct fg_bisect_look find(struct history *history)
{
	struct fg_bisect_look look = {0};

	add_pairs(history, COMMITS - 1, history->bisect.is_exact ? 1 : 24);
	history->bisect.commits[COMMITS - 1].is_built = true;
	for (;;) {
		assert_int_equal(fg_bisect_look(&history->bisect, &look, NULL), FG_OK);
		if (look.state != FG_BISECT_MEASURE || history->visits > 500)
			return look;
		take(history, &look);
		fg_bisect_look_release(&look);
	}
}

static void end(struct history *history, struct fg_bisect_look *look)
{
	fg_bisect_look_release(look);
	fg_bisect_release(&history->bisect);
}

FG_TEST(one_culprit_is_found_in_noise_as_large_as_it)
{
	unsigned right = 0;

	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct history history;
		struct fg_bisect_look look;
		const size_t culprit = (size_t)(seed * 3);

		begin(&history, seed);
		rise(&history, culprit, NOISE);
		look = find(&history);
		right += look.state == FG_BISECT_FOUND && look.steps[0].last == culprit;
		assert_true(look.explained >= 0.7);
		end(&history, &look);
	}
	assert_true(right >= 18);
}

FG_TEST(the_probabilities_add_up_to_one)
{
	struct history history;
	struct fg_bisect_look look;
	double sum = 0;

	begin(&history, 5);
	rise(&history, 20, 0.02);
	add_pairs(&history, COMMITS - 1, 24);
	assert_int_equal(fg_bisect_look(&history.bisect, &look, NULL), FG_OK);
	for (size_t i = 0; i < COMMITS; i++)
		sum += look.probability[i];
	assert_true(fabs(sum - 1) < 1e-9);
	assert_true(look.left > 50);
	assert_true(fabs(look.whole - 0.02) < 0.01);
	end(&history, &look);
}

FG_TEST(two_culprits_are_both_named)
{
	struct history history;
	struct fg_bisect_look look;

	begin(&history, 7);
	rise(&history, 15, 0.03);
	rise(&history, 44, 0.03);
	look = find(&history);
	assert_int_equal(look.state, FG_BISECT_FOUND);
	assert_int_equal(look.step_count, 2);
	assert_int_equal(look.steps[0].last, 15);
	assert_int_equal(look.steps[1].last, 44);
	assert_true(fabs(look.steps[0].size - 0.03) < 0.012);
	end(&history, &look);
}

FG_TEST(a_small_step_next_to_a_large_one_does_not_prolong_the_search)
{
	struct history history;
	struct fg_bisect_look look;

	begin(&history, 9);
	rise(&history, 10, 0.005);
	rise(&history, 40, 0.05);
	look = find(&history);
	assert_int_equal(look.state, FG_BISECT_FOUND);
	assert_int_equal(look.step_count, 1);
	assert_int_equal(look.steps[0].last, 40);
	end(&history, &look);
}

/* Slower at 10, reverted at 30, slower again at 50: the last change counts. */
FG_TEST(a_slowdown_that_was_reverted_is_not_blamed)
{
	struct history history;
	struct fg_bisect_look look;

	begin(&history, 11);
	rise(&history, 10, 0.04);
	rise(&history, 30, -0.04);
	rise(&history, 50, 0.04);
	look = find(&history);
	assert_int_equal(look.state, FG_BISECT_FOUND);
	assert_int_equal(look.steps[look.step_count - 1].last, 50);
	for (size_t i = 0; i < look.step_count; i++)
		assert_int_not_equal(look.steps[i].last, 10);
	end(&history, &look);
}

/* Every commit costs a little: no single commit is to blame. */
FG_TEST(a_drift_over_all_commits_names_none)
{
	struct history history;
	struct fg_bisect_look look;

	begin(&history, 13);
	for (size_t i = 0; i < COMMITS; i++)
		rise(&history, i, 0.03 / COMMITS);
	look = find(&history);
	assert_int_equal(look.state, FG_BISECT_OPEN);
	assert_true(look.explained < 0.7);
	assert_true(look.left > 2);
	end(&history, &look);
}

FG_TEST(commits_that_do_not_build_are_one_with_the_next)
{
	struct history history;
	struct fg_bisect_look look;

	begin(&history, 15);
	rise(&history, 31, 0.05);
	history.is_broken[30] = true;
	history.is_broken[31] = true;
	look = find(&history);
	assert_int_equal(look.state, FG_BISECT_FOUND);
	assert_int_equal(look.steps[0].last, 32);
	assert_true(look.steps[0].first <= 31);
	end(&history, &look);
}

FG_TEST(commits_with_the_same_code_share_their_pairs)
{
	struct history history;
	struct fg_bisect_look look;

	begin(&history, 17);
	rise(&history, 20, 0.04);
	/* code changes only at every tenth commit */
	for (size_t i = 0; i < COMMITS; i++)
		history.bisect.commits[i].is_same = i % 10 != 0;
	look = find(&history);
	assert_int_equal(look.state, FG_BISECT_FOUND);
	assert_int_equal(look.steps[0].last, 20);
	assert_int_equal(look.steps[0].first, 20);
	assert_true(history.visits <= 8);
	end(&history, &look);
}

FG_TEST(wild_pairs_do_not_lead_astray)
{
	struct history history;
	struct fg_bisect_look look;

	begin(&history, 19);
	history.wild = 0.05;
	rise(&history, 33, 0.03);
	look = find(&history);
	assert_int_equal(look.state, FG_BISECT_FOUND);
	assert_int_equal(look.steps[0].last, 33);
	end(&history, &look);
}

FG_TEST(an_exact_measure_takes_one_count_per_halving)
{
	struct history history;
	struct fg_bisect_look look;

	begin(&history, 21);
	history.bisect.is_exact = true;
	rise(&history, 37, 1.0); /* far above the simulated noise */
	look = find(&history);
	assert_int_equal(look.state, FG_BISECT_FOUND);
	assert_int_equal(look.steps[0].last, 37);
	assert_true(history.visits <= 7);
	end(&history, &look);
}

FG_TEST(a_likely_commit_is_measured_first)
{
	struct history history;
	struct fg_bisect_look look;

	begin(&history, 23);
	rise(&history, 50, 0.05);
	history.bisect.commits[50].weight = 500;
	add_pairs(&history, COMMITS - 1, 24);
	assert_int_equal(fg_bisect_look(&history.bisect, &look, NULL), FG_OK);
	assert_true(look.next == 49 || look.next == 50);
	end(&history, &look);
}

/*
 * Half of the range is known well: the search makes a cheap build in the other half, but puts off a
 * costly one.
 */
FG_TEST(a_costly_build_waits_for_pairs_that_need_none)
{
	static const double build_seconds[] = {0.01, 1e6};

	for (size_t i = 0; i < 2; i++) {
		struct history history;
		struct fg_bisect_look look;

		begin(&history, 24);
		history.bisect.build_seconds = build_seconds[i];
		rise(&history, 20, NOISE);
		add_pairs(&history, COMMITS - 1, 24);
		add_pairs(&history, 31, 12);
		history.bisect.commits[COMMITS - 1].is_built = true;
		history.bisect.commits[31].is_built = true;
		assert_int_equal(fg_bisect_look(&history.bisect, &look, NULL), FG_OK);
		assert_int_equal(look.state, FG_BISECT_MEASURE);
		assert_int_equal(history.bisect.commits[look.next].is_built, i == 1);
		end(&history, &look);
	}
}

FG_TEST(ends_that_do_not_differ_cannot_be_searched)
{
	struct history history;
	struct fg_bisect_look look = {0};
	struct fg_error err = {0};

	begin(&history, 25);
	assert_int_equal(fg_bisect_look(&history.bisect, &look, &err), FG_EINVAL);
	for (unsigned i = 0; i < 12; i++)
		fg_bisect_add(&history.bisect.commits[COMMITS - 1], -0.01);
	assert_false(fg_bisect_is_worse(&history.bisect.commits[COMMITS - 1]));
	assert_int_equal(fg_bisect_look(&history.bisect, &look, &err), FG_EINVAL);
	assert_non_null(strstr(err.message, "not slower"));
	end(&history, &look);
}

FG_TEST(only_counting_pairs_of_the_metric_are_taken)
{
	struct fg_bisect_commit commit = {0};
	struct fg_run run;
	struct fg_series *series = NULL;

	fg_run_init(&run);
	series = fg_run_add_series(&run, "parse");
	for (uint32_t i = 0; i < 8; i++) {
		struct fg_repetition *r = fg_series_add_repetition(series);

		r->pair = i / 2;
		r->arm = (uint8_t)(i % 2);
		r->aside = i < 2 ? FG_ASIDE_WARMUP : 0;
		r->values[FG_METRIC_CPU_TIME] = i % 2 ? 1.1e8 : 1e8;
	}
	fg_bisect_take_metric(&commit, series, "cpu_time");
	fg_bisect_take_metric(&commit, series, "no_such_metric");
	assert_int_equal(commit.pair_count, 3);
	assert_true(fabs(commit.differences[0] - log(1.1)) < 1e-9);
	assert_true(fg_bisect_is_worse(&commit));
	free(commit.differences);
	fg_run_release(&run);
}

static void add_row(struct fg_profile_set *set, uint8_t arm, const uint32_t nodes[2],
		    const double values[2])
{
	struct fg_profile_row *row = fg_profile_set_add_row(set, 2);

	row->arm = arm;
	row->pair = 3;
	for (size_t i = 0; i < 2; i++) {
		row->nodes[i] = nodes[i];
		row->values[i] = values[i];
	}
}

FG_TEST(the_cost_of_a_function_includes_what_it_calls)
{
	const struct fg_profile_function outer = {.name = "parse", .library = "p"};
	const struct fg_profile_function inner = {.name = "read", .library = "p"};
	struct fg_profile_set set;
	struct fg_bisect_commit commit = {0};
	uint32_t nodes[2];

	fg_profile_set_init(&set, "p");
	nodes[0] = fg_profile_set_node(&set, 0, fg_profile_set_function(&set, &outer));
	nodes[1] = fg_profile_set_node(&set, nodes[0], fg_profile_set_function(&set, &inner));
	add_row(&set, FG_ARM_BASELINE, nodes, (const double[]){1e6, 1e6});
	add_row(&set, FG_ARM_CANDIDATE, nodes, (const double[]){1e6, 3e6});
	fg_bisect_take_costs(&commit,
			     &(struct fg_bisect_cost){.profile = &set, .function = "parse"});
	fg_bisect_take_costs(&commit,
			     &(struct fg_bisect_cost){.profile = &set, .function = "other"});
	assert_int_equal(commit.pair_count, 1);
	assert_true(fabs(commit.differences[0] - log(2)) < 1e-9);
	free(commit.differences);
	fg_profile_set_release(&set);
}
