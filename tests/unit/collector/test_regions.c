// SPDX-License-Identifier: Apache-2.0
/*
 * The region of a thread at an earlier time, when a perf event of the kernel sampled it. The
 * collector is linked into this program and off.
 */
#include "collector/sampler/regions.h"
#include "collector/sampler/writer.h"
#include "tests/support/fg_test.h"

#include <time.h>

enum {
	OUTER = 7,
	INNER = 9,
};

static struct fg_walk_memory memory;
static _Atomic uint32_t alive = 1;
static char ring[1];

static struct fg_thread thread_in(uint32_t region, bool has_ring)
{
	return (struct fg_thread){
		.stack = &memory,
		.regions = {.current = region},
		.clocks = {.kernel_ring = has_ring ? ring : NULL, .kernel_stacks = has_ring}};
}

FG_TEST(the_region_of_a_moment_is_the_one_of_that_time)
{
	struct fg_thread thread = thread_in(3, true);

	assert_int_equal(fg_region_at(&thread, 50), 3);
	thread.regions.step[0] = (struct fg_region_step){.time_ns = 100, .before = 1};
	thread.regions.step[1] = (struct fg_region_step){.time_ns = 200, .before = 2};
	thread.regions.steps = 2;
	assert_int_equal(fg_region_at(&thread, 99), 1);
	assert_int_equal(fg_region_at(&thread, 100), 2);
	assert_int_equal(fg_region_at(&thread, 199), 2);
	assert_int_equal(fg_region_at(&thread, 200), 3);
}

/*
 * Only the last of many steps are kept. For an earlier time, the region before the oldest kept
 * step is returned.
 */
FG_TEST(the_last_steps_are_kept)
{
	const uint32_t steps = 3 * FG_REGION_STEPS + 5;
	struct fg_thread thread = thread_in(steps, true);

	for (uint32_t i = 0; i < steps; i++)
		thread.regions.step[i % FG_REGION_STEPS] =
			(struct fg_region_step){.time_ns = 100 * (i + 1), .before = i};
	thread.regions.steps = steps;
	for (uint32_t i = steps - FG_REGION_STEPS; i < steps; i++) {
		assert_int_equal(fg_region_at(&thread, 100 * (i + 1) - 1), i);
		assert_int_equal(fg_region_at(&thread, 100 * (i + 1)), i + 1);
	}
	assert_int_equal(fg_region_at(&thread, 1), steps - FG_REGION_STEPS);
}

static uint32_t leave_region(struct fg_thread *thread)
{
	const uint64_t before_ns = fg_clock_ns(CLOCK_MONOTONIC);

	fg_self = thread;
	fg_g.alive = &alive;
	thread->regions.depth = 1;
	thread->regions.outer[0] = OUTER;
	thread->regions.begin_ns[0] = 1;
	fg_mark_region_end();
	fg_g.alive = NULL;
	fg_self = NULL;
	assert_int_equal(thread->regions.current, OUTER);
	assert_int_equal(fg_region_at(thread, UINT64_MAX), OUTER);
	return fg_region_at(thread, before_ns - 1);
}

FG_TEST(a_mark_is_a_step_while_the_kernels_event_looks)
{
	struct fg_thread looked_at = thread_in(INNER, true);
	struct fg_thread other = thread_in(INNER, false);

	assert_int_equal(leave_region(&looked_at), INNER);
	assert_int_equal(leave_region(&other), OUTER);
	assert_int_equal(other.regions.steps, 0);
}
