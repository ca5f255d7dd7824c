// SPDX-License-Identifier: Apache-2.0
#include "model/plan.h"

#include "base/clock.h"
#include "base/text.h"

static const char *const schedule_names[] = {
	[FG_SCHEDULE_AUTO] = "auto",
	[FG_SCHEDULE_DUET] = "duet",
	[FG_SCHEDULE_ABBA] = "abba",
	[FG_SCHEDULE_STORED] = "stored",
};

static const char *const harness_names[] = {
	[FG_HARNESS_NONE] = "none",
	[FG_HARNESS_GOOGLE_BENCHMARK] = "google-benchmark",
	[FG_HARNESS_CATCH2] = "catch2",
	[FG_HARNESS_HYPERFINE] = "hyperfine",
	[FG_HARNESS_NANOBENCH] = "nanobench",
	[FG_HARNESS_DOCTEST] = "doctest",
	[FG_HARNESS_CRITERION] = "criterion",
	[FG_HARNESS_CARGO_BENCH] = "cargo-bench",
	[FG_HARNESS_PYTEST] = "pytest-benchmark",
	[FG_HARNESS_GO] = "go",
	[FG_HARNESS_LIT] = "lit",
	[FG_HARNESS_PLAIN] = "plain",
	[FG_HARNESS_SMALLER_IS_BETTER] = "smaller-is-better",
	[FG_HARNESS_BIGGER_IS_BETTER] = "bigger-is-better",
};

const char *const fg_countable[] = {"heap", "allocations", "frees", "fd",
				    "io",   "throws",      "locks", NULL};
const char *const fg_recordable[] = {"heap", "allocations", "frees", "fd",
				     "io",   "throws",      "locks", NULL};

FG_WORDS(schedule_names, enum fg_schedule, fg_schedule_name, fg_schedule_parse)

const char *fg_harness_name(enum fg_harness harness)
{
	FG_ASSERT((size_t)harness < FG_ARRAY_SIZE(harness_names));
	return harness_names[harness];
}

void fg_measuring_defaults(struct fg_measuring *measure)
{
	static const struct fg_measuring defaults = {
		.schedule = FG_SCHEDULE_AUTO,
		.min_pairs = 10,
		.max_pairs = 400,
		.budget_ns = 300 * FG_NS_PER_S,
		.layouts = FG_LAYOUTS_AUTO,
		.warmup = 1,
		.exact_budget_ns = 60 * FG_NS_PER_S,
		.sampler = {.enabled = true,
			    .budget = 0.03,
			    .clock = FG_SAMPLE_CPU,
			    .follow_children = true,
			    .unsampled_share = 0.1},
	};

	*measure = defaults;
}

void fg_plan_init(struct fg_plan *plan)
{
	*plan = (struct fg_plan){0};
	fg_measuring_defaults(&plan->measure);
	fg_policy_defaults(&plan->policy);
	plan->perfdb.token_env = "PERFDB_TOKEN";
	plan->perfdb.upload = FG_UPLOAD_WHEN_POSSIBLE;
	plan->store_path = ".fastgate/store.db";
}

void fg_plan_release(struct fg_plan *plan)
{
	fg_arena_release(&plan->arena);
	*plan = (struct fg_plan){0};
}

bool fg_command_is_same(const struct fg_command *a, const struct fg_command *b)
{
	bool same = a->argc == b->argc;

	for (size_t i = 0; i < a->argc && same; i++)
		same = strcmp(a->argv[i], b->argv[i]) == 0;
	return same;
}

const char *fg_benchmark_case(const struct fg_benchmark *benchmark, const char *name)
{
	const size_t length = strlen(benchmark->name);

	return benchmark->harness != FG_HARNESS_NONE &&
			       strncmp(name, benchmark->name, length) == 0 && name[length] == '/'
		       ? name + length + 1
		       : NULL;
}

const struct fg_benchmark *fg_plan_find(const struct fg_plan *plan, const char *name)
{
	const struct fg_benchmark *suite = NULL;

	for (size_t i = 0; i < plan->benchmark_count; i++) {
		const struct fg_benchmark *benchmark = &plan->benchmarks[i];

		if (strcmp(benchmark->name, name) == 0)
			return benchmark;
		if (fg_benchmark_case(benchmark, name))
			suite = benchmark;
	}
	return suite;
}
