// SPDX-License-Identifier: Apache-2.0
/* A failed gate is an open change from its first failed run on. */
#include "perfdb/server/watcher.h"
#include "tests/support/fg_test.h"

#include <math.h>

static struct fg_history_point points[16];
static struct fg_history history = {.points = points};
static struct fg_watched watched;

/* Adds one more run of the branch, on a baseline of 100 ns. */
static void ran(const char *branch, const char *base_commit, const char *outcome, double ratio)
{
	struct fg_history_point *point = &points[history.count];

	*point = (struct fg_history_point){.branch = branch,
					   .base_commit = base_commit,
					   .outcome = outcome,
					   .baseline = 100,
					   .candidate = 100 * ratio,
					   .ratio = ratio,
					   .low = ratio - 0.01,
					   .high = ratio + 0.01};
	(void)snprintf(point->run, sizeof(point->run), "run %zu", history.count++);
}

static void found_in_history(const char *run, double before, double after)
{
	struct fg_watched_change *change = &watched.changes[watched.count++];

	*change = (struct fg_watched_change){.before = before, .after = after};
	(void)snprintf(change->run, sizeof(change->run), "%s", run);
}

static int forget(void **state)
{
	(void)state;
	history.count = 0;
	watched = (struct fg_watched){0};
	return 0;
}

FG_TEST_IN(a_failed_gate_opens_a_change_at_once, forget, NULL)
{
	ran("main", "a", "pass", 1);
	ran("main", "b", "regression", 1.1);
	fg_gate_changes_add(&history, &watched);
	assert_int_equal(watched.count, 1);
	assert_string_equal(watched.changes[0].run, "run 1");
	assert_string_equal(watched.changes[0].last, "run 0");
	assert_true(watched.changes[0].from_gate);
	assert_false(watched.changes[0].is_confirmed);
	assert_true(fabs(watched.changes[0].after / watched.changes[0].before - 1.1) < 1e-9);
	assert_string_equal(watched.changes[0].reverted_by, "");
}

FG_TEST_IN(the_next_commits_pass_leaves_it_open, forget, NULL)
{
	ran("main", "a", "regression", 1.1);
	ran("main", "b", "pass", 1);
	fg_gate_changes_add(&history, &watched);
	assert_int_equal(watched.count, 1);
	assert_string_equal(watched.changes[0].reverted_by, "");
}

FG_TEST_IN(a_branch_that_is_measured_again_is_one_change, forget, NULL)
{
	ran("feature", "a", "regression", 1.1);
	ran("other", "a", "regression", 1.2);
	ran("feature", "a", "regression", 1.12);
	fg_gate_changes_add(&history, &watched);
	assert_int_equal(watched.count, 2);
	assert_string_equal(watched.changes[0].run, "run 1");
	assert_string_equal(watched.changes[1].run, "run 2");
}

FG_TEST_IN(a_fixed_branch_closes_its_change, forget, NULL)
{
	ran("feature", "a", "regression", 1.1);
	ran("feature", "a", "pass", 1);
	fg_gate_changes_add(&history, &watched);
	assert_int_equal(watched.count, 1);
	assert_string_equal(watched.changes[0].reverted_by, "run 1");
}

FG_TEST_IN(an_improvement_of_about_its_size_takes_it_back, forget, NULL)
{
	ran("main", "a", "regression", 1.1);
	ran("main", "b", "improvement", 0.98);
	ran("main", "c", "improvement", 0.92);
	fg_gate_changes_add(&history, &watched);
	assert_int_equal(watched.count, 1);
	assert_string_equal(watched.changes[0].reverted_by, "run 2");
}

FG_TEST_IN(a_change_point_nearby_confirms_and_does_not_double, forget, NULL)
{
	ran("main", "a", "pass", 1);
	ran("main", "b", "regression", 1.1);
	for (int i = 0; i < 4; i++)
		ran("main", "c", "pass", 1);
	found_in_history("run 2", 100, 111);
	fg_gate_changes_add(&history, &watched);
	assert_int_equal(watched.count, 1);
	assert_string_equal(watched.changes[0].run, "run 1");
	assert_true(watched.changes[0].is_confirmed);
}

FG_TEST_IN(other_change_points_stand_for_themselves, forget, NULL)
{
	ran("main", "a", "regression", 1.1);
	for (int i = 0; i < 9; i++)
		ran("main", "c", "pass", 1);
	found_in_history("run 1", 111, 100);
	found_in_history("run 9", 100, 111);
	fg_gate_changes_add(&history, &watched);
	assert_int_equal(watched.count, 3);
	assert_true(watched.changes[0].from_gate);
	assert_false(watched.changes[0].is_confirmed);
	assert_string_equal(watched.changes[1].run, "run 1");
	assert_string_equal(watched.changes[2].run, "run 9");
}

FG_TEST_IN(the_newest_ones_stay, forget, NULL)
{
	for (int i = 0; i < 12; i++)
		ran("main", NULL, "regression", 1.1);
	found_in_history("run 0", 100, 90);
	fg_gate_changes_add(&history, &watched);
	assert_int_equal(watched.count, FG_WATCHED_CHANGES);
	assert_string_equal(watched.changes[0].run, "run 4");
	assert_string_equal(watched.changes[FG_WATCHED_CHANGES - 1].run, "run 11");
}
