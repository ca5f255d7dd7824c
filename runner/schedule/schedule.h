/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides which arm runs when, on which CPU and with what padding. Everything is a pure function of
 * the run's seed and a counter: an interrupted run continues as if nothing had happened, and the
 * order can be checked without running anything. schedule.c explains each schedule.
 */
#ifndef FG_RUNNER_SCHEDULE_H
#define FG_RUNNER_SCHEDULE_H

#include "model/run.h"

enum {
	FG_BLOCK_SLOTS_MAX = 4,
	FG_PADDING_MAX = 4095
};

/* One execution of one arm, in the order of start. */
struct fg_slot {
	enum fg_arm arm;
	uint16_t padding; /* bytes added to the environment, plus (padding mod 16) variables */
	bool sampled;
};

/* Executions that are recorded under one pair number. */
struct fg_block {
	bool concurrent; /* a duet: all slots at once on one CPU; else one slot at a time */
	int cpu;         /* CPU that all slots are pinned to, or -1 */
	uint64_t period_ns;
	unsigned layout; /* used if the targets have layouts */
	uint16_t aside;  /* enum fg_aside that its repetitions start with */
	struct fg_slot slots[FG_BLOCK_SLOTS_MAX];
	size_t count;
};

struct fg_schedule_rules {
	enum fg_schedule schedule; /* FG_SCHEDULE_AUTO until a schedule is chosen */
	uint64_t seed;             /* the run's seed, mixed with the benchmark's name */
	const int *cpus;           /* CPUs that may be used */
	size_t cpu_count;
	bool pin; /* also pin abba and stored to one CPU */
	bool sampled;
	unsigned rate_hz;
	enum fg_arm only; /* with FG_SCHEDULE_STORED: the arm that runs */
};

/*
 * Returns the seed for one benchmark of a run, which is independent of the run's other benchmarks:
 * renaming or adding another benchmark does not change the order.
 */
uint64_t fg_schedule_seed(uint64_t run_seed, const char *benchmark);

/* Makes the block of the nth measured pair (duet, stored) or the nth ABBA block. */
void fg_schedule_pair(const struct fg_schedule_rules *rules, uint32_t n, struct fg_block *block);
/* Makes a block that runs each arm once; the results are discarded. */
void fg_schedule_warmup(const struct fg_schedule_rules *rules, uint32_t n, struct fg_block *block);
/* Makes a block that runs each arm once and alone, for the absolute level in a duet session. */
void fg_schedule_solo(const struct fg_schedule_rules *rules, uint32_t n, struct fg_block *block);
/*
 * Makes a block that runs one arm with and without the sampler, to measure the sampler's cost. The
 * two never run at once, because both write the same files if the program writes any.
 */
void fg_schedule_cost(const struct fg_schedule_rules *rules, uint32_t n, struct fg_block *block);

/* Is a solo block due before measured pair n? */
bool fg_schedule_solo_due(const struct fg_schedule_rules *rules, uint32_t n, uint32_t solos_done);
/* Is a cost block due before measured pair n? */
bool fg_schedule_cost_due(const struct fg_schedule_rules *rules, double share, uint32_t n,
			  uint32_t costs_done);

#endif
