// SPDX-License-Identifier: Apache-2.0
/*
 * Do the weights add up? The threads' user and system times are known, and reported as the clocks
 * would count them.
 */
#include "collector/sampler/account.h"
#include "tests/support/fg_test.h"

#include <stdlib.h>

static const uint64_t period_ns = 1000000;
static const uint64_t tick_ns = 10000000;

struct thread_case {
	const char *why;
	unsigned ticks;
	unsigned samples;       /* user samples per tick */
	uint64_t says_ns;       /* system time that getrusage finds per tick */
	uint64_t system_low_ns; /* lower limit of the sum */
	uint64_t system_high_ns;
};

FG_TEST(the_weights_add_up_to_the_cpu_time)
{
	static const struct thread_case cases[] = {
		{"user time alone", 100, 10, 0, 0, 0},
		{"getrusage counts our signal once more", 100, 10, 600000, 0, 1000000},
		{"a fifth is system time, and it says so", 100, 8, 2000000, 199000000, 201000000},
		{"it says less: it locks to the program", 100, 8, 0, 199000000, 201000000},
		{"it says more: it locks to the program", 100, 8, 9000000, 199000000, 201000000},
		{"system time alone", 100, 0, tick_ns, 999000000, 1000000000},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct thread_case *is = &cases[i];
		struct fg_account account;
		struct fg_times now = {.cpu_ns = 77, .user_ns = 55, .system_ns = 33};
		struct fg_times split;
		uint64_t given_ns = 0;

		fg_account_open(&account, &now);
		for (unsigned tick = 0; tick < is->ticks; tick++) {
			for (unsigned n = 0; n < is->samples; n++)
				fg_account_user(&account, period_ns);
			now.cpu_ns += tick_ns;
			now.user_ns += tick_ns - is->says_ns;
			now.system_ns += is->says_ns;
			fg_account_look(&account, &now, true, 0, &split);
			assert_true(split.cpu_ns == tick_ns && split.system_ns == is->says_ns);
			const uint64_t due_ns = fg_account_due(&account);

			fg_account_give(&account, due_ns);
			given_ns += due_ns;
			assert_true(fg_account_due(&account) == 0);
		}
		if (given_ns < is->system_low_ns || given_ns > is->system_high_ns)
			fail_msg("%s: %llu ns of system time", is->why,
				 (unsigned long long)given_ns);
	}
}

/* Threads of 1.5 ms have one user sample, half a period too few, or two, half a period too many. */
FG_TEST(remainders_of_short_threads_cancel_out)
{
	struct fg_account account;
	struct fg_times split;
	int64_t left_ns = 0;

	for (unsigned samples = 1; samples <= 2; samples++) {
		fg_account_open(&account, &(struct fg_times){0});
		for (unsigned n = 0; n < samples; n++)
			fg_account_user(&account, period_ns);
		fg_account_look(&account, &(struct fg_times){.cpu_ns = 1500000}, true, 0, &split);
		assert_true(fg_account_due(&account) == (samples == 1 ? period_ns / 2 : 0));
		left_ns += account.owed_ns;
	}
	assert_true(left_ns == 0);
}

FG_TEST(faults_are_recognised_by_the_time_they_can_take)
{
	static const struct {
		const char *why;
		struct fg_times split;
		uint64_t due_ns;
		bool is_fault;
	} cases[] = {
		{"no fault at all", {.system_ns = 9, .user_ns = 1}, 1000, false},
		{"mostly system time", {.system_ns = 9, .user_ns = 1, .faults = 1}, 1000000, true},
		{"one fault and much more", {.user_ns = 9, .faults = 10}, 1000000, false},
		{"as many as explain it", {.user_ns = 9, .faults = 600}, 1000000, true},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (fg_account_is_fault(&cases[i].split, cases[i].due_ns) != cases[i].is_fault)
			fail_msg("%s", cases[i].why);
}

/* A look at clocks that show these numbers of ticks. */
static void look(struct fg_account *account, uint64_t cpu, uint64_t user, uint64_t system, bool on,
		 uint32_t switches)
{
	const struct fg_times now = {
		.cpu_ns = cpu * tick_ns, .user_ns = user * tick_ns, .system_ns = system * tick_ns};
	struct fg_times split;

	fg_account_look(account, &now, on, switches, &split);
}

FG_TEST(time_that_is_not_sampled_is_not_owed)
{
	struct fg_account account;

	fg_account_open(&account, &(struct fg_times){0});
	/*
	 * sampling was off between two looks: 3 of 10 ms were sampled, and nothing is owed for 7 ms
	 */
	for (unsigned n = 0; n < 3; n++)
		fg_account_user(&account, period_ns);
	look(&account, 1, 1, 0, true, 2);
	assert_true(fg_account_due(&account) == 0);
	look(&account, 5, 1, 4, false, 3);
	assert_true(fg_account_due(&account) == 0);
	/* sampling is on again: time counts from the next look on */
	look(&account, 6, 2, 4, true, 4);
	assert_true(fg_account_due(&account) == 0);
	look(&account, 7, 2, 5, true, 4);
	assert_true(fg_account_due(&account) == tick_ns);
}

FG_TEST(time_used_while_sampling_is_off_is_not_owed)
{
	struct fg_account account;

	fg_account_open(&account, &(struct fg_times){0});
	assert_false(fg_account_is_behind(&account, true, 0));
	assert_true(fg_account_is_behind(&account, false, 1));
	look(&account, 1, 1, 0, false, 1);
	assert_false(fg_account_is_behind(&account, false, 1));
	/* sampling was off for 25 kernel ticks, which do not count; later ticks do */
	assert_true(fg_account_is_behind(&account, true, 2));
	look(&account, 26, 1, 25, true, 2);
	assert_true(fg_account_due(&account) == 0);
	look(&account, 28, 1, 27, true, 2);
	assert_true(fg_account_due(&account) == 2 * tick_ns);
	fg_account_give(&account, 2 * tick_ns);
	/*
	 * sampling was off and on between two looks, and getrusage shifts the time of earlier
	 * ticks: one tick was used, and one is owed
	 */
	look(&account, 29, 1, 36, true, 4);
	assert_true(fg_account_due(&account) == tick_ns);
}

/*
 * A thread of any length is sampled in proportion to its time, and no timer is so fast that the
 * thread cannot run.
 */
FG_TEST(first_periods_are_fair_and_not_too_short)
{
	static const struct {
		uint64_t period_ns;
		uint64_t min_ns;
	} cases[] = {
		{10000000, 100000}, {1000000, 100000}, {150000, 75000},
		{100000, 50000},    {60000, 50000},    {20000, 20000},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const uint64_t period = cases[i].period_ns;

		for (uint64_t phase = 1; phase <= period; phase += 997) {
			const uint64_t first = fg_account_first_period(phase, period);

			assert_in_range(first, cases[i].min_ns, period);
			assert_int_equal(first > cases[i].min_ns, phase > cases[i].min_ns);
			if (phase >= cases[i].min_ns)
				assert_int_equal(first, phase);
		}
	}
}

/*
 * Each moment at which the thread was found in the kernel gets about one period. A difference is
 * spread over many moments, and in the end everything owed has been given.
 */
FG_TEST(portions_make_up_for_differences_together)
{
	const uint64_t each_ns = 1125000;
	struct fg_account account = {.owed_ns = (int64_t)(3 * each_ns)};
	int64_t given_ns = 0;

	assert_int_equal(fg_account_portion(&account, 3, each_ns, false), each_ns);
	account.owed_ns = (int64_t)(19 * each_ns); /* 16 more than the three that were taken */
	assert_int_equal(fg_account_portion(&account, 3, each_ns, false),
			 each_ns + 16 * each_ns / 18);
	account.owed_ns = (int64_t)(2000 * each_ns);
	assert_int_equal(fg_account_portion(&account, 3, each_ns, false), 4 * each_ns);
	account.owed_ns = -(int64_t)(2000 * each_ns);
	assert_int_equal(fg_account_portion(&account, 3, each_ns, false), each_ns / 4);
	/* the last moments get the remainder */
	account.owed_ns = (int64_t)each_ns;
	assert_int_equal(fg_account_portion(&account, 3, each_ns, true), each_ns / 3);
	account.owed_ns = (int64_t)(6 * each_ns);
	assert_int_equal(fg_account_portion(&account, 3, each_ns, true), 2 * each_ns);
	/* half of the amounts are 50 % above the mean, and half 50 % below */
	account.owed_ns = 0;
	for (unsigned i = 0; i < 1000; i++) {
		const uint64_t more_ns = each_ns / 2 + (i % 2) * each_ns;

		account.owed_ns += (int64_t)more_ns;
		const uint64_t portion_ns = fg_account_portion(&account, 1, each_ns, false);

		fg_account_give(&account, portion_ns);
		given_ns += (int64_t)portion_ns;
		assert_in_range(portion_ns, each_ns * 9 / 10, each_ns * 11 / 10);
	}
	assert_true(llabs(given_ns - (int64_t)(1000 * each_ns)) < (int64_t)each_ns);
	assert_true(llabs(account.owed_ns) < (int64_t)each_ns);
}

/* The time is known before a look and after it. */
FG_TEST(unsampled_time_is_known_from_the_cpu_clock_alone)
{
	struct fg_account account;
	struct fg_times split;

	fg_account_open(&account, &(struct fg_times){.cpu_ns = 500});
	fg_account_user(&account, 300);
	assert_int_equal(fg_account_ahead(&account, 900), 100);
	fg_account_look(&account, &(struct fg_times){.cpu_ns = 900}, true, 0, &split);
	assert_int_equal(fg_account_due(&account), 100);
	assert_int_equal(fg_account_ahead(&account, 900), 100);
	fg_account_user(&account, 300);
	assert_int_equal(fg_account_ahead(&account, 1000), -100);
}
