// SPDX-License-Identifier: Apache-2.0
#include "cli/session/measure_times.h"

#include "base/number.h"
#include "gate/gate.h"
#include "gate/looks.h"
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

/* NULL: there is none yet. */
static const struct fg_series *first_series(const struct fg_session *session,
					    const struct fg_runner_job *job)
{
	const size_t *indexes = NULL;

	return fg_runner_job_series(job, &indexes) ? &session->run.series[indexes[0]] : NULL;
}

/* NULL: it has the cases of a harness. */
static const struct fg_series *only_series(const struct fg_session *session,
					   const struct fg_runner_job *job)
{
	const size_t *indexes = NULL;

	return fg_runner_job_series(job, &indexes) == 1 ? first_series(session, job) : NULL;
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
	const struct fg_series *series = only_series(session, job);
	const double ratio = session->look.ratio;
	char change[FG_NUMBER_TEXT_SIZE];
	struct fg_error why = {0};
	int status;

	if (!series || !session->roots[FG_ARM_BASELINE] || !is_suspect(session, series, benchmark))
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
		   "%s: %s as it was linked; measuring again with its code in %u places",
		   series->name, fg_format_change(ratio - 1, change), series->layouts);
	return measure_pairs(session, job, benchmark, state, err);
}

/* Is there a time that could fail, and be slower by where the code lies? */
static bool gates_a_time(const struct fg_series *series, const struct fg_benchmark *benchmark)
{
	for (size_t i = 0; i < series->metric_count; i++) {
		const struct fg_metric *metric = &series->metrics[i];

		if (fg_metric_is_measured_time(metric) &&
		    fg_policy_metric(&benchmark->policy, metric->name).gated)
			return true;
	}
	return false;
}

/*
 * By itself where the code did change, so that its place did.  Not where what is slower only as it
 * was linked is to fail: that has to be measured, too.
 */
static bool begins_in_layouts(const struct fg_series *series, const struct fg_benchmark *benchmark)
{
	const struct fg_environment *baseline = &series->build[FG_ARM_BASELINE];
	const struct fg_environment *candidate = &series->build[FG_ARM_CANDIDATE];
	const struct fg_measuring *measure = &benchmark->measure;

	if (measure->layouts == FG_LAYOUTS_NEVER || measure->until_sure || series->identical ||
	    series->as_linked_metric)
		return false;
	if (measure->layouts == FG_LAYOUTS_ALWAYS)
		return !fg_placement_is_same_code(baseline, candidate);
	return !benchmark->policy.fail_on_placement && measure->max_pairs >= 2 * FG_LINE_PLACES &&
	       gates_a_time(series, benchmark) && fg_placement_is_other_code(baseline, candidate);
}

/* From the first pair on. */
static int begin_in_layouts(struct fg_session *session, struct fg_runner_job *job,
			    const struct fg_benchmark *benchmark, struct fg_error *err)
{
	const bool is_asked_for = benchmark->measure.layouts == FG_LAYOUTS_ALWAYS;
	const struct fg_series *series = first_series(session, job);
	struct fg_error why = {0};
	int status;

	if (!series || !begins_in_layouts(series, benchmark))
		return FG_OK;
	status = fg_runner_begin_in_layouts(job, !is_asked_for, &why);
	if (status == FG_EINTERRUPTED)
		return fg_error_set(err, status, "%s", why.message);
	if (status == FG_OK)
		return FG_OK;
	if (is_asked_for)
		fg_cli_say(session->cli, "%s: other places of its code are not tried: %s",
			   series->name, why.message);
	else
		fg_cli_detail(session->cli, "%s: measured as it was linked: %s", series->name,
			      why.message);
	return FG_OK;
}

/* ---- to be sure ---- */

/* More pairs, until it is sure or they do not help. */
static int add_evidence(struct fg_session *session, struct fg_runner_job *job,
			const struct fg_benchmark *benchmark, enum fg_runner_state *state,
			enum fg_evidence *evidence, struct fg_error *err)
{
	const struct fg_gate_progress failed = session->look;
	unsigned next_look = 0;
	int status = FG_OK;

	for (;;) {
		*evidence = fg_gate_weigh(only_series(session, job), &benchmark->policy,
					  &benchmark->measure, &failed, &next_look);
		if (*evidence != FG_EVIDENCE_MORE)
			return FG_OK;
		status = fg_runner_measure(job, next_look, state, err);
		if (status != FG_OK || *state != FG_RUNNER_REACHED)
			return status;
		session->look.pairs = next_look;
	}
}

/*
 * What is measured in layouts from the beginning fails no sooner by chance than what was measured
 * again in them.  Where that is still in doubt after twice the pairs, it is found once more or not
 * at all.
 */
static int confirm(struct fg_session *session, struct fg_runner_job *job,
		   const struct fg_benchmark *benchmark, enum fg_runner_state *state,
		   struct fg_error *err)
{
	const struct fg_gate_progress *look = &session->look;
	const struct fg_series *series = only_series(session, job);
	enum fg_evidence evidence = FG_EVIDENCE_MORE;
	int status = FG_OK;

	if (!series || !series->as_linked_metric || *series->as_linked_metric ||
	    fg_series_is_measured_anew(series) || !session->has_look || !look->decided ||
	    look->outcome != FG_OUTCOME_REGRESSION || !(look->ratio < placement_most) ||
	    !is_measured_time(series, look->metric))
		return FG_OK;
	status = add_evidence(session, job, benchmark, state, &evidence, err);
	if (status != FG_OK || evidence == FG_EVIDENCE_SURE ||
	    (*state != FG_RUNNER_REACHED && *state != FG_RUNNER_EXHAUSTED &&
	     *state != FG_RUNNER_ANEW))
		return status;
	fg_progress_clear(&session->progress);
	fg_cli_say(session->cli, "%s: slower, but not beyond doubt; measuring again", series->name);
	/* Where the schedule was given up, its pairs are set aside already. */
	if (*state != FG_RUNNER_ANEW)
		status = fg_runner_measure_anew(job, err);
	*state = FG_RUNNER_REACHED;
	if (status != FG_OK)
		return status;
	return measure_pairs(session, job, benchmark, state, err);
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
	const struct fg_series *series = only_series(session, job);
	const struct fg_profile_set *profile =
		series ? session->profiles[series - session->run.series] : NULL;
	unsigned wanted = 0;
	int status;

	if (!profile || !session->has_look || !look->decided ||
	    look->outcome != FG_OUTCOME_REGRESSION || benchmark->measure.until_sure ||
	    benchmark->policy.functions == FG_FUNCTIONS_OFF ||
	    !is_measured_time(series, look->metric))
		return FG_OK;
	wanted = fg_naming_pairs(
		profile, series, look->ratio, look->pairs,
		(unsigned)fg_min_size(benchmark->measure.max_pairs, FG_GATE_PAIRS_USUAL));
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
	if (status == FG_OK && *state == FG_RUNNER_REACHED)
		status = confirm(session, job, benchmark, state, err);
	if (status != FG_OK || *state != FG_RUNNER_REACHED)
		return status;
	return measure_to_name(session, job, benchmark, state, err);
}
