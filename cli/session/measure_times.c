// SPDX-License-Identifier: Apache-2.0
#include "cli/session/measure_times.h"

#include "cli/session/repetitions.h"
#include "gate/next_step.h"

static const enum fg_step_result results[] = {
	[FG_RUNNER_REACHED] = FG_STEP_DONE,      [FG_RUNNER_EXHAUSTED] = FG_STEP_EXHAUSTED,
	[FG_RUNNER_ANEW] = FG_STEP_GIVEN_UP,     [FG_RUNNER_FAILED] = FG_STEP_ENDED,
	[FG_RUNNER_INTERRUPTED] = FG_STEP_ENDED,
};

/* Announces the next step and its reason. */
static void explain(struct fg_session *session, const struct fg_situation *now,
		    const struct fg_step *step)
{
	const char *name = now->series_count ? now->run->series[now->series[0]].name : "";

	if (!*step->text)
		return;
	if (step->is_detail) {
		fg_cli_detail(session->cli, "%s: %s", name, step->text);
		return;
	}
	fg_progress_clear(&session->progress);
	fg_cli_say(session->cli, "%s: %s", name, step->text);
}

/* If layouts cannot be linked, that is not an error; `why` has the reason. */
static int link_layouts(struct fg_runner_job *job, const struct fg_next_step *machine,
			const struct fg_step *step, enum fg_step_result *result,
			struct fg_error *why)
{
	const int status =
		step->action == FG_STEP_LAYOUTS
			? fg_runner_vary_layout(job, machine->look.metric, machine->look.ratio, why)
			: fg_runner_begin_in_layouts(job, step->only_if_cheap, why);

	*result = status == FG_OK ? FG_STEP_DONE : FG_STEP_REFUSED;
	return status == FG_EINTERRUPTED ? status : FG_OK;
}

struct doing {
	struct fg_session *session;
	struct fg_runner_job *job;
	struct fg_next_step machine;
	struct fg_step step;
	enum fg_step_result result;
	enum fg_runner_state *state;
	struct fg_error why;
};

static int do_step(struct doing *doing, struct fg_error *err)
{
	int status = FG_OK;

	doing->result = FG_STEP_DONE;
	switch (doing->step.action) {
	case FG_STEP_STOP:
	case FG_STEP_SAY:
		break;
	case FG_STEP_PAIRS:
		status = fg_session_measure_pairs(doing->session, doing->job, doing->step.pairs,
						  doing->state, err);
		doing->result = results[*doing->state];
		break;
	case FG_STEP_BEGIN_IN_LAYOUTS:
	case FG_STEP_LAYOUTS:
		status = link_layouts(doing->job, &doing->machine, &doing->step, &doing->result,
				      &doing->why);
		if (status != FG_OK)
			status = fg_error_set(err, status, "%s", doing->why.message);
		else if (doing->result == FG_STEP_DONE)
			status = fg_session_give_up_pairs(doing->session, doing->job, err);
		break;
	}
	return status;
}

/* The cases of a harness only become known while it is measured. */
static struct fg_situation situation_of(const struct fg_session *session,
					const struct fg_runner_job *job,
					const struct fg_benchmark *benchmark, const char *why)
{
	struct fg_situation now = {
		.run = &session->run,
		.policy = &benchmark->policy,
		.measure = &benchmark->measure,
		.has_baseline = session->roots[FG_ARM_BASELINE] != NULL,
		.why = why,
	};

	now.series_count = fg_runner_job_series(job, &now.series);
	if (now.series_count && now.series[0] < session->profile_count)
		now.profile = session->profiles[now.series[0]];
	return now;
}

int fg_session_measure_times(struct fg_session *session, struct fg_runner_job *job,
			     const struct fg_benchmark *benchmark, enum fg_runner_state *state,
			     struct fg_error *err)
{
	struct doing doing = {.session = session, .job = job, .state = state};
	int status = fg_session_measure_pairs(session, job, 0, state, err);

	if (status != FG_OK || *state != FG_RUNNER_REACHED)
		return status;

	do {
		const struct fg_situation now =
			situation_of(session, job, benchmark, doing.why.message);

		fg_next_step(&doing.machine, &now, doing.result, &doing.step);
		session->look = doing.machine.look;
		session->has_look = doing.machine.has_look;
		explain(session, &now, &doing.step);
		status = do_step(&doing, err);
	} while (status == FG_OK && doing.step.action != FG_STEP_STOP);
	if (*state == FG_RUNNER_ANEW)
		*state = FG_RUNNER_REACHED;
	session->is_open |= doing.machine.is_open;
	return status;
}
