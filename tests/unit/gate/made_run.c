// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/gate/made_run.h"

#include <math.h>

void fg_made_init(struct fg_made *made, uint64_t seed)
{
	*made = (struct fg_made){0};
	fg_run_init(&made->run);
	made->run.has_baseline = true;
	made->run.seed = seed;
	fg_policy_defaults(&made->policy);
	made->policy.alpha = 0.01; /* ten pairs can decide */
	fg_measuring_defaults(&made->measure);
	made->measure.min_pairs = 10;
	made->measure.max_pairs = 80;
	fg_random_seed(&made->random, seed);
	made->input = (struct fg_gate_input){.run = &made->run,
					     .policy = &made->policy,
					     .measure = &made->measure,
					     .now_ns = 1000};
}

void fg_made_release(struct fg_made *made)
{
	fg_verdict_release(&made->verdict);
	fg_run_release(&made->run);
}

size_t fg_made_benchmark(struct fg_made *made, const char *name, size_t pairs, double change,
			 double noise)
{
	struct fg_series *series = fg_run_add_series(&made->run, name);

	series->schedule = FG_SCHEDULE_DUET;
	series->state = FG_MEASURED;
	for (size_t pair = 0; pair < pairs; pair++) {
		double host = 1e8 * exp(0.1 * fg_random_normal(&made->random));

		for (uint8_t arm = 0; arm < FG_ARM_COUNT; arm++) {
			struct fg_repetition *r = fg_series_add_repetition(series);
			double own = exp(noise * fg_random_normal(&made->random));

			r->pair = (uint32_t)pair;
			r->arm = arm;
			r->padding = (uint16_t)fg_random_below(&made->random, 4096);
			r->values[FG_METRIC_CPU_TIME] =
				host * own * (arm == FG_ARM_CANDIDATE ? 1.0 + change : 1.0);
			r->values[FG_METRIC_WALL_TIME] = 2.0 * host;
			r->values[FG_METRIC_MAX_RSS] = 4194304.0;
		}
	}
	return made->run.series_count - 1;
}

struct fg_series *fg_made_series(struct fg_made *made, const char *name)
{
	return fg_run_find(&made->run, name);
}

void fg_made_build_fact(struct fg_series *series, const char *key, const char *baseline,
			const char *candidate)
{
	if (baseline)
		fg_build_facts_set(&series->build[FG_ARM_BASELINE], key, baseline);
	if (candidate)
		fg_build_facts_set(&series->build[FG_ARM_CANDIDATE], key, candidate);
}

const struct fg_benchmark_verdict *fg_made_decide(struct fg_made *made, const char *name)
{
	struct fg_error err = {0};

	fg_verdict_release(&made->verdict);
	if (fg_gate_decide(&made->input, &made->verdict, &err) != FG_OK)
		fg_assert_failed(err.message, __FILE__, __LINE__, __func__);
	for (size_t i = 0; i < made->verdict.benchmark_count; i++) {
		if (strcmp(made->verdict.benchmarks[i].name, name) == 0)
			return &made->verdict.benchmarks[i];
	}
	return NULL;
}

const struct fg_metric_verdict *fg_made_metric(const struct fg_benchmark_verdict *verdict,
					       const char *name)
{
	for (size_t i = 0; i < verdict->metric_count; i++) {
		if (strcmp(verdict->metrics[i].name, name) == 0)
			return &verdict->metrics[i];
	}
	return NULL;
}

uint32_t fg_made_call_path(struct fg_profile_set *set, uint32_t parent, const char *library,
			   const char *name)
{
	const struct fg_profile_function function = {.name = name, .library = library};

	return fg_profile_set_node(set, parent, fg_profile_set_function(set, &function));
}

bool fg_made_has_note(const struct fg_notes *notes, const char *words)
{
	for (size_t i = 0; i < notes->count; i++) {
		if (strstr(notes->items[i], words))
			return true;
	}
	return false;
}
