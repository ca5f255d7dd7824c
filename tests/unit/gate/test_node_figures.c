// SPDX-License-Identifier: Apache-2.0
/*
 * The figures of functions, one by one. The differences of the pairs are the mean plus or minus a
 * swing, alternately: with ten pairs, the standard error of the mean is a third of the swing.
 */
#include "gate/node_family.h"
#include "gate/statistics/distributions.h"
#include "gate/statistics/signflip.h"
#include "tests/unit/gate/made_run.h"
#include "tests/unit/statistics/close.h"

enum {
	NODES_MAX = 64,
	PAIRS = 10,
};

/*
 * Half the interval at a swing of one: a third of the 99.5 % quantile of t with 9 degrees of
 * freedom.
 */
#define REACH (3.2498355415921254 / 3)
#define MS    1e6

struct node {
	uint32_t id;
	double ms[2];
	double swing;
	uint32_t samples; /* samples per repetition; 0: one per millisecond */
};

static struct program {
	struct fg_made made;
	struct fg_profile_set set;
	const struct fg_profile_set *sets[1];
	struct node nodes[NODES_MAX];
	size_t count;
} p;

/* Starts anew with an empty program. */
static void begin(void)
{
	fg_profile_set_release(&p.set);
	fg_made_release(&p.made);
	p = (struct program){.sets = {&p.set}};
	fg_made_init(&p.made, 1);
	fg_profile_set_init(&p.set, "app");
	p.made.input.profiles = p.sets;
}

static uint32_t add_of(uint32_t parent, const char *library, const char *name, struct node node)
{
	const struct fg_profile_function function = {
		.name = name, .library = library, .file = "app.c", .line = 7};

	node.id = fg_profile_set_node(&p.set, parent, fg_profile_set_function(&p.set, &function));
	p.nodes[p.count++] = node;
	return node.id;
}

static uint32_t add(uint32_t parent, const char *name, double before, double after, double swing)
{
	return add_of(parent, "app", name, (struct node){.ms = {before, after}, .swing = swing});
}

static double ms_of(const struct node *node, uint32_t pair, uint8_t arm)
{
	const double swing = arm ? (pair % 2 ? -node->swing : node->swing) : 0;

	return node->ms[arm] + swing;
}

static const struct fg_benchmark_verdict *measure(uint32_t pairs)
{
	struct fg_series *series = fg_run_add_series(&p.made.run, "app");

	series->schedule = FG_SCHEDULE_DUET;
	series->state = FG_MEASURED;
	for (size_t arm = 0; arm < FG_ARM_COUNT; arm++)
		fg_build_facts_set(&series->build[arm], "build.library.libc.so.6", "abcd");
	for (uint32_t pair = 0; pair < pairs; pair++) {
		for (uint8_t arm = 0; arm < FG_ARM_COUNT; arm++) {
			struct fg_profile_row *row = fg_profile_set_add_row(&p.set, p.count);
			struct fg_repetition *repetition = fg_series_add_repetition(series);

			row->arm = repetition->arm = arm;
			row->pair = repetition->pair = pair;
			row->count = (uint32_t)p.count;
			for (size_t i = 0; i < p.count; i++) {
				const double ms = ms_of(&p.nodes[i], pair, arm);

				row->nodes[i] = p.nodes[i].id;
				row->values[i] = ms * MS;
				row->samples[i] = p.nodes[i].samples ? p.nodes[i].samples
								     : (uint32_t)ceil(ms);
				row->total += ms * MS;
			}
			repetition->values[FG_METRIC_CPU_TIME] = row->total;
		}
	}
	return fg_made_decide(&p.made, "app");
}

static const struct fg_node_verdict *find(const struct fg_node_verdict *list, size_t count,
					  const char *name)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(list[i].name, name) == 0)
			return &list[i];
	}
	return NULL;
}

static const struct fg_node_verdict *function(const struct fg_benchmark_verdict *b,
					      const char *name)
{
	return find(b->time.functions, b->time.function_count, name);
}

static void check_interval(const struct fg_node_verdict *node, double delta, double swing)
{
	assert_non_null(node);
	assert_close(node->delta, delta, 3e-3);
	assert_close(node->low, delta - REACH * swing, 3e-3);
	assert_close(node->high, delta + REACH * swing, 3e-3);
}

/* main 10 → {parse 60 → 72, memcmp of the C library below it 10 → 24}, read 40, write 20 → 14 */
static const struct fg_benchmark_verdict *measure_parser(void)
{
	const struct fg_measure bytes = fg_measure_describe("alloc_space", "bytes");
	uint32_t top;
	uint32_t parse;

	begin();
	top = add(0, "main", 10, 10, 0.1);
	parse = add(top, "parse", 60, 72, 1);
	(void)add_of(parse, "libc.so.6", "memcmp", (struct node){.ms = {10, 24}, .swing = 0.5});
	(void)add(top, "read", 40, 40, 0.5);
	(void)add(top, "write", 20, 14, 0.3);
	for (uint8_t arm = 0; arm < FG_ARM_COUNT; arm++) { /* bytes say nothing about time */
		struct fg_profile_row *row = fg_profile_set_add_row(&p.set, 1);

		row->arm = arm;
		row->measure = fg_profile_set_measure(&p.set, &bytes);
		row->nodes[0] = top;
		row->samples[0] = 1000;
		row->values[0] = row->total = arm ? 1e12 : 1;
	}
	return measure(PAIRS);
}

FG_TEST(functions_have_the_time_of_unchanged_libraries_below_them)
{
	const struct fg_benchmark_verdict *b = measure_parser();
	const struct fg_node_verdict *parse = &b->time.functions[0];
	const struct fg_node_verdict *write = &b->time.functions[1];

	assert_int_equal(b->time.functions_tested, 4);
	assert_int_equal(b->time.function_count, 2);
	assert_string_equal(parse->name, "parse");
	assert_string_equal(parse->file, "app.c");
	assert_int_equal(parse->standing, FG_STANDING_GUILTY);
	assert_int_equal(parse->outcome, FG_OUTCOME_REGRESSION);
	check_interval(parse, 26, 1.5);
	assert_close(parse->self[0], 70, 3e-3);
	assert_close(parse->self[1], 96, 3e-3);
	assert_close(parse->inclusive[0], 70, 3e-3);
	assert_close(parse->inclusive[1], 96, 3e-3);
	assert_true(isnan(parse->share_of_change)); /* more than the whole */
	assert_true(parse->p_adjusted > 0 && parse->p_adjusted <= 0.01);
	assert_string_equal(write->name, "write");
	assert_int_equal(write->standing, FG_STANDING_FASTER);
	check_interval(write, -6, 0.3);
	assert_true(isnan(write->share_of_change));
	assert_close(b->time.total_delta, 20, 3e-3);
	assert_near(b->time.everything_else, 0, 0.05);
	assert_near(b->time.unattributed, 0, 0.05);
	assert_false(b->time.is_unexplained);
	assert_true(fg_made_has_note(&b->notes, "ms is in memcmp"));
}

FG_TEST(code_made_at_run_time_is_blamed_itself)
{
	const struct fg_benchmark_verdict *b = NULL;
	uint32_t top = 0;

	begin();
	top = add(0, "main", 10, 10, 0.1);
	(void)add_of(top, "[JIT]", "compiled", (struct node){.ms = {60, 80}, .swing = 0.5});
	b = measure(PAIRS);
	assert_int_equal(b->time.function_count, 1);
	assert_string_equal(b->time.functions[0].name, "compiled");
	assert_int_equal(b->time.functions[0].standing, FG_STANDING_GUILTY);
}

FG_TEST(a_path_names_every_frame_and_libraries_add_up_by_their_own_code)
{
	const struct fg_benchmark_verdict *b = measure_parser();
	const struct fg_node_verdict *parse = &b->time.functions[0];

	assert_int_equal(parse->path_count, 1);
	assert_int_equal(parse->paths[0].frame_count, 2);
	assert_string_equal(parse->paths[0].frames[0], "main");
	assert_string_equal(parse->paths[0].frames[1], "parse");
	assert_int_equal(parse->paths[0].outcome, FG_OUTCOME_REGRESSION);
	assert_close(parse->paths[0].delta, 26, 3e-3);
	assert_close(parse->paths[0].low, 26 - REACH * 1.5, 3e-3);
	assert_close(parse->paths[0].high, 26 + REACH * 1.5, 3e-3);
	assert_int_equal(b->time.library_count, 2);
	assert_string_equal(b->time.libraries[0].name, "libc.so.6");
	check_interval(&b->time.libraries[0], 14, 0.5);
	check_interval(&b->time.libraries[1], 6, 1.9);
	assert_close(b->time.libraries[1].self[0], 130, 3e-3);
	assert_true(isnan(b->time.libraries[0].inclusive[0]));
}

/* Two functions are slower, each on its own paths; `fit` is faster or unchanged on other paths. */
FG_TEST(a_function_has_the_paths_that_changed_as_it_did)
{
	const struct fg_benchmark_verdict *b = NULL;
	const struct fg_node_verdict *fit = NULL;
	const struct fg_node_verdict *scan = NULL;
	uint32_t callers[5] = {0};

	begin();
	(void)add(0, "scan", 30, 40, 0.1);
	for (size_t i = 0; i < FG_ARRAY_SIZE(callers); i++) {
		char name[16];

		(void)snprintf(name, sizeof(name), "caller_%zu", i);
		callers[i] = add(0, name, 5, 5, 0.1);
	}
	(void)add(callers[0], "fit", 20, 20.9, 0.1);
	(void)add(callers[1], "fit", 20, 30, 0.1);
	(void)add(callers[2], "fit", 10, 8, 0.1);
	(void)add(callers[3], "fit", 10, 10, 0);
	(void)add(callers[4], "fit", 10, 13, 0.1);
	b = measure(PAIRS);
	fit = function(b, "fit");
	scan = function(b, "scan");
	assert_int_equal(b->time.function_count, 2);
	assert_int_equal(fit->path_count, 3);
	assert_close(fit->paths[0].delta, 10, 3e-3);
	assert_string_equal(fit->paths[0].frames[0], "caller_1");
	assert_close(fit->paths[1].delta, 3, 3e-3);
	assert_string_equal(fit->paths[1].frames[0], "caller_4");
	assert_close(fit->paths[2].delta, 0.9, 3e-3);
	assert_string_equal(fit->paths[2].frames[0], "caller_0");
	for (size_t i = 0; i < 3; i++)
		assert_true(fit->paths[i].p_adjusted > 0 && fit->paths[i].p_adjusted <= 0.01);
	assert_int_equal(scan->path_count, 1);
	assert_int_equal(scan->paths[0].frame_count, 1);
	assert_string_equal(scan->paths[0].frames[0], "scan");
}

/* Nothing below 50 samples is tested. */
FG_TEST(the_five_largest_of_seven_paths_are_shown_and_rare_ones_untested)
{
	const struct fg_node_verdict *fit = NULL;

	begin();
	(void)add(0, "main", 50, 50, 0.1);
	for (int i = 0; i < 7; i++) {
		char name[16];

		(void)snprintf(name, sizeof(name), "caller_%d", i);
		(void)add_of(add(0, name, 5, 5, 0.1), "app", "fit",
			     (struct node){.ms = {10, 11 + i}, .samples = i == 6 ? 1 : 10});
	}
	fit = function(measure(PAIRS), "fit");
	assert_non_null(fit);
	assert_int_equal(fit->path_count, 5);
	for (int i = 0; i < 5; i++)
		assert_close(fit->paths[i].delta, 7 - i, 3e-3);
	assert_true(isnan(fit->paths[0].p_adjusted));
	assert_false(isnan(fit->paths[1].p_adjusted));
}

FG_TEST(the_inner_frames_of_a_deep_path_are_shown)
{
	const struct fg_node_verdict *fit = NULL;
	uint32_t at = 0;

	begin();
	for (int i = 0; i < 600; i++) {
		char name[16];

		(void)snprintf(name, sizeof(name), "f%d", i);
		const struct fg_profile_function f = {.name = name, .library = "app"};

		at = fg_profile_set_node(&p.set, at, fg_profile_set_function(&p.set, &f));
	}
	(void)add(at, "fit", 20, 30, 0.1);
	fit = function(measure(PAIRS), "fit");
	assert_int_equal(fit->paths[0].frame_count, 512);
	assert_string_equal(fit->paths[0].frames[511], "fit");
	assert_string_equal(fit->paths[0].frames[510], "f599");
	assert_string_equal(fit->paths[0].frames[0], "f89");
}

enum {
	ENTITIES = 4, /* the second has too few samples to be tested */
	TESTED = ENTITIES - 1,
};

/*
 * Sets p against growth and then against shrinking, for the tested entities, by their shares of
 * alpha.
 */
static void flip_signs(const struct fg_pair_matrix *matrix, const double shares[TESTED],
		       double *chances)
{
	float handicap[TESTED];
	size_t start[TESTED + 1];
	float values[TESTED * PAIRS];
	const struct fg_sparse_rows rows = {.row_count = TESTED,
					    .column_count = PAIRS,
					    .start = start,
					    .columns = matrix->columns,
					    .values = values,
					    .handicap = handicap};

	for (size_t row = 0; row < TESTED; row++) {
		const size_t entity = row > 0 ? row + 1 : 0;

		start[row] = row * PAIRS;
		memcpy(&values[row * PAIRS], &matrix->values[entity * PAIRS],
		       PAIRS * sizeof(values[0]));
		handicap[row] = (float)(fg_normal_quantile(0.01 / TESTED) -
					fg_normal_quantile(0.01 * shares[row]));
	}
	start[TESTED] = (size_t)TESTED * PAIRS;
	fg_signflip_max_t(&rows, 600, 3, chances, chances + TESTED);
}

FG_TEST(half_of_the_error_allowance_is_shared_evenly_and_half_by_size)
{
	static const double sizes[ENTITIES] = {100, 500, 20, 4};
	const double even[TESTED] = {1.0 / 3, 1.0 / 3, 1.0 / 3};
	const double shares[TESTED] = {0.5 / 3 + 50.0 / 124, 0.5 / 3 + 10.0 / 124,
				       0.5 / 3 + 2.0 / 124};
	struct fg_entity entities[ENTITIES];
	size_t start[ENTITIES + 1];
	uint32_t columns[ENTITIES * PAIRS];
	float values[ENTITIES * PAIRS];
	const struct fg_pair_matrix matrix = {.count = ENTITIES,
					      .pair_count = PAIRS,
					      .entities = entities,
					      .start = start,
					      .columns = columns,
					      .values = values};
	const struct fg_policy policy = {.function_alpha = 0.01};
	const struct fg_node_context c = {.policy = &policy};
	struct fg_node_family family;
	double weighted[2 * TESTED];
	double unweighted[2 * TESTED];

	for (uint32_t i = 0; i < ENTITIES * PAIRS; i++) {
		const uint32_t entity = i / PAIRS;
		const uint32_t pair = i % PAIRS;

		entities[entity] = (struct fg_entity){.baseline = 0.25 * sizes[entity],
						      .candidate = 0.75 * sizes[entity],
						      .samples = entity == 1 ? 49 : 50};
		start[entity] = (size_t)entity * PAIRS;
		columns[i] = pair;
		values[i] = (float)((pair * 7 + entity * 3) % 11) - (entity % 2 ? 6.5F : 3.5F);
	}
	start[ENTITIES] = (size_t)ENTITIES * PAIRS;
	flip_signs(&matrix, shares, weighted);
	flip_signs(&matrix, even, unweighted);
	assert_memory_not_equal(weighted, unweighted, sizeof(weighted));
	fg_node_family_test(&c, &family, &matrix, 50, 3);
	assert_int_equal(family.tested_count, TESTED);
	for (size_t entity = 0; entity < ENTITIES; entity++) {
		const size_t row = entity > 0 ? entity - 1 : 0;

		assert_int_equal(family.tested[entity], entity != 1);
		assert_near(family.p_up[entity], entity == 1 ? 1 : weighted[row], 1e-12);
		assert_near(family.p_down[entity], entity == 1 ? 1 : weighted[TESTED + row], 1e-12);
	}
	fg_node_family_release(&family);
	assert_null(family.tested);
}

/* At alpha 0.5 the interval reaches to the 75 % quantile of t, here with 9 degrees of freedom. */
FG_TEST(an_interval_is_as_wide_as_the_error_rate_requires)
{
	const double reach = 0.70272214675132 / 3;
	const struct fg_node_verdict *parse;

	begin();
	p.made.policy.function_alpha = 0.5;
	(void)add(0, "main", 50, 50, 0.1);
	(void)add(0, "parse", 50, 62, 1.5);
	parse = function(measure(PAIRS), "parse");
	assert_close(parse->low, 12 - reach * 1.5, 3e-3);
	assert_close(parse->high, 12 + reach * 1.5, 3e-3);
}

/* Adds two regions, of which the first takes most of the time; returns p of the requested one. */
static double p_of_region(const char *const order[2], const char *name)
{
	const struct fg_benchmark_verdict *b;
	const struct fg_node_verdict *found;
	double p_adjusted;

	begin();
	(void)add(0, "main", 120, 120, 0.1);
	for (size_t i = 0; i < 2; i++) {
		const bool large = strcmp(order[i], "large") == 0;
		const uint32_t region = fg_profile_set_region(&p.set, order[i]);

		for (uint32_t pair = 0; pair < PAIRS; pair++) {
			for (uint8_t arm = 0; arm < FG_ARM_COUNT; arm++) {
				const double off = (double)(pair * (large ? 3 : 7) % 11) - 4;

				*fg_profile_set_add_region_row(
					&p.set) = (struct fg_profile_region_row){
					.region = region,
					.pair = pair,
					.arm = arm,
					.cpu_ns = MS * ((large ? 100 : 5) + (arm ? 0.1 * off : 0))};
			}
		}
	}
	b = measure(PAIRS);
	found = find(b->time.regions, b->time.region_count, name);
	p_adjusted = found->p_adjusted;
	return p_adjusted;
}

FG_TEST(the_order_in_which_regions_were_seen_makes_no_difference)
{
	static const char *const orders[2][2] = {{"large", "small"}, {"small", "large"}};

	for (size_t i = 0; i < 2; i++) {
		const double chance = p_of_region(orders[0], orders[0][i]);

		assert_true(chance > 0.02 && chance < 0.98);
		assert_near(p_of_region(orders[1], orders[0][i]), chance, 1e-12);
	}
}

FG_TEST(at_most_fifty_functions_are_named)
{
	const struct fg_benchmark_verdict *b = NULL;

	begin();
	for (int i = 0; i < 52; i++) {
		char name[16];

		(void)snprintf(name, sizeof(name), "%c%c_part", 'a' + i % 26, 'a' + i / 26);
		(void)add(0, name, 20, 30 + 0.01 * i, 0.1);
	}
	b = measure(PAIRS);
	assert_int_equal(b->time.function_count, 50);
	assert_close(b->time.functions[0].delta, 10.51, 3e-3);
	assert_close(b->time.functions[49].delta, 10.02, 3e-3);
}

/* Certain changes come first, then possible ones, then unimportant ones, whatever their size. */
FG_TEST(sure_rows_precede_suspects_and_these_precede_moves)
{
	static const struct {
		const char *name;
		enum fg_standing standing;
	} wanted[] = {{"parse", FG_STANDING_GUILTY},
		      {"draw", FG_STANDING_NOT_SURE},
		      {"taker", FG_STANDING_MOVED}};
	const struct fg_benchmark_verdict *b = NULL;
	uint32_t work;

	begin();
	work = add(0, "work", 9, 9, 0.1);
	(void)add(work, "taker", 40, 70, 0.1);
	(void)add(0, "draw", 40, 41.2, 2.7);
	(void)add(work, "giver", 70, 40, 0.1);
	(void)add(add(0, "main", 9, 9, 0.1), "parse", 60, 79, 0.1);
	b = measure(PAIRS);
	assert_int_equal(b->time.function_count, FG_ARRAY_SIZE(wanted));
	for (size_t i = 0; i < FG_ARRAY_SIZE(wanted); i++) {
		assert_string_equal(b->time.functions[i].name, wanted[i].name);
		assert_int_equal(b->time.functions[i].standing, wanted[i].standing);
	}
}

/*
 * The leaf with the larger share is named, whichever was seen first; a kernel function is marked as
 * such.
 */
FG_TEST(a_leaf_of_less_than_half_of_a_change_is_not_named)
{
	static const struct {
		double own;
		double leaf;
		bool is_named;
	} rows[] = {
		{15, 5, false}, {9, 11, true}, {11, 9, false}, {-9, -11, true}, {-11, -9, false}};

	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		const struct fg_benchmark_verdict *b = NULL;
		uint32_t parse = 0;

		begin();
		parse = add(0, "parse", 60, 60 + rows[i].own, 0.1);
		(void)add_of(parse, "libc.so.6", "memcmp",
			     (struct node){.ms = {20, 20 + rows[i].leaf}, .swing = 0.1});
		b = measure(PAIRS);
		assert_true(fg_standing_is_sure(function(b, "parse")->standing));
		assert_int_equal(fg_made_has_note(&b->notes, "ms is in memcmp"), rows[i].is_named);
	}
}

FG_TEST(the_leaf_that_most_of_a_change_is_spent_in_is_named)
{
	static const struct {
		const char *names[2];
		double more[2];
		const char *library;
		const char *note;
	} rows[] = {
		{{"memcmp", "memcpy"},
		 {14, 16},
		 "libc.so.6",
		 "parse: most of its change of +20.00 ms is in memcpy"},
		{{"memcmp", "memcpy"},
		 {16, 14},
		 "libc.so.6",
		 "parse: most of its change of +20.00 ms is in memcmp"},
		{{"read_zero", "copy"},
		 {25, 5},
		 "[kernel]",
		 "parse: most of its change of +20.00 ms is in read_zero [kernel]"},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		const struct fg_benchmark_verdict *b = NULL;
		uint32_t parse = 0;

		begin();
		for (size_t k = 0; k < 2; k++) { /* the leaves are the first functions */
			const struct fg_profile_function leaf = {.name = rows[i].names[k],
								 .library = rows[i].library,
								 .file = "app.c",
								 .line = 7};

			(void)fg_profile_set_function(&p.set, &leaf);
		}
		parse = add(0, "parse", 60, 50, 0.1);
		for (size_t k = 0; k < 2; k++)
			(void)add_of(parse, rows[i].library, rows[i].names[k],
				     (struct node){.ms = {10, 10 + rows[i].more[k]}, .swing = 0.1});
		(void)add_of(add(0, "print", 30, 30, 0.1), "libc.so.6", "vfprintf",
			     (struct node){.ms = {10, 22}, .swing = 0.1});
		b = measure(PAIRS);
		assert_true(fg_made_has_note(&b->notes, rows[i].note));
		assert_true(fg_made_has_note(
			&b->notes, "print: most of its change of +12.00 ms is in vfprintf"));
		assert_false(fg_made_has_note(&b->notes, "libc.so.6"));
	}
}

/* The total grows by 20 ms. A suspect has at least 5 % of that, and 1.3 standard errors. */
FG_TEST(a_suspect_changed_by_more_than_noise_and_a_twentieth_of_the_whole)
{
	static const struct {
		double delta;
		double swing;
		bool is_named;
	} rows[] = {
		{1.2, 2.7, true},   {1.15, 2.7, false}, {1.05, 2.0, true},
		{0.95, 1.9, false}, {-1.5, 2.7, false}, /* the other direction */
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		const struct fg_benchmark_verdict *b;
		const struct fg_node_verdict *named;

		begin();
		(void)add(0, "parse", 60, 80 - rows[i].delta, 0.1);
		(void)add(0, "fit", 40, 40 + rows[i].delta, rows[i].swing);
		b = measure(PAIRS);
		assert_close(b->time.total_delta, 20, 3e-3);
		named = function(b, "fit");
		assert_int_equal(named != NULL, rows[i].is_named);
		if (named) {
			assert_int_equal(named->standing, FG_STANDING_NOT_SURE);
			assert_int_equal(named->outcome, FG_OUTCOME_INCONCLUSIVE);
			assert_true(isnan(named->share_of_change));
			assert_near(b->time.unattributed, 0, 3e-3);
			assert_near(b->time.everything_else, rows[i].delta, 0.05);
		}
	}
}

FG_TEST(the_five_largest_suspects_are_named)
{
	const struct fg_benchmark_verdict *b;
	double largest = 0;

	begin();
	(void)add(0, "main", 100, 100, 0.1);
	for (int i = 0; i < 7; i++) {
		char name[16];
		const double delta = 2 + 0.1 * i;

		(void)snprintf(name, sizeof(name), "part_%d", i);
		/* The swings cancel out, so the total is certain. */
		(void)add(0, name, 20, 20 + delta, i % 2 ? 4 : -4);
		largest = delta;
	}
	b = measure(PAIRS);
	assert_int_equal(b->time.function_count, 5);
	for (size_t i = 0; i < 5; i++) {
		assert_int_equal(b->time.functions[i].standing, FG_STANDING_NOT_SURE);
		assert_close(b->time.functions[i].delta, largest - 0.1 * (double)i, 3e-3);
	}
}

FG_TEST(from_six_pairs_and_fifty_samples_on_a_function_is_tested)
{
	static const struct {
		uint32_t pairs;
		uint32_t samples; /* samples of `rare` in each repetition */
		size_t tested;
	} rows[] = {
		{5, 100, 0},
		{6, 100, 2},
		{25, 1, 2},
		{24, 1, 1},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		const struct fg_benchmark_verdict *b;

		begin();
		(void)add(0, "main", 100, 110, 0.1);
		(void)add_of(0, "app", "rare",
			     (struct node){.ms = {1, 1}, .samples = rows[i].samples});
		b = measure(rows[i].pairs);
		assert_int_equal(b->time.functions_tested, rows[i].tested);
		assert_int_equal(isnan(b->time.libraries[0].p_adjusted), rows[i].tested == 0);
	}
}

/* The floor is a quarter of a percent of the 200 ms that the baseline takes. */
FG_TEST(a_sure_change_below_the_floor_is_not_reported)
{
	static const struct {
		double change;
		enum fg_standing standing;
	} rows[] = {
		{0.51, FG_STANDING_GUILTY},
		{0.49, FG_STANDING_UNCHANGED},
		{-0.51, FG_STANDING_FASTER},
		{-0.49, FG_STANDING_UNCHANGED},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		const struct fg_benchmark_verdict *b;
		const struct fg_node_verdict *fit;

		begin();
		(void)add(0, "main", 150, rows[i].change > 0 ? 160 : 140, 0.5);
		(void)add(0, "fit", 50, 50 + rows[i].change, 0.01);
		b = measure(PAIRS);
		fit = function(b, "fit");
		if (rows[i].standing == FG_STANDING_UNCHANGED)
			assert_null(fit);
		else
			assert_int_equal(fit->standing, rows[i].standing);
	}
}

/* The margin of CPU time is 2 % of 100 ms. */
FG_TEST(a_library_passes_where_its_interval_lies_within_the_margin)
{
	static const struct {
		double change;
		double swing;
		enum fg_outcome outcome;
	} rows[] = {
		{0, 1.8, FG_OUTCOME_PASS},    {0, 1.9, FG_OUTCOME_INCONCLUSIVE},
		{0.3, 1.5, FG_OUTCOME_PASS},  {0.4, 1.5, FG_OUTCOME_INCONCLUSIVE},
		{-0.3, 1.5, FG_OUTCOME_PASS}, {-0.4, 1.5, FG_OUTCOME_INCONCLUSIVE},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		const struct fg_benchmark_verdict *b;

		begin();
		(void)add(0, "main", 60, 60, 0.1);
		(void)add_of(
			0, "libm.so.6", "exp",
			(struct node){.ms = {40, 40 + rows[i].change}, .swing = rows[i].swing});
		b = measure(PAIRS);
		assert_int_equal(
			find(b->time.libraries, b->time.library_count, "libm.so.6")->outcome,
			rows[i].outcome);
	}
}

FG_TEST(no_share_is_above_the_whole)
{
	static const struct {
		double fit;
		double scan;
		bool is_shared;
	} rows[] = {{10, 5, true}, {15, -5, false}, {-10, -5, true}};

	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		const struct fg_benchmark_verdict *b;

		begin();
		(void)add(0, "fit", 60, 60 + rows[i].fit, 0.1);
		(void)add(0, "scan", 60, 60 + rows[i].scan, 0.1);
		b = measure(PAIRS);
		assert_int_equal(!isnan(function(b, "fit")->share_of_change), rows[i].is_shared);
		assert_int_equal(!isnan(function(b, "scan")->share_of_change), rows[i].is_shared);
	}
}

/* The remainder or the new part is at most 5 % of the other side. */
FG_TEST(the_kind_of_a_move_follows_from_both_sides)
{
	static const char *const ancestors[] = {"main", "giver", "taker"}; /* by shape */
	static const struct {
		double giver[2];
		double taker[2];
		int shape; /* 0: siblings; 1: the receiver is below the giver; 2: above */
		const char *kind;
	} rows[] = {
		{{40, 2}, {2, 40}, 0, "renamed"},   {{40, 2.2}, {2, 40.2}, 0, "moved"},
		{{40, 2}, {2.2, 40.2}, 0, "moved"}, {{60, 30}, {1, 31}, 1, "extracted"},
		{{60, 30}, {2, 32}, 1, "moved"},    {{30, 1}, {60, 89}, 2, "inlined"},
		{{30, 2}, {60, 88}, 2, "moved"},    {{60, 30}, {1, 31}, 0, "moved"},
		{{30, 1}, {60, 89}, 0, "moved"},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		const struct fg_benchmark_verdict *b;
		const double *giver = rows[i].giver;
		const double *taker = rows[i].taker;
		uint32_t top;

		begin();
		p.made.policy.functions = FG_FUNCTIONS_GATE;
		top = add(0, "main", 50, 50, 0.1);
		if (rows[i].shape == 2)
			top = add(top, "taker", taker[0], taker[1], 0.1);
		top = add(top, "giver", giver[0], giver[1], 0.1);
		if (rows[i].shape != 2)
			(void)add(rows[i].shape == 1 ? top : p.nodes[0].id, "taker", taker[0],
				  taker[1], 0.1);
		b = measure(PAIRS);
		assert_int_not_equal(b->outcome, FG_OUTCOME_REGRESSION);
		assert_int_equal(b->time.moved_count, 1);
		assert_string_equal(b->time.moved[0].from, "giver");
		assert_string_equal(b->time.moved[0].to, "taker");
		assert_string_equal(b->time.moved[0].kind, rows[i].kind);
		assert_string_equal(b->time.moved[0].ancestor, ancestors[rows[i].shape]);
		assert_string_equal(b->time.moved[0].unit, "ms");
		assert_close(b->time.moved[0].amount,
			     fmin(taker[1] - taker[0], giver[0] - giver[1]), 3e-3);
		assert_int_equal(function(b, "taker")->standing, FG_STANDING_MOVED);
		assert_int_equal(function(b, "taker")->outcome, FG_OUTCOME_PASS);
		assert_null(function(b, "giver"));
	}
}

FG_TEST(functions_that_changed_as_much_are_sorted_by_name)
{
	static const struct fg_node_verdict nodes[] = {
		{.name = "a", .delta = 2}, {.name = "b", .delta = -2}, {.name = "c", .delta = 3}};

	assert_true(fg_node_compare(&nodes[0], &nodes[1]) < 0);
	assert_true(fg_node_compare(&nodes[1], &nodes[0]) > 0);
	assert_int_equal(fg_node_compare(&nodes[0], &nodes[0]), 0);
	assert_true(fg_node_compare(&nodes[2], &nodes[0]) < 0);
	assert_true(fg_node_compare(&nodes[1], &nodes[2]) > 0);
}

FG_TEST(without_samples_of_one_side_no_function_is_blamed)
{
	static const struct {
		uint8_t arm;
		double seen; /* sampled part of the arm's time */
		double all;
		const char *note; /* NULL: functions are blamed */
	} rows[] = {
		{0, 51, 100, NULL},
		{0, 49, 100, "saw 49 % of the baseline's CPU time and 100 % of the candidate's;"},
		{1, 49, 100, "saw 100 % of the baseline's CPU time and 49 % of the candidate's;"},
		{0, 0.2, 1.9, NULL},
		{0, 0.2, 2.1, "no function is blamed: the sampler saw"},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		const double other = 1.2 * rows[i].all;
		struct fg_series *series;

		begin();
		(void)add(0, "main", rows[i].arm ? other : rows[i].seen,
			  rows[i].arm ? rows[i].seen : other, 0.01);
		(void)measure(PAIRS);
		series = fg_made_series(&p.made, "app");
		for (size_t r = 0; r < series->repetition_count; r++) {
			struct fg_repetition *repetition = &series->repetitions[r];

			if (repetition->arm == rows[i].arm)
				repetition->values[FG_METRIC_CPU_TIME] = rows[i].all * MS;
		}
		(void)fg_made_decide(&p.made, "app");
		assert_int_equal(fg_made_has_note(&p.made.verdict.benchmarks[0].notes,
						  "no function is blamed"),
				 rows[i].note != NULL);
		if (rows[i].note)
			assert_true(fg_made_has_note(&p.made.verdict.benchmarks[0].notes,
						     rows[i].note));
	}
}
