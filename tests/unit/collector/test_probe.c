// SPDX-License-Identifier: Apache-2.0
/*
 * Probes on a computed clock: programs that are in step with kernel ticks, or sleep for most of the
 * time.  Every draw comes from a seed.
 */
#include "collector/sampler/probe.h"
#include "tests/support/fg_test.h"

#include <math.h>

static const uint64_t period_ns = 1000000;

enum {
	SEEDS = 100,
	WAKES = 1500
};

static uint64_t draw(uint64_t *random)
{
	uint64_t z = (*random += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* Wakes every `step`, spends two thirds of `busy` in one function and the rest in another. */
struct program {
	uint64_t step_ns;
	uint64_t busy_ns;
};

static uint64_t cpu_at(const struct program *program, uint64_t now_ns)
{
	const uint64_t inside = now_ns % program->step_ns;

	return now_ns / program->step_ns * program->busy_ns +
	       (inside < program->busy_ns ? inside : program->busy_ns);
}

struct seen {
	double first;
	double all;
	double squares;
	double probes;
};

/* A hit weighs the CPU time since the hit before. */
static struct seen run(const struct program *program, uint64_t seed)
{
	const uint64_t end_ns = WAKES * program->step_ns;
	struct fg_probe probe;
	struct seen seen = {0};
	uint64_t given_ns = 0;
	uint64_t now_ns = 0;

	fg_probe_begin(&probe);
	while (now_ns < end_ns) {
		struct fg_probe_moment moment = {.now_ns = now_ns,
						 .cpu_ns = cpu_at(program, now_ns)};
		const uint64_t inside = now_ns % program->step_ns;
		const bool hit = inside < program->busy_ns;

		if (hit && now_ns > 0) {
			const double weight = (double)(moment.cpu_ns - given_ns);

			given_ns = moment.cpu_ns;
			seen.first += inside * 3 < program->busy_ns * 2 ? weight : 0;
			seen.all += weight;
			seen.squares += weight * weight;
		}
		if (now_ns > 0)
			(void)fg_probe_learn(&probe, &moment, hit);
		now_ns += fg_probe_arm(&probe, &moment, draw(&seed), period_ns);
		seen.probes++;
	}
	return seen;
}

static void a_program_in_step_with_the_ticks_gets_its_shares(void **state)
{
	static const struct program programs[] = {
		{.step_ns = 1000000, .busy_ns = 400000},
		{.step_ns = 4000000, .busy_ns = 1500000},
		{.step_ns = 10000000, .busy_ns = 1000000},
		{.step_ns = 10000000, .busy_ns = 9900000},
	};
	const double truth = 2.0 / 3;

	(void)state;
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		unsigned within = 0;
		double sum = 0;

		for (uint64_t seed = 1; seed <= SEEDS; seed++) {
			const struct seen seen = run(&programs[i], seed * 77777);
			const double share = seen.first / seen.all;

			within += fabs(share - truth) <=
				  3 * sqrt(truth * (1 - truth) * seen.squares) / seen.all;
			sum += share / SEEDS;
		}
		assert_in_range(within, 95, SEEDS);
		/* A hundred runs together: no bias of one per cent. */
		assert_true(fabs(sum - truth) < 0.01);
	}
}

static void a_thread_that_sleeps_is_woken_seldom(void **state)
{
	static const struct program awake = {.step_ns = 4000000, .busy_ns = 4000000};
	static const struct program asleep = {.step_ns = 100000000, .busy_ns = 1000000};

	(void)state;
	const double elapsed_ms = WAKES * 4.0;

	/* once a period at most while it runs, */
	assert_true(run(&awake, 1).probes < 1.1 * elapsed_ms);
	assert_true(run(&awake, 1).probes > 0.9 * elapsed_ms);
	/* and not more than about one in 32 where it hardly does */
	assert_true(run(&asleep, 1).probes < 1.2 * WAKES * 100.0 / 32);
}

static void probes_end_where_there_is_no_system_time(void **state)
{
	struct fg_probe probe;
	struct fg_probe_moment moment = {0};
	unsigned count = 0;

	(void)state;
	fg_probe_begin(&probe);
	do {
		(void)fg_probe_arm(&probe, &moment, 12345, period_ns);
		moment.now_ns += period_ns;
		moment.cpu_ns += period_ns;
		count++;
	} while (fg_probe_learn(&probe, &moment, false) && count < 1000);
	assert_in_range(count, 16, 100);
	assert_false(probe.on);
}

static void delays_are_exponential(void **state)
{
	enum {
		DRAWS = 100000
	};
	struct fg_probe probe;
	const struct fg_probe_moment moment = {0};
	uint64_t random = 4711;
	double sum = 0;
	unsigned longer = 0;

	(void)state;
	fg_probe_begin(&probe);
	for (unsigned i = 0; i < DRAWS; i++) {
		const double delay =
			(double)fg_probe_arm(&probe, &moment, draw(&random), period_ns);

		sum += delay;
		longer += delay > 3.0 * (double)period_ns;
	}
	assert_true(fabs(sum / DRAWS / (double)period_ns - 1) < 0.02);
	assert_true(fabs((double)longer / DRAWS - exp(-3)) < 0.003);
	/* draws at both ends */
	assert_true(fg_probe_arm(&probe, &moment, 0, period_ns) < 50 * period_ns);
	assert_true(fg_probe_arm(&probe, &moment, UINT64_MAX, period_ns) >= 1);
}

/* On a busy machine a thread that slept when the timer expired goes on when it gets a CPU. */
static void a_late_handler_is_told_from_a_long_call(void **state)
{
	static const struct {
		const char *why;
		uint64_t elapsed_ns; /* since it was armed, for a millisecond */
		uint64_t cpu_ns;
		uint64_t departures;
		bool running;
	} cases[] = {
		{"in a short call", 1010000, 1010000, 0, true},
		{"slept before, and was met in a short call", 1010000, 200000, 1, true},
		{"in a call of 3 ms", 4000000, 4000000, 0, true},
		{"asleep, or waiting for a CPU", 4000000, 900000, 1, false},
		{"in a call of 3 ms after a short sleep", 4000000, 3700000, 1, true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct fg_probe probe = {.on = true, .due_ns = 1000000};
		const struct fg_probe_moment moment = {.now_ns = cases[i].elapsed_ns,
						       .cpu_ns = cases[i].cpu_ns,
						       .departures = cases[i].departures};

		if (fg_probe_met_running(&probe, &moment) != cases[i].running)
			fail_msg("%s", cases[i].why);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_program_in_step_with_the_ticks_gets_its_shares),
		cmocka_unit_test(a_thread_that_sleeps_is_woken_seldom),
		cmocka_unit_test(probes_end_where_there_is_no_system_time),
		cmocka_unit_test(delays_are_exponential),
		cmocka_unit_test(a_late_handler_is_told_from_a_long_call),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
