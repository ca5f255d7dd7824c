// SPDX-License-Identifier: Apache-2.0
#include "base/fs.h"
#include "profile/views/graph.h"
#include "tests/support/fg_test.h"
#include "tests/support/golden.h"
#include "tests/support/known_profile.h"

#include <string.h>

static void build(const struct fg_profile *profile, struct fg_calltree *tree)
{
	const struct fg_calltree_query query = {0};
	struct fg_error err = {0};

	if (fg_calltree_build(profile, &query, tree, &err) != FG_OK)
		fail_msg("%s", err.message);
}

/* The known program's call tree, and its picture. */
struct scene {
	struct fg_calltree tree;
	struct fg_strbuf dot;
};

static int set_up(void **state)
{
	struct scene *scene = fg_xcalloc(1, sizeof(*scene));
	struct fg_profile profile;

	known_profile_init(&profile);
	build(&profile, &scene->tree);
	fg_profile_release(&profile);
	*state = scene;
	return 0;
}

static int tear_down(void **state)
{
	struct scene *scene = *state;

	fg_strbuf_release(&scene->dot);
	fg_calltree_release(&scene->tree);
	free(scene);
	return 0;
}

static void draw(const struct fg_calltree *tree, const struct fg_graph_options *options,
		 struct fg_strbuf *dot, struct fg_graph_summary *summary)
{
	struct fg_error err = {0};

	if (fg_graph_write_dot(tree, options, dot, summary, &err) != FG_OK)
		fail_msg("%s", err.message);
}

FG_TEST_IN(the_known_graph_is_as_reviewed, set_up, tear_down)
{
	struct scene *scene = *state;
	const struct fg_graph_options options = {.title = "reco --events 4"};
	struct fg_graph_summary summary = {0};

	draw(&scene->tree, &options, &scene->dot, &summary);
	fg_golden_check("profile/known.dot", &scene->dot);
	assert_int_equal(summary.nodes, 10);
	assert_int_equal(summary.nodes_left_out, 0);
	assert_int_equal(summary.edges_left_out, 0);
}

FG_TEST_IN(focus_and_depth_keep_only_near_functions, set_up, tear_down)
{
	struct scene *scene = *state;
	struct fg_graph_options options = {.focus = "^fit", .depth = 1};
	struct fg_graph_summary summary = {0};
	struct fg_error err = {0};

	draw(&scene->tree, &options, &scene->dot, &summary);
	assert_int_equal(summary.nodes, 4); /* loop, fit, norm, log */
	assert_non_null(strstr(scene->dot.data, "loop(Event const&#38;)"));
	assert_null(strstr(scene->dot.data, ">main<"));
	assert_null(strstr(scene->dot.data, "visit"));
	options.focus = "nothing like it";
	assert_int_equal(fg_graph_write_dot(&scene->tree, &options, &scene->dot, &summary, &err),
			 FG_ENOENT);
	assert_non_null(strstr(err.message, "nothing like it"));
	options.focus = "((";
	assert_int_equal(fg_graph_write_dot(&scene->tree, &options, &scene->dot, &summary, &err),
			 FG_EINVAL);
}

/* Without write_out, its call of log is drawn as a dashed line from main to log. */
FG_TEST_IN(calls_over_omitted_functions_are_dashed, set_up, tear_down)
{
	struct scene *scene = *state;
	const struct fg_graph_options options = {.nodes = 9, .node_floor = 0.09};
	struct fg_graph_summary summary = {0};

	draw(&scene->tree, &options, &scene->dot, &summary);
	assert_int_equal(summary.nodes_left_out, 1); /* write_out: 8 of 100 */
	assert_non_null(strstr(scene->dot.data, "style=dashed"));
	assert_non_null(
		strstr(scene->dot.data, "left out: 1 of 10 functions, with 3.0 % of the time"));
}

FG_TEST(a_difference_is_red_where_slower_and_blue_where_faster)
{
	const struct fg_graph_options options = {.title = "before → after"};
	struct fg_strbuf dot = {0};
	struct fg_calltree before;
	struct fg_calltree after;
	struct fg_calltree difference;
	struct fg_profile profile;

	known_profile_init(&profile);
	build(&profile, &before);
	for (size_t i = 0; i < profile.sample_count; i++) {
		const uint32_t frame = profile.stacks[profile.samples[i].stack].frame;
		const char *name = profile.functions[profile.frames[frame].function].name;

		if (strcmp(name, "fit(Track&)") == 0)
			profile.samples[i].value *= 2;
		if (strcmp(name, "compress") == 0)
			profile.samples[i].value /= 2;
	}
	build(&profile, &after);
	fg_calltree_difference(&before, &after, &difference);
	draw(&difference, &options, &dot, NULL);
	assert_non_null(strstr(dot.data, "self +30.0 ms (30.0 ms → 60.0 ms)"));
	assert_non_null(strstr(dot.data, "self −5.00 ms (10.0 ms → 5.00 ms)"));
	assert_non_null(
		strstr(dot.data, "fillcolor=\"#ef8a62\"")); /* the largest change: full red */
	assert_non_null(strstr(dot.data, "incl 27.0 ms as before"));
	fg_golden_check("profile/known-difference.dot", &dot);
	fg_strbuf_release(&dot);
	fg_calltree_release(&difference);
	fg_calltree_release(&after);
	fg_calltree_release(&before);
	fg_profile_release(&profile);
}

static bool has_dot(void)
{
	char *program = fg_fs_find_program("dot");
	const bool found = program != NULL;

	free(program);
	return found;
}

static void render_or_skip(const struct fg_strbuf *dot, const char *format,
			   struct fg_strbuf *picture)
{
	const struct fg_graph_render_options options = {.format = format};
	struct fg_error err = {0};

	if (!has_dot()) {
		print_message("skipped: Graphviz is not installed\n");
		skip();
	}
	if (fg_graph_render(dot, &options, picture, &err) != FG_OK)
		fail_msg("%s", err.message);
}

static size_t count_of(const char *text, const char *part)
{
	size_t count = 0;

	for (const char *at = text; (at = strstr(at, part)) != NULL; at++)
		count++;
	return count;
}

FG_TEST_IN(graphviz_draws_our_files, set_up, tear_down)
{
	struct scene *scene = *state;
	static const struct {
		const char *format;
		const char *start;
	} cases[] = {
		{"svg", "<?xml"},
		{"png", "\x89PNG"},
		{"pdf", "%PDF"},
	};
	const struct fg_graph_options options = {.title = "reco"};

	draw(&scene->tree, &options, &scene->dot, NULL);
	for (size_t i = 0; i < FG_ARRAY_SIZE(cases); i++) {
		struct fg_strbuf picture = {0};

		render_or_skip(&scene->dot, cases[i].format, &picture);
		assert_memory_equal(picture.data, cases[i].start, strlen(cases[i].start));
		if (i == 0)
			assert_int_equal(count_of(picture.data, "class=\"node\""), 10);
		fg_strbuf_release(&picture);
	}
}

FG_TEST(hostile_names_are_drawn_as_they_are)
{
	static const char hostile[] = "operator<<\"\\\" & </FONT>> \\N \n\t; } edge \xc3\xa4";
	const struct fg_graph_options options = {.title = hostile};
	struct fg_strbuf dot = {0};
	struct fg_strbuf svg = {0};
	struct fg_calltree tree;
	struct fg_profile profile;

	known_profile_single(&profile, hostile, "lib\"x.so");
	build(&profile, &tree);
	draw(&tree, &options, &dot, NULL);
	render_or_skip(&dot, "svg", &svg);
	assert_int_equal(count_of(svg.data, "class=\"node\""), 1);
	assert_int_equal(count_of(svg.data, "class=\"edge\""), 0);
	assert_non_null(strstr(svg.data, "operator&lt;&lt;&quot;\\&quot; &amp;"));
	fg_strbuf_release(&svg);
	fg_strbuf_release(&dot);
	fg_calltree_release(&tree);
	fg_profile_release(&profile);
}

FG_TEST(ten_thousand_functions_are_pruned_and_counted)
{
	const struct fg_graph_options options = {.title = "many"};
	struct fg_graph_summary summary = {0};
	struct fg_strbuf dot = {0};
	struct fg_calltree tree;
	struct fg_profile profile;

	fg_profile_init(&profile);
	for (unsigned i = 0; i < 10000; i++) {
		char *name = fg_xasprintf("function_%u", i);
		const uint32_t root = known_profile_push(&profile, 0, "main", "many");
		struct fg_sample *sample = NULL;
		const uint32_t stack = known_profile_push(&profile, root, name, "many");

		sample = fg_profile_add_sample(&profile);
		sample->stack = stack;
		sample->value = i < 20 ? 1e9 : 1e3;
		sample->count = 1;
		free(name);
	}
	build(&profile, &tree);
	draw(&tree, &options, &dot, &summary);
	assert_int_equal(summary.nodes, 21);
	assert_int_equal(summary.nodes_left_out, 9980);
	assert_int_equal(count_of(dot.data, " -> "), 20);
	assert_non_null(strstr(dot.data, " of 10001 functions, with 0.0 % of the time"));
	fg_strbuf_release(&dot);
	fg_calltree_release(&tree);
	fg_profile_release(&profile);
}

/* A chain of 600 calls, all with the full inclusive time, ends in the function that takes it. */
FG_TEST(the_hot_functions_of_a_deep_tree_are_in_the_picture)
{
	const struct fg_graph_options options = {.title = "deep"};
	struct fg_graph_summary summary = {0};
	struct fg_strbuf dot = {0};
	struct fg_calltree tree;
	struct fg_profile profile;
	uint32_t stack = 0;

	fg_profile_init(&profile);
	for (unsigned i = 0; i < 630; i++) {
		char *name = fg_xasprintf(i < 600 ? "call_%03u" : "hot_%03u", i);
		const uint32_t at = known_profile_push(&profile, stack, name, "deep");

		free(name);
		if (i < 600) {
			stack = at;
			continue;
		}
		struct fg_sample *sample = fg_profile_add_sample(&profile);

		sample->stack = at;
		sample->value = 1e9;
		sample->count = 1;
	}
	build(&profile, &tree);
	draw(&tree, &options, &dot, &summary);
	assert_int_equal(summary.nodes, 80);
	assert_true(summary.self_left_out < 1e-9);
	assert_non_null(strstr(dot.data, "hot_629"));
	assert_non_null(strstr(dot.data, "call_000"));
	fg_strbuf_release(&dot);
	fg_calltree_release(&tree);
	fg_profile_release(&profile);
}

FG_TEST(a_missing_graphviz_is_reported_with_its_remedy)
{
	const struct fg_graph_render_options options = {.program = "no-such-graphviz",
							.format = "svg"};
	struct fg_strbuf dot = {0};
	struct fg_strbuf picture = {0};
	struct fg_error err = {0};

	fg_strbuf_add_text(&dot, "digraph {}\n");
	assert_int_equal(fg_graph_render(&dot, &options, &picture, &err), FG_EUNSUPPORTED);
	assert_non_null(strstr(err.message, "apt-get install graphviz"));
	assert_int_equal(picture.length, 0);
	fg_strbuf_release(&dot);
}

FG_TEST(a_drawing_program_that_fails_is_quoted)
{
	const struct fg_graph_render_options options = {.format = "svg"};
	struct fg_strbuf dot = {0};
	struct fg_strbuf picture = {0};
	struct fg_error err = {0};

	if (!has_dot()) {
		print_message("skipped: Graphviz is not installed\n");
		skip();
	}
	fg_strbuf_add_text(&dot, "digraph { this is no graph ->\n");
	assert_int_equal(fg_graph_render(&dot, &options, &picture, &err), FG_ECHILD);
	assert_non_null(strstr(err.message, "syntax error"));
	fg_strbuf_release(&dot);
}
