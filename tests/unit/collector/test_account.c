// SPDX-License-Identifier: Apache-2.0
/*
 * Threads whose user and system time are known, as the three clocks would tell of them: do the
 * weights add up?
 */
#include "collector/account.h"
#include "tests/support/fg_test.h"

static const uint64_t period_ns = 1000000;
static const uint64_t tick_ns = 10000000;

struct thread_case {
	const char *why;
	unsigned ticks;
	unsigned samples;       /* user samples in each */
	uint64_t says_ns;       /* system time that getrusage finds in each */
	uint64_t system_low_ns; /* what may be given in all */
	uint64_t system_high_ns;
};

static void the_weights_add_up_to_the_cpu_time(void **state)
{
	static const struct thread_case cases[] = {
		{"user time alone", 100, 10, 0, 0, 0},
		{"getrusage counts our signal once more", 100, 10, 600000, 0, 1000000},
		{"a fifth is system time, and it says so", 100, 8, 2000000, 199000000, 201000000},
		{"it says less: it locks to the program", 100, 8, 0, 199000000, 201000000},
		{"it says more: it locks to the program", 100, 8, 9000000, 199000000, 201000000},
		{"system time alone", 100, 0, tick_ns, 999000000, 1000000000},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct thread_case *is = &cases[i];
		struct fg_account account;
		struct fg_times now = {77, 55, 33};
		struct fg_times split;
		uint64_t given_ns = 0;

		fg_account_open(&account, &now, true);
		for (unsigned tick = 0; tick < is->ticks; tick++) {
			for (unsigned n = 0; n < is->samples; n++)
				fg_account_user(&account, period_ns);
			now.cpu_ns += tick_ns;
			now.user_ns += tick_ns - is->says_ns;
			now.system_ns += is->says_ns;
			fg_account_look(&account, &now, true, 0, &split);
			assert_true(split.cpu_ns == tick_ns && split.system_ns == is->says_ns);
			const uint64_t due_ns = fg_account_due(&account, period_ns);

			fg_account_give(&account, due_ns);
			given_ns += due_ns;
			assert_true(fg_account_due(&account, period_ns) == 0);
		}
		if (given_ns < is->system_low_ns || given_ns > is->system_high_ns)
			fail_msg("%s: %llu ns of system time", is->why,
				 (unsigned long long)given_ns);
	}
}

static void a_short_thread_gets_what_getrusage_says(void **state)
{
	struct fg_account account;
	struct fg_times split;

	(void)state;
	/* 1.5 ms with one user sample or two, and no system time. */
	for (unsigned samples = 1; samples <= 2; samples++) {
		fg_account_open(&account, &(struct fg_times){0}, true);
		for (unsigned n = 0; n < samples; n++)
			fg_account_user(&account, period_ns);
		fg_account_look(&account, &(struct fg_times){1500000, 1500000, 0}, true, 0, &split);
		assert_true(fg_account_due(&account, period_ns) == 0);
	}
	/* The same time in the kernel. */
	fg_account_open(&account, &(struct fg_times){0}, true);
	fg_account_look(&account, &(struct fg_times){1500000, 0, 1500000}, true, 0, &split);
	assert_true(fg_account_due(&account, period_ns) == 1500000);
}

static void time_that_is_not_sampled_is_not_owed(void **state)
{
	struct fg_account account;
	struct fg_times split;

	(void)state;
	fg_account_open(&account, &(struct fg_times){0}, true);
	/*
	 * switched off and on again between two looks: 3 of 10 ms were sampled, and nothing is owed
	 * for the others
	 */
	for (unsigned n = 0; n < 3; n++)
		fg_account_user(&account, period_ns);
	fg_account_look(&account, &(struct fg_times){tick_ns, tick_ns, 0}, true, 2, &split);
	assert_true(fg_account_due(&account, period_ns) == 0);
	fg_account_look(&account, &(struct fg_times){5 * tick_ns, tick_ns, 4 * tick_ns}, false, 3,
			&split);
	assert_true(fg_account_due(&account, period_ns) == 0);
	/* on again: from the next look on it is */
	fg_account_look(&account, &(struct fg_times){6 * tick_ns, 2 * tick_ns, 4 * tick_ns}, true,
			4, &split);
	assert_true(fg_account_due(&account, period_ns) == 0);
	fg_account_look(&account, &(struct fg_times){7 * tick_ns, 2 * tick_ns, 5 * tick_ns}, true,
			4, &split);
	assert_true(fg_account_due(&account, period_ns) == tick_ns);
}

static void what_was_used_while_it_was_off_is_owed_to_nobody(void **state)
{
	struct fg_account account;
	struct fg_times split;

	(void)state;
	fg_account_open(&account, &(struct fg_times){0}, true);
	assert_false(fg_account_is_behind(&account, true, 0));
	assert_true(fg_account_is_behind(&account, false, 1));
	fg_account_look(&account, &(struct fg_times){tick_ns, tick_ns, 0}, false, 1, &split);
	assert_false(fg_account_is_behind(&account, false, 1));
	/* 25 ticks of the kernel's, off, and it goes on: none of them; what comes then is */
	assert_true(fg_account_is_behind(&account, true, 2));
	fg_account_look(&account, &(struct fg_times){26 * tick_ns, tick_ns, 25 * tick_ns}, true, 2,
			&split);
	assert_true(fg_account_due(&account, period_ns) == 0);
	fg_account_look(&account, &(struct fg_times){28 * tick_ns, tick_ns, 27 * tick_ns}, true, 2,
			&split);
	assert_true(fg_account_due(&account, period_ns) == 2 * tick_ns);
	fg_account_give(&account, 2 * tick_ns);
	/*
	 * off and on again in between, and getrusage moves the time of earlier ticks: a tick was
	 * used, and a tick is owed
	 */
	fg_account_look(&account, &(struct fg_times){29 * tick_ns, tick_ns, 36 * tick_ns}, true, 4,
			&split);
	assert_true(fg_account_due(&account, period_ns) <= tick_ns + period_ns);
}

static void what_another_thread_used_before_is_not_its_share(void **state)
{
	struct fg_account account;
	struct fg_times split;

	(void)state;
	fg_account_open(&account, &(struct fg_times){900 * tick_ns, 0, 0}, false);
	fg_account_look(&account, &(struct fg_times){901 * tick_ns, 500 * tick_ns, 401 * tick_ns},
			true, 0, &split);
	assert_true(split.system_ns == 0 && split.user_ns == 0);
	assert_true(fg_account_due(&account, period_ns) == tick_ns - period_ns);
}

/*
 * A thread of any length is met as often as its time stands for, and no timer is so fast that its
 * thread cannot run beside it.
 */
static void first_periods_are_fair_and_not_too_short(void **state)
{
	static const struct {
		uint64_t period_ns;
		uint64_t least_ns;
	} cases[] = {
		{10000000, 100000}, {1000000, 100000}, {150000, 75000},
		{100000, 50000},    {60000, 50000},    {20000, 20000},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const uint64_t period = cases[i].period_ns;

		for (uint64_t phase = 1; phase <= period; phase += 997) {
			const uint64_t first = fg_account_first_period(phase, period);

			assert_in_range(first, cases[i].least_ns, period);
			assert_int_equal(first > cases[i].least_ns, phase > cases[i].least_ns);
			if (phase >= cases[i].least_ns)
				assert_int_equal(first, phase);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_weights_add_up_to_the_cpu_time),
		cmocka_unit_test(a_short_thread_gets_what_getrusage_says),
		cmocka_unit_test(time_that_is_not_sampled_is_not_owed),
		cmocka_unit_test(what_was_used_while_it_was_off_is_owed_to_nobody),
		cmocka_unit_test(what_another_thread_used_before_is_not_its_share),
		cmocka_unit_test(first_periods_are_fair_and_not_too_short),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
