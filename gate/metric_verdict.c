// SPDX-License-Identifier: Apache-2.0
#include "gate/metric_verdict.h"

#include "base/number.h"
#include "base/strbuf.h"
#include "gate/layout_scatter.h"
#include "gate/looks.h"

#include <math.h>

/* A worsening this likely is reported, even if nothing fails. */
static const double probably = 0.95;

bool fg_metric_is_judged(const struct fg_series *series, size_t metric)
{
	return series->schedule != FG_SCHEDULE_DUET || series->metrics[metric].valid_in_duet;
}

#define NOTE(context, verdict, ...)                                \
 do {                                                              \
  if ((context)->arena)                                            \
   fg_notes_add(&(verdict)->notes, (context)->arena, __VA_ARGS__); \
 } while (0)

struct fg_metric_verdict fg_metric_begin(const struct fg_metric *what,
					 const struct fg_metric_policy *policy, double alpha,
					 struct fg_arena *arena)
{
	return (struct fg_metric_verdict){
		.name = arena ? fg_arena_strdup(arena, what->name) : what->name,
		.label = arena ? fg_arena_strdup(arena, what->label) : what->label,
		.unit = arena ? fg_arena_strdup(arena, what->unit) : what->unit,
		.better = what->better,
		.outcome = FG_OUTCOME_PASS,
		.gated = policy->gated,
		.exact = what->exact,
		.baseline = (double)NAN,
		.candidate = (double)NAN,
		.ratio = (double)NAN,
		.low = (double)NAN,
		.high = (double)NAN,
		.alpha = alpha,
		.min_effect = policy->min_effect,
		.margin = policy->margin,
		.smallest_detectable = (double)NAN,
		.step = (double)NAN,
		.step_error = (double)NAN,
		.p_value = (double)NAN,
	};
}

void fg_metric_set_interval(struct fg_metric_verdict *verdict, double estimate, double low,
			    double high, bool linear)
{
	/* If higher values are better, a ratio below one is worse. */
	bool turned = verdict->better == FG_BETTER_HIGHER;
	double ends[3] = {estimate, turned ? -high : low, turned ? -low : high};

	if (turned)
		ends[0] = -estimate;
	for (int i = 0; i < 3; i++)
		ends[i] = linear ? 1.0 + ends[i] : exp(ends[i]);
	verdict->ratio = ends[0];
	verdict->low = ends[1];
	verdict->high = ends[2];
	/* The shown levels must agree with the estimate, but the medians may contradict it. */
	if (!linear && !verdict->exact && isfinite(verdict->ratio))
		verdict->candidate = verdict->baseline * verdict->ratio;
}

static void set_levels(const struct fg_metric_context *context, size_t metric,
		       struct fg_metric_verdict *verdict)
{
	verdict->baseline = fg_series_median(context->series, metric, FG_ARM_BASELINE, NULL);
	verdict->candidate = fg_series_median(context->series, metric, FG_ARM_CANDIDATE, NULL);
}

double fg_metric_tolerance(const struct fg_metric_policy *policy)
{
	const double tolerance = fmax(policy->tolerance, policy->tolerated);

	return policy->gated ? tolerance : fmax(tolerance, policy->min_effect);
}

/* Steps of a chain are ratios, so a share of the level cannot be a step. */
static void set_step(struct fg_metric_verdict *verdict, double worse, double error, bool linear)
{
	if (linear)
		return;
	verdict->step = verdict->better == FG_BETTER_LOWER ? worse : -worse;
	verdict->step_error = error;
}

/*
 * An exact metric is the same in every repetition of one binary, so one look suffices: any
 * worsening beyond the tolerance counts. If it does vary, that is reported, and the ordinary rule
 * decides.
 */
static bool decide_exact(const struct fg_metric_context *context, const struct fg_pairs *pairs,
			 double tolerance, struct fg_metric_verdict *verdict)
{
	double difference = pairs->difference[0];
	bool same = true;

	for (size_t i = 1; i < pairs->count; i++)
		same = same && !(fabs(pairs->difference[i] - difference) > 1e-12);
	if (!same) {
		verdict->exact = false;
		NOTE(context, verdict,
		     "%s is declared exact but differs between repetitions, so it is judged by "
		     "pairs",
		     verdict->label);
		return false;
	}
	fg_metric_set_interval(verdict, difference, difference, difference, pairs->linear);
	verdict->decided = true;
	verdict->pairs = (unsigned)pairs->count;
	verdict->smallest_detectable = tolerance;
	set_step(verdict, difference, 0, pairs->linear);
	if (difference > log1p(tolerance) + 1e-12)
		verdict->outcome = FG_OUTCOME_REGRESSION;
	else if (difference < -log1p(tolerance) - 1e-12)
		verdict->outcome = FG_OUTCOME_IMPROVEMENT;
	return true;
}

static void note_left_out(const struct fg_metric_context *context,
			  struct fg_metric_verdict *verdict, size_t count, const char *why)
{
	if (count > 0)
		NOTE(context, verdict, "%zu %s left out: %s", count,
		     count == 1 ? "pair was" : "pairs were", why);
}

static void note_lost_pairs(const struct fg_metric_context *context, const struct fg_pairs *pairs,
			    struct fg_metric_verdict *verdict)
{
	note_left_out(context, verdict, pairs->no_number, "a value is not a number");
	if (pairs->linear)
		NOTE(context, verdict,
		     "some values are zero or negative: differences are relative to the mean level");
	else
		note_left_out(context, verdict, pairs->no_ratio,
			      "a time of zero or below cannot be compared");
	note_left_out(context, verdict, pairs->unpaired, "one side is missing");
}

/* Did the programs themselves make every pair unfair, so that no comparison is possible? */
static bool is_never_fair(const struct fg_metric_context *context)
{
	const struct fg_set_aside aside = fg_count_set_aside(context->series);

	return context->final && (aside.apart == aside.meant || aside.disturbed == aside.meant);
}

/* Judges a metric without a usable pair, if both sides or neither side reports the metric. */
static void decide_without_values(const struct fg_metric_context *context,
				  const struct fg_pairs *pairs, struct fg_metric_verdict *verdict)
{
	bool unusable = pairs->no_number > 0 || pairs->no_ratio > 0;

	if (verdict->gated && pairs->set_aside > 0 && !unusable) {
		verdict->outcome =
			is_never_fair(context) ? FG_OUTCOME_ERROR : FG_OUTCOME_INCONCLUSIVE;
		if (pairs->set_aside == 1)
			NOTE(context, verdict, "the only pair was set aside");
		else
			NOTE(context, verdict, "all %zu pairs were set aside", pairs->set_aside);
	} else if (!verdict->gated ||
		   (pairs->no_ratio == 0 && fg_metric_find_builtin(verdict->name))) {
		NOTE(context, verdict, "not measured");
	} else if (unusable) {
		verdict->outcome = FG_OUTCOME_ERROR;
		verdict->decided = true;
		NOTE(context, verdict, "no pair has a usable number for %s", verdict->label);
	} else {
		verdict->outcome = FG_OUTCOME_INCONCLUSIVE;
		NOTE(context, verdict, "no pair was measured");
	}
}

/* Judges a metric without pairs. Notes the side that lacks it, and never passes silently. */
static void decide_without_pairs(const struct fg_metric_context *context,
				 const struct fg_pairs *pairs, struct fg_metric_verdict *verdict)
{
	bool has_baseline = isfinite(verdict->baseline);
	bool has_candidate = isfinite(verdict->candidate);

	if (has_candidate && !has_baseline) {
		verdict->outcome = FG_OUTCOME_NEW;
		verdict->decided = true;
		NOTE(context, verdict, "the baseline has no %s to compare with", verdict->label);
	} else if (has_baseline && !has_candidate) {
		verdict->outcome = FG_OUTCOME_MISSING;
		verdict->decided = true;
		NOTE(context, verdict, "the candidate no longer reports %s", verdict->label);
	} else {
		decide_without_values(context, pairs, verdict);
	}
}

/* Adds the number of places or pairs that would decide, and the option that measures them. */
static void add_missing(const struct fg_rule *rule, const struct fg_pairs *pairs,
			const struct fg_rule_finding *finding, struct fg_strbuf *text)
{
	const size_t needed = fg_rule_pairs_needed(rule, pairs->difference, pairs->count);

	if (needed == 0 && finding->is_by_places && rule->layouts < FG_LAYOUTS_MAX)
		fg_strbuf_printf(text,
				 " because the code was measured in %u places only: "
				 "`measure.layouts: always` measures in %d",
				 rule->layouts, FG_LAYOUTS_MAX);
	if (needed == 0)
		return;
	fg_strbuf_printf(text, "; %zu pairs would decide if the next pairs are similar: ", needed);
	if (rule->until_sure)
		fg_strbuf_add_text(text, "`fastgate run --resume`");
	else if (needed <= rule->max_pairs)
		fg_strbuf_add_text(text, "a longer `--budget`");
	else
		fg_strbuf_printf(text, "`--pairs %u:%zu`", rule->min_pairs, needed);
}

static size_t min_pairs_to_decide(const struct fg_rule *rule)
{
	return rule->until_sure ? fg_gate_min_pairs_first_look(rule->alpha)
				: fg_gate_min_pairs_only_look(rule->alpha);
}

static bool is_probably_slower(const struct fg_metric_verdict *verdict, const struct fg_rule *rule,
			       const struct fg_rule_finding *finding)
{
	return verdict->probability.slower >= probably &&
	       finding->estimate >= log1p(rule->min_effect);
}

static void note_probably_slower(const struct fg_metric_context *context,
				 const struct fg_rule *rule, const struct fg_pairs *pairs,
				 const struct fg_rule_finding *finding,
				 struct fg_metric_verdict *verdict)
{
	const size_t slower = fg_rule_count_slower(rule, pairs->difference, pairs->count);
	char change[FG_NUMBER_TEXT_SIZE];
	char low[FG_NUMBER_TEXT_SIZE];
	struct fg_strbuf missing = {0};
	char agree[32] = "all";

	add_missing(rule, pairs, finding, &missing);
	if (slower < pairs->count)
		(void)snprintf(agree, sizeof(agree), "%zu", slower);
	if (isnan(finding->low))
		NOTE(context, verdict,
		     "probably slower (%s): %s of %zu pairs are slower; not failed because at "
		     "least %zu are needed to decide at this alpha%s",
		     fg_format_change(expm1(finding->estimate), change), agree, pairs->count,
		     min_pairs_to_decide(rule), fg_strbuf_text(&missing));
	else
		NOTE(context, verdict,
		     "probably slower (%s): %s of %zu pairs are slower; not failed because the "
		     "interval begins at %s%s",
		     fg_format_change(expm1(finding->estimate), change), agree, pairs->count,
		     fg_format_change(expm1(finding->low), low), fg_strbuf_text(&missing));
	fg_strbuf_release(&missing);
}

static void note_undecided(const struct fg_metric_context *context, const struct fg_rule *rule,
			   const struct fg_pairs *pairs, const struct fg_rule_finding *finding,
			   struct fg_metric_verdict *verdict)
{
	char least[FG_NUMBER_TEXT_SIZE];

	if (is_probably_slower(verdict, rule, finding))
		note_probably_slower(context, rule, pairs, finding, verdict);
	else if (isnan(finding->low))
		NOTE(context, verdict,
		     "undecided after %zu pairs: at least %zu are needed to decide at this alpha",
		     finding->pairs, min_pairs_to_decide(rule));
	else
		NOTE(context, verdict,
		     "undecided after %zu pairs: this run could have detected a change of %s or "
		     "more",
		     finding->pairs,
		     fg_format_without_sign(fg_format_change(verdict->smallest_detectable, least)));
}

static void note_finding(const struct fg_metric_context *context, const struct fg_rule *rule,
			 const struct fg_pairs *pairs, const struct fg_rule_finding *finding,
			 struct fg_metric_verdict *verdict)
{
	if (!context->arena)
		return;
	if (finding->pairs < FG_PAIRS_MIN) {
		NOTE(context, verdict, "only %zu %s: at least %d are needed for any decision",
		     finding->pairs, finding->pairs == 1 ? "pair" : "pairs", FG_PAIRS_MIN);
		return;
	}
	if (!finding->decided && context->final)
		note_undecided(context, rule, pairs, finding, verdict);
	if (finding->outcome == FG_OUTCOME_PASS && finding->low > 0.0)
		NOTE(context, verdict, "worse by %.2f %%, which is within the margin of %.2g %%",
		     100.0 * expm1(finding->estimate), 100.0 * verdict->margin);
	if (finding->wider > 1.0)
		NOTE(context, verdict,
		     "`setup` runs once for all pairs, and neighbouring pairs are alike: the "
		     "interval is therefore widened by a factor of %.1f",
		     finding->wider);
}

/* Moves the next look: the runner also counts pairs that lack a number for this metric. */
static void ask_for_more(const struct fg_pairs *pairs, struct fg_rule_finding *finding)
{
	if (finding->next_look > 0)
		finding->next_look += pairs->no_number + pairs->no_ratio;
}

/* A difference in one place counts as zero if it is smaller than this. */
static const double place_min = 0.005;

/*
 * Returns the number of places in which the candidate is faster, if it is slower in other places;
 * otherwise 0.
 */
static unsigned count_faster(const double middles[FG_LINE_PLACES])
{
	unsigned faster = 0;
	unsigned slower = 0;

	for (size_t i = 0; i < FG_LINE_PLACES; i++) {
		faster += middles[i] < -place_min;
		slower += middles[i] > place_min;
	}
	return slower ? faster : 0;
}

/*
 * Notes the differences in all layouts. If the benchmark looked slower as linked but passes on
 * average over all layouts, the placement of code caused the slowdown: the benchmark passes unless
 * the configuration makes such slowdowns fail.
 */
static void settle_layouts(const struct fg_metric_context *context, const struct fg_pairs *pairs,
			   struct fg_metric_verdict *verdict)
{
	const struct fg_series *series = context->series;
	double middles[FG_LINE_PLACES];
	char change[FG_LINE_PLACES][FG_NUMBER_TEXT_SIZE];
	char as_linked[FG_NUMBER_TEXT_SIZE];
	const bool from_the_beginning =
		pairs->layout && !*series->as_linked_metric &&
		fg_metric_is_measured_time(
			&series->metrics[fg_series_find_metric(series, verdict->name)]);
	bool is_placed = false;

	if (!pairs->layout ||
	    !(from_the_beginning || strcmp(series->as_linked_metric, verdict->name) == 0))
		return;
	is_placed =
		verdict->decided && !from_the_beginning &&
		(verdict->outcome == FG_OUTCOME_PASS || verdict->outcome == FG_OUTCOME_IMPROVEMENT);
	if (is_placed && context->policy->fail_on_placement)
		verdict->outcome = FG_OUTCOME_PLACEMENT;
	fg_layout_middles(pairs->difference, pairs->layout, verdict->pairs, middles);
	verdict->layout_error = fg_layout_error(middles);
	for (size_t i = 0; i < FG_LINE_PLACES; i++)
		(void)fg_format_change(expm1(middles[i]), change[i]);
	NOTE(context, verdict,
	     "%s%s with all code in %u places on both sides, shifted by 0, 16, 32 and 48 bytes "
	     "within a cache line: %s, %s, %s, %s",
	     from_the_beginning ? verdict->label
				: fg_format_change(series->as_linked - 1.0, as_linked),
	     from_the_beginning ? "" : " in the default layout;", series->layouts, change[0],
	     change[1], change[2], change[3]);
	if (count_faster(middles))
		NOTE(context, verdict,
		     "the offsets disagree: the candidate is faster at %u of the %d offsets within "
		     "a cache line; the mean over all offsets decides",
		     count_faster(middles), FG_LINE_PLACES);
	if (is_placed)
		NOTE(context, verdict,
		     "placement: on average over these places, the candidate is not slower; it "
		     "only looked slower because of the placement of its code");
}

/*
 * Is every pair independent? Each pair starts new processes in a random order; only a process that
 * `setup` left running outlives a pair.
 */
static bool is_drawn(const struct fg_series *series)
{
	return !series->build[FG_ARM_CANDIDATE].setup;
}

static struct fg_rule rule_for(const struct fg_metric_context *context,
			       const struct fg_pairs *pairs, const struct fg_metric_policy *policy)
{
	const bool may_continue = context->final && context->series->state == FG_INTERRUPTED;

	return (struct fg_rule){.alpha = context->policy->alpha,
				.min_effect = policy->min_effect,
				.margin = policy->margin,
				.tolerated = policy->tolerated,
				.min_pairs = context->measure->min_pairs,
				.max_pairs = context->measure->max_pairs,
				.until_sure = context->measure->until_sure || may_continue,
				.is_drawn = is_drawn(context->series),
				.layout = pairs->layout,
				.layouts = pairs->layouts,
				.given_up = pairs->given_up};
}

static void apply_rule(const struct fg_metric_context *context, const struct fg_pairs *pairs,
		       struct fg_metric_verdict *verdict, struct fg_rule_finding *finding)
{
	const struct fg_metric_policy policy = fg_policy_metric(context->policy, verdict->name);
	const struct fg_rule rule = rule_for(context, pairs, &policy);

	fg_rule_apply(&rule, pairs->difference, pairs->count, context->final, finding);
	ask_for_more(pairs, finding);
	verdict->decided = finding->decided || context->final;
	verdict->outcome = finding->outcome;
	verdict->pairs = (unsigned)finding->pairs;
	verdict->looks = (unsigned)finding->looks;
	set_step(verdict, finding->step, finding->step_error, pairs->linear);
	if (!isnan(finding->low))
		verdict->smallest_detectable = expm1(fg_rule_smallest_seen(&rule, finding));
	fg_metric_set_interval(verdict, finding->estimate, finding->low, finding->high,
			       pairs->linear);
	if (!context->arena)
		return;
	verdict->p_value = 1.0 - fg_rule_probability(&rule, pairs->difference, finding->pairs,
						     log1p(policy.tolerated));
	verdict->probability.is_known = finding->pairs >= FG_PAIRS_MIN;
	verdict->probability.slower =
		fg_rule_probability(&rule, pairs->difference, finding->pairs, 0.0);
	verdict->probability.beyond = fg_rule_probability(&rule, pairs->difference, finding->pairs,
							  log1p(policy.min_effect));
	note_finding(context, &rule, pairs, finding, verdict);
	settle_layouts(context, pairs, verdict);
}

static size_t first_look(const struct fg_metric_context *context)
{
	size_t looks[FG_GATE_LOOKS_MAX];

	(void)fg_gate_looks(context->policy->alpha, context->measure->min_pairs,
			    context->measure->max_pairs, looks);
	return looks[0];
}

void fg_metric_decide(const struct fg_metric_context *context, size_t metric,
		      struct fg_metric_verdict *verdict, struct fg_rule_finding *finding)
{
	const struct fg_metric *what = &context->series->metrics[metric];
	const struct fg_metric_policy policy = fg_policy_metric(context->policy, what->name);
	struct fg_rule_finding ignored;
	struct fg_pairs pairs;

	if (!finding)
		finding = &ignored;
	*finding = (struct fg_rule_finding){.estimate = (double)NAN};
	*verdict = fg_metric_begin(what, &policy, context->policy->alpha, context->arena);
	set_levels(context, metric, verdict);
	if (!fg_metric_is_judged(context->series, metric)) {
		NOTE(context, verdict, "%s is meaningless while both sides share one CPU",
		     verdict->label);
		return;
	}
	fg_pairs_collect(context->series, metric, &pairs);
	note_lost_pairs(context, &pairs, verdict);
	if (pairs.count == 0 && !context->final && pairs.no_number + pairs.no_ratio == 0) {
		verdict->outcome = FG_OUTCOME_INCONCLUSIVE;
		finding->next_look = first_look(context);
	} else if (pairs.count == 0) {
		decide_without_pairs(context, &pairs, verdict);
		verdict->decided = verdict->decided || !context->final;
	} else if (!verdict->exact ||
		   !decide_exact(context, &pairs, fg_metric_tolerance(&policy), verdict)) {
		apply_rule(context, &pairs, verdict, finding);
	}
	fg_pairs_release(&pairs);
}
