// SPDX-License-Identifier: Apache-2.0
#include "bench/perfdb/generator.h"

#include "tests/unit/store/samples.h"

#include <math.h>

enum {
	LIBRARIES = 5,
	FILES = 31,
	SEED = 7,
	FUNCTIONS = 5000,
	PATHS = 16000,
	PAIRS = 20,
	SAMPLES = 60000 /* in the whole run, both arms */
};

static void grow(struct fg_bench_program *p, unsigned paths)
{
	for (unsigned i = 0; i < paths; i++) {
		/* The parent is near the newest node, so that paths get deep. */
		const size_t back = fg_random_below(&p->random, p->node_count / 3 + 1);

		p->nodes =
			fg_grow(p->nodes, &p->node_capacity, p->node_count + 1, sizeof(*p->nodes));
		p->nodes[p->node_count] =
			(struct fg_profile_node){(uint32_t)(p->node_count - 1 - back),
						 (uint32_t)fg_random_below(&p->random, FUNCTIONS)};
		p->node_count++;
	}
}

void fg_bench_program_init(struct fg_bench_program *program)
{
	*program = (struct fg_bench_program){0};
	fg_random_seed(&program->random, SEED);
	program->versions = fg_xcalloc(FUNCTIONS, sizeof(*program->versions));
	program->nodes = fg_grow(NULL, &program->node_capacity, 1, sizeof(*program->nodes));
	program->nodes[0] = (struct fg_profile_node){0, 0};
	program->node_count = 1;
	grow(program, PATHS - 1);
}

void fg_bench_program_release(struct fg_bench_program *program)
{
	free(program->versions);
	free(program->nodes);
	*program = (struct fg_bench_program){0};
}

void fg_bench_program_change(struct fg_bench_program *program, unsigned renamed, unsigned grown)
{
	for (unsigned i = 0; i < renamed; i++)
		program->versions[fg_random_below(&program->random, FUNCTIONS)]++;
	grow(program, grown);
}

static char *function_name(const struct fg_bench_program *program, unsigned function)
{
	return fg_xasprintf("reco::stage%u::Reader<Token%u>::next_%u_v%u(std::string const&, int)",
			    function % FILES, function % 17, function, program->versions[function]);
}

void fg_bench_run_id(unsigned number, char id[37])
{
	(void)snprintf(id, 37, "0198f000-0000-7000-8000-%012x", number);
}

static void add_tree(const struct fg_bench_program *program, struct fg_profile_set *set,
		     uint32_t *places)
{
	static const char *const libraries[LIBRARIES] = {"reco", "libtrack.so.2", "libgeom.so.1",
							 "libfit.so.4", "libc.so.6"};
	uint32_t *functions = fg_xcalloc(FUNCTIONS, sizeof(*functions));

	for (unsigned f = 0; f < FUNCTIONS; f++) {
		char *name = function_name(program, f);
		char *file = fg_xasprintf("src/part%u.cpp", f % FILES);

		functions[f] = fg_profile_set_function(
			set, &(struct fg_profile_function){.name = name,
							   .library = libraries[f % LIBRARIES],
							   .file = file,
							   .line = f + 1});
		free(file);
		free(name);
	}
	places[0] = 0;
	for (size_t i = 1; i < program->node_count; i++)
		places[i] = fg_profile_set_node(set, places[program->nodes[i].parent],
						functions[program->nodes[i].function]);
	free(functions);
}

static void add_repetition(struct fg_series *series, struct fg_random *random, uint8_t arm,
			   uint32_t pair)
{
	struct fg_repetition *r = fg_sample_repetition(series, arm, pair);

	r->values[FG_METRIC_CPU_TIME] = floor(2e8 + 1e6 * fg_random_normal(random));
	r->values[FG_METRIC_WALL_TIME] = floor(2.1e8 + 2e6 * fg_random_normal(random));
	r->values[FG_METRIC_MAX_RSS] = floor(5e7 + 4096 * (double)fg_random_below(random, 8));
	r->values[FG_METRIC_MINOR_FAULTS] = (double)fg_random_below(random, 500);
}

/* Adds about as many facts as a real machine and a real build have. */
static void describe(struct fg_run *run, unsigned number)
{
	struct fg_side *candidate = &run->sides[FG_ARM_CANDIDATE];
	struct fg_series *series = NULL;

	fg_bench_run_id(number, run->id);
	run->project = fg_xstrdup("tracker");
	run->started_ns = INT64_C(1700000000000000000) + (int64_t)number * INT64_C(60000000000);
	run->ended_ns = run->started_ns + INT64_C(30000000000);
	run->complete = true;
	run->has_baseline = true;
	run->tool_version = fg_xstrdup("0.1.0");
	candidate->commit = fg_xasprintf("%08x%032d", number * 2654435761U, 0);
	candidate->branch = fg_xstrdup("main");
	for (unsigned i = 0; i < 30; i++) {
		char key[32];

		(void)snprintf(key, sizeof(key), "host.part%u", i);
		fg_environment_printf(&run->host, key, true, "what part %u of host %u is like", i,
				      number % 5);
		(void)snprintf(key, sizeof(key), "build.option%u", i);
		fg_environment_printf(&candidate->build, key, true, "value %u", i);
	}
	fg_environment_printf(&run->host, "host.load", false, "%u", number % 100);
	series = fg_run_add_series(run, "parse");
	series->command = fg_xstrdup("./build/reco --events 200");
	series->state = FG_MEASURED;
	series->schedule = FG_SCHEDULE_DUET;
	series->seconds = 7.25;
}

void fg_bench_program_run(const struct fg_bench_program *program, unsigned number,
			  struct fg_bundle *bundle)
{
	struct fg_stored_run stored = {0};
	struct fg_profile_set *set = fg_xcalloc(1, sizeof(*set));
	uint32_t *places = fg_xcalloc(program->node_count, sizeof(*places));
	struct fg_error err = {0};
	struct fg_random random;

	fg_run_init(&stored.run);
	fg_random_seed(&random, number + 1);
	describe(&stored.run, number);
	fg_profile_set_init(set, "reco");
	add_tree(program, set, places);
	for (uint32_t pair = 0; pair < PAIRS; pair++) {
		for (uint8_t arm = 0; arm < FG_ARM_COUNT; arm++) {
			add_repetition(&stored.run.series[0], &random, arm, pair);
			fg_sample_row(set, &random, arm, pair, SAMPLES / PAIRS / 2);
		}
	}
	stored.profiles = fg_xcalloc(1, sizeof(struct fg_profile_set *));
	stored.profiles[0] = set;
	if (fg_bundle_from_run(&stored, bundle, &err) != FG_OK) {
		(void)fprintf(stderr, "bench_perfdb: %s\n", err.message);
		exit(1);
	}
	free(places);
	fg_stored_run_release(&stored);
}
