// SPDX-License-Identifier: Apache-2.0
/* Instructions and calls of a synthetic program: main → {parse, memcpy}. */
#include "base/random.h"
#include "gate/exact.h"
#include "tests/support/fg_test.h"
#include "tests/unit/gate/made_run.h"

#include <math.h>

enum {
	METRICS_MAX = 4,
	PARSE_CALLS = 1000,
	COPY_INSTRUCTIONS = 7777,
};

static const double million = 1e6;

static struct fixture {
	struct fg_arena arena;
	struct fg_profile_set set;
	struct fg_series series; /* both sides have the same C library */
	struct fg_metric_policy rows[2];
	struct fg_policy policy;
	struct fg_metric_verdict metrics[METRICS_MAX];
	struct fg_benchmark_verdict verdict;
	uint32_t top;
	uint32_t parse;
	uint32_t copy;
	uint32_t load;
} f;

/* Resets the program to an empty one. */
static int start_again(void **state)
{
	(void)state;
	fg_profile_set_release(&f.set);
	fg_series_release(&f.series);
	fg_arena_release(&f.arena);
	fg_series_init(&f.series, "app");
	for (size_t arm = 0; arm < FG_ARM_COUNT; arm++)
		fg_build_facts_set(&f.series.build[arm], "build.library.libc.so.6", "abcd");
	f.policy = (struct fg_policy){.alpha = 0.01, .metrics = f.rows};
	f.verdict = (struct fg_benchmark_verdict){.metrics = f.metrics};
	fg_profile_set_init(&f.set, "app");
	f.top = fg_made_call_path(&f.set, 0, "app", "main");
	f.parse = fg_made_call_path(&f.set, f.top, "app", "parse");
	f.copy = fg_made_call_path(&f.set, f.top, "libc.so.6", "memcpy");
	f.load = fg_made_call_path(&f.set, f.top, "app", "load");
	return 0;
}

static void gate(const char *name, double tolerated)
{
	f.rows[f.policy.metric_count++] =
		(struct fg_metric_policy){.name = name, .gated = true, .tolerated = tolerated};
}

/* Instructions of one arm, and the calls of the function that executes them. */
struct work {
	double top, parse, load, copy; /* instructions */
	double parse_calls, load_calls, copy_calls;
};

static void add_work(uint8_t arm, uint32_t pair, const struct work *work)
{
	static const char *const measures[] = {"instructions", "calls"};
	const double values[2][4] = {
		{work->top, work->parse, work->load, work->copy},
		{0, work->parse_calls, work->load_calls, work->copy_calls},
	};

	for (size_t m = 0; m < 2; m++) {
		const struct fg_measure what = fg_measure_describe(measures[m], NULL);
		const uint16_t id = fg_profile_set_measure(&f.set, &what);
		struct fg_profile_row *row = fg_profile_set_add_row(&f.set, 4);
		const uint32_t nodes[] = {f.top, f.parse, f.load, f.copy};

		row->arm = arm;
		row->pair = FG_EXACT_FIRST_PAIR + pair;
		row->measure = id;
		memcpy(row->nodes, nodes, sizeof(nodes));
		memcpy(row->values, values[m], sizeof(values[m]));
	}
}

/* Adds one repetition: the instructions and the calls of parse(). */
static void count(uint8_t arm, uint32_t pair, double instructions, double calls)
{
	add_work(arm, pair,
		 &(struct work){.parse = instructions,
				.parse_calls = calls,
				.copy = COPY_INSTRUCTIONS,
				.copy_calls = 1});
}

static void decide(bool is_alone)
{
	fg_exact_decide(&f.set, &f.series, &f.policy, is_alone, &f.arena, &f.verdict);
}

static const struct fg_metric_verdict *decided(const char *name, bool is_alone)
{
	f.verdict.metric_count = 0;
	decide(is_alone);
	for (size_t i = 0; i < f.verdict.metric_count; i++) {
		if (strcmp(f.metrics[i].name, name) == 0)
			return &f.metrics[i];
	}
	fail_msg("no metric %s", name);
	return NULL;
}

FG_TEST_IN(without_configuration_counts_are_shown_and_gate_nothing, start_again, NULL)
{
	count(0, 0, million, PARSE_CALLS);
	count(1, 0, 2 * million, 2 * PARSE_CALLS);
	assert_false(decided("instructions", false)->gated);
	assert_false(decided("calls", false)->gated);
	assert_int_equal(decided("calls", false)->outcome, FG_OUTCOME_PASS);
	assert_true(decided("instructions", true)->gated); /* run --exact */
	f.policy.fail_on_exact = true;
	assert_true(decided("instructions", false)->gated);
}

FG_TEST_IN(instructions_without_a_stack_count, start_again, NULL)
{
	const struct fg_metric_verdict *metric = NULL;

	for (uint8_t arm = 0; arm < 2; arm++)
		count(arm, 0, million, PARSE_CALLS);
	for (size_t i = 0; i < f.set.row_count; i++)
		f.set.rows[i].nodes[1] = 0; /* parse() */
	metric = decided("instructions", false);
	assert_float_equal(metric->baseline, million + COPY_INSTRUCTIONS, 1e-3);
	assert_float_equal(metric->candidate, million + COPY_INSTRUCTIONS, 1e-3);
}

/* The uncertainty is ten times the difference between repetitions, without exceptions. */
FG_TEST_IN(differing_repetitions_make_the_count_uncertain, start_again, NULL)
{
	static const struct {
		double spread; /* spread of parse on each side */
		double more;   /* growth in the candidate */
		enum fg_outcome outcome;
	} rows[] = {
		{0.01, 0.10, FG_OUTCOME_INCONCLUSIVE},
		{0.001, 0.10, FG_OUTCOME_REGRESSION},
		{0.001, -0.10, FG_OUTCOME_IMPROVEMENT},
		{0.001, 0.01, FG_OUTCOME_INCONCLUSIVE},
		{1e-6, 0, FG_OUTCOME_PASS},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		const struct fg_metric_verdict *metric = NULL;

		(void)start_again(state);
		gate("instructions", 1e-4);
		for (uint32_t pair = 0; pair < 2; pair++) {
			count(0, pair, million * (1 + rows[i].spread * pair), PARSE_CALLS);
			count(1, pair, million * (1 + rows[i].more + rows[i].spread * pair),
			      PARSE_CALLS);
		}
		metric = decided("instructions", false);
		if (metric->outcome != rows[i].outcome)
			fail_msg("row %zu: [%g, %g]", i, metric->low, metric->high);
		assert_int_equal(strncmp(metric->notes.items[0], "functions with 1.", 17), 0);
	}
}

/* The loop became a call of the C library: its whole cost counts, and the caller is named. */
FG_TEST_IN(work_in_the_c_library_is_charged_to_its_caller, start_again, NULL)
{
	const struct fg_metric_verdict *metric = NULL;

	f.copy = fg_made_call_path(&f.set, f.parse, "libc.so.6", "tolower");
	add_work(0, 0, &(struct work){.parse = 100 * million, .copy = 45 * million});
	add_work(1, 0, &(struct work){.parse = 42 * million, .copy = 237 * million});
	metric = decided("instructions", true);
	assert_int_equal(metric->outcome, FG_OUTCOME_REGRESSION);
	assert_float_equal(metric->ratio, 279.0 / 145, 1e-9);
	assert_string_equal(f.verdict.work->function, "parse");
	assert_string_equal(f.verdict.work->leaf, "tolower");
	assert_non_null(strstr(f.verdict.notes.items[0], "most of it in parse → tolower"));
}

/* ---- to the instruction ---- */

/* Adds one repetition per side of a program that only parses. */
static void count_parse(double before, double after)
{
	const struct work sides[2] = {{.parse = before, .parse_calls = before},
				      {.parse = after, .parse_calls = after}};

	for (uint8_t arm = 0; arm < 2; arm++)
		add_work(arm, 0, &sides[arm]);
}

FG_TEST_IN(a_difference_beyond_the_tolerated_fails_to_the_digit, start_again, NULL)
{
	static const struct {
		double before;
		double after;
		enum fg_outcome outcome;
	} rows[] = {
		{400, 500, FG_OUTCOME_PASS}, {400, 501, FG_OUTCOME_REGRESSION},
		{400, 300, FG_OUTCOME_PASS}, {400, 299, FG_OUTCOME_IMPROVEMENT},
		{400, 400, FG_OUTCOME_PASS},
	};
	static const char *const names[] = {"instructions", "calls"};
	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		for (size_t n = 0; n < FG_ARRAY_SIZE(names); n++) {
			const struct fg_metric_verdict *metric = NULL;

			(void)start_again(state);
			gate(names[n], 0.25);
			count_parse(rows[i].before, rows[i].after);
			metric = decided(names[n], false);
			assert_int_equal(metric->outcome, rows[i].outcome);
			assert_string_equal(metric->label, names[n]);
			assert_string_equal(metric->unit, "1");
			assert_int_equal(metric->better, FG_BETTER_LOWER);
			assert_true(metric->decided && metric->exact && metric->gated);
			assert_int_equal(metric->pairs, 1);
			assert_float_equal(metric->baseline, rows[i].before, 0);
			assert_float_equal(metric->candidate, rows[i].after, 0);
			assert_float_equal(metric->ratio, rows[i].after / rows[i].before, 0);
			assert_float_equal(metric->low, metric->ratio, 0);
			assert_float_equal(metric->high, metric->ratio, 0);
			assert_float_equal(metric->margin, 0.25, 0);
			assert_float_equal(metric->smallest_detectable, 0.25, 0);
			assert_float_equal(metric->alpha, 0.01, 0);
			assert_true(isnan(metric->p_value));
		}
	}
}

/*
 * Two repetitions per side of a function whose count is random (hash seeds, addresses): normally
 * distributed, or with a long tail. A limit of ten times their difference keeps false alarms at a
 * thousandth.
 */
FG_TEST_IN(counts_that_vary_by_chance_hardly_ever_fail, start_again, NULL)
{
	enum {
		DRAWN = 4000
	};

	for (int with_tail = 0; with_tail < 2; with_tail++) {
		struct fg_random random;
		int failed = 0;

		fg_random_seed(&random, 21);
		for (int run = 0; run < DRAWN; run++) {
			(void)start_again(state);
			for (uint32_t i = 0; i < 4; i++) {
				const double noise = with_tail
							     ? -log(1 - fg_random_uniform(&random))
							     : fg_random_normal(&random);

				count(i % 2, i / 2, round(million * (1 + 0.02 * noise)),
				      PARSE_CALLS);
			}
			failed += decided("instructions", true)->outcome == FG_OUTCOME_REGRESSION;
		}
		assert_in_range(failed, 0, 12);
	}
}

/* One part in ten thousand is not a regression of an ungated count. */
FG_TEST_IN(a_count_that_is_only_shown_has_a_tolerance, start_again, NULL)
{
	static const struct {
		double tolerance;
		double after;
		enum fg_outcome outcome;
	} rows[] = {
		{0, 1.00009, FG_OUTCOME_PASS},    {0, 1.00011, FG_OUTCOME_REGRESSION},
		{0, 0.99991, FG_OUTCOME_PASS},    {0, 0.99989, FG_OUTCOME_IMPROVEMENT},
		{0.01, 1.009, FG_OUTCOME_PASS},   {0.01, 1.011, FG_OUTCOME_REGRESSION},
		{1e-6, 1.00009, FG_OUTCOME_PASS},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		const struct fg_metric_verdict *metric = NULL;

		(void)start_again(state);
		gate("instructions", 0);
		f.rows[0].gated = false;
		f.rows[0].tolerance = rows[i].tolerance;
		count_parse(million, rows[i].after * million);
		metric = decided("instructions", false);
		assert_false(metric->gated);
		assert_int_equal(metric->outcome, rows[i].outcome);
	}
}

FG_TEST_IN(the_side_with_fewer_repetitions_says_how_many_pairs_there_are, start_again, NULL)
{
	for (uint8_t more = 0; more < 2; more++) {
		(void)start_again(state);
		for (uint32_t pair = 0; pair < 3; pair++) {
			add_work(more, pair, &(struct work){.parse = 90, .parse_calls = 9});
			if (pair < 2)
				add_work(1 - more, pair,
					 &(struct work){.parse = 60, .parse_calls = 6});
		}
		assert_int_equal(decided("instructions", false)->pairs, 2);
		assert_int_equal(decided("calls", false)->pairs, 2);
		assert_float_equal(f.metrics[1].baseline, more ? 6 : 9, 0);
	}
}

/* Rows of the pairs, of another measure or of one side only are ignored. */
FG_TEST_IN(only_counts_of_both_sides_are_compared, start_again, NULL)
{
	static const struct {
		double before;
		double after;
		size_t metrics;
	} rows[] = {{1, 1, 2}, {0, 100, 0}, {100, 0, 0}};
	const struct fg_measure bytes = fg_measure_describe("alloc_space", "bytes");

	assert_false(fg_exact_has(NULL, 0));
	assert_false(fg_exact_has(&f.set, 0));
	count_parse(100, 100);
	f.set.rows[0].pair = FG_EXACT_FIRST_PAIR - 1;
	assert_false(fg_exact_has(&f.set, 0));
	assert_true(fg_exact_has(&f.set, 1));
	decide(true);
	assert_int_equal(f.verdict.metric_count, 0);
	f.set.rows[0].pair = FG_EXACT_FIRST_PAIR;
	f.set.rows[2].measure = fg_profile_set_measure(&f.set, &bytes);
	assert_true(fg_exact_has(&f.set, 0));
	assert_false(fg_exact_has(&f.set, 1));
	decide(true);
	assert_int_equal(f.verdict.metric_count, 0);
	assert_null(f.verdict.work);
	/* Calls requested on one side only are not a metric. */
	for (uint8_t arm = 0; arm < 2; arm++) {
		(void)start_again(state);
		add_work(arm, 0, &(struct work){.parse = 1, .parse_calls = 1});
		add_work(1 - arm, 0, &(struct work){.parse = 1});
		decide(true);
		assert_int_equal(f.verdict.metric_count, 1);
	}
	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		(void)start_again(state);
		count_parse(rows[i].before, rows[i].after);
		decide(true);
		assert_int_equal(f.verdict.metric_count, rows[i].metrics);
	}
}

FG_TEST_IN(equal_means_the_same_counts_in_the_first_repetition, start_again, NULL)
{
	static const struct {
		struct work sides[2];
		bool equal;
	} rows[] = {
		{{{.parse = 1, .parse_calls = 1}, {.parse = 1, .parse_calls = 1}}, true},
		{{{.parse = 1, .parse_calls = 1}, {.parse = 2, .parse_calls = 1}}, false},
		{{{.parse = 2, .parse_calls = 1}, {.parse = 1, .parse_calls = 1}}, false},
		{{{.parse = 1, .parse_calls = 1}, {.parse = 1, .parse_calls = 2}}, false},
		{{{.parse = 1, .parse_calls = 2}, {.parse = 1, .parse_calls = 1}}, false},
		{{{.load = 1}, {.load = 2}}, false},
		{{{.copy = 1, .copy_calls = 1}, {.copy = 2, .copy_calls = 1}}, false},
		{{{.parse = 1, .load = 2}, {.parse = 2, .load = 1}}, false},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		(void)start_again(state);
		for (uint8_t arm = 0; arm < 2; arm++) {
			add_work(arm, 0, &rows[i].sides[arm]);
			add_work(arm, 1, &(struct work){.parse = 100 + 100.0 * arm});
		}
		assert_int_equal(fg_exact_is_equal(&f.set), rows[i].equal);
	}
}

FG_TEST_IN(only_the_dynamic_linker_is_left_out, start_again, NULL)
{
	static const struct {
		const char *library;
		bool apart;
	} rows[] = {
		{"libc.so.6", false},
		{"libc-2.31.so", false},
		{"ld-linux-x86-64.so.2", true},
		{"ld.so.1", true},
		{"libcrypto.so.3", false},
		{"libm.so.6", false},
		{"ldap.so", false},
		{"", false},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		(void)start_again(state);
		f.copy = fg_made_call_path(&f.set, f.top, rows[i].library, "other");
		for (uint8_t arm = 0; arm < 2; arm++)
			add_work(arm, 0,
				 &(struct work){.parse = 1, .copy = arm, .copy_calls = arm});
		assert_int_equal(fg_exact_is_equal(&f.set), rows[i].apart);
	}
}

/*
 * Returns the kind of work that these counts show. `ratio`: change of the time; 0: unchanged, NAN:
 * not measured.
 */
static enum fg_work meaning(double before, double after, double ratio)
{
	(void)start_again(NULL);
	count_parse(before, after);
	f.metrics[0] = (struct fg_metric_verdict){.unit = "ns",
						  .ratio = ratio,
						  .outcome = ratio > 1   ? FG_OUTCOME_REGRESSION
							     : ratio > 0 ? FG_OUTCOME_IMPROVEMENT
									 : FG_OUTCOME_PASS};
	f.verdict.metric_count = isnan(ratio) ? 0 : 1;
	decide(isnan(ratio));
	return f.verdict.work->kind;
}

FG_TEST_IN(more_work_explains_more_time_from_a_quarter_of_it_on, start_again, NULL)
{
	static const struct {
		double before;
		double after;
		double ratio;
		enum fg_work kind;
	} rows[] = {
		{8, 9, 1.5, FG_WORK_MORE}, /* an eighth is a quarter of a half */
		{800, 899, 1.5, FG_WORK_SAME_SLOWER},
		{8, 7, 1.5, FG_WORK_SAME_SLOWER},
		{8, 7, 0.5, FG_WORK_LESS},
		{800, 701, 0.5, FG_WORK_SAME_FASTER},
		{8, 9, 0.5, FG_WORK_SAME_FASTER},
		/* less than a thousandth does not explain the time */
		{100000, 100099, 1.001, FG_WORK_SAME_SLOWER},
		{100000, 100101, 1.001, FG_WORK_MORE},
		{100000, 99901, 0.999, FG_WORK_SAME_FASTER},
		{100000, 99899, 0.999, FG_WORK_LESS},
		{100000, 100011, 0, FG_WORK_MORE_NOT_FELT},
		{100000, 100009, 0, FG_WORK_SAME},
		{100000, 99989, 0, FG_WORK_LESS_NOT_FELT},
		{100000, 99991, 0, FG_WORK_SAME},
		{100000, 100011, NAN, FG_WORK_MORE},
		{100000, 100009, NAN, FG_WORK_SAME},
		{100000, 99989, NAN, FG_WORK_LESS},
		{100000, 99991, NAN, FG_WORK_SAME},
		{100000, 100000, NAN, FG_WORK_SAME},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		if (meaning(rows[i].before, rows[i].after, rows[i].ratio) != rows[i].kind)
			fail_msg("row %zu: %d", i, (int)f.verdict.work->kind);
	}
}

/* The metric whose time changed most is used. */
FG_TEST_IN(the_compared_time_surely_changed, start_again, NULL)
{
	static const struct {
		struct fg_metric_verdict metrics[2];
		enum fg_work kind; /* kind of work for 5 % more instructions */
	} rows[] = {
		{{{.unit = "ns", .ratio = 1.1, .outcome = FG_OUTCOME_REGRESSION},
		  {.unit = "ns", .ratio = 1.3, .outcome = FG_OUTCOME_REGRESSION}},
		 FG_WORK_SAME_SLOWER},
		{{{.unit = "ns", .ratio = 1.3, .outcome = FG_OUTCOME_PLACEMENT},
		  {.unit = "ns", .ratio = 1.1, .outcome = FG_OUTCOME_REGRESSION}},
		 FG_WORK_SAME_SLOWER},
		{{{.unit = "ns", .ratio = 0.6, .outcome = FG_OUTCOME_IMPROVEMENT},
		  {.unit = "ns", .ratio = 1.3, .outcome = FG_OUTCOME_REGRESSION}},
		 FG_WORK_SAME_FASTER},
		{{{.unit = "bytes", .ratio = 1.3, .outcome = FG_OUTCOME_REGRESSION},
		  {.unit = "ns", .ratio = 1.1, .outcome = FG_OUTCOME_REGRESSION}},
		 FG_WORK_MORE},
		{{{.unit = "ns", .ratio = 1.3, .outcome = FG_OUTCOME_INCONCLUSIVE},
		  {.unit = "ns", .ratio = 1.3, .outcome = FG_OUTCOME_PASS}},
		 FG_WORK_MORE_NOT_FELT},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		(void)start_again(state);
		count_parse(100, 105);
		memcpy(f.metrics, rows[i].metrics, sizeof(rows[i].metrics));
		f.verdict.metric_count = 2;
		decide(false);
		assert_int_equal(f.verdict.work->kind, rows[i].kind);
		assert_int_equal(f.verdict.metric_count, 4);
	}
}

static const char *note_of(const struct work sides[2])
{
	(void)start_again(NULL);
	for (uint8_t arm = 0; arm < 2; arm++)
		add_work(arm, 0, &sides[arm]);
	decide(true);
	assert_int_equal(f.verdict.notes.count, 1);
	return f.verdict.notes.items[0];
}

FG_TEST_IN(one_line_has_the_work_and_its_cause, start_again, NULL)
{
	static const struct {
		struct work sides[2];
		const char *note;
	} rows[] = {
		{{{.parse = 1000, .parse_calls = 10}, {.parse = 3000, .parse_calls = 30}},
		 "more work: 1000 → 3000 instructions (+200 %); most of it in parse, called 3 "
		 "times as often (10 → 30)"},
		{{{.parse = 1000, .parse_calls = 10}, {.parse = 4000, .parse_calls = 20}},
		 "more work: 1000 → 4000 instructions (+300 %); most of it in parse, +100 % "
		 "instructions per call (100 → 200)"},
		{{{.parse = 1000, .parse_calls = 10}, {.parse = 1500, .parse_calls = 10}},
		 "more work: 1000 → 1500 instructions (+50 %); most of it in parse, +50 % "
		 "instructions per call (100 → 150)"},
		{{{.parse = 1000, .parse_calls = 10}, {.parse = 500, .parse_calls = 10}},
		 "less work: 1000 → 500 instructions (−50 %); most of it in parse, −50 % "
		 "instructions per call (100 → 50)"},
		{{{.top = 1000}, {.top = 1000, .load = 500, .load_calls = 5}},
		 "more work: 1000 → 1500 instructions (+50 %); most of it in load, "
		 "called 5 times, never by the baseline"},
		{{{.parse = 1000, .parse_calls = 10}, {.parse = 1123, .parse_calls = 10}},
		 "more work: 1000 → 1123 instructions (+12.3 %); most of it in parse, +12 % "
		 "instructions per call (100 → 112)"},
		{{{.parse = 1000, .parse_calls = 10}, {.parse = 4000, .parse_calls = 16}},
		 "more work: 1000 → 4000 instructions (+300 %); most of it in parse, +150 % "
		 "instructions per call (100 → 250)"},
		{{{.top = 1, .copy = 1}, {.top = 2}}, "the same work: 2 → 2 instructions"},
		{{{.top = 2}, {.top = 1, .copy = 1}}, "the same work: 2 → 2 instructions"},
		{{{.top = 1000, .load = 500, .load_calls = 5}, {.top = 1000}},
		 "less work: 1500 → 1000 instructions (−33.3 %); most of it in load, "
		 "no longer called (5 times by the baseline)"},
		{{{.top = 1000, .load_calls = 5}, {.top = 1000, .load = 500, .load_calls = 5}},
		 "more work: 1000 → 1500 instructions (+50 %); most of it in load"},
		{{{.top = 1000, .copy = 8000}, {.top = 2000}},
		 "less work: 9000 → 2000 instructions (−77.8 %); most of it in main → memcpy, "
		 "−78 % instructions (9000 → 2000)"},
		{{{.top = 1000}, {.top = 1000, .copy = 8000}},
		 "more work: 1000 → 9000 instructions (+800 %); most of it in main → memcpy, "
		 "+800 % instructions (1000 → 9000)"},
		{{{.parse = 500, .load = 500}, {.parse = 700, .load = 300}},
		 "the same work: 1000 → 1000 instructions"},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++)
		assert_string_equal(note_of(rows[i].sides), rows[i].note);
	/* If the totals are equal, the report shows the function that grew most. */
	assert_string_equal(f.verdict.work->function, "parse");
	assert_float_equal(f.verdict.work->function_instructions[0], 500, 0);
	assert_float_equal(f.verdict.work->function_instructions[1], 700, 0);
}

FG_TEST_IN(figures_are_means_of_each_side, start_again, NULL)
{
	const struct fg_work_verdict *work = NULL;

	for (uint32_t pair = 0; pair < 2; pair++) {
		for (uint8_t arm = 0; arm < 2; arm++)
			add_work(arm, pair,
				 &(struct work){.parse = 100 + 100 * arm + 10 * pair,
						.parse_calls = 4 + 2 * arm + 2 * pair,
						.copy = 50 + 20 * pair,
						.copy_calls = 1});
	}
	decide(true);
	work = f.verdict.work;
	assert_float_equal(work->instructions[0], 165, 0);
	assert_float_equal(work->instructions[1], 265, 0);
	assert_float_equal(work->calls[0], 6, 0);
	assert_float_equal(work->calls[1], 8, 0);
	assert_float_equal(work->linker[0], 0, 0);
	assert_float_equal(work->function_instructions[1], 205, 0);
	assert_float_equal(work->function_calls[0], 5, 0);
}
