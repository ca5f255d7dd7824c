// SPDX-License-Identifier: Apache-2.0
#include "base/random.h"
#include "gate/bisect.h"
#include "tests/support/fg_test.h"
#include "tests/unit/gate/made_run.h"

#include <math.h>

#define COMMITS 64
#define NOISE   0.01

/* A simulated history: the level of each commit, and the noise of its measurements. */
static struct history {
	double level[COMMITS];
	bool is_broken[COMMITS];
	double wild; /* share of pairs that are disturbed */
	struct fg_random random;
	struct fg_bisect bisect;
	unsigned visits;
} history;

static struct fg_bisect_look look;

static void begin(uint64_t seed)
{
	fg_bisect_look_release(&look);
	fg_bisect_release(&history.bisect);
	history = (struct history){
		.bisect = {.commits = fg_xcalloc(COMMITS, sizeof(struct fg_bisect_commit)),
			   .count = COMMITS,
			   .build_seconds = 10,
			   .visit_seconds = 1,
			   .pair_seconds = 1}};
	fg_random_seed(&history.random, seed);
	for (size_t i = 0; i < COMMITS; i++)
		history.bisect.commits[i].weight = 1;
}

static void rise(size_t first, double by)
{
	for (size_t i = first; i < COMMITS; i++)
		history.level[i] += by;
}

static double pair_of(size_t commit)
{
	const bool is_wild = fg_random_uniform(&history.random) < history.wild;

	return history.level[commit] +
	       NOISE * (is_wild ? 20 : 1) * fg_random_normal(&history.random);
}

static void add_pairs(size_t commit, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		fg_bisect_add(&history.bisect.commits[commit], pair_of(commit));
}

static void take(void)
{
	struct fg_bisect_commit *next = &history.bisect.commits[look.next];

	history.visits++;
	next->is_built = true;
	if (history.is_broken[look.next])
		next->is_unmeasured = true;
	else
		add_pairs(look.next, look.pairs);
}

/* Searches to the end. */
static void find(void)
{
	add_pairs(COMMITS - 1, history.bisect.is_exact ? 1 : 24);
	history.bisect.commits[COMMITS - 1].is_built = true;
	for (;;) {
		assert_int_equal(fg_bisect_look(&history.bisect, &look, NULL), FG_OK);
		if (look.state != FG_BISECT_MEASURE || history.visits > 500)
			return;
		take();
		fg_bisect_look_release(&look);
	}
}

FG_TEST(one_culprit_is_found_in_noise_as_large_as_it)
{
	unsigned right = 0;

	for (uint64_t seed = 1; seed <= 20; seed++) {
		const size_t culprit = (size_t)(seed * 3);

		begin(seed);
		rise(culprit, NOISE);
		find();
		right += look.state == FG_BISECT_FOUND && look.steps[0].last == culprit;
		assert_true(look.explained >= 0.7);
	}
	assert_true(right >= 18);
}

FG_TEST(the_probabilities_add_up_to_one)
{
	double sum = 0;

	begin(5);
	rise(20, 0.02);
	add_pairs(COMMITS - 1, 24);
	assert_int_equal(fg_bisect_look(&history.bisect, &look, NULL), FG_OK);
	for (size_t i = 0; i < COMMITS; i++)
		sum += look.probability[i];
	assert_true(fabs(sum - 1) < 1e-9);
	assert_true(look.left > 50);
	assert_true(fabs(look.whole - 0.02) < 0.01);
}

FG_TEST(what_made_the_history_slower_is_found)
{
	static const struct {
		const char *why;
		uint64_t seed;
		struct {
			size_t first;
			double by;
		} rises[2];
		double wild;
		size_t broken[2];
		size_t same_code; /* code changes only at multiples of this */
		bool is_exact;
		size_t first;    /* first commit of the first step, which may be the culprit */
		size_t found[2]; /* last commit of each step */
		unsigned visits; /* at most */
	} rows[] = {
		{.why = "two culprits",
		 .seed = 7,
		 .rises = {{15, 0.03}, {44, 0.03}},
		 .first = 15,
		 .found = {15, 44},
		 .visits = 100},
		{.why = "a small step next to a large one",
		 .seed = 9,
		 .rises = {{10, 0.005}, {40, 0.05}},
		 .first = 40,
		 .found = {40},
		 .visits = 100},
		{.why = "commits that do not build are one with the next",
		 .seed = 15,
		 .rises = {{31, 0.05}},
		 .broken = {30, 31},
		 .first = 30,
		 .found = {32},
		 .visits = 100},
		{.why = "commits with the same code share their pairs",
		 .seed = 17,
		 .rises = {{20, 0.04}},
		 .same_code = 10,
		 .first = 20,
		 .found = {20},
		 .visits = 8},
		{.why = "wild pairs",
		 .seed = 19,
		 .rises = {{33, 0.03}},
		 .wild = 0.05,
		 .first = 33,
		 .found = {33},
		 .visits = 100},
		{.why = "an exact measure takes one count per halving",
		 .seed = 21,
		 .rises = {{37, 1.0}}, /* far above the simulated noise */
		 .is_exact = true,
		 .first = 37,
		 .found = {37},
		 .visits = 7},
	};

	for (size_t r = 0; r < FG_ARRAY_SIZE(rows); r++) {
		begin(rows[r].seed);
		history.wild = rows[r].wild;
		history.bisect.is_exact = rows[r].is_exact;
		for (size_t i = 0; i < 2; i++) {
			rise(rows[r].rises[i].first, rows[r].rises[i].by);
			history.is_broken[rows[r].broken[i]] = rows[r].broken[i] > 0;
		}
		for (size_t i = 0; rows[r].same_code > 0 && i < COMMITS; i++)
			history.bisect.commits[i].is_same = i % rows[r].same_code != 0;
		find();
		if (look.state != FG_BISECT_FOUND || history.visits > rows[r].visits)
			fail_msg("%s: state %d, %u visits", rows[r].why, (int)look.state,
				 history.visits);
		assert_int_equal(look.steps[0].first, rows[r].first);
		assert_int_equal(look.step_count, rows[r].found[1] ? 2 : 1);
		for (size_t i = 0; i < look.step_count; i++)
			assert_int_equal(look.steps[i].last, rows[r].found[i]);
	}
}

/* Slower at 10, reverted at 30, slower again at 50: the last change counts. */
FG_TEST(a_slowdown_that_was_reverted_is_not_blamed)
{
	begin(11);
	rise(10, 0.04);
	rise(30, -0.04);
	rise(50, 0.04);
	find();
	assert_int_equal(look.state, FG_BISECT_FOUND);
	assert_int_equal(look.steps[look.step_count - 1].last, 50);
	assert_true(fabs(look.steps[look.step_count - 1].size - 0.04) < 0.012);
	for (size_t i = 0; i < look.step_count; i++)
		assert_int_not_equal(look.steps[i].last, 10);
}

/* Every commit costs a little: no single commit is to blame. */
FG_TEST(a_drift_over_all_commits_names_none)
{
	begin(13);
	for (size_t i = 0; i < COMMITS; i++)
		rise(i, 0.03 / COMMITS);
	find();
	assert_int_equal(look.state, FG_BISECT_OPEN);
	assert_true(look.explained < 0.7);
	assert_true(look.left > 2);
}

FG_TEST(a_likely_commit_is_measured_first)
{
	begin(23);
	rise(50, 0.05);
	history.bisect.commits[50].weight = 500;
	add_pairs(COMMITS - 1, 24);
	assert_int_equal(fg_bisect_look(&history.bisect, &look, NULL), FG_OK);
	assert_true(look.next == 49 || look.next == 50);
}

/*
 * Half of the range is known well: the search makes a cheap build in the other half, but puts off a
 * costly one.
 */
FG_TEST(a_costly_build_waits_for_pairs_that_need_none)
{
	static const double build_seconds[] = {0.01, 1e6};

	for (size_t i = 0; i < 2; i++) {
		begin(24);
		history.bisect.build_seconds = build_seconds[i];
		rise(20, NOISE);
		add_pairs(COMMITS - 1, 24);
		add_pairs(31, 12);
		history.bisect.commits[COMMITS - 1].is_built = true;
		history.bisect.commits[31].is_built = true;
		assert_int_equal(fg_bisect_look(&history.bisect, &look, NULL), FG_OK);
		assert_int_equal(look.state, FG_BISECT_MEASURE);
		assert_int_equal(history.bisect.commits[look.next].is_built, i == 1);
	}
}

FG_TEST(ends_that_do_not_differ_cannot_be_searched)
{
	struct fg_error err = {0};

	begin(25);
	assert_int_equal(fg_bisect_look(&history.bisect, &look, &err), FG_EINVAL);
	for (unsigned i = 0; i < 12; i++)
		fg_bisect_add(&history.bisect.commits[COMMITS - 1], -0.01);
	assert_false(fg_bisect_is_worse(&history.bisect.commits[COMMITS - 1]));
	assert_int_equal(fg_bisect_look(&history.bisect, &look, &err), FG_EINVAL);
	assert_non_null(strstr(err.message, "not slower"));
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
	struct fg_profile_set set;
	struct fg_bisect_commit commit = {0};
	uint32_t nodes[2];

	fg_profile_set_init(&set, "p");
	nodes[0] = fg_made_call_path(&set, 0, "p", "parse");
	nodes[1] = fg_made_call_path(&set, nodes[0], "p", "read");
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
