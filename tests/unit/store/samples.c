// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/store/samples.h"

#include "base/random.h"

#include <math.h>

const struct fg_sample_shape fg_sample_small = {
	.functions = 40, .paths = 120, .pairs = 6, .samples = 2000};

enum {
	PERIOD_NS = 1000000
};

/* All runs of one shape have the same program: its tree depends on the shape, not on the seed. */
static void add_tree(struct fg_profile_set *set, uint64_t seed, const struct fg_sample_shape *shape)
{
	struct fg_random random;
	uint32_t *functions = fg_xcalloc(shape->functions, sizeof(*functions));

	fg_random_seed(&random, 7);
	for (unsigned f = 0; f < shape->functions; f++) {
		const bool renamed = shape->churn && f >= shape->churn;
		char *name = fg_xasprintf(
			"ns::Reader<Token%u>::next_%u_%llu(std::basic_string<char> const&, int)",
			f % 17, f, renamed ? (unsigned long long)seed : 0ULL);
		char *file = fg_xasprintf("src/part%u.cpp", f % 31);
		const struct fg_profile_function function = {.name = name,
							     .library = f % 5 ? "reco"
									      : "libtrack.so.2",
							     .file = file,
							     .line = f + 1};

		functions[f] = fg_profile_set_function(set, &function);
		free(file);
		free(name);
	}
	while (set->node_count < shape->paths) {
		const uint32_t last = (uint32_t)set->node_count - 1;
		const uint32_t parent = last - (uint32_t)fg_random_below(&random, last / 3 + 1);

		(void)fg_profile_set_node(set, parent,
					  functions[fg_random_below(&random, shape->functions)]);
	}
	free(functions);
}

void fg_sample_row(struct fg_profile_set *set, struct fg_random *random, uint8_t arm, uint32_t pair,
		   unsigned samples)
{
	uint32_t *counts = fg_xcalloc(set->node_count, sizeof(*counts));
	struct fg_profile_row *row = NULL;
	size_t used = 0;

	for (unsigned s = 0; s < samples; s++) {
		/* Zipf's law: few paths take most of the time. */
		const double u = fg_random_uniform(random);
		const size_t node = (size_t)(pow((double)set->node_count, u) * 0.99999);

		if (counts[node]++ == 0)
			used++;
	}
	row = fg_profile_set_add_row(set, used);
	row->arm = arm;
	row->pair = pair;
	row->count = 0;
	for (size_t n = 0; n < set->node_count; n++) {
		if (!counts[n])
			continue;
		row->nodes[row->count] = (uint32_t)n;
		row->samples[row->count] = counts[n];
		row->values[row->count++] = (double)counts[n] * PERIOD_NS;
	}
	row->total = (double)samples * PERIOD_NS;
	free(counts);
}

struct fg_repetition *fg_sample_repetition(struct fg_series *series, uint8_t arm, uint32_t pair)
{
	struct fg_repetition *r = fg_series_add_repetition(series);

	r->pair = pair;
	r->arm = arm;
	r->position = arm;
	r->sampled = true;
	r->period_ns = PERIOD_NS;
	r->started_ns = INT64_C(1790000000000000000) + pair * INT64_C(1000000000) + arm;
	return r;
}

static void add_repetition(struct fg_series *series, struct fg_random *random, uint8_t arm,
			   uint32_t pair)
{
	struct fg_repetition *r = fg_sample_repetition(series, arm, pair);

	r->cpu = (int16_t)(pair % 2);
	r->padding = (uint16_t)fg_random_below(random, 4096);
	r->load = 0.5F;
	r->steal = 0.01F;
	r->values[FG_METRIC_CPU_TIME] = floor(2e8 + 1e6 * fg_random_normal(random));
	r->values[FG_METRIC_WALL_TIME] = floor(2.1e8 + 2e6 * fg_random_normal(random));
	r->values[FG_METRIC_MAX_RSS] = floor(5e7 + 4096 * (double)fg_random_below(random, 8));
	r->values[FG_METRIC_MINOR_FAULTS] = (double)fg_random_below(random, 500);
	r->values[FG_METRIC_BINARY_SIZE] = 123456;
	r->values[series->metric_count - 1] = 1000 + fg_random_uniform(random);
}

static void describe(struct fg_run *run, uint64_t seed)
{
	const struct fg_metric rate = {"events_per_second",
				       "events per second",
				       "1/s",
				       FG_BETTER_HIGHER,
				       false,
				       true,
				       true,
				       0.02,
				       0.02};
	struct fg_side *candidate = &run->sides[FG_ARM_CANDIDATE];
	struct fg_series *series = NULL;

	(void)snprintf(run->id, sizeof(run->id), "0198f000-%04x-7000-8000-%012llx",
		       (unsigned)(seed >> 32) & 0xffff,
		       (unsigned long long)seed & 0xffffffffffffULL);
	run->project = fg_xstrdup("tracker");
	run->started_ns = INT64_C(1790000000000000000) + (int64_t)seed * INT64_C(60000000000);
	run->ended_ns = run->started_ns + INT64_C(30000000000);
	run->complete = true;
	run->has_baseline = true;
	run->seed = seed * UINT64_C(0x9e3779b97f4a7c15);
	run->tool_version = fg_xstrdup("0.1.0");
	candidate->commit = fg_xasprintf("%016llx%024d", (unsigned long long)run->seed, 0);
	candidate->branch = fg_xstrdup("main");
	candidate->dirty = seed % 2;
	run->sides[FG_ARM_BASELINE].describe = fg_xstrdup("merge-base");
	fg_environment_set(&run->host, "host.cpu.model", "AMD EPYC", true);
	fg_environment_printf(&run->host, "host.load", false, "%llu", (unsigned long long)seed);
	fg_environment_set(&candidate->build, "build.compiler", "gcc 12.2.0", true);
	series = fg_run_add_series(run, "parse");
	series->command = fg_xstrdup("./build/reco --events 200");
	series->state = FG_MEASURED;
	series->schedule = FG_SCHEDULE_DUET;
	series->seconds = 7.25;
	series->sampler_cost = 0.003;
	series->sampling = (struct fg_sampling){.rate_hz = 612,
						.budget = 0.03,
						.signal_ns = 47000,
						.handler_ns = 1900,
						.switch_ns = 21000,
						.switches_hz = 140,
						.start_share = 0.0004,
						.expected_cost = 0.0299,
						.clock = "CPU time",
						.unseen = "time spent waiting"};
	fg_series_remark(series, FG_REMARK_CALLS, fg_xstrdup("calls are not counted: no room"));
	fg_build_facts_set(&series->build[FG_ARM_CANDIDATE], "build.id", "abcdef");
	(void)fg_series_add_metric(series, &rate);
}

static void add_regions(struct fg_profile_set *set, uint32_t pair)
{
	static const char *const names[] = {"event", "event/fit"};

	set->region_rows = fg_arena_array(&set->arena, 2, sizeof(*set->region_rows));
	set->region_row_capacity = 2;
	for (uint32_t i = 0; i < FG_ARRAY_SIZE(names); i++)
		set->region_rows[set->region_row_count++] = (struct fg_profile_region_row){
			.arm = FG_ARM_CANDIDATE,
			.pair = pair,
			.region = fg_profile_set_region(set, names[i]),
			.count = 200 + i,
			.cpu_ns = 1.5e8 / (i + 1),
			.wall_ns = 1.75e8 / (i + 1),
		};
}

void fg_sample_run(struct fg_stored_run *stored, uint64_t seed, const struct fg_sample_shape *shape)
{
	struct fg_random random;
	struct fg_profile_set *set = fg_xcalloc(1, sizeof(*set));

	*stored = (struct fg_stored_run){0};
	fg_run_init(&stored->run);
	fg_random_seed(&random, seed + 1);
	describe(&stored->run, seed);
	fg_profile_set_init(set, "reco");
	add_tree(set, seed, shape);
	for (uint32_t pair = 0; pair < shape->pairs; pair++) {
		for (uint8_t arm = 0; arm < FG_ARM_COUNT; arm++) {
			add_repetition(&stored->run.series[0], &random, arm, pair);
			fg_sample_row(set, &random, arm, pair, shape->samples / shape->pairs / 2);
		}
	}
	add_regions(set, 1);
	stored->profiles = fg_xcalloc(1, sizeof(struct fg_profile_set *));
	stored->profiles[0] = set;
}

char *fg_sample_report(const char *verdict, double ratio)
{
	return fg_xasprintf("{\"schema\":\"fastgate-report/1\",\"verdict\":\"%s\","
			    "\"benchmarks\":[{\"name\":\"parse\",\"verdict\":\"%s\","
			    "\"metrics\":[{\"name\":\"cpu_time\",\"verdict\":\"%s\",\"ratio\":%.3f,"
			    "\"interval\":[%.3f,%.3f]}]}]}",
			    verdict, verdict, verdict, ratio, ratio - 0.01, ratio + 0.01);
}

const struct fg_profile_function *fg_sample_busiest(const struct fg_profile_set *set)
{
	double *self = fg_xcalloc(set->function_count, sizeof(*self));
	size_t most = 0;

	for (size_t r = 0; r < set->row_count; r++) {
		const struct fg_profile_row *row = &set->rows[r];

		for (uint32_t i = 0; i < row->count; i++)
			self[set->nodes[row->nodes[i]].function] += row->values[i];
	}
	for (size_t f = 1; f < set->function_count; f++) {
		if (self[f] > self[most])
			most = f;
	}
	free(self);
	return &set->functions[most];
}
