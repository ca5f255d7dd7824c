// SPDX-License-Identifier: Apache-2.0
#include "cli/session/naming_pairs.h"
#include "model/run.h"
#include "tests/support/fg_test.h"

#include <math.h>

enum {
	PAIRS = 10,
	MANY = 1000,
};

/* Ten pairs of 80 samples: `largest` of them in one function, the rest in another. */
static void make(struct fg_profile_set *set, unsigned largest)
{
	uint32_t functions[2];

	fg_profile_set_init(set, "program");
	functions[0] = fg_profile_set_function(set, &(struct fg_profile_function){.name = "large"});
	functions[1] = fg_profile_set_function(set, &(struct fg_profile_function){.name = "small"});
	for (unsigned pair = 0; pair < PAIRS; pair++) {
		for (uint8_t arm = 0; arm < FG_ARM_COUNT; arm++) {
			struct fg_profile_row *row = fg_profile_set_add_row(set, 2);

			row->arm = arm;
			row->pair = pair;
			for (unsigned i = 0; i < 2; i++) {
				row->nodes[i] = fg_profile_set_node(set, 0, functions[i]);
				row->samples[i] = i == 0 ? largest : 80 - largest;
			}
		}
	}
}

static unsigned pairs_for(unsigned largest, double ratio, unsigned most)
{
	struct fg_profile_set set;
	unsigned pairs;

	make(&set, largest);
	pairs = fg_session_naming_pairs(&set, ratio, PAIRS, most);
	fg_profile_set_release(&set);
	return pairs;
}

static void a_small_change_takes_more_pairs_the_larger_the_function_is(void **state)
{
	(void)state;
	/* sqrt(2 * 0.5 * 80 * 20) = 40 samples; a tenth of 80 * 20 is 160, four times as many. */
	assert_int_equal(pairs_for(40, 1.1, MANY), 20);
	assert_int_equal(pairs_for(60, 1.1, MANY), 30);
	assert_int_equal(pairs_for(40, 1.08, MANY), 32);
}

static void enough_is_enough(void **state)
{
	(void)state;
	assert_int_equal(pairs_for(40, 1.2, MANY), 0);
	assert_int_equal(pairs_for(40, 0.9, MANY), 0);
	assert_int_equal(pairs_for(40, NAN, MANY), 0);
}

static void it_never_takes_much_longer_than_the_verdict_did(void **state)
{
	(void)state;
	assert_int_equal(pairs_for(40, 1.01, MANY), 4 * PAIRS);
	assert_int_equal(pairs_for(40, 1.01, 25), 25);
	assert_int_equal(pairs_for(40, 1.01, PAIRS), 0);
}

static void without_samples_nothing_is_to_be_named(void **state)
{
	struct fg_profile_set set;

	(void)state;
	fg_profile_set_init(&set, "program");
	assert_int_equal(fg_session_naming_pairs(&set, 1.1, PAIRS, MANY), 0);
	fg_profile_set_release(&set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_small_change_takes_more_pairs_the_larger_the_function_is),
		cmocka_unit_test(enough_is_enough),
		cmocka_unit_test(it_never_takes_much_longer_than_the_verdict_did),
		cmocka_unit_test(without_samples_nothing_is_to_be_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
