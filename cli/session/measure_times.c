// SPDX-License-Identifier: Apache-2.0
#include "cli/session/measure_times.h"

#include "base/number.h"
#include "gate/gate.h"
#include "gate/naming_pairs.h"
#include "gate/placement.h"

#include <math.h>

/*
 * Every series of the job (a harness has several) is decided by itself; the job goes on while one
 * is undecided.
 */
static bool is_decided(struct fg_session *session, const struct fg_runner_job *job,
		       const struct fg_benchmark *benchmark, unsigned *next_look)
{
	const size_t *indexes = NULL;
	const size_t count = fg_runner_job_series(job, &indexes);
	bool decided = true;

	*next_look = 0;
	for (size_t i = 0; i < count; i++) {
		const struct fg_series *series = &session->run.series[indexes[i]];
		struct fg_gate_progress look = {0};

		/* The same binaries on both sides: nothing to find out. */
		if (series->identical)
			continue;
		fg_gate_look(series, &benchmark->policy, &benchmark->measure, &look);
		decided = decided && look.decided;
		if (!look.decided && look.next_look > *next_look)
			*next_look = look.next_look;
		if (i == 0 || !look.decided) {
			session->look = look;
			session->has_look = true;
		}
	}
	return decided;
}

/*
 * Without a second arm there is nothing to decide: a fixed number of repetitions, twice that of the
 * first look.
 */
static int measure_alone(struct fg_runner_job *job, const struct fg_measuring *measure,
			 enum fg_runner_state *state, struct fg_error *err)
{
	const unsigned wanted = 2 * measure->min_pairs;

	return fg_runner_measure(job, wanted < measure->max_pairs ? wanted : measure->max_pairs,
				 state, err);
}

/* From look to look, until every series is decided or nothing more can be measured. */
static int measure_pairs(struct fg_session *session, struct fg_runner_job *job,
			 const struct fg_benchmark *benchmark, enum fg_runner_state *state,
			 struct fg_error *err)
{
	unsigned reached = 0;
	unsigned next_look = 0;
	int status = FG_OK;

	while (status == FG_OK && *state == FG_RUNNER_REACHED &&
	       !is_decided(session, job, benchmark, &next_look) && next_look > reached) {
		status = fg_runner_measure(job, next_look, state, err);
		reached = next_look;
		if (*state == FG_RUNNER_ANEW) {
			*state = FG_RUNNER_REACHED;
			reached = 0;
		}
	}
	if (benchmark->measure.until_sure && *state == FG_RUNNER_EXHAUSTED &&
	    !is_decided(session, job, benchmark, &next_look))
		session->is_open = true;
	return status;
}

/* A time that is slower by less than this may be so because of where the code lies. */
static const double placement_most = 1.4;

static bool is_measured_time(const struct fg_series *series, const char *name)
{
	const size_t at = fg_series_find_metric(series, name);

	return at < series->metric_count && fg_metric_is_measured_time(&series->metrics[at]);
}

/* Would it fail for a time, and may another place of the code be the reason? */
static bool is_suspect(const struct fg_session *session, const struct fg_series *series,
		       const struct fg_benchmark *benchmark)
{
	const struct fg_gate_progress *look = &session->look;

	return benchmark->measure.layouts == FG_LAYOUTS_AUTO && !benchmark->measure.until_sure &&
	       session->has_look && look->decided && look->outcome == FG_OUTCOME_REGRESSION &&
	       look->ratio < placement_most && !series->identical && !series->as_linked_metric &&
	       is_measured_time(series, look->metric) &&
	       !fg_placement_is_same_code(&series->build[FG_ARM_BASELINE],
					  &series->build[FG_ARM_CANDIDATE]);
}

/* What would fail is measured again in several layouts. */
static int vary_layout(struct fg_session *session, struct fg_runner_job *job,
		       const struct fg_benchmark *benchmark, enum fg_runner_state *state,
		       struct fg_error *err)
{
	const size_t *indexes = NULL;
	const size_t count = fg_runner_job_series(job, &indexes);
	const struct fg_series *series = count ? &session->run.series[indexes[0]] : NULL;
	const double ratio = session->look.ratio;
	char change[FG_NUMBER_TEXT_SIZE];
	struct fg_error why = {0};
	int status;

	if (count != 1 || !session->roots[FG_ARM_BASELINE] ||
	    !is_suspect(session, series, benchmark))
		return FG_OK;
	status = fg_runner_vary_layout(job, session->look.metric, ratio, &why);
	if (status == FG_EINTERRUPTED)
		return fg_error_set(err, status, "%s", why.message);
	fg_progress_clear(&session->progress);
	if (status != FG_OK) {
		fg_cli_say(
			session->cli,
			"%s: slower as it was linked; other places of its code were not tried: %s",
			series->name, why.message);
		return FG_OK;
	}
	fg_cli_say(session->cli,
		   "%s: %s as it was linked; measuring again with its code in %d places",
		   series->name, fg_format_change(ratio - 1, change), FG_LAYOUTS);
	return measure_pairs(session, job, benchmark, state, err);
}

/* From the first pair on, where the user wants that. */
static int begin_in_layouts(struct fg_session *session, struct fg_runner_job *job,
			    const struct fg_benchmark *benchmark, struct fg_error *err)
{
	const size_t *indexes = NULL;
	const size_t count = fg_runner_job_series(job, &indexes);
	const struct fg_series *series = count ? &session->run.series[indexes[0]] : NULL;
	struct fg_error why = {0};
	int status;

	if (benchmark->measure.layouts != FG_LAYOUTS_ALWAYS || benchmark->measure.until_sure ||
	    !series || series->identical || series->as_linked_metric ||
	    fg_placement_is_same_code(&series->build[FG_ARM_BASELINE],
				      &series->build[FG_ARM_CANDIDATE]))
		return FG_OK;
	status = fg_runner_vary_layout(job, "", (double)NAN, &why);
	if (status == FG_EINTERRUPTED)
		return fg_error_set(err, status, "%s", why.message);
	if (status != FG_OK)
		fg_cli_say(session->cli, "%s: other places of its code are not tried: %s",
			   series->name, why.message);
	return FG_OK;
}

/*
 * A function is known by samples, which tell less than the clock does: where it would fail, pairs
 * are measured until the slower function can stand out.  They change nothing about the verdict.
 */
static int measure_to_name(struct fg_session *session, struct fg_runner_job *job,
			   const struct fg_benchmark *benchmark, enum fg_runner_state *state,
			   struct fg_error *err)
{
	const struct fg_gate_progress *look = &session->look;
	const size_t *indexes = NULL;
	const size_t count = fg_runner_job_series(job, &indexes);
	const struct fg_series *series = count ? &session->run.series[indexes[0]] : NULL;
	unsigned wanted = 0;
	int status;

	if (count != 1 || !session->profiles[indexes[0]] || !session->has_look || !look->decided ||
	    look->outcome != FG_OUTCOME_REGRESSION || benchmark->measure.until_sure ||
	    benchmark->policy.functions == FG_FUNCTIONS_OFF ||
	    !is_measured_time(series, look->metric))
		return FG_OK;
	wanted = fg_naming_pairs(session->profiles[indexes[0]], series, look->ratio, look->pairs,
				 benchmark->measure.max_pairs);
	if (wanted == 0)
		return FG_OK;
	fg_progress_clear(&session->progress);
	fg_cli_say(session->cli, "%s: slower; measuring up to %u pairs more to tell where",
		   series->name, wanted - look->pairs);
	status = fg_runner_measure(job, wanted, state, err);
	if (status != FG_OK || *state != FG_RUNNER_ANEW)
		return status;
	/* The schedule was given up, and its pairs with it. */
	*state = FG_RUNNER_REACHED;
	return measure_pairs(session, job, benchmark, state, err);
}

/* Pairs until it is decided; where it would fail, again with the code in other places. */
int fg_session_measure_times(struct fg_session *session, struct fg_runner_job *job,
			     const struct fg_benchmark *benchmark, enum fg_runner_state *state,
			     struct fg_error *err)
{
	int status = FG_OK;

	if (benchmark->measure.exact_only)
		return FG_OK;
	if (!session->roots[FG_ARM_BASELINE])
		return measure_alone(job, &benchmark->measure, state, err);
	status = begin_in_layouts(session, job, benchmark, err);
	if (status == FG_OK)
		status = measure_pairs(session, job, benchmark, state, err);
	if (status != FG_OK || *state != FG_RUNNER_REACHED)
		return status;
	status = vary_layout(session, job, benchmark, state, err);
	if (status != FG_OK || *state != FG_RUNNER_REACHED)
		return status;
	return measure_to_name(session, job, benchmark, state, err);
}
