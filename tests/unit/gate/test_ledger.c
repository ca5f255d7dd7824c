// SPDX-License-Identifier: Apache-2.0
#include "bench/referee/loop.h"
#include "tests/support/fg_test.h"
#include "tests/unit/gate/made_run.h"

enum {
	LOOPS = 60,
	ATTEMPTS = 20,
};

FG_TEST(shares_of_all_claims_sum_to_one_error)
{
	double spent = 0;

	for (size_t number = 1; number <= 100000; number++)
		spent += exp(-fg_claim_needed(number));
	assert_true(spent < FG_LEDGER_ALPHA);
	assert_true(spent > 0.9999 * FG_LEDGER_ALPHA);
}

FG_TEST(planned_pairs_can_prove_their_claim)
{
	for (size_t number = 1; number < 5000; number += 7) {
		const unsigned pairs = fg_claim_pairs(number);

		assert_true(fg_evidence_max(pairs - 4) >= fg_claim_needed(number));
		assert_true(pairs >= fg_claim_pairs(number - 1 + (number == 1)));
	}
	assert_in_range(fg_claim_pairs(1), 10, 20);
}

FG_TEST(a_verdict_says_one_claim_or_both)
{
	assert_true(fg_claim_is_confirmed(FG_CLAIM_FASTER, FG_OUTCOME_IMPROVEMENT));
	assert_true(fg_claim_is_confirmed(FG_CLAIM_NOT_SLOWER, FG_OUTCOME_IMPROVEMENT));
	assert_true(fg_claim_is_confirmed(FG_CLAIM_NOT_SLOWER, FG_OUTCOME_PASS));
	assert_false(fg_claim_is_confirmed(FG_CLAIM_FASTER, FG_OUTCOME_PASS));
	assert_false(fg_claim_is_confirmed(FG_CLAIM_NOT_SLOWER, FG_OUTCOME_INCONCLUSIVE));
	assert_int_equal(fg_claim_parse("not slower"), FG_CLAIM_NOT_SLOWER);
	assert_int_equal(fg_claim_parse("slower"), FG_CLAIM_COUNT);
}

FG_TEST(evidence_comes_from_the_pairs_of_a_metric)
{
	struct fg_made made;
	double evidence[FG_CLAIM_COUNT];
	const struct fg_metric_verdict *metric = NULL;

	fg_made_init(&made, 1);
	(void)fg_made_benchmark(&made, "same", 40, 0.0, 0.002);
	(void)fg_made_benchmark(&made, "faster", 40, -0.03, 0.002);
	metric = fg_made_metric(fg_made_decide(&made, "faster"), "cpu_time");
	assert_true(fg_claims_evidence(fg_made_series(&made, "faster"), metric, evidence));
	assert_true(evidence[FG_CLAIM_FASTER] > fg_claim_needed(20));
	assert_true(evidence[FG_CLAIM_NOT_SLOWER] > fg_claim_needed(20));
	assert_true(fg_claims_evidence(fg_made_series(&made, "same"), metric, evidence));
	assert_true(evidence[FG_CLAIM_FASTER] < fg_claim_needed(1));
	assert_true(evidence[FG_CLAIM_NOT_SLOWER] > fg_claim_needed(20));
	fg_made_release(&made);
}

/* `./dev bench referee` counts a thousand loops. */
FG_TEST(twenty_attempts_prove_nothing_by_chance_and_hide_nothing)
{
	struct loop loop = {.attempts = ATTEMPTS, .spread = 0.01, .last = -0.03};
	size_t wrong = 0;
	size_t proven = 0;

	for (size_t i = 0; i < LOOPS; i++) {
		loop_run(&loop, i + 1);
		wrong += loop.has_false ? 1 : 0;
		proven += loop.has_proven ? 1 : 0;
	}
	assert_int_equal(wrong, 0);
	assert_true(proven >= 57);
}
