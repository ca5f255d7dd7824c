// SPDX-License-Identifier: Apache-2.0
/*
 * `schedule: auto`: try both, keep the one that learns faster.
 *
 * The interval of a verdict shrinks with spread / sqrt(pairs), and pairs cost time; so what counts is spread² × seconds of one pair.  On
 * a quiet machine the duet wins by far, because both arms see the same disturbances.  On a crowded one it may lose: three tasks on one
 * CPU are dealt their slices unevenly.  Nothing but trying tells.
 *
 * Example: duet 2.3 % in 0.2 s, one after the other 10.4 % in 0.2 s: 0.023² against 0.104², duet by a factor of 20.
 *
 * Tried for ABBA is half a block, A then B: a block is two of them, with half the variance in twice the time, so the product is the same.
 * The spread is the mean absolute deviation from the median: with so few values a square would let one accident decide.  Three pairs
 * of each are enough where one is clearly better or both are so quiet that it does not matter, six in any case.
 *
 * The trial's repetitions are kept with the run and take no part in the verdict.  They were chosen for a small spread, and a spread that was
 * chosen is too small: counted among the ten pairs of the first look, they would make its interval too narrow and false alarms
 * too frequent.
 *
 * A duet means something only for a program that keeps one CPU busy, and no more than one.  On a loaded machine CPU time / wall time
 * does not tell: waiting for a CPU looks like idling.  Therefore the time that the program's main thread stood in the run queue is taken
 * off the wall time first.
 */
#include "base/clock.h"
#include "runner/job.h"

#include <math.h>

enum {
	ROUNDS_FIRST = 3, /* of each schedule, before the first look */
	ROUNDS_MAX = 6,
	ROUND_EXECUTIONS = 4, /* two pairs */
	REASON_SIZE = 256,
};

static const double busy_min = 0.9;
static const double budget_share_max = 0.15;
/*
 * Times cheaper: no further rounds.  Two spreads squared of three values each differ by 30 or more for no reason once in thirty times (F
 * with 2 and 2 degrees of freedom); by 4 it would be once in five.
 */
static const double clearly = 30;
static const double quiet_enough = 0.005; /* spread of both: no further rounds */

struct contender {
	struct fg_schedule_rules rules;
	double observations[ROUNDS_MAX];
	unsigned count;
	unsigned refused; /* set aside for too little overlap */
	double seconds;
};

static int compare_doubles(const void *a, const void *b)
{
	const double x = *(const double *)a;
	const double y = *(const double *)b;

	return (x > y) - (x < y);
}

static double spread(const struct contender *contender)
{
	double sorted[ROUNDS_MAX];
	double middle = 0;
	double sum = 0;

	if (contender->count < 2)
		return (double)INFINITY;
	memcpy(sorted, contender->observations, contender->count * sizeof(double));
	qsort(sorted, contender->count, sizeof(double), compare_doubles);
	middle = (sorted[(contender->count - 1) / 2] + sorted[contender->count / 2]) / 2;
	for (unsigned i = 0; i < contender->count; i++)
		sum += fabs(sorted[i] - middle);
	return sum / contender->count;
}

static double seconds_each(const struct contender *contender)
{
	const unsigned tried = contender->count + contender->refused;

	return tried ? contender->seconds / tried : 0;
}

static double cost(const struct contender *contender)
{
	const double deviation = spread(contender);

	return deviation * deviation * seconds_each(contender);
}

/* One observation of one contender. */
static int try_once(struct fg_runner_job *job, struct contender *contender, uint32_t n,
		    struct fg_error *err)
{
	const double before = fg__job_series(job)->seconds;
	double means[FG_ARM_COUNT];
	struct fg_block block;
	int status = FG_OK;

	if (contender->rules.schedule == FG_SCHEDULE_DUET)
		fg_schedule_pair(&contender->rules, n, &block);
	else
		fg_schedule_solo(&contender->rules, n, &block);
	block.aside = FG_ASIDE_TRIAL;
	fg__job_progress(job, FG_RUNNER_TRIAL);
	status = fg__job_block(job, &block, err);
	if (status != FG_OK)
		return status;
	contender->seconds += fg__job_series(job)->seconds - before;
	fg__job_last_means(job, FG_METRIC_CPU_TIME, means);
	if (job->last_aside & FG_ASIDE_OVERLAP)
		contender->refused++;
	else if (means[FG_ARM_BASELINE] > 0 && means[FG_ARM_CANDIDATE] > 0)
		contender->observations[contender->count++] =
			log(means[FG_ARM_CANDIDATE] / means[FG_ARM_BASELINE]);
	return FG_OK;
}

static void settle(struct fg_runner_job *job, enum fg_schedule schedule, const char *reason)
{
	struct fg_series *series = fg__job_series(job);

	series->schedule = schedule;
	job->rules.schedule = schedule;
	free(series->schedule_reason);
	series->schedule_reason = fg_xstrdup(reason);
}

/* Both arms must share nothing that two programs at once would fight over. */
static bool shares_files(const struct fg_runner_job *job)
{
	const struct fg_target *targets = job->executor.targets;

	if (strcmp(targets[0].working_directory, targets[1].working_directory) != 0)
		return false;
	for (size_t i = 0; i < job->benchmark->metric_count; i++) {
		if (job->benchmark->metrics[i].file)
			return true;
	}
	return false;
}

/* Executions are known from the warm-up; without one, each arm runs once now. */
static int know_the_program(struct fg_runner_job *job, struct fg_error *err)
{
	struct fg_block block;

	if (job->warmups > 0)
		return FG_OK;
	fg_schedule_solo(&job->rules, 0, &block);
	block.aside |= FG_ASIDE_TRIAL;
	fg__job_progress(job, FG_RUNNER_TRIAL);
	return fg__job_block(job, &block, err);
}

static unsigned affordable_rounds(const struct fg_runner_job *job, double wall_seconds)
{
	const double budget_seconds =
		(double)job->benchmark->measure.budget_ns / (double)FG_NS_PER_S;
	const double rounds = budget_share_max * budget_seconds / (ROUND_EXECUTIONS * wall_seconds);

	if (job->benchmark->measure.budget_ns <= 0 || !(rounds < ROUNDS_MAX))
		return ROUNDS_MAX;
	return (unsigned)rounds;
}

static bool is_settled(const struct contender *a, const struct contender *b)
{
	return cost(a) * clearly < cost(b) || cost(b) * clearly < cost(a) ||
	       (spread(a) < quiet_enough && spread(b) < quiet_enough);
}

static int compete(struct fg_runner_job *job, unsigned rounds, struct fg_error *err)
{
	struct contender duet = {.rules = job->rules};
	struct contender abba = {.rules = job->rules};
	char reason[REASON_SIZE];
	bool duet_wins = false;

	duet.rules.schedule = FG_SCHEDULE_DUET;
	abba.rules.schedule = FG_SCHEDULE_ABBA;
	duet.rules.seed = abba.rules.seed =
		~job->rules.seed; /* other draws than the measured pairs */
	for (unsigned round = 0; round < rounds; round++) {
		int status = try_once(job, &duet, round, err);

		if (status == FG_OK)
			status = try_once(job, &abba, round, err);
		if (status != FG_OK)
			return status;
		if (round + 1 == ROUNDS_FIRST && is_settled(&duet, &abba))
			break;
	}
	if (duet.refused > duet.count) {
		settle(job, FG_SCHEDULE_ABBA,
		       "the two programs do not run at the same time for long enough to be a duet");
		return FG_OK;
	}
	duet_wins = cost(&duet) <= cost(&abba);
	(void)snprintf(
		reason, sizeof(reason),
		"%s learns faster here: a duet pair scatters by %.2g %% and takes %.2g s, one after the other by %.2g %% and %.2g s",
		duet_wins ? "duet" : "abba", 100 * spread(&duet), seconds_each(&duet),
		100 * spread(&abba), seconds_each(&abba));
	settle(job, duet_wins ? FG_SCHEDULE_DUET : FG_SCHEDULE_ABBA, reason);
	return FG_OK;
}

int fg__job_choose(struct fg_runner_job *job, struct fg_error *err)
{
	double wall_ns[FG_ARM_COUNT];
	char reason[REASON_SIZE];
	unsigned rounds = 0;
	double busy = 0;
	int status = know_the_program(job, err);

	if (status != FG_OK)
		return status;
	if (job->benchmark->harness != FG_HARNESS_NONE) {
		settle(job, FG_SCHEDULE_ABBA,
		       "a harness decides by itself how long it runs, so two of them are no duet");
		return FG_OK;
	}
	fg__job_last_means(job, FG_METRIC_WALL_TIME, wall_ns);
	busy = fmin(job->busy[FG_ARM_BASELINE], job->busy[FG_ARM_CANDIDATE]);
	if (!(busy >= busy_min)) {
		(void)snprintf(
			reason, sizeof(reason),
			"a duet needs a program that keeps exactly one CPU busy; this one does so for %.0f %% of its time",
			100 * (busy > 0 ? busy : 0));
		settle(job, FG_SCHEDULE_ABBA, reason);
		return FG_OK;
	}
	if (!job->rules.cpu_count || shares_files(job)) {
		settle(job, FG_SCHEDULE_ABBA,
		       job->rules.cpu_count
			       ? "both commands write their metrics to the same file, so they cannot run at once"
			       : "programs cannot be pinned to a CPU here, which a duet needs");
		return FG_OK;
	}
	rounds = affordable_rounds(job, (wall_ns[0] + wall_ns[1]) / 2 / (double)FG_NS_PER_S);
	if (rounds < ROUNDS_FIRST) {
		settle(job, FG_SCHEDULE_DUET,
		       "one busy thread; trying both schedules would take too much of the budget");
		return FG_OK;
	}
	return compete(job, rounds, err);
}
