// SPDX-License-Identifier: Apache-2.0
/* The mechanism behind a synthetic function `fit` that takes twice its time: main → work → fit. */
#include "gate/exact.h"
#include "gate/mechanism.h"
#include "tests/support/fg_test.h"
#include "tests/unit/gate/made_program.h"

#include <math.h>

enum {
	PAIRS = 40,
	COUNTED = 5,
};

static struct fg_made_program p;

static const char *const measures[COUNTED] = {"instructions", "calls", "cache.misses",
					      "cache.first_misses", "branch.misses"};

/* The counts of one execution on a call path, by measure. */
struct counts {
	uint32_t node;
	double values[2][COUNTED];
};

static void add_counts(const struct counts *counts, size_t count)
{
	for (uint8_t arm = 0; arm < 2; arm++) {
		for (size_t m = 0; m < COUNTED; m++) {
			const struct fg_measure measure = fg_measure_describe(measures[m], NULL);
			const uint16_t id = fg_profile_set_measure(&p.set, &measure);
			struct fg_profile_row *row = fg_profile_set_add_row(&p.set, count);

			row->arm = arm;
			row->pair = FG_EXACT_FIRST_PAIR;
			row->measure = id;
			for (size_t i = 0; i < count; i++) {
				row->nodes[i] = counts[i].node;
				row->values[i] = counts[i].values[arm][m];
				row->total += row->values[i];
			}
		}
	}
}

/* Adds main, work and fit, whose time doubles; returns fit's call path. */
static uint32_t make(double before, double after)
{
	return fg_made_node(&p, fg_made_work(&p, 31, 40), "fit", before, after);
}

static const struct fg_mechanism *found(void)
{
	const struct fg_node_verdict *node = fg_made_find(fg_made_measure(&p, PAIRS), "fit");

	assert_non_null(node);
	assert_int_equal(node->outcome, FG_OUTCOME_REGRESSION);
	assert_non_null(node->mechanism);
	return node->mechanism;
}

static void expect(const struct fg_mechanism *mechanism, enum fg_mechanism_kind kind,
		   const char *words)
{
	if (mechanism->kind != kind || strcmp(mechanism->words, words) != 0)
		fail_msg("found %s '%s', expected %s '%s'", fg_mechanism_name(mechanism->kind),
			 mechanism->words, fg_mechanism_name(kind), words);
}

FG_TEST(the_largest_contribution_names_the_mechanism)
{
	static const struct {
		double values[2][COUNTED]; /* instructions, calls, and three kinds of misses */
		enum fg_mechanism_kind kind;
		const char *words;
		double counts[2];
	} rows[] = {
		{{{4e6, 400, 100, 1e3, 1e3}, {8e6, 800, 200, 2e3, 2e3}},
		 FG_MECHANISM_CALLS,
		 "called 2 times as often (400 → 800)",
		 {400, 800}},
		{{{4e6, 400, 100, 1e3, 1e3}, {8e6, 400, 100, 1e3, 1e3}},
		 FG_MECHANISM_INSTRUCTIONS,
		 "+100 % instructions per call (10 000 → 20 000)",
		 {10e3, 20e3}},
		{{{4e6, 400, 100e3, 200e3, 1e3}, {4e6, 400, 500e3, 600e3, 1e3}},
		 FG_MECHANISM_CACHE,
		 "same instructions, 5 × the misses of the last-level cache (100 000 → 500 000)",
		 {100e3, 500e3}},
		{{{4e6, 400, 100, 0, 1e3}, {4.4e6, 400, 100, 6e6, 1e3}},
		 FG_MECHANISM_CACHE,
		 "0 → 6.00 M misses of the first-level caches",
		 {0, 6e6}},
		{{{4e6, 400, 100, 1e3, 100e3}, {4e6, 400, 100, 1e3, 5e6}},
		 FG_MECHANISM_BRANCHES,
		 "same instructions, 50 × the mispredicted branches (100 000 → 5.00 M)",
		 {100e3, 5e6}},
		/* Ten per cent more instructions do not explain twice the time. */
		{{{4e6, 400, 100, 1e3, 1e3}, {4.4e6, 400, 100, 1e3, 1e3}},
		 FG_MECHANISM_UNKNOWN,
		 "not known: calls, instructions, caches and branches do not explain the change",
		 {NAN, NAN}},
		{{{0, 0, 0, 0, 0}, {4e6, 400, 100, 1e3, 1e3}},
		 FG_MECHANISM_CALLS,
		 "called 400 times, never by the baseline",
		 {0, 400}},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		const bool is_new = !(rows[i].values[0][0] > 0);
		struct counts counts = {.node = make(is_new ? 0 : 40, 80)};
		const struct fg_mechanism *mechanism = NULL;

		memcpy(counts.values, rows[i].values, sizeof(counts.values));
		add_counts(&counts, 1);
		mechanism = found();
		expect(mechanism, rows[i].kind, rows[i].words);
		for (size_t side = 0; side < 2 && !isnan(rows[i].counts[1]); side++)
			assert_float_equal(mechanism->counts[side], rows[i].counts[side], 1e-9);
		if (rows[i].kind == FG_MECHANISM_UNKNOWN)
			assert_true(isnan(mechanism->counts[1]) && isnan(mechanism->explains));
	}
}

FG_TEST(allocations_are_named_where_they_take_the_time)
{
	const struct fg_made_fact facts[] = {{"build.library.libc.so.6", "abcd", "abcd"}, {0}};
	const uint32_t fit = make(40, 80);
	const uint32_t get = fg_made_node_of(&p, fit, "libc.so.6", "malloc", 0, 0);
	const uint32_t inner = fg_made_node_of(&p, get, "libc.so.6", "_int_malloc", 0, 0);
	const struct counts counts[] = {
		{fit, {{4e6, 400, 0, 0, 0}, {4.1e6, 400, 0, 0, 0}}},
		{get, {{1e4, 400, 0, 0, 0}, {1e5, 4000, 0, 0, 0}}},
		{inner, {{1e5, 400, 0, 0, 0}, {4e6, 4000, 0, 0, 0}}},
	};

	p.facts = facts;
	add_counts(counts, FG_ARRAY_SIZE(counts));
	expect(found(), FG_MECHANISM_ALLOCATIONS, "10 × the allocations (400 → 4000)");
}

/* Samples show `hash` in both builds, callgrind only in the candidate. */
FG_TEST(a_callee_that_is_counted_only_now_is_no_longer_inlined)
{
	const uint32_t fit = make(40, 80);
	const uint32_t hash = fg_made_node(&p, fit, "hash", 20, 21);
	const struct counts counts[] = {
		{fit, {{6e6, 400, 0, 0, 0}, {6e6, 400, 0, 0, 0}}},
		{hash, {{0, 0, 0, 0, 0}, {6e6, 500e3, 0, 0, 0}}},
	};

	add_counts(counts, FG_ARRAY_SIZE(counts));
	expect(found(), FG_MECHANISM_NOT_INLINED, "hash is no longer inlined: 500 000 calls");
}

/* `fit` and `hash` are inlined into `work`, `hash` only in the baseline. */
FG_TEST(the_inlined_function_that_is_called_now_is_named)
{
	const uint32_t fit = make(40, 80);
	const uint32_t work = p.set.nodes[fit].parent;
	const uint32_t hash = fg_made_node(&p, work, "hash", 20, 40);
	const struct counts counts[] = {
		{work, {{8e6, 1, 0, 0, 0}, {8e6, 1, 0, 0, 0}}},
		{hash, {{0, 0, 0, 0, 0}, {8e6, 500e3, 0, 0, 0}}},
	};
	const struct fg_benchmark_verdict *verdict = NULL;

	add_counts(counts, FG_ARRAY_SIZE(counts));
	verdict = fg_made_measure(&p, PAIRS);
	expect(fg_made_find(verdict, "fit")->mechanism, FG_MECHANISM_NOT_INLINED,
	       "hash is no longer inlined: 500 000 calls");
	expect(fg_made_find(verdict, "hash")->mechanism, FG_MECHANISM_NOT_INLINED,
	       "no longer inlined into work: 500 000 calls");
}

FG_TEST(a_clone_that_is_counted_was_not_inlined)
{
	const uint32_t fit = make(40, 80);
	const uint32_t hash = fg_made_node(&p, fit, "hash", 20, 21);
	const uint32_t clone = fg_made_node(&p, fit, "hash.isra.0", 0, 0);
	const struct counts counts[] = {
		{fit, {{6e6, 400, 0, 0, 0}, {12e6, 400, 0, 0, 0}}},
		{hash, {{0, 0, 0, 0, 0}, {6e6, 500e3, 0, 0, 0}}},
		{clone, {{6e6, 500e3, 0, 0, 0}, {0, 0, 0, 0, 0}}},
	};

	add_counts(counts, FG_ARRAY_SIZE(counts));
	assert_int_equal(found()->kind, FG_MECHANISM_INSTRUCTIONS);
}

/* Callgrind has only `work`, into which `fit` is inlined on both sides. */
FG_TEST(an_inlined_function_is_explained_by_the_one_that_contains_it)
{
	const uint32_t fit = make(40, 80);
	const struct counts counts = {p.set.nodes[fit].parent,
				      {{8e6, 1, 0, 0, 0}, {12e6, 1, 0, 0, 0}}};

	add_counts(&counts, 1);
	expect(found(), FG_MECHANISM_INSTRUCTIONS,
	       "+50 % instructions per call (8.00 M → 12.0 M), counted in work, into which it is "
	       "inlined");
}

FG_TEST(code_that_lost_vectors_or_tail_calls_is_named)
{
	static const struct {
		const char *form;
		double calls[2];
		enum fg_mechanism_kind kind;
		const char *words;
	} rows[] = {
		{"fit=0:0:c:16:0:0:0",
		 {400, 400},
		 FG_MECHANISM_NOT_VECTORISED,
		 "fewer vector instructions (16 → 0), +100 % instructions per call "
		 "(10 000 → 20 000)"},
		{"fit=0:0:c:16:8:2:2",
		 {400, 400},
		 FG_MECHANISM_INSTRUCTIONS,
		 "+100 % instructions per call (10 000 → 20 000)"},
		{"fit=0:0:c:0:0:2:1",
		 {400, 400},
		 FG_MECHANISM_NOT_TAIL_CALLED,
		 "tail calls became calls (2 → 1 jumps), +100 % instructions per call (10 000 → "
		 "20 000)"},
		{"fit=0:0:c:0:0:1:0",
		 {400, 4000},
		 FG_MECHANISM_NOT_TAIL_CALLED,
		 "tail calls became calls (1 → 0 jumps), called 10 times as often (400 → 4000)"},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		const struct counts counts = {
			.node = make(40, 80),
			.values = {{4e6, rows[i].calls[0], 0, 0, 0},
				   {8e6, rows[i].calls[1], 0, 0, 0}},
		};

		p.functions = rows[i].form;
		add_counts(&counts, 1);
		expect(found(), rows[i].kind, rows[i].words);
	}
}

FG_TEST(without_counts_there_is_no_mechanism)
{
	(void)make(40, 80);
	assert_null(fg_made_find(fg_made_measure(&p, PAIRS), "fit")->mechanism);
}

/* ---- causes that are not counted ---- */

/* Wall time grows by half, CPU time does not. */
static const struct fg_metric_verdict waiting[2] = {
	{.name = "wall_time",
	 .gated = true,
	 .outcome = FG_OUTCOME_REGRESSION,
	 .baseline = 200,
	 .candidate = 300,
	 .ratio = 1.5},
	{.name = "cpu_time", .baseline = 100, .candidate = 100, .ratio = 1},
};

static void settle(enum fg_outcome outcome, struct fg_node_verdict *node,
		   struct fg_metric_verdict metrics[2], struct fg_arena *arena)
{
	struct fg_benchmark_verdict verdict = {
		.outcome = outcome,
		.metrics = metrics,
		.metric_count = metrics ? 2 : 0,
		.time = {.functions = node, .function_count = 1},
	};

	fg_mechanisms_settle(NULL, arena, &verdict);
}

FG_TEST(slower_code_that_did_not_change_is_placed_differently)
{
	const struct fg_mechanism unknown = {.kind = FG_MECHANISM_UNKNOWN};
	const struct fg_mechanism cache = {.kind = FG_MECHANISM_CACHE};
	struct fg_node_verdict node = {
		.outcome = FG_OUTCOME_PLACEMENT, .standing = FG_STANDING_SAME_CODE, .delta = 1};
	struct fg_arena arena = {0};

	settle(FG_OUTCOME_REGRESSION, &node, NULL, &arena);
	assert_null(node.mechanism); /* its callers or its input may have changed */
	settle(FG_OUTCOME_PLACEMENT, &node, NULL, &arena);
	assert_int_equal(node.mechanism->kind, FG_MECHANISM_PLACEMENT);
	node.mechanism = &unknown;
	settle(FG_OUTCOME_REGRESSION, &node, NULL, &arena);
	assert_int_equal(node.mechanism->kind, FG_MECHANISM_PLACEMENT);
	node.mechanism = &cache;
	settle(FG_OUTCOME_REGRESSION, &node, NULL, &arena);
	assert_int_equal(node.mechanism->kind, FG_MECHANISM_CACHE);
	fg_arena_release(&arena);
}

FG_TEST(a_function_waits_if_cpu_time_does_not_grow_with_wall_time)
{
	static const struct {
		double cpu; /* growth of CPU time, while wall time grows by 100 ms */
		bool gated;
		bool is_waiting;
	} rows[] = {{0, true, true},
		    {-5, true, true},
		    {10, true, true}, /* 1.5^0.25 is 1.107 */
		    {11, true, false},
		    {0, false, false}};
	const struct fg_mechanism cache = {.kind = FG_MECHANISM_CACHE};
	struct fg_arena arena = {0};

	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		struct fg_node_verdict node = {.outcome = FG_OUTCOME_REGRESSION,
					       .standing = FG_STANDING_GUILTY,
					       .mechanism = &cache,
					       .delta = 1};
		struct fg_metric_verdict metrics[2] = {waiting[0], waiting[1]};

		metrics[0].gated = rows[i].gated;
		metrics[1].candidate += rows[i].cpu;
		metrics[1].ratio += rows[i].cpu / 100;
		settle(FG_OUTCOME_REGRESSION, &node, metrics, &arena);
		assert_int_equal(node.mechanism->kind == FG_MECHANISM_WAITS, rows[i].is_waiting);
		if (i == 0)
			assert_string_equal(node.mechanism->words,
					    "waits for the kernel or a lock: wall time +50.0 %, "
					    "CPU time +0.0 %");
	}
	fg_arena_release(&arena);
}

FG_TEST(counted_locks_tell_what_a_function_waits_for)
{
	static const struct {
		double wait_ns[2];
		const char *words;
	} rows[] = {
		{{1e6, 250e6},
		 "waits for a lock (1.00 ms → 250 ms): wall time +50.0 %, CPU time +0.0 %"},
		{{1e6, 1e6}, "waits for the kernel: wall time +50.0 %, CPU time +0.0 %"},
	};
	const struct fg_measure measure = fg_measure_describe("locks.wait_time", NULL);
	struct fg_metric_verdict metrics[2] = {waiting[0], waiting[1]};
	struct fg_arena arena = {0};

	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		const uint32_t fit = make(10, 20);
		struct fg_node_verdict node = {
			.name = "fit",
			.library = p.set.functions[p.set.nodes[fit].function].library,
			.outcome = FG_OUTCOME_REGRESSION,
			.standing = FG_STANDING_GUILTY,
			.delta = 1};
		struct fg_benchmark_verdict verdict = {
			.outcome = FG_OUTCOME_REGRESSION,
			.metrics = metrics,
			.metric_count = 2,
			.time = {.functions = &node, .function_count = 1},
		};

		for (uint8_t arm = 0; arm < 2; arm++) {
			struct fg_profile_row *row = fg_profile_set_add_row(&p.set, 1);

			row->arm = arm;
			row->pair = FG_EXACT_FIRST_PAIR;
			row->measure = fg_profile_set_measure(&p.set, &measure);
			row->nodes[0] = fit;
			row->values[0] = row->total = rows[i].wait_ns[arm];
		}
		fg_mechanisms_settle(&p.set, &arena, &verdict);
		assert_string_equal(node.mechanism->words, rows[i].words);
	}
	fg_arena_release(&arena);
}

FG_TEST(levels_of_two_sessions_have_no_mechanism)
{
	struct fg_node_verdict node = {
		.outcome = FG_OUTCOME_REGRESSION, .standing = FG_STANDING_GUILTY, .delta = 1};
	struct fg_metric_verdict metrics[2] = {waiting[0], waiting[1]};
	struct fg_benchmark_verdict verdict = {
		.outcome = FG_OUTCOME_REGRESSION,
		.schedule = FG_SCHEDULE_STORED,
		.metrics = metrics,
		.metric_count = FG_ARRAY_SIZE(metrics),
		.time = {.functions = &node, .function_count = 1},
	};
	struct fg_arena arena = {0};

	fg_mechanisms_settle(NULL, &arena, &verdict);
	assert_null(node.mechanism);
	verdict.schedule = FG_SCHEDULE_DUET;
	fg_mechanisms_settle(NULL, &arena, &verdict);
	assert_non_null(node.mechanism);
	fg_arena_release(&arena);
}
