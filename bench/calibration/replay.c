// SPDX-License-Identifier: Apache-2.0
#include "bench/calibration/replay.h"

#include "gate/gate.h"

#include <math.h>

bool recording_load(const char *folder, const char *condition, const char *kind, int permille,
		    const char *schedule, struct recording *recording)
{
	char *path =
		fg_xasprintf("%s/%s.%s.%d.%s.txt", folder, condition, kind, permille, schedule);
	FILE *file = fopen(path, "r");
	size_t capacity = 0;
	char line[256];

	*recording = (struct recording){0};
	while (file && fgets(line, sizeof(line), file)) {
		struct execution e = {0};
		char *at = line;
		double load;

		e.pair = (uint32_t)strtoul(at, &at, 10);
		e.arm = (int)strtol(at, &at, 10);
		(void)strtol(at, &at, 10);
		e.cpu_ns = strtod(at, &at);
		e.wall_ns = strtod(at, &at);
		load = strtod(at, &at);
		if (!(e.cpu_ns > 0.0) || !(e.wall_ns > 0.0) || e.pair > 1000000)
			continue;
		recording->items = fg_grow(recording->items, &capacity, recording->count + 1,
					   sizeof(recording->items[0]));
		recording->items[recording->count++] = e;
		recording->load += load;
		if (e.pair + 1 > recording->pairs)
			recording->pairs = e.pair + 1;
	}
	if (recording->count > 0)
		recording->load /= (double)recording->count;
	if (file)
		(void)fclose(file);
	free(path);
	return recording->count > 0;
}

void recording_release(struct recording *recording)
{
	free(recording->items);
	*recording = (struct recording){0};
}

struct recorded_pair *recording_pairs(const struct recording *recording, size_t *count)
{
	struct recorded_pair *pairs = fg_xcalloc(recording->pairs + 1, sizeof(pairs[0]));
	size_t used = 0;

	for (uint32_t pair = 0; pair < recording->pairs; pair++) {
		double logs[2] = {0.0, 0.0};
		double longest = 0.0;
		double sum = 0.0;
		unsigned n[2] = {0, 0};

		for (size_t i = 0; i < recording->count; i++) {
			const struct execution *e = &recording->items[i];

			if (e->pair != pair)
				continue;
			logs[e->arm != 0] += log(e->cpu_ns);
			n[e->arm != 0]++;
			longest = fmax(longest, e->wall_ns);
			sum += e->wall_ns;
		}
		if (n[0] == 0 || n[0] != n[1])
			continue;
		/*
		 * The two executions of a pair ran concurrently; the four executions of a block ran
		 * one after the other.
		 */
		pairs[used++] =
			(struct recorded_pair){.difference = logs[1] / n[1] - logs[0] / n[0],
					       .seconds = (n[0] == 1 ? longest : sum) / 1e9};
	}
	*count = used;
	return pairs;
}

struct recorded_pair *recording_halves(const struct recording *recording, size_t *count)
{
	struct recorded_pair *halves = fg_xcalloc(recording->count + 1, sizeof(halves[0]));
	size_t used = 0;

	for (size_t i = 0; i + 1 < recording->count; i++) {
		const struct execution *a = &recording->items[i];
		const struct execution *b = &recording->items[i + 1];

		if (a->pair != b->pair || a->arm == b->arm)
			continue;
		halves[used++] = (struct recorded_pair){.difference = (a->arm ? 1.0 : -1.0) *
								      log(a->cpu_ns / b->cpu_ns),
							.seconds = (a->wall_ns + b->wall_ns) / 1e9};
		i++;
	}
	*count = used;
	return halves;
}

/* Appends a recorded pair to the series. */
static void draw_pair(const struct replay *replay, struct fg_random *random, uint32_t number,
		      struct fg_series *series)
{
	const struct recording *recording = replay->recording;
	uint32_t chosen = (uint32_t)fg_random_below(random, recording->pairs);
	bool swap = replay->swap && fg_random_below(random, 2) == 1;

	for (size_t i = 0; i < recording->count; i++) {
		const struct execution *e = &recording->items[i];
		struct fg_repetition *r;

		if (e->pair != chosen)
			continue;
		r = fg_series_add_repetition(series);
		r->pair = number;
		r->arm = (uint8_t)(swap ? 1 - e->arm : e->arm);
		r->values[FG_METRIC_CPU_TIME] = e->cpu_ns * exp(r->arm ? replay->shift : 0.0);
	}
}

struct decision replay_decide(const struct replay *replay, struct fg_random *random)
{
	struct fg_gate_progress progress = {.next_look = 1};
	struct fg_measuring measure;
	struct fg_series series;
	uint32_t pairs = 0;

	fg_measuring_defaults(&measure);
	if (replay->max_pairs > 0)
		measure.max_pairs = replay->max_pairs;
	fg_series_init(&series, "replayed");
	series.schedule = FG_SCHEDULE_DUET;
	do {
		while (pairs < progress.next_look)
			draw_pair(replay, random, pairs++, &series);
		fg_gate_look(&series, replay->policy, &measure, &progress);
	} while (!progress.decided && progress.next_look > 0);
	fg_series_release(&series);
	return (struct decision){
		.outcome = progress.outcome, .pairs = progress.pairs, .ratio = progress.ratio};
}
