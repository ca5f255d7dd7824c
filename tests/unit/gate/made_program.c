// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/gate/made_program.h"

#include "tests/support/fg_test.h"

#include <math.h>

uint32_t fg_made_node_of(struct fg_made_program *p, uint32_t parent, const char *library,
			 const char *name, double before, double after)
{
	struct fg_profile_function f = {.name = name,
					.library = library,
					.file = "app.cpp",
					.line = 7 + (unsigned)p->count};
	uint32_t node = fg_profile_set_node(&p->set, parent, fg_profile_set_function(&p->set, &f));

	p->nodes[p->count] = node;
	p->ms[0][p->count] = before;
	p->ms[1][p->count++] = after;
	return node;
}

uint32_t fg_made_node(struct fg_made_program *p, uint32_t parent, const char *name, double before,
		      double after)
{
	return fg_made_node_of(p, parent, "app", name, before, after);
}

void fg_made_program_init(struct fg_made_program *p, uint64_t seed)
{
	fg_profile_set_release(&p->set);
	fg_made_release(&p->made);
	*p = (struct fg_made_program){0};
	fg_made_init(&p->made, seed);
	fg_profile_set_init(&p->set, "app");
	p->sets[0] = &p->set;
	p->made.input.profiles = p->sets;
}

uint32_t fg_made_work(struct fg_made_program *p, uint64_t seed, double ms)
{
	fg_made_program_init(p, seed);
	return fg_made_node(p, fg_made_node(p, 0, "main", 1, 1), "work", ms, ms);
}

void fg_made_small_ones(struct fg_made_program *p, uint32_t parent)
{
	for (int i = 0; i < FG_MADE_SMALL; i++) {
		char name[32];

		(void)snprintf(name, sizeof(name), "small_%d", i);
		(void)fg_made_node(p, parent, name, 2.0, 2.0);
	}
}

/* Adds one repetition: each node gets its time by the pair's random factor, in whole samples. */
static void add_row(struct fg_made_program *p, uint32_t pair, uint8_t arm, double luck)
{
	struct fg_profile_row *row = fg_profile_set_add_row(&p->set, p->count);
	uint32_t used = 0;

	p->spent_ns = 1e6;
	row->arm = arm;
	row->pair = pair;
	for (uint32_t n = 0; n < p->set.node_count; n++) {
		for (size_t i = 0; i < p->count; i++) {
			double want = p->ms[arm][i] * luck *
				      (1.0 + 0.15 * fg_random_normal(&p->made.random));
			double whole = floor(want + fg_random_uniform(&p->made.random));

			if (p->nodes[i] != n || whole <= 0.0)
				continue;
			p->spent_ns += whole * 1e6;
			row->nodes[used] = n;
			row->values[used] = whole * 1e6;
			row->samples[used++] = (uint32_t)whole;
			row->total += whole * 1e6;
		}
	}
	row->count = used;
}

/*
 * Sets the CPU time so that only the place of the code makes a difference, apart from a little
 * noise.
 */
static void in_layout(struct fg_made_program *p, struct fg_repetition *r)
{
	r->values[FG_METRIC_CPU_TIME] =
		(r->arm == FG_ARM_CANDIDATE ? p->layouts[r->pair % FG_LINE_PLACES] : 1) *
		(1e9 + 1e6 * fg_random_normal(&p->made.random));
}

const struct fg_benchmark_verdict *fg_made_measure(struct fg_made_program *p, uint32_t pairs)
{
	struct fg_series *series = fg_run_add_series(&p->made.run, "app");

	series->schedule = FG_SCHEDULE_DUET;
	series->state = FG_MEASURED;
	if (p->layouts) {
		series->as_linked_metric = fg_xstrdup("cpu_time");
		series->as_linked = 1.05;
	}
	if (p->functions)
		fg_made_build_fact(series, "build.functions", "", p->functions);
	for (const struct fg_made_fact *fact = p->facts; fact && fact->key; fact++)
		fg_made_build_fact(series, fact->key, fact->baseline, fact->candidate);
	for (uint32_t pair = 0; pair < pairs; pair++) {
		double luck = 1.0 + 0.05 * fg_random_normal(&p->made.random);

		for (uint8_t arm = 0; arm < 2; arm++) {
			struct fg_repetition *r = fg_series_add_repetition(series);

			add_row(p, pair, arm, luck);
			r->pair = pair;
			r->arm = arm;
			r->values[FG_METRIC_MAX_RSS] = 1e6;
			r->values[FG_METRIC_CPU_TIME] = p->spent_ns;
			if (p->layouts)
				in_layout(p, r);
		}
	}
	return fg_made_decide(&p->made, "app");
}

const struct fg_node_verdict *fg_made_find(const struct fg_benchmark_verdict *b, const char *name)
{
	for (size_t i = 0; i < b->time.function_count; i++) {
		if (strcmp(b->time.functions[i].name, name) == 0)
			return &b->time.functions[i];
	}
	return NULL;
}
