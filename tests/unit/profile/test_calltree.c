// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"
#include "profile/calltree.h"
#include "tests/support/fg_test.h"

#include <math.h>

/*
 * main ─ fit(Track&) ─ log          10   thread 0, region event,      t = 0
 *      │             └ fit(Track&)   5   thread 0, region event/fit,  t = 100   (recursion)
 *      └ io ─ log                   20   thread 1, no region,         t = 200
 *           └ inline get             2   thread 1, unit event 7,      t = 300
 */
static uint32_t frame_of(struct fg_profile *p, const char *name, const char *library,
			 const char *file, unsigned line, uint32_t flags)
{
	const struct fg_profile_function function = {
		.name = name, .library = library, .file = file, .line = line / 10 * 10};

	return fg_profile_frame(p, &(struct fg_frame){.function = fg_profile_function(p, &function),
						      .file = file,
						      .line = line,
						      .flags = flags});
}

static void add(struct fg_profile *p, uint32_t stack, double weight_ns, int64_t time_ns,
		uint32_t thread)
{
	struct fg_sample *sample = fg_profile_add_sample(p);

	sample->stack = stack;
	sample->value = weight_ns;
	sample->time_ns = time_ns;
	sample->thread = thread;
	p->measures[0].total += weight_ns;
}

static void build(struct fg_profile *p)
{
	uint32_t main_frame, fit, log_frame, get, s_main, s_fit, s_io, event;

	fg_profile_init(p);
	main_frame = frame_of(p, "main", "app", "main.c", 12, 0);
	fit = frame_of(p, "reco::fit(Track<int>&)", "libreco.so", "fit.cpp", 88, 0);
	log_frame = frame_of(p, "log", "libm.so.6", NULL, 0, 0);
	get = frame_of(p, "io::get()", "app", "io.h", 5, FG_FRAME_INLINED);
	s_main = fg_profile_stack(p, 0, main_frame);
	s_fit = fg_profile_stack(p, s_main, fit);
	s_io = fg_profile_stack(p, s_main, frame_of(p, "io::read()", "app", "io.cpp", 30, 0));
	fg_profile_add_process(p)->pid = 40;
	fg_profile_add_thread(p)->tid = 41;
	p->threads[0].name = "main";
	fg_profile_add_thread(p)->tid = 42;
	p->threads[1].name = "worker";
	event = fg_profile_region(p, 0, "event");
	add(p, fg_profile_stack(p, s_fit, log_frame), 10, 0, 0);
	p->samples[0].region = event;
	add(p, fg_profile_stack(p, s_fit, fit), 5, 100, 0);
	p->samples[1].region = fg_profile_region(p, event, "fit");
	add(p, fg_profile_stack(p, s_io, log_frame), 20, 200, 1);
	add(p, fg_profile_stack(p, s_io, get), 2, 300, 1);
	*fg_profile_add_unit(p) = (struct fg_unit_info){.kind = "event", .number = 7};
	p->samples[3].unit = 1;
}

static void query(const struct fg_calltree_query *q, struct fg_calltree *tree)
{
	struct fg_profile p;
	struct fg_error err = {0};

	build(&p);
	if (fg_calltree_build(&p, q, tree, &err) != FG_OK)
		fail_msg("%s", err.message);
	fg_profile_release(&p);
}

/* Finds the node at a path "a;b;c" of label names; fails the test if it is missing. */
static uint32_t at(const struct fg_calltree *tree, const char *path)
{
	char *copy = fg_xstrdup(path);
	char *rest = copy;
	uint32_t node = 0;

	for (char *name = strsep(&rest, ";"); name; name = strsep(&rest, ";")) {
		uint32_t child = tree->nodes[node].first_child;

		while (child && strcmp(tree->labels[tree->nodes[child].label].name, name) != 0)
			child = tree->nodes[child].next_sibling;
		if (!child)
			fail_msg("no '%s' of '%s'", name, path);
		node = child;
	}
	free(copy);
	return node;
}

static double inclusive(const struct fg_calltree *tree, const char *path)
{
	return tree->inclusive[0][at(tree, path)].value;
}

static double self(const struct fg_calltree *tree, const char *path)
{
	return tree->self[0][at(tree, path)].value;
}

static const struct fg_label_figures *find(const struct fg_calltree *tree,
					   const struct fg_label_figures *figures, size_t count,
					   const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(tree->labels[figures[i].label].name, name) == 0)
			return &figures[i];
	fail_msg("no figures of '%s'", name);
	return NULL;
}

FG_TEST(totals_and_paths_are_right)
{
	struct fg_calltree tree;

	query(&(struct fg_calltree_query){0}, &tree);
	assert_float_equal(tree.inclusive[0][0].value, 37, 0);
	assert_int_equal(tree.inclusive[0][0].samples, 4);
	assert_float_equal(inclusive(&tree, "main;reco::fit(Track<int>&)"), 15, 0);
	assert_float_equal(self(&tree, "main;reco::fit(Track<int>&)"), 0, 0);
	assert_float_equal(self(&tree, "main;io::read();io::get()"), 2, 0);
	/* the heaviest child comes first */
	assert_string_equal(
		tree.labels[tree.nodes[tree.nodes[at(&tree, "main")].first_child].label].name,
		"io::read()");
	fg_calltree_release(&tree);
}

FG_TEST(recursion_never_counts_twice)
{
	struct fg_calltree tree;
	struct fg_label_figures *figures;
	size_t count;

	query(&(struct fg_calltree_query){0}, &tree);
	assert_true(tree.nodes[at(&tree, "main;reco::fit(Track<int>&);reco::fit(Track<int>&)")]
			    .recursive);
	count = fg_calltree_flat(&tree, &figures);
	assert_int_equal(count, 5);
	assert_float_equal(
		find(&tree, figures, count, "reco::fit(Track<int>&)")->inclusive[0].value, 15, 0);
	assert_float_equal(find(&tree, figures, count, "reco::fit(Track<int>&)")->self[0].value, 5,
			   0);
	assert_float_equal(find(&tree, figures, count, "log")->self[0].value, 30, 0);
	assert_int_equal(find(&tree, figures, count, "log")->leaf_paths, 2);
	assert_string_equal(tree.labels[figures[0].label].name, "log");
	for (size_t i = 0; i < count; i++)
		assert_true(figures[i].inclusive[0].value <= tree.inclusive[0][0].value);
	free(figures);
	fg_calltree_release(&tree);
}

FG_TEST(edges_carry_each_sample_once)
{
	struct fg_calltree tree;
	struct fg_label_edge *edges;
	size_t count;
	double to_log = 0;

	query(&(struct fg_calltree_query){0}, &tree);
	count = fg_calltree_edges(&tree, &edges);
	assert_int_equal(count,
			 7); /* root→main, main→fit, fit→log, fit→fit, main→io, io→log, io→get */
	for (size_t i = 0; i < count; i++)
		if (strcmp(tree.labels[edges[i].callee].name, "log") == 0)
			to_log += edges[i].weight[0].value;
	assert_float_equal(to_log, 30, 0);
	free(edges);
	fg_calltree_release(&tree);
}

FG_TEST(filters_keep_what_they_name)
{
	const struct {
		struct fg_calltree_query query;
		double total;
		const char *why;
	} CASES[] = {
		{{.focus = (const char *const[]){"log", NULL}}, 30, "focus on a callee"},
		{{.focus = (const char *const[]){"log", "fit", NULL}}, 10, "both must be there"},
		{{.focus = (const char *const[]){"libm\\.so", NULL}}, 30, "by library"},
		{{.ignore = (const char *const[]){"^io::", NULL}}, 15, "ignore"},
		{{.ignore = (const char *const[]){"main", NULL}}, 0, "ignore everything"},
		{{.root = "io::read"}, 22, "root"},
		{{.leaf = "reco::fit"}, 15, "leaf"},
		{{.thread = "^worker"}, 22, "thread by name"},
		{{.thread = "\\(41\\)"}, 15, "thread by id"},
		{{.region = "^event$"}, 10, "region, exactly"},
		{{.region = "event"}, 15, "region and those inside"},
		{{.only_units = true}, 2, "inside units"},
		{{.unit_first = 8}, 0, "no such unit"},
		{{.unit_kind = "event", .unit_first = 7, .unit_last = 7}, 2, "one unit"},
		{{.from_ns = 100, .to_ns = 300}, 25, "time, half open"},
		{{.from_ns = 300}, 2, "from a time on"},
		{{.kinds = 1u << FG_TIME_SYSTEM}, 0, "kind of time"},
		{{.repetition = 2}, 0, "no such repetition"},
		{{.focus = (const char *const[]){"log", NULL}, .thread = "worker", .to_ns = 250},
		 20,
		 "filters combine"},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(CASES); i++) {
		struct fg_calltree tree;

		query(&CASES[i].query, &tree);
		if (fabs(tree.inclusive[0][0].value - CASES[i].total) > 0)
			fail_msg("%s: %g", CASES[i].why, tree.inclusive[0][0].value);
		fg_calltree_release(&tree);
	}
}

FG_TEST(root_and_leaf_cut_the_stacks)
{
	struct fg_calltree tree;

	query(&(struct fg_calltree_query){.root = "io::read"}, &tree);
	assert_float_equal(inclusive(&tree, "io::read();log"), 20, 0);
	fg_calltree_release(&tree);
	query(&(struct fg_calltree_query){.leaf = "reco::fit"}, &tree);
	assert_float_equal(self(&tree, "main;reco::fit(Track<int>&)"), 10, 0);
	assert_float_equal(self(&tree, "main;reco::fit(Track<int>&);reco::fit(Track<int>&)"), 5, 0);
	fg_calltree_release(&tree);
}

FG_TEST(hidden_and_inlined_frames_fold_into_their_callers)
{
	struct fg_calltree tree;

	query(&(struct fg_calltree_query){.hide = (const char *const[]){"io::read", NULL}}, &tree);
	assert_float_equal(self(&tree, "main;log"), 20, 0);
	fg_calltree_release(&tree);
	query(&(struct fg_calltree_query){.fold_inlined = true}, &tree);
	assert_float_equal(self(&tree, "main;io::read()"), 2, 0);
	fg_calltree_release(&tree);
}

/* Tests kernel functions and generated code, with and without names. */
FG_TEST(the_kernel_is_a_library_and_a_class_of_its_own)
{
	static const enum fg_group groups[] = {FG_GROUP_LIBRARY, FG_GROUP_CLASS,
					       FG_GROUP_NAMESPACE};
	struct fg_calltree tree;
	struct fg_error err = {0};

	for (size_t i = 0; i < FG_ARRAY_SIZE(groups); i++) {
		struct fg_profile p;
		uint32_t above;
		uint32_t stack;

		build(&p);
		above = fg_profile_stack(&p, 0, frame_of(&p, "main", "app", "main.c", 12, 0));
		stack = fg_profile_stack(&p, above,
					 frame_of(&p, "[kernel]", "", NULL, 0, FG_FRAME_KERNEL));
		add(&p, stack, 3, 400, 1);
		stack = fg_profile_stack(
			&p, above, frame_of(&p, "do_read", "[kernel]", NULL, 0, FG_FRAME_KERNEL));
		add(&p, stack, 4, 410, 1);
		stack = fg_profile_stack(&p, above,
					 frame_of(&p, "hot", "[JIT]", NULL, 0, FG_FRAME_JIT));
		add(&p, stack, 6, 420, 1);
		assert_int_equal(fg_calltree_build(&p,
						   &(struct fg_calltree_query){.group = groups[i]},
						   &tree, &err),
				 FG_OK);
		assert_float_equal(self(&tree, i == 0 ? "app;[kernel]" : "(global) app;[kernel]"),
				   7, 0);
		assert_float_equal(self(&tree, i == 0 ? "app;[JIT]" : "(global) app;[JIT]"), 6, 0);
		fg_calltree_release(&tree);
		fg_profile_release(&p);
	}
}

FG_TEST(groups_merge_neighbours)
{
	struct fg_calltree tree;

	query(&(struct fg_calltree_query){.group = FG_GROUP_LIBRARY}, &tree);
	assert_float_equal(self(&tree, "app"), 2, 0);
	assert_float_equal(self(&tree, "app;libm.so.6"), 20, 0);
	assert_float_equal(self(&tree, "app;libreco.so"), 5, 0);
	fg_calltree_release(&tree);
	query(&(struct fg_calltree_query){.group = FG_GROUP_NAMESPACE}, &tree);
	assert_float_equal(inclusive(&tree, "(global) app;reco"), 15, 0);
	fg_calltree_release(&tree);
	query(&(struct fg_calltree_query){.group = FG_GROUP_LINE}, &tree);
	assert_float_equal(inclusive(&tree, "main.c:12;fit.cpp:88"), 15, 0);
	assert_float_equal(self(&tree, "main.c:12;fit.cpp:88;fit.cpp:88"), 5, 0);
	fg_calltree_release(&tree);
	query(&(struct fg_calltree_query){.group = FG_GROUP_FILE}, &tree);
	assert_float_equal(inclusive(&tree, "main.c;fit.cpp"), 15, 0);
	fg_calltree_release(&tree);
}

FG_TEST(splits_are_above_the_paths)
{
	struct fg_calltree tree;

	query(&(struct fg_calltree_query){.split = FG_SPLIT_THREAD}, &tree);
	assert_float_equal(inclusive(&tree, "worker (42);main;io::read()"), 22, 0);
	fg_calltree_release(&tree);
	query(&(struct fg_calltree_query){.split = FG_SPLIT_REGION}, &tree);
	assert_float_equal(inclusive(&tree, "event"), 15, 0);
	assert_float_equal(inclusive(&tree, "event;fit"), 5, 0);
	assert_float_equal(inclusive(&tree, "(outside any region);main"), 22, 0);
	fg_calltree_release(&tree);
	query(&(struct fg_calltree_query){.split = FG_SPLIT_UNIT}, &tree);
	assert_float_equal(inclusive(&tree, "event;event 7"), 2, 0);
	fg_calltree_release(&tree);
}

FG_TEST(a_function_can_be_split_by_its_ancestor)
{
	struct fg_calltree tree;
	struct fg_label_figures *figures;
	size_t count;

	query(&(struct fg_calltree_query){.ancestors = (const char *const[]){"reco::fit",
									     "io::read", NULL}},
	      &tree);
	count = fg_calltree_flat(&tree, &figures);
	assert_float_equal(find(&tree, figures, count, "log  (from io::read())")->self[0].value, 20,
			   0);
	assert_float_equal(
		find(&tree, figures, count, "log  (from reco::fit(Track<int>&))")->self[0].value,
		10, 0);
	free(figures);
	fg_calltree_release(&tree);
}

FG_TEST(names_are_rewritten)
{
	struct fg_calltree tree;

	query(&(struct fg_calltree_query){.collapse_templates = true,
					  .rename = (const char *const[]){"s/reco:://",
									  "s/io::/IO./", NULL}},
	      &tree);
	assert_float_equal(inclusive(&tree, "main;fit(Track<...>&)"), 15, 0);
	assert_float_equal(inclusive(&tree, "main;IO.read()"), 22, 0);
	fg_calltree_release(&tree);
}

/* A function that moved to another line between two builds stays the same. */
FG_TEST(a_function_that_moved_is_the_same_in_a_difference)
{
	struct fg_calltree trees[2];
	struct fg_calltree difference;
	struct fg_error err = {0};

	for (unsigned i = 0; i < 2; i++) {
		struct fg_profile p;
		uint32_t stack;

		fg_profile_init(&p);
		stack = fg_profile_stack(&p, 0,
					 frame_of(&p, "fit", "app", "fit.cpp", 80 + 40 * i, 0));
		add(&p, stack, 10 + 5 * i, 0, 0);
		assert_int_equal(
			fg_calltree_build(&p, &(struct fg_calltree_query){0}, &trees[i], &err),
			FG_OK);
		fg_profile_release(&p);
	}
	fg_calltree_difference(&trees[0], &trees[1], &difference);
	assert_int_equal(difference.node_count, 2);
	assert_true(fabs(difference.self[0][1].value - 10) < 1e-9);
	assert_true(fabs(difference.self[1][1].value - 15) < 1e-9);
	fg_calltree_release(&trees[0]);
	fg_calltree_release(&trees[1]);
	fg_calltree_release(&difference);
}

/* fit is in libreco.so and io::read is in app, each in its own file. */
FG_TEST(equal_rewritten_names_are_one_across_files_and_libraries)
{
	const struct fg_calltree_query q = {
		.rename = (const char *const[]){"s/^(reco::fit|io::read).*/work/", NULL}};
	struct fg_calltree tree;

	query(&q, &tree);
	assert_true(fabs(tree.inclusive[0][at(&tree, "main;work")].value - 37) < 1e-9);
	assert_string_equal(tree.labels[tree.nodes[at(&tree, "main;work")].label].library, "");
	assert_string_equal(tree.labels[tree.nodes[at(&tree, "main")].label].library, "app");
	fg_calltree_release(&tree);
}

FG_TEST(a_bad_pattern_is_refused_by_name)
{
	struct fg_calltree tree = {0};
	struct fg_profile p;
	struct fg_error err = {0};

	build(&p);
	assert_int_equal(
		fg_calltree_build(&p, &(struct fg_calltree_query){.root = "("}, &tree, &err),
		FG_EINVAL);
	assert_non_null(strstr(err.message, "root"));
	assert_null(tree.nodes);
	assert_int_equal(fg_calltree_build(&p,
					   &(struct fg_calltree_query){
						   .rename = (const char *const[]){"y/a/b/", NULL}},
					   &tree, &err),
			 FG_EINVAL);
	fg_profile_release(&p);
}

FG_TEST(a_difference_has_the_union_of_the_paths)
{
	struct fg_calltree before, after, difference;
	uint32_t node;

	query(&(struct fg_calltree_query){.to_ns = 250}, &before);
	query(&(struct fg_calltree_query){.from_ns = 150}, &after);
	fg_calltree_difference(&before, &after, &difference);
	node = at(&difference, "main;io::read()");
	assert_float_equal(difference.inclusive[0][node].value, 20, 0);
	assert_float_equal(difference.inclusive[1][node].value, 22, 0);
	node = at(&difference, "main;reco::fit(Track<int>&)");
	assert_float_equal(difference.inclusive[0][node].value, 15, 0);
	assert_float_equal(difference.inclusive[1][node].value, 0, 0);
	assert_float_equal(difference.inclusive[0][0].value, 35, 0);
	assert_float_equal(difference.inclusive[1][0].value, 22, 0);
	fg_calltree_release(&before);
	fg_calltree_release(&after);
	fg_calltree_release(&difference);
}

FG_TEST(bottom_up_puts_callers_below_the_leaf)
{
	struct fg_calltree tree, inverted;

	query(&(struct fg_calltree_query){0}, &tree);
	fg_calltree_invert(&tree, 16, 0, &inverted);
	assert_float_equal(inverted.inclusive[0][0].value, 37, 0);
	assert_float_equal(inclusive(&inverted, "log"), 30, 0);
	assert_float_equal(inclusive(&inverted, "log;io::read();main"), 20, 0);
	assert_float_equal(inclusive(&inverted, "reco::fit(Track<int>&);reco::fit(Track<int>&)"), 5,
			   0);
	fg_calltree_release(&inverted);
	fg_calltree_invert(&tree, 1, 6, &inverted);
	assert_int_equal(inverted.node_count,
			 2); /* the root and log; other functions are below the floor */
	assert_float_equal(inverted.inclusive[0][0].value, 37, 0);
	assert_float_equal(inverted.self[0][0].value, 7, 0);
	fg_calltree_release(&inverted);
	fg_calltree_release(&tree);
}

FG_TEST(the_standard_error_is_binomial_for_equal_weights)
{
	/* 30 of 100 samples of 2 ns: 2 · sqrt(100 · 0.3 · 0.7) */
	const struct fg_weight part = {.value = 60, .square = 120, .samples = 30};
	const struct fg_weight total = {.value = 200, .square = 400, .samples = 100};

	assert_float_equal(fg_weight_error(&part, &total), 2 * sqrt(100 * 0.3 * 0.7), 1e-9);
	assert_float_equal(fg_weight_error(&total, &total), 0, 1e-9);
	assert_true(isnan(fg_weight_error(&(struct fg_weight){0}, &total)));
}

/*
 * main ─ ask ─ read_zero    3 + 2   one sample of 6 in three parts, at t = 50
 *            └ clear_page   1
 *            └ read_zero    4       another, at t = 60
 *      └ idle               10      of the other thread at t = 50
 */
FG_TEST(parts_of_a_sample_are_one_where_they_are_together)
{
	struct fg_profile p;
	struct fg_calltree tree;
	struct fg_error err = {0};

	fg_profile_init(&p);
	const uint32_t s_main = fg_profile_stack(&p, 0, frame_of(&p, "main", "app", "m.c", 1, 0));
	const uint32_t s_ask =
		fg_profile_stack(&p, s_main, frame_of(&p, "ask", "app", "m.c", 2, 0));
	const uint32_t s_idle =
		fg_profile_stack(&p, s_main, frame_of(&p, "idle", "app", "m.c", 3, 0));
	const uint32_t s_read =
		fg_profile_stack(&p, s_ask, frame_of(&p, "read_zero", "[kernel]", NULL, 0, 0));
	const uint32_t s_clear =
		fg_profile_stack(&p, s_ask, frame_of(&p, "clear_page", "[kernel]", NULL, 0, 0));

	fg_profile_add_thread(&p)->tid = 1;
	fg_profile_add_thread(&p)->tid = 2;
	p.has_times = true;
	add(&p, s_read, 3, 50, 0);
	add(&p, s_clear, 1, 50, 0);
	add(&p, s_read, 2, 50, 0);
	add(&p, s_read, 4, 60, 0);
	add(&p, s_idle, 10, 60, 1);
	for (size_t i = 0; i < p.sample_count; i++)
		p.samples[i].kind = FG_TIME_SYSTEM;
	assert_int_equal(
		fg_calltree_build(&p, &(struct fg_calltree_query){.split = 0}, &tree, &err), FG_OK);
	const struct fg_weight *inclusive = tree.inclusive[0];

	assert_float_equal(inclusive[at(&tree, "main;ask;read_zero")].square, 25 + 16, 1e-9);
	assert_float_equal(inclusive[at(&tree, "main;ask;clear_page")].square, 1, 1e-9);
	assert_float_equal(inclusive[at(&tree, "main;ask")].square, 36 + 16, 1e-9);
	assert_float_equal(tree.self[0][at(&tree, "main;ask")].square, 0, 1e-9);
	assert_float_equal(inclusive[at(&tree, "main")].square, 36 + 16 + 100, 1e-9);
	assert_float_equal(inclusive[at(&tree, "main;ask")].value, 10, 1e-9);
	fg_calltree_release(&tree);
	fg_profile_release(&p);
}

FG_TEST(figures_per_repetition_are_means)
{
	struct fg_profile p;
	struct fg_calltree tree;
	struct fg_error err = {0};

	build(&p);
	p.repetition_count = 2;
	assert_int_equal(fg_calltree_build(&p, &(struct fg_calltree_query){.per_repetition = true},
					   &tree, &err),
			 FG_OK);
	assert_float_equal(tree.inclusive[0][0].value, 18.5, 1e-12);
	fg_calltree_release(&tree);
	fg_profile_release(&p);
}

FG_TEST(an_empty_profile_gives_an_empty_tree)
{
	struct fg_profile p;
	struct fg_calltree tree, inverted;
	struct fg_label_figures *figures;
	struct fg_label_edge *edges;
	struct fg_error err = {0};

	fg_profile_init(&p);
	assert_int_equal(fg_calltree_build(&p, &(struct fg_calltree_query){0}, &tree, &err), FG_OK);
	assert_int_equal(tree.node_count, 1);
	assert_int_equal(fg_calltree_flat(&tree, &figures), 0);
	assert_int_equal(fg_calltree_edges(&tree, &edges), 0);
	fg_calltree_invert(&tree, 4, 0, &inverted);
	assert_int_equal(inverted.node_count, 1);
	free(figures);
	free(edges);
	fg_calltree_release(&inverted);
	fg_calltree_release(&tree);
	fg_profile_release(&p);
}
