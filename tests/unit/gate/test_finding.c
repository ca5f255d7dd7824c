// SPDX-License-Identifier: Apache-2.0
/*
 * Estimate and interval, figure by figure.  The reference values were computed to 30 digits from
 * the description in rule.c.
 */
#include "gate/finding.h"
#include "tests/unit/statistics/close.h"

enum {
	PAIRS_MAX = 80,
};

/* Uniform numbers of a small generator, passed through an AR(1) filter. */
struct series {
	size_t count;
	double r;
	size_t seed;
	double scale;
};

static void make(const struct series *series, double *difference)
{
	double x = 0;

	for (size_t i = 0; i < series->count; i++) {
		const size_t drawn = (i + 1) * (i + 1) * 7919 + series->seed * 104729;

		x = series->r * x + (double)(drawn % 1009) / 1009 - 0.5;
		difference[i] = series->scale * x;
	}
}

static const struct {
	const char *why;
	struct series series;
	double r, highest, estimate, low, high, doubtful_low, smallest;
	bool dependent;
} rows[] = {
	{"opposite neighbours leave no room for memory",
	 {10, 0, 1, 0.01},
	 -0.207967338788069,
	 0.721804044896598,
	 -0.00133300297324083,
	 -0.00552205179337916,
	 0.0028560458468975,
	 -0.00552205179337916,
	 0.00478727306575695,
	 false},
	{"above 0.2, but within the error of ten pairs: evident it is not",
	 {10, 0, 266, 0.01},
	 0.281249031584136,
	 0.95,
	 -0.00020812685827552,
	 -0.00979405017742411,
	 0.00937779646087307,
	 -0.189794050177424,
	 0.0109548574119163,
	 false},
	{"evident",
	 {24, 0.3, 3, 0.01},
	 0.230091260890507,
	 0.736734680074608,
	 0.000271261014400229,
	 -0.0043058024594612,
	 0.00484832448826166,
	 -0.0480844614981147,
	 0.00547410157835044,
	 false},
	{"small, even with what a short series hides",
	 {36, 0, 1, 0.01},
	 0.101592786610798,
	 0.512510261834494,
	 -0.00101540679340481,
	 -0.00301746754485744,
	 0.000986653958047822,
	 -0.00301746754485744,
	 0.00247977649550914,
	 false},
	{"not evident, but doubtful",
	 {36, 0, 13, 0.01},
	 0.143904380216339,
	 0.551850820278405,
	 0.000997387151995675,
	 -0.00146617779601727,
	 0.00346095210000862,
	 -0.00629105783881935,
	 0.00305140113695857,
	 false},
	{"worth a word",
	 {36, 0.5, 1, 0.01},
	 0.400253293788357,
	 0.775352129246079,
	 -0.00184627965825939,
	 -0.00588965182439095,
	 0.00219709250787217,
	 -0.0395359627226572,
	 0.00481558077035676,
	 true},
	{"evident and just not worth a word",
	 {80, 0.2, 17, 0.01},
	 0.22354494708799,
	 0.476898547428571,
	 0.000298625675928845,
	 -0.00157934850580117,
	 0.00217659985765886,
	 -0.00243383761526631,
	 0.00234406698204769,
	 false},
	{"just worth a word",
	 {80, 0.3, 3, 0.01},
	 0.232868836548361,
	 0.485647805821196,
	 0.000292027545981193,
	 -0.00160254021633534,
	 0.00218659530829772,
	 -0.00247613702225049,
	 0.00236384843668056,
	 true},
	{"strong",
	 {80, 0.9, 3, 0.01},
	 0.77669246048882,
	 0.944017465261237,
	 0.00153314140379095,
	 -0.00744442777586654,
	 0.0105107105834484,
	 -0.0698762004970679,
	 0.0102660250535619,
	 true},
	{"as strong as counts",
	 {36, 0.97, 5, 0.01},
	 0.964129918615106,
	 0.95,
	 -0.00440845719970827,
	 -0.158178290549325,
	 0.149361376149908,
	 -0.158178290549325,
	 0.159566189045322,
	 true},
	{"no wider than 1.2 times the independent interval",
	 {36, 0.97, 5, 1},
	 0.964129918615106,
	 0.95,
	 -0.440845719970827,
	 -1.00982854131299,
	 0.128137101371338,
	 -1.00982854131299,
	 1.14861839091269,
	 true},
	{"only the doubt is held back",
	 {16, 0.5, 8, 0.01},
	 0.819067968790332,
	 0.95,
	 0.00116978917344002,
	 -0.102715079295785,
	 0.105054657642665,
	 -0.185135405103734,
	 0.107800809820869,
	 true},
	{"both are",
	 {16, 0.5, 8, 1},
	 0.819067968790331,
	 0.95,
	 0.116978917344002,
	 -0.693540510373411,
	 0.927498345061414,
	 -0.693540510373411,
	 1.20211356288182,
	 true},
};

static void the_interval_grows_with_what_pairs_remember(void **state)
{
	(void)state;
	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		const size_t count = rows[i].series.count;
		double difference[PAIRS_MAX];
		struct fg_rule_finding found = {0};

		make(&rows[i].series, difference);
		fg_finding_estimate(difference, count, 0.001, &found);
		assert_int_equal(found.pairs, count);
		assert_close(found.autocorrelation, rows[i].r, 1e-9);
		assert_close(found.estimate, rows[i].estimate, 1e-9);
		assert_close(found.low, rows[i].low, 1e-8);
		assert_close(found.high, rows[i].high, 1e-8);
		assert_close(found.doubtful_low, rows[i].doubtful_low, 1e-8);
		assert_close(found.smallest_detectable, rows[i].smallest, 1e-8);
		if (found.dependent != rows[i].dependent)
			fail_msg("%s", rows[i].why);
		assert_close(fg_finding_highest_correlation(difference, count), rows[i].highest,
			     1e-9);
	}
}

static void equal_pairs_remember_nothing_and_need_no_room(void **state)
{
	const double equal[10] = {0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1};
	struct fg_rule_finding found = {0};

	(void)state;
	fg_finding_estimate(equal, FG_ARRAY_SIZE(equal), 0.001, &found);
	assert_near(found.autocorrelation, 0, 0);
	assert_close(found.low, 0.1, 1e-12);
	assert_close(found.high, 0.1, 1e-12);
	assert_close(found.doubtful_low, 0.1, 1e-12);
	assert_false(found.dependent);
}

static void an_improvement_lies_below_zero_by_the_least_effect(void **state)
{
	static const struct {
		double high;
		double estimate;
		bool is;
	} table[] = {
		{-1e-9, -0.02, true}, {0, -0.02, false},      {1e-9, -0.02, false},
		{-1e-9, 0.02, false}, {-1e-9, -0.009, false}, {0.5, -0.02, false},
	};
	const struct fg_rule rule = {.min_effect = 0.01};
	const struct fg_rule_finding at_the_edge = {.high = -1, .estimate = -log1p(0.01)};

	(void)state;
	for (size_t i = 0; i < FG_ARRAY_SIZE(table); i++) {
		const struct fg_rule_finding found = {.high = table[i].high,
						      .estimate = table[i].estimate};

		assert_int_equal(fg_finding_is_improvement(&rule, &found), table[i].is);
	}
	assert_true(fg_finding_is_improvement(&rule, &at_the_edge));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_interval_grows_with_what_pairs_remember),
		cmocka_unit_test(equal_pairs_remember_nothing_and_need_no_room),
		cmocka_unit_test(an_improvement_lies_below_zero_by_the_least_effect),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
