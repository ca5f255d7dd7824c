// SPDX-License-Identifier: Apache-2.0
/* Programs that ticks every 4 ms meet: in step with these, and at any time. */
#include "base/base.h"
#include "profile/tick_aliasing.h"
#include "tests/support/fg_test.h"

#include <stdlib.h>

enum {
	SAMPLES_MOST = 4000
};

static const uint64_t ms = 1000000;

struct machine {
	struct fg_trace trace;
	struct fg_trace_sample samples[SAMPLES_MOST];
	uint64_t tick_ns;
	uint64_t random;
};

static uint64_t draw(struct machine *m, uint64_t below)
{
	m->random = m->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (m->random >> 33) % below;
}

static struct machine *machine(uint64_t tick_ns)
{
	struct machine *m = fg_xcalloc(1, sizeof(*m));

	m->tick_ns = tick_ns;
	m->random = 20;
	m->trace.header.clock_system = FG_CLOCK_SYSTEM;
	m->trace.header.tick_ns = tick_ns;
	m->trace.thread_count = 2;
	m->trace.samples = m->samples;
	return m;
}

static void sample(struct machine *m, uint64_t time_ns, uint8_t clock, uint64_t weight_ns)
{
	if (m->trace.sample_count < SAMPLES_MOST)
		m->samples[m->trace.sample_count++] =
			(struct fg_trace_sample){.time_ns = time_ns,
						 .weight_ns = weight_ns,
						 .path = 1,
						 .thread = 1,
						 .clock = clock};
}

/* The thread is in the kernel throughout; ticks are offset by 1.1 ms. */
static void in_kernel(struct machine *m, uint64_t begin_ns, uint64_t end_ns)
{
	const uint64_t phase_ns = 1100000;
	uint64_t at_ns = (begin_ns - phase_ns) / m->tick_ns * m->tick_ns + phase_ns;

	for (at_ns += m->tick_ns; at_ns < end_ns; at_ns += m->tick_ns)
		sample(m, at_ns + draw(m, 20000), FG_CLOCK_SYSTEM, m->tick_ns);
}

/* Wakes every period, each time somewhat late, and works. */
static bool waking(uint64_t tick_ns, uint64_t period_ns, uint64_t late_ns, uint64_t work_ns,
		   uint64_t user_weight_ns)
{
	struct machine *m = machine(tick_ns);
	bool found = false;

	for (uint64_t i = 0; i < 300; i++) {
		const uint64_t begin_ns = 777000 * ms + i * period_ns + draw(m, late_ns);

		in_kernel(m, begin_ns, begin_ns + work_ns);
		sample(m, begin_ns, FG_CLOCK_PERF_USER, user_weight_ns);
	}
	found = fg_tick_aliasing_found(&m->trace);
	free(m);
	return found;
}

/* Works for a random time and sleeps for another. */
static bool at_any_time(uint64_t tick_ns, uint64_t work_ns, uint64_t sleep_ns, unsigned seed)
{
	struct machine *m = machine(tick_ns);
	uint64_t now_ns = 777000 * ms;
	bool found = false;

	m->random = seed;
	for (unsigned i = 0; i < 200; i++) {
		const uint64_t end_ns = now_ns + 1 + draw(m, 2 * work_ns);

		in_kernel(m, now_ns, end_ns);
		now_ns = end_ns + 1 + draw(m, 2 * sleep_ns);
	}
	found = fg_tick_aliasing_found(&m->trace);
	free(m);
	return found;
}

static void a_program_that_wakes_in_step_is_told(void **state)
{
	(void)state;
	assert_true(waking(4 * ms, 10 * ms, 50000, 2 * ms, 1));
	assert_true(waking(4 * ms, 10 * ms, 300000, 6 * ms, 1));
	assert_true(waking(4 * ms, 20 * ms, 50000, 6 * ms, 1));
	assert_true(waking(4 * ms, 100 * ms / 6, 50000, 6 * ms, 1));
	assert_true(waking(4 * ms, 12 * ms, 50000, 6 * ms, 1));
	assert_true(waking(1 * ms, 10 * ms, 50000, 3 * ms, 1));
	assert_true(waking(10 * ms, 20 * ms, 50000, 6 * ms, 1));
}

static void a_program_that_runs_at_any_time_is_not(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= 200; seed++) {
		assert_false(at_any_time(4 * ms, 2 * ms, 8 * ms, seed));
		assert_false(at_any_time(4 * ms, 40 * ms, 40 * ms, seed));
		assert_false(at_any_time(4 * ms, 400 * ms, 4 * ms, seed));
		assert_false(at_any_time(1 * ms, 3 * ms, 8 * ms, seed));
		assert_false(at_any_time(10 * ms, 8 * ms, 8 * ms, seed));
	}
	/* a period that is not a multiple of the tick, and one that is late by more than a tick */
	assert_false(waking(4 * ms, 10370000, 50000, 2 * ms, 1));
	assert_false(waking(4 * ms, 10 * ms, 9 * ms, 2 * ms, 1));
}

static void system_time_that_hardly_counts_is_passed_over(void **state)
{
	(void)state;
	assert_false(waking(4 * ms, 10 * ms, 50000, 2 * ms, 100 * ms));
}

static void only_ticks_can_be_in_step(void **state)
{
	struct machine *m = machine(4 * ms);

	(void)state;
	for (uint64_t i = 0; i < 300; i++)
		in_kernel(m, 7000 * ms + i * 10 * ms, 7002 * ms + i * 10 * ms);
	assert_true(fg_tick_aliasing_found(&m->trace));
	/* perf events of the kernel saw most system time, or there was little */
	m->trace.header.system_ns = 600 * ms;
	m->trace.header.kernel_ns = 590 * ms;
	assert_false(fg_tick_aliasing_found(&m->trace));
	m->trace.header.kernel_ns = 60 * ms;
	assert_true(fg_tick_aliasing_found(&m->trace));
	m->trace.header.clock_system = FG_CLOCK_PROBE;
	assert_false(fg_tick_aliasing_found(&m->trace));
	m->trace.header.clock_system = FG_CLOCK_SYSTEM;
	m->trace.header.tick_ns = 0;
	assert_false(fg_tick_aliasing_found(&m->trace));
	m->trace.header.tick_ns = 1;
	assert_false(fg_tick_aliasing_found(&m->trace));
	free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_program_that_wakes_in_step_is_told),
		cmocka_unit_test(a_program_that_runs_at_any_time_is_not),
		cmocka_unit_test(system_time_that_hardly_counts_is_passed_over),
		cmocka_unit_test(only_ticks_can_be_in_step),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
