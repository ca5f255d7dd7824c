// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"
#include "model/profile_set.h"
#include "profile/profile.h"
#include "tests/support/fg_test.h"

static uint32_t function(struct fg_profile_set *set, const char *name, const char *library)
{
	return fg_profile_set_function(
		set, &(struct fg_profile_function){.name = name, .library = library});
}

FG_TEST(a_new_set_has_the_program_as_its_root)
{
	struct fg_profile_set set;

	fg_profile_set_init(&set, "reco");
	assert_int_equal(set.function_count, 1);
	assert_string_equal(set.functions[0].name, "reco");
	assert_int_equal(set.node_count, 1);
	fg_profile_set_release(&set);
	fg_profile_set_init(&set, NULL);
	assert_string_equal(set.functions[0].name, "program");
	fg_profile_set_release(&set);
}

FG_TEST(functions_are_the_same_by_name_and_library)
{
	struct fg_profile_set set;
	uint32_t fit;

	fg_profile_set_init(&set, "p");
	fit = function(&set, "fit", "libreco.so");
	assert_int_equal(function(&set, "fit", "libreco.so"), fit);
	assert_int_not_equal(function(&set, "fit", "libother.so"), fit);
	assert_int_not_equal(function(&set, "fitlib", "reco.so"), fit);
	fg_profile_set_release(&set);
}

FG_TEST(gaps_are_filled_and_nothing_is_overwritten)
{
	struct fg_profile_set set;
	uint32_t fit;

	fg_profile_set_init(&set, "p");
	fit = function(&set, "fit()", "l");
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
	fg_profile_set_release(&set);
}

FG_TEST(a_function_seen_once_as_itself_is_not_marked_inlined)
{
	struct fg_profile_function get = {.name = "get", .library = "l", .inlined = true};
	struct fg_profile_set set;
	uint32_t index;

	fg_profile_set_init(&set, "p");
	index = fg_profile_set_function(&set, &get);
	assert_true(set.functions[index].inlined);
	get.inlined = false;
	assert_int_equal(fg_profile_set_function(&set, &get), index);
	assert_false(set.functions[index].inlined);
	fg_profile_set_release(&set);
}

/* program → main → (loop → fit, fit → fit) */
struct sample_set {
	struct fg_profile_set set;
	uint32_t main_node, loop, loop_fit, fit, fit_fit;
};

static void add_row(struct fg_profile_set *set, uint8_t arm, uint16_t aside, const uint32_t *nodes,
		    const double *self_ns, size_t count)
{
	struct fg_profile_row *row = fg_profile_set_add_row(set, count);

	row->arm = arm;
	row->aside = aside;
	for (size_t i = 0; i < count; i++) {
		row->nodes[i] = nodes[i];
		row->values[i] = self_ns[i];
		row->samples[i] = 1;
		row->total += self_ns[i];
	}
}

static void build(struct sample_set *s)
{
	uint32_t main_function, fit_function;

	fg_profile_set_init(&s->set, "p");
	main_function = function(&s->set, "main", "p");
	fit_function = function(&s->set, "fit", "p");
	s->main_node = fg_profile_set_node(&s->set, 0, main_function);
	s->loop = fg_profile_set_node(&s->set, s->main_node, function(&s->set, "loop", "p"));
	s->loop_fit = fg_profile_set_node(&s->set, s->loop, fit_function);
	s->fit = fg_profile_set_node(&s->set, s->main_node, fit_function);
	s->fit_fit = fg_profile_set_node(&s->set, s->fit, fit_function);
}

FG_TEST(mean_takes_only_the_rows_of_the_arm_that_count)
{
	struct sample_set s;
	double self[8];
	double inclusive[8];

	build(&s);
	add_row(&s.set, 0, 0, (uint32_t[]){s.loop_fit, s.fit_fit}, (double[]){10, 4}, 2);
	add_row(&s.set, 0, 0, (uint32_t[]){s.loop_fit}, (double[]){20}, 1);
	add_row(&s.set, 1, 0, (uint32_t[]){s.loop_fit}, (double[]){1000}, 1);
	add_row(&s.set, 0, 1, (uint32_t[]){s.loop_fit}, (double[]){5000}, 1);
	assert_int_equal(s.set.node_count, 6);
	assert_int_equal(fg_profile_set_mean(&s.set, FG_MEASURE_CPU_TIME, 0, self, inclusive), 2);
	assert_float_equal(self[s.loop_fit], 15.0, 1e-12);
	assert_float_equal(self[s.fit_fit], 2.0, 1e-12);
	assert_float_equal(inclusive[s.fit], 2.0, 1e-12);
	assert_float_equal(inclusive[s.main_node], 17.0, 1e-12);
	assert_float_equal(inclusive[0], 17.0, 1e-12);
	assert_int_equal(fg_profile_set_mean(&s.set, FG_MEASURE_CPU_TIME, 7, self, inclusive), 0);
	assert_float_equal(inclusive[0], 0.0, 0.0);
	fg_profile_set_release(&s.set);
}

FG_TEST(rows_of_another_measure_leave_the_mean_of_time_alone)
{
	const struct fg_measure bytes = fg_measure_describe("alloc_space", "bytes");
	struct sample_set s;
	double self[8];
	double inclusive[8];
	uint16_t id = 0;

	build(&s);
	id = fg_profile_set_measure(&s.set, &bytes);
	add_row(&s.set, 0, 0, (uint32_t[]){s.fit_fit}, (double[]){4096}, 1);
	s.set.rows[0].measure = id;
	add_row(&s.set, 0, 0, (uint32_t[]){s.loop_fit}, (double[]){20}, 1);
	assert_int_equal(fg_profile_set_time(&s.set), FG_MEASURE_CPU_TIME);
	assert_int_equal(fg_profile_set_mean(&s.set, FG_MEASURE_CPU_TIME, 0, self, inclusive), 1);
	assert_float_equal(inclusive[0], 20.0, 1e-12);
	assert_int_equal(fg_profile_set_mean(&s.set, id, 0, self, inclusive), 1);
	assert_float_equal(inclusive[0], 4096.0, 1e-12);
	s.set.rows[1].measure = FG_MEASURE_WALL_TIME;
	assert_int_equal(fg_profile_set_time(&s.set), FG_MEASURE_WALL_TIME);
	fg_profile_set_release(&s.set);
}

FG_TEST(recursion_is_found_at_any_distance)
{
	struct sample_set s;
	uint32_t far;
	bool *recursive;

	build(&s);
	far = fg_profile_set_node(&s.set, s.fit_fit, function(&s.set, "helper", "p"));
	far = fg_profile_set_node(&s.set, far, function(&s.set, "main", "p"));
	recursive = fg_profile_set_is_recursive(&s.set);
	assert_false(recursive[0]);
	assert_false(recursive[s.main_node]);
	assert_false(recursive[s.loop_fit]);
	assert_false(recursive[s.fit]);
	assert_true(recursive[s.fit_fit]);
	assert_true(recursive[far]);
	free(recursive);
	fg_profile_set_release(&s.set);
}

FG_TEST(regions_are_found_again_by_path)
{
	struct fg_profile_set set;
	uint32_t outer;

	fg_profile_set_init(&set, "p");
	outer = fg_profile_set_region(&set, "event");
	assert_int_not_equal(fg_profile_set_region(&set, "event/fit"), outer);
	assert_int_equal(fg_profile_set_region(&set, "event"), outer);
	fg_profile_set_add_region_row(&set)->region = outer;
	assert_int_equal(set.region_row_count, 1);
	fg_profile_set_release(&set);
}

FG_TEST(many_nodes_survive_growth)
{
	struct fg_profile_set set;
	uint32_t node = 0;

	fg_profile_set_init(&set, "p");
	for (int i = 0; i < 5000; i++) {
		char name[32];

		(void)snprintf(name, sizeof(name), "f%d", i % 700);
		node = fg_profile_set_node(&set, node, function(&set, name, "p"));
	}
	assert_int_equal(set.node_count, 5001);
	assert_int_equal(set.function_count, 701);
	assert_int_equal(set.nodes[5000].parent, 4999);
	assert_string_equal(set.functions[set.nodes[700].function].name, "f699");
	fg_profile_set_release(&set);
}

FG_TEST(a_set_becomes_a_profile_of_one_arm)
{
	struct fg_profile profile;
	struct sample_set s;
	struct fg_profile_region_row *region;

	build(&s);
	add_row(&s.set, 0, 0, (uint32_t[]){s.loop_fit, s.fit_fit}, (double[]){10, 4}, 2);
	add_row(&s.set, 1, 0, (uint32_t[]){s.loop_fit}, (double[]){1000}, 1);
	add_row(&s.set, 0, 0, (uint32_t[]){s.fit}, (double[]){6}, 1);
	region = fg_profile_set_add_region_row(&s.set);
	region->region = fg_profile_set_region(&s.set, "event/fit");
	region->count = 7;
	fg_profile_from_set(&profile, &s.set, 0);
	assert_int_equal(profile.repetition_count, 2);
	assert_int_equal(profile.sample_count, 3);
	assert_float_equal(profile.measures[0].total, 20.0, 1e-12);
	assert_int_equal(profile.samples[2].repetition, 1);
	assert_int_equal(profile.region_count, 3);
	assert_string_equal(profile.regions[2].path, "event/fit");
	assert_int_equal(profile.regions[2].count, 7);
	fg_profile_release(&profile);
	fg_profile_set_release(&s.set);
}
