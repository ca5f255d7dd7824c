// SPDX-License-Identifier: Apache-2.0
/* Instructions and calls of a made-up program: main → {parse, memcpy}. */
#include "gate/exact.h"
#include "tests/support/fg_test.h"

#include <math.h>

enum {
	METRICS_MAX = 4,
	PARSE_CALLS = 1000,
	COPY_INSTRUCTIONS = 7777,
};

static const double million = 1e6;

struct fixture {
	struct fg_arena arena;
	struct fg_profile_set set;
	struct fg_metric_policy rows[2];
	struct fg_policy policy;
	struct fg_metric_verdict metrics[METRICS_MAX];
	struct fg_benchmark_verdict verdict;
	uint32_t parse;
	uint32_t copy;
};

static uint32_t add_node(struct fg_profile_set *set, uint32_t parent, const char *library,
			 const char *name)
{
	const struct fg_profile_function function = {.name = name, .library = library};

	return fg_profile_set_node(set, parent, fg_profile_set_function(set, &function));
}

static int setup(void **state)
{
	struct fixture *f = fg_xcalloc(1, sizeof(*f));
	uint32_t top = 0;

	fg_profile_set_init(&f->set, "app");
	top = add_node(&f->set, 0, "app", "main");
	f->parse = add_node(&f->set, top, "app", "parse");
	f->copy = add_node(&f->set, top, "libc.so.6", "memcpy");
	f->policy.alpha = 0.01;
	f->policy.metrics = f->rows;
	f->verdict.metrics = f->metrics;
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	fg_profile_set_release(&f->set);
	fg_arena_release(&f->arena);
	free(f);
	return 0;
}

static void gate(struct fixture *f, const char *name, double tolerated)
{
	f->rows[f->policy.metric_count++] =
		(struct fg_metric_policy){.name = name, .gated = true, .tolerated = tolerated};
}

static void add_row(struct fixture *f, uint8_t arm, uint32_t pair, const char *measure,
		    const double values[2])
{
	const struct fg_measure what = fg_measure_describe(measure, NULL);
	const uint16_t id = fg_profile_set_measure(&f->set, &what);
	struct fg_profile_row *row = fg_profile_set_add_row(&f->set, 2);

	row->arm = arm;
	row->pair = FG_EXACT_FIRST_PAIR + pair;
	row->measure = id;
	row->nodes[0] = f->parse;
	row->nodes[1] = f->copy;
	for (int i = 0; i < 2; i++) {
		row->values[i] = values[i];
		row->total += values[i];
	}
}

/* One repetition: what parse() executes and how often it is called. */
static void count(struct fixture *f, uint8_t arm, uint32_t pair, double instructions, double calls)
{
	add_row(f, arm, pair, "instructions", (double[]){instructions, COPY_INSTRUCTIONS});
	add_row(f, arm, pair, "calls", (double[]){calls, 1});
}

static const struct fg_metric_verdict *decided(struct fixture *f, const char *name, bool is_alone)
{
	f->verdict.metric_count = 0;
	fg_exact_decide(&f->set, &f->policy, is_alone, &f->arena, &f->verdict);
	for (size_t i = 0; i < f->verdict.metric_count; i++) {
		if (strcmp(f->metrics[i].name, name) == 0)
			return &f->metrics[i];
	}
	fail_msg("no metric %s", name);
	return NULL;
}

static void instructions_are_judged_by_what_the_configuration_tolerates(void **state)
{
	struct fixture *f = *state;
	const struct fg_metric_verdict *metric = NULL;

	gate(f, "instructions", 1e-5);
	count(f, 0, 0, million, PARSE_CALLS);
	count(f, 1, 0, million * (1 + 3e-5), PARSE_CALLS);
	metric = decided(f, "instructions", false);
	assert_true(metric->gated);
	assert_int_equal(metric->outcome, FG_OUTCOME_REGRESSION);
	assert_true(fabs(metric->ratio - 1 - 3e-5) < 1e-9); /* the C library stands apart */
	f->rows[0].tolerated = 1e-4;
	assert_int_equal(decided(f, "instructions", false)->outcome, FG_OUTCOME_PASS);
}

static void without_configuration_counts_are_shown_and_gate_nothing(void **state)
{
	struct fixture *f = *state;

	count(f, 0, 0, million, PARSE_CALLS);
	count(f, 1, 0, 2 * million, 2 * PARSE_CALLS);
	assert_false(decided(f, "instructions", false)->gated);
	assert_false(decided(f, "calls", false)->gated);
	assert_int_equal(decided(f, "calls", false)->outcome, FG_OUTCOME_PASS);
	assert_true(decided(f, "instructions", true)->gated); /* run --exact */
	f->policy.fail_on_exact = true;
	assert_true(decided(f, "instructions", false)->gated);
}

static void calls_are_judged_where_the_configuration_names_them(void **state)
{
	struct fixture *f = *state;

	gate(f, "calls", 0);
	count(f, 0, 0, million, PARSE_CALLS);
	count(f, 1, 0, million, PARSE_CALLS + 1);
	assert_true(decided(f, "calls", false)->gated);
	assert_int_equal(decided(f, "calls", false)->outcome, FG_OUTCOME_REGRESSION);
	f->rows[0].tolerated = 0.01;
	assert_int_equal(decided(f, "calls", false)->outcome, FG_OUTCOME_PASS);
}

static void repetitions_that_disagree_decide_nothing(void **state)
{
	struct fixture *f = *state;

	gate(f, "instructions", 1e-4);
	for (uint32_t pair = 0; pair < 2; pair++) {
		count(f, 0, pair, million * (1 + 0.01 * pair), PARSE_CALLS);
		count(f, 1, pair, million * (1.1 + 0.01 * pair), PARSE_CALLS);
	}
	assert_int_equal(decided(f, "instructions", false)->outcome, FG_OUTCOME_INCONCLUSIVE);
}

static void more_work_is_said_with_its_cause(void **state)
{
	struct fixture *f = *state;

	count(f, 0, 0, million, PARSE_CALLS);
	count(f, 1, 0, 3 * million, 3 * PARSE_CALLS);
	(void)decided(f, "instructions", true);
	assert_int_equal(f->verdict.work->kind, FG_WORK_MORE);
	assert_int_equal(f->verdict.work->cause, FG_WORK_CAUSE_CALLS);
	assert_string_equal(f->verdict.work->function, "parse");
}

static void equal_counts_are_the_same_work(void **state)
{
	struct fixture *f = *state;

	count(f, 0, 0, million, PARSE_CALLS);
	count(f, 1, 0, million, PARSE_CALLS);
	assert_true(fg_exact_is_equal(&f->set));
	(void)decided(f, "instructions", true);
	assert_int_equal(f->verdict.work->kind, FG_WORK_SAME);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(instructions_are_judged_by_what_the_configuration_tolerates),
		CASE(without_configuration_counts_are_shown_and_gate_nothing),
		CASE(calls_are_judged_where_the_configuration_names_them),
		CASE(repetitions_that_disagree_decide_nothing),
		CASE(more_work_is_said_with_its_cause),
		CASE(equal_counts_are_the_same_work),
	};
#undef CASE

	return cmocka_run_group_tests(tests, NULL, NULL);
}
