// SPDX-License-Identifier: Apache-2.0
/* Facts about machine code applied to one profile, sample by sample. */
#include "gate/same_code.h"
#include "tests/support/fg_test.h"

enum {
	FUNCTIONS = 8,
	ALL = 1000,
};

/* A profile of one repetition with 1,000 samples; `work` has the samples that no other node has. */
static struct program {
	struct fg_profile_set set;
	struct fg_run run;
	struct fg_series *series;
	struct fg_arena arena;
	struct fg_node_verdict functions[FUNCTIONS];
	struct fg_benchmark_verdict verdict;
	struct fg_profile_row *row;
	uint32_t work; /* node of `work` */
} p;

static void begin(const char *facts)
{
	const struct fg_profile_function work = {
		.name = "work(int)", .linkage = "_Z4worki", .library = "app"};

	fg_profile_set_release(&p.set);
	fg_run_release(&p.run);
	fg_arena_release(&p.arena);
	p = (struct program){0};
	fg_profile_set_init(&p.set, "app");
	fg_run_init(&p.run);
	p.series = fg_run_add_series(&p.run, "app");
	if (facts)
		fg_build_facts_set(&p.series->build[FG_ARM_CANDIDATE], "build.functions", facts);
	p.row = fg_profile_set_add_row(&p.set, FUNCTIONS);
	p.work = fg_profile_set_node(&p.set, 0, fg_profile_set_function(&p.set, &work));
	p.row->nodes[0] = p.work;
	p.row->samples[0] = ALL;
	p.row->count = 1;
	p.verdict.time.functions = p.functions;
}

/* samples of this node, out of 1,000 */
static void sample(uint32_t node, uint32_t samples)
{
	p.row->nodes[p.row->count] = node;
	p.row->samples[p.row->count++] = samples;
	p.row->samples[0] -= samples;
}

static uint32_t add(uint32_t parent, const struct fg_profile_function *function, uint32_t samples)
{
	const uint32_t node =
		fg_profile_set_node(&p.set, parent, fg_profile_set_function(&p.set, function));

	sample(node, samples);
	return node;
}

static struct fg_node_verdict *judge(const char *name, enum fg_standing standing)
{
	struct fg_node_verdict *node = &p.functions[p.verdict.time.function_count++];

	node->name = name;
	node->library = "app";
	node->standing = standing;
	node->outcome = standing == FG_STANDING_GUILTY ? FG_OUTCOME_REGRESSION : FG_OUTCOME_PASS;
	return node;
}

static void settle(bool total_changed)
{
	fg_same_code_note(&p.set, p.series, total_changed, &p.arena, &p.verdict);
}

static void assert_takes_all_time(bool expected)
{
	assert_int_equal(fg_same_code_takes_all_time(&p.set, p.series), expected);
}

/* ---- Is all hot code the same? ---- */

FG_TEST(only_a_well_formed_fact_under_the_linkage_name_says_that_code_is_the_same)
{
	static const struct {
		const char *facts;
		bool is_same;
	} rows[] = {
		{"_Z4worki=16:48:s", true},
		{"main=0:0:c  _Z4worki=16:48:s", true},
		{"_Z4worki=16:48:c", false},
		{"_Z4worki=16:48:r", false},
		{"_Z4worki=16:48:x", false},
		{"_Z4worki=16:48", false},
		{"_Z4worki=16:s", false},
		{"_Z4worki=:48:s", false},
		{"_Z4worki=16,48:s", false},
		{"work(int)=16:48:s", false},
		{"_Z4work=16:48:s", false},
		{"_Z4workix=16:48:s", false},
		{"x_Z4worki=16:48:s", false},
		{"", false},
		{NULL, false},
	};

	for (size_t r = 0; r < FG_ARRAY_SIZE(rows); r++) {
		begin(rows[r].facts);
		assert_takes_all_time(rows[r].is_same);
	}
}

FG_TEST(changed_code_takes_time_from_half_a_percent_of_the_samples_on)
{
	static const struct fg_profile_function other = {.name = "other", .library = "app"};

	for (uint32_t samples = 4; samples <= 5; samples++) {
		begin("_Z4worki=16:48:s other=0:0:c");
		(void)add(0, &other, samples);
		assert_takes_all_time(samples < 5);
	}
}

FG_TEST(a_changed_caller_at_any_distance_may_call_code_more_often)
{
	static const struct {
		const char *changed;
		bool has_changed_caller;
	} rows[] = {
		{"main", true},      {".init_array loop main.cold", true},
		{"other", false},    {"main_loop domain", false},
		{"other ...", true}, {NULL, false},
	};
	static const struct fg_profile_function callers[] = {{.name = "main", .library = "app"},
							     {.name = "loop", .library = "app"},
							     {.name = "other", .library = "app"}};

	for (size_t r = 0; r < FG_ARRAY_SIZE(rows); r++) {
		uint32_t caller;

		begin(NULL);
		if (rows[r].changed)
			fg_build_facts_set(&p.series->build[FG_ARM_CANDIDATE], "build.changed",
					   rows[r].changed);
		caller = add(add(0, &callers[0], 0), &callers[1], 0);
		sample(fg_profile_set_node(&p.set, caller, p.set.nodes[p.work].function), ALL / 2);
		(void)add(0, &callers[2], 1);
		assert_int_equal(fg_same_code_has_changed_caller(&p.set, p.series),
				 rows[r].has_changed_caller);
	}
}

FG_TEST(a_clone_that_changed_is_a_changed_caller)
{
	static const struct fg_profile_function clone = {.name = "loop.isra.0", .library = "app"};
	const struct fg_profile_function *work;

	begin("loop.isra.0=16:16:c");
	fg_build_facts_set(&p.series->build[FG_ARM_CANDIDATE], "build.changed", "loop.isra");
	work = &p.set.functions[p.set.nodes[p.work].function];
	(void)add(add(0, &clone, 0), work, ALL / 2);
	assert_true(fg_same_code_has_changed_caller(&p.set, p.series));
}

FG_TEST(nothing_is_known_where_more_than_a_twentieth_of_the_samples_has_no_stack)
{
	for (uint32_t samples = 50; samples <= 51; samples++) {
		begin("_Z4worki=16:48:s");
		sample(0, samples);
		assert_takes_all_time(samples <= 50);
	}
}

FG_TEST(without_a_sample_nothing_is_known)
{
	begin("_Z4worki=16:48:s");
	p.row->samples[0] = 0;
	assert_takes_all_time(false);
}

FG_TEST(the_kernel_and_jumps_of_the_linker_are_the_same_on_both_sides)
{
	static const struct {
		struct fg_profile_function function;
		bool is_same;
	} rows[] = {
		{{.name = "read_zero", .library = "[kernel]"}, true},
		{{.name = "gettime", .library = "[vdso]"}, true},
		{{.name = "[kernel]", .library = NULL}, true},
		{{.name = "memcpy@plt", .library = "app"}, true},
		{{.name = "@pltmemcpy", .library = "app"}, false},
		{{.name = "generated at run time", .library = NULL}, false},
		{{.name = "generated at run time", .library = "[JIT]"}, false},
		{{.name = "generated at run time", .library = "[unknown]"}, false},
	};

	for (size_t r = 0; r < FG_ARRAY_SIZE(rows); r++) {
		begin("_Z4worki=16:48:s");
		(void)add(p.work, &rows[r].function, 100);
		assert_takes_all_time(rows[r].is_same);
	}
}

FG_TEST(a_library_is_the_same_where_both_sides_know_one_build_id)
{
	static const struct fg_profile_function memcmp_function = {.name = "memcmp",
								   .library = "libc.so.6"};
	static const struct {
		const char *ids[FG_ARM_COUNT];
		bool is_same;
	} rows[] = {
		{{"abcd", "abcd"}, true},
		{{"abcd", "abce"}, false},
		{{"abcd", NULL}, false},
		{{NULL, "abcd"}, false},
		{{NULL, NULL}, false},
		{{"unreadable", "unreadable"}, false},
		{{"no build-id, 12 bytes", "no build-id, 12 bytes"}, false},
	};

	for (size_t r = 0; r < FG_ARRAY_SIZE(rows); r++) {
		begin("_Z4worki=16:48:s");
		(void)add(p.work, &memcmp_function, 100);
		for (size_t arm = 0; arm < FG_ARM_COUNT; arm++) {
			if (rows[r].ids[arm])
				fg_build_facts_set(&p.series->build[arm], "build.library.libc.so.6",
						   rows[r].ids[arm]);
		}
		assert_takes_all_time(rows[r].is_same);
	}
}

FG_TEST(inlined_code_belongs_to_the_function_that_contains_it)
{
	static const struct fg_profile_function inlined = {
		.name = "clamp", .library = "app", .inlined = true};

	begin("_Z4worki=16:48:s");
	(void)add(p.work, &inlined, 500);
	assert_takes_all_time(true);
}

FG_TEST(only_samples_of_time_in_repetitions_that_count_are_time)
{
	static const struct fg_profile_function other = {.name = "other", .library = "app"};
	static const uint16_t asides[] = {0, FG_ASIDE_WARMUP};
	const struct fg_measure bytes = fg_measure_describe("alloc_space", "bytes");

	for (size_t i = 0; i < FG_ARRAY_SIZE(asides); i++) {
		struct fg_profile_row *row;

		begin("_Z4worki=16:48:s other=0:0:c");
		row = fg_profile_set_add_row(&p.set, 1);
		row->aside = asides[i];
		row->measure = asides[i] ? 0 : fg_profile_set_measure(&p.set, &bytes);
		row->samples[0] = 100 * ALL;
		row->nodes[0] =
			fg_profile_set_node(&p.set, 0, fg_profile_set_function(&p.set, &other));
		assert_takes_all_time(true);
	}
}

/* ---- Which function is guilty, and which is named? ---- */

FG_TEST(a_sure_function_of_known_code_has_a_note_about_its_place)
{
	static const struct {
		const char *facts;
		enum fg_standing standing;
		const char *note;
	} rows[] = {
		{"_Z4worki=1040:1040:s", FG_STANDING_GUILTY,
		 "work(int): the machine code of the function and of everything it calls is "
		 "unchanged; at offset 1040 within a 4 KiB page on both sides"},
		{"_Z4worki=1040:1073:s", FG_STANDING_FASTER,
		 "work(int): the machine code of the function and of everything it calls is "
		 "unchanged; at offset 16 → 49 within a cache line (1040 → 1073 within a 4 KiB "
		 "page)"},
		{"_Z4worki=16:16:r", FG_STANDING_GUILTY,
		 "work(int): the function's own machine code is unchanged, but something it "
		 "calls has changed; at offset 16 within a 4 KiB page on both sides"},
		{"_Z4worki=16:16:c", FG_STANDING_GUILTY, NULL},
		{"_Z4worki=16:16:s", FG_STANDING_NOT_SURE, NULL},
		{"main=16:16:s", FG_STANDING_GUILTY, NULL},
	};

	for (size_t r = 0; r < FG_ARRAY_SIZE(rows); r++) {
		begin(rows[r].facts);
		(void)judge("work(int)", rows[r].standing);
		settle(true);
		assert_int_equal(p.verdict.notes.count, rows[r].note != NULL);
		if (rows[r].note)
			assert_string_equal(p.verdict.notes.items[0], rows[r].note);
	}
}

FG_TEST(a_fact_is_about_the_function_of_its_library)
{
	begin("_Z4worki=16:16:s");
	judge("work(int)", FG_STANDING_GUILTY)->library = "libother.so";
	settle(true);
	assert_int_equal(p.verdict.notes.count, 0);
}

/*
 * `work` is guilty with unchanged code; `other` changed, is not certain, and has this many samples.
 */
static struct fg_node_verdict *judge_with_other(const char *facts, uint32_t samples)
{
	static const struct fg_profile_function other = {
		.name = "other()", .linkage = "_Z5otherv", .library = "app"};

	begin(facts);
	(void)add(0, &other, samples);
	return judge("work(int)", FG_STANDING_GUILTY);
}

FG_TEST(the_only_changed_function_is_named_as_people_read_it)
{
	static const struct {
		const char *facts;
		uint32_t samples;
		bool total_changed;
		const char *named;
	} rows[] = {
		{"_Z4worki=0:0:s _Z5otherv=0:0:c", 5, true, "other()"},
		{"_Z4worki=0:0:s _Z5otherv=0:0:c", 4, true, NULL}, /* `other` takes no time */
		{"_Z4worki=0:0:s _Z5otherv=0:0:c", 5, false, NULL},
		{"_Z4worki=0:0:s _Z5otherv=0:0:r", 5, true, NULL},
		{"_Z4worki=0:0:s _Z5other=0:0:c", 5, true, NULL},
		{"_Z4worki=0:0:s _Z5othervx=0:0:c", 5, true, NULL}, /* `other` was not sampled */
		{"_Z4worki=0:0:s _Z5otherv=0:0:c main=0:0:c", 5, true, NULL},
	};

	for (size_t r = 0; r < FG_ARRAY_SIZE(rows); r++) {
		judge_with_other(rows[r].facts, rows[r].samples)->standing = FG_STANDING_NOT_SURE;
		settle(rows[r].total_changed);
		if (rows[r].named)
			assert_string_equal(p.verdict.only_changed, rows[r].named);
		else
			assert_null(p.verdict.only_changed);
	}
}

FG_TEST(no_other_function_is_named_next_to_a_guilty_one)
{
	(void)judge_with_other("_Z4worki=0:0:c", 5);
	(void)judge("other()", FG_STANDING_NOT_SURE);
	settle(true);
	assert_null(p.verdict.only_changed);
}
