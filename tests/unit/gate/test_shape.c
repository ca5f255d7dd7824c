// SPDX-License-Identifier: Apache-2.0
/* Notes on the distribution of a metric's values. */
#include "gate/shape.h"
#include "model/run.h"
#include "tests/support/fg_test.h"

#include <math.h>

static struct fg_run run;
static struct fg_series *series;
static struct fg_arena arena;
static struct fg_notes notes;

static void begin(void)
{
	fg_run_init(&run);
	series = fg_run_add_series(&run, "parse");
	notes = (struct fg_notes){0};
}

static void end(void)
{
	fg_run_release(&run);
	fg_arena_release(&arena);
}

/* Even numbers between -1 and 1 in an order that knows nothing of pairs. */
static double scatter(size_t i)
{
	return (double)(i * 37 % 101) / 50 - 1;
}

static void add(uint32_t pair, uint8_t arm, double ms, uint16_t padding)
{
	struct fg_repetition *r = fg_series_add_repetition(series);

	r->pair = pair;
	r->arm = arm;
	r->padding = padding;
	r->values[FG_METRIC_CPU_TIME] = ms * 1e6;
}

/* ---- modes ---- */

/* Repetitions of the candidate: `high` of `count` are larger by that factor. */
static const char *modes(size_t count, size_t high, double factor)
{
	for (size_t i = 0; i < count; i++) {
		const double ms = 100 + 0.1 * scatter(i);

		add((uint32_t)i, FG_ARM_BASELINE, ms, 0);
		add((uint32_t)i, FG_ARM_CANDIDATE, ms * (i * high % count < high ? factor : 1), 0);
	}
	fg_shape_note_modes(series, FG_METRIC_CPU_TIME, 1, &arena, &notes);
	return notes.count ? notes.items[0] : NULL;
}

static void two_modes_are_told_with_their_shares_and_places(void **state)
{
	static const struct {
		size_t count;
		size_t high;
		double factor;
		const char *note;
	} rows[] = {
		{60, 20, 1.2,
		 "the candidate has two modes, unlike the baseline: 67 % of its repetitions near 100 ms, 33 % near 120 "
		 "ms; look for what decides between them"},
		{60, 30, 2,
		 "the candidate has two modes, unlike the baseline: 50 % of its repetitions near 100 ms, 50 % near 200 "
		 "ms; look for what decides between them"},
		{60, 0, 1, NULL},
		{60, 20, 1.0095, NULL}, /* closer than 1 % */
		{60, 20, 1.0105,
		 "the candidate has two modes, unlike the baseline: 67 % of its repetitions near 100 ms, 33 % near 101 "
		 "ms; look for what decides between them"},
		{60, 5, 2, NULL},  /* less than a tenth */
		{60, 55, 2, NULL}, /* likewise, of the lower ones */
		{300, 29, 2, NULL},
		{300, 30, 2,
		 "the candidate has two modes, unlike the baseline: 90 % of its repetitions near 100 ms, 10 % near 200 "
		 "ms; look for what decides between them"},
		{300, 270, 2,
		 "the candidate has two modes, unlike the baseline: 10 % of its repetitions near 100 ms, 90 % near 200 "
		 "ms; look for what decides between them"},
		{300, 271, 2, NULL},
		{16, 8, 2,
		 "the candidate has two modes, unlike the baseline: 50 % of its repetitions near 100 ms, 50 % near 200 "
		 "ms; look for what decides between them"},
		{15, 7, 2, NULL},
	};

	(void)state;
	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		const char *note;

		begin();
		note = modes(rows[i].count, rows[i].high, rows[i].factor);
		if ((note == NULL) != (rows[i].note == NULL) ||
		    (note && strcmp(note, rows[i].note) != 0))
			fail_msg("row %zu: %s", i, note ? note : "nothing");
		assert_int_equal(notes.count, rows[i].note ? 1 : 0);
		end();
	}
}

/* Wide heaps: p is 0.9 % where they lie 17.1 % apart, 0.5 % where it is 17.4. */
static void modes_are_told_up_to_one_in_two_hundred(void **state)
{
	static const double factors[] = {1.171, 1.174};

	(void)state;
	for (size_t at = 0; at < FG_ARRAY_SIZE(factors); at++) {
		begin();
		for (uint32_t i = 0; i < 38; i++) {
			const double ms = 100 + 5 * scatter(i);

			add(i, FG_ARM_BASELINE, ms, 0);
			add(i, FG_ARM_CANDIDATE, ms * (i % 2 ? 1 : factors[at]), 0);
		}
		fg_shape_note_modes(series, FG_METRIC_CPU_TIME, 1, &arena, &notes);
		assert_int_equal(notes.count, at);
		end();
	}
}

/* Every other repetition of the baseline is fast, and every n-th of the candidate. */
static void modes_of_both_sides_alike_are_not_the_programs(void **state)
{
	static const struct {
		uint32_t every;
		size_t notes;
	} rows[] = {{2, 0}, {3, 0}, {8, 1}};

	(void)state;
	for (size_t r = 0; r < FG_ARRAY_SIZE(rows); r++) {
		begin();
		for (uint32_t i = 0; i < 80; i++) {
			add(i, FG_ARM_BASELINE, (i % 2 ? 50 : 100) + 0.1 * scatter(i), 0);
			add(i, FG_ARM_CANDIDATE, (i % rows[r].every ? 100 : 50) + 0.1 * scatter(i),
			    0);
		}
		fg_shape_note_modes(series, FG_METRIC_CPU_TIME, 1, &arena, &notes);
		assert_int_equal(notes.count, rows[r].notes);
		end();
	}
}

/* ---- the place of the stack ---- */

/* One arm takes `share` more where the stack lies at the second of four places. */
static const char *layouts(size_t pairs, uint8_t arm, double share, double noise)
{
	for (size_t i = 0; i < pairs; i++) {
		const uint16_t padding = (uint16_t)(64 * (i * 5 % 7) + 16 * (i % 4) + i % 16);

		for (uint8_t k = 0; k < FG_ARM_COUNT; k++) {
			const bool is_there = k == arm && padding / 16 % 4 == 1;
			const double ms = 100 * (1 + 0.1 * scatter(i));

			add((uint32_t)i, k,
			    ms * (1 + noise * scatter(2 * i + k)) * (is_there ? 1 + share : 1),
			    padding);
		}
	}
	fg_shape_note_layout(series, FG_METRIC_CPU_TIME, 1, &arena, &notes);
	return notes.count ? notes.items[0] : NULL;
}

static void what_the_place_of_the_stack_changes_is_told(void **state)
{
	static const struct {
		size_t pairs;
		uint8_t arm;
		double share;
		double noise;
		const char *note;
	} rows[] = {
		{40, FG_ARM_CANDIDATE, 0.05, 0.0005, "by up to 2.5 %"},
		{40, FG_ARM_BASELINE, 0.05, 0.0005, "by up to 2.5 %"},
		{40, FG_ARM_CANDIDATE, 0.2, 0.0005, "by up to 9.6 %"},
		{40, FG_ARM_CANDIDATE, 0.0102, 0, "by up to 0.5 %"},
		{40, FG_ARM_CANDIDATE, 0.0098, 0,
		 NULL}, /* less than half a percent between places */
		{40, FG_ARM_CANDIDATE, 0, 0.02, NULL},
		{40, FG_ARM_CANDIDATE, 0.006, 0.05, NULL}, /* drowned */
		/* A shuffle in 200 is as far apart, and one in 167. */
		{20, FG_ARM_CANDIDATE, 0.0235, 0.03, "by up to"},
		{20, FG_ARM_CANDIDATE, 0.0230, 0.03, NULL},
		{12, FG_ARM_CANDIDATE, 0.2, 0.0005, "by up to 9.5 %"},
		{11, FG_ARM_CANDIDATE, 0.2, 0.0005, NULL}, /* fewer than 24 repetitions */
	};

	(void)state;
	for (size_t i = 0; i < FG_ARRAY_SIZE(rows); i++) {
		const char *note;

		begin();
		note = layouts(rows[i].pairs, rows[i].arm, rows[i].share, rows[i].noise);
		if ((note == NULL) != (rows[i].note == NULL) ||
		    (note && !strstr(note, rows[i].note)))
			fail_msg("row %zu: %s", i, note ? note : "nothing");
		end();
	}
}

/* Three of each place, where one takes a fifth more. */
static void each_of_the_four_places_of_each_side_is_told_with_its_share(void **state)
{
	(void)state;
	for (size_t place = 0; place < 8; place++) {
		begin();
		for (uint32_t i = 0; i < 12; i++) {
			for (uint8_t arm = 0; arm < FG_ARM_COUNT; arm++) {
				const bool is_there = arm == place / 4 && i % 4 == place % 4;
				const double noise = 1 + 1e-6 * scatter(2 * i + arm);

				add(i, arm, 100 * noise * (is_there ? 1.2 : 1),
				    (uint16_t)(16 * (i % 4)));
			}
		}
		fg_shape_note_layout(series, FG_METRIC_CPU_TIME, 1, &arena, &notes);
		assert_int_equal(notes.count, 1);
		assert_non_null(strstr(notes.items[0], "by up to 9.5 %"));
		end();
	}
}

/* Only repetitions that count, have a partner and a value. */
static void what_does_not_count_says_nothing_of_places(void **state)
{
	(void)state;
	for (int how = 0; how < 5; how++) {
		begin();
		(void)layouts(40, FG_ARM_CANDIDATE, 0.2, 0.0005);
		assert_int_equal(notes.count, 1);
		notes = (struct fg_notes){0};
		for (size_t i = 0; i < series->repetition_count; i++) {
			struct fg_repetition *r = &series->repetitions[i];

			if (how == 0)
				r->aside = FG_ASIDE_OVERLAP;
			else if (how == 1)
				r->pair = (uint32_t)i; /* nobody has a partner */
			else if (how == 2)
				r->values[FG_METRIC_CPU_TIME] = 0;
			else /* beyond what is looked at */
				r->pair = FG_PAIR_NUMBERS_MAX + (how == 3 ? 0 : 9);
		}
		fg_shape_note_layout(series, FG_METRIC_CPU_TIME, 1, &arena, &notes);
		assert_int_equal(notes.count, 0);
		end();
	}
}

static void values_below_one_are_as_good(void **state)
{
	const char *before;

	(void)state;
	begin();
	before = layouts(40, FG_ARM_CANDIDATE, 0.2, 0.0005);
	for (size_t i = 0; i < series->repetition_count; i++)
		series->repetitions[i].values[FG_METRIC_CPU_TIME] *= 1e-9;
	fg_shape_note_layout(series, FG_METRIC_CPU_TIME, 1, &arena, &notes);
	assert_int_equal(notes.count, 2);
	assert_string_equal(notes.items[1], before);
	end();
}

/* The slower side is not a placement effect. */
static void a_difference_between_the_sides_is_not_one_of_places(void **state)
{
	(void)state;
	begin();
	for (uint32_t i = 0; i < 40; i++) {
		add(i, FG_ARM_BASELINE, 100 + 0.01 * scatter(i), (uint16_t)(16 * (i % 4)));
		add(i, FG_ARM_CANDIDATE, 150 + 0.01 * scatter(i + 1), (uint16_t)(16 * (i % 4)));
	}
	fg_shape_note_layout(series, FG_METRIC_CPU_TIME, 1, &arena, &notes);
	assert_int_equal(notes.count, 0);
	end();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_modes_are_told_with_their_shares_and_places),
		cmocka_unit_test(modes_are_told_up_to_one_in_two_hundred),
		cmocka_unit_test(modes_of_both_sides_alike_are_not_the_programs),
		cmocka_unit_test(what_the_place_of_the_stack_changes_is_told),
		cmocka_unit_test(each_of_the_four_places_of_each_side_is_told_with_its_share),
		cmocka_unit_test(what_does_not_count_says_nothing_of_places),
		cmocka_unit_test(values_below_one_are_as_good),
		cmocka_unit_test(a_difference_between_the_sides_is_not_one_of_places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
