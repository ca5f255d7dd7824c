// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"
#include "model/profile_set.h"
#include "profile/profile.h"
#include "tests/support/fg_test.h"

static struct fg_profile_set set;

static int begin(void **state)
{
	(void)state;
	fg_profile_set_init(&set, "p");
	return 0;
}

static int end(void **state)
{
	(void)state;
	fg_profile_set_release(&set);
	return 0;
}

static uint32_t function(const char *name, const char *library)
{
	return fg_profile_set_function(
		&set, &(struct fg_profile_function){.name = name, .library = library});
}

FG_TEST(a_new_set_has_the_program_as_its_root)
{
	fg_profile_set_init(&set, "reco");
	assert_int_equal(set.function_count, 1);
	assert_string_equal(set.functions[0].name, "reco");
	assert_int_equal(set.node_count, 1);
	fg_profile_set_release(&set);
	fg_profile_set_init(&set, NULL);
	assert_string_equal(set.functions[0].name, "program");
	fg_profile_set_release(&set);
}

FG_TEST_IN(functions_are_the_same_by_name_and_library, begin, end)
{
	uint32_t fit;

	fit = function("fit", "libreco.so");
	assert_int_equal(function("fit", "libreco.so"), fit);
	assert_int_not_equal(function("fit", "libother.so"), fit);
	assert_int_not_equal(function("fitlib", "reco.so"), fit);
}

FG_TEST_IN(gaps_are_filled_and_nothing_is_overwritten, begin, end)
{
	uint32_t fit;

	fit = function("fit()", "l");
	(void)fg_profile_set_function(&set, &(struct fg_profile_function){.name = "fit()",
									  .linkage = "_Z3fitv",
									  .library = "l",
									  .file = "fit.cpp",
									  .line = 8});
	(void)fg_profile_set_function(&set, &(struct fg_profile_function){.name = "fit()",
									  .linkage = "other",
									  .library = "l",
									  .file = "no.cpp",
									  .line = 9});
	assert_string_equal(set.functions[fit].file, "fit.cpp");
	assert_int_equal(set.functions[fit].line, 8);
	assert_string_equal(set.functions[fit].linkage, "_Z3fitv");
}

FG_TEST_IN(a_function_seen_once_as_itself_is_not_marked_inlined, begin, end)
{
	struct fg_profile_function get = {.name = "get", .library = "l", .inlined = true};
	uint32_t index = fg_profile_set_function(&set, &get);

	assert_true(set.functions[index].inlined);
	get.inlined = false;
	assert_int_equal(fg_profile_set_function(&set, &get), index);
	assert_false(set.functions[index].inlined);
}

/* program → main → (loop → fit, fit → fit) */
static struct {
	uint32_t main_node, loop, loop_fit, fit, fit_fit;
} s;

static void add_row(uint8_t arm, uint16_t aside, const uint32_t *nodes, const double *self_ns,
		    size_t count)
{
	struct fg_profile_row *row = fg_profile_set_add_row(&set, count);

	row->arm = arm;
	row->aside = aside;
	for (size_t i = 0; i < count; i++) {
		row->nodes[i] = nodes[i];
		row->values[i] = self_ns[i];
		row->samples[i] = 1;
		row->total += self_ns[i];
	}
}

static void build(void)
{
	uint32_t main_function, fit_function;

	main_function = function("main", "p");
	fit_function = function("fit", "p");
	s.main_node = fg_profile_set_node(&set, 0, main_function);
	s.loop = fg_profile_set_node(&set, s.main_node, function("loop", "p"));
	s.loop_fit = fg_profile_set_node(&set, s.loop, fit_function);
	s.fit = fg_profile_set_node(&set, s.main_node, fit_function);
	s.fit_fit = fg_profile_set_node(&set, s.fit, fit_function);
}

FG_TEST_IN(mean_takes_only_the_rows_of_the_arm_that_count, begin, end)
{
	double self[8];
	double inclusive[8];

	build();
	add_row(0, 0, (uint32_t[]){s.loop_fit, s.fit_fit}, (double[]){10, 4}, 2);
	add_row(0, 0, (uint32_t[]){s.loop_fit}, (double[]){20}, 1);
	add_row(1, 0, (uint32_t[]){s.loop_fit}, (double[]){1000}, 1);
	add_row(0, 1, (uint32_t[]){s.loop_fit}, (double[]){5000}, 1);
	assert_int_equal(set.node_count, 6);
	assert_int_equal(fg_profile_set_mean(&set, FG_MEASURE_CPU_TIME, 0, self, inclusive), 2);
	assert_float_equal(self[s.loop_fit], 15.0, 1e-12);
	assert_float_equal(self[s.fit_fit], 2.0, 1e-12);
	assert_float_equal(inclusive[s.fit], 2.0, 1e-12);
	assert_float_equal(inclusive[s.main_node], 17.0, 1e-12);
	assert_float_equal(inclusive[0], 17.0, 1e-12);
	assert_int_equal(fg_profile_set_mean(&set, FG_MEASURE_CPU_TIME, 7, self, inclusive), 0);
	assert_float_equal(inclusive[0], 0.0, 0.0);
}

FG_TEST_IN(rows_of_another_measure_leave_the_mean_of_time_alone, begin, end)
{
	const struct fg_measure bytes = fg_measure_describe("alloc_space", "bytes");
	double self[8];
	double inclusive[8];
	uint16_t id = 0;

	build();
	id = fg_profile_set_measure(&set, &bytes);
	add_row(0, 0, (uint32_t[]){s.fit_fit}, (double[]){4096}, 1);
	set.rows[0].measure = id;
	add_row(0, 0, (uint32_t[]){s.loop_fit}, (double[]){20}, 1);
	assert_int_equal(fg_profile_set_time(&set), FG_MEASURE_CPU_TIME);
	assert_int_equal(fg_profile_set_mean(&set, FG_MEASURE_CPU_TIME, 0, self, inclusive), 1);
	assert_float_equal(inclusive[0], 20.0, 1e-12);
	assert_int_equal(fg_profile_set_mean(&set, id, 0, self, inclusive), 1);
	assert_float_equal(inclusive[0], 4096.0, 1e-12);
	set.rows[1].measure = FG_MEASURE_WALL_TIME;
	assert_int_equal(fg_profile_set_time(&set), FG_MEASURE_WALL_TIME);
}

FG_TEST_IN(recursion_is_found_at_any_distance, begin, end)
{
	uint32_t far;
	bool *recursive;

	build();
	far = fg_profile_set_node(&set, s.fit_fit, function("helper", "p"));
	far = fg_profile_set_node(&set, far, function("main", "p"));
	recursive = fg_profile_set_is_recursive(&set);
	assert_false(recursive[0]);
	assert_false(recursive[s.main_node]);
	assert_false(recursive[s.loop_fit]);
	assert_false(recursive[s.fit]);
	assert_true(recursive[s.fit_fit]);
	assert_true(recursive[far]);
	free(recursive);
}

FG_TEST_IN(regions_are_found_again_by_path, begin, end)
{
	uint32_t outer = fg_profile_set_region(&set, "event");

	assert_int_not_equal(fg_profile_set_region(&set, "event/fit"), outer);
	assert_int_equal(fg_profile_set_region(&set, "event"), outer);
	fg_profile_set_add_region_row(&set)->region = outer;
	assert_int_equal(set.region_row_count, 1);
}

FG_TEST_IN(many_nodes_survive_growth, begin, end)
{
	uint32_t node = 0;

	for (int i = 0; i < 5000; i++) {
		char name[32];

		(void)snprintf(name, sizeof(name), "f%d", i % 700);
		node = fg_profile_set_node(&set, node, function(name, "p"));
	}
	assert_int_equal(set.node_count, 5001);
	assert_int_equal(set.function_count, 701);
	assert_int_equal(set.nodes[5000].parent, 4999);
	assert_string_equal(set.functions[set.nodes[700].function].name, "f699");
}

FG_TEST_IN(a_set_becomes_a_profile_of_one_arm, begin, end)
{
	struct fg_profile profile;
	struct fg_profile_region_row *region;

	build();
	add_row(0, 0, (uint32_t[]){s.loop_fit, s.fit_fit}, (double[]){10, 4}, 2);
	add_row(1, 0, (uint32_t[]){s.loop_fit}, (double[]){1000}, 1);
	add_row(0, 0, (uint32_t[]){s.fit}, (double[]){6}, 1);
	region = fg_profile_set_add_region_row(&set);
	region->region = fg_profile_set_region(&set, "event/fit");
	region->count = 7;
	fg_profile_from_set(&profile, &set, 0);
	assert_int_equal(profile.repetition_count, 2);
	assert_int_equal(profile.sample_count, 3);
	assert_float_equal(profile.measures[0].total, 20.0, 1e-12);
	assert_int_equal(profile.samples[2].repetition, 1);
	assert_int_equal(profile.region_count, 3);
	assert_string_equal(profile.regions[2].path, "event/fit");
	assert_int_equal(profile.regions[2].count, 7);
	fg_profile_release(&profile);
}
