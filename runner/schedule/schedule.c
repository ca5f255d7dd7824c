// SPDX-License-Identifier: Apache-2.0
/*
 * The order of executions.
 *
 * Runs of one binary, one after the other, resemble their neighbours: frequency, temperature and
 * other tenants drift. So the two arms are interleaved and the pair is the unit of analysis.
 *
 * duet    Both arms at once on the same CPU. Other work on that CPU slows both arms alike. The
 *         arm that starts first has a small advantage, so the order is drawn for each pair. The
 *         CPU changes after every second pair. CPU time is the metric.
 * abba    One at a time: A B B A or B A A B, at random. A linear drift over the block adds the
 *         same to both arms: positions 0 + 3 = 1 + 2. The whole block is one observation.
 * stored  The candidate alone; its partner is in the store.
 *
 * Randomness: every draw comes from a generator seeded by (run seed, benchmark, purpose, counter).
 * No state is carried from one block to the next, so the order of one pair says nothing about the
 * order of another pair. The gate's test rests on this: for equal sides, the sign of a pair's
 * difference is the coin flip that decided its order.
 *
 * The padding of the environment is drawn per pair, the same for both arms: then the arms differ in
 * the program alone, and the effect of the stack's address averages out over the pairs.
 *
 * The sampling period varies by ±25 % at random per pair, the same for both arms: with a fixed
 * period, a function that runs once per period is seen always or never.
 */
#include "runner/schedule/schedule.h"

#include "base/clock.h"
#include "base/hash.h"
#include "base/random.h"
#include "runner/runner.h"

enum {
	SOLO_EVERY_PAIRS = 8
};

static const double period_jitter = 0.25;

/* Purpose of a draw. Each purpose has its own stream of random numbers. */
enum purpose {
	FOR_ORDER,
	FOR_PADDING,
	FOR_PERIOD,
	FOR_WARMUP,
	FOR_SOLO,
	FOR_COST,
};

static struct fg_random draw(const struct fg_schedule_rules *rules, enum purpose purpose,
			     uint32_t n)
{
	const uint64_t key[3] = {rules->seed, (uint64_t)purpose, n};
	struct fg_random random;

	fg_random_seed(&random, fg_hash64(key, sizeof(key), 0));
	return random;
}

static enum fg_arm other(enum fg_arm arm)
{
	return arm == FG_ARM_BASELINE ? FG_ARM_CANDIDATE : FG_ARM_BASELINE;
}

static enum fg_arm draw_arm(struct fg_random *random)
{
	return fg_random_below(random, 2) ? FG_ARM_CANDIDATE : FG_ARM_BASELINE;
}

/* Rotates through the CPUs from a random start. */
static int rotate_cpu(const struct fg_schedule_rules *rules, uint32_t turn)
{
	if (!rules->cpu_count)
		return -1;
	return rules->cpus[(rules->seed % rules->cpu_count + turn) % rules->cpu_count];
}

static uint64_t jittered_period_ns(const struct fg_schedule_rules *rules, enum purpose purpose,
				   uint32_t n)
{
	const struct fg_random stream = draw(rules, FOR_PERIOD, n * 8 + (uint32_t)purpose);
	struct fg_random random = stream;
	const double base_ns = (double)FG_NS_PER_S / (rules->rate_hz ? rules->rate_hz : 1);

	return (uint64_t)(base_ns * (1 + period_jitter * (2 * fg_random_uniform(&random) - 1)));
}

static void begin(const struct fg_schedule_rules *rules, enum purpose purpose, uint32_t n,
		  struct fg_block *block)
{
	*block = (struct fg_block){.cpu = -1};
	if (rules->sampled)
		block->period_ns = jittered_period_ns(rules, purpose, n);
}

static void add_slot(const struct fg_schedule_rules *rules, struct fg_block *block, enum fg_arm arm)
{
	struct fg_slot *slot = &block->slots[block->count++];

	FG_ASSERT(block->count <= FG_BLOCK_SLOTS_MAX);
	slot->arm = arm;
	slot->sampled = rules->sampled;
}

/* Slots 0 and 1 form a pair, and so do slots 2 and 3: both slots of a pair get the same padding. */
static void draw_paddings(const struct fg_schedule_rules *rules, enum purpose purpose, uint32_t n,
			  struct fg_block *block)
{
	struct fg_random random = draw(rules, FOR_PADDING, n * 8 + (uint32_t)purpose);
	uint16_t padding = 0;

	for (size_t i = 0; i < block->count; i++) {
		if (i % 2 == 0)
			padding = (uint16_t)fg_random_below(&random, FG_PADDING_MAX + 1);
		block->slots[i].padding = padding;
	}
}

uint64_t fg_schedule_seed(uint64_t run_seed, const char *benchmark)
{
	return fg_hash64(benchmark, strlen(benchmark), run_seed);
}

static void duet_pair(const struct fg_schedule_rules *rules, uint32_t n, struct fg_block *block)
{
	struct fg_random random = draw(rules, FOR_ORDER, n);
	const enum fg_arm first = draw_arm(&random);

	block->concurrent = true;
	block->cpu = rotate_cpu(rules, n / 2);
	add_slot(rules, block, first);
	add_slot(rules, block, other(first));
}

static void abba_block(const struct fg_schedule_rules *rules, uint32_t n, struct fg_block *block)
{
	struct fg_random random = draw(rules, FOR_ORDER, n);
	const enum fg_arm outer = draw_arm(&random);

	block->cpu = rules->pin ? rotate_cpu(rules, n) : -1;
	add_slot(rules, block, outer);
	add_slot(rules, block, other(outer));
	add_slot(rules, block, other(outer));
	add_slot(rules, block, outer);
}

static void stored_pair(const struct fg_schedule_rules *rules, uint32_t n, struct fg_block *block)
{
	block->cpu = rules->pin ? rotate_cpu(rules, n) : -1;
	add_slot(rules, block, rules->only);
}

void fg_schedule_pair(const struct fg_schedule_rules *rules, uint32_t n, struct fg_block *block)
{
	FG_ASSERT(rules->schedule != FG_SCHEDULE_AUTO);
	begin(rules, FOR_ORDER, n, block);
	if (rules->schedule == FG_SCHEDULE_DUET)
		duet_pair(rules, n, block);
	else if (rules->schedule == FG_SCHEDULE_ABBA)
		abba_block(rules, n, block);
	else
		stored_pair(rules, n, block);
	draw_paddings(rules, FOR_ORDER, n, block);
}

/* Makes a block that runs each arm once, in random order; with FG_SCHEDULE_STORED only one arm. */
static void each_arm_alone(const struct fg_schedule_rules *rules, enum purpose purpose, uint32_t n,
			   struct fg_block *block)
{
	struct fg_random random = draw(rules, purpose, n);
	const enum fg_arm first = draw_arm(&random);

	begin(rules, purpose, n, block);
	if (rules->schedule == FG_SCHEDULE_STORED) {
		add_slot(rules, block, rules->only);
	} else {
		add_slot(rules, block, first);
		add_slot(rules, block, other(first));
	}
	draw_paddings(rules, purpose, n, block);
}

void fg_schedule_warmup(const struct fg_schedule_rules *rules, uint32_t n, struct fg_block *block)
{
	each_arm_alone(rules, FOR_WARMUP, n, block);
	block->aside = FG_ASIDE_WARMUP;
}

void fg_schedule_solo(const struct fg_schedule_rules *rules, uint32_t n, struct fg_block *block)
{
	each_arm_alone(rules, FOR_SOLO, n, block);
	block->aside = FG_ASIDE_SOLO;
}

void fg_schedule_cost(const struct fg_schedule_rules *rules, uint32_t n, struct fg_block *block)
{
	const enum fg_arm arm =
		rules->schedule == FG_SCHEDULE_STORED ? rules->only : FG_ARM_CANDIDATE;
	struct fg_random random = draw(rules, FOR_COST, n);
	const bool sampled_first = fg_random_below(&random, 2) != 0;

	begin(rules, FOR_COST, n, block);
	block->aside = FG_ASIDE_UNSAMPLED;
	if (rules->schedule == FG_SCHEDULE_DUET || rules->pin)
		block->cpu = rotate_cpu(rules, n);
	add_slot(rules, block, arm);
	add_slot(rules, block, arm);
	block->slots[0].sampled = sampled_first;
	block->slots[1].sampled = !sampled_first;
	draw_paddings(rules, FOR_COST, n, block);
}

bool fg_schedule_solo_due(const struct fg_schedule_rules *rules, uint32_t n, uint32_t solos_done)
{
	return rules->schedule == FG_SCHEDULE_DUET && solos_done <= n / SOLO_EVERY_PAIRS;
}

bool fg_schedule_cost_due(const struct fg_schedule_rules *rules, double share, uint32_t n,
			  uint32_t costs_done)
{
	return rules->sampled && share > 0 && costs_done + 1 <= share * (n + 1);
}

/* ---- shards ---- */

enum {
	SHARDS_MAX = 10000
};

int fg_shard_parse(const char *text, unsigned *index, unsigned *count, struct fg_error *err)
{
	char *rest = NULL;
	const unsigned long found_index = strtoul(text, &rest, 10);
	const unsigned long found_count = *rest == '/' ? strtoul(rest + 1, &rest, 10) : 0;

	if (*rest || strspn(text, "0123456789/") != strlen(text) || found_index < 1 ||
	    found_index > found_count || found_count > SHARDS_MAX)
		return fg_error_set(err, FG_EINVAL,
				    "'%s' is not a shard: write 2/8 for the second of eight", text);
	*index = (unsigned)found_index;
	*count = (unsigned)found_count;
	return FG_OK;
}

bool fg_shard_contains(const char *benchmark, unsigned index, unsigned count)
{
	return fg_hash64(benchmark, strlen(benchmark), 0) % count == index - 1;
}
