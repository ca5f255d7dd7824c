// SPDX-License-Identifier: Apache-2.0
/* The exact wording of the notes on one metric. */
#include "tests/unit/gate/made_run.h"
#include "tests/unit/statistics/close.h"

enum {
	PAIRS = 20,
};

static struct fg_made made;
static struct fg_metric_policy row;
static size_t metric;

static struct fg_series *begin(const char *unit, enum fg_better better, bool exact)
{
	const struct fg_metric what = {.name = "own",
				       .label = "own figure",
				       .unit = unit,
				       .better = better,
				       .exact = exact,
				       .valid_in_duet = true};
	struct fg_series *series = NULL;

	fg_made_release(&made);
	fg_made_init(&made, 5);
	(void)fg_made_benchmark(&made, "parse", PAIRS, 0, 0.01);
	series = fg_made_series(&made, "parse");
	metric = fg_series_add_metric(series, &what);
	row = (struct fg_metric_policy){
		.name = "own", .gated = true, .min_effect = 0.01, .margin = 0.02};
	made.policy.metrics = &row;
	made.policy.metric_count = 1;
	return series;
}

/* Sets the values of both arms, with independent scatter. */
static void fill(struct fg_series *series, double baseline, double candidate, double scatter)
{
	for (size_t i = 0; i < series->repetition_count; i++) {
		struct fg_repetition *r = &series->repetitions[i];
		const double noise = scatter * ((double)(r->pair * 37 % 101) / 50 - 1);

		r->values[metric] = r->arm ? candidate * (1 + noise) : baseline;
	}
}

static const struct fg_metric_verdict *decide(void)
{
	return fg_made_metric(fg_made_decide(&made, "parse"), "own");
}

static void check_note(const struct fg_metric_verdict *verdict, const char *note)
{
	for (size_t i = 0; note && i < verdict->notes.count; i++) {
		if (strcmp(verdict->notes.items[i], note) == 0)
			return;
	}
	if (note)
		fail_msg("no '%s', but '%s'", note,
			 verdict->notes.count ? verdict->notes.items[0] : "nothing");
	else if (verdict->notes.count > 0)
		fail_msg("'%s'", verdict->notes.items[0]);
}

/* If more is better, the ratio falls when the candidate gets worse: a ratio below one is worse. */
FG_TEST(the_interval_is_one_of_ratios_whatever_is_better)
{
	static const struct {
		const char *unit;
		enum fg_better better;
		double values[2];
		double ratio;
		enum fg_outcome outcome;
	} rows[] = {
		{"ns", FG_BETTER_LOWER, {100, 125}, 1.25, FG_OUTCOME_REGRESSION},
		{"ns", FG_BETTER_HIGHER, {100, 125}, 1.25, FG_OUTCOME_IMPROVEMENT},
		{"ns", FG_BETTER_HIGHER, {125, 100}, 0.8, FG_OUTCOME_REGRESSION},
		/* Relative to the mean of both sides, 75. */
		{"1", FG_BETTER_LOWER, {0, 150}, 3, FG_OUTCOME_REGRESSION},
		{"1", FG_BETTER_HIGHER, {0, 150}, 3, FG_OUTCOME_IMPROVEMENT},
		{"1", FG_BETTER_LOWER, {0, 0}, 1, FG_OUTCOME_PASS},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		const struct fg_metric_verdict *verdict = NULL;

		fill(begin(rows[i].unit, rows[i].better, false), rows[i].values[0],
		     rows[i].values[1], 0);
		verdict = decide();
		assert_int_equal(verdict->outcome, rows[i].outcome);
		assert_close(verdict->ratio, rows[i].ratio, 1e-9);
		assert_close(verdict->low, rows[i].ratio, 1e-9);
		assert_close(verdict->high, rows[i].ratio, 1e-9);
		assert_close(verdict->baseline + 1, rows[i].values[0] + 1, 1e-9);
		assert_close(verdict->candidate, rows[i].values[1], 1e-9);
		fill(begin("ns", rows[i].better, false), 100, 110, 0.02);
		verdict = decide();
		assert_true(verdict->low < verdict->ratio && verdict->ratio < verdict->high);
		assert_true(verdict->looks > 0 && verdict->pairs >= 10);
	}
}

FG_TEST(an_exact_metric_is_judged_at_its_tolerance)
{
	static const struct {
		double tolerance;
		double tolerated;
		bool gated;
		double after;
		enum fg_outcome outcome;
		double detectable;
	} rows[] = {
		{0, 0, true, 100, FG_OUTCOME_PASS, 0},
		{0, 0, true, 100.001, FG_OUTCOME_REGRESSION, 0},
		{0, 0, true, 99.999, FG_OUTCOME_IMPROVEMENT, 0},
		{0.05, 0, true, 104.9, FG_OUTCOME_PASS, 0.05},
		{0.05, 0, true, 105.1, FG_OUTCOME_REGRESSION, 0.05},
		{0, 0.05, true, 104.9, FG_OUTCOME_PASS, 0.05},
		{0.01, 0.05, true, 104.9, FG_OUTCOME_PASS, 0.05},
		{0.05, 0, true, 95.3, FG_OUTCOME_PASS, 0.05}, /* 1 / 1.05 is 95.2 % */
		{0.05, 0, true, 95.1, FG_OUTCOME_IMPROVEMENT, 0.05},
		{0, 0, false, 100.9, FG_OUTCOME_PASS, 0.01}, /* not gated: the minimum effect */
		{0, 0, false, 101.1, FG_OUTCOME_REGRESSION, 0.01},
		{0.05, 0, false, 104.9, FG_OUTCOME_PASS, 0.05},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		const struct fg_metric_verdict *verdict = NULL;

		fill(begin("bytes", FG_BETTER_LOWER, true), 100, rows[i].after, 0);
		row.tolerance = rows[i].tolerance;
		row.tolerated = rows[i].tolerated;
		row.gated = rows[i].gated;
		verdict = decide();
		assert_int_equal(verdict->outcome, rows[i].outcome);
		assert_true(verdict->exact && verdict->decided);
		assert_int_equal(verdict->pairs, PAIRS);
		assert_near(verdict->smallest_detectable, rows[i].detectable, 0);
		check_note(verdict, NULL);
	}
}

FG_TEST(an_exact_metric_that_is_not_is_judged_by_pairs)
{
	static const size_t others[] = {0, 1, PAIRS - 1};

	for (size_t i = 0; i < FG_ARRAY_SIZE(others); i++) {
		struct fg_series *series = begin("bytes", FG_BETTER_LOWER, true);

		fill(series, 100, 150, 0);
		series->repetitions[2 * others[i] + 1].values[metric] = 150.001;
		check_note(decide(), "own figure is declared exact but differs between "
				     "repetitions, so it is judged by pairs");
		assert_false(decide()->exact);
		assert_int_equal(decide()->outcome, FG_OUTCOME_REGRESSION);
	}
}

FG_TEST(excluded_pairs_are_reported)
{
	static const struct {
		const char *unit;
		double value; /* value of the first candidate repetitions */
		uint32_t pairs;
		const char *note;
	} rows[] = {
		{"ns", NAN, 1, "1 pair was left out: a value is not a number"},
		{"ns", NAN, 2, "2 pairs were left out: a value is not a number"},
		{"ns", 0, 1, "1 pair was left out: a time of zero or below cannot be compared"},
		{"1", 0, 1,
		 "some values are zero or negative: differences are relative to the mean level"},
		{"ns", 100, 0, NULL},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		struct fg_series *series = begin(rows[i].unit, FG_BETTER_LOWER, false);

		fill(series, 100, 100, 0);
		for (size_t k = 0; k < series->repetition_count; k++) {
			struct fg_repetition *r = &series->repetitions[k];

			if (r->arm && r->pair < rows[i].pairs)
				r->values[metric] = rows[i].value;
		}
		check_note(decide(), rows[i].note);
	}
}

/* Verdicts on a metric without any pair. */
FG_TEST(without_pairs_nothing_passes_in_silence)
{
	static const struct {
		const char *why;
		double baseline;
		double candidate;
		uint16_t aside;
		bool gated;
		enum fg_outcome outcome;
		bool decided;
		const char *note;
	} rows[] = {
		{"new", NAN, 5, 0, true, FG_OUTCOME_NEW, true,
		 "the baseline has no own figure to compare with"},
		{"missing", 5, NAN, 0, true, FG_OUTCOME_MISSING, true,
		 "the candidate no longer reports own figure"},
		{"unusable", 0, 0, 0, true, FG_OUTCOME_ERROR, true,
		 "no pair has a usable number for own figure"},
		{"no numbers", NAN, NAN, 0, true, FG_OUTCOME_ERROR, true,
		 "no pair has a usable number for own figure"},
		{"nobody gates it", NAN, NAN, 0, false, FG_OUTCOME_PASS, false, "not measured"},
		{"set aside", 5, 5, FG_ASIDE_STEAL, true, FG_OUTCOME_INCONCLUSIVE, false,
		 "all 20 pairs were set aside"},
		{"never a fair duet", 5, 5, FG_ASIDE_OVERLAP, true, FG_OUTCOME_ERROR, false,
		 "all 20 pairs were set aside"},
		{"never undisturbed", 5, 5, FG_ASIDE_STRAY, true, FG_OUTCOME_ERROR, false,
		 "all 20 pairs were set aside"},
		{"set aside, and nobody gates it", 5, 5, FG_ASIDE_STEAL, false, FG_OUTCOME_PASS,
		 false, "not measured"},
		{"only warmed up", 5, 5, FG_ASIDE_WARMUP, true, FG_OUTCOME_INCONCLUSIVE, false,
		 "no pair was measured"},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		const struct fg_metric_verdict *verdict = NULL;
		struct fg_series *series = begin("ns", FG_BETTER_LOWER, false);

		fill(series, rows[i].baseline, rows[i].candidate, 0);
		for (size_t k = 0; k < series->repetition_count; k++)
			series->repetitions[k].aside = rows[i].aside;
		row.gated = rows[i].gated;
		verdict = decide();
		if (verdict->outcome != rows[i].outcome || verdict->decided != rows[i].decided)
			fail_msg("%s: %s", rows[i].why, fg_outcome_name(verdict->outcome));
		check_note(verdict, rows[i].note);
	}
}

/* The only pair has no number. */
FG_TEST(one_pair_that_cannot_be_used_is_an_error)
{
	static const double values[] = {NAN, 0};

	for (size_t i = 0; i < FG_ARRAY_SIZE(values); i++) {
		struct fg_series *series = begin("ns", FG_BETTER_LOWER, false);

		fill(series, values[i], values[i], 0);
		for (size_t k = 0; k < series->repetition_count; k++)
			series->repetitions[k].aside =
				series->repetitions[k].pair > 0 ? FG_ASIDE_WARMUP : 0;
		assert_int_equal(decide()->outcome, FG_OUTCOME_ERROR);
	}
}

FG_TEST(a_pass_that_is_surely_worse_says_by_how_much)
{
	fill(begin("ns", FG_BETTER_LOWER, false), 100, 100.5, 0.0002);
	check_note(decide(), "worse by 0.50 %, which is within the margin of 2 %");
	assert_int_equal(decide()->outcome, FG_OUTCOME_PASS);
	fill(begin("ns", FG_BETTER_LOWER, false), 100, 100, 0.0002);
	check_note(decide(), NULL);
	fill(begin("ns", FG_BETTER_LOWER, false), 100, 99.5, 0.0002);
	check_note(decide(), NULL);
}

FG_TEST(too_few_pairs_are_counted)
{
	struct fg_series *series = begin("ns", FG_BETTER_LOWER, false);

	fill(series, 100, 200, 0);
	for (size_t i = 0; i < series->repetition_count; i++) {
		if (series->repetitions[i].pair >= 4)
			series->repetitions[i].aside = FG_ASIDE_WARMUP;
	}
	check_note(decide(), "only 4 pairs: at least 5 are needed for any decision");
	assert_int_equal(decide()->outcome, FG_OUTCOME_INCONCLUSIVE);
}

/* The note names the option that gives more pairs. */
FG_TEST(missing_pairs_are_reported_only_for_a_suspected_slowdown)
{
	static const struct {
		double slower; /* mean slowdown of three pairs in four */
		unsigned wrong;
		bool said;
	} rows[] = {
		{0.05, 5, true},
		{0.05, 10, false},
		{0.004, 4, false},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		struct fg_series *series = begin("ns", FG_BETTER_LOWER, false);

		made.measure.max_pairs = PAIRS;
		for (size_t k = 0; k < series->repetition_count; k++) {
			struct fg_repetition *r = &series->repetitions[k];
			const bool is_wrong = r->pair * 7 % PAIRS < rows[i].wrong;
			const double change =
				is_wrong ? -0.04 : rows[i].slower * (r->pair + 1) / 10;

			r->values[metric] = 100 * (r->arm ? 1 + change : 1);
		}
		assert_int_equal(
			fg_made_has_note(
				&decide()->notes,
				"15 of 20 pairs are slower; not failed because the interval "
				"begins at "),
			rows[i].said);
		assert_int_equal(fg_made_has_note(&decide()->notes,
						  "; 53 pairs would decide if the next pairs are "
						  "similar: "
						  "`--pairs 10:53`"),
				 rows[i].said);
		assert_int_equal(fg_made_has_note(&decide()->notes, "probably slower (+"),
				 rows[i].said);
	}
}

static const struct fg_metric_verdict *decide_in_layouts(const char *as_linked_metric,
							 double as_linked,
							 const double change[FG_LINE_PLACES])
{
	struct fg_series *series = begin("ns", FG_BETTER_LOWER, false);

	series->as_linked_metric = fg_xstrdup(as_linked_metric);
	series->as_linked = as_linked;
	series->layouts = 8;
	for (size_t i = 0; i < series->repetition_count; i++) {
		struct fg_repetition *r = &series->repetitions[i];

		r->values[metric] = 100 * (r->arm ? 1 + change[r->pair % FG_LINE_PLACES] : 1);
	}
	return decide();
}

/* Eight places have few degrees of freedom, so pairs that all agree may decide nothing. */
FG_TEST(too_few_places_are_named_as_the_reason)
{
	struct fg_series *series = begin("ns", FG_BETTER_LOWER, false);

	series->as_linked_metric = fg_xstrdup("");
	series->as_linked = 1;
	series->layouts = 8;
	for (size_t i = 0; i < series->repetition_count; i++) {
		struct fg_repetition *r = &series->repetitions[i];

		r->values[metric] = 100 * (r->arm ? 1.015 + 0.02 * (r->pair / 4 % 2) : 1);
	}
	assert_int_equal(decide()->outcome, FG_OUTCOME_INCONCLUSIVE);
	assert_true(fg_made_has_note(&decide()->notes, " places only: `measure.layouts: always`"));
}

/*
 * Each place has its own change; the average is zero or positive. Places are blamed only if the
 * average is not slower, and only after a failure in the linker's layout.
 */
FG_TEST(each_place_is_reported_but_blamed_only_if_the_average_is_not_slower)
{
	static const struct {
		double change[FG_LINE_PLACES];
		enum fg_outcome outcome;
		const char *note;
	} rows[] = {
		{{0.004, -0.003, 0.001, -0.002},
		 FG_OUTCOME_PASS,
		 "with all code in 8 places on both sides, shifted by 0, 16, 32 and 48 bytes within "
		 "a cache line: +0.4 %, −0.3 %, +0.1 %, −0.2 %"},
		{{0.104, 0.097, 0.101, 0.098},
		 FG_OUTCOME_REGRESSION,
		 "with all code in 8 places on both sides, shifted by 0, 16, 32 and 48 bytes within "
		 "a cache line: +10.4 %, +9.7 %, +10.1 %, +9.8 %"},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		for (int linked = 0; linked < 2; linked++) {
			const struct fg_metric_verdict *verdict = decide_in_layouts(
				linked ? "own" : "", linked ? 1.05 : (double)NAN, rows[i].change);
			char *note = fg_xasprintf(
				"%s %s", linked ? "+5.0 % in the default layout;" : "own figure",
				rows[i].note);

			assert_int_equal(verdict->outcome, rows[i].outcome);
			check_note(verdict, note);
			assert_int_equal(fg_made_has_note(&verdict->notes, "in the default layout"),
					 linked);
			assert_int_equal(fg_made_has_note(&verdict->notes, "placement"),
					 linked && rows[i].outcome == FG_OUTCOME_PASS);
			free(note);
		}
	}
}

/* If some of the averaged places are faster, the note says so. */
FG_TEST(places_that_disagree_are_counted)
{
	static const struct {
		double change[FG_LINE_PLACES];
		const char *note; /* NULL: the places agree */
	} rows[] = {
		{{-0.009, 0.07, -0.014, 0.071},
		 "the offsets disagree: the candidate is faster at 2 of the 4 offsets within a "
		 "cache line; the mean over all offsets decides"},
		{{0.066, -0.042, 0.055, 0.023},
		 "the offsets disagree: the candidate is faster at 1 of the 4 offsets within a "
		 "cache line; the mean over all offsets decides"},
		{{0.02, 0.07, -0.004, 0.071}, NULL},
		{{-0.02, -0.07, 0.004, -0.071}, NULL},
	};

	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		const struct fg_metric_verdict *verdict =
			decide_in_layouts("", (double)NAN, rows[i].change);

		if (rows[i].note)
			check_note(verdict, rows[i].note);
		else
			assert_false(fg_made_has_note(&verdict->notes, "disagree"));
	}
}
