// SPDX-License-Identifier: Apache-2.0
/*
 * The weighting against a simulated machine with a fixed seed: a thread shares a CPU with another,
 * and runs bursts of two functions between sleeps; the kernel's accounting is also simulated.
 */
#include "base/random.h"
#include "profile/attach/sample_weight.h"
#include "tests/support/fg_test.h"

#include <math.h>

enum {
	MOMENTS = 20000,
	US = 1000,
	FIRST_US = 1600, /* time of a burst in the first function, before the second function */
	BURST_US = 2400,
	SLICE_US = 700, /* after this the other thread gets the CPU */
	OTHER_US = 1500,
	SLEEP_US = 900,
	LATE_US = 5, /* from the stop request until the thread stops */
};

enum place {
	FIRST,
	SECOND,
	ASLEEP
};

/* The state of our thread as a function of time. */
struct machine {
	int64_t now_ns;
	int64_t position_ns; /* position in its burst */
	int64_t left_ns;     /* remaining time of this slice, queue or sleep */
	enum {
		RUNS,
		QUEUES,
		SLEEPS
	} state;
	int64_t queued_since_ns;
	struct fg_cpu_account account;
};

static void change(struct machine *m)
{
	if (m->state == RUNS && m->position_ns < BURST_US * (int64_t)US) {
		m->state = QUEUES;
		m->queued_since_ns = m->now_ns;
		m->left_ns = OTHER_US * (int64_t)US;
	} else if (m->state == RUNS) {
		m->state = SLEEPS;
		m->position_ns = 0;
		m->left_ns = SLEEP_US * (int64_t)US;
	} else if (m->state == SLEEPS) {
		m->state = QUEUES;
		m->queued_since_ns = m->now_ns;
		m->left_ns = OTHER_US * (int64_t)US / 2;
	} else {
		m->state = RUNS;
		m->account.queued_ns += (uint64_t)(m->now_ns - m->queued_since_ns);
		m->left_ns = SLICE_US * (int64_t)US;
		if (m->left_ns > BURST_US * (int64_t)US - m->position_ns)
			m->left_ns = BURST_US * (int64_t)US - m->position_ns;
	}
}

static void pass(struct machine *m, int64_t ns)
{
	while (ns > 0) {
		const int64_t step = ns < m->left_ns ? ns : m->left_ns;

		m->now_ns += step;
		m->left_ns -= step;
		ns -= step;
		if (m->state == RUNS) {
			m->account.used_ns += (uint64_t)step;
			m->position_ns += step;
		}
		if (m->left_ns == 0)
			change(m);
	}
}

static enum place place_of(const struct machine *m)
{
	if (m->position_ns == 0)
		return ASLEEP;
	return m->position_ns <= FIRST_US * (int64_t)US ? FIRST : SECOND;
}

/* Stops the thread once, as the sampler does; returns false if it sleeps. */
static bool stop_at_a_moment(struct machine *m, struct fg_moment *moment)
{
	if (m->state == SLEEPS)
		return false;
	*moment = (struct fg_moment){.at_ns = m->now_ns, .account = m->account};
	if (m->state == RUNS && m->left_ns > LATE_US * (int64_t)US)
		pass(m, LATE_US * (int64_t)US);
	while (m->state == QUEUES)
		pass(m, m->left_ns);
	return m->state == RUNS;
}

/* `node` of a sample is the place where it was taken. */
static size_t sample(struct fg_sampled *samples, bool with_rule)
{
	struct machine m = {.state = RUNS, .left_ns = SLICE_US * (int64_t)US};
	struct fg_random random;
	uint64_t weighed_ns = 0;
	size_t count = 0;

	fg_random_seed(&random, 24);
	for (unsigned i = 0; i < MOMENTS; i++) {
		struct fg_moment moment;
		uint64_t weight_ns = 0;

		pass(&m, (int64_t)(10e6 * (0.5 + fg_random_uniform(&random))));
		if (!stop_at_a_moment(&m, &moment))
			continue;
		weight_ns = with_rule ? fg_sample_weight(&moment, &m.account, m.now_ns, weighed_ns)
				      : m.account.used_ns - weighed_ns;
		if (!weight_ns)
			continue;
		weighed_ns += weight_ns;
		samples[count++] = (struct fg_sampled){
			.weight_ns = weight_ns, .period_ns = 10000000, .node = place_of(&m)};
	}
	return count;
}

struct shares {
	double of[3];
	double effective; /* the number of equally weighted samples with the same precision */
	double sum;
};

static struct shares add_up(const struct fg_sampled *samples, size_t count)
{
	struct shares shares = {0};
	double squares = 0;

	for (size_t i = 0; i < count; i++) {
		const double weight = (double)samples[i].weight_ns;

		shares.of[samples[i].node] += weight;
		shares.sum += weight;
		squares += weight * weight;
	}
	for (unsigned i = 0; i < 3; i++)
		shares.of[i] /= shares.sum;
	shares.effective = shares.sum * shares.sum / squares;
	return shares;
}

FG_TEST(shares_are_within_three_sigma_of_the_truth)
{
	static struct fg_sampled samples[MOMENTS];
	const size_t count = sample(samples, true);
	const double truth = (double)FIRST_US / BURST_US;
	const struct shares before = add_up(samples, count);
	struct shares shares;

	fg_samples_level(samples, count);
	shares = add_up(samples, count);
	assert_true(count > 3000);
	assert_true(before.effective < 0.6 * (double)count);
	assert_true(shares.effective > 0.9 * (double)count);
	assert_true(fabs(shares.of[FIRST] - truth) <
		    3 * sqrt(truth * (1 - truth) / shares.effective));
	assert_true(shares.of[ASLEEP] < 0.001);
	assert_true(fabs(shares.sum - before.sum) < 1);
}

FG_TEST(stops_of_threads_that_queued_would_not_be)
{
	static struct fg_sampled samples[MOMENTS];
	const struct shares shares = add_up(samples, sample(samples, false));

	assert_true(shares.of[ASLEEP] > 0.05);
}

FG_TEST(a_longer_period_weighs_more_and_few_samples_are_one_group)
{
	struct fg_sampled samples[] = {{.period_ns = 10, .weight_ns = 1},
				       {.period_ns = 30, .weight_ns = 77},
				       {.period_ns = 10, .weight_ns = 22}};

	fg_samples_level(samples, 3);
	assert_int_equal(samples[0].weight_ns, 20);
	assert_int_equal(samples[1].weight_ns, 60);
	assert_int_equal(samples[2].weight_ns, 20);
	fg_samples_level(NULL, 0);
}

FG_TEST(time_far_away_keeps_its_own_weight)
{
	struct fg_sampled samples[32];

	for (unsigned i = 0; i < 32; i++)
		samples[i] = (struct fg_sampled){.period_ns = 10, .weight_ns = i < 16 ? 5 : 9};
	fg_samples_level(samples, 32);
	assert_int_equal(samples[15].weight_ns, 5);
	assert_int_equal(samples[16].weight_ns, 9);
}

FG_TEST(a_thread_that_we_pushed_off_its_cpu_counts)
{
	const struct fg_moment moment = {.at_ns = 1000, .account = {.used_ns = 50, .queued_ns = 7}};
	const struct fg_cpu_account ours = {.used_ns = 60, .queued_ns = 207};
	const struct fg_cpu_account before = {.used_ns = 60, .queued_ns = 208};

	assert_int_equal(fg_sample_weight(&moment, &ours, 1200, 20), 40);
	assert_int_equal(fg_sample_weight(&moment, &before, 1200, 20), 0);
	assert_int_equal(fg_sample_weight(&moment, &ours, 1200, 60), 0);
}

FG_TEST(an_account_is_read_only_when_it_is_whole)
{
	struct fg_cpu_account account;

	assert_true(fg_cpu_account_parse("123 45 6\n", &account));
	assert_int_equal(account.used_ns, 123);
	assert_int_equal(account.queued_ns, 45);
	assert_false(fg_cpu_account_parse("123\n", &account));
	assert_false(fg_cpu_account_parse("", &account));
}
