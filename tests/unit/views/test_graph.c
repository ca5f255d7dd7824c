// SPDX-License-Identifier: Apache-2.0
#include "base/fs.h"
#include "profile/views/graph.h"
#include "tests/support/fg_test.h"
#include "tests/support/golden.h"
#include "tests/support/known_profile.h"

#include <string.h>

static struct fg_profile profile;
static struct fg_calltree tree;
static struct fg_strbuf dot;
static struct fg_graph_summary summary;

static void build(struct fg_calltree *of)
{
	const struct fg_calltree_query query = {0};
	struct fg_error err = {0};

	if (fg_calltree_build(&profile, &query, of, &err) != FG_OK)
		fail_msg("%s", err.message);
}

static int set_up(void **state)
{
	(void)state;
	known_profile_init(&profile);
	build(&tree);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	fg_strbuf_release(&dot);
	fg_calltree_release(&tree);
	fg_profile_release(&profile);
	return 0;
}

static void draw(const struct fg_graph_options *options)
{
	struct fg_error err = {0};

	if (fg_graph_write_dot(&tree, options, &dot, &summary, &err) != FG_OK)
		fail_msg("%s", err.message);
}

FG_TEST_IN(the_known_graph_is_as_reviewed, set_up, tear_down)
{
	const struct fg_graph_options options = {.title = "reco --events 4"};

	draw(&options);
	fg_golden_check("profile/known.dot", &dot);
	assert_int_equal(summary.nodes, 10);
	assert_int_equal(summary.nodes_left_out, 0);
	assert_int_equal(summary.edges_left_out, 0);
}

FG_TEST_IN(focus_and_depth_keep_only_near_functions, set_up, tear_down)
{
	struct fg_graph_options options = {.focus = "^fit", .depth = 1};
	struct fg_error err = {0};

	draw(&options);
	assert_int_equal(summary.nodes, 4); /* loop, fit, norm, log */
	assert_non_null(strstr(dot.data, "loop(Event const&#38;)"));
	assert_null(strstr(dot.data, ">main<"));
	assert_null(strstr(dot.data, "visit"));
	options.focus = "nothing like it";
	assert_int_equal(fg_graph_write_dot(&tree, &options, &dot, &summary, &err), FG_ENOENT);
	assert_non_null(strstr(err.message, "nothing like it"));
	options.focus = "((";
	assert_int_equal(fg_graph_write_dot(&tree, &options, &dot, &summary, &err), FG_EINVAL);
}

/* Without write_out, its call of log is drawn as a dashed line from main to log. */
FG_TEST_IN(calls_over_omitted_functions_are_dashed, set_up, tear_down)
{
	const struct fg_graph_options options = {.nodes = 9, .node_floor = 0.09};

	draw(&options);
	assert_int_equal(summary.nodes_left_out, 1); /* write_out: 8 of 100 */
	assert_non_null(strstr(dot.data, "style=dashed"));
	assert_non_null(strstr(dot.data, "left out: 1 of 10 functions, with 3.0 % of the time"));
}

FG_TEST_IN(a_difference_is_red_where_slower_and_blue_where_faster, set_up, tear_down)
{
	const struct fg_graph_options options = {.title = "before → after"};
	struct fg_calltree before = tree;
	struct fg_calltree after;

	for (size_t i = 0; i < profile.sample_count; i++) {
		const uint32_t frame = profile.stacks[profile.samples[i].stack].frame;
		const char *name = profile.functions[profile.frames[frame].function].name;

		if (strcmp(name, "fit(Track&)") == 0)
			profile.samples[i].value *= 2;
		if (strcmp(name, "compress") == 0)
			profile.samples[i].value /= 2;
	}
	build(&after);
	fg_calltree_difference(&before, &after, &tree);
	draw(&options);
	assert_non_null(strstr(dot.data, "self +30.0 ms (30.0 ms → 60.0 ms)"));
	assert_non_null(strstr(dot.data, "self −5.00 ms (10.0 ms → 5.00 ms)"));
	assert_non_null(
		strstr(dot.data, "fillcolor=\"#ef8a62\"")); /* the largest change: full red */
	assert_non_null(strstr(dot.data, "incl 27.0 ms as before"));
	fg_golden_check("profile/known-difference.dot", &dot);
	fg_calltree_release(&after);
	fg_calltree_release(&before);
}

static void skip_without_graphviz(void)
{
	char *program = fg_fs_find_program("dot");

	if (!program) {
		print_message("skipped: Graphviz is not installed\n");
		skip();
	}
	free(program);
}

static void render_or_skip(const char *format, struct fg_strbuf *picture)
{
	const struct fg_graph_render_options options = {.format = format};
	struct fg_error err = {0};

	skip_without_graphviz();
	if (fg_graph_render(&dot, &options, picture, &err) != FG_OK)
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
	static const struct {
		const char *format;
		const char *start;
	} cases[] = {
		{"svg", "<?xml"},
		{"png", "\x89PNG"},
		{"pdf", "%PDF"},
	};
	const struct fg_graph_options options = {.title = "reco"};

	draw(&options);
	for (size_t i = 0; i < FG_ARRAY_SIZE(cases); i++) {
		struct fg_strbuf picture = {0};

		render_or_skip(cases[i].format, &picture);
		assert_memory_equal(picture.data, cases[i].start, strlen(cases[i].start));
		if (i == 0)
			assert_int_equal(count_of(picture.data, "class=\"node\""), 10);
		fg_strbuf_release(&picture);
	}
}

FG_TEST_IN(hostile_names_are_drawn_as_they_are, NULL, tear_down)
{
	static const char hostile[] = "operator<<\"\\\" & </FONT>> \\N \n\t; } edge \xc3\xa4";
	const struct fg_graph_options options = {.title = hostile};
	struct fg_strbuf svg = {0};

	known_profile_single(&profile, hostile, "lib\"x.so");
	build(&tree);
	draw(&options);
	render_or_skip("svg", &svg);
	assert_int_equal(count_of(svg.data, "class=\"node\""), 1);
	assert_int_equal(count_of(svg.data, "class=\"edge\""), 0);
	assert_non_null(strstr(svg.data, "operator&lt;&lt;&quot;\\&quot; &amp;"));
	fg_strbuf_release(&svg);
}

FG_TEST_IN(ten_thousand_functions_are_pruned_and_counted, NULL, tear_down)
{
	const struct fg_graph_options options = {.title = "many"};

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
	build(&tree);
	draw(&options);
	assert_int_equal(summary.nodes, 21);
	assert_int_equal(summary.nodes_left_out, 9980);
	assert_int_equal(count_of(dot.data, " -> "), 20);
	assert_non_null(strstr(dot.data, " of 10001 functions, with 0.0 % of the time"));
}

/* A chain of 600 calls, all with the full inclusive time, ends in the function that takes it. */
FG_TEST_IN(the_hot_functions_of_a_deep_tree_are_in_the_picture, NULL, tear_down)
{
	const struct fg_graph_options options = {.title = "deep"};
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
	build(&tree);
	draw(&options);
	assert_int_equal(summary.nodes, 80);
	assert_true(summary.self_left_out < 1e-9);
	assert_non_null(strstr(dot.data, "hot_629"));
	assert_non_null(strstr(dot.data, "call_000"));
}

FG_TEST_IN(a_missing_graphviz_is_reported_with_its_remedy, NULL, tear_down)
{
	const struct fg_graph_render_options options = {.program = "no-such-graphviz",
							.format = "svg"};
	struct fg_strbuf picture = {0};
	struct fg_error err = {0};

	fg_strbuf_add_text(&dot, "digraph {}\n");
	assert_int_equal(fg_graph_render(&dot, &options, &picture, &err), FG_EUNSUPPORTED);
	assert_non_null(strstr(err.message, "apt-get install graphviz"));
	assert_int_equal(picture.length, 0);
}

FG_TEST_IN(a_drawing_program_that_fails_is_quoted, NULL, tear_down)
{
	const struct fg_graph_render_options options = {.format = "svg"};
	struct fg_strbuf picture = {0};
	struct fg_error err = {0};

	skip_without_graphviz();
	fg_strbuf_add_text(&dot, "digraph { this is no graph ->\n");
	assert_int_equal(fg_graph_render(&dot, &options, &picture, &err), FG_ECHILD);
	assert_non_null(strstr(err.message, "syntax error"));
}
