// SPDX-License-Identifier: Apache-2.0
#include "gate/next_step.h"

#include "base/number.h"
#include "gate/placement.h"
#include "gate/rule.h"

/* A slowdown below this ratio may be caused by the placement of code. */
static const double placement_max = 1.4;

/* The facts of one call of fg_next_step(), and the resulting step. */
struct decision {
	struct fg_next_step *machine;
	const struct fg_situation *now;
	enum fg_step_result result;
	struct fg_step *step;
};

FG_PRINTF(2, 3) static void say(struct decision *decision, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	(void)vsnprintf(decision->step->text, sizeof(decision->step->text), format, ap);
	va_end(ap);
}

/* Sets the step's action and returns true: the step is chosen. */
static bool act(struct decision *decision, enum fg_step_action action)
{
	decision->step->action = action;
	return true;
}

static bool measure_pairs(struct decision *decision, unsigned pairs)
{
	decision->step->pairs = pairs;
	return act(decision, FG_STEP_PAIRS);
}

/* Enters a state; returns false, because the new state chooses the step. */
static bool enter(struct decision *decision, enum fg_step_state state)
{
	decision->machine->state = state;
	decision->machine->reached = 0;
	decision->result = FG_STEP_DONE;
	return false;
}

static const struct fg_series *first_series(const struct fg_situation *now)
{
	return now->series_count ? &now->run->series[now->series[0]] : NULL;
}

/*
 * Returns the benchmark's only series, or NULL: the cases of a harness are decided but not examined
 * further.
 */
static const struct fg_series *only_series(const struct fg_situation *now)
{
	return now->series_count == 1 ? first_series(now) : NULL;
}

static bool is_measured_time(const struct fg_series *series, const char *name)
{
	const size_t at = fg_series_find_metric(series, name);

	return at < series->metric_count && fg_metric_is_measured_time(&series->metrics[at]);
}

/* Does a gated time fail the series? */
static bool fails_for_a_time(const struct fg_next_step *machine, const struct fg_series *series)
{
	return machine->has_look && machine->look.decided &&
	       machine->look.outcome == FG_OUTCOME_REGRESSION &&
	       is_measured_time(series, machine->look.metric);
}

/* ---- the first step ---- */

static bool gates_a_time(const struct fg_series *series, const struct fg_policy *policy)
{
	for (size_t i = 0; i < series->metric_count; i++) {
		const struct fg_metric *metric = &series->metrics[i];

		if (fg_metric_is_measured_time(metric) &&
		    fg_policy_metric(policy, metric->name).gated)
			return true;
	}
	return false;
}

/*
 * By default, layouts come first only if the code changed, and so perhaps its placement. They do
 * not come first if a slowdown in the default layout is configured to fail, because that slowdown
 * must be measured.
 */
static bool begins_in_layouts(const struct fg_situation *now)
{
	const struct fg_series *series = first_series(now);
	const struct fg_measuring *measure = now->measure;

	if (!series || measure->layouts == FG_LAYOUTS_NEVER || series->identical ||
	    series->as_linked_metric)
		return false;
	if (measure->layouts == FG_LAYOUTS_ALWAYS)
		return !fg_placement_is_same_code(&series->build[FG_ARM_BASELINE],
						  &series->build[FG_ARM_CANDIDATE]);
	return !now->policy->fail_on_placement && measure->max_pairs >= 2 * FG_LINE_PLACES &&
	       gates_a_time(series, now->policy) &&
	       fg_placement_is_other_code(&series->build[FG_ARM_BASELINE],
					  &series->build[FG_ARM_CANDIDATE]);
}

/* Nothing is decided without a baseline: measures 2 × min_pairs repetitions, at most max_pairs. */
static bool measure_alone(struct decision *decision)
{
	const struct fg_measuring *measure = decision->now->measure;

	decision->machine->state = FG_STATE_ALONE;
	return measure_pairs(decision, (unsigned)fg_min_size(2 * (size_t)measure->min_pairs,
							     measure->max_pairs));
}

static bool begin(struct decision *decision)
{
	if (decision->now->measure->exact_only)
		return enter(decision, FG_STATE_OVER);
	if (!decision->now->has_baseline)
		return measure_alone(decision);
	if (!begins_in_layouts(decision->now))
		return enter(decision, FG_STATE_DECIDING);
	decision->machine->state = FG_STATE_BEGINNING;
	decision->step->only_if_cheap = decision->now->measure->layouts != FG_LAYOUTS_ALWAYS;
	return act(decision, FG_STEP_BEGIN_IN_LAYOUTS);
}

static bool continue_after_beginning(struct decision *decision)
{
	const bool is_requested = decision->now->measure->layouts == FG_LAYOUTS_ALWAYS;

	if (decision->result == FG_STEP_REFUSED) {
		decision->step->is_detail = !is_requested;
		say(decision, "%s: %s",
		    is_requested ? "other layouts are not tried"
				 : "measured in the default layout only",
		    decision->now->why);
	}
	return enter(decision, FG_STATE_DECIDING);
}

/* ---- deciding ---- */

/*
 * Every series of the benchmark (a harness has several) is decided separately; the benchmark
 * continues while any series is undecided.
 */
static bool is_decided(struct decision *decision, unsigned *next_look)
{
	struct fg_next_step *machine = decision->machine;
	const struct fg_situation *now = decision->now;
	bool decided = true;

	*next_look = 0;
	for (size_t i = 0; i < now->series_count; i++) {
		const struct fg_series *series = &now->run->series[now->series[i]];
		struct fg_gate_progress look = {0};

		/* A difference between identical binaries is noise. */
		if (series->identical)
			continue;
		fg_gate_look(series, now->policy, now->measure, &look);
		decided = decided && look.decided;
		if (!look.decided && look.next_look > *next_look)
			*next_look = look.next_look;
		if (i == 0 || !look.decided) {
			machine->look = look;
			machine->has_look = true;
		}
	}
	return decided;
}

/*
 * Returns the minimum number of pairs that can decide when the budget ends; 0: the end of the
 * budget never decides.
 */
static unsigned min_pairs_at_end(const struct fg_situation *now)
{
	const unsigned least = fg_gate_min_pairs(now->policy);

	return now->measure->budget_ns > 0 && !now->measure->until_sure &&
			       least <= now->measure->max_pairs
		       ? least
		       : 0;
}

/* Ends the measurement after the first pair if the budget is too short for any decision. */
static bool is_budget_too_short(struct decision *decision)
{
	const struct fg_situation *now = decision->now;
	const double budget_ns = (double)now->measure->budget_ns;
	const unsigned least = min_pairs_at_end(now);
	char pair[FG_NUMBER_TEXT_SIZE];
	char budget[FG_NUMBER_TEXT_SIZE];
	char needed[FG_NUMBER_TEXT_SIZE];

	if (least == 0 || now->pairs != 1 || (double)now->pair_ns * FG_PAIRS_MIN <= budget_ns)
		return false;
	say(decision,
	    "not measured further: a pair takes %s, and a budget of %s is too short for any "
	    "decision; a `--budget` of %s is enough for the %u pairs that can decide",
	    fg_format_duration((double)now->pair_ns, pair), fg_format_duration(budget_ns, budget),
	    fg_format_duration(1.2 * least * (double)now->pair_ns, needed), least);
	return true;
}

/* Exceeds the budget if it allowed FG_PAIRS_MIN pairs or more, but too few to decide. */
static bool finish(struct decision *decision)
{
	const unsigned least = min_pairs_at_end(decision->now);

	if (decision->now->pairs >= least || decision->now->pairs < FG_PAIRS_MIN)
		return enter(decision, FG_STATE_OVER);
	decision->machine->state = FG_STATE_FINISHING;
	decision->step->exceeds_budget = true;
	say(decision,
	    "the budget is used up after %u pairs: measuring up to %u, the fewest that can decide",
	    decision->now->pairs, least);
	return measure_pairs(decision, least);
}

static bool decide(struct decision *decision, enum fg_step_state then)
{
	struct fg_next_step *machine = decision->machine;
	unsigned next_look = 0;

	if (decision->result == FG_STEP_DONE && is_budget_too_short(decision)) {
		(void)enter(decision, FG_STATE_OVER);
		return act(decision, FG_STEP_SAY);
	}
	if (decision->result == FG_STEP_EXHAUSTED)
		machine->is_open =
			decision->now->measure->until_sure && !is_decided(decision, &next_look);
	if (decision->result == FG_STEP_EXHAUSTED)
		return finish(decision);
	if (decision->result == FG_STEP_ENDED)
		return enter(decision, FG_STATE_OVER);
	if (decision->result == FG_STEP_GIVEN_UP)
		machine->reached = 0;
	if (is_decided(decision, &next_look) || next_look <= machine->reached)
		return enter(decision, then);
	if (machine->reached == 0 && decision->now->pairs == 0 &&
	    min_pairs_at_end(decision->now) > 0)
		next_look = 1;
	machine->reached = next_look;
	return measure_pairs(decision, next_look);
}

/* ---- suspecting the placement ---- */

/* Would the benchmark fail because of a time, and may the placement of its code be the reason? */
static bool is_suspect(const struct decision *decision)
{
	const struct fg_series *series = only_series(decision->now);
	const struct fg_measuring *measure = decision->now->measure;

	return series && measure->layouts == FG_LAYOUTS_AUTO &&
	       fails_for_a_time(decision->machine, series) &&
	       decision->machine->look.ratio < placement_max && !series->identical &&
	       !series->as_linked_metric &&
	       !fg_placement_is_same_code(&series->build[FG_ARM_BASELINE],
					  &series->build[FG_ARM_CANDIDATE]);
}

static bool suspect(struct decision *decision)
{
	if (!is_suspect(decision))
		return enter(decision, FG_STATE_EXPLAINING);
	decision->machine->state = FG_STATE_VARYING;
	return act(decision, FG_STEP_LAYOUTS);
}

static bool continue_after_varying(struct decision *decision)
{
	const struct fg_series *series = only_series(decision->now);
	char change[FG_NUMBER_TEXT_SIZE];

	if (decision->result == FG_STEP_REFUSED) {
		say(decision, "slower in the default layout; other layouts were not tried: %s",
		    decision->now->why);
		(void)enter(decision, FG_STATE_EXPLAINING);
		return act(decision, FG_STEP_SAY);
	}
	say(decision, "%s in the default layout; measuring again in %u layouts",
	    fg_format_change(decision->machine->look.ratio - 1, change), series->layouts);
	return enter(decision, FG_STATE_IN_LAYOUTS);
}

/* ---- naming the function ---- */

/*
 * Samples are less precise than the clock, so a failed benchmark is measured until the slower
 * function can stand out. These pairs do not change the verdict.
 */
static bool explain(struct decision *decision)
{
	const struct fg_situation *now = decision->now;
	const struct fg_gate_progress *look = &decision->machine->look;
	const struct fg_series *series = only_series(now);
	unsigned wanted = 0;

	if (series && now->profile && fails_for_a_time(decision->machine, series) &&
	    now->policy->functions != FG_FUNCTIONS_OFF)
		wanted = fg_naming_pairs(
			now->profile, series, look->ratio, look->pairs,
			(unsigned)fg_min_size(now->measure->max_pairs, FG_GATE_PAIRS_USUAL));
	if (wanted == 0)
		return enter(decision, FG_STATE_OVER);
	say(decision, "slower; measuring up to %u more pairs to find the slower function",
	    wanted - look->pairs);
	decision->machine->state = FG_STATE_NAMING;
	return measure_pairs(decision, wanted);
}

static bool continue_after_naming(struct decision *decision)
{
	return enter(decision,
		     decision->result == FG_STEP_GIVEN_UP ? FG_STATE_LAST : FG_STATE_OVER);
}

/* ---- the machine ---- */

static bool take_turn(struct decision *decision)
{
	switch (decision->machine->state) {
	case FG_STATE_NEW:
		return begin(decision);
	case FG_STATE_BEGINNING:
		return continue_after_beginning(decision);
	case FG_STATE_DECIDING:
		return decide(decision, FG_STATE_SUSPECTING);
	case FG_STATE_SUSPECTING:
		return suspect(decision);
	case FG_STATE_VARYING:
		return continue_after_varying(decision);
	case FG_STATE_IN_LAYOUTS:
		return decide(decision, FG_STATE_EXPLAINING);
	case FG_STATE_EXPLAINING:
		return explain(decision);
	case FG_STATE_NAMING:
		return continue_after_naming(decision);
	case FG_STATE_LAST:
		return decide(decision, FG_STATE_OVER);
	case FG_STATE_ALONE:
	case FG_STATE_FINISHING:
	case FG_STATE_OVER:
		break;
	}
	decision->machine->state = FG_STATE_OVER;
	return act(decision, FG_STEP_STOP);
}

void fg_next_step(struct fg_next_step *machine, const struct fg_situation *now,
		  enum fg_step_result result, struct fg_step *step)
{
	struct decision decision = {.machine = machine, .now = now, .result = result, .step = step};

	*step = (struct fg_step){0};
	while (!take_turn(&decision))
		;
}
