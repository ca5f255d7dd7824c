// SPDX-License-Identifier: Apache-2.0
/* How a budget becomes a rate, and what traces tell of their cost. */
#include "runner/schedule/sample_price.h"
#include "tests/support/fg_test.h"
#include "tests/support/scratch.h"
#include "trace/trace_format.h"

#include <math.h>
#include <string.h>

static void the_rate_is_the_highest_that_the_budget_allows(void **state)
{
	struct fg_sampling sampling = {.signal_ns = 47000, .handler_ns = 1500};

	(void)state;
	fg_sampling_settle(&sampling, 0.03);
	assert_true(sampling.rate_hz == 600);
	assert_true(fabs(sampling.expected_cost - 0.03) < 1e-9);
	assert_true(fg_sampling_cost(&sampling, 601) > 0.03);
}

static void the_start_of_the_collector_is_taken_off_the_budget(void **state)
{
	struct fg_sampling sampling = {.signal_ns = 47000, .handler_ns = 1500, .start_share = 0.01};

	(void)state;
	fg_sampling_settle(&sampling, 0.03);
	assert_true(sampling.rate_hz == 400);
	assert_true(fabs(sampling.expected_cost - 0.03) < 1e-9);
}

/* 2,000 switches a second, each 20 us dearer where the sampler's clock is always the next. */
static void context_switches_are_paid_for(void **state)
{
	struct fg_sampling sampling = {
		.signal_ns = 47000,
		.handler_ns = 1500,
		.switch_ns = 20000,
		.switches_hz = 2000,
	};
	struct fg_sampling without = sampling;

	(void)state;
	fg_sampling_settle(&sampling, 0.03);
	assert_true(sampling.rate_hz > FG_RATE_AUTO_LEAST_HZ && sampling.rate_hz < 600);
	assert_true(sampling.expected_cost <= 0.03);
	assert_true(fg_sampling_cost(&sampling, sampling.rate_hz + 1) > 0.03);
	without.switches_hz = 0;
	assert_true(fg_sampling_cost(&sampling, 1000) > fg_sampling_cost(&without, 1000) + 0.02);
	/* At a low rate the kernel's tick is nearly always first. */
	assert_true(fg_sampling_switch_ns(&sampling, 10) < 2000);
	assert_true(fg_sampling_switch_ns(&sampling, 4000) > 17000);
}

/* Eight in nine periods of CPU time: the second event's period is longer by an eighth. */
static void a_second_event_is_paid_for(void **state)
{
	const struct fg_trace_header header = {.period_ns = 1000000, .kernel_watched_ns = 9000000};
	struct fg_sampling sampling = {.signal_ns = 40000, .handler_ns = 5000};

	(void)state;
	assert_int_equal(fg_trace_kernel_interrupts(&header), 8);
	fg_sampling_settle(&sampling, 0.03);
	assert_true(sampling.rate_hz == 600);
	sampling.interrupts = 0.5;
	fg_sampling_settle(&sampling, 0.03);
	assert_true(sampling.rate_hz == 500);
}

static void a_rate_stays_within_its_bounds_and_says_when_it_costs_more(void **state)
{
	struct fg_sampling cheap = {.signal_ns = 1000, .handler_ns = 1000};
	struct fg_sampling dear = {.signal_ns = 1000000, .handler_ns = 1000};

	(void)state;
	fg_sampling_settle(&cheap, 0.03);
	fg_sampling_settle(&dear, 0.03);
	assert_true(cheap.rate_hz == FG_RATE_AUTO_MOST_HZ);
	assert_true(cheap.expected_cost < 0.03);
	assert_true(dear.rate_hz == FG_RATE_AUTO_LEAST_HZ);
	assert_true(dear.expected_cost > 0.03);
}

static void an_unseen_handler_is_assumed_and_an_unmeasured_signal_has_no_cost(void **state)
{
	struct fg_sampling sampling = {.signal_ns = 5000};

	(void)state;
	fg_sampling_settle(&sampling, 0.03);
	assert_true(sampling.rate_hz == 1000);
	sampling.signal_ns = 0;
	assert_true(isnan(fg_sampling_cost(&sampling, 1000)));
}

static void write_trace(const struct fg_scratch *folder, const char *name, const char *magic,
			uint64_t end)
{
	struct fg_trace_header header = {.samples = 100,
					 .handler_ns = 400000,
					 .startup_ns = 500000,
					 .user_ns = 90000000,
					 .system_ns = 10000000,
					 .end = end,
					 .end_user_ns = 150000000,
					 .end_system_ns = 50000000,
					 .end_switches = 400};

	memcpy(header.magic, magic, sizeof(header.magic));
	fg_scratch_write(folder, name, &header, sizeof(header));
}

static void traces_tell_what_handlers_and_the_start_took(void **state)
{
	struct fg_sample_costs costs = {0};
	struct fg_sampling sampling = {0};
	struct fg_scratch scratch;

	(void)state;
	fg_scratch_init(&scratch);
	write_trace(&scratch, "1.0.fgtrace", FG_TRACE_MAGIC, FG_END_EXIT);
	write_trace(&scratch, "2.0.fgtrace", FG_TRACE_MAGIC, FG_END_UNKNOWN);
	write_trace(&scratch, "notes", "notatrac", FG_END_EXIT);
	fg_sample_costs_add(scratch.path, &costs);
	assert_int_equal(costs.samples, 200);
	assert_int_equal(costs.cpu_ns, 300000000);
	assert_int_equal(costs.switches, 400); /* a process that was killed did not say */
	fg_sample_costs_learn(&costs, &sampling);
	assert_true(sampling.handler_ns == 4000);
	/* half as much again for loading, and for the end */
	assert_true(fabs(sampling.start_share - 1.5 / 300) < 1e-9);
	assert_true(fabs(sampling.switches_hz - 400 / 0.3) < 1e-6);
	fg_scratch_release(&scratch);
}

static void a_handler_that_lost_its_cpu_is_not_believed(void **state)
{
	const struct fg_sample_costs costs = {
		.samples = 10, .handler_ns = 50000000, .cpu_ns = 1000000000};
	struct fg_sampling sampling = {0};

	(void)state;
	fg_sample_costs_learn(&costs, &sampling);
	assert_true(sampling.handler_ns == FG_HANDLER_MOST_NS);
}

static void without_samples_nothing_is_learned(void **state)
{
	const struct fg_sample_costs costs = {.startup_ns = 500000};
	struct fg_sampling sampling = {.handler_ns = 7};

	(void)state;
	fg_sample_costs_learn(&costs, &sampling);
	assert_true(sampling.handler_ns == 7);
	assert_true(sampling.start_share == 0);
}

static void a_signal_has_a_price_that_is_measured_once(void **state)
{
	const double price_ns = fg_sample_signal_ns();

	(void)state;
	assert_true(price_ns > 0);
	assert_true(fg_sample_signal_ns() == price_ns);
	assert_true(fg_sample_switch_ns() >= 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_rate_is_the_highest_that_the_budget_allows),
		cmocka_unit_test(context_switches_are_paid_for),
		cmocka_unit_test(a_second_event_is_paid_for),
		cmocka_unit_test(the_start_of_the_collector_is_taken_off_the_budget),
		cmocka_unit_test(a_rate_stays_within_its_bounds_and_says_when_it_costs_more),
		cmocka_unit_test(an_unseen_handler_is_assumed_and_an_unmeasured_signal_has_no_cost),
		cmocka_unit_test(traces_tell_what_handlers_and_the_start_took),
		cmocka_unit_test(a_handler_that_lost_its_cpu_is_not_believed),
		cmocka_unit_test(without_samples_nothing_is_learned),
		cmocka_unit_test(a_signal_has_a_price_that_is_measured_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
