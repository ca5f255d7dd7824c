// SPDX-License-Identifier: Apache-2.0
#include "base/strbuf.h"
#include "profile/calltree.h"
#include "profile/select.h"
#include "tests/support/fg_test.h"
#include "tests/support/known_profile.h"

#include <math.h>

#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Prints path and figure of every node, one line each, in the tree's order. */
static void print_tree(const struct fg_calltree *tree, struct fg_strbuf *text)
{
	uint32_t at = 0;

	while (at != UINT32_MAX) {
		const struct fg_calltree_node *node = &tree->nodes[at];

		fg_strbuf_printf(text, "%u %s [%s] %.3f %.3f %llu\n", node->depth,
				 tree->labels[node->label].name, tree->labels[node->label].library,
				 tree->self[0][at].value, tree->inclusive[0][at].value,
				 (unsigned long long)tree->self[0][at].samples);
		if (node->first_child) {
			at = node->first_child;
			continue;
		}
		while (at != 0 && tree->nodes[at].next_sibling == 0)
			at = tree->nodes[at].parent;
		at = at == 0 ? UINT32_MAX : tree->nodes[at].next_sibling;
	}
}

static void print_profile(const struct fg_profile *profile, const struct fg_calltree_query *query,
			  struct fg_strbuf *text)
{
	struct fg_calltree tree;
	struct fg_error err = {0};

	if (fg_calltree_build(profile, query, &tree, &err) != FG_OK)
		fail_msg("%s", err.message);
	print_tree(&tree, text);
	fg_calltree_release(&tree);
}

static void select_part(const struct fg_profile *profile, const struct fg_calltree_query *query,
			struct fg_profile *selected)
{
	struct fg_error err = {0};

	if (fg_profile_select(profile, query, selected, &err) != FG_OK)
		fail_msg("%s", err.message);
}

FG_TEST(a_selected_profile_has_the_tree_of_its_query)
{
	/* clang-format off */
	const struct fg_calltree_query queries[] = {
		{0},
		{.focus = LIST("^loop"), .ignore = LIST("^log", "^walk")},
		{.hide = LIST("^fit", "^walk")},
		{.root = "^fit"},
		{.leaf = "^visit"},
		{.ancestors = LIST("^fit", "^write_out")},
		{.rename = LIST("s/^(fit|visit|norm).*/work/")},
		{.collapse_templates = true, .mangled = true},
		{.fold_inlined = true},
		{.group = FG_GROUP_LIBRARY},
		{.group = FG_GROUP_FILE},
		{.group = FG_GROUP_CLASS},
		{.group = FG_GROUP_LINE},
		{.split = FG_SPLIT_THREAD},
		{.split = FG_SPLIT_REGION},
		{.split = FG_SPLIT_UNIT, .only_units = true},
		{.thread = "worker"},
		{.region = "^reco/fit"},
		{.unit_kind = "^event$", .unit_first = 2, .unit_last = 3, .only_units = true},
		{.from_ns = 20000000, .to_ns = 50000000},
	};
	/* clang-format on */
	struct fg_profile profile;

	known_profile_init(&profile);
	for (size_t i = 0; i < FG_ARRAY_SIZE(queries); i++) {
		struct fg_strbuf expected = {0};
		struct fg_strbuf found = {0};
		struct fg_profile selected;

		select_part(&profile, &queries[i], &selected);
		print_profile(&profile, &queries[i], &expected);
		print_profile(&selected, &(struct fg_calltree_query){0}, &found);
		if (strcmp(fg_strbuf_text(&expected), fg_strbuf_text(&found)) != 0)
			fail_msg("query %zu:\n%s\nis not\n%s", i, fg_strbuf_text(&found),
				 fg_strbuf_text(&expected));
		fg_strbuf_release(&expected);
		fg_strbuf_release(&found);
		fg_profile_release(&selected);
	}
	fg_profile_release(&profile);
}

static double total_with(const struct fg_profile *profile, const char *pattern)
{
	const struct fg_calltree_query query = {.focus = LIST(pattern)};
	struct fg_profile selected;
	double total = 0;

	select_part(profile, &query, &selected);
	total = selected.measures[0].total;
	fg_profile_release(&selected);
	return total;
}

FG_TEST(a_pattern_may_mean_the_name_alone_or_name_and_library)
{
	struct fg_profile profile;
	double expected = 0;

	known_profile_init(&profile);
	expected = total_with(&profile, "^compress");
	assert_true(expected > 0);
	assert_float_equal(total_with(&profile, "^compress$"), expected, 0);
	assert_float_equal(total_with(&profile, "^compress \\[libz.so.1]$"), expected, 0);
	assert_float_equal(total_with(&profile, "\\[libz"), expected, 0);
	assert_float_equal(total_with(&profile, "^compress$ "), 0, 0);
	fg_profile_release(&profile);
}

FG_TEST(samples_keep_their_time_thread_region_and_unit)
{
	const struct fg_calltree_query query = {
		.unit_first = 3, .unit_last = 3, .only_units = true};
	struct fg_profile profile;
	struct fg_profile selected;
	double total = 0;

	known_profile_init(&profile);
	select_part(&profile, &query, &selected);
	assert_int_equal(selected.sample_count, 20);
	assert_true(selected.has_times);
	for (size_t i = 0; i < selected.sample_count; i++) {
		const struct fg_sample *sample = &selected.samples[i];

		total += sample->value;
		assert_int_equal(selected.units[sample->unit].number, 3);
		assert_string_equal(selected.threads[sample->thread].name, profile.threads[0].name);
		assert_non_null(strstr(selected.regions[sample->region].path, "reco"));
	}
	assert_true(fabs(total - selected.measures[0].total) < 1e-6);
	assert_int_equal(selected.unit_count, 2); /* "none", and the third */
	fg_profile_release(&selected);
	fg_profile_release(&profile);
}

FG_TEST(repetitions_become_their_mean)
{
	const struct fg_calltree_query query = {.per_repetition = true};
	struct fg_profile profile;
	struct fg_profile selected;

	known_profile_init(&profile);
	profile.repetition_count = 4;
	for (size_t i = 0; i < profile.sample_count; i++)
		profile.samples[i].repetition = (uint32_t)i % 4;
	select_part(&profile, &query, &selected);
	assert_int_equal(selected.repetition_count, 1);
	assert_true(fabs(selected.measures[0].total - profile.measures[0].total / 4) < 1e-6);
	for (size_t i = 0; i < selected.sample_count; i++)
		assert_int_equal(selected.samples[i].repetition, 0);
	fg_profile_release(&selected);
	fg_profile_release(&profile);
}

FG_TEST(anything_but_a_pattern_is_refused)
{
	const struct fg_calltree_query query = {.focus = LIST("(")};
	struct fg_profile profile;
	struct fg_profile selected = {0};
	struct fg_error err = {0};

	known_profile_init(&profile);
	assert_int_equal(fg_profile_select(&profile, &query, &selected, &err), FG_EINVAL);
	assert_non_null(strstr(err.message, "focus"));
	assert_null(selected.samples);
	fg_profile_release(&profile);
}
