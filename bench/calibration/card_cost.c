// SPDX-License-Identifier: Apache-2.0
/*
 * Time of one decision on a profile of 5,000 functions over 200 pairs, with every function present
 * in every pair.
 */
#include "base/clock.h"
#include "base/random.h"
#include "bench/calibration/card.h"
#include "gate/gate.h"

#include <math.h>

enum {
	FUNCTIONS = 5000,
	PAIRS = 200,
};

static void fill_row(struct fg_profile_set *set, uint32_t pair, uint8_t arm, bool slower,
		     struct fg_random *random)
{
	struct fg_profile_row *row = fg_profile_set_add_row(set, FUNCTIONS);

	row->arm = arm;
	row->pair = pair;
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		row->nodes[i] = i + 1;
		row->samples[i] = 1 + (uint32_t)fg_random_below(random, 3);
		if (arm == 1 && slower && i == FUNCTIONS / 2)
			row->samples[i] += 2;
		row->values[i] = 1e6 * row->samples[i];
		row->total += row->values[i];
	}
	row->count = FUNCTIONS;
}

static void fill_run(struct fg_run *run, bool slower, struct fg_profile_set *set)
{
	struct fg_series *series;
	struct fg_random random;

	fg_random_seed(&random, 1);
	fg_run_init(run);
	run->has_baseline = true;
	series = fg_run_add_series(run, "large");
	series->state = FG_MEASURED;
	series->schedule = FG_SCHEDULE_DUET;
	fg_profile_set_init(set, "large");
	for (int i = 0; i < FUNCTIONS; i++) {
		char name[32];
		struct fg_profile_function function = {.name = name, .library = "large"};

		(void)snprintf(name, sizeof(name), "function_%d", i);
		(void)fg_profile_set_node(set, i % 50 == 0 ? 0 : (uint32_t)i,
					  fg_profile_set_function(set, &function));
	}
	for (uint32_t pair = 0; pair < PAIRS; pair++) {
		for (uint8_t arm = 0; arm < 2; arm++) {
			struct fg_repetition *r = fg_series_add_repetition(series);

			fill_row(set, pair, arm, slower, &random);
			r->pair = pair;
			r->arm = arm;
			r->values[FG_METRIC_CPU_TIME] = set->rows[set->row_count - 1].total;
		}
	}
}

static void add_cost(const char *setting, bool slower, struct card *card)
{
	struct card_row row = {.kind = CARD_TIME,
			       .name = "one whole decision",
			       .setting = setting,
			       .goal = 100.0,
			       .milliseconds = HUGE_VAL};
	const struct fg_profile_set *sets[1];
	struct fg_profile_set set;
	struct fg_measuring measure;
	struct fg_policy policy;
	struct fg_run run;
	struct fg_gate_input input = {
		.run = &run, .profiles = sets, .policy = &policy, .measure = &measure};

	fill_run(&run, slower, &set);
	sets[0] = &set;
	fg_measuring_defaults(&measure);
	fg_policy_defaults(&policy);
	for (int i = 0; i < 5; i++) {
		struct fg_verdict verdict = {0};
		int64_t start = fg_clock_process_cpu_ns();

		if (fg_gate_decide(&input, &verdict, NULL) == FG_OK)
			row.milliseconds = fmin(row.milliseconds,
						(double)(fg_clock_process_cpu_ns() - start) / 1e6);
		fg_verdict_release(&verdict);
	}
	card_add(card, &row);
	fg_profile_set_release(&set);
	fg_run_release(&run);
}

void card_add_cost(struct card *card)
{
	add_cost("5,000 functions x 200 pairs, same", false, card);
	add_cost("5,000 functions x 200 pairs, slower", true, card);
}
