// SPDX-License-Identifier: Apache-2.0
/*
 * `schedule: auto` tries both schedules and keeps the schedule that reaches a verdict sooner.
 *
 * On a quiet machine the duet wins, because both arms suffer the same disturbances and a pair takes
 * half the time of a block. On a crowded machine it may lose: three tasks on one CPU get uneven
 * time slices. choice.c weighs a few observations of each schedule against prior knowledge; this
 * file makes the observations, alternating so that both schedules run under the same conditions.
 * For ABBA the trial runs half a block, A then B.
 *
 * The trial's repetitions are stored with the run but do not count for the verdict. A schedule is
 * chosen for its small spread, which biases that spread downwards: if the trial's pairs counted,
 * they would make the interval of the first look too narrow and false alarms too frequent.
 *
 * A duet is meaningful only for a program that keeps one CPU busy, and no more than one. On a
 * loaded machine CPU time / wall time is misleading: waiting for a CPU looks like idling. Therefore
 * the time that the program's main thread waited in the run queue is subtracted from the wall time
 * first.
 */
#include "base/clock.h"
#include "base/number.h"
#include "runner/job.h"
#include "runner/schedule/choice.h"

#include <math.h>

enum {
	ROUND_EXECUTIONS = 4, /* a duet pair, then A and B in turn */
	REASON_SIZE = 320,
	/* number of unusable duet pairs, without any usable pair, that ends the duet */
	APART_MAX = 4,
	/*
	 * If 12 or more of the last 16 pairs were unusable, switch to ABBA: a usable pair now costs
	 * four pairs, and in that time two blocks of ABBA give more information.
	 */
	RECENT_PAIRS = 16,
	RECENT_APART_MAX = 12,
	DUETS_PER_BLOCK = 2, /* duet pairs that take as long as one block of ABBA */
};

static const double busy_min = 0.9;
static const double crowded = 1.5; /* load per CPU above which a host is crowded */
static const double budget_share_max = 0.15;

/* Reasons why two programs cannot run as a duet, and the remedy: one short line each. */
static const char no_duet_harness[] =
	"a harness decides how long it runs, so two harnesses cannot run as a duet: give one case "
	"its own command";
static const char no_duet_parallel[] =
	"a duet needs a program that keeps exactly one CPU busy; this one uses several threads or "
	"processes at once: limit it to one thread if possible";
static const char no_duet_idle[] =
	"a duet needs a program that keeps exactly one CPU busy; this one does so for %.0f %% of "
	"its time: make it wait less for files, timers or other programs, and start it without a "
	"shell";
static const char no_duet_crowded[] =
	"a duet needs a program that keeps exactly one CPU busy; this one got %.0f %% of a CPU: "
	"the host is overloaded (load %.0f on %zu CPUs), so end other work or measure later";
static const char no_duet_same[] = "both sides run the same binaries: there is nothing to compare";
static const char no_duet_file[] =
	"both commands write their metrics to the same file, so they cannot run at once: give each "
	"its own file";
static const char no_duet_pin[] =
	"programs cannot be pinned to a CPU here, which a duet needs: allow sched_setaffinity, which "
	"some containers forbid";
static const char no_duet_apart[] =
	"the two programs do not run at the same time for long enough to be a duet: make the "
	"benchmark repeat its work";

static void settle(struct fg_runner_job *job, enum fg_schedule schedule, const char *reason)
{
	struct fg_series *series = fg_job_series(job);

	series->schedule = schedule;
	job->rules.schedule = schedule;
	free(series->schedule_reason);
	series->schedule_reason = fg_xstrdup(reason);
}

/* Do the arms write their metrics to the same files? Then they must not run at once. */
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

/*
 * The warm-up shows how much each program waits, unless a reader of its output slowed it down.
 */
bool fg_job_knows_program(const struct fg_runner_job *job)
{
	return job->warmups > 0 && !job->executor.output_moved;
}

static unsigned affordable_rounds(const struct fg_runner_job *job, double wall_seconds)
{
	const double budget_seconds =
		(double)job->benchmark->measure.budget_ns / (double)FG_NS_PER_S;
	const double rounds = budget_share_max * budget_seconds / (ROUND_EXECUTIONS * wall_seconds);

	if (job->benchmark->measure.budget_ns <= 0 || !(rounds < FG_TRIAL_ROUNDS_MAX))
		return FG_TRIAL_ROUNDS_MAX;
	return (unsigned)rounds;
}

static struct fg_choice_goal goal_of(const struct fg_benchmark *benchmark)
{
	const struct fg_metric_policy cpu_time = fg_policy_metric(&benchmark->policy, "cpu_time");

	return (struct fg_choice_goal){.min_pairs = benchmark->measure.min_pairs,
				       .margin = cpu_time.margin};
}

static bool is_apart(const struct fg_contender *duet)
{
	return duet->refused > duet->trial.count;
}

/* Ends a round of both schedules: decides whether more rounds are worth their time. */
static void end_round(struct fg_runner_job *job)
{
	struct fg_competition *c = &job->competition;
	const struct fg_choice_goal goal = goal_of(job->benchmark);

	c->round++;
	if (c->round >= FG_TRIAL_ROUNDS_FIRST && is_apart(&c->duet))
		c->is_over = true;
	else if (c->round >= FG_TRIAL_ROUNDS_FIRST && c->duet.trial.count >= 2 &&
		 c->abba.trial.count >= 2)
		c->choice = fg_choice_make(&goal, &c->duet.trial, &c->abba.trial);
	c->is_over |= c->choice.settled || c->round >= c->rounds;
}

static void settle_winner(struct fg_runner_job *job)
{
	const struct fg_competition *c = &job->competition;
	char as_duet[FG_NUMBER_TEXT_SIZE];
	char as_abba[FG_NUMBER_TEXT_SIZE];
	char duet_spread[FG_NUMBER_TEXT_SIZE];
	char abba_spread[FG_NUMBER_TEXT_SIZE];
	char reason[REASON_SIZE];

	if (is_apart(&c->duet) || c->choice.schedule == FG_SCHEDULE_AUTO) {
		settle(job, FG_SCHEDULE_ABBA, no_duet_apart);
		return;
	}
	(void)snprintf(
		reason, sizeof(reason),
		"%s decides faster here: a verdict is expected after %s with duet and after %s "
		"with abba (pairs scatter by %s and %s; %zu pairs of each were tried)",
		c->choice.schedule == FG_SCHEDULE_DUET ? "duet" : "abba",
		fg_format_duration(c->choice.duet_seconds * (double)FG_NS_PER_S, as_duet),
		fg_format_duration(c->choice.abba_seconds * (double)FG_NS_PER_S, as_abba),
		fg_format_without_sign(
			fg_format_change(fg_trial_spread(&c->duet.trial), duet_spread)),
		fg_format_without_sign(
			fg_format_change(fg_trial_spread(&c->abba.trial), abba_spread)),
		c->abba.trial.count);
	settle(job, c->choice.schedule, reason);
}

static void begin_competition(struct fg_runner_job *job, unsigned rounds)
{
	job->competition = (struct fg_competition){.duet.rules = job->rules,
						   .abba.rules = job->rules,
						   .choice.schedule = FG_SCHEDULE_AUTO,
						   .rounds = rounds};
	job->competition.duet.rules.schedule = FG_SCHEDULE_DUET;
	job->competition.abba.rules.schedule = FG_SCHEDULE_ABBA;
	/* draws that differ from the draws of the measured pairs */
	job->competition.duet.rules.seed = ~job->rules.seed;
	job->competition.abba.rules.seed = ~job->rules.seed;
}

bool fg_job_plan_trial(struct fg_runner_job *job)
{
	const struct fg_competition *c = &job->competition;

	if (c->is_over) {
		settle_winner(job);
		return false;
	}
	if (c->is_abbas_turn)
		fg_schedule_solo(&c->abba.rules, c->round, &job->block);
	else
		fg_schedule_pair(&c->duet.rules, c->round, &job->block);
	job->block.aside = FG_ASIDE_TRIAL;
	return true;
}

void fg_job_take_trial(struct fg_runner_job *job)
{
	struct fg_competition *c = &job->competition;
	struct fg_contender *contender = c->is_abbas_turn ? &c->abba : &c->duet;
	double means[FG_ARM_COUNT];

	contender->trial.seconds += fg_job_series(job)->seconds - job->seconds_before;
	fg_job_last_means(job, FG_METRIC_CPU_TIME, means);
	if (job->last_aside & FG_ASIDE_APART)
		contender->refused++;
	else if (means[FG_ARM_BASELINE] > 0 && means[FG_ARM_CANDIDATE] > 0)
		contender->trial.differences[contender->trial.count++] =
			log(means[FG_ARM_CANDIDATE] / means[FG_ARM_BASELINE]);
	if (c->is_abbas_turn)
		end_round(job);
	c->is_abbas_turn = !c->is_abbas_turn;
}

static unsigned apart_among(const struct fg_runner_job *job, unsigned pairs)
{
	unsigned apart = 0;

	for (unsigned i = 0; i < pairs; i++)
		apart += job->apart >> i & 1;
	return apart;
}

/*
 * Is there time for the first look at blocks of ABBA? If not, continue with the few pairs that
 * count.
 */
static bool has_time_for_blocks(const struct fg_runner_job *job)
{
	const struct fg_measuring *measure = &job->benchmark->measure;
	const double spent = fg_job_series(job)->seconds - job->earlier_seconds;
	const double wanted = DUETS_PER_BLOCK * measure->min_pairs * job->pair_seconds;

	return measure->budget_ns <= 0 ||
	       spent + wanted <= (double)measure->budget_ns / (double)FG_NS_PER_S;
}

/*
 * A short program may have been lucky in the trial, and a machine may become crowded. The overlap
 * of two programs does not show which of them is slower, so this choice does not bias the verdict;
 * the decision accounts for the error probability that looks at earlier pairs have spent. With
 * `until_sure`, pairs that count are never given up.
 */
bool fg_job_reconsider(struct fg_runner_job *job)
{
	const struct fg_measuring *measure = &job->benchmark->measure;
	const unsigned apart = apart_among(job, RECENT_PAIRS);
	const unsigned recent = job->pairs < RECENT_PAIRS ? job->pairs : RECENT_PAIRS;
	const bool in_vain = job->counting == 0 && apart >= APART_MAX;
	const bool mostly = !measure->until_sure && apart >= RECENT_APART_MAX;
	char reason[REASON_SIZE];

	if (measure->schedule != FG_SCHEDULE_AUTO || job->rules.schedule != FG_SCHEDULE_DUET ||
	    !(in_vain || (mostly && has_time_for_blocks(job))))
		return false;
	(void)snprintf(
		reason, sizeof(reason),
		"in %u of the last %u pairs the two programs ran together for less than 80 %% of "
		"their time or left processes running, so they now run one after the other (the "
		"pairs so far are set aside); for a duet, make the benchmark repeat its work and "
		"wait for its processes",
		apart, recent);
	fg_job_set_aside(job, FG_ASIDE_GIVEN_UP);
	job->timed = 0;
	job->pair_seconds = 0;
	settle(job, FG_SCHEDULE_ABBA, reason);
	fg_job_note(job, reason);
	return true;
}

/* Explains why the CPU was not busy: the host is overloaded, or the program waits. */
static void describe_idle(const struct fg_runner_job *job, double busy, char reason[REASON_SIZE])
{
	const struct fg_series *series = fg_job_series(job);
	const size_t count = series->repetition_count;
	const double load = count ? (double)series->repetitions[count - 1].load : 0;

	if (load > crowded * (double)job->rules.cpu_count)
		(void)snprintf(reason, REASON_SIZE, no_duet_crowded, 100 * busy, load,
			       job->rules.cpu_count);
	else
		(void)snprintf(reason, REASON_SIZE, no_duet_idle, 100 * busy);
}

void fg_job_begin_choice(struct fg_runner_job *job)
{
	double wall_ns[FG_ARM_COUNT];
	char reason[REASON_SIZE];
	unsigned rounds = 0;
	double busy = 0;

	if (job->benchmark->harness != FG_HARNESS_NONE) {
		settle(job, FG_SCHEDULE_ABBA, no_duet_harness);
		return;
	}
	if (fg_job_series(job)->identical) {
		settle(job, FG_SCHEDULE_ABBA, no_duet_same);
		return;
	}
	fg_job_last_means(job, FG_METRIC_WALL_TIME, wall_ns);
	busy = fmin(job->busy[FG_ARM_BASELINE], job->busy[FG_ARM_CANDIDATE]);
	if (!(busy >= busy_min)) {
		describe_idle(job, busy, reason);
		settle(job, FG_SCHEDULE_ABBA, busy > 0 ? reason : no_duet_parallel);
		return;
	}
	if (!job->rules.cpu_count || shares_files(job)) {
		settle(job, FG_SCHEDULE_ABBA, job->rules.cpu_count ? no_duet_file : no_duet_pin);
		return;
	}
	rounds = affordable_rounds(job, (wall_ns[0] + wall_ns[1]) / 2 / (double)FG_NS_PER_S);
	if (rounds < FG_TRIAL_ROUNDS_FIRST)
		settle(job, FG_SCHEDULE_DUET,
		       "one busy thread; trying both schedules would take too much of the budget");
	else
		begin_competition(job, rounds);
}
