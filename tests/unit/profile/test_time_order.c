// SPDX-License-Identifier: Apache-2.0
#include "profile/time_order.h"
#include "tests/support/fg_test.h"
#include "tests/support/known_profile.h"

#include <math.h>

static const char *name_of(const struct fg_time_order *order, size_t node)
{
	return order->functions[order->nodes[node].function].name;
}

/* The innermost function at a time: the last node that has begun and not ended. */
static uint32_t *functions_at(const struct fg_time_order *order, double at, size_t *depth)
{
	double *ends = fg_xcalloc(order->node_count, sizeof(ends[0]));
	uint32_t *path = fg_xcalloc(order->node_count, sizeof(path[0]));

	for (size_t i = order->node_count; i-- > 0;) {
		ends[i] += order->nodes[i].self_ns;
		if (i > 0)
			ends[order->nodes[i].parent] += ends[i];
	}
	*depth = 0;
	for (size_t i = 0; i < order->node_count; i++) {
		const double start = order->nodes[i].start_ns;

		if (start <= at && at < start + ends[i])
			path[(*depth)++] = order->nodes[i].function;
	}
	free(ends);
	return path;
}

static void each_sample_stands_at_its_time(void **state)
{
	struct fg_profile profile;
	struct fg_time_order order = {0};
	double at = 0;

	(void)state;
	known_profile_init(&profile);
	fg_time_order_make(&profile, &order);
	assert_int_equal(order.step, 1);
	for (size_t i = 0; i < profile.sample_count; i++) {
		const struct fg_sample *sample = &profile.samples[i];
		const struct fg_frame *leaf = &profile.frames[profile.stacks[sample->stack].frame];
		size_t depth = 0;
		uint32_t *path = functions_at(&order, at + sample->value / 2, &depth);

		assert_true(depth >= 2);
		assert_string_equal(order.functions[path[depth - 1]].name,
				    profile.functions[leaf->function].name);
		at += sample->value;
		free(path);
	}
	assert_true(at >= 100e6 && at <= 100e6);
	fg_time_order_release(&order);
	fg_profile_release(&profile);
}

static void threads_stand_one_after_the_other(void **state)
{
	struct fg_profile profile;
	struct fg_time_order order = {0};
	size_t threads = 0;

	(void)state;
	known_profile_init(&profile);
	fg_time_order_make(&profile, &order);
	for (size_t i = 1; i < order.node_count; i++) {
		assert_true(order.nodes[i].parent < i);
		if (order.nodes[i].parent > 0)
			continue;
		assert_null(order.functions[order.nodes[i].function].library);
		assert_non_null(strchr(name_of(&order, i), '('));
		assert_true(order.nodes[i].start_ns <= 90e6 * (double)threads &&
			    order.nodes[i].start_ns >= 90e6 * (double)threads);
		threads++;
	}
	assert_int_equal(threads, 2);
	fg_time_order_release(&order);
	fg_profile_release(&profile);
}

/* Samples that alternate between two functions, more of them than there may be nodes. */
static void a_long_execution_is_thinned_and_keeps_its_time(void **state)
{
	struct fg_profile profile;
	struct fg_time_order order = {0};
	double sum = 0;

	(void)state;
	known_profile_init(&profile);
	for (size_t i = 0; i < 200000; i++) {
		struct fg_sample sample = profile.samples[i % 3 == 0 ? 5 : 60];

		*fg_profile_add_sample(&profile) = sample;
	}
	profile.has_times = true;
	fg_time_order_make(&profile, &order);
	assert_true(order.step > 1);
	assert_true(order.node_count <= FG_TIME_NODES_MAX);
	assert_true(order.node_count > FG_TIME_NODES_MAX / 8);
	for (size_t i = 0; i < order.node_count; i++)
		sum += order.nodes[i].self_ns;
	assert_true(fabs(sum - 200100.0 * KNOWN_PERIOD_NS) < 1);
	fg_time_order_release(&order);
	fg_profile_release(&profile);
}

static void without_times_there_is_no_order(void **state)
{
	struct fg_profile profile;
	struct fg_time_order order = {0};

	(void)state;
	known_profile_init(&profile);
	profile.has_times = false;
	fg_time_order_make(&profile, &order);
	assert_int_equal(order.node_count, 0);
	fg_time_order_release(&order);
	fg_profile_release(&profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_sample_stands_at_its_time),
		cmocka_unit_test(threads_stand_one_after_the_other),
		cmocka_unit_test(a_long_execution_is_thinned_and_keeps_its_time),
		cmocka_unit_test(without_times_there_is_no_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
