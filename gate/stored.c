// SPDX-License-Identifier: Apache-2.0
/*
 * A session gives one level per benchmark, the trimmed mean of the logarithms, however many
 * repetitions it has: the repetitions share the state of the host, so they are not independent
 * evidence. So the unit here is the session. The differences between successive sessions of the
 * history, nearly all of them without a real change, show how far apart two levels are by chance.
 * Their standard deviation is taken from the median absolute difference, so that the few real
 * changes have little influence, and the new difference is compared with it by a t quantile. There
 * is one look, and no sign test, which a single difference cannot support.
 */
#include "gate/stored.h"

#include "base/number.h"
#include "gate/statistics/distributions.h"
#include "gate/statistics/location.h"
#include "gate/statistics/sample.h"

#include <math.h>

#define TRIM 0.2
/*
 * For normal values, the median absolute difference is as precise as the standard deviation of 37 %
 * of the values.
 */
#define MEDIAN_EFFICIENCY 0.37

/*
 * Returns the level of a session, from the candidate's repetitions that count; NaN if no repetition
 * counts.
 */
static double level_of(const struct fg_series *series, size_t metric, double *error)
{
	size_t count;
	double *values = fg_series_values(series, metric, FG_ARM_CANDIDATE, &count);
	struct fg_trimmed trimmed;
	size_t used = 0;

	for (size_t i = 0; i < count; i++) {
		if (values[i] > 0.0)
			values[used++] = log(values[i]);
	}
	trimmed = fg_trimmed_mean(values, used, TRIM);
	if (error)
		*error = trimmed.standard_error;
	free(values);
	return trimmed.mean;
}

static bool same_fingerprint(const struct fg_run *a, const struct fg_run *b)
{
	char left[17];
	char right[17];

	fg_environment_fingerprint(&a->host, left);
	fg_environment_fingerprint(&b->host, right);
	return strcmp(left, right) == 0;
}

double fg_session_spread(double *differences, size_t count)
{
	return 1.4826 * fg_median(differences, count);
}

double fg_session_degrees(size_t differences)
{
	return fmax(1.0, MEDIAN_EFFICIENCY * (double)differences);
}

struct fg_session_spread fg_session_spread_of(const struct fg_run *const *history, size_t count,
					      const struct fg_run *like, const char *benchmark,
					      const char *metric)
{
	struct fg_session_spread result = {.spread = (double)NAN};
	double *differences = fg_xcalloc(count + 1, sizeof(differences[0]));
	double previous = (double)NAN;

	for (size_t i = 0; i < count; i++) {
		const struct fg_series *series = fg_run_find(history[i], benchmark);
		size_t at = series ? fg_series_find_metric(series, metric) : SIZE_MAX;
		double level = at == SIZE_MAX || !same_fingerprint(history[i], like)
				       ? (double)NAN
				       : level_of(series, at, NULL);

		if (isnan(level))
			continue;
		if (!isnan(previous))
			differences[result.differences++] = fabs(level - previous);
		previous = level;
	}
	if (result.differences >= FG_SESSIONS_MIN)
		result.spread = fg_session_spread(differences, result.differences);
	free(differences);
	return result;
}

static void judge(const struct fg_metric_context *context, double difference, double error,
		  double degrees, struct fg_metric_verdict *verdict)
{
	struct fg_metric_policy policy = fg_policy_metric(context->policy, verdict->name);
	const struct fg_rule rule = {.tolerated = policy.tolerated,
				     .min_effect = policy.min_effect,
				     .margin = policy.margin};
	char least[FG_NUMBER_TEXT_SIZE];
	double q = -fg_t_quantile(context->policy->alpha, degrees);
	double low = difference - q * error;
	double high = difference + q * error;

	fg_metric_set_interval(verdict, difference, low, high, false);
	verdict->smallest_detectable =
		expm1(fmax(log1p(policy.tolerated) + q * error, log1p(policy.min_effect)));
	verdict->p_value = fg_t_cdf(-(difference - log1p(policy.tolerated)) / error, degrees);
	verdict->probability.is_known = true;
	verdict->probability.slower = fg_t_cdf(difference / error, degrees);
	verdict->probability.beyond =
		fg_t_cdf((difference - log1p(policy.min_effect)) / error, degrees);
	verdict->outcome = fg_rule_outcome(&rule, difference, low, high);
	if (verdict->outcome == FG_OUTCOME_INCONCLUSIVE)
		fg_notes_add(&verdict->notes, context->arena,
			     "undecided: this benchmark varies between sessions; only a change of "
			     "%s or more could have been detected",
			     fg_format_without_sign(
				     fg_format_change(verdict->smallest_detectable, least)));
}

static bool decide_exact(const struct fg_metric_context *context, double baseline, double candidate,
			 struct fg_metric_verdict *verdict)
{
	double worse = verdict->better == FG_BETTER_LOWER ? log(candidate / baseline)
							  : log(baseline / candidate);
	const struct fg_metric_policy policy = fg_policy_metric(context->policy, verdict->name);
	double tolerance = log1p(fg_metric_tolerance(&policy)) + 1e-12;

	if (!isfinite(worse))
		return false;
	verdict->outcome = worse > tolerance    ? FG_OUTCOME_REGRESSION
			   : worse < -tolerance ? FG_OUTCOME_IMPROVEMENT
						: FG_OUTCOME_PASS;
	fg_metric_set_interval(verdict, worse, worse, worse, false);
	return true;
}

/*
 * Without a history only the spread within the two sessions is known, which is not enough for a
 * verdict.
 */
static void decide_noisy(const struct fg_metric_context *context, double difference,
			 const double errors[2], const struct fg_session_spread *sessions,
			 struct fg_metric_verdict *verdict)
{
	double within = sqrt(errors[0] * errors[0] + errors[1] * errors[1]);

	verdict->outcome = FG_OUTCOME_INCONCLUSIVE;
	if (isnan(sessions->spread)) {
		fg_metric_set_interval(verdict, difference, difference - 3.0 * within,
				       difference + 3.0 * within, false);
		fg_notes_add(
			&verdict->notes, context->arena,
			"cannot be judged against a stored run yet: there are %zu comparable "
			"earlier sessions, but at least %d are needed to know how much sessions "
			"differ; measure both sides in one session instead",
			sessions->differences ? sessions->differences + 1 : 0, FG_SESSIONS_MIN + 1);
		return;
	}
	judge(context, difference, fmax(sessions->spread, isnan(within) ? 0.0 : within),
	      fg_session_degrees(sessions->differences), verdict);
}

static void cap_for_environment(const struct fg_metric_context *context,
				struct fg_metric_verdict *verdict)
{
	if (verdict->outcome == FG_OUTCOME_INCONCLUSIVE || verdict->exact)
		return;
	fg_notes_add(
		&verdict->notes, context->arena,
		"measured in a different environment from the baseline, so inconclusive instead of %s",
		fg_outcome_name(verdict->outcome));
	verdict->outcome = FG_OUTCOME_INCONCLUSIVE;
}

void fg_stored_decide(const struct fg_metric_context *context, size_t metric,
		      const struct fg_series *baseline, const struct fg_session_spread *sessions,
		      bool same_environment, struct fg_metric_verdict *verdict)
{
	const struct fg_metric *what = &context->series->metrics[metric];
	const struct fg_metric_policy policy = fg_policy_metric(context->policy, what->name);
	size_t other;
	double errors[2] = {0.0, 0.0};
	double levels[2];

	*verdict = fg_metric_begin(what, &policy, context->policy->alpha, context->arena);
	verdict->decided = true;
	other = fg_series_find_metric(baseline, verdict->name);
	levels[1] = level_of(context->series, metric, &errors[1]);
	levels[0] = other == SIZE_MAX ? (double)NAN : level_of(baseline, other, &errors[0]);
	verdict->baseline = exp(levels[0]);
	verdict->candidate = exp(levels[1]);
	if (isnan(levels[0]) || isnan(levels[1])) {
		bool both = isnan(levels[0]) && isnan(levels[1]);

		verdict->decided = !both;
		if (both)
			verdict->outcome =
				verdict->gated ? FG_OUTCOME_INCONCLUSIVE : FG_OUTCOME_PASS;
		else
			verdict->outcome = isnan(levels[0]) ? FG_OUTCOME_NEW : FG_OUTCOME_MISSING;
		fg_notes_add(&verdict->notes, context->arena,
			     both               ? "%s has no value above zero in either run"
			     : isnan(levels[0]) ? "the baseline has no %s to compare with"
						: "the candidate has no %s above zero",
			     verdict->label);
		return;
	}
	if (!verdict->exact ||
	    !decide_exact(context, verdict->baseline, verdict->candidate, verdict)) {
		double worse = levels[1] - levels[0];

		verdict->exact = false;
		decide_noisy(context, verdict->better == FG_BETTER_LOWER ? worse : -worse, errors,
			     sessions, verdict);
	}
	if (!same_environment)
		cap_for_environment(context, verdict);
}
