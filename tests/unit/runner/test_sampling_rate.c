// SPDX-License-Identifier: Apache-2.0
/* The rate of a benchmark, from the traces of its warm-up. */
#include "runner/schedule/sampling_rate.h"
#include "tests/support/fg_test.h"
#include "tests/support/scratch.h"

#include <math.h>
#include <string.h>

static void write_trace(const struct fg_scratch *folder, const char *name, const char *magic,
			uint64_t end)
{
	struct fg_trace_header header = {.samples = 100,
					 .startup_ns = 500000,
					 .user_ns = 90000000,
					 .system_ns = 10000000,
					 .end = end,
					 .end_user_ns = 150000000,
					 .end_system_ns = 50000000,
					 .end_switches = 400,
					 .signal_ns = 40000,
					 .handler_cpu_ns = 4000,
					 .switch_ns = 1000,
					 .kernel_interrupts = 20};

	memcpy(header.magic, magic, sizeof(header.magic));
	fg_scratch_write(folder, name, &header, sizeof(header));
}

FG_TEST(traces_contain_the_cost_of_samples_and_of_the_start)
{
	struct fg_sample_cost cost = {0};
	struct fg_sampling sampling = {0};
	struct fg_scratch scratch;

	fg_scratch_init(&scratch);
	write_trace(&scratch, "1.0.fgtrace", FG_TRACE_MAGIC, FG_END_EXIT);
	write_trace(&scratch, "2.0.fgtrace", FG_TRACE_MAGIC, FG_END_UNKNOWN);
	write_trace(&scratch, "notes", "notatrac", FG_END_EXIT);
	fg_sample_costs_add(scratch.path, &cost);
	assert_int_equal(cost.samples, 200);
	assert_int_equal(cost.cpu_ns, 300000000);
	assert_int_equal(cost.switches, 400); /* a killed process did not report */
	fg_sampling_settle(&cost, 0.03, &sampling);
	/* an interrupt without a signal costs half as much as one with a signal */
	assert_true(sampling.signal_ns == 44000);
	assert_true(sampling.handler_ns == 4000);
	assert_true(sampling.switch_ns == 1000);
	/* half as much again for loading and ending */
	assert_true(fabs(sampling.start_share - 1.5 / 300) < 1e-9);
	assert_true(fabs(sampling.switches_hz - 400 / 0.3) < 1e-6);
	/* (3 % - 0.4 ms of 300 ms) at 48 us each; the start is added */
	assert_true(sampling.rate_hz == 597);
	assert_true(sampling.expected_cost <= 0.035 && sampling.expected_cost > 0.0349);
	fg_scratch_release(&scratch);
}

FG_TEST(without_samples_nothing_is_learned)
{
	const struct fg_sample_cost cost = {.start_ns = 500000};
	struct fg_sampling sampling = {.handler_ns = 7};

	fg_sampling_settle(&cost, 0.03, &sampling);
	assert_true(sampling.handler_ns == 7);
	assert_true(sampling.start_share == 0);
	assert_true(sampling.rate_hz == 125);
	assert_true(isnan(sampling.expected_cost));
}
