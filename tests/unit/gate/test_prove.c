// SPDX-License-Identifier: Apache-2.0
/* The card of a gate, from runs with known answers. */
#include "base/random.h"
#include "gate/prove_json.h"
#include "tests/support/fg_test.h"

#include <math.h>
#include <string.h>

enum {
	PROOFS_MAX = 400,
};

static struct fg_proof proofs[PROOFS_MAX];
static size_t count;
static struct fg_proof_card card;

static const struct fg_proof_card_plan plan = {
	.benchmark = "parse", .max_pairs = 400, .budget_s = 300};

static int set_up(void **state)
{
	(void)state;
	memset(proofs, 0, sizeof(proofs));
	count = 0;
	card = (struct fg_proof_card){0};
	return 0;
}

/* Adds a run of a benchmark of 20 ms whose pairs scatter by 4 %, independently. */
static struct fg_proof *add(enum fg_proof_arm arm, double size, enum fg_outcome outcome)
{
	struct fg_proof *proof = &proofs[count++];

	*proof = (struct fg_proof){
		.benchmark = "parse",
		.function = arm == FG_PROOF_PLANTED ? "find" : NULL,
		.arm = arm,
		.size = size,
		.outcome = outcome,
		.seconds = 30,
		.pairs = 400,
		.level_ns = 20e6,
		.half = 4 * 0.04 / sqrt(400),
		.alpha = 0.001,
		.min_effect = 0.001,
		.noise = {.pair = 0.04, .quiet = 0.04, .exponent = 1},
	};
	return proof;
}

static void make(void)
{
	fg_proof_card_make(proofs, count, &plan, 1, &card);
}

FG_TEST_IN(false_alarms_have_an_exact_bound, set_up, NULL)
{
	for (int i = 0; i < 20; i++)
		add(i % 2 ? FG_PROOF_SAME : FG_PROOF_NEUTRAL, 0, FG_OUTCOME_PASS);
	make();
	assert_int_equal(card.alarms.hits, 0);
	assert_int_equal(card.alarms.runs, 20);
	/* 1 - 0.05^(1/20) */
	assert_true(fabs(card.alarms.at_most - 0.139108) < 1e-5);
	add(FG_PROOF_SAME, 0, FG_OUTCOME_REGRESSION);
	make();
	assert_int_equal(card.alarms.hits, 1);
	assert_true(card.alarms.at_least > 0.001);
}

FG_TEST_IN(only_a_regression_of_equal_code_is_an_alarm, set_up, NULL)
{
	add(FG_PROOF_SAME, 0, FG_OUTCOME_PLACEMENT);
	add(FG_PROOF_NEUTRAL, 0, FG_OUTCOME_IMPROVEMENT);
	add(FG_PROOF_NEUTRAL, 0, FG_OUTCOME_INCONCLUSIVE);
	add(FG_PROOF_STORED, 0, FG_OUTCOME_PASS)->schedule = FG_SCHEDULE_STORED;
	add(FG_PROOF_STORED, 0, FG_OUTCOME_INCONCLUSIVE)->pairs = 0;
	make();
	assert_int_equal(card.alarms.hits, 0);
	assert_int_equal(card.alarms.runs, 4);
	add(FG_PROOF_STORED, 0, FG_OUTCOME_REGRESSION);
	make();
	assert_int_equal(card.alarms.hits, 1);
}

FG_TEST_IN(run_without_pairs_proves_nothing, set_up, NULL)
{
	add(FG_PROOF_SAME, 0, FG_OUTCOME_PASS)->pairs = 0;
	make();
	assert_int_equal(card.runs, 0);
	assert_int_equal(card.alarms.runs, 0);
	assert_true(card.alarms.at_most >= 1);
}

FG_TEST_IN(smallest_is_found_with_all_larger_ones, set_up, NULL)
{
	for (int i = 0; i < 20; i++) {
		struct fg_proof *named = add(FG_PROOF_PLANTED, 0.10, FG_OUTCOME_REGRESSION);

		named->blamed = "find";
		add(FG_PROOF_PLANTED, 0.05, i < 19 ? FG_OUTCOME_REGRESSION : FG_OUTCOME_PASS);
		add(FG_PROOF_PLANTED, 0.02, i < 18 ? FG_OUTCOME_REGRESSION : FG_OUTCOME_PASS);
	}
	make();
	assert_int_equal(card.size_count, 3);
	assert_true(fabs(card.sizes[0].size - 0.02) < 1e-9);
	assert_true(fabs(card.smallest - 0.05) < 1e-9);
	/* Clopper and Pearson: the lower 95 % bound for 19 of 20. */
	assert_true(fabs(card.smallest_at_least - 0.783894) < 1e-5);
	assert_int_equal(card.named.hits, 20);
	assert_int_equal(card.named.runs, 57);
	/* If a size is missed, all smaller sizes are uncertain. */
	add(FG_PROOF_PLANTED, 0.10, FG_OUTCOME_PASS);
	add(FG_PROOF_PLANTED, 0.10, FG_OUTCOME_PASS);
	make();
	assert_true(isnan(card.smallest));
}

/* A delay of the whole program does not change code and has no function to name. */
FG_TEST_IN(delay_is_found_by_placement_too, set_up, NULL)
{
	add(FG_PROOF_PLANTED, 0.05, FG_OUTCOME_PLACEMENT);
	add(FG_PROOF_PLANTED, 0.05, FG_OUTCOME_PLACEMENT)->function = NULL;
	add(FG_PROOF_PLANTED, 0.05, FG_OUTCOME_REGRESSION)->function = NULL;
	add(FG_PROOF_PLANTED, 0.05, FG_OUTCOME_PASS)->function = NULL;
	make();
	assert_int_equal(card.sizes[0].found.hits, 2);
	assert_int_equal(card.sizes[0].found.runs, 4);
	assert_int_equal(card.named.runs, 0);
}

/*
 * At an alpha of 0.1 %, one false alarm in 60 runs may be chance; two in the first eight runs are
 * not.
 */
FG_TEST_IN(evidence_may_be_looked_at_after_each_run, set_up, NULL)
{
	for (int i = 0; i < 60; i++)
		add(FG_PROOF_NEUTRAL, 0, i == 50 ? FG_OUTCOME_REGRESSION : FG_OUTCOME_PASS);
	make();
	assert_true(card.alarm_evidence < 1);
	assert_false(card.is_broken);
	count = 0;
	for (int i = 0; i < 8; i++)
		add(FG_PROOF_SAME, 0, i % 4 ? FG_OUTCOME_PASS : FG_OUTCOME_REGRESSION);
	make();
	assert_true(card.alarm_evidence > 20);
	assert_true(card.is_broken);
}

/* A long period without false alarms does not hide a later fault. */
FG_TEST_IN(gate_that_begins_to_fail_equal_code_is_broken, set_up, NULL)
{
	for (int i = 0; i < 200; i++)
		add(FG_PROOF_SAME, 0, FG_OUTCOME_PASS);
	for (int i = 0; i < 20; i++)
		add(FG_PROOF_SAME, 0, i % 4 ? FG_OUTCOME_PASS : FG_OUTCOME_REGRESSION);
	make();
	assert_true(card.is_broken);
}

/* How many correct gates are ever called broken in a year of nightly runs? */
FG_TEST_IN(honest_gate_is_rarely_called_broken, set_up, NULL)
{
	struct fg_random random;
	unsigned broken = 0;

	fg_random_seed(&random, 5);
	for (int gate = 0; gate < 200; gate++) {
		(void)set_up(state);
		while (count < PROOFS_MAX && !card.is_broken) {
			const bool alarm = fg_random_uniform(&random) < 0.001;

			add(FG_PROOF_SAME, 0, alarm ? FG_OUTCOME_REGRESSION : FG_OUTCOME_PASS);
			if (count % 20 == 0)
				make();
		}
		broken += card.is_broken;
	}
	assert_true(broken <= 10);
}

FG_TEST_IN(gate_that_goes_blind_is_broken_within_ten_runs, set_up, NULL)
{
	size_t missed = 0;

	for (int i = 0; i < 100; i++)
		add(FG_PROOF_PLANTED, 0.05, FG_OUTCOME_REGRESSION);
	make();
	assert_false(card.is_broken);
	/* Sizes that were never planted say nothing. */
	for (int i = 0; i < 20; i++)
		add(FG_PROOF_PLANTED, 0.01, FG_OUTCOME_PASS);
	make();
	assert_false(card.is_broken);
	for (missed = 0; missed < 10 && !card.is_broken; missed++) {
		add(FG_PROOF_PLANTED, 0.05, FG_OUTCOME_PASS);
		make();
	}
	assert_true(card.is_broken);
	assert_true(missed < 10);
}

/* Adds hidden runs with a slowdown of 10 %, the first `missed` of which do not find it. */
static void add_hidden(unsigned runs, unsigned missed)
{
	for (unsigned i = 0; i < runs; i++)
		add(FG_PROOF_PLANTED, 0.10, i < missed ? FG_OUTCOME_PASS : FG_OUTCOME_REGRESSION)
			->is_hidden = true;
}

FG_TEST_IN(early_miss_does_not_silence_the_alarm, set_up, NULL)
{
	add_hidden(12, 1);
	make();
	assert_true(card.blind_evidence <= 1);
	add_hidden(10, 10);
	make();
	assert_true(card.is_broken);
}

/* Hidden runs are short, so complete runs that find the slowdown say nothing about them. */
FG_TEST_IN(hidden_runs_are_compared_with_hidden_runs, set_up, NULL)
{
	for (int i = 0; i < 50; i++)
		add(FG_PROOF_PLANTED, 0.10, FG_OUTCOME_REGRESSION);
	add_hidden(30, 30);
	make();
	assert_false(card.is_broken);
}

/* How many gates that always find the same share of slowdowns are ever called blind? */
FG_TEST_IN(steady_gate_is_rarely_called_blind, set_up, NULL)
{
	static const double shares[] = {0.99, 0.8, 0.5, 0.1};
	struct fg_random random;
	unsigned broken = 0;

	fg_random_seed(&random, 7);
	for (int gate = 0; gate < 200; gate++) {
		count = 0;
		while (count < 100) {
			const bool is_found =
				fg_random_uniform(&random) < shares[gate % FG_ARRAY_SIZE(shares)];

			add_hidden(1, !is_found);
		}
		make();
		broken += card.is_broken;
	}
	assert_true(broken <= 10);
}

/* A suite has many gated metrics, each with its own alpha. */
FG_TEST_IN(each_run_is_judged_by_its_own_alpha, set_up, NULL)
{
	for (int i = 0; i < 300; i++)
		add(FG_PROOF_SAME, 0, i % 10 ? FG_OUTCOME_PASS : FG_OUTCOME_REGRESSION)->alpha =
			0.1;
	make();
	assert_false(card.is_broken);
	for (int i = 0; i < 300; i++)
		proofs[i].alpha = 0.001;
	make();
	assert_true(card.is_broken);
}

FG_TEST_IN(proof_is_read_as_it_was_written, set_up, NULL)
{
	const struct fg_proof *written = add(FG_PROOF_PLANTED, 0.05, FG_OUTCOME_REGRESSION);
	struct fg_strbuf text = {0};
	struct fg_arena arena = {0};
	struct fg_json_writer w;
	struct fg_proof read;

	proofs[0].function = "find(int)";
	proofs[0].symbol = "_Z4findi";
	proofs[0].library = "prog";
	fg_json_writer_init(&w, &text, 0);
	fg_proof_write(&w, NULL, written);
	assert_int_equal(fg_proof_read(text.data, text.length, &arena, &read, NULL), FG_OK);
	assert_string_equal(read.benchmark, "parse");
	assert_string_equal(read.symbol, "_Z4findi");
	assert_int_equal(read.arm, FG_PROOF_PLANTED);
	assert_int_equal(read.outcome, FG_OUTCOME_REGRESSION);
	assert_true(fabs(read.noise.pair - 0.04) < 1e-12);
	assert_null(read.blamed);
	assert_int_equal(fg_proof_read("{}", 2, &arena, &read, NULL), FG_EPARSE);
	fg_arena_release(&arena);
	fg_strbuf_release(&text);
}

static const struct fg_proof_card_help *help(enum fg_proof_card_limit limit)
{
	for (size_t i = 0; i < card.help_count; i++) {
		if (card.helps[i].limit == limit)
			return &card.helps[i];
	}
	return NULL;
}

/* The noise is independent: ten times the length gives a factor of √10. */
FG_TEST_IN(longer_benchmark_helps_by_the_measured_noise, set_up, NULL)
{
	const struct fg_proof_card_help *longer = NULL;

	for (int i = 0; i < 6; i++)
		add(FG_PROOF_SAME, 0, FG_OUTCOME_PASS);
	make();
	longer = help(FG_LIMIT_LENGTH);
	assert_non_null(longer);
	assert_string_equal(card.limiting, "parse");
	assert_true(fabs(longer->by - 200e6) < 1);
	assert_true(fabs(log1p(longer->from) / log1p(longer->to) - sqrt(10)) < 0.01);
	/* No other remedy helps as much as more pairs. */
	assert_null(help(FG_LIMIT_NOISE));
	assert_null(help(FG_LIMIT_LAYOUTS));
}

/* The noise does not average out: a longer benchmark does not help, a quieter host does. */
FG_TEST_IN(noise_with_a_memory_needs_a_quieter_host, set_up, NULL)
{
	for (int i = 0; i < 6; i++) {
		struct fg_proof *proof = add(FG_PROOF_SAME, 0, FG_OUTCOME_PASS);

		proof->noise.exponent = 0;
		proof->noise.quiet = 0.01;
	}
	make();
	assert_null(help(FG_LIMIT_LENGTH));
	assert_non_null(help(FG_LIMIT_NOISE));
	assert_int_equal(card.helps[0].limit, FG_LIMIT_NOISE);
}

/* The estimates differ by more than their pairs explain; each run has one layout. */
FG_TEST_IN(estimates_that_disagree_need_layouts, set_up, NULL)
{
	for (int i = 0; i < 8; i++)
		add(FG_PROOF_NEUTRAL, 0, FG_OUTCOME_PASS)->estimate = i % 2 ? 0.02 : -0.02;
	make();
	assert_int_equal(card.helps[0].limit, FG_LIMIT_LAYOUTS);
	for (size_t i = 0; i < count; i++)
		proofs[i].layouts = 4;
	make();
	assert_null(help(FG_LIMIT_LAYOUTS));
}

FG_TEST_IN(noise_is_read_from_the_pairs, set_up, NULL)
{
	enum {
		PAIRS = 400
	};
	struct fg_repetition *repetition = NULL;
	struct fg_proof_noise noise;
	struct fg_series series;
	struct fg_random random;

	fg_random_seed(&random, 11);
	fg_series_init(&series, "parse");
	for (uint32_t pair = 0; pair < PAIRS; pair++) {
		const double sd = pair < PAIRS / 4 ? 0.01 : 0.03;

		for (uint8_t arm = 0; arm < FG_ARM_COUNT; arm++) {
			repetition = fg_series_add_repetition(&series);
			repetition->pair = pair;
			repetition->arm = arm;
			repetition->values[FG_METRIC_CPU_TIME] =
				1e6 * exp(arm ? sd * fg_random_normal(&random) : 0);
		}
	}
	fg_proof_noise(&series, "cpu_time", &noise);
	assert_true(noise.pair > 0.022 && noise.pair < 0.032);
	assert_true(noise.quiet > 0.008 && noise.quiet < 0.012);
	assert_true(noise.exponent > 0.8);
	fg_series_release(&series);
}
