// SPDX-License-Identifier: Apache-2.0
#include "runner/runner.h"
#include "runner/schedule/schedule.h"
#include "tests/support/fg_test.h"

#include <stdlib.h>
#include <string.h>

static const int test_cpus[] = {2, 5, 7};

static struct fg_schedule_rules rules_for(enum fg_schedule schedule)
{
	return (struct fg_schedule_rules){
		.schedule = schedule,
		.seed = fg_schedule_seed(42, "parse"),
		.cpus = test_cpus,
		.cpu_count = 3,
		.sampled = true,
		.rate_hz = 1000,
		.only = FG_ARM_CANDIDATE,
	};
}

FG_TEST(duet_pairs_come_in_an_order_of_their_own_two_on_one_cpu)
{
	const struct fg_schedule_rules rules = rules_for(FG_SCHEDULE_DUET);
	unsigned started[FG_ARM_COUNT][FG_ARM_COUNT] = {
		{0}}; /* by the first arm of this pair and of the next */

	for (uint32_t n = 0; n < 400; n += 2) {
		struct fg_block first;
		struct fg_block second;
		struct fg_block next;

		fg_schedule_pair(&rules, n, &first);
		fg_schedule_pair(&rules, n + 1, &second);
		fg_schedule_pair(&rules, n + 2, &next);
		assert_true(first.concurrent);
		assert_int_equal(first.count, 2);
		assert_int_not_equal(first.slots[0].arm, first.slots[1].arm);
		assert_int_equal(first.cpu, second.cpu);
		assert_int_not_equal(first.cpu, next.cpu);
		started[first.slots[0].arm][second.slots[0].arm]++;
	}
	/* two coins: in 200 pairs, each of the four results occurs 30 to 70 times */
	for (size_t i = 0; i < FG_ARM_COUNT; i++) {
		for (size_t k = 0; k < FG_ARM_COUNT; k++)
			assert_in_range(started[i][k], 30, 70);
	}
}

FG_TEST(abba_blocks_are_symmetric_and_both_kinds_occur)
{
	const struct fg_schedule_rules rules = rules_for(FG_SCHEDULE_ABBA);
	unsigned outer[FG_ARM_COUNT][FG_ARM_COUNT] = {{0}}; /* of this block and of the next */

	for (uint32_t n = 0; n < 200; n++) {
		struct fg_block block;
		struct fg_block next;

		fg_schedule_pair(&rules, n, &block);
		fg_schedule_pair(&rules, n + 1, &next);
		assert_false(block.concurrent);
		assert_int_equal(block.count, 4);
		assert_int_equal(block.slots[0].arm, block.slots[3].arm);
		assert_int_equal(block.slots[1].arm, block.slots[2].arm);
		assert_int_not_equal(block.slots[0].arm, block.slots[1].arm);
		assert_int_equal(block.cpu, -1);
		outer[block.slots[0].arm][next.slots[0].arm]++;
	}
	for (size_t i = 0; i < FG_ARM_COUNT; i++) {
		for (size_t k = 0; k < FG_ARM_COUNT; k++)
			assert_in_range(outer[i][k], 30, 70);
	}
}

FG_TEST(pinning_is_obeyed_outside_the_duet)
{
	struct fg_schedule_rules rules = rules_for(FG_SCHEDULE_ABBA);
	struct fg_block block;

	rules.pin = true;
	fg_schedule_pair(&rules, 4, &block);
	assert_true(block.cpu == 2 || block.cpu == 5 || block.cpu == 7);
	rules.cpu_count = 0;
	fg_schedule_pair(&rules, 4, &block);
	assert_int_equal(block.cpu, -1);
}

FG_TEST(stored_runs_only_the_arm_that_is_there)
{
	const struct fg_schedule_rules rules = rules_for(FG_SCHEDULE_STORED);
	struct fg_block block;

	fg_schedule_pair(&rules, 0, &block);
	assert_int_equal(block.count, 1);
	assert_int_equal(block.slots[0].arm, FG_ARM_CANDIDATE);
	fg_schedule_warmup(&rules, 0, &block);
	assert_int_equal(block.count, 1);
	assert_int_equal(block.aside, FG_ASIDE_WARMUP);
}

static bool same_block(const struct fg_block *a, const struct fg_block *b)
{
	bool same = a->count == b->count && a->cpu == b->cpu && a->period_ns == b->period_ns;

	for (size_t i = 0; i < a->count && same; i++)
		same = a->slots[i].arm == b->slots[i].arm &&
		       a->slots[i].padding == b->slots[i].padding;
	return same;
}

FG_TEST(the_same_seed_gives_the_same_order_and_another_one_does_not)
{
	struct fg_schedule_rules rules = rules_for(FG_SCHEDULE_ABBA);
	struct fg_block a;
	struct fg_block b;
	unsigned different = 0;

	for (uint32_t n = 0; n < 50; n++) {
		fg_schedule_pair(&rules, n, &a);
		fg_schedule_pair(&rules, n, &b);
		assert_true(same_block(&a, &b));
		rules.seed++;
		fg_schedule_pair(&rules, n, &b);
		rules.seed--;
		different += !same_block(&a, &b);
	}
	assert_int_equal(different, 50);
	assert_int_not_equal(fg_schedule_seed(1, "a"), fg_schedule_seed(1, "b"));
	assert_int_not_equal(fg_schedule_seed(1, "a"), fg_schedule_seed(2, "a"));
}

FG_TEST(padding_and_period_stay_in_their_ranges_and_vary)
{
	const struct fg_schedule_rules rules = rules_for(FG_SCHEDULE_DUET);
	uint64_t low_ns = UINT64_MAX;
	uint64_t high_ns = 0;
	unsigned high_paddings = 0;

	for (uint32_t n = 0; n < 400; n++) {
		struct fg_block block;

		fg_schedule_pair(&rules, n, &block);
		low_ns = block.period_ns < low_ns ? block.period_ns : low_ns;
		high_ns = block.period_ns > high_ns ? block.period_ns : high_ns;
		for (size_t i = 0; i < block.count; i++) {
			assert_in_range(block.slots[i].padding, 0, 4095);
			high_paddings += block.slots[i].padding >= 2048;
			assert_true(block.slots[i].sampled);
		}
	}
	assert_in_range(low_ns, 750000, 780000);
	assert_in_range(high_ns, 1220000, 1250000);
	assert_in_range(high_paddings, 320, 480);
}

FG_TEST(both_arms_of_a_pair_get_the_same_padding)
{
	const enum fg_schedule schedules[] = {FG_SCHEDULE_DUET, FG_SCHEDULE_ABBA};
	unsigned different = 0;

	for (size_t i = 0; i < FG_ARRAY_SIZE(schedules); i++) {
		const struct fg_schedule_rules rules = rules_for(schedules[i]);
		uint16_t last = 0;

		for (uint32_t n = 0; n < 100; n++) {
			struct fg_block block;

			fg_schedule_pair(&rules, n, &block);
			for (size_t k = 0; k < block.count; k += 2) {
				assert_int_not_equal(block.slots[k].arm, block.slots[k + 1].arm);
				assert_int_equal(block.slots[k].padding,
						 block.slots[k + 1].padding);
				different += block.slots[k].padding != last;
				last = block.slots[k].padding;
			}
		}
	}
	assert_in_range(different, 250, 300);
}

FG_TEST(without_sampler_there_is_no_period)
{
	struct fg_schedule_rules rules = rules_for(FG_SCHEDULE_DUET);
	struct fg_block block;

	rules.sampled = false;
	fg_schedule_pair(&rules, 3, &block);
	assert_int_equal(block.period_ns, 0);
	assert_false(block.slots[0].sampled);
	assert_false(fg_schedule_cost_due(&rules, 0.5, 10, 0));
}

FG_TEST(solo_runs_come_every_eight_pairs_of_a_duet_only)
{
	struct fg_schedule_rules rules = rules_for(FG_SCHEDULE_DUET);
	struct fg_block block;
	uint32_t solos = 0;

	for (uint32_t n = 0; n < 80; n++)
		solos += fg_schedule_solo_due(&rules, n, solos);
	assert_int_equal(solos, 10);
	fg_schedule_solo(&rules, 0, &block);
	assert_int_equal(block.aside, FG_ASIDE_SOLO);
	assert_false(block.concurrent);
	rules.schedule = FG_SCHEDULE_ABBA;
	assert_false(fg_schedule_solo_due(&rules, 80, 0));
}

FG_TEST(cost_blocks_keep_to_their_share_and_compare_one_arm_with_itself)
{
	const struct fg_schedule_rules rules = rules_for(FG_SCHEDULE_DUET);
	struct fg_block block;
	uint32_t costs = 0;

	for (uint32_t n = 0; n < 80; n++)
		costs += fg_schedule_cost_due(&rules, 0.1, n, costs);
	assert_int_equal(costs, 8);
	fg_schedule_cost(&rules, 0, &block);
	assert_int_equal(block.slots[0].arm, block.slots[1].arm);
	assert_int_not_equal(block.slots[0].sampled, block.slots[1].sampled);
	assert_false(block.concurrent);
	assert_true(block.cpu >= 0);
	assert_int_equal(block.aside, FG_ASIDE_UNSAMPLED);
	assert_false(fg_schedule_cost_due(&rules, 0, 1000, 0));
}

FG_TEST(shards_split_benchmarks_without_overlap_or_loss)
{
	unsigned total = 0;

	for (unsigned i = 0; i < 200; i++) {
		char name[16];
		unsigned owners = 0;

		(void)snprintf(name, sizeof(name), "bench%u", i);
		for (unsigned shard = 1; shard <= 8; shard++)
			owners += fg_shard_contains(name, shard, 8);
		assert_int_equal(owners, 1);
		total += fg_shard_contains(name, 3, 8);
	}
	assert_in_range(total, 10, 45);
}

FG_TEST(shard_texts_are_parsed_or_refused)
{
	static const char *const bad[] = {"",    "1",    "0/4",  "5/4",     "1/0", "1/4x",
					  "a/b", "-1/4", "1/ 4", "1/99999", NULL};
	unsigned index = 0;
	unsigned count = 0;

	assert_int_equal(fg_shard_parse("2/8", &index, &count, NULL), FG_OK);
	assert_int_equal(index, 2);
	assert_int_equal(count, 8);
	for (size_t i = 0; bad[i]; i++) {
		struct fg_error err = {0};

		assert_int_equal(fg_shard_parse(bad[i], &index, &count, &err), FG_EINVAL);
		assert_non_null(strstr(err.message, "2/8"));
	}
	assert_int_equal(index, 2);
}
