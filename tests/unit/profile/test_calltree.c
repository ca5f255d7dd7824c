// SPDX-License-Identifier: Apache-2.0
#include "base/base.h"
#include "profile/calltree.h"
#include "tests/support/fg_test.h"

#include <math.h>

static struct fg_profile p;

static uint32_t frame_of(const char *name, const char *library, const char *file, unsigned line,
			 uint32_t flags)
{
	const struct fg_profile_function function = {
		.name = name, .library = library, .file = file, .line = line / 10 * 10};

	return fg_profile_frame(&p,
				&(struct fg_frame){.function = fg_profile_function(&p, &function),
						   .file = file,
						   .line = line,
						   .flags = flags});
}

static void add(uint32_t stack, double weight_ns, int64_t time_ns, uint32_t thread)
{
	struct fg_sample *sample = fg_profile_add_sample(&p);

	sample->stack = stack;
	sample->value = weight_ns;
	sample->time_ns = time_ns;
	sample->thread = thread;
	p.measures[0].total += weight_ns;
}

static struct fg_calltree tree;
static struct fg_label_figures *figures; /* of the tree, by function */
static size_t figure_count;

static int release(void **state)
{
	(void)state;
	free(figures);
	figures = NULL;
	fg_calltree_release(&tree);
	fg_profile_release(&p);
	return 0;
}

static void build_tree(const struct fg_calltree_query *q)
{
	struct fg_error err = {0};

	fg_calltree_release(&tree);
	if (fg_calltree_build(&p, q, &tree, &err) != FG_OK)
		fail_msg("%s", err.message);
}

/*
 * main ─ fit(Track&) ─ log          10   thread 0, region event,      t = 0
 *      │             └ fit(Track&)   5   thread 0, region event/fit,  t = 100   (recursion)
 *      └ io ─ log                   20   thread 1, no region,         t = 200
 *           └ inline get             2   thread 1, unit event 7,      t = 300
 */
static void build(void)
{
	uint32_t main_frame, fit, log_frame, get, s_main, s_fit, s_io, event;

	fg_profile_init(&p);
	main_frame = frame_of("main", "app", "main.c", 12, 0);
	fit = frame_of("reco::fit(Track<int>&)", "libreco.so", "fit.cpp", 88, 0);
	log_frame = frame_of("log", "libm.so.6", NULL, 0, 0);
	get = frame_of("io::get()", "app", "io.h", 5, FG_FRAME_INLINED);
	s_main = fg_profile_stack(&p, 0, main_frame);
	s_fit = fg_profile_stack(&p, s_main, fit);
	s_io = fg_profile_stack(&p, s_main, frame_of("io::read()", "app", "io.cpp", 30, 0));
	fg_profile_add_process(&p)->pid = 40;
	fg_profile_add_thread(&p)->tid = 41;
	p.threads[0].name = "main";
	fg_profile_add_thread(&p)->tid = 42;
	p.threads[1].name = "worker";
	event = fg_profile_region(&p, 0, "event");
	add(fg_profile_stack(&p, s_fit, log_frame), 10, 0, 0);
	p.samples[0].region = event;
	add(fg_profile_stack(&p, s_fit, fit), 5, 100, 0);
	p.samples[1].region = fg_profile_region(&p, event, "fit");
	add(fg_profile_stack(&p, s_io, log_frame), 20, 200, 1);
	add(fg_profile_stack(&p, s_io, get), 2, 300, 1);
	*fg_profile_add_unit(&p) = (struct fg_unit_info){.kind = "event", .number = 7};
	p.samples[3].unit = 1;
}

static void query(const struct fg_calltree_query *q)
{
	(void)release(NULL);
	build();
	build_tree(q);
}

/* The caller releases the returned tree. */
static struct fg_calltree take_tree(void)
{
	const struct fg_calltree taken = tree;

	tree = (struct fg_calltree){0};
	return taken;
}

/* Makes the tree its difference to `before`, which is released. */
static void compare_with(struct fg_calltree *before)
{
	struct fg_calltree after = take_tree();

	fg_calltree_difference(before, &after, &tree);
	fg_calltree_release(before);
	fg_calltree_release(&after);
}

/* Finds the node at a path "a;b;c" of label names; fails the test if it is missing. */
static uint32_t at(const char *path)
{
	char *copy = fg_xstrdup(path);
	char *rest = copy;
	uint32_t node = 0;

	for (char *name = strsep(&rest, ";"); name; name = strsep(&rest, ";")) {
		uint32_t child = tree.nodes[node].first_child;

		while (child && strcmp(tree.labels[tree.nodes[child].label].name, name) != 0)
			child = tree.nodes[child].next_sibling;
		if (!child)
			fail_msg("no '%s' of '%s'", name, path);
		node = child;
	}
	free(copy);
	return node;
}

static double inclusive(const char *path)
{
	return tree.inclusive[0][at(path)].value;
}

static double self(const char *path)
{
	return tree.self[0][at(path)].value;
}

static void make_flat(void)
{
	free(figures);
	figure_count = fg_calltree_flat(&tree, &figures);
}

static const struct fg_label_figures *find(const char *name)
{
	for (size_t i = 0; i < figure_count; i++)
		if (strcmp(tree.labels[figures[i].label].name, name) == 0)
			return &figures[i];
	fail_msg("no figures of '%s'", name);
	return NULL;
}

FG_TEST_IN(totals_and_paths_are_right, NULL, release)
{
	query(&(struct fg_calltree_query){0});
	assert_float_equal(tree.inclusive[0][0].value, 37, 0);
	assert_int_equal(tree.inclusive[0][0].samples, 4);
	assert_float_equal(inclusive("main;reco::fit(Track<int>&)"), 15, 0);
	assert_float_equal(self("main;reco::fit(Track<int>&)"), 0, 0);
	assert_float_equal(self("main;io::read();io::get()"), 2, 0);
	/* the heaviest child comes first */
	assert_string_equal(tree.labels[tree.nodes[tree.nodes[at("main")].first_child].label].name,
			    "io::read()");
}

FG_TEST_IN(recursion_never_counts_twice, NULL, release)
{
	query(&(struct fg_calltree_query){0});
	assert_true(tree.nodes[at("main;reco::fit(Track<int>&);reco::fit(Track<int>&)")].recursive);
	make_flat();
	assert_int_equal(figure_count, 5);
	assert_float_equal(find("reco::fit(Track<int>&)")->inclusive[0].value, 15, 0);
	assert_float_equal(find("reco::fit(Track<int>&)")->self[0].value, 5, 0);
	assert_float_equal(find("log")->self[0].value, 30, 0);
	assert_int_equal(find("log")->leaf_paths, 2);
	assert_string_equal(tree.labels[figures[0].label].name, "log");
	for (size_t i = 0; i < figure_count; i++)
		assert_true(figures[i].inclusive[0].value <= tree.inclusive[0][0].value);
}

FG_TEST_IN(edges_carry_each_sample_once, NULL, release)
{
	struct fg_label_edge *edges;
	size_t count;
	double to_log = 0;

	query(&(struct fg_calltree_query){0});
	count = fg_calltree_edges(&tree, &edges);
	assert_int_equal(count,
			 7); /* root→main, main→fit, fit→log, fit→fit, main→io, io→log, io→get */
	for (size_t i = 0; i < count; i++)
		if (strcmp(tree.labels[edges[i].callee].name, "log") == 0)
			to_log += edges[i].weight[0].value;
	assert_float_equal(to_log, 30, 0);
	free(edges);
}

FG_TEST_IN(filters_keep_what_they_name, NULL, release)
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
		query(&CASES[i].query);
		if (fabs(tree.inclusive[0][0].value - CASES[i].total) > 0)
			fail_msg("%s: %g", CASES[i].why, tree.inclusive[0][0].value);
	}
}

FG_TEST_IN(root_and_leaf_cut_the_stacks, NULL, release)
{
	query(&(struct fg_calltree_query){.root = "io::read"});
	assert_float_equal(inclusive("io::read();log"), 20, 0);
	query(&(struct fg_calltree_query){.leaf = "reco::fit"});
	assert_float_equal(self("main;reco::fit(Track<int>&)"), 10, 0);
	assert_float_equal(self("main;reco::fit(Track<int>&);reco::fit(Track<int>&)"), 5, 0);
}

FG_TEST_IN(hidden_and_inlined_frames_fold_into_their_callers, NULL, release)
{
	query(&(struct fg_calltree_query){.hide = (const char *const[]){"io::read", NULL}});
	assert_float_equal(self("main;log"), 20, 0);
	query(&(struct fg_calltree_query){.fold_inlined = true});
	assert_float_equal(self("main;io::read()"), 2, 0);
}

/* Tests kernel functions and generated code, with and without names. */
FG_TEST_IN(the_kernel_is_a_library_and_a_class_of_its_own, NULL, release)
{
	static const enum fg_group groups[] = {FG_GROUP_LIBRARY, FG_GROUP_CLASS,
					       FG_GROUP_NAMESPACE};

	for (size_t i = 0; i < FG_ARRAY_SIZE(groups); i++) {
		uint32_t above;
		uint32_t stack;

		(void)release(NULL);
		build();
		above = fg_profile_stack(&p, 0, frame_of("main", "app", "main.c", 12, 0));
		stack = fg_profile_stack(&p, above,
					 frame_of("[kernel]", "", NULL, 0, FG_FRAME_KERNEL));
		add(stack, 3, 400, 1);
		stack = fg_profile_stack(&p, above,
					 frame_of("do_read", "[kernel]", NULL, 0, FG_FRAME_KERNEL));
		add(stack, 4, 410, 1);
		stack = fg_profile_stack(&p, above,
					 frame_of("hot", "[JIT]", NULL, 0, FG_FRAME_JIT));
		add(stack, 6, 420, 1);
		build_tree(&(struct fg_calltree_query){.group = groups[i]});
		assert_float_equal(self(i == 0 ? "app;[kernel]" : "(global) app;[kernel]"), 7, 0);
		assert_float_equal(self(i == 0 ? "app;[JIT]" : "(global) app;[JIT]"), 6, 0);
	}
}

FG_TEST_IN(groups_merge_neighbours, NULL, release)
{
	query(&(struct fg_calltree_query){.group = FG_GROUP_LIBRARY});
	assert_float_equal(self("app"), 2, 0);
	assert_float_equal(self("app;libm.so.6"), 20, 0);
	assert_float_equal(self("app;libreco.so"), 5, 0);
	query(&(struct fg_calltree_query){.group = FG_GROUP_NAMESPACE});
	assert_float_equal(inclusive("(global) app;reco"), 15, 0);
	query(&(struct fg_calltree_query){.group = FG_GROUP_LINE});
	assert_float_equal(inclusive("main.c:12;fit.cpp:88"), 15, 0);
	assert_float_equal(self("main.c:12;fit.cpp:88;fit.cpp:88"), 5, 0);
	query(&(struct fg_calltree_query){.group = FG_GROUP_FILE});
	assert_float_equal(inclusive("main.c;fit.cpp"), 15, 0);
}

FG_TEST_IN(splits_are_above_the_paths, NULL, release)
{
	query(&(struct fg_calltree_query){.split = FG_SPLIT_THREAD});
	assert_float_equal(inclusive("worker (42);main;io::read()"), 22, 0);
	query(&(struct fg_calltree_query){.split = FG_SPLIT_REGION});
	assert_float_equal(inclusive("event"), 15, 0);
	assert_float_equal(inclusive("event;fit"), 5, 0);
	assert_float_equal(inclusive("(outside any region);main"), 22, 0);
	query(&(struct fg_calltree_query){.split = FG_SPLIT_UNIT});
	assert_float_equal(inclusive("event;event 7"), 2, 0);
}

FG_TEST_IN(a_function_can_be_split_by_its_ancestor, NULL, release)
{
	query(&(struct fg_calltree_query){
		.ancestors = (const char *const[]){"reco::fit", "io::read", NULL}});
	make_flat();
	assert_float_equal(find("log  (from io::read())")->self[0].value, 20, 0);
	assert_float_equal(find("log  (from reco::fit(Track<int>&))")->self[0].value, 10, 0);
}

FG_TEST_IN(names_are_rewritten, NULL, release)
{
	query(&(struct fg_calltree_query){
		.collapse_templates = true,
		.rename = (const char *const[]){"s/reco:://", "s/io::/IO./", NULL}});
	assert_float_equal(inclusive("main;fit(Track<...>&)"), 15, 0);
	assert_float_equal(inclusive("main;IO.read()"), 22, 0);
}

/* A function that moved to another line between two builds stays the same. */
FG_TEST_IN(a_function_that_moved_is_the_same_in_a_difference, NULL, release)
{
	struct fg_calltree before = {0};

	for (unsigned i = 0; i < 2; i++) {
		before = take_tree();
		fg_profile_release(&p);
		fg_profile_init(&p);
		add(fg_profile_stack(&p, 0, frame_of("fit", "app", "fit.cpp", 80 + 40 * i, 0)),
		    10 + 5 * i, 0, 0);
		build_tree(&(struct fg_calltree_query){0});
	}
	compare_with(&before);
	assert_int_equal(tree.node_count, 2);
	assert_true(fabs(tree.self[0][1].value - 10) < 1e-9);
	assert_true(fabs(tree.self[1][1].value - 15) < 1e-9);
}

/* fit is in libreco.so and io::read is in app, each in its own file. */
FG_TEST_IN(equal_rewritten_names_are_one_across_files_and_libraries, NULL, release)
{
	const struct fg_calltree_query q = {
		.rename = (const char *const[]){"s/^(reco::fit|io::read).*/work/", NULL}};

	query(&q);
	assert_true(fabs(tree.inclusive[0][at("main;work")].value - 37) < 1e-9);
	assert_string_equal(tree.labels[tree.nodes[at("main;work")].label].library, "");
	assert_string_equal(tree.labels[tree.nodes[at("main")].label].library, "app");
}

FG_TEST_IN(a_bad_pattern_is_refused_by_name, NULL, release)
{
	const struct fg_calltree_query root = {.root = "("};
	const struct fg_calltree_query rename = {.rename = (const char *const[]){"y/a/b/", NULL}};
	struct fg_error err = {0};

	build();
	assert_int_equal(fg_calltree_build(&p, &root, &tree, &err), FG_EINVAL);
	assert_non_null(strstr(err.message, "root"));
	assert_null(tree.nodes);
	assert_int_equal(fg_calltree_build(&p, &rename, &tree, &err), FG_EINVAL);
}

FG_TEST_IN(a_difference_has_the_union_of_the_paths, NULL, release)
{
	struct fg_calltree before;
	uint32_t node;

	query(&(struct fg_calltree_query){.to_ns = 250});
	before = take_tree();
	query(&(struct fg_calltree_query){.from_ns = 150});
	compare_with(&before);
	node = at("main;io::read()");
	assert_float_equal(tree.inclusive[0][node].value, 20, 0);
	assert_float_equal(tree.inclusive[1][node].value, 22, 0);
	node = at("main;reco::fit(Track<int>&)");
	assert_float_equal(tree.inclusive[0][node].value, 15, 0);
	assert_float_equal(tree.inclusive[1][node].value, 0, 0);
	assert_float_equal(tree.inclusive[0][0].value, 35, 0);
	assert_float_equal(tree.inclusive[1][0].value, 22, 0);
}

FG_TEST_IN(bottom_up_puts_callers_below_the_leaf, NULL, release)
{
	struct fg_calltree whole;

	query(&(struct fg_calltree_query){0});
	whole = take_tree();
	fg_calltree_invert(&whole, 16, 0, &tree);
	assert_float_equal(tree.inclusive[0][0].value, 37, 0);
	assert_float_equal(inclusive("log"), 30, 0);
	assert_float_equal(inclusive("log;io::read();main"), 20, 0);
	assert_float_equal(inclusive("reco::fit(Track<int>&);reco::fit(Track<int>&)"), 5, 0);
	fg_calltree_release(&tree);
	fg_calltree_invert(&whole, 1, 6, &tree);
	assert_int_equal(tree.node_count, 2); /* the root and log; others are below the floor */
	assert_float_equal(tree.inclusive[0][0].value, 37, 0);
	assert_float_equal(tree.self[0][0].value, 7, 0);
	fg_calltree_release(&whole);
}

FG_TEST_IN(the_standard_error_is_binomial_for_equal_weights, NULL, release)
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
FG_TEST_IN(parts_of_a_sample_are_one_where_they_are_together, NULL, release)
{
	fg_profile_init(&p);
	const uint32_t s_main = fg_profile_stack(&p, 0, frame_of("main", "app", "m.c", 1, 0));
	const uint32_t s_ask = fg_profile_stack(&p, s_main, frame_of("ask", "app", "m.c", 2, 0));
	const uint32_t s_idle = fg_profile_stack(&p, s_main, frame_of("idle", "app", "m.c", 3, 0));
	const uint32_t s_read =
		fg_profile_stack(&p, s_ask, frame_of("read_zero", "[kernel]", NULL, 0, 0));
	const uint32_t s_clear =
		fg_profile_stack(&p, s_ask, frame_of("clear_page", "[kernel]", NULL, 0, 0));

	fg_profile_add_thread(&p)->tid = 1;
	fg_profile_add_thread(&p)->tid = 2;
	p.has_times = true;
	add(s_read, 3, 50, 0);
	add(s_clear, 1, 50, 0);
	add(s_read, 2, 50, 0);
	add(s_read, 4, 60, 0);
	add(s_idle, 10, 60, 1);
	for (size_t i = 0; i < p.sample_count; i++)
		p.samples[i].kind = FG_TIME_SYSTEM;
	build_tree(&(struct fg_calltree_query){0});
	const struct fg_weight *of = tree.inclusive[0];

	assert_float_equal(of[at("main;ask;read_zero")].square, 25 + 16, 1e-9);
	assert_float_equal(of[at("main;ask;clear_page")].square, 1, 1e-9);
	assert_float_equal(of[at("main;ask")].square, 36 + 16, 1e-9);
	assert_float_equal(tree.self[0][at("main;ask")].square, 0, 1e-9);
	assert_float_equal(of[at("main")].square, 36 + 16 + 100, 1e-9);
	assert_float_equal(of[at("main;ask")].value, 10, 1e-9);
}

FG_TEST_IN(figures_per_repetition_are_means, NULL, release)
{
	build();
	p.repetition_count = 2;
	build_tree(&(struct fg_calltree_query){.per_repetition = true});
	assert_float_equal(tree.inclusive[0][0].value, 18.5, 1e-12);
}

FG_TEST_IN(an_empty_profile_gives_an_empty_tree, NULL, release)
{
	struct fg_calltree inverted;
	struct fg_label_edge *edges;

	fg_profile_init(&p);
	build_tree(&(struct fg_calltree_query){0});
	assert_int_equal(tree.node_count, 1);
	make_flat();
	assert_int_equal(figure_count, 0);
	assert_int_equal(fg_calltree_edges(&tree, &edges), 0);
	fg_calltree_invert(&tree, 4, 0, &inverted);
	assert_int_equal(inverted.node_count, 1);
	free(edges);
	fg_calltree_release(&inverted);
}
