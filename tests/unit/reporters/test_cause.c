// SPDX-License-Identifier: Apache-2.0
#include "reporters/cause.h"
#include "reporters/figures.h"
#include "tests/support/fg_test.h"
#include "tests/support/fixture_report.h"

static void check(const char *name, const char *expected)
{
	struct fg_fixture fixture;
	struct fg_strbuf text = {0};

	fg_fixture_init(&fixture, name);
	fg_report_add_run_cause(&text, &fixture.verdict, NULL);
	assert_string_equal(fg_strbuf_text(&text), expected);
	fg_strbuf_release(&text);
	fg_fixture_release(&fixture);
}

static void a_regression_is_told_with_its_function_place_and_cost(void **state)
{
	(void)state;
	check("regression", "reconstruct 4.8 % slower: fit(Track&) fit.cpp:88 (+9.7 ms)");
	check("improvement", "sort 8.8 % faster: fit(Track&) fit.cpp:88 (−7.8 ms)");
	check("counted", "parse: allocations +0.01 %: grow_table table.c:31 (+1)");
}

static void a_function_that_is_not_sure_is_not_named_as_the_cause(void **state)
{
	(void)state;
	check("unsure",
	      "reconstruct 4.8 % slower; no single function is sure; the only hot one that changed is "
	      "extrapolate");
}

static void every_other_outcome_has_its_sentence(void **state)
{
	(void)state;
	check("pass", "parse not slower: cpu time +0.1 % [−0.5, +0.7]");
	check("inconclusive", "compress inconclusive: cpu time +1.7 % [−0.4, +3.8]");
	check("identical", "hash: same binaries on both sides");
	check("unaffected", "hash: unchanged code, placement not looked at");
	check("new", "render is new: nothing to compare with yet");
	check("missing", "legacy is missing: in the baseline only");
	check("error", "network could not be measured: ./build/net --connect: exited with code 3");
	check("nothing", "no benchmark ran");
}

static void of_several_benchmarks_the_regression_leads_even_beside_an_error(void **state)
{
	(void)state;
	check("mixed", "reconstruct 4.8 % slower: fit(Track&) fit.cpp:88 (+9.7 ms)");
}

static void further_benchmarks_of_the_outcome_are_counted(void **state)
{
	struct fg_fixture fixture;
	struct fg_strbuf text = {0};

	(void)state;
	fg_fixture_init(&fixture, "regression");
	fg_fixture_repeat(&fixture, 3);
	fg_report_add_run_cause(&text, &fixture.verdict, NULL);
	assert_non_null(strstr(fg_strbuf_text(&text), "(+9.7 ms); 2 more benchmarks regressed"));
	fg_strbuf_release(&text);
	fg_fixture_release(&fixture);
}

static void a_sure_improvement_leads_before_benchmarks_that_are_open(void **state)
{
	struct fg_metric_verdict metrics[] = {
		{.name = "cpu_time",
		 .label = "cpu time",
		 .unit = "ns",
		 .gated = true,
		 .decided = true,
		 .outcome = FG_OUTCOME_INCONCLUSIVE,
		 .ratio = 1.4,
		 .low = 0.1,
		 .high = 432.39},
		{.name = "cpu_time",
		 .label = "cpu time",
		 .unit = "ns",
		 .gated = true,
		 .decided = true,
		 .outcome = FG_OUTCOME_IMPROVEMENT,
		 .ratio = 0.43,
		 .low = 0.41,
		 .high = 0.45},
	};
	struct fg_benchmark_verdict benchmarks[] = {
		{.name = "noisy",
		 .outcome = FG_OUTCOME_INCONCLUSIVE,
		 .metrics = &metrics[0],
		 .metric_count = 1},
		{.name = "parse",
		 .outcome = FG_OUTCOME_IMPROVEMENT,
		 .metrics = &metrics[1],
		 .metric_count = 1},
	};
	struct fg_verdict verdict = {
		.outcome = FG_OUTCOME_INCONCLUSIVE, .benchmarks = benchmarks, .benchmark_count = 2};
	struct fg_strbuf text = {0};

	(void)state;
	fg_report_add_run_cause(&text, &verdict, NULL);
	assert_string_equal(fg_strbuf_text(&text), "parse 57.0 % faster; 1 inconclusive");
	fg_strbuf_clear(&text);
	verdict.exit_code = FG_EXIT_INCONCLUSIVE;
	fg_report_add_run_cause(&text, &verdict, NULL);
	assert_string_equal(fg_strbuf_text(&text),
			    "noisy inconclusive: cpu time +40.0 % [−90.0, ×432]");
	fg_strbuf_release(&text);
}

static void a_change_that_could_have_been_seen_has_no_exponent(void **state)
{
	static const struct {
		double change;
		const char *text;
	} cases[] = {{.change = 0.023, .text = "2.3 %"},
		     {.change = 1.1, .text = "110.0 %"},
		     {.change = 430, .text = "×431"}};
	struct fg_strbuf text = {0};

	(void)state;
	for (size_t i = 0; i < FG_ARRAY_SIZE(cases); i++) {
		const struct fg_metric_verdict metric = {.smallest_detectable = cases[i].change};

		fg_strbuf_clear(&text);
		assert_true(fg_report_add_detectable(&text, &metric));
		assert_non_null(strstr(fg_strbuf_text(&text), cases[i].text));
	}
	fg_strbuf_release(&text);
}

static void names_of_strangers_stay_in_one_clean_line(void **state)
{
	struct fg_fixture fixture;
	struct fg_strbuf text = {0};

	(void)state;
	fg_fixture_init(&fixture, "hostile");
	for (size_t i = 0; i < fixture.verdict.benchmark_count; i++) {
		fg_strbuf_clear(&text);
		fg_report_add_cause(&text, &fixture.verdict.benchmarks[i], NULL);
		assert_true(text.length < 1000);
		for (const char *at = fg_strbuf_text(&text); *at; at++)
			assert_false((unsigned char)*at < ' ');
	}
	fg_strbuf_release(&text);
	fg_fixture_release(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_regression_is_told_with_its_function_place_and_cost),
		cmocka_unit_test(a_function_that_is_not_sure_is_not_named_as_the_cause),
		cmocka_unit_test(every_other_outcome_has_its_sentence),
		cmocka_unit_test(of_several_benchmarks_the_regression_leads_even_beside_an_error),
		cmocka_unit_test(further_benchmarks_of_the_outcome_are_counted),
		cmocka_unit_test(a_sure_improvement_leads_before_benchmarks_that_are_open),
		cmocka_unit_test(a_change_that_could_have_been_seen_has_no_exponent),
		cmocka_unit_test(names_of_strangers_stay_in_one_clean_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
