// SPDX-License-Identifier: Apache-2.0
/* The rate follows the measured cost of samples, so that the budget holds. */
#include "collector/sampler/rate.h"
#include "tests/support/fg_test.h"

#include <math.h>

static const uint64_t ms = 1000000;
static const uint64_t budget = 30000; /* 3 % */

/* Returns the cost of a second of CPU time with samples that take this long. */
static struct fg_sample_cost second_of(uint64_t samples, uint64_t each_ns)
{
	return (struct fg_sample_cost){.cpu_ns = 1000 * ms,
				       .samples = samples,
				       .signals_ns = samples * each_ns / 2,
				       .handlers_ns = samples * each_ns / 2};
}

FG_TEST(the_period_is_the_shortest_within_the_budget)
{
	struct fg_sample_cost cost = second_of(1000, 60000);

	assert_int_equal(fg_sample_cost_period_ns(&cost, budget), 2 * ms);
	assert_true(fabs(fg_sample_cost_at(&cost, 500) - 0.03) < 1e-9);
	/* context switches and the start leave less for samples */
	cost.switches_ns = 6 * ms;
	cost.start_ns = 4 * ms;
	assert_int_equal(fg_sample_cost_period_ns(&cost, budget), 3 * ms);
	assert_true(fabs(fg_sample_cost_at(&cost, 1000.0 / 3) - 0.03) < 1e-9);
	/* the start never takes more than half of the budget that switches leave */
	cost.start_ns = 500 * ms;
	assert_int_equal(fg_sample_cost_period_ns(&cost, budget), 5 * ms);
	/* if switches leave nothing, the period is the longest */
	cost.switches_ns = 50 * ms;
	assert_int_equal(fg_sample_cost_period_ns(&cost, budget), FG_PERIOD_ADAPTED_MAX_NS);
}

FG_TEST(a_period_has_bounds)
{
	const struct fg_sample_cost cheap = second_of(1000, 1000);
	const struct fg_sample_cost expensive = second_of(1000, 5 * ms);
	const struct fg_sample_cost unmeasured = {0};

	assert_int_equal(fg_sample_cost_period_ns(&cheap, budget), FG_PERIOD_ADAPTED_MIN_NS);
	assert_int_equal(fg_sample_cost_period_ns(&expensive, budget), FG_PERIOD_ADAPTED_MAX_NS);
	assert_int_equal(fg_sample_cost_period_ns(&unmeasured, budget),
			 (uint64_t)FG_SAMPLE_ASSUMED_NS * FG_BUDGET_WHOLE / budget);
}

FG_TEST(a_rate_falls_at_once_and_rises_in_steps)
{
	const struct fg_sample_cost before = second_of(500, 60000);
	const struct fg_sample_cost loaded = second_of(500, 300000);

	assert_int_equal(fg_rate_next_ns(&before, budget, 2 * ms), 2 * ms);
	assert_int_equal(fg_rate_next_ns(&loaded, budget, 2 * ms), 10 * ms);
	assert_int_equal(fg_rate_next_ns(&before, budget, 10 * ms), 5 * ms);
	assert_int_equal(fg_rate_next_ns(&before, budget, 5 * ms), 5 * ms / 2);
}

/* Small changes are avoided because each restarts the clock of every thread. */
FG_TEST(a_period_that_hardly_differs_stays)
{
	const struct fg_sample_cost cost = second_of(500, 65000);

	assert_int_equal(fg_rate_next_ns(&cost, budget, 2 * ms), 2 * ms);
}

FG_TEST(one_that_lost_its_cpu_is_not_endless)
{
	struct fg_rate_costs costs = {0};

	assert_int_equal(fg_rate_mean(&costs).signal_ns, 0);
	for (unsigned i = 0; i < FG_RATE_KEPT; i++)
		fg_rate_add(&costs, &(struct fg_rate_sample){.signal_ns = i == 2 ? 9 * ms : 8000,
							     .handler_ns = 2000,
							     .restart_ns = i == 3 ? 700 : 5000});
	/*
	 * An outlier counts as four times the median; the return to the program adds an eighth.
	 */
	assert_int_equal(fg_rate_mean(&costs).signal_ns, (4 * 8000 + 4 * 8000) / 5 * 9 / 8);
	assert_int_equal(fg_rate_mean(&costs).handler_ns, 2000);
	assert_int_equal(fg_rate_mean(&costs).restart_ns, 700);
	for (unsigned i = 0; i < FG_RATE_KEPT; i++)
		fg_rate_add(&costs, &(struct fg_rate_sample){.signal_ns = 80000});
	assert_int_equal(fg_rate_mean(&costs).signal_ns, 90000);
}
