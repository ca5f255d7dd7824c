// SPDX-License-Identifier: Apache-2.0
/* Chooses the next block of a job, and accounts for a block that has ended. */
#include "base/clock.h"
#include "runner/job.h"

/* Limits for a schedule that keeps setting pairs aside. */
enum {
	ATTEMPTS_PER_PAIR = 3,
	ATTEMPTS_EXTRA = 10
};

static bool is_exhausted(const struct fg_runner_job *job)
{
	const struct fg_measuring *measure = &job->benchmark->measure;
	const double budget_seconds = (double)measure->budget_ns / (double)FG_NS_PER_S;
	const double spent = fg_job_series(job)->seconds - job->earlier_seconds;
	const uint32_t tried = job->pairs - job->earlier_pairs;

	/* Pairs of a schedule that was given up do not count as attempts. */
	const uint32_t before =
		job->given_up > job->earlier_pairs ? job->given_up : job->earlier_pairs;

	if (job->counting - job->earlier_counting >= measure->max_pairs ||
	    job->pairs - before >= ATTEMPTS_PER_PAIR * measure->max_pairs + ATTEMPTS_EXTRA)
		return true;
	return measure->budget_ns > 0 && !job->exceeds_budget && tried > 0 &&
	       spent + job->pair_seconds > budget_seconds;
}

static bool plan_warmup(struct fg_runner_job *job)
{
	struct fg_schedule_rules rules = job->rules;

	if (job->warmups >= job->benchmark->measure.warmup)
		return false;
	if (rules.schedule == FG_SCHEDULE_AUTO)
		rules.schedule = FG_SCHEDULE_ABBA;
	fg_schedule_warmup(&rules, job->warmups, &job->block);
	return true;
}

static bool plan_look(struct fg_runner_job *job)
{
	if (job->rules.schedule != FG_SCHEDULE_AUTO || fg_job_knows_program(job))
		return false;
	fg_schedule_solo(&job->rules, 0, &job->block);
	job->block.aside |= FG_ASIDE_TRIAL;
	return true;
}

/* Plans the next step before the first pair; false if all steps are done. */
static bool plan_preparation(struct fg_runner_job *job)
{
	if (job->stage == FG_JOB_WARMUP) {
		if (plan_warmup(job))
			return true;
		if (!job->keeps_rate)
			fg_job_settle_rate(job);
		job->stage = FG_JOB_LOOK;
		if (plan_look(job))
			return true;
	}
	if (job->stage == FG_JOB_LOOK) {
		job->stage = FG_JOB_COMPETE;
		if (job->rules.schedule == FG_SCHEDULE_AUTO)
			fg_job_begin_choice(job);
	}
	if (job->stage == FG_JOB_COMPETE) {
		if (job->rules.schedule == FG_SCHEDULE_AUTO && fg_job_plan_trial(job))
			return true;
		job->stage = FG_JOB_READY;
	}
	if (job->stage == FG_JOB_READY) {
		fg_job_settle_coverage(job);
		job->stage = FG_JOB_PAIR;
	}
	return false;
}

/* Plans the next block: a pair, a solo block or a cost block. */
static void plan_pair(struct fg_runner_job *job)
{
	const double share = job->benchmark->measure.sampler.unsampled_share;

	if (fg_schedule_solo_due(&job->rules, job->pairs, job->solos)) {
		job->stage = FG_JOB_SOLO;
		fg_schedule_solo(&job->rules, job->solos, &job->block);
	} else if (fg_schedule_cost_due(&job->rules, share, job->pairs, job->costs)) {
		job->stage = FG_JOB_COST;
		fg_schedule_cost(&job->rules, job->costs, &job->block);
	} else {
		job->stage = FG_JOB_PAIR;
		fg_schedule_pair(&job->rules, job->pairs, &job->block);
	}
}

int fg_job_plan(struct fg_runner_job *job, enum fg_runner_state *state, struct fg_error *err)
{
	if (job->stage == FG_JOB_LAYOUTS) {
		FG_TRY(fg_job_series(job)->as_linked_metric ? fg_job_resume_layouts(job, err)
							    : FG_OK);
		job->stage = FG_JOB_WARMUP;
	}
	*state = FG_RUNNER_BEGINS;
	job->seconds_before = fg_job_series(job)->seconds;
	if (plan_preparation(job))
		return FG_OK;
	if (job->counting >= job->wanted)
		*state = FG_RUNNER_REACHED;
	else if (is_exhausted(job))
		*state = FG_RUNNER_EXHAUSTED;
	else
		plan_pair(job);
	return FG_OK;
}

static void take_pair(struct fg_runner_job *job)
{
	const double took = fg_job_series(job)->seconds - job->seconds_before;

	job->pairs++;
	job->timed++;
	job->pair_seconds += (took - job->pair_seconds) / job->timed;
	job->apart = job->apart << 1 | ((job->last_aside & FG_ASIDE_APART) != 0);
	job->has_restarted = fg_job_reconsider(job);
}

void fg_job_take_block(struct fg_runner_job *job)
{
	switch (job->stage) {
	case FG_JOB_WARMUP:
		job->warmups++;
		break;
	case FG_JOB_COMPETE:
		fg_job_take_trial(job);
		break;
	case FG_JOB_PAIR:
		take_pair(job);
		break;
	case FG_JOB_SOLO:
		job->solos++;
		break;
	case FG_JOB_COST:
		job->costs++;
		break;
	case FG_JOB_LAYOUTS:
	case FG_JOB_LOOK:
	case FG_JOB_READY:
		break;
	}
}
